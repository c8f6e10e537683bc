"""The user guide in docs/: every command of every page runs, and the site builds without warnings.

``UPDATE_GUIDE=1 pytest -m '' tests/test_guide.py`` writes the console blocks anew.
"""

import html
import inspect
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from pkgutil import resolve_name

import pytest

from ithaca.commands.api.keywords import type_text
from ithaca.plugins.rtl.exports.tools import find_compiler, find_verilator
from tests.console_blocks import check, too_wide
from tests.test_pictures import pictures, texts

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
GUIDES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md"]

#: Pages whose commands take more than half a CPU second, and the one that compiles ten arrays,
#: which tests of exports do, too.
LONG = """
best-mapping boards calibrating certificates co-design co-design-searches concepts cycles-and-energy
evaluating-mappings exporting exporting-instructions flow-graphs fronts hardware-files
hardware-resources hardware-spaces how-to index input-files language-models memory-hierarchies
networks own-problems programs published-models python security seeding-tools seeding simulating
single-buffers space-files using-results
"""
LONGEST = "fused-tiles fusing hardware hardware-networks recipes uneven-mappings"
MARKS = {
    **dict.fromkeys(LONG.split(), pytest.mark.ci),
    **dict.fromkeys(LONGEST.split(), pytest.mark.slow),
}

#: What the programs of one page search with.
PEERS = ("optuna", "pymoo", "nevergrad")


@pytest.mark.whole
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=MARKS.get(page.stem, ())) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_console_blocks_print_what_the_page_says(page, tmp_path):
    if page.stem == "exporting" and shutil.which("cc") is None:
        pytest.skip("no C compiler for the exported program")
    if page.stem in ("hardware", "hardware-networks", "single-buffers") and not (
        find_verilator() and find_compiler()
    ):
        pytest.skip("neither Verilator nor a C++ compiler for the generated hardware")
    for tool in PEERS if page.stem == "seeding-tools" else ():
        pytest.importorskip(tool)
    check(page, tmp_path, "UPDATE_GUIDE")
    for picture in pictures(page):
        if (drawn := tmp_path / picture.name).exists():
            if "UPDATE_GUIDE" in os.environ:
                shutil.copy(drawn, picture)
            assert texts(picture) == texts(drawn) != []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_code_escapes_the_test(page):
    text = page.read_text(encoding="utf-8")
    # programs and data have a title, so that they are written and a console block runs them; plain
    # text is not run
    assert set(re.findall(r"^```(\w.*)$", text, re.MULTILINE)) <= {"console", "text"} | set(
        re.findall(r'^```(\w+ title="[\w.-]+")$', text, re.MULTILINE)
    )


@pytest.mark.parametrize("page", [*GUIDES, *PAGES], ids=lambda page: page.stem)
def test_blocks_fit_a_screen(page):
    text = page.read_text(encoding="utf-8")
    # but for files of cells, whose rows cannot be folded
    fences = r'^```(?!text title="[\w.-]+\.csv").*?\n(.*?)^```$'
    blocks = re.findall(fences, text, re.MULTILINE | re.DOTALL)
    assert too_wide("".join(blocks)) == []


#: Places in the repository, as pages name them: a path that ends in a slash or a suffix, perhaps
#: with the name of something in it.
_PLACE = re.compile(r"`((?:[\w.-]+/)+|(?:[\w.-]+/)+[\w-]+\.[\w.]+)(?:: (\w+))?`")


@pytest.mark.parametrize("page", [*GUIDES, *PAGES], ids=lambda page: page.stem)
def test_what_pages_name_exists(page):
    text = page.read_text(encoding="utf-8")
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    for path, name in _PLACE.findall(text):
        if path.partition("/")[0] in folders and "NAME" not in path:
            assert (ROOT / path).exists(), path
            assert name in ((ROOT / path).read_text(encoding="utf-8") if name else ""), name
    for name in set(re.findall(r"`(ithaca\.[\w.]+)`", text)):
        assert resolve_name(name) is not None


