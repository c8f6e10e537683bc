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
from math import ceil, inf
from typing import Any

import numpy as np

from ithaca.formulations.algebra.rounding import below, cutoff, on_grid, sum_below
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.design import fixed
from ithaca.solver.options import StoppedError
from ithaca.solver.progress import Progress
from ithaca.studies.families.systolic.hardware_bounds import Node
from ithaca.studies.families.systolic.joint import Outcome, Stage, fit
from ithaca.studies.families.systolic.plans import Options, Part, Plan, best_plan
from ithaca.studies.families.systolic.search import SharedSearch
from ithaca.studies.families.systolic.stages import Stages

#: Steps of the search for one array, to begin with.
SEED_STEPS = 300

#: Share of a limited time that it has: one array is an answer, to the sum of all a good one.
SEED_SHARE = {Minimise.TOTAL: 0.75, Minimise.SLOWEST: 0.5}

#: After so many plans the best of what has been solved is followed to the end, up to so many plans,
#: for a value to go by.
DIVES, FOLLOWED = 8, 4


@dataclass(frozen=True)
class _Step:
    """The best of a stage on some lanes and SIMD factor, within some block RAM; the step before
    says so of less."""

    bram18k: int
    """The most it may take."""
    value: Fraction | None
    """It takes at least as long; None: it cannot run."""
    stage: Stage | None
    """How it runs."""
    used: int
    """Block RAM that it then takes."""


