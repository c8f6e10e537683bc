"""Signatures of `ithaca`: the same as its commands; and the stub that says it to those who check
types."""

import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, get_args

import pytest

import ithaca
from ithaca.cli import COMMANDS, load
from ithaca.commands.api.keywords import type_text
from ithaca.commands.listing import LISTS
from ithaca.files.answer import NAMES, Wrote

STUB = Path(ithaca.__file__).parent / "__init__.pyi"

#: The stub of the package that has a function of its own name in it.
REFINE = STUB.parent / "refine" / "__init__.pyi"

#: Options of commands that say how an answer is printed or written, and what does the same in
#: Python.
INSTEAD = {
    "as_json": "document",
    "output": "save",
    "table": "to_dataframe",
    "plot": "plot",
    "loops": "loops",
    "compare": "plot",
    "verbose": "view",
}
ONLY = {
    "grid": {"x": "plot", "y": "plot", "metric": "plot"},
    "evaluate": {"table": "save_table"},
    "explain": {"loops": "result"},
    "refine": {"grid": "neighbourhood"},
    "simulate": {
        "points": "document",
        "dtype": "document",
        "trace": "run",
        "vcd": "run",
        "table": "run",
    },
}


def functions():
    return [name for name in COMMANDS if name.replace("-", "_") in ithaca.__all__]


def test_every_command_is_a_function():
    assert {*COMMANDS} - {*functions()} - {"serve"} == {"list"}
    assert {f"list_{name}" for name in LISTS if name != "schema"} | {"load"} <= {*ithaca.__all__}


@pytest.mark.parametrize("name", functions())
def test_functions_take_every_option_of_their_commands(name):
    own = name.replace("-", "_")
    function = getattr(ithaca, own)
    function = getattr(
        function, own, function
    )  # `ithaca.refine` is a package with the function in it
    taken, answer = (
        inspect.signature(function).parameters,
        inspect.signature(function).return_annotation,
    )
    for option in (each for each in load(name).params if each.name != "help_all"):
        if option.name in taken:
            shown = "" if option.default is None else str(option.default)
            told = taken[option.name].default
            assert (
                shown == ("" if told in (None, inspect.Parameter.empty) else str(told))
                or option.required
            )
            # up to what Python says in words of its own: keywords, functions
            assert re.split(r"[\[:(]|--|ithaca ", option.help)[0] in function.__doc__
        else:
            instead = ONLY.get(name, {}).get(option.name) or INSTEAD[option.name]
            # an object of another tool's, unless a file is written
            answers = (Wrote,) if answer is Any else get_args(answer) or (answer,)
            assert any(hasattr(each, instead) or instead in _fields(each) for each in answers), (
                option.name,
                instead,
            )


def _fields(answer):
    return {*getattr(answer, "__dataclass_fields__", ())}


def signature_text(name, function):
    signature = inspect.signature(function)
    yield f"def {name}("
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "    *,"
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        yield f"    {stars}{parameter.name}: {type_text(parameter.annotation)}{default},"
    yield f") -> {type_text(signature.return_annotation)}:"
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    yield textwrap.indent(textwrap.fill(f'"""{summary}"""', 96), "    ")


def stub(path):
    """A package to those who check types, and to the guide: what is defined elsewhere, with full
    signatures."""
    imports, bodies = {"from ithaca import refine as refine"} if path == STUB else set(), []
    homes = [name for name in NAMES if (name == "refine") == (path == REFINE)]
    for name in sorted(homes):
        found, home = NAMES[name], NAMES.place(name).partition(":")[0]
        if isinstance(found, type) or not hasattr(found, "__signature__"):
            imports.add(f"from {home} import {name} as {name}")
            continue
        signature = inspect.signature(found)
        for kind in (
            *(p.annotation for p in signature.parameters.values()),
            signature.return_annotation,
        ):
            text = f"{kind.__module__}.{kind.__name__}" if isinstance(kind, type) else str(kind)
            for module, part in re.findall(r"\b((?:\w+\.)+)(\w+)", text):
                if module != "builtins." and part not in homes:
                    imports.add(f"from {module[:-1]} import {part}")
        bodies.append("\n".join(signature_text(name, found)))
    names = ",\n".join(f"    {name!r}" for name in ithaca.__all__)
    what = "ithaca.refine" if path == REFINE else "ithaca"
    head = (
        f'"""What `{what}` offers those who check types, by `tests/test_python_signatures.py`."""\n'
    )
    listed = f"__version__: str\n\n__all__ = [\n{names},\n]\n" if path == STUB else ""
    text = "\n".join([head, *sorted(imports), "", listed, "\n\n".join(bodies), ""])
    for command in (["check", "--fix", "-q"], ["format", "-q"]):
        words = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(words, input=text, capture_output=True, text=True, check=False).stdout
    return text


@pytest.mark.parametrize("path", [STUB, REFINE], ids=["ithaca", "refine"])
def test_the_stub_says_what_functions_take(path):
    """`UPDATE_STUB=1` writes it."""
    written = stub(path)
    if "UPDATE_STUB" in os.environ:
        path.write_text(written)
    assert path.read_text() == written
