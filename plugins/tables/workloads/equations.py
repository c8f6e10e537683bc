"""Layers stated by equations over loops, as workloads of ZigZag and Stream have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.messages import errors_at, escaped, quoted, refuse
from ithaca.plugins.tables.workloads.rows import LayerRow, network_of
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.networks.find import PlainSource
from ithaca.workloads.networks.network import (
    Layer,
    Network,
    Omission,
    OmissionKind,
    chosen_parameters,
)

#: Loops of convolutions by what they are.
_LOOPS = {
    **{"b": "batch", "k": "outputs", "c": "inputs", "g": "groups"},
    **{"oy": "places_0", "ox": "places_1", "fy": "window_0", "fx": "window_1"},
}

_RELATION = re.compile(r"\s*(\w+)\s*=\s*(.+)")
_TERM = re.compile(r"(?:(\d+)\s*\*\s*)?([A-Za-z]\w*)")


class _Stated(InputDocument):
    """A layer; what says how it runs on some hardware is not read."""

    id: int
    operator_type: str
    equation: str
    loop_dims: list[str]
    loop_sizes: list[int]
    dimension_relations: list[str] = Field(default=[])
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Nest:
    """A layer of another equation than a convolution's."""

    where: str
    name: str
    statement: str
    sizes: Mapping[str, int]

    def uses(self) -> list[_Nest]:
        """The nest alone."""
        return [self]

    def layer(self, name: str) -> Layer:
        """The layer of a name."""
        with errors_at(self.where):
            nest = statement_nest(self.statement, self.sizes)
        return Layer(name, replace(nest, name=name), 1, (name,))


def _is_one(document: Any) -> bool:
    """Whether a document is a list of layers with equations."""
    return isinstance(document, list) and any(
        isinstance(each, dict) and "equation" in each for each in document
    )


def _read(document: list[Any], where: object, sizes: Mapping[str, int]) -> Network:
    """The network of a list of layers. What no products are is listed as done element by element.

    Raises `InputError` if a layer is malformed, or none multiplies; they have no sizes.
    """
    path = Path(str(where))
    chosen_parameters(path, {}, sizes)
    unread: list[str] = []
    light: Counter[str] = Counter()
    rows: list[LayerRow | _Nest] = []
    for place, each in enumerate(document):
        where = f"{path}: [{place}]"
        stated = validated(_Stated, each, where, unread=unread)
        if "*" not in stated.equation or "pool" in stated.operator_type.lower():
            light[stated.operator_type] += 1
        else:
            rows.append(_row(stated, where))
    what = "a workload of ZigZag or Stream"
    fields = dict.fromkeys(each.rpartition(".")[2] for each in unread)
    remarks = (f"nothing here depends on {', '.join(fields)}",) if fields else ()
    network = network_of(path, rows, what, remarks)
    listed = (Omission(escaped(n), k, OmissionKind.ELEMENTWISE) for n, k in light.items())
    return replace(network, unsupported=(*network.unsupported, *listed))


def _row(stated: _Stated, where: str) -> LayerRow | _Nest:
    loops = [name.lower() for name in stated.loop_dims]
    if len(loops) != len(stated.loop_sizes) or len({*loops}) < len(loops):
        raise refuse(
            where,
            f"loop_sizes has {len(stated.loop_sizes)} sizes for loop_dims "
            f"{quoted(' '.join(stated.loop_dims))}; allowed: one for each",
        )
    sizes = dict(zip(loops, stated.loop_sizes, strict=True))
    relations = dict(_relations(stated, where))
    name, equation = stated.name or f"layer{stated.id}", re.sub(r"\s", "", stated.equation)
    tried = [_steps(relations.get(f"i{window[1]}"), window) for window in ("fy", "fx")]
    steps = [each for each in tried if each is not None]
    if {"k", "c"} <= sizes.keys() <= _LOOPS.keys() and len(steps) == len(tried):
        numbers = {"places_0": 1, "places_1": 1, "window_0": 1, "window_1": 1}
        numbers |= {_LOOPS[loop]: size for loop, size in sizes.items()}
        for d, (stride, dilation) in zip("01", steps, strict=True):
            numbers |= {f"stride_{d}": stride, f"dilation_{d}": dilation}
        groups = numbers.get("groups", 1)
        numbers |= {each: numbers[each] * groups for each in ("inputs", "outputs")}
        return LayerRow(where, name, numbers)
    statement = re.sub(
        r"\[(\w+)\]",
        lambda match: f"[{_text(relations[match[1]]) if match[1] in relations else match[1]}]",
        equation.lower().replace("+=", " += ").replace("*", " * "),
    )
    return _Nest(where, name, statement, sizes)


def _relations(stated: _Stated, where: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Indices that are sums of loops, times steps."""
    for text in stated.dimension_relations:
        match = _RELATION.fullmatch(text)
        terms = [_TERM.fullmatch(part.strip()) for part in (match[2] if match else "").split("+")]
        known = [each for each in terms if each]
        if match is None or len(known) < len(terms):
            raise refuse(
                where, f"dimension_relations has {quoted(text)}; allowed: such as ix=2*ox+1*fx"
            )
        yield match[1].lower(), {each[2].lower(): int(each[1] or 1) for each in known}


def _steps(terms: Mapping[str, int] | None, window: str) -> tuple[int, int] | None:
    """Stride and dilation along a direction; None if its index is no output's and window's."""
    if terms is None:
        return 1, 1
    places = f"o{window[1]}"
    return (terms[places], terms[window]) if terms.keys() == {places, window} else None


def _text(terms: Mapping[str, int]) -> str:
    return " + ".join(f"{step}*{loop}" if step > 1 else loop for loop, step in terms.items())


#: Workloads of ZigZag and Stream.
EQUATIONS = PlainSource(_is_one, _read)
