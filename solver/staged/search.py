"""Search the rows of a stage, best first, until the least open bound reaches the incumbent.

Rows come in blocks. Of each block the most promising ones are completed at once, which makes the
incumbent good and the later blocks small; once all have come, the others are completed in the order
of their bounds, twice as many at a time as before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import StoppedError, ending
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Block, Stage
from ithaca.solver.exact.search import ProvingSearch, SearchState, check_bound
from ithaca.solver.options import SolveOptions

#: Rows of a block that are completed at once, and of the first batch after all blocks.
AT_ONCE, FIRST_BATCH = 8, 16

#: Seconds of a time limit below which any configuration is wanted before good ones are looked for.
HURRY = 2.0

#: Rows completed at most before bounds are compared again.
LARGEST_BATCH = 1 << 14


class StagedSearch(ProvingSearch):
    """One staged search; it may be interrupted, and goes on where it was."""

    def __init__(self, problem: Problem, stage: Stage, options: SolveOptions) -> None:
        super().__init__(problem, options)
        self._rows: list[NDArray[Any]] = []
        self._bounds: list[Floats] = []
        self._rest = -inf
        self._stage = stage
        self._steps: Iterator[None] | None = self._search()

    def run(self) -> SearchState:
        """Search until proven, exhausted, or until the options say to stop; may be called again to
        go on.

        The time limit is that of this call; the seconds of the state are those of all calls.
        """
        state, began = self.state, time.perf_counter()
        before, first = state.seconds, state.boxes
        while self._steps is not None and not state.complete:
            spent = time.perf_counter() - began
            state.seconds = before + spent
            self._take_stock()
            if self._ends(spent, state.boxes - first) or state.complete:
                break
            try:  # a step that ends early cannot be gone on with: not for a part of the time alone
                with ending():
                    next(self._steps)
            except StoppedError:
                self._steps, self.cut = None, True
            except (StopIteration, MemoryError):  # what was not searched counts with its bound
                self._steps = None
        self._take_stock()
        if state.complete:
            self._steps = None
        state.seconds = before + time.perf_counter() - began
        return state

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing more to try."""
        return self._steps is None and not self.cut

    def close_all(self) -> None:
        """Drop everything that is open: no configuration meets the limits, as proven elsewhere."""
        check_bound(self.problem, self.state.value, None, infeasible=True)
        self.state.complete = True

    def _cutoff(self) -> Fraction | None:
        return self.state.value

    def _take_stock(self) -> None:
        """Set the proven bound; the search is complete once nothing below the incumbent is open."""
        state = self.state
        least = min([self._rest, *(float(bounds[0]) for bounds in self._bounds)])
        dropped = self._stage.dropped
        if least >= least_double(state.value) and dropped >= (
            inf if state.value is None else state.value
        ):
            state.complete, state.lower_bound = True, state.value
            return
        lowest = min(least, dropped)
        proven = Fraction(lowest) if isfinite(lowest) else None
        bounds = [bound for bound in (proven, self._floor, state.lower_bound) if bound is not None]
        state.lower_bound = max(bounds, default=None)
        if (
            state.value is not None
            and state.lower_bound is not None
            and state.lower_bound >= state.value
        ):
            state.complete, state.lower_bound = True, state.value

    def _search(self) -> Iterator[None]:
        stage, limit = self._stage, self.options.time_limit
        self._rest = stage.least
        yield
        for configuration in stage.incumbents(
            self._cutoff, hurried=limit is not None and limit < HURRY
        ):
            if configuration is not None:
                self.offer(configuration)
            yield
        everything = True
        for block in stage.blocks(self._cutoff):
            everything = False
            self._keep(block)
            self.state.boxes += block.bounds.size
            yield
            if block.bounds.size:
                yield from self._complete(stage, AT_ONCE, own=True)
        if everything:  # not one block: nothing is left
            self._rest = inf
        batch = FIRST_BATCH
        while self._bounds:
            self._merge()
            yield from self._complete(stage, batch, own=False)
            batch = min(2 * batch, LARGEST_BATCH)

    def _keep(self, block: Block) -> None:
        """Put a block's rows, sorted, with those that are open."""
        self._rest = block.rest
        if block.bounds.size:
            order = np.argsort(block.bounds, kind="stable")
            self._rows.append(block.rows[order])
            self._bounds.append(block.bounds[order])

    def _merge(self) -> None:
        """All open rows that may improve on the incumbent, sorted as one."""
        cutoff = least_double(self.state.value)
        bounds, rows = np.concatenate(self._bounds), np.concatenate(self._rows)
        order = np.argsort(bounds, kind="stable")
        order = order[: int(np.searchsorted(bounds[order], cutoff))]
        self._bounds, self._rows = ([bounds[order]], [rows[order]]) if order.size else ([], [])

    def _complete(self, stage: Stage, count: int, *, own: bool) -> Iterator[None]:
        """Complete the first rows of the last block, or of all.

        They are open until that is done: an interruption leaves their bounds in force.
        """
        if not self._bounds:
            return
        rows, bounds = self._rows[-1], self._bounds[-1]
        count = min(count, int(np.searchsorted(bounds, least_double(self.state.value))))
        if count:
            for configuration in stage.complete(rows[:count], self._cutoff):
                if configuration is not None:
                    self.offer(configuration)
                yield
        if count == bounds.size or (own and count == 0):
            self._rows.pop()
            self._bounds.pop()
        else:
            self._rows[-1], self._bounds[-1] = rows[count:], bounds[count:]
        yield
