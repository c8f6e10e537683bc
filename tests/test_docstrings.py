"""Public functions of several parameters say what these are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.test_layers import LAYERS, files, module_name, nodes


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The public functions of a file, and the public methods of its public classes."""

    def within(body: Iterable[ast.stmt], place: str) -> Iterator[tuple[str, ast.FunctionDef]]:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                name = f"{place}{node.name}"
                if isinstance(node, ast.FunctionDef):
                    yield name, node
                else:
                    yield from within(node.body, f"{name}.")

    (whole, *_) = nodes(path.read_text())
    assert isinstance(whole, ast.Module)
    yield from within(whole.body, "")


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters, without that of its object."""
    own = function.args
    named = [*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg]
    return [each.arg for each in named if each is not None and each.arg not in ("self", "cls")]


def has_options(function: ast.FunctionDef) -> bool:
    """Whether its parameters are options, of which `public` and typer say what their help says."""
    marks = {ast.unparse(mark).partition("(")[0] for mark in function.decorator_list}
    kinds = {ast.unparse(each.annotation or each) for each in function.args.kwonlyargs}
    return bool(marks & {"public", "calls"} or "AsJson" in kinds)


def documents(function: ast.FunctionDef) -> bool:
    """Whether a docstring has a section about parameters."""
    return "\nParameters\n----------\n" in (ast.get_docstring(function) or "")


def class_methods(path: Path) -> Iterator[tuple[str, tuple[list[str], dict[str, bool]]]]:
    """The classes of a file, each with its bases, and whether its methods document parameters."""
    module, places = module_name(path), dict[str, str]()
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ImportFrom):
            places |= {
                each.asname or each.name: f"{node.module}.{each.name}" for each in node.names
            }
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            yield (
                f"{module}.{node.name}",
                (
                    [places.get(base, f"{module}.{base}") for base in bases],
                    {method.name: documents(method) for method in methods},
                ),
            )


def undocumented(paths: Iterable[Path]) -> list[str]:
    """Functions of three parameters or more whose docstring has no section about these; methods
    without docstring have that of what they override in a class that theirs inherits from."""
    paths = list(paths)
    classes = dict(each for path in paths for each in class_methods(path))

    def inherits(place: str, method: str) -> bool:
        bases, methods = classes.get(place, ([], {}))
        return methods.get(method, False) or any(inherits(base, method) for base in bases)

    return [
        f"{path.name}: {name}"
        for path in paths
        for name, function in functions(path)
        if len(parameters(function)) >= 3 and not has_options(function) and not documents(function)
        if ast.get_docstring(function) is not None
        or not inherits(f"{module_name(path)}.{name.rpartition('.')[0]}", function.name)
    ]


def test_public_functions_say_what_their_parameters_are() -> None:
    assert not undocumented(path for layer in LAYERS for path in files(layer))


def test_a_function_that_does_not_say_it_is_seen(tmp_path: Path) -> None:
    section = '"""F.\n\n    Parameters\n    ----------\n    a : int\n        A.\n    """'
    text = f"def f(a, b, c):\n    {section}\n\n\ndef g(a, *b, **c):\n    'G.'\n\n\ndef _h(a, b, c): ...\n"
    text += f"class B(Generic[T]):\n    def f(self, a, b, c):\n        {section}\n\n\n"
    text += "class C(B):\n    def f(self, a, b, c): ...\n    def k(self, a, b, *, c): ...\n"
    text += "class D:\n    def f(self, a, b, c): ...\n"
    text += "@public\ndef m(a, b, c):\n    'M.'\n\n\ndef n(*, a, b, as_json: AsJson):\n    'N.'\n"
    file = tmp_path / "some.py"
    file.write_text(text)
    assert undocumented([file]) == ["some.py: g", "some.py: C.k", "some.py: D.f"]
