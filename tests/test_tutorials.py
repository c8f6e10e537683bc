"""The tutorials put out what they carry, from the first cell to the last, and Python in the README
does.

``UPDATE_TUTORIALS=1 pytest -m '' tests/test_tutorials.py`` writes what they carry anew.
"""

import ast
import io
import json
import os
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.console_blocks import plain

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))

#: Package of an extra that a tutorial needs.
NEEDS = {"seeding": "optuna"}


def run(cells):
    """Run cells one after the other: the names they leave, and what each puts out, as a notebook
    keeps it."""
    names, outputs = dict[str, object](__name__="__main__"), []
    for place, cell in enumerate(cells, 1):
        body = ast.parse(cell)
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        made, printed, displayed = list[dict[str, Any]](), io.StringIO(), None
        with redirect_stdout(printed):
            exec(compile(body, "cell", "exec"), names)
            if last is not None:
                displayed = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if printed.getvalue():
            text = printed.getvalue().splitlines(keepends=True)
            made.append({"name": "stdout", "output_type": "stream", "text": text})
        if displayed is not None:
            data = {"text/plain": repr(displayed).splitlines(keepends=True)}
            if hasattr(displayed, "_repr_html_"):
                data["text/html"] = displayed._repr_html_().splitlines(keepends=True)
            kind = {"execution_count": place, "metadata": {}, "output_type": "execute_result"}
            made.append({"data": data, **kind})
        outputs.append(made)
    return names, outputs


def words(outputs):
    """The output of cells, in words that do not differ between runs."""
    return [
        [
            re.sub(r"\d+\.\d+ s\b", "# s", plain("".join(text)))
            for output in made
            for text in (output.get("text") or output["data"]["text/plain"],)
        ]
        for made in outputs
    ]


def cells(path, kind="code"):
    return [
        "".join(cell["source"])
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == kind
    ]


def test_there_are_five_and_the_guide_and_the_readme_name_them():
    names = ["first-solve", "language-model", "own-nest", "seeding", "whatif"]
    assert [path.stem for path in NOTEBOOKS] == names
    for path in NOTEBOOKS:
        assert f"tutorials/{path.stem}.md" in (ROOT / "mkdocs.yml").read_text()
        assert f"docs/tutorials/{path.name}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_carry_their_outputs(path):
    document = json.loads(path.read_text())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert all(cell["outputs"] for cell in code)
    pictures = [o for cell in code for o in cell["outputs"] if "<img" in str(o.get("data"))]
    assert bool(pictures) is (path.stem != "seeding")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_put_out_what_they_carry(path, tmp_path, monkeypatch):
    """`UPDATE_TUTORIALS=1` writes it."""
    pytest.importorskip(NEEDS.get(path.stem, "ithaca"))
    monkeypatch.chdir(tmp_path)
    names, outputs = run(cells(path))
    document = json.loads(path.read_text())
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    if "UPDATE_TUTORIALS" in os.environ:
        for place, (cell, made) in enumerate(zip(code, outputs, strict=True), 1):
            cell.update(execution_count=place, outputs=made)
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    assert words(outputs) == words([cell["outputs"] for cell in code])
    said = "".join("".join(o.get("text", ())) for made in outputs for o in made)
    if path.stem == "first-solve":
        assert names["r"].status == "optimal"
        assert "infeasible: " in said
        assert "platfrom is 'u250'" in said
        assert "confirmed by" in said
    elif path.stem == "own-nest":
        assert names["network"].status == "optimal"
        # arrays of their own are at least as good as one for all
        assert names["network"].value <= names["shared"].value
    elif path.stem == "language-model":
        assert names["decode"].status == names["prefill"].status == "optimal"
        # matrices of both layers and the vocabulary, and the norms' factors
        weights = 2 * (64 * 128 + 64 * 64 + 3 * 64 * 96) + 200 * 64
        picture, drawn = ROOT / "docs" / "decode.svg", (tmp_path / "decode.svg").read_text()
        if "UPDATE_TUTORIALS" in os.environ:
            picture.write_text(drawn)
        texts = [re.findall(r">([^<>]+)</text>", each) for each in (picture.read_text(), drawn)]
        assert texts[0] == texts[1] != []
        assert names["decode"].network.run.read == weights + 5 * 64
    elif path.stem == "whatif":
        assert (tmp_path / "front.svg").stat().st_size > 1000
        assert names["front"].status == "optimal"
    else:
        scratch, seeded, optimum = (
            float(n.replace(",", ""))
            for n in re.findall(
                r"scratch: ([\d,]+).*\n.*seeded: ([\d,]+), the optimum is ([\d,]+)", said
            )[0]
        )
        assert seeded == optimum < scratch
        assert "optimal True" in said


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    _, [[output]] = run([block])
    (told,) = re.findall(r"print\(.*\)  # (.*)", block)
    assert output["text"][0] == f"{told}\n"
