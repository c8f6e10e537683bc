"""The design space as integer parameters, the same for every search tool.

=============  ======================  ================================================================
parameter      range                   meaning
=============  ======================  ================================================================
``t1_<loop>``  1 … max(2·extent, 16)   array partitioning factor of a band loop
``t2_<loop>``  1 … max(2·extent, 16)   latency hiding factor of a band loop that has one
``simd``       0 … log2(widest)        exponent of the SIMD factor, a power of two
``pack_<g>``   0 … log2(widest)        exponent of the data packing factor of I/O group g, a power of two
=============  ======================  ================================================================

Any integers decode to a legal tiling, by one rule, applied to t1, then t2 (or SIMD), then packs: take
the largest legal value that does not exceed the parameter, or the smallest legal one if all exceed
it. So t2 becomes the largest divisor of t1 not above it. What is legal is read off the candidate
rows that the solver searches, never stated again here. In the odyssey edition packs are inferred
from the other factors, and so are no parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import (
    Axis,
    axes,
    candidate_rows,
    largest_t1,
    tiling_of,
)
from ithaca.formulations.systolic.membership import in_design_space
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.errors import InputError

Values = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer that a search tool may choose.

    Attributes
    ----------
    name : str
        Its name.
    low, high : int
        Smallest and largest value.
    quantity : str
        The tiling quantity it stands for.
    exponent : bool
        Whether the quantity is 2 to the power of it.
    """

    name: str
    low: int
    high: int
    quantity: str
    exponent: bool


@dataclass(frozen=True)
class Rows:
    """The candidate rows of one axis, sorted by t1, then t2, then packs.

    Attributes
    ----------
    axis : Axis
        The axis.
    columns : mapping of str to array
        The quantities of every row; the first ones in the order rows are sorted by.
    order : tuple of str
        The quantities rows are sorted by.
    """

    axis: Axis
    columns: Mapping[str, Values]
    order: tuple[str, ...]

    def nearest(self, wanted: Mapping[str, int]) -> int:
        """The row that the repair rule picks; quantities without a wanted value take their smallest."""
        begin, end = 0, next(iter(self.columns.values())).size
        for name in self.order:
            column = self.columns[name][begin:end]
            last = int(np.searchsorted(column, wanted.get(name, 0), side="right"))
            value = column[max(last - 1, 0)]
            end = begin + int(np.searchsorted(column, value, side="right"))
            begin += int(np.searchsorted(column, value, side="left"))
        return begin


