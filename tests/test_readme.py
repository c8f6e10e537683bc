"""Every console block of the README prints what the README says, and its picture is what ``ithaca
report`` draws.

``UPDATE_README=1 pytest tests/test_readme.py`` writes the blocks and the picture anew.
"""

import os
import re
from pathlib import Path

import pytest

from tests.console_blocks import check

ROOT = Path(__file__).resolve().parents[1]
README, PICTURE = ROOT / "README.md", ROOT / "docs" / "array.svg"

#: A rule of a style sheet for classes: names, and what it says.
_RULE = re.compile(r"(?:^|(?<=\} ))(\.[\w.]+) (\{[^}]*\})", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder where the README's blocks were run, and printed what it says."""
    folder = tmp_path_factory.mktemp("readme")
    check(README, folder, "UPDATE_README")
    return folder


def standalone(page, name):
    """A drawing of a report as a file of its own: with the rules of the page that it uses, in the
    colours of bright screens."""
    (drawing,) = re.findall(rf'<svg [^>]*aria-labelledby="{name}-title .*?</svg>', page, re.DOTALL)
    style = page.partition("<style>")[2].partition("</style>")[0]
    colours = dict(reversed(re.findall(r"(--[\w-]+): ([^;]+);", style)))
    classes = {each for group in re.findall(r'class="([^"]+)"', drawing) for each in group.split()}
    rules = "\n".join(
        f"{selector} {body}"
        for selector, body in _RULE.findall(style)
        if classes.issuperset(selector[1:].split("."))
    )
    assert rules
    rules = re.sub(r"var\((--[\w-]+)\)", lambda variable: colours[variable[1]], rules)
    head, rest = drawing.split(">", 1)
    lines = re.sub(r"(</text>|</rect>|<line[^>]*/>|<polygon[^>]*/>)", r"\1\n", rest)
    return (
        head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"')
        + f">\n<style>\nsvg {{ background: #ffffff; color: #17202a; font: 12px sans-serif; }}\n{rules}\n</style>\n{lines}\n"
    )


def test_the_picture_is_the_array_that_report_draws(folder):
    drawn = standalone((folder / "result.html").read_text(encoding="utf-8"), "array-broad")
    if os.environ.get("UPDATE_README"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn
    assert f"](docs/{PICTURE.name})" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "most"), [("README", 160), ("CONTRIBUTING", 120)])
def test_what_is_read_first_is_short(name, most):
    lines = (ROOT / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= most
    assert not [line for line in lines if len(line) > 100]


def test_the_two_commands_stand_at_the_top():
    text = README.read_text(encoding="utf-8")
    assert "pip install -e . && ithaca solve mm -s i=1024,j=1024,k=1024 --platform u250" in text
    assert 'pip install -e ".[test]" && pytest' in text
