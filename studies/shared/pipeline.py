"""Several arrays that share one budget, each for some consecutive layers.

The bound of a plan (where to cut, and what hardware for each stage) adds up bounds of layers; the best plan's
stages are then solved layer by layer to optimality, which raises their bounds, until the best plan holds what it promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from ithaca.formulations.algebra.rounding import below, cutoff, largest_double, sum_below
from ithaca.formulations.problem import Limit, Problem
from ithaca.solver.options import SolveOptions, StoppedError, deadline
from ithaca.solver.progress import Progress
from ithaca.studies.shared.bank import HardwareBank, Node
from ithaca.studies.shared.joint import Joint, fit
from ithaca.studies.shared.layer import objective_step
from ithaca.studies.shared.plans import Floats, Front, Indices, Minimise, Plan, best_plan, front_of_sorted
from ithaca.studies.shared.search import SharedSearch
from ithaca.workloads.errors import InputError

#: Ways to divide block RAM among the arrays that are tried: shares mixed from need and from evenness.
MIXES = (1.0, 0.5, 0.0)

#: Steps of the search for one array, to begin with.
SEED_STEPS = 300

#: Plans given up for want of memory before the search ends.
MOST_UNMET = 20


@dataclass(frozen=True)
class Stage:
    """One array of a pipeline."""

    #: Its layers: numbers in the sequence, the end exclusive.
    first: int
    end: int
    design: int  #: Number of its design
    joint: Joint  #: The array and its layers' configurations: one per distinct layer of the stage, in order of first appearance


@dataclass(frozen=True)
class PipelineOutcome:
    """What is known about the best arrays for a sequence of layers."""

    stages: tuple[Stage, ...]  #: The best arrays found, in order; empty if none were
    value: Fraction | None  #: Their objective: of the slowest, or in all
    lower_bound: Fraction | None  #: No arrays do better
    plans: int  #: Plans examined
    seconds: float  #: Wall time


@dataclass(frozen=True)
class _Refined:
    """The least that a stage can take on some lanes and SIMD factor, and the ports with which it does."""

    value: Fraction | None
    node: Node | None


class PipelineSearch:
    """Search over cuts and hardware.

    Each design has the distinct layers (counts are ignored); ``sequence`` is the network in order, as their numbers. More
    arrays than layers make no difference, as each has at least one.

    Raises `InputError` if a limit cannot be divided among arrays, or there is no limit on DSP blocks.
    """

    def __init__(
        self,
        designs: Sequence[Sequence[tuple[Problem, int]]],
        sequence: Sequence[int],
        arrays: int,
        minimise: Minimise,
        options: SolveOptions,
        report: Callable[[Progress], None] | None = None,
    ) -> None:
        self._began = time.perf_counter()
        self.sequence, self.arrays, self.minimise = tuple(sequence), min(arrays, len(sequence)), minimise
        # whatever is solved on the way ends with the whole search
        self.options = replace(options, time_limit=None, stop=deadline(options.time_limit, options.stop))
        self.report = report
        self.limits = {limit.metric: limit.bound for limit in designs[0][0][0].limits}
        if "dsp" not in self.limits or not set(self.limits) <= {"dsp", "bram18k"}:
            raise InputError("several arrays share a limit on dsp and perhaps one on bram18k; no other limits are allowed")
        self.stages: tuple[Stage, ...] = ()
        self.value: Fraction | None = None
        self.plans = 0
        # every objective is a multiple of the coarsest grid that all layers share
        self._step = objective_step([problem for layers in designs for problem, _ in layers])
        self._solved: set[tuple[int, int]] = set()
        self._refined: dict[tuple[int, int, int], _Refined] = {}
        # stages of plans given up because their memory does not suffice, and what they take with their share of it
        self._given_up: dict[tuple[int, int, int], Fraction | None] = {}
        self._unmet = 0  # plans given up
        self._bound: Fraction | None = None
        self._fronts: dict[tuple[int, int], Front] = {}
        self._designs = designs

    def _seed(self) -> None:
        """Begin with the first array for all layers together: one of several that may be."""
        counts = [self.sequence.count(number) for number in range(len(self._designs[0]))]
        designs = [[(problem, n) for (problem, _), n in zip(layers, counts, strict=True)] for layers in self._designs]

        def stop() -> bool:
            return seed.best is not None or seed.steps >= SEED_STEPS or (self.options.stop is not None and self.options.stop())

        seed = SharedSearch(designs, replace(self.options, stop=stop))
        found = seed.run()
        self._alone = seed.alone
        self._bound = self._alone_bound()
        if found.best is not None and found.design is not None:
            self._offer([Stage(0, len(self.sequence), found.design, found.best)])
        self._tell()

    def _alone_bound(self) -> Fraction | None:
        """What all layers take at least if each has the whole budget and the design it likes best; shared out over the arrays.

        That no array serves a layer better holds for each of several, too (`LayersAlone`). The slowest of some arrays takes no
        less than they take on average.
        """
        counts = np.array([self.sequence.count(number) for number in range(len(self._designs[0]))])
        least = counts * np.min([alone.bounds for alone in self._alone], axis=0)
        bound = float(sum_below(least[:, None])[0])
        if not 0 < bound < np.inf:
            return None
        shared = Fraction(bound) / (self.arrays if self.minimise is Minimise.SLOWEST else 1)
        return ceil(shared / self._step) * self._step if self._step else shared

    def _prepare(self) -> None:
        """Bound all hardware of all designs; `StoppedError` if the options say to stop."""
        checkpoint = self.options.checkpoint()
        for alone in self._alone:
            while not alone.complete:
                alone.prepare(checkpoint)
        self._bound = self._alone_bound()
        self._banks = [alone.bank(checkpoint, common=False) for alone in self._alone]
        dsp = np.concatenate([b.dsp for b in self._banks])
        order = np.argsort(dsp, kind="stable")
        self._dsp: Floats = dsp[order]
        self._design: Indices = np.concatenate([np.full(b.nodes.shape[1], n) for n, b in enumerate(self._banks)])[order]
        self._column: Indices = np.concatenate([np.arange(b.nodes.shape[1]) for b in self._banks])[order]
        self._bounds: Floats = np.concatenate([b.bounds for b in self._banks], axis=1)[:, order]
        for first in range(len(self.sequence)):
            checkpoint()
            times = np.zeros(self._dsp.size)
            for end in range(first + 1, len(self.sequence) + 1):
                times = times + self._bounds[self.sequence[end - 1]]
                self._fronts[first, end] = front_of_sorted(self._dsp, sum_below(times[None, :]))

    def run(self) -> PipelineOutcome:
        """Search until proven, or until the options say to stop, or no way is known to improve on what was found."""
        with suppress(StoppedError):
            self._seed()
            self._prepare()
            if (plan := self._best_plan(self.arrays)) is not None:
                self._bound = self._on_grid(plan)
            count = 1 if self.value is None else 2
            while count < self.arrays:  # fewer arrays fit the memory more easily: a value to go by
                self._search(count, until_better=True)
                count *= 2
            self._search(self.arrays)
        bound = self._bound if self.value is None or self._bound is None else min(self._bound, self.value)
        return PipelineOutcome(self.stages, self.value, bound, self.plans, time.perf_counter() - self._began)

    def _tell(self) -> None:
        if self.report is not None:
            self.report(Progress(self.value, self._bound, self.plans, time.perf_counter() - self._began))

    def _search(self, arrays: int, *, until_better: bool = False) -> None:
        """Examine plans with up to so many arrays, the most promising first."""
        bounding = arrays == self.arrays  # with fewer arrays allowed, plans say nothing about more
        self._forgive()
        before = self.value
        last: Plan | None = None
        while True:
            plan = self._best_plan(arrays)
            if plan is None:
                if bounding and not self._unmet:
                    self._bound = self.value
                return
            if bounding and not self._unmet:
                self._bound = self._on_grid(plan)
            self.plans += 1
            self._tell()
            if self._should_stop(self._bound):
                return
            fresh = self._refine(plan)
            while self.value is None and self._refine(plan):
                pass  # the first plans are followed to the end, for a value to go by
            if all(stage in self._refined for stage in plan.stages):
                realised = self._realise(plan)
                if until_better and self.value != before:
                    return
                if not fresh and ((realised and plan == last) or (not realised and not self._give_up(plan))):
                    return
            last = plan

    def _best_plan(self, arrays: int) -> Plan | None:
        """The plan with up to so many arrays that promises most, if any promises an improvement."""
        budget = largest_double(self.limits["dsp"])
        # an improvement by one step, up to rounding
        below_value = float("inf") if self.value is None else cutoff(self.value - self._step)
        return best_plan(self._fronts, len(self.sequence), arrays, budget, self.minimise, below_value)

    # -- bounds ------------------------------------------------------------------------

    def _members(self, first: int, end: int) -> tuple[Indices, Indices]:
        """The distinct layers of a stage, and how often it runs each."""
        return np.unique(self.sequence[first:end], return_counts=True)

    def _on_grid(self, plan: Plan) -> Fraction:
        """The bound that a plan is, as an objective that can be."""
        bound = Fraction(below(plan.value))
        if self._step:
            bound = ceil(bound / self._step) * self._step
        return bound if self.value is None else min(bound, self.value)

    def _front(self, first: int, end: int) -> Front:
        layers, counts = self._members(first, end)
        times = sum_below(counts[:, None] * self._bounds[layers])
        for (a, b, choice), refined in self._refined.items():
            if (a, b) == (first, end):
                value = self._given_up.get((a, b, choice), refined.value)
                times[choice] = np.inf if value is None else below(value)
        return front_of_sorted(self._dsp, times)

    def _refine(self, plan: Plan) -> bool:
        """Solve the layers of a plan's stages to optimality; whether that was still to be done.

        First each layer by itself, with ports as it likes: that serves every stage which it is part of.
        """
        wanted = {(layer, choice) for first, end, choice in plan.stages for layer in self.sequence[first:end]}
        if unsolved := sorted(wanted - self._solved):
            for layer, choice in unsolved:
                bank = self._banks[self._design[choice]]
                node = tuple(int(n) for n in bank.nodes[:, self._column[choice]])
                optimum = bank.optimum(layer, node, self.options, ports=False)
                self._bounds[layer, choice] = np.inf if optimum is None else below(optimum[0])
                self._solved.add((layer, choice))
            choices = [choice for _, choice in unsolved]
            for (first, end), front in self._fronts.items():
                if np.isin(choices, front.choice).any():  # elsewhere they were dominated already
                    self._fronts[first, end] = self._front(first, end)
            return True
        fresh = [stage for stage in plan.stages if stage not in self._refined]
        for first, end, choice in fresh:
            self._refined[first, end, choice] = self._solve_stage(first, end, choice)
            self._fronts[first, end] = self._front(first, end)
        return bool(fresh)

    def _solve_stage(self, first: int, end: int, choice: int) -> _Refined:
        """The port widths with which the layers of a stage, each alone on the array, take least."""
        bank = self._banks[self._design[choice]]
        layers, counts = self._members(first, end)
        nodes = bank.fine.inside(bank.coarse, tuple(bank.nodes[:, self._column[choice]]))
        bounds = bank.fine.bounds(nodes)[layers]
        least = (counts[:, None] * bounds).sum(axis=0)
        best = _Refined(None, None)
        for index in np.argsort(least, kind="stable"):
            if not np.isfinite(least[index]) or (best.value is not None and least[index] >= float(best.value)):
                break
            value = self._sum_of_optima(bank, layers, counts, tuple(int(n) for n in nodes[:, index]), best.value)
            if value is not None:
                best = _Refined(value, tuple(int(n) for n in nodes[:, index]))
        return best

    def _sum_of_optima(
        self, bank: HardwareBank, layers: Indices, counts: Indices, node: Node, below: Fraction | None
    ) -> Fraction | None:
        """What some layers take on fine hardware, each at its best; None if that is not below a value."""
        value = Fraction(0)
        for layer, count in zip(layers, counts, strict=True):
            optimum = bank.optimum(int(layer), node, self.options)
            if optimum is None:
                return None
            value += int(count) * optimum[0]
            if below is not None and value >= below:
                return None
        return value

    # -- values ------------------------------------------------------------------------

    def _realise(self, plan: Plan) -> bool:
        """Configurations for a plan whose stages are solved; whether they are as good as the plan's bound."""
        budget = self.limits.get("bram18k")
        wanted = self._fit_all(plan, [budget] * len(plan.stages))
        if not wanted:
            return False
        need = [self._blocks(stage) for stage in wanted]
        if budget is None or sum(need) <= budget:
            self._offer(wanted)
        else:
            for mix in MIXES:
                even = budget / len(need)
                shares = [Fraction(mix) * n * budget / sum(need) + (1 - Fraction(mix)) * even for n in need]
                if shared := self._fit_all(plan, shares):
                    self._offer(shared)
        return self.value is not None and below(self.value) <= cutoff(Fraction(plan.value))

    def _fit_all(self, plan: Plan, shares: Sequence[Fraction | None]) -> list[Stage]:
        """Configurations of all stages, each within its share of the block RAM; none unless all have one."""
        stages: list[Stage] = []
        for stage, share in zip(plan.stages, shares, strict=True):
            fitted = self._fit(stage, share)
            if fitted is None:
                return []
            stages.append(fitted)
        return stages

    def _give_up(self, plan: Plan) -> bool:
        """Go on without a plan whose arrays do not fit the memory together; whether to go on.

        The bound stays where the first such plan put it: what follows improves the value only. The plan's
        stages count for the rest of this search as what they take with their share of the memory.
        """
        self._unmet += 1
        share = self.limits["bram18k"] / len(plan.stages)
        for stage in plan.stages:
            fitted = self._fit(stage, share)
            self._given_up[stage] = None if fitted is None else fitted.joint.value
            self._fronts[stage[:2]] = self._front(*stage[:2])
        return self._unmet < MOST_UNMET

    def _forgive(self) -> None:
        """Let stages count as what they take at least: with other arrays beside them they may have the memory."""
        stages = list(self._given_up)
        self._given_up.clear()
        self._unmet = 0
        for first, end, _ in stages:
            self._fronts[first, end] = self._front(first, end)

    def _fit(self, stage: tuple[int, int, int], bram18k: Fraction | None) -> Stage | None:
        """Configurations of a stage's layers on its array, within some block RAM."""
        first, end, choice = stage
        node = self._refined[stage].node
        if node is None:
            return None
        bank = self._banks[self._design[choice]]
        numbers, counts = self._members(first, end)
        layers, optima = [], []
        for number, count in zip(numbers, counts, strict=True):
            layer = bank.layers[number]
            limits = tuple(Limit(m, self.limits[m] if m == "dsp" or bram18k is None else bram18k) for m in self.limits)
            layers.append(replace(layer, problem=replace(layer.problem, limits=limits), count=int(count)))
            optima.append(bank.optimum(int(number), node, self.options))
        found = [optimum for optimum in optima if optimum is not None]
        worth = [value * layer.count for (value, _), layer in zip(found, layers, strict=True)]
        options = SolveOptions(stop=self.options.stop)
        joint = fit(layers, bank.fine.given(node), [configuration for _, configuration in found], worth, options)
        return None if joint is None else Stage(first, end, int(self._design[choice]), joint)

    def _blocks(self, stage: Stage) -> Fraction:
        """Block RAM of a stage's array."""
        bank = self._banks[stage.design]
        problem = bank.layers[self.sequence[stage.first]].problem.with_design(physical=stage.joint.physical)
        numbers = list(self._members(stage.first, stage.end)[0])
        configuration = stage.joint.configurations[numbers.index(self.sequence[stage.first])]
        blocks: Fraction = problem.metrics(configuration)["bram18k"]
        return blocks

    def _offer(self, stages: Sequence[Stage]) -> None:
        values = [stage.joint.value for stage in stages]
        value = max(values) if self.minimise is Minimise.SLOWEST else sum(values, start=Fraction(0))
        if self.value is None or value < self.value:
            self.value, self.stages = value, tuple(stages)

    def _should_stop(self, bound: Fraction | None) -> bool:
        stopped = self.options.stop is not None and self.options.stop()
        return stopped or self.options.gap_is_met(self.value, bound)