@dataclass(frozen=True)
class ParameterSpace:
    """The parameters of a design, and how they become tilings.

    Attributes
    ----------
    problem : Problem
        The design with its limits and objective.
    parameters : tuple of Parameter
        In a fixed order: t1 and t2 of each band loop, the SIMD exponent last, then packs.
    rows : tuple of Rows
        The candidate rows of each axis.
    """

    problem: Problem
    parameters: tuple[Parameter, ...]
    rows: tuple[Rows, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(p.name for p in self.parameters)

    def encode(self, tiling: Tiling) -> dict[str, int]:
        """The parameters of a tiling: ``decode(encode(tiling)) == tiling`` for every legal one."""
        values = tiling.quantities(self.problem.array, self.problem.nest.sizes)
        found = {}
        for p in self.parameters:
            value = int(values[p.quantity])
            found[p.name] = value.bit_length() - 1 if p.exponent else value
        return found

    def decode(self, parameters: Mapping[str, int]) -> Tiling:
        """The legal tiling that parameters stand for, repaired where needed.

        Parameters
        ----------
        parameters : mapping of str to int
            A whole number (of any type) for every parameter; out of range ones are repaired, too.

        Raises
        ------
        InputError
            If a parameter is missing, unknown or no whole number.
        """
        wanted = self._wanted(parameters)
        values: dict[str, int] = {}
        for rows in self.rows:
            if rows.axis.loop is not None:
                index = rows.nearest(wanted)
                values |= {name: int(column[index]) for name, column in rows.columns.items()}
        return self._with_separate_packs(values, wanted)

    def vector(self, tiling: Tiling) -> list[int]:
        """The parameters of a tiling as a list, in their order."""
        return list(self.encode(tiling).values())

    def named(self, vector: Sequence[int]) -> dict[str, int]:
        """Parameters by name, from a list in their order."""
        return dict(zip(self.names, vector, strict=True))

    def is_legal(self, tiling: Tiling) -> bool:
        """Whether a tiling is a point of the design space (its limits aside)."""
        return in_design_space(self.problem, tiling)

    def _wanted(self, parameters: Mapping[str, int]) -> dict[str, int]:
        wrong = sorted(set(parameters) ^ set(self.names))
        if wrong:
            what = "missing" if wrong[0] in self.names else "unknown"
            raise InputError(f"parameter '{wrong[0]}' is {what}; allowed: exactly {', '.join(self.names)}")
        wanted = {}
        for p in self.parameters:
            value = parameters[p.name]
            if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
                raise InputError(f"parameter '{p.name}' is {value}; allowed: an integer from {p.low} to {p.high}")
            clipped = min(max(int(value), p.low), p.high)
            wanted[p.quantity] = 1 << clipped if p.exponent else clipped
        return wanted

    def _with_separate_packs(self, values: dict[str, int], wanted: Mapping[str, int]) -> Tiling:
        """Choose packs whose legality depends on several loops; where none is legal, the tiling is not."""
        choices: list[list[tuple[str, int]]] = []
        for rows in self.rows:
            if rows.axis.loop is None:
                ((name, options),) = rows.columns.items()
                target = wanted.get(name, int(options[-1]))
                below = [v for v in options.tolist() if v <= target]
                above = [v for v in options.tolist() if v > target]
                choices.append([(name, v) for v in (*reversed(below), *above)])
        first: Tiling | None = None
        for combination in product(*choices):
            tiling = tiling_of(self.problem.array, values | dict(combination))
            if not choices or in_design_space(self.problem, tiling):
                return tiling
            first = first or tiling
        assert first is not None
        return first


def parameter_space(problem: Problem) -> ParameterSpace:
    """Build the parameters of a design.

    Raises
    ------
    InputError
        If the design space is empty (min_lanes and divisors_only can leave nothing).
    """
    rows = tuple(_sorted_rows(problem, axis) for axis in axes(problem.array))
    for found in rows:
        if not next(iter(found.columns.values())).size:
            raise InputError(f"the design space of {problem.array.name} is empty at '{found.axis.name}'")
    return ParameterSpace(problem, tuple(_parameters(problem, rows)), rows)


def _parameters(problem: Problem, rows: Sequence[Rows]) -> Iterator[Parameter]:
    array, simd = problem.array, problem.array.simd_loop
    largest: dict[str, int] = {}
    for found in rows:
        largest |= {name: int(column.max()) for name, column in found.columns.items()}
    for loop in array.band:
        top = largest_t1(problem.nest.sizes[loop])
        yield Parameter(f"t1_{loop}", 1, top, quantities.t1(loop).name, False)
        if loop in array.latency_hiding_loops:
            yield Parameter(f"t2_{loop}", 1, top, quantities.t2(loop).name, False)
    name = quantities.t2(simd).name
    yield Parameter("simd", 0, largest[name].bit_length() - 1, name, True)
    if array.edition is not Edition.ODYSSEY:
        for group in array.packed_groups:
            name = quantities.pack(group.name).name
            yield Parameter(f"pack_{group.name}", 0, largest[name].bit_length() - 1, name, True)


def _sorted_rows(problem: Problem, axis: Axis) -> Rows:
    parts = list(candidate_rows(problem, axis))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    packs = tuple(quantities.pack(group.name).name for group in axis.packs)
    order = packs if axis.loop is None else (quantities.t1(axis.loop).name, quantities.t2(axis.loop).name, *packs)
    ranks = np.lexsort([columns[name] for name in reversed(order)])
    return Rows(axis, {name: columns[name][ranks] for name in (*order, *(n for n in columns if n not in order))}, order)
