"""Which factors a grid spans: those that stay as in a design, and the values of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import Axis, Rows, axes, candidate_rows
from ithaca.formulations.systolic.membership import in_design_space
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.errors import InputError


@dataclass(frozen=True)
class Window:
    """Part of a design's space: the product of its free factors' values.

    The coordinates of a configuration are ``lanes.x`` and ``t2.x`` of every band loop (t1 is their product, so that
    t2 always divides it; ``t2`` of the SIMD loop is the SIMD factor) and ``pack.g`` of every I/O group.

    Attributes
    ----------
    problem : Problem
        The design, its limits and objective.
    center : Tiling
        The design the window lies around.
    around : int or None
        How far the factors may be from the center's; None for their full ranges.
    free : mapping of str to array of int
        Ascending values per free factor: every value that a legal row of its axis takes in the window.
    fixed : mapping of str to int
        The value of every other factor. In the odyssey edition packs are neither: they follow from the factors.
    """

    problem: Problem
    center: Tiling
    around: int | None
    free: Mapping[str, Rows]
    fixed: Mapping[str, int]

    @property
    def shape(self) -> dict[str, int]:
        """Values per free factor."""
        return {name: values.size for name, values in self.free.items()}

    @property
    def points(self) -> int:
        """Points of the grid, legal or not."""
        return prod(self.shape.values())

    def rows(self, axis: Axis) -> dict[str, Rows]:
        """The legal rows of an axis that lie in the window, one integer array per quantity."""
        return _inside(self.problem, axis, self.free, self.fixed)


def window_around(
    problem: Problem,
    center: Tiling,
    around: int | None = None,
    loops: Sequence[str] | None = None,
    *,
    free_packs: bool = False,
) -> Window:
    """The window of a design's space around a configuration.

    Parameters
    ----------
    problem : Problem
        The design; what its `physical` array gives is respected.
    center : Tiling
        A configuration of its design space.
    around : int, optional
        Largest distance of a factor from the center's; by default there is none. Packs, where free, take all legal values.
    loops : sequence of str, optional
        The loops whose factors are free; by default all band loops.
    free_packs : bool
        Whether packs are free too, instead of those of the center (exact edition only).

    Raises
    ------
    InputError
        If a loop is no band loop or given twice, the center is outside the design space, or packs cannot be free.
    """
    array = problem.array
    wanted = array.band if loops is None else tuple(loops)
    for number, loop in enumerate(wanted):
        if loop not in array.band or loop in wanted[:number]:
            what = "is given twice" if loop in array.band else "is no band loop"
            raise InputError(f"loops: '{loop}' {what}; allowed: different ones of {', '.join(array.band)}")
    if not wanted:
        raise InputError(f"loops is empty; allowed: some of {', '.join(array.band)}")
    if around is not None and around < 0:
        raise InputError(f"around is {around}; allowed: an integer ≥ 0")
    if not in_design_space(problem, center):
        raise InputError(f"the configuration is outside the design space of {array.name}; allowed: a point of that space")
    inferred = array.edition is Edition.ODYSSEY
    if free_packs and inferred:
        raise InputError("free packs: the odyssey edition infers packs from the factors; allowed: the exact edition")
    fixed: dict[str, int] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for loop in array.band:
        inner = center.t2(array, loop)
        for name, value in ((quantities.lanes(loop).name, center.array_part[loop] // inner), (quantities.t2(loop).name, inner)):
            if loop in wanted:
                bounds[name] = (-np.inf, np.inf) if around is None else (value - around, value + around)
            else:
                fixed[name] = value
    for group in array.packed_groups:
        name = quantities.pack(group.name).name
        if free_packs:
            bounds[name] = (-np.inf, np.inf)
        elif not inferred:
            fixed[name] = center.pack[group.name]
    free: dict[str, Rows] = {}
    for axis in axes(array):
        names = [name for name in bounds if name in axis.symbols]
        if names:
            free |= _values(problem, axis, names, bounds, fixed)
    return Window(problem, center, around, {name: free[name] for name in bounds}, fixed)


Bounds = Mapping[str, tuple[float, float]]


def _values(problem: Problem, axis: Axis, names: Sequence[str], bounds: Bounds, fixed: Mapping[str, int]) -> dict[str, Rows]:
    """The values that free factors take in the legal rows of their axis."""
    found: dict[str, list[Rows]] = {name: [] for name in names}
    for rows in candidate_rows(problem, axis):
        keep = np.ones(next(iter(rows.values())).size, bool)
        for name, column in rows.items():
            if name in fixed:
                keep &= column == fixed[name]
            elif name in bounds:
                keep &= (column >= bounds[name][0]) & (column <= bounds[name][1])
        for name in names:
            found[name].append(np.unique(rows[name][keep]))
    return {name: np.unique(np.concatenate(parts)) for name, parts in found.items()}


def _inside(problem: Problem, axis: Axis, free: Mapping[str, Rows], fixed: Mapping[str, int]) -> dict[str, Rows]:
    parts: list[dict[str, Rows]] = []
    for rows in candidate_rows(problem, axis):
        keep = np.ones(next(iter(rows.values())).size, bool)
        for name, column in rows.items():
            if name in fixed:
                keep &= column == fixed[name]
            elif name in free:
                keep &= np.isin(column, free[name])
        parts.append({name: column[keep] for name, column in rows.items()})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
