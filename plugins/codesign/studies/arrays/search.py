"""Best-first search over hardware for the array that serves all layers best.

A design's layers are prepared one after the other; what each takes alone bounds what they take
together. Then classes of hardware are bounded for all layers at once; the most promising is divided
by port widths, and each layer is solved to optimality on it. That sum is a bound, too: layers alone
may each use the whole memory. Configurations that fit together, buffers as large as the largest
tile of any layer, make it a value.

The design that promises most after a look at the layer with most work goes first, for a value to go
by: a design that is bounded by more is not prepared any further. Workers help from then on.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import below, cutoff, on_grid, sum_below
from ithaca.formulations.problem import Problem
from ithaca.plugins.codesign.studies.arrays import ahead
from ithaca.plugins.codesign.studies.arrays.alone import LayersAlone
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import (
    DesignBounds,
    LayerOptimum,
    Node,
    check_limits,
)
from ithaca.plugins.codesign.studies.arrays.joint import ArrayStage, Joint, SequenceBounds, fit
from ithaca.plugins.codesign.studies.arrays.layer import objective_step, total
from ithaca.solver.best_first import BestFirst
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress

#: What is to be done next with open hardware: all that a design may have, prepared layer by layer,
#: then told apart; some lanes and SIMD factor; ports, too.
PREPARE, CLASSIFY, DIVIDE, SOLVE, FIT = range(5)

#: One step of so many follows what is furthest on rather than what promises most.
DIVES = 4

#: Hardware that is divided by port widths at once.
DIVIDED = 64


@dataclass
class _OpenHardware:
    """Hardware yet to be examined."""

    bound: float
    design: int
    level: int
    node: Node = ()
    exact: tuple[LayerOptimum, ...] = ()


@dataclass
class SharedSearch:
    """Search over the hardware of several designs, each with its layers and how often each occurs.

    Raises `InputError` if a limit does not bound a shared array.
    """

    designs: Sequence[Sequence[tuple[Problem, int]]]
    options: SolveOptions
    report: Callable[[Progress], None] | None = None
    stages: tuple[ArrayStage, ...] = field(default=(), init=False)
    """The best array found; empty if none was."""
    steps: int = field(default=0, init=False)
    """Taken, each a piece of hardware examined."""

    def __post_init__(self) -> None:
        for layers in self.designs:
            check_limits(layers[0][0])
        self.options = self.options.from_now
        self._began, count = time.perf_counter(), len(self.designs)
        numbers = itertools.count()  # by what is to be done
        self._open = tuple(BestFirst[float, _OpenHardware](numbers) for _ in range(FIT + 1))
        self.alone = [LayersAlone(layers) for layers in self.designs]
        self._banks: dict[int, DesignBounds] = {}
        # by design: the best total, the least bound of what cannot improve on the best of all, the
        # least of hardware whose layers could not be fitted together at no loss, and how many
        # arrays were examined
        self._values: list[Fraction | None] = [None] * count
        self._beaten, self._left, self._hardware = [np.inf] * count, [np.inf] * count, [0] * count

    def run(self) -> SequenceBounds:
        """Search until proven, or until the options say to stop."""
        with suppress(StoppedError):
            self._look()
        for number in range(len(self.alone)):
            self._push_design(number)
        self._tell()
        while any(self._open) and not self.options.ends(0, self._value, self._bound()):
            item = self._next()
            if self._hopeless(item.bound, item.design):
                continue
            try:
                (self._prepare, self._classify, self._divide, self._solve, self._fit)[item.level](
                    item
                )
            except StoppedError:  # what was being examined stays open
                self._open[item.level].push(item.bound, item)
                break
            self._tell()
        impossible = not (self.stages or any(self._open)) and min(self._left) == np.inf
        seconds, examined = time.perf_counter() - self._began, sum(self._hardware)
        designs = tuple(self._outcome(number, seconds) for number in range(len(self.alone)))
        return SequenceBounds(
            self._value, self._bound(), impossible, examined, seconds, self.stages, designs
        )

    def _tell(self) -> None:
        if self.report is not None:
            self.report(
                Progress(
                    self._value,
                    self._bound(),
                    sum(self._hardware),
                    time.perf_counter() - self._began,
                )
            )

    def _next(self) -> _OpenHardware:
        """Take the hardware that promises most; now and then what is furthest on, for a value to go
        by."""
        self.steps += 1
        if self.steps % (DIVES if self.stages else 2) == 0:
            return next(queue for queue in reversed(self._open) if queue).pop()[1]
        return min(filter(len, self._open)).pop()[1]

    def _outcome(self, design: int, seconds: float) -> SequenceBounds:
        """Value and bound of one design."""
        open_ = [item.bound for queue in self._open for item in queue if item.design == design]
        lowest = min([*open_, self._left[design], self._beaten[design]])
        value = self._values[design]
        bound = value if lowest == np.inf else self._on_grid(lowest)
        if value is not None and bound is not None:
            bound = min(bound, value)
        infeasible = value is None and lowest == np.inf
        return SequenceBounds(value, bound, infeasible, self._hardware[design], seconds)

    def _look(self) -> None:
        """Prepare all layers of the design that promises most when one is: it gives the first
        array. Others are only looked at as long as they may promise more."""
        checkpoint = self.options.checkpoint()
        while not (first := min(self.alone, key=lambda alone: alone.bound)).layers:
            first.prepare(checkpoint)
        while not first.complete:
            first.prepare(checkpoint)

    # -- levels ------------------------------------------------------------------------

    def _prepare(self, item: _OpenHardware) -> None:
        """Prepare one more layer of a design: alone it bounds what all take together."""
        if most := self._most_ahead:
            items = (item, *self._open[PREPARE].first(most - 1))
            ahead.build([self.alone[each.design] for each in items], self.options, 1)
        self.alone[item.design].prepare(self.options.checkpoint())
        self._push_design(item.design)

    def _classify(self, item: _OpenHardware) -> None:
        """Tell hardware of a design apart by lanes and SIMD factor."""
        bank = self.alone[item.design].bank(self.options.checkpoint(), common=True)
        bounds = np.maximum(_totals(bank, bank.bounds), item.bound)
        if not self._hopeless(float(bounds.min(initial=np.inf)), item.design):
            self._banks[item.design] = bank
            _ = bank.fine  # whoever is stopped here has lost nothing yet
            self._push(item.design, DIVIDE, bank.nodes, bounds)

    def _divide(self, item: _OpenHardware) -> None:
        """Tell hardware apart by the widths of its ports: this, and what else promises most, as it
        costs little more."""
        queue = self._open[DIVIDE]
        items = [item, *(queue.pop()[1] for _ in range(min(len(queue), DIVIDED - 1)))]
        for design in sorted({each.design for each in items}):
            bank = self._banks[design]
            own = [each for each in items if each.design == design]
            parts = [bank.fine.inside(bank.coarse, each.node) for each in own]
            nodes = np.concatenate(parts, axis=1)
            bounds = np.repeat([each.bound for each in own], [part.shape[1] for part in parts])
            self._push(
                design, SOLVE, nodes, np.maximum(_totals(bank, bank.fine.bounds(nodes)), bounds)
            )

    def _solve(self, item: _OpenHardware) -> None:
        """Solve each layer alone; the sum bounds the array."""
        bank = self._banks[item.design]
        if most := self._most_ahead:
            ahead.solve(self._wanted(item, most), self.options)
        bounds = bank.fine.bounds(np.array(item.node, np.int64)[:, None])[:, 0]
        values = [
            layer.count * float(bound) for layer, bound in zip(bank.layers, bounds, strict=True)
        ]
        optima: dict[int, LayerOptimum] = {}
        for number in sorted(
            range(len(values)), key=lambda n: -values[n]
        ):  # those with most to add first
            optimum = bank.optimum(number, item.node, self.options)
            if optimum is None:
                return
            optima[number] = optimum
            values[number] = float(optimum.value) * bank.layers[number].count
            if self._hopeless(below(sum(values)), item.design):
                return
        self._hardware[item.design] += 1
        each = tuple(optima[number] for number in range(len(values)))
        self._push_one(
            item.design,
            FIT,
            below(total([optimum.value for optimum in each], bank.layers)),
            item.node,
            each,
        )

    @property
    def _most_ahead(self) -> int:
        """The number of parts done ahead at once: none before there is an array, which these, and
        the start of workers, would delay."""
        return ahead.most(self.options) if self.stages else 0

    def _wanted(self, item: _OpenHardware, most: int) -> list[tuple[DesignBounds, ahead.Wanted]]:
        """Some hardware, and what promises most beside it, with its layers."""
        ceiling = inf if self._value is None else cutoff(self._value - self._step)
        wanted = []
        for each in (item, *self._open[SOLVE].first(most - 1)):
            bank, node = self._banks[each.design], np.array(each.node, np.int64)[:, None]
            counts = np.array([layer.count for layer in bank.layers])
            bounds = counts[:, None] * bank.fine.bounds(node)
            own = ahead.wanted(node, bounds, np.arange(counts.size), counts, self.options)
            wanted += [(bank, ahead.Wanted(*n, ceiling)) for n in own]
        return wanted

    def _fit(self, item: _OpenHardware) -> None:
        """Fit the layers together."""
        bank = self._banks[item.design]
        joint = fit(bank.layers, bank.fine.hardware(item.node), item.exact, self.options)
        if joint is not None:
            self._offer(item.design, joint)
        if joint is None or joint.value > total(
            [optimum.value for optimum in item.exact], bank.layers
        ):
            self._left[item.design] = min(self._left[item.design], item.bound)

    # -- bookkeeping -------------------------------------------------------------------

    def _offer(self, design: int, joint: Joint) -> None:
        own = self._values[design]
        self._values[design] = joint.value if own is None else min(own, joint.value)
        if self._value is None or joint.value < self._value:
            self.stages = (ArrayStage(0, len(self.designs[design]), design, joint),)

    @property
    def _value(self) -> Fraction | None:
        return self.stages[0].joint.value if self.stages else None

    def _push(self, design: int, level: int, nodes: Integers, bounds: Floats) -> None:
        possible = np.flatnonzero(bounds < np.inf)
        for index in possible[np.argsort(bounds[possible], kind="stable")]:
            if self._hopeless(float(bounds[index]), design):  # the others even more so
                return
            self._push_one(
                design, level, float(bounds[index]), tuple(int(n) for n in nodes[:, index])
            )

    def _push_design(self, design: int) -> None:
        alone = self.alone[design]
        if alone.bound < np.inf:
            self._push_one(design, CLASSIFY if alone.complete else PREPARE, alone.bound)

    def _push_one(
        self,
        design: int,
        level: int,
        bound: float,
        node: Node = (),
        exact: tuple[LayerOptimum, ...] = (),
    ) -> None:
        self._open[level].push(bound, _OpenHardware(bound, design, level, node, exact))

    def _hopeless(self, bound: float, design: int) -> bool:
        """Whether what has this bound, of a design, cannot improve on the best: then it is given
        up."""
        # where the grid is unknown (step 0) ties stay open
        if self._value is None or bound <= cutoff(self._value - self._step):
            return False
        self._beaten[design] = min(self._beaten[design], bound)
        return True

    def _bound(self) -> Fraction | None:
        """The least total that any hardware may have."""
        open_ = [queue.least for queue in self._open if queue]
        lowest = min([*open_, *self._left])
        if lowest == np.inf:
            return self._value
        bound = self._on_grid(lowest)
        return bound if self._value is None or bound is None else min(bound, self._value)

    @property
    def _step(self) -> Fraction:
        """The coarsest grid that all objectives share: every total is a multiple. Unknown (0) until
        there is an array, which it would delay."""
        return self._grid if self.stages else Fraction(0)

    @cached_property
    def _grid(self) -> Fraction:
        return objective_step([problem for layers in self.designs for problem, _ in layers])

    def _on_grid(self, bound: float) -> Fraction | None:
        """The least total that a bound allows; None if it allows any."""
        return None if bound == -np.inf else on_grid(bound, self._step)


def _totals(bank: DesignBounds, bounds: Floats) -> Floats:
    """Lower bounds of the sum over layers."""
    counts = np.array([layer.count for layer in bank.layers], np.float64)
    return sum_below(counts[:, None] * bounds)
