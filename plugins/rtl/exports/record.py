"""The record of what hardware is made of, ``hardware.json`` in its folder: enough to make it again.

`ithaca build` makes every file again before anything is run, so that a folder may come from a
stranger. A record may have been edited like any other file: it is read as results are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.exports.generated import GENERATORS
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.reading import parse_json, read_text
from ithaca.files.writing import SCHEMA, Schema, document_text
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.documents import Document
from ithaca.formulations.families import FAMILIES, family_of
from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.formulations.systolic.buffering import doubled_words
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.results.schema import platform_fields
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.solution import Solution

#: The record of a folder.
RECORD = "hardware.json"

#: Largest record (bytes): an array that runs a hundred layers.
MAX_BYTES = 2**20

#: Names of layers, which are those of folders: file systems hold 255 bytes.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True)
class Recorded:
    """A configuration that hardware was made of, and what was known of it."""

    configuration: Any
    """The configuration, of its family's own type."""
    proven: bool
    """Whether it is a proven optimum of the edition that counts its cycles."""
    simulated: int | None = None
    """Its cycles by `ithaca simulate`; None where that was not run."""
    hangs: bool | None = None
    """Whether it hangs, by the same."""


class RecordDocument(Document):
    """A record; each layer is of the family's own type."""

    schema_: Schema
    family: str
    memory: str
    layers: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]


@cache
def _model(family: str) -> Any:
    known: Any = FAMILIES[family]
    fields: Any = {
        "tiling": (known.tiling, ...),
        "proven": (bool, ...),
        "simulated": (Annotated[int, Field(ge=0)] | None, None),
        "hangs": (bool | None, None),
    }
    return create_model("LayerDocument", __base__=(known.choice, known.head), **fields)


def array_problem(chosen: ArrayConfiguration) -> tuple[Problem, Configuration]:
    """A problem with a systolic array as its design, and the factors of that."""
    array = chosen.design
    options = SpaceOptions(two_level=array.dram.two_level, double_buffer=doubled_words(array))
    design = SystolicDesign(chosen.nest, array, chosen.data, options, chosen.technology)
    factors = design.configuration(chosen.tiling)
    limits = () if chosen.bandwidth is None else (Limit("bandwidth", chosen.bandwidth),)
    return Problem(design, limits, read_objective("latency", "objective", None)), factors


def record_text(
    layers: Mapping[str, Recorded],
    memory: str,
    problem_of: Callable[[Any], tuple[Problem, Configuration]] = array_problem,
) -> str:
    """The record of hardware that runs layers, by their names; one alone has none.

    Parameters
    ----------
    layers : mapping of str to Recorded
        The layers.
    memory : str
        What memory is reached by.
    problem_of : callable, optional
        The problem of a configuration and the factors of that.
    """
    problems = {name: problem_of(each.configuration) for name, each in layers.items()}
    (family,) = {problem.design.family for problem, _ in problems.values()}
    documents = {}
    for name, (problem, factors) in problems.items():
        known, own = family_of(problem.design), layers[name]
        fields = {
            **known.head_fields(problem.design),
            "platform": platform_fields("hardware", problem.limits),
            "objective": {"expression": problem.objective.text, "value": None},
            **known.choice_fields(problem.design),
            "tiling": known.tiling_fields(problem.design, factors),
            **{name: getattr(own, name) for name in ("proven", "simulated", "hangs")},
        }
        model = _model(family).model_validate(fields, from_attributes=True)
        documents[name] = model.as_json()
    return document_text(
        {"schema": SCHEMA, "family": family, "memory": memory, "layers": documents}
    )


def read_record(folder: Path) -> tuple[str, str, Mapping[str, Recorded]]:
    """The family, the memory and the layers that the record of a folder states.

    Raises `InputError` if there is no record, or it states no hardware.
    """
    path = folder / RECORD
    read = validated(RecordDocument, parse_json(read_text(path, MAX_BYTES), path), path)
    families = (SystolicDesign.family, *GENERATORS)
    with errors_at(path):
        if read.family not in families:
            raise InputError(f"family is {quoted(read.family)}; allowed: {', '.join(families)}")
        for name in read.layers:
            if not NAME.fullmatch(name) and (name or len(read.layers) > 1):
                raise InputError(f"layers has {quoted(name)}; allowed: names as of folders")
    return (
        read.family,
        read.memory,
        {
            name: _recorded(read.family, layer, f"{path}: layers.{name}")
            for name, layer in read.layers.items()
        },
    )


def _recorded(name: str, layer: Mapping[str, Any], where: str) -> Recorded:
    family, read = FAMILIES[name], validated(_model(name), layer, where)
    with errors_at(where):
        setting = family.setting(read)
        design = family.design(setting, read)
        factors = family.configuration(design, read.tiling)
        limits = read.platform.upper_limits(family.vocabulary(setting))
        objective = read_objective("latency", "objective", None)
        nothing = Certificate(Status.FEASIBLE, None, None, "none", 0, 0)
        solution = Solution(Problem(design, limits, objective), factors, None, nothing)
        other = GENERATORS.get(name)
        configured = ArrayConfiguration.of if other is None else other.configured
        chosen: Any = replace(configured(solution), proven=read.proven)
        return Recorded(chosen, read.proven, read.simulated, read.hangs)
