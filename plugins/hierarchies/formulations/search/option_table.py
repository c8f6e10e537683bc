"""A loop's options by the levels in which they have more than one trip, with what each such group
costs at least: one table for all choices of what levels keep."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.loop_options import (
    LoopOptions,
    Row,
    loop_options,
)

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension
    from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy

#: Options of a loop at most: more take too much memory.
MOST_OPTIONS = 1 << 21

#: A factor that is 0 is taken for this in logarithms.
TINY = 1e-300


class OptionTable:
    """The options of a loop, sorted by their *patterns*: a bit for each level with several trips.

    Parameters
    ----------
    options : LoopOptions
        The options, in any order.
    """

    def __init__(self, options: LoopOptions) -> None:
        self.levels = 1 + max(step.level for step in options.steps)
        pattern = np.zeros(options.count, np.int64)
        for level in range(self.levels):
            pattern += (options.trips(level) > 1).astype(np.int64) << level
        order = np.argsort(pattern, kind="stable")
        #: All options, those of a pattern one after the other.
        self.options = options.take(order)
        #: The patterns that there are, ascending, where each begins, and how many options it has.
        self.patterns, self.begins, self.counts = np.unique(
            pattern[order], return_index=True, return_counts=True
        )
        self._distinct: dict[bytes, int] = {}

    @remembered
    def _known(self, row: Row) -> tuple[int, Floats, float]:
        """The number that equal factors share, the least of each pattern, and a typical one's
        logarithm."""
        poll()
        values = self.options.value(row)
        number = self._distinct.setdefault(values.tobytes(), len(self._distinct))
        least = np.minimum.reduceat(values, self.begins) if values.size else values
        typical = float(np.log(np.maximum(values, 1)).mean()) if values.size else 0.0
        return number, least, typical

    def number(self, row: Row) -> int:
        """A number that a factor shares with those that equal it in all options."""
        return self._known(row)[0]

    def least(self, row: Row) -> Floats:
        """The least of a factor by pattern."""
        return self._known(row)[1]

    def typical(self, row: Row) -> float:
        """The mean of a factor's logarithms, of those that are not below 1."""
        return self._known(row)[2]

    @cached_property
    def widest(self) -> Floats:
        """The largest factor of every step, by pattern: shape (steps, patterns)."""
        factors = self.options.factors
        return np.maximum.reduceat(factors, self.begins, axis=1) if factors.size else factors

    @cached_property
    def logs(self) -> Floats:
        """Logarithms that those of all factors are sums of: of the factors of every step, then of
        the trips around each level less 1, from outside of all on."""
        again = [self.options.trips_outside(level) - 1 for level in range(-1, self.levels)]
        rows = np.concatenate([self.options.factors, again])
        logs: Floats = np.log(np.maximum(rows, TINY))
        return logs

    @remembered
    def exponents(self, row: Row) -> Floats:
        """The exponents of `logs` that make a factor."""
        what, own, level = row
        steps = self.options.steps
        twos = LoopOptions(1 + np.eye(len(steps)), steps)
        apart = what == "again"
        own_steps = np.log2(twos.value(("lanes", own, level) if apart else row))
        around = np.zeros(1 + self.levels)
        around[1 + level] = apart
        return np.concatenate([own_steps, around])

    def places(self, patterns: Integers) -> Integers:
        """The options of some patterns, by their places among all."""
        spans = zip(self.begins[patterns], self.counts[patterns], strict=True)
        parts = [np.arange(begin, begin + count) for begin, count in spans]
        return np.concatenate([np.zeros(0, np.int64), *parts])


#: Who makes the options of every loop of a problem; None where one has too many.
Tables = Callable[["Extension"], "tuple[OptionTable, ...] | None"]


def option_tables(
    search: Extension, fullest: Hierarchy | None = None
) -> tuple[OptionTable, ...] | None:
    """The options of every loop; None where one has too many.

    Parameters
    ----------
    search : Extension
        The problem, as labels see it.
    fullest : Hierarchy, optional
        As of `loop_options`: for the options of all choices of what levels keep.
    """
    tables = []
    for loop in range(len(search.hierarchy.loops)):
        if (options := loop_options(search, loop, MOST_OPTIONS, fullest)) is None:
            return None
        tables.append(OptionTable(options))
    return tuple(tables)