def test_places_are_looked_for():
    assert _PLACE.findall("`solver/x.py: NAME` `docs/` `a/b.py` word/ `x.py`") == [
        ("solver/x.py", "NAME"),
        ("docs/", ""),
        ("a/b.py", ""),
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    folder = tmp_path_factory.mktemp("guide") / "site"
    clone = folder.parent / "a clone of any name"
    unwanted = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "site", "*.egg-info")
    shutil.copytree(ROOT, clone, symlinks=True, ignore=unwanted)
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=clone,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},  # the theme's advertisement of its successor
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


class _Page(HTMLParser):
    """Links of a page: what it loads, what it links to, and what it can be linked at."""

    def __init__(self, text):
        super().__init__()
        self.loaded = []
        self.links = []
        self.anchors = set()
        self.equations = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        self.equations += tag == "math"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") != "canonical":
            self.loaded.append(given.get("href", ""))
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.mark.ci(whole=True)
def test_the_site_loads_nothing_from_elsewhere(site):
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > len(PAGES)
    for path, page in pages.items():
        for loaded in page.loaded:
            assert not re.match(r"(\w+:)?//", loaded), f"{path.name} loads {loaded}"
    for style in site.rglob("*.css"):
        assert not re.search(
            r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")
        ), style


def test_links_lead_somewhere(site):
    pages = {
        path: _Page(path.read_text(encoding="utf-8"))
        for path in site.glob("*.html")
        if path.name != "404.html"
    }
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            target, _, anchor = link.partition("#")
            if re.match(r"\w+:", target):
                continue
            found = (
                path if target in ("", ".") else (path.parent / target.partition("?")[0]).resolve()
            )
            assert found.exists(), f"{path.name} links to {link}"
            assert not anchor or found not in pages or anchor in pages[found].anchors, (
                f"{path.name} links to {link}"
            )


def test_equations_are_drawn_without_scripts(site):
    page = (site / "cost-model.html").read_text(encoding="utf-8")
    assert _Page(page).equations > 20
    assert "arithmatex" not in page
    # what latex2mathml does not know it passes on as text
    assert not re.search(r"<m[a-z]+>[^<]*(\\|&(amp;)?<)", page)


def test_the_python_reference_says_keywords_types_and_defaults(site):
    import ithaca

    page = html.unescape(re.sub(r"<[^>]+>", "", (site / "python.html").read_text(encoding="utf-8")))
    page = re.sub(r"\s+", "", page)
    for name in ithaca.__all__:
        name = "refine.refine" if name == "refine" else name
        function = resolve_name(f"ithaca.{name}")
        if not hasattr(function, "__signature__"):
            continue
        section = page.partition(f"ithaca.{name}¶")[2].partition("¶ithaca.")[0]
        call, _, parameters = section.partition("Parameters:")
        assert "Annotated" not in call
        for each in inspect.signature(function).parameters.values():
            stars = "**" if each.kind is each.VAR_KEYWORD else ""
            default = "" if each.default is each.empty else f"={each.default!r}"
            taken = f"{stars}{each.name}:{type_text(each.annotation)}{default}"
            assert re.sub(r"\s+", "", taken).replace("'", '"') in call, (name, taken)
            helped = f"\n{stars}{each.name} : " in function.__doc__
            assert helped is (f"{stars}{each.name}(" in parameters), (name, each.name)


def test_the_command_reference_names_every_option(site):
    from ithaca.cli import COMMANDS, load

    page = re.sub(r"<[^>]+>", "", (site / "commands.html").read_text(encoding="utf-8"))
    commands = {name: load(name) for name in COMMANDS}
    commands |= {f"list {name}": inner for name, inner in commands.pop("list").commands.items()}
    assert {"solve", "whatif", "list designs"} <= set(commands)
    for name, command in commands.items():
        section = page.split(f"ithaca {name}&para;")[1].split("&para;")[0]
        for parameter in command.params:
            assert all(option in section for option in parameter.opts if option.startswith("-")), (
                name,
                parameter.name,
            )
