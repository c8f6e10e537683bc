"""Factors of the options of loops, by what they are of: the rows of the trees of boxes."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from ithaca.plugins.hierarchies.formulations.search.flows import Flow, flows_of
from ithaca.plugins.hierarchies.formulations.search.loop_options import LoopOptions, Row

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension


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

    def row(self, loop: int, what: str, own: int = 0, level: int = 0) -> int:
        """The place of a factor among those of its loop; those of all levels follow one another.

        Parameters
        ----------
        loop : int
            The loop.
        what : str
            What the factor is, as `LoopOptions.value` knows it.
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
