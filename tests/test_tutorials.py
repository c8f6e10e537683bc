"""The tutorials run from the first cell to the last, and Python in the README does."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))

#: Package of an extra that a tutorial needs.
NEEDS = {"seeding": "optuna"}


def run(cells: list[str]) -> dict[str, object]:
    """Run cells one after the other, and show what each ends with as a notebook does."""
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        body = ast.parse(cell)
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, "cell", "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # type: ignore[attr-defined]
            assert repr(shown)
            if hasattr(shown, "_repr_html_"):
                assert shown._repr_html_()
    return names


def cells(path: Path, kind: str = "code") -> list[str]:
    return [
        "".join(cell["source"])
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == kind
    ]


def test_there_are_four_and_the_guide_and_the_readme_name_them() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first-solve", "own-nest", "seeding", "whatif"]
    for path in NOTEBOOKS:
        assert f"tutorials/{path.stem}.md" in (ROOT / "mkdocs.yml").read_text()
        assert f"docs/tutorials/{path.name}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_are_kept_without_outputs(path: Path) -> None:
    document = json.loads(path.read_text())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    assert all(
        not cell["outputs"] and cell["execution_count"] is None
        for cell in document["cells"]
        if "outputs" in cell
    )


@pytest.mark.ci
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(NEEDS.get(path.stem, "ithaca"))
    monkeypatch.chdir(tmp_path)
    names = run(cells(path))
    said = capsys.readouterr().out
    if path.stem == "first-solve":
        assert names["r"].status == "optimal"  # type: ignore[attr-defined]
        assert "infeasible: " in said
        assert "platfrom is 'u250'" in said
        assert "confirmed by" in said
    elif path.stem == "own-nest":
        assert names["network"].status == "optimal"  # type: ignore[attr-defined]
        # arrays of their own are at least as good as one for all
        assert names["network"].value <= names["shared"].value  # type: ignore[attr-defined]
    elif path.stem == "whatif":
        assert (tmp_path / "front.svg").stat().st_size > 1000
        assert names["front"].status == "optimal"  # type: ignore[attr-defined]
    else:
        scratch, seeded, optimum = (
            float(n.replace(",", ""))
            for n in re.findall(
                r"scratch: ([\d,]+).*\n.*seeded: ([\d,]+), the optimum is ([\d,]+)", said
            )[0]
        )
        assert seeded == optimum < scratch
        assert "optimal True" in said


def test_python_in_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    run([block])
    (told,) = re.findall(r"print\(.*\)  # (.*)", block)
    assert capsys.readouterr().out.startswith(f"{told}\n")
