"""Read problems from Timeloop's files (format v0.4) as loop nests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from ithaca.files.documents import Document, load_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.workloads.kernel_files import MAX_BYTES, default_simd
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

#: Deepest nesting of a file.
MAX_DEPTH = 40


class _Coefficient(Document):
    name: str
    default: int | None = None


class _DataSpace(Document):
    name: str
    projection: list[list[list[str]]]
    read_write: bool = Field(
        default=False, validation_alias=AliasChoices("read_write", "read-write")
    )


class _Shape(Document):
    name: str = "problem"
    dimensions: Annotated[list[str], Field(min_length=1)]
    coefficients: list[_Coefficient] = Field(default=[])
    data_spaces: Annotated[
        list[_DataSpace], Field(validation_alias=AliasChoices("data_spaces", "data-spaces"))
    ]


class ProblemDocument(Document):
    version: str | float | None = None
    shape: _Shape
    instance: dict[str, int]


def read_problem(path: str | Path) -> LoopNest:
    """The loop nest of a problem file: dimensions are its loops, data spaces its tensors.

    Raises `InputError`, one line that names the path, if it cannot be read or says what is not
    supported.
    """
    file = Path(path)
    document = load_document(file, MAX_BYTES, depth=MAX_DEPTH)
    if not isinstance(document, dict) or "problem" not in document:
        raise refuse(file, "has no field 'problem'; allowed: a problem of Timeloop v0.4")
    return problem_nest(document["problem"], f"{file}: problem")


def problem_nest(document: Any, where: object) -> LoopNest:
    """The loop nest of a problem; error lines start with ``where``."""
    read = validated(ProblemDocument, document, where)
    shape, numbers = read.shape, dict(read.instance)
    coefficients = {c.name: numbers.pop(c.name, c.default) for c in shape.coefficients}
    for name, value in (*coefficients.items(), *((d, numbers.get(d)) for d in shape.dimensions)):
        if value is None:
            raise refuse(
                where,
                f"instance.{name} is missing; allowed: a size for all of "
                f"{', '.join(shape.dimensions)}",
            )
    if unknown := min(numbers.keys() - set(shape.dimensions), default=None):
        raise refuse(
            where,
            f"instance.{unknown} is unknown{among(unknown, (*shape.dimensions, *coefficients))}",
        )
    outputs = [space for space in shape.data_spaces if space.read_write]
    if len(outputs) != 1:
        raise refuse(
            where, f"shape.data_spaces has {len(outputs)} with read_write; allowed: one, the output"
        )
    sides = [
        _reference(space, shape, where)
        for space in (*outputs, *(s for s in shape.data_spaces if not s.read_write))
    ]
    template = f"{sides[0]} += {' * '.join(sides[1:])}"
    used = {
        name: value
        for name, value in coefficients.items()
        if value is not None and re.search(rf"\b{name}\b", template)
    }
    try:
        output, inputs = parse_statement(template, used)
        loops = tuple(shape.dimensions)
        return LoopNest(
            name=shape.name,
            extents=tuple((loop, numbers[loop]) for loop in loops),
            output=output,
            inputs=inputs,
            simd=default_simd(loops, output, inputs),
            parameters=tuple(used.items()),
            template=template if used else "",
        )
    except InputError as error:
        raise refuse(where, error) from None


def _reference(space: _DataSpace, shape: _Shape, where: object) -> str:
    """A data space as a statement writes it: ``Inputs[N][R + P*k2]``."""
    known = {*shape.dimensions, *(c.name for c in shape.coefficients)}
    for term in (term for rank in space.projection for term in rank):
        if not 1 <= len(term) <= 2 or term[0] not in shape.dimensions or not set(term) <= known:
            raise refuse(
                where,
                f"projection of {space.name} has {quoted('*'.join(term))}; allowed: "
                "a dimension, perhaps a coefficient",
            )
    ranks = (" + ".join("*".join(term) for term in rank) for rank in space.projection)
    return space.name + "".join(f"[{rank}]" for rank in ranks)