@dataclass
class PipelineSearch(Stages):
    """Search over cuts and hardware."""

    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        self._began = time.perf_counter()
        self._seeded = self._began + SEED_SHARE[self.minimise] * (self.options.time_limit or 0.0)
        super().__post_init__()
        self.stages: tuple[Stage, ...] = ()
        self.value: Fraction | None = None
        self.exceeded = False  # whether arrays that together use too much bandwidth were found
        self.plans = 0
        #: What is known of a stage (first layer, end) on its hardware (choice), by block RAM
        #: ascending
        self._steps: dict[tuple[int, int, int], list[_Step]] = {}
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
        self._solved = np.zeros(
            self._bounds.shape, bool
        )  # whether a layer is, on a choice, with ports as it likes
        for stage in combinations(range(len(self.sequence) + 1), 2):
            self._renew(*stage)

    def run(self) -> Outcome:
        """Search until proven, or until the options say to stop."""
        infeasible = False
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
                if not self._refine(plan) and not self._realise(plan):
                    break  # its layers could not be fitted together at no loss
                if self.plans % DIVES == 0:
                    self._dive()
            else:
                self._bound, infeasible = self.value, self.value is None
        bound = (
            self._bound
            if self.value is None or self._bound is None
            else min(self._bound, self.value)
        )
        seconds = time.perf_counter() - self._began
        return Outcome(self.value, bound, infeasible, self.plans, seconds, self.stages)

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

    def _dive(self) -> None:
        """Solve the stages of the best plans of lanes and SIMD factors on which all of a stage's
        layers are solved."""
        for _ in range(FOLLOWED):
            options = {}
            for first, end in combinations(range(len(self.sequence) + 1), 2):
                open_ = np.all(self._solved[self._members(first, end)[0]], axis=0)
                options[first, end] = self._options_of(first, end, open_).front
            plan = self._best_plan(options)
            if plan is None or not (
                self._solve_within(plan, self._rooms(plan)) | self._realise(plan)
            ):
                return

    def _renew(self, first: int, end: int) -> None:
        """Look again at what a stage may be."""
        self._options[first, end] = self._options_of(first, end).front

    # -- bounds ------------------------------------------------------------------------

    def _options_of(self, first: int, end: int, open_: Any = True) -> Options:
        """The options of a stage, as far as plans that improve may have it; only what is open, and
        what has been solved."""
        layers, counts = self._members(first, end)
        times = sum_below(counts[:, None] * self._bounds[layers])
        open_ = (times <= self._target) & open_
        steps = [
            (choice, solved)
            for (a, b, choice), solved in self._steps.items()
            if (a, b) == (first, end)
        ]
        open_[[choice for choice, _ in steps]] = False
        choices = np.flatnonzero(open_)
        options = [
            Options(
                self._dsp[choices],
                self._bram18k[layers][:, choices].max(axis=0),
                times[choices],
                choices,
            )
        ]
        for choice, known in steps:
            above = float(self._bram18k[layers, choice].max())
            within = [
                (step.bram18k, inf if step.value is None else below(step.value)) for step in known
            ]
            # with more than it was solved within, its layers' bounds are what is known
            for most, value in (*within, (self._memory, times[choice])):
                if value < inf and above <= most:
                    row = self._dsp[choice], above, value, choice
                    options.append(Options(*(np.array([x]) for x in row)))
                above = max(above, most + 1.0)
        columns = (
            (getattr(o, name) for o in options) for name in ("dsp", "bram18k", "value", "choice")
        )
        return Options(*(np.concatenate(list(column)) for column in columns))

    def _refine(self, plan: Plan) -> bool:
        """Solve the layers of a plan's stages to optimality; whether that was still to be done.

        First each layer by itself, with ports as it likes: that serves every stage which it is part
        of.
        """
        wanted = sorted(
            {
                (layer, part.choice)
                for part in plan.parts
                for layer in self.sequence[part.first : part.end]
            }
        )
        if unsolved := [each for each in wanted if not self._solved[each]]:
            for layer, choice in unsolved:
                bank, node = self._hardware(choice)
                optimum = bank.optimum(layer, node, self.options, ports=False)
                self._bounds[layer, choice] = np.inf if optimum is None else below(optimum.value)
                self._solved[layer, choice] = True
            choices = [choice for _, choice in unsolved]
            for (first, end), options in self._options.items():
                if np.isin(choices, options.choice).any():  # elsewhere they were dominated already
                    self._renew(first, end)
            return True
        return self._solve_within(plan, self._rooms(plan))

    def _solve_within(self, plan: Plan, rooms: Sequence[int]) -> bool:
        """Solve a plan's stages, each within some block RAM; whether that was still to be done."""
        fresh = [self._solve(part, most) for part, most in zip(plan.parts, rooms, strict=True)]
        return any(fresh)

    def _rooms(self, plan: Plan) -> list[int]:
        """The most block RAM that each stage of a plan may take."""
        spare = self._memory - sum(part.bram18k for part in plan.parts)
        return [part.bram18k + spare for part in plan.parts]

    def _known(self, part: Part, bram18k: int) -> _Step | None:
        """The step known of a stage within some block RAM; None if it has not been solved within as
        much."""
        known = self._steps.get((part.first, part.end, part.choice), ())
        return next((step for step in known if step.bram18k >= bram18k), None)

    def _solve(self, part: Part, bram18k: int) -> bool:
        """Solve a stage within some block RAM; whether that was still to be done."""
        known = self._known(part, bram18k)
        if known is not None and (
            known.value is None or (known.stage is not None and known.used <= bram18k)
        ):
            return False
        if known is not None and known.bram18k == bram18k:
            return False
        steps = self._steps.setdefault((part.first, part.end, part.choice), [])
        steps.append(self._solved_step(part, bram18k))
        steps.sort(key=lambda step: step.bram18k)
        self._renew(part.first, part.end)
        return True

    def _solved_step(self, part: Part, bram18k: int) -> _Step:
        """The port widths with which the layers of a stage, each alone on the array, take least."""
        best = self._at_best(part.first, part.end, part.choice, bram18k)
        stage = None if best is None else self._fit(part, best.hardware, bram18k)
        used = 0 if stage is None else ceil(self._most(stage, "bram18k") / self._shares["bram18k"])
        return _Step(bram18k, None if best is None else best.value, stage, used)

    # -- values ------------------------------------------------------------------------

    def _realise(self, plan: Plan) -> bool:
        """Take a plan whose stages are solved, if they fit the block RAM together; else solve each
        within its share of it.

        Then none of them may have more: the plan is no longer what it was. Whether anything is new.
        """
        before, rooms = self.value, self._rooms(plan)
        steps = [self._known(part, most) for part, most in zip(plan.parts, rooms, strict=True)]
        if self._take(steps):
            return self.value != before
        least = [part.bram18k for part in plan.parts]
        used = [
            0 if step is None else max(step.used - own, 0)
            for step, own in zip(steps, least, strict=True)
        ]
        rooms = [
            own + (self._memory - sum(least)) * more // sum(used)
            for own, more in zip(least, used, strict=True)
        ]
        fresh = self._solve_within(plan, rooms)
        self._take([self._known(part, most) for part, most in zip(plan.parts, rooms, strict=True)])
        return fresh or self.value != before

    def _take(self, steps: Sequence[_Step | None]) -> bool:
        """Take stages as the best if they are; whether they fit the block RAM."""
        stages = [step.stage for step in steps if step is not None and step.stage is not None]
        if len(stages) < len(steps):
            return True
        if sum(step.used for step in steps if step is not None) > self._memory:
            return False
        self._offer(stages)
        return True

    def _fit(self, part: Part, node: Node, bram18k: int) -> Stage | None:
        """Configurations of a stage's layers on an array, within some block RAM."""
        bank, room = self._banks[self._design[part.choice]], self._room(bram18k)
        numbers, counts = self._members(part.first, part.end)
        optima = [bank.optimum(int(number), node, self.options, room=room) for number in numbers]
        layers = [
            replace(bank.layers[n].within(room), count=int(c))
            for n, c in zip(numbers, counts, strict=True)
        ]
        proven = [optimum for optimum in optima if optimum is not None]
        joint = fit(layers, bank.fine.given(node), proven, self.options)
        return (
            None
            if joint is None
            else Stage(part.first, part.end, int(self._design[part.choice]), joint)
        )

    def _most(self, stage: Stage, metric: str) -> Fraction:
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

    def _offer(self, stages: Sequence[Stage]) -> None:
        if (
            self._at_once is not None
            and sum(self._most(stage, "bandwidth") for stage in stages) > self._at_once
        ):
            self.exceeded = True
            return
        values = [stage.joint.value for stage in stages]
        value = max(values) if self.minimise is Minimise.SLOWEST else sum(values, start=Fraction(0))
        if self.value is None or value < self.value:
            self.value, self.stages = value, tuple(stages)
