"""Best-first search over hardware for the array that serves all layers best.

Classes of hardware are bounded for all layers at once; the most promising is divided by port widths, then each layer is
solved to optimality on it. That sum is a bound, too: layers alone may each use the whole memory. Configurations that fit
together, buffers as large as the largest tile of any layer, make it a value.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.rounding import below, cutoff, sum_below
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.options import SolveOptions, StoppedError, deadline
from ithaca.solver.progress import Progress
from ithaca.studies.shared.bank import HardwareBank, Node, build_bank
from ithaca.studies.shared.joint import Joint, fit
from ithaca.studies.shared.layer import objective_step, total

#: What is to be done next with open hardware.
DIVIDE, SOLVE, FIT = range(3)

#: One step of so many follows what is furthest on rather than what promises most.
DIVES = 4


@dataclass(order=True)
class _Open:
    """Hardware yet to be examined."""

    bound: float
    sequence: int
    design: int = field(compare=False)
    level: int = field(compare=False)
    node: Node = field(compare=False)
    exact: tuple[tuple[Fraction, Configuration], ...] = field(compare=False, default=())


@dataclass(frozen=True)
class SharedOutcome:
    """What is known about the best array for several layers."""

    design: int | None  #: Number of the design of the best array found
    best: Joint | None  #: The best array and its configurations
    lower_bound: Fraction | None  #: No array serves the layers with less
    infeasible: bool  #: Whether it is proven that no array can run all layers within the limits
    hardware: int  #: Arrays on which every layer was solved
    seconds: float  #: Wall time


class SharedSearch:
    """Search over the hardware of several designs, each with its layers and how often each occurs.

    Raises
    ------
    InputError
        If a limit does not bound a shared array.
    """

    def __init__(
        self,
        designs: Sequence[Sequence[tuple[Problem, int]]],
        options: SolveOptions,
        report: Callable[[Progress], None] | None = None,
    ) -> None:
        # whatever is solved on the way ends with the whole search
        self.options = replace(options, time_limit=None, stop=deadline(options.time_limit, options.stop))
        self.report = report
        self.best: Joint | None = None
        self.best_design: int | None = None
        self.hardware = 0
        self._began = time.perf_counter()
        self._open: tuple[list[_Open], ...] = ([], [], [])  # heaps, by what is to be done
        self._steps = 0
        self._left: list[float] = []  # bounds of hardware whose layers could not be fitted together at no loss
        self._sequence = 0
        # every total is a multiple of the coarsest grid that all objectives share
        self._step = objective_step([problem for layers in designs for problem, _ in layers])
        self._banks: list[HardwareBank] = []
        self._prepared = False
        checkpoint = self.options.checkpoint()
        with suppress(StoppedError):
            for number, layers in enumerate(designs):
                bank = build_bank(layers, checkpoint, common=True)
                self._banks.append(bank)
                self._push(number, DIVIDE, bank.nodes, _totals(bank, bank.bounds))
            self._prepared = True

    def run(self) -> SharedOutcome:
        """Search until proven, or until the options say to stop."""
        if not self._prepared:  # hardware that was not looked at may be better than any known
            return SharedOutcome(None, None, None, False, 0, time.perf_counter() - self._began)
        while any(self._open) and not self._should_stop():
            item = self._next()
            if self._hopeless(item.bound):
                continue
            try:
                (self._divide, self._solve, self._fit)[item.level](item)
            except StoppedError:  # what was being examined stays open
                heapq.heappush(self._open[item.level], item)
                break
            if self.report is not None:
                self.report(Progress(self._value, self._bound(), self.hardware, time.perf_counter() - self._began))
        seconds = time.perf_counter() - self._began
        impossible = self.best is None and not any(self._open) and not self._left
        return SharedOutcome(self.best_design, self.best, self._bound(), impossible, self.hardware, seconds)

    def _next(self) -> _Open:
        """Take the hardware that promises most; now and then what is furthest on, for a value to go by."""
        self._steps += 1
        if self._steps % (DIVES if self.best is not None else 2) == 0:
            return heapq.heappop(next(heap for heap in reversed(self._open) if heap))
        return heapq.heappop(min((heap for heap in self._open if heap), key=lambda heap: heap[0]))

    # -- levels ------------------------------------------------------------------------

    def _divide(self, item: _Open) -> None:
        """Tell hardware apart by the widths of its ports."""
        bank = self._banks[item.design]
        nodes = bank.fine.inside(bank.coarse, item.node)
        self._push(item.design, SOLVE, nodes, np.maximum(_totals(bank, bank.fine.bounds(nodes)), item.bound))

    def _solve(self, item: _Open) -> None:
        """Solve each layer alone; the sum bounds the array."""
        bank = self._banks[item.design]
        bounds = bank.fine.bounds(np.array(item.node, np.int64)[:, None])[:, 0]
        values = [layer.count * float(bound) for layer, bound in zip(bank.layers, bounds, strict=True)]
        found: list[tuple[Fraction, Configuration]] = []
        self.hardware += 1
        for number, layer in enumerate(bank.layers):
            optimum = bank.optimum(number, item.node, self.options)
            if optimum is None:
                return
            found.append(optimum)
            values[number] = float(optimum[0]) * layer.count
            if self._hopeless(below(sum(values))):
                return
        self._push_one(item.design, FIT, item.node, below(total([v for v, _ in found], bank.layers)), tuple(found))

    def _fit(self, item: _Open) -> None:
        """Fit the layers together."""
        bank = self._banks[item.design]
        worth = [value * layer.count for (value, _), layer in zip(item.exact, bank.layers, strict=True)]
        options = SolveOptions(stop=self.options.stop)
        joint = fit(bank.layers, bank.fine.given(item.node), [configuration for _, configuration in item.exact], worth, options)
        if joint is not None and (self.best is None or joint.value < self.best.value):
            self.best, self.best_design = joint, item.design
        if joint is None or joint.value > total([value for value, _ in item.exact], bank.layers):
            self._left.append(item.bound)

    # -- bookkeeping -------------------------------------------------------------------

    @property
    def _value(self) -> Fraction | None:
        return None if self.best is None else self.best.value

    def _push(self, design: int, level: int, nodes: NDArray[np.int64], bounds: NDArray[np.float64]) -> None:
        for index in np.flatnonzero(bounds < np.inf):
            if not self._hopeless(float(bounds[index])):
                self._push_one(design, level, tuple(int(n) for n in nodes[:, index]), float(bounds[index]))

    def _push_one(
        self, design: int, level: int, node: Node, bound: float, exact: tuple[tuple[Fraction, Configuration], ...] = ()
    ) -> None:
        self._sequence += 1
        heapq.heappush(self._open[level], _Open(bound, self._sequence, design, level, node, exact))

    def _hopeless(self, bound: float) -> bool:
        if self.best is None:
            return False
        # where the grid is unknown (step 0) ties stay open
        return bound > cutoff(self.best.value - self._step)

    def _bound(self) -> Fraction | None:
        """The least total that any hardware may have."""
        open_ = [heap[0].bound for heap in self._open if heap]
        lowest = min([*open_, *self._left], default=None)
        if lowest is None:
            return self._value
        if lowest == -np.inf:
            return None
        bound = ceil(Fraction(lowest) / self._step) * self._step if self._step else Fraction(lowest)
        return bound if self._value is None else min(bound, self._value)

    def _should_stop(self) -> bool:
        stopped = self.options.stop is not None and self.options.stop()
        return stopped or self.options.gap_is_met(self._value, self._bound())


def _totals(bank: HardwareBank, bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower bounds of the sum over layers."""
    counts = np.array([layer.count for layer in bank.layers], np.float64)
    return sum_below(counts[:, None] * bounds)
