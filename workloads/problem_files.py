"""Read problems from Timeloop's files (formats v0.3 and v0.4) as loop nests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.messages import MAX_HINTED, among, errors_at, meant, quoted, refuse
from ithaca.files.numbers import unquoted
from ithaca.files.timeloop_files import load_timeloop
from ithaca.workloads.densities import read_densities
from ithaca.workloads.kernel_files import default_simd
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

#: Shapes that problems may name; the first is that of problems without one.
SHAPES: dict[str, dict[str, Any]] = {
    "cnn_layer": {
        "name": "cnn_layer",
        "dimensions": ["R", "S", "P", "Q", "C", "K", "N"],
        "coefficients": [
            {"name": name, "default": 1}
            for name in ("Wstride", "Hstride", "Wdilation", "Hdilation")
        ],
        "data_spaces": [
            {"name": "Weights", "projection": ["C", "K", "R", "S"]},
            {
                "name": "Inputs",
                "projection": [
                    "N",
                    "C",
                    [["R", "Wdilation"], ["P", "Wstride"]],
                    [["S", "Hdilation"], ["Q", "Hstride"]],
                ],
            },
            {"name": "Outputs", "projection": ["N", "K", "Q", "P"], "read_write": True},
        ],
    },
    "gemm_ABZ": {
        "name": "gemm_ABZ",
        "dimensions": ["M", "N", "K"],
        "data_spaces": [
            {"name": "A", "projection": ["M", "K"]},
            {"name": "B", "projection": ["N", "K"]},
            {"name": "Z", "projection": ["M", "N"], "read_write": True},
        ],
    },
}

#: Fields of a problem that are no sizes, where those stand beside its shape.
_FIELDS = ("version", "shape", "densities", "commonDensity")


#: Fields of tools derived from Timeloop that state bits of all tensors, and of single ones.
_WIDTHS = ("commonBitwidth", "commonDatawidth", "commonWordwidth")
_EACH_WIDTH = ("bitwidths", "datawidths", "wordwidths")


class _Coefficient(InputDocument):
    name: str
    default: Annotated[int | None, BeforeValidator(unquoted)] = None


def _ranks(projection: Any) -> Any:
    """A projection whose ranks may be one dimension each, by its name."""
    if not isinstance(projection, list):
        return projection
    return [[[rank]] if isinstance(rank, str) else rank for rank in projection]


class _DataSpace(InputDocument):
    name: str
    projection: Annotated[list[list[list[str]]], BeforeValidator(_ranks)]
    read_write: bool = Field(
        default=False, validation_alias=AliasChoices("read_write", "read-write")
    )


class _Shape(InputDocument):
    name: str = "problem"
    dimensions: Annotated[list[str], Field(min_length=1)]
    coefficients: list[_Coefficient] = Field(default=[])
    data_spaces: Annotated[
        list[_DataSpace], Field(validation_alias=AliasChoices("data_spaces", "data-spaces"))
    ]


class ProblemDocument(InputDocument):
    version: str | float | None = None
    shape: _Shape
    instance: dict[str, Any]


def read_problem(path: str | Path) -> LoopNest:
    """The loop nest of a problem file: dimensions are its loops, data spaces its tensors.

    Raises `InputError`, one line that names the path, if it cannot be read or says what is not
    supported.
    """
    file = Path(path)
    document = load_timeloop(file)
    if not isinstance(document, dict) or "problem" not in document:
        raise refuse(file, "has no field 'problem'; allowed: a problem of Timeloop")
    return problem_nest(document["problem"], f"{file}: problem")


def problem_nest(document: Any, where: object) -> LoopNest:
    """The loop nest of a problem; error lines start with ``where``."""
    unread: list[str] = []
    read = validated(ProblemDocument, _whole(document, where), where, unread=unread)
    shape = read.shape
    numbers = {name: unquoted(value) for name, value in read.instance.items()}
    coefficients = {c.name: numbers.pop(c.name, c.default) for c in shape.coefficients}
    for name, value in (*coefficients.items(), *((d, numbers.get(d)) for d in shape.dimensions)):
        if isinstance(value, bool) or not isinstance(value, int):
            state = "missing" if value is None else quoted(value)
            raise refuse(
                where,
                f"instance.{name} is {state}; allowed: a size for all of "
                f"{', '.join(shape.dimensions)}",
            )
    spaces = [space.name for space in shape.data_spaces]
    formats = _formats(numbers, spaces, where)
    names = (*shape.dimensions, *coefficients)
    for what, each in (("dimension or coefficient", names), ("data space", spaces)):
        if bad := next((name for name in each if not re.fullmatch(r"[A-Za-z_]\w*", name)), None):
            raise refuse(
                where,
                f"{what} is {quoted(bad)}; allowed: letters, digits and underscores, a digit not "
                "first",
            )
    for name in (name for name in numbers if name not in names):
        hint = meant(name, names) if len(unread) < MAX_HINTED else ""
        unread.append(f"instance.{name}{hint}")
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
    with errors_at(where):
        output, inputs = parse_statement(template, used)
        loops = tuple(shape.dimensions)
        nest = LoopNest(
            name=shape.name,
            extents=tuple((loop, numbers[loop]) for loop in loops),
            output=output,
            inputs=inputs,
            simd=default_simd(loops, output, inputs),
            parameters=tuple(used.items()),
            template=template if used else "",
            unread=tuple(f"{where}.{name}" for name in unread),
            densities=read_densities(document | numbers, spaces, str(where)),
        )
    if not formats:
        return nest
    from ithaca.workloads.formats import with_formats

    return with_formats(nest, formats, f"{where}: format")


def _formats(numbers: dict[str, Any], spaces: list[str], where: object) -> dict[str, str]:
    """The integers of so many bits that data spaces are of; their fields are left out of numbers.

    Raises `InputError`, which begins with ``where``, if one has no such bits, or is none.
    """
    fields = [(name, numbers.pop(name)) for name in (*_WIDTHS, *_EACH_WIDTH) if name in numbers]
    formats: dict[str, str] = {}
    for field, bits in fields[:1]:  # of several the first holds, as there
        each = dict.fromkeys(spaces, bits) if field in _WIDTHS else bits
        if not isinstance(each, dict):
            raise refuse(where, f"instance.{field} is {quoted(each)}; allowed: bits by data space")
        for name, own in each.items():
            if name not in spaces:
                raise refuse(where, f"instance.{field} has {quoted(name)}{among(name, spaces)}")
            own = unquoted(own)
            if isinstance(own, bool) or not isinstance(own, int) or not 1 <= own <= 64:
                raise refuse(
                    where, f"instance.{field} of {name} is {quoted(own)}; allowed: 1 to 64"
                )
            formats[name] = f"int{own}"
    return formats


def _whole(document: Any, where: object) -> Any:
    """A problem with its shape, which it may name, and its sizes in a field of their own."""
    if not isinstance(document, dict):
        return document
    shape = document.get("shape", next(iter(SHAPES)))
    if isinstance(shape, str):
        named = {name.lower(): own for name, own in SHAPES.items()}
        if (own := named.get(shape.replace("-", "_").lower())) is None:
            raise refuse(where, f"shape is {quoted(shape)}{among(shape, SHAPES)}")
        shape = own
    if "instance" not in document:
        sizes = {name: value for name, value in document.items() if name not in _FIELDS}
        document = {name: value for name, value in document.items() if name in _FIELDS}
        document["instance"] = sizes
    return document | {"shape": shape}


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
