"""Several arrays that share one budget, each for some consecutive layers.

The bound of a plan (where to cut, and what hardware for each stage) adds up bounds of layers; the
best plan's stages are then solved layer by layer to optimality, which raises their bounds, until
the best plan holds what it promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.rounding import below, cutoff, on_grid, sum_below
from ithaca.formulations.question import Minimise, in_shares
from ithaca.formulations.systolic.design import fixed
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import Node
from ithaca.plugins.codesign.studies.arrays.joint import ArrayStage, SequenceBounds, fit
from ithaca.plugins.codesign.studies.arrays.layer import Room
from ithaca.plugins.codesign.studies.arrays.plans import Options, Plan, PlannedStage, best_plan
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.plugins.codesign.studies.arrays.stages import AtBest, Shares, Stages
from ithaca.solver.progress import Progress

#: Steps of the search for one array, to begin with.
SEED_STEPS = 300

#: Share of a limited time that it has: one array is an answer, to the sum of all a good one.
SEED_SHARE = {Minimise.TOTAL: 0.75, Minimise.SLOWEST: 0.25}


@dataclass
class PipelineSearch(Stages):
    """Search over cuts and hardware."""

    report: Callable[[Progress], None] | None = None
    rival: Fraction | None = None
    """The value of other arrays: those that do not take less are not looked for."""
    start: Sequence[ArrayStage] = ()
    """Arrays to begin with, as they are with other memory channels; none: one array."""

    def __post_init__(self) -> None:
        self._began = time.perf_counter()
        self._seeded = self._began + SEED_SHARE[self.minimise] * (self.options.time_limit or 0.0)
        super().__post_init__()
        self.stages: tuple[ArrayStage, ...] = ()
        # on the grid of these objectives, what is below a rival is below the next step from it
        self.value = None if self.rival is None else on_grid(self.rival, self._step)
        self.plans = 0
        self._bound: Fraction | None = None
        self._options: dict[tuple[int, int], Options] = {}  # of stages

    def _seed(self) -> None:
        """Begin with an array for all layers together, one of several that may be: the first that
        is found, where time is limited the best."""
        counts = [self.sequence.count(number) for number in range(len(self.designs[0]))]
        designs = [
            [(problem, n) for (problem, _), n in zip(layers, counts, strict=True)]
            for layers in self.designs
        ]

        def stop() -> bool:
            enough = bool(seed.stages) or seed.steps >= SEED_STEPS
            return (enough and time.perf_counter() >= self._seeded) or self.options.stopped

        seed = SharedSearch(designs, replace(self.options, stop=stop))
        outcome = seed.run()
        self._alone = seed.alone
        self._bound = self._alone_bound()
        if outcome.stages:
            self._offer([replace(outcome.stages[0], end=len(self.sequence))])
        self._tell()

    def _alone_bound(self) -> Fraction | None:
        """A lower bound by all layers alone, each with the whole budget and the design it likes
        best; shared out over the arrays.

        That no array serves a layer better holds for each of several, too (`LayersAlone`). The
        slowest of some arrays takes no less than they take on average.
        """
        counts = np.array([self.sequence.count(number) for number in range(len(self.designs[0]))])
        least = counts * np.min([alone.bounds for alone in self._alone], axis=0)
        bound = float(sum_below(least[:, None])[0])
        if not 0 < bound < np.inf:
            return None
        shared = Fraction(bound) / (self.arrays if self.minimise is Minimise.SLOWEST else 1)
        return on_grid(shared, self._step)

    def _prepare(self) -> None:
        """Bound all hardware of all designs; `StoppedError` if the options say to stop."""
        self._bound_choices(self._alone)
        self._bound = self._alone_bound()
        for stage in combinations(range(len(self.sequence) + 1), 2):
            self._renew(*stage)

    def run(self) -> SequenceBounds:
        """Search until proven, or until the options say to stop."""
        infeasible = False
        self._offer(self._again(self.start))
        with suppress(StoppedError):
            self._seed()
            self._prepare()
            while (plan := self._best_plan(self._options)) is not None:
                promised = on_grid(below(plan.value), self._step)
                self._bound = promised if self.value is None else min(promised, self.value)
                self.plans += 1
                self._tell()
                if self.options.ends(0, self.value, self._bound):
                    break
                if not self._refine(plan):
                    break  # its layers could not be fitted together at no loss
            else:
                self._bound, infeasible = self.value, self.value is None
        bound = (
            self._bound
            if self.value is None or self._bound is None
            else min(self._bound, self.value)
        )
        seconds = time.perf_counter() - self._began
        return SequenceBounds(self.value, bound, infeasible, self.plans, seconds, self.stages)

    def _tell(self) -> None:
        if self.report is not None:
            self.report(
                Progress(self.value, self._bound, self.plans, time.perf_counter() - self._began)
            )

    @property
    def _target(self) -> float:
        """The value that improvements are below: one step less, up to rounding."""
        return inf if self.value is None else cutoff(self.value - self._step)

    def _best_plan(self, options: Mapping[tuple[int, int], Options]) -> Plan | None:
        """The plan of these options that promises most, if any promises an improvement."""
        return best_plan(
            options, len(self.sequence), self.arrays, self._budget, self.minimise, self._target
        )

    def _renew(self, first: int, end: int) -> None:
        """Look again at what a stage may be."""
        self._options[first, end] = self._options_of(first, end, self._target)

    def _refine(self, plan: Plan) -> bool:
        """Tell hardware of a plan's stages apart by port widths, then solve the stages; whether
        that was still to be done, or what they take together is better."""
        if again := self._divide(plan, self._options):
            for cut in again:
                self._renew(*cut)
            return True
        before = self.value
        best, fresh = self._solved(plan, self._target)
        stages = [each.stage for each in best if each is not None and each.stage is not None]
        if len(stages) == len(best):
            self._offer(stages)
        if fresh:
            for part in plan.parts:
                self._renew(part.first, part.end)
        return fresh or self.value != before

    def _best(self, part: PlannedStage, room: Shares, top: float) -> AtBest | None:
        """The port widths with which the layers of a stage, each alone on the array, take least,
        and how they run together on it."""
        best = super()._best(part, room, top)
        stage = None if best is None else self._fit(part, best.hardware, room)
        if best is None or stage is None:
            return best
        most = Room(self._most_of(stage, "bram18k"), self._most_of(stage, "bandwidth"))
        return replace(best, used=self._needs(most), stage=stage)

    # -- values ------------------------------------------------------------------------

    def _fit(self, part: PlannedStage, node: Node, shares: Shares) -> ArrayStage | None:
        """Configurations of a stage's layers on an array, within some shares of what is divided."""
        bank, room = self._banks[self._design[part.choice]], self._room(shares)
        numbers, counts = self._members(part.first, part.end)
        optima = [bank.optimum(int(number), node, self.options, room=room) for number in numbers]
        layers = [
            replace(bank.layers[n].within(room), count=int(c))
            for n, c in zip(numbers, counts, strict=True)
        ]
        proven = [optimum for optimum in optima if optimum is not None]
        joint = fit(layers, bank.fine.hardware(node), proven, self.options)
        return (
            None
            if joint is None
            else ArrayStage(part.first, part.end, int(self._design[part.choice]), joint)
        )

    def _most_of(self, stage: ArrayStage, metric: str) -> Fraction:
        """The most of a metric that the layers of a stage have; of block RAM all have their
        array's."""
        problems = [
            self.designs[stage.design][n][0] for n in self._members(stage.first, stage.end)[0]
        ]
        on_array = (
            problem.with_design(hardware=fixed(stage.joint.hardware)) for problem in problems
        )
        most: Fraction = max(
            p.metrics(c)[metric] for p, c in zip(on_array, stage.joint.configurations, strict=True)
        )
        return most

    def _again(self, stages: Sequence[ArrayStage]) -> list[ArrayStage]:
        """Stages with the values of their layers here."""
        again = []
        for stage in stages:
            members, counts = self._members(stage.first, stage.end)
            hardware = fixed(stage.joint.hardware)
            values = tuple(
                self.designs[stage.design][n][0].with_design(hardware=hardware).value(c)
                for n, c in zip(members, stage.joint.configurations, strict=True)
            )
            value = sum((int(n) * v for n, v in zip(counts, values, strict=True)), Fraction(0))
            again.append(replace(stage, joint=replace(stage.joint, values=values, value=value)))
        return again

    def _offer(self, stages: Sequence[ArrayStage]) -> None:
        """Take stages, where there are some, as the best if they are, and take no more than there
        is for all together."""
        if not stages:
            return
        for metric, limit in self._together.items():
            each = (in_shares(self._most_of(s, metric), self.shares.get(metric)) for s in stages)
            if sum(each) > limit:
                return
        values = [stage.joint.value for stage in stages]
        value = max(values) if self.minimise is Minimise.SLOWEST else sum(values, start=Fraction(0))
        if self.value is None or value < self.value:
            self.value, self.stages = value, tuple(stages)
