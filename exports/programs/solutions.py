"""Solutions of programs by other solvers, models of Pyomo with values and files of names and values
(`.sol`), as configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ithaca.exports.programs.solved import SolvedModel
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import read_text
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design
from ithaca.formulations.problem import Problem

#: Largest file of a solution (bytes).
MAX_BYTES = 64 * 2**20

#: How far from a whole number a solver's value may be.
TOLERANCE = 1e-4

_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?"
_LINE = re.compile(
    rf"\s*(?:\*\*\s*)?(?:[0-9]+\s+)?([A-Za-z][\w.\[\](),']*)(?:\s*[:=]\s*|\s+)({_NUMBER})(?:\s|$)"
)
_TAG, _ATTRIBUTE = re.compile(r"<[^<>]*>"), re.compile(r'(?<!\w)(name|value)="([^"<>]*)"')


def configurations_of(
    source: Any, problems: Sequence[Problem]
) -> list[tuple[Design, Configuration]]:
    """The configuration of a solution, of each design that has it in its space.

    Parameters
    ----------
    source : str or Path or ConcreteModel
        The file, or the model with values.
    problems : sequence of Problem
        The problems whose program it may be of.

    Raises
    ------
    InputError
        If it is none of any of them.
    """
    is_model = isinstance(source, SolvedModel)
    where = "the model" if is_model else str(source)
    pairs, read, why = list(_of_model(source) if is_model else _of_file(source)), [], ""
    values = dict(pairs)
    twofold = {name for name, value in pairs if value != values[name]}
    for problem in problems:
        space, known = problem.space, {}
        for name in space.quantities:
            value = values.get(_plain(name))
            if value is None:
                why = why or f"has no value of {name}; allowed: one of each quantity"
                break
            if _plain(name) in twofold:
                why = why or f"has several values of {name}; allowed: one of each quantity"
                break
            if not isfinite(value) or abs(value - round(value)) > TOLERANCE:
                why = why or f"{name} is {value}; allowed: a whole number"
                break
            known[name] = round(value)
        else:
            if space.contains(known):
                read.append((problem.design, Configuration(known)))
            else:
                why = f"is no configuration of design {problem.design.name}"
    if not read:
        raise refuse(where, why)
    return read


def _plain(name: str) -> str:
    """A name as writers of programs may change it."""
    return re.sub(r"[\W_]+", "_", name).strip("_")


def _of_model(model: Any) -> Iterator[tuple[str, float]]:
    import pyomo.environ as pyo

    for variable in model.component_data_objects(pyo.Var):
        if variable.value is not None:
            yield _plain(variable.name), float(variable.value)


def _of_file(path: str | Path) -> Iterator[tuple[str, float]]:
    text = read_text(Path(path), MAX_BYTES)
    pairs = [*_elements(text)]
    if not pairs:
        lines = map(_LINE.match, text.splitlines())
        pairs = [(line[1], line[2]) for line in lines if line is not None]
    if not pairs:
        raise InputError(f"{quoted(str(path))} has no lines of a name and a value; allowed: such")
    for name, value in pairs:
        yield _plain(name), float(value)


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """The names and values that elements of XML state, each by two attributes."""
    for tag in _TAG.findall(text):
        stated = dict(_ATTRIBUTE.findall(tag))
        if "name" in stated and re.fullmatch(_NUMBER, stated.get("value", "")):
            yield stated["name"], stated["value"]
