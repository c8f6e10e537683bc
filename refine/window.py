"""The factors that a grid spans, and those that stay as in a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Mask
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Axis, Role, Rows, Values


@dataclass(frozen=True)
class Window:
    """Part of a design's space: the product of its free factors' values.

    The coordinates of a configuration are the free quantities of its space; the others follow from
    them.
    """

    problem: Problem
    """The design, its limits and objective."""
    center: Configuration
    """The configuration the window lies around."""
    around: int | None
    """How far the factors may be from the center's; None for their full ranges."""
    free: Mapping[str, Values]
    """Ascending values per free factor: every value that a legal row of its axis takes in the
    window."""
    fixed: Mapping[str, int]
    """The value of every other factor."""

    @property
    def shape(self) -> dict[str, int]:
        """Values per free factor."""
        return {name: values.size for name, values in self.free.items()}

    @property
    def points(self) -> int:
        """Points of the grid, legal or not."""
        return prod(self.shape.values())

    @property
    def extent(self) -> str:
        """The ranges of the free factors in words."""
        if self.around is None:
            return "full ranges"
        return f"factors at most {self.around} from the center's"


def window_around(
    problem: Problem,
    center: Configuration,
    around: int | None = None,
    loops: Sequence[str] | None = None,
    *,
    free_packs: bool = False,
) -> Window:
    """The window of a design's space around one of its configurations.

    Parameters
    ----------
    problem : Problem
        The design, its objective and limits.
    center : Configuration
        The configuration.
    around : int, optional
        The largest distance of a factor from the center's; None: any.
    loops : sequence of str, optional
        Axes, by name, whose factors are free; None: all that have some beside ports.
    free_packs : bool, optional
        Whether ports (data packing factors) take all legal values, not just the center's.

    Returns
    -------
    Window
        The free factors with their values, and the fixed ones.

    Raises
    ------
    InputError
        If a loop is no such axis or given twice, the center is outside the design space, or ports
        cannot be free.
    """
    space = problem.space
    # of an axis what is chosen last varies slowest: lanes before the latency hiding that they share
    # t1 with
    factors = [
        q
        for axis in space.axes
        for q in reversed(axis.free)
        if q in space.free and q.role is not Role.PORT
    ]
    ports = [quantity for quantity in space.free if quantity.role is Role.PORT]
    named = tuple(dict.fromkeys(space.axis_of[quantity.name].name for quantity in factors))
    wanted = named if loops is None else tuple(loops)
    for number, loop in enumerate(wanted):
        if loop not in named or loop in wanted[:number]:
            what = "is given twice" if loop in named else "is no band loop"
            raise InputError(
                f"loops: '{loop}' {what}; allowed: different ones of {', '.join(named)}"
            )
    if not named:
        raise InputError(
            f"{profile_of(problem.design).title} has no factors to vary; allowed: a nest "
            "with a loop of two iterations or more"
        )
    if not wanted:
        raise InputError(f"loops is empty; allowed: some of {', '.join(named)}")
    if around is not None and around < 0:
        raise InputError(f"around is {around}; allowed: an integer ≥ 0")
    if not space.contains(center):
        raise InputError(
            "the configuration is outside the design space of "
            f"{problem.design.name}; allowed: a point of that space"
        )
    if free_packs and not ports:
        raise InputError(
            "free packs: the odyssey model edition infers packs from the "
            "factors; allowed: the exact one"
        )
    fixed: dict[str, int] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for quantity in factors:
        value = center[quantity.name]
        if space.axis_of[quantity.name].name in wanted:
            bounds[quantity.name] = (
                (-np.inf, np.inf) if around is None else (value - around, value + around)
            )
        else:
            fixed[quantity.name] = value
    for port in ports:
        if free_packs:
            bounds[port.name] = (-np.inf, np.inf)
        else:
            fixed[port.name] = center[port.name]
    free: dict[str, Values] = {}
    for axis in space.axes:
        names = [name for name in bounds if name in axis.symbols]
        if names:
            free |= _values(axis, names, bounds, fixed)
    return Window(problem, center, around, {name: free[name] for name in bounds}, fixed)


def widest_window(windows: Callable[[int | None], Window], most: int) -> Window:
    """The window of the largest distance from its center that has at most so many points: the one
    of full ranges if it has, at least the one of distance 0.

    Parameters
    ----------
    windows : callable
        Makes the window of a distance; None: of full ranges.
    most : int
        How many points it may have.
    """
    if (window := windows(None)).points <= most:
        return window
    low, high = (
        0,
        max(
            int(np.abs(values - window.center[name]).max()) for name, values in window.free.items()
        ),
    )
    while high - low > 1:  # low fits, or is 0; high does not
        middle = (low + high) // 2
        low, high = (middle, high) if windows(middle).points <= most else (low, middle)
    return windows(low)


def _values(
    axis: Axis,
    names: Sequence[str],
    bounds: Mapping[str, tuple[float, float]],
    fixed: Mapping[str, int],
) -> dict[str, Values]:
    """The values that free factors take in the legal rows of their axis."""
    taken: dict[str, list[Values]] = {name: [] for name in names}
    for rows in axis.rows():
        keep = _within(rows, bounds, fixed)
        for name in names:
            taken[name].append(np.unique(rows[name][keep]))
    return {name: np.unique(np.concatenate(parts)) for name, parts in taken.items()}


def _within(
    rows: Rows, bounds: Mapping[str, tuple[float, float]], fixed: Mapping[str, int]
) -> Mask:
    keep = np.ones(next(iter(rows.values())).size, bool)
    for name, column in rows.items():
        if name in fixed:
            keep &= column == fixed[name]
        elif name in bounds:
            keep &= (column >= bounds[name][0]) & (column <= bounds[name][1])
    return keep
