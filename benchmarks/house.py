"""The house drawn from the imports: which part imports which, and how large each is.

python -m benchmarks.house          # the picture that CONTRIBUTING.md shows
python -m benchmarks.house --sizes  # with modules and tokens of code of each part
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from benchmarks.loaded import tokens

ROOT = Path(__file__).resolve().parents[1]

#: The layers, earlier ones first.
LAYERS = (
    "files",
    "workloads",
    "formulations",
    "solver",
    "refine",
    "studies",
    "results",
    "exports",
    "commands",
    "cli",
)

#: Width of a column.
WIDTH = 3


@cache
def nodes(text: str) -> list[ast.AST]:
    """All nodes of a source text, which is parsed once, the whole first."""
    return list(ast.walk(ast.parse(text)))


def imports(each: Iterable[ast.AST]) -> list[tuple[int, str]]:
    """Line and name of every module of the package that some nodes import."""
    lines = []
    for node in each:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the package"
            names = [str(node.module)]
            if node.module == "ithaca":
                names = [f"ithaca.{alias.name}" for alias in node.names]
        lines += [(node.lineno, name) for name in names if name.startswith("ithaca.")]  # type: ignore[attr-defined]
    return lines


def parts() -> dict[str, list[Path]]:
    """The modules of every part: of the layers but the last, and of each plug-in."""
    folders = [ROOT / layer for layer in LAYERS[:-1]]
    folders += sorted(path.parent for path in (ROOT / "plugins").glob("*/__init__.py"))
    return {folder.relative_to(ROOT).as_posix(): sorted(folder.rglob("*.py")) for folder in folders}


def imported(modules: Iterable[Path]) -> set[str]:
    """The layers that modules import."""
    texts = (path.read_text(encoding="utf-8") for path in modules)
    return {name.split(".")[1] for text in texts for _, name in imports(nodes(text))}


def summary(part: str) -> str:
    """The first line that a part says of itself."""
    text = (ROOT / part / "__init__.py").read_text(encoding="utf-8")
    return str(ast.get_docstring(ast.parse(text))).partition("\n")[0]


def picture(*, sizes: bool = False) -> str:
    """A row of each part, the first layer at the top, with a column for each layer: where it
    imports that one."""
    rows = parts()
    width = max(map(len, rows)) + 1
    lines = [" " * width + "".join(f"{layer[:2]:^{WIDTH}}" for layer in LAYERS[:-1])]
    for part, modules in rows.items():
        if part == next(each for each in rows if each not in LAYERS):
            lines.append("-" * len(lines[0]))
        known = imported(modules)
        marks = ("=" if layer == part else "●" * (layer in known) for layer in LAYERS[:-1])
        row = f"{part:{width}}" + "".join(f"{mark:^{WIDTH}}" for mark in marks)
        if sizes:
            row += f" {len(modules):4} modules {sum(map(tokens, modules)):8,} tokens"
        else:
            row += f" {summary(part)}"
        lines.append(row)
    return "\n".join(map(str.rstrip, lines))


if __name__ == "__main__":
    print(picture(sizes="--sizes" in sys.argv[1:]))
