"""What mappings are restricted to, and how Timeloop's constraints files (format v0.4) say it.

A constraint is a range of a quantity: of factors (fixed ones, and spatial ones of loops that may not run in a direction) and of
whether a level keeps a tensor. Beside that, the innermost loops of a level may be given, and the least share of
multipliers that work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from ithaca.formulations.json_numbers import fraction
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.architecture_files import load
from ithaca.formulations.spatial.mapping import Slot, keep_quantity, slots
from ithaca.workloads.documents import Document, validated
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted, refuse
from ithaca.workloads.nest import LoopNest

#: Values of `keep_quantity`.
PASSES_BY, KEPT = 1, 2


@dataclass(frozen=True)
class Constraints:
    """What mappings are restricted to."""

    #: Least and largest value of quantities; None: whatever the space allows.
    ranges: tuple[tuple[str, tuple[int, int | None]], ...] = ()
    #: The innermost temporal loops of levels, innermost first; loops of one trip do not count.
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    lanes: Fraction = Fraction(0)  #: Least share of the multipliers that work at the same time

    @property
    def of(self) -> Mapping[str, tuple[int, int | None]]:
        """The ranges by quantity."""
        return dict(self.ranges)

    def keeping(self, architecture: Architecture, nest: LoopNest) -> Architecture:
        """The architecture with the tensors kept that are to be kept, and without those that are to pass by."""
        tensors = [access.tensor for access in nest.accesses]
        found = {}
        for level in architecture.levels:
            kept = set(level.kept(tensors))
            for tensor in tensors:
                least, most = self.of.get(keep_quantity(level.name, tensor), (PASSES_BY, KEPT))
                kept = kept | {tensor} if least == KEPT else kept - {tensor} if most == PASSES_BY else kept
            if kept != level.kept(tensors):
                found[level.name] = frozenset(kept)
        return architecture.keeping(found) if found else architecture

    def check(self, architecture: Architecture, nest: LoopNest, *, divisors_only: bool) -> None:
        """Refuse factors that no mapping can have; the loop is named."""
        for loop, extent in nest.extents:
            bounds = {q: self.of.get(q, (1, None)) for q in (slot.quantity(loop) for slot in slots(architecture))}
            least = prod(low for low, _ in bounds.values())
            given = " · ".join(f"{q} {'=' if low == high else '≥'} {low}" for q, (low, high) in bounds.items() if low > 1)
            if least > extent if divisors_only else least >= 2 * extent > 2:
                raise InputError(f"constraints on {loop} contradict its extent {extent}: {given} make {least}")
            if divisors_only and extent % least:
                raise InputError(f"constraints on {loop} contradict its extent {extent}: {given} do not divide it")
            highs = [high for _, high in bounds.values()]
            if None not in highs and (most := prod(high or 1 for high in highs)) < extent:
                raise InputError(
                    f"constraints on {loop} contradict its extent {extent}: its factors are at most {most} together"
                )


class _Target(Document):
    target: Annotated[str, Field(validation_alias=AliasChoices("target", "name"))]
    type: Literal["temporal", "spatial", "datatype", "bypass", "bypassing", "dataspace", "utilization", "parallelism"]
    factors: str | list[str] = ""
    permutation: str | list[str] = ""
    split: Annotated[int, Field(ge=0)] | None = None
    keep: list[str] = Field(default=[])
    bypass: list[str] = Field(default=[])
    min: Annotated[float | int, Field(ge=0, le=1)] | None = None


class _Targets(Document):
    version: str | float | None = None
    targets: list[_Target]


#: Fields of a constraints file; what all of them say together holds.
FIELDS = ("architecture_constraints", "mapspace_constraints", "constraints")

_FACTOR = re.compile(r"([A-Za-z_][A-Za-z_0-9]*?)\s*(<=|=|)\s*([0-9]{1,9})")


def read_constraints(path: str | Path, architecture: Architecture, nest: LoopNest) -> Constraints:
    """The constraints of a file on mappings of a nest onto an architecture.

    Raises `InputError`, one line that names the path, if it cannot be read, says what is not supported, or contradicts itself.
    """
    file = Path(path)
    document = load(file)
    if not isinstance(document, dict) or not document.keys() <= {*FIELDS} or not document:
        raise refuse(file, f"is no constraints file; allowed: fields {', '.join(FIELDS)}")
    reader = _Reader(architecture, nest)
    for field, part in document.items():
        read = validated(_Targets, part if isinstance(part, dict) else {"targets": part}, f"{file}: {field}")
        for place, target in enumerate(read.targets):
            try:
                reader.take(target)
            except InputError as error:
                raise refuse(f"{file}: {field}.targets[{place}]", error) from None
    orders = {level: loops for level, loops in reader.orders.items() if loops}
    return Constraints(tuple(reader.ranges.items()), tuple(orders.items()), reader.lanes)


class _Reader:
    """Collects what targets say; the same may be said twice, but not something else."""

    def __init__(self, architecture: Architecture, nest: LoopNest) -> None:
        self.architecture, self.nest = architecture, nest
        self.ranges: dict[str, tuple[int, int | None]] = {}
        self.orders: dict[str, tuple[str, ...]] = {}
        self.lanes = Fraction(0)

    def take(self, read: _Target) -> None:
        levels = [level.name for level in self.architecture.levels]
        if read.target not in levels:
            raise InputError(f"target is {quoted(read.target)}; allowed: {', '.join(levels)}")
        own = {
            "temporal": {"factors", "permutation"},
            "spatial": {"factors", "permutation", "split"},
            "utilization": {"min"},
            "parallelism": {"min"},
        }.get(read.type, {"keep", "bypass"})
        if other := min(read.model_fields_set - own - {"target", "type"}, default=None):
            raise InputError(f"{other} does not go with type {read.type}; allowed: {', '.join(sorted(own))}")
        if read.type == "temporal":
            self._temporal(read)
        elif read.type == "spatial":
            self._spatial(read)
        elif "min" in own:
            self.lanes = max(self.lanes, fraction(read.min or 0))
        else:
            self._bypass(read)

    def _temporal(self, read: _Target) -> None:
        for loop, bounds in self._factors(read):
            self._range(Slot(read.target).quantity(loop), bounds)
        inner = self._loops(read)
        known = self.orders.setdefault(read.target, inner)
        if known[: len(inner)] != inner[: len(known)]:
            raise InputError(f"permutation {' '.join(inner)} of {read.target} contradicts another one, {' '.join(known)}")
        self.orders[read.target] = max(known, inner, key=len)

    def _spatial(self, read: _Target) -> None:
        along = [Slot(read.target, direction) for direction in "xy"]
        if along[0] not in slots(self.architecture):
            raise InputError(f"type is spatial, but no mesh lies inside {read.target}; allowed: temporal")
        factors, order = dict(self._factors(read)), self._loops(read)
        split = len(self.nest.loops) if read.split is None and order else read.split
        if split is not None and min(split, len(self.nest.loops)) > len(order) and split < len(self.nest.loops):
            raise InputError(f"split is {split} with a permutation of {len(order)}; allowed: one of at least {split} loops")
        for loop in self.nest.loops:
            bounds = factors.get(loop)
            if bounds == (1, 1):
                for slot in along:
                    self._range(slot.quantity(loop), bounds)
            elif split is not None:
                x = loop in order[:split] or (split >= len(self.nest.loops))
                own, other = along if x else along[::-1]
                self._range(other.quantity(loop), (1, 1))
                if bounds is not None:
                    self._range(own.quantity(loop), bounds)
            elif bounds is not None:
                least, most = bounds
                if least > 1 and self._flat(along):
                    self._range(next(slot for slot in along if slot not in self._flat(along)).quantity(loop), bounds)
                elif least > 1:
                    raise InputError(f"factors fix {loop} without a direction; allowed: with a permutation and split")
                else:
                    for slot in along:
                        self._range(slot.quantity(loop), (1, most))

    def _flat(self, along: list[Slot]) -> list[Slot]:
        """The directions in which a mesh has no lanes."""
        place = [level.name for level in self.architecture.levels].index(along[0].level)
        outer, inner = self.architecture.levels[place], self.architecture.inner_mesh(place)
        assert inner is not None
        lanes = (inner[0] // outer.mesh_x, inner[1] // outer.mesh_y)
        return [slot for slot, count in zip(along, lanes, strict=True) if count == 1]

    def _bypass(self, read: _Target) -> None:
        tensors = [access.tensor for access in self.nest.accesses]
        for names, value in ((read.keep, KEPT), (read.bypass, PASSES_BY)):
            for tensor in names:
                if tensor not in tensors:
                    raise InputError(f"keep or bypass names the unknown tensor {quoted(tensor)}; allowed: {', '.join(tensors)}")
                if value == PASSES_BY and read.target == self.architecture.levels[0].name:
                    raise InputError(f"bypass names {tensor} at {read.target}; allowed: levels inside, as it is outermost")
                self._range(keep_quantity(read.target, tensor), (value, value))

    def _range(self, quantity: str, bounds: tuple[int, int | None]) -> None:
        low, high = self.ranges.get(quantity, (1, None))
        highs = [bound for bound in (high, bounds[1]) if bound is not None]
        joined = max(low, bounds[0]), min(highs, default=None)
        if joined[1] is not None and joined[0] > joined[1]:
            raise InputError(f"constraints contradict each other: {quantity} {_said(low, high)} and {_said(*bounds)}")
        self.ranges[quantity] = joined

    def _factors(self, read: _Target) -> Iterator[tuple[str, tuple[int, int | None]]]:
        text = read.factors if isinstance(read.factors, str) else " ".join(read.factors)
        if rest := _FACTOR.sub("", text).replace(",", "").strip():
            raise InputError(f"factors have {quoted(rest)}; allowed: LOOP=FACTOR or LOOP<=FACTOR, such as C=8 S=3")
        for loop, sign, number in _FACTOR.findall(text):
            if loop not in self.nest.loops:
                raise InputError(f"factors name the unknown loop {quoted(loop)}; allowed: {', '.join(self.nest.loops)}")
            factor = int(number) or self.nest.sizes[loop]  # 0 is all that there is
            yield loop, (1 if sign == "<=" else factor, factor)

    def _loops(self, read: _Target) -> tuple[str, ...]:
        """The loops of a permutation, innermost first."""
        given = read.permutation if isinstance(read.permutation, list) else re.findall(r"\S", read.permutation.replace(",", ""))
        for loop in given:
            if loop not in self.nest.loops:
                raise InputError(f"permutation names the unknown loop {quoted(loop)}; allowed: {', '.join(self.nest.loops)}")
        if len(set(given)) < len(given):
            raise InputError(f"permutation {quoted(' '.join(given))} repeats a loop; allowed: every loop once")
        return tuple(given)


def _said(low: int, high: int | None) -> str:
    return f"= {low}" if low == high else f"≤ {high}" if low == 1 else f"≥ {low}"
