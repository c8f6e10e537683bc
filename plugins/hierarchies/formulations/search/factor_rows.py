"""Factors of the options of loops, by what they are of: the rows of the trees of boxes."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from ithaca.formulations.algebra.array_types import Floats
from ithaca.plugins.hierarchies.formulations.search.flows import Flow, flows_of
from ithaca.plugins.hierarchies.formulations.search.loop_options import LoopOptions

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension

#: A row of a tree: what it is of, and of which levels.
Row = tuple[str, int, int]


class FactorRows:
    """The factors that the counts of a problem are products of, a row each, by loop."""

    def __init__(self, search: Extension, options: tuple[LoopOptions, ...]) -> None:
        """Factors of the mappings of a problem.

        Parameters
        ----------
        search : Extension
            The problem, as labels see it.
        options : tuple of LoopOptions
            The options of every loop.
        """
        self.search, self.options = search, options
        self.hierarchy, self.goal = search.hierarchy, search.goal
        #: By loop, the places of the rows that anything has asked for.
        self.rows: list[dict[Row, int]] = [{} for _ in options]
        self.loops = range(len(options))
        self.levels = range(len(self.hierarchy.levels))

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """The orders of the loops of every level, as numbers."""
        return tuple(product(*(range(len(own)) for own in self.hierarchy.orders)))

    @cached_property
    def flows(self) -> tuple[tuple[Flow, ...], ...]:
        """The words of every count."""
        return tuple(tuple(flows_of(self.hierarchy, count)) for count in self.goal.counts)

    def values(self, options: LoopOptions, row: Row) -> Floats:
        """A factor of a loop for all its options."""
        what, own, level = row
        if what == "covered":
            return options.covered(level)
        if what == "trips":
            return options.trips(level)
        if what == "run":  # what an instance's tiles and trips cover
            return options.covered(0) / options.lanes_outside(own)
        if what == "mesh":
            return options.lanes(own)
        if what == "steps":
            return options.trips_outside(self.levels[-1])
        if what == "lanes":
            return options.lanes_outside(own)
        around = options.trips_outside(level)
        return (around - 1 if what == "again" else around) * options.lanes_outside(own)

    def row(self, loop: int, what: str, own: int = 0, level: int = 0) -> int:
        """The place of a factor among those of its loop; those of all levels follow one another.

        Parameters
        ----------
        loop : int
            The loop.
        what : str
            What the factor is, as `values` knows it.
        own : int, optional
            The level whose instances it is of, where it is of some.
        level : int, optional
            The level that it is counted at, where it is counted at one.
        """
        rows = self.rows[loop]
        key = what, own, level
        if key not in rows:
            for each in range(-1, len(self.levels)) if what in ("around", "again") else (level,):
                rows[what, own, each] = len(rows)
        return rows[key]
