"""Runs that pass tiles on: the best of all loops that they may share.

Every way to share loops is bounded by what it costs outside of the level that tiles are passed on
at, and by the least that each run costs inside. Ways are searched in the order of their bounds, run
by run, until these reach the best. All ways are bounded first: fewer are searched for their values,
and time may be over when these are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from math import prod
from typing import Any

from ithaca.files.clock import StoppedError, ending, poll
from ithaca.formulations.problem import Problem, read_objective
from ithaca.plugins.hierarchies.formulations.uneven.plans import Tiled, Ways
from ithaca.solver.certificate import Certificate
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.solution import Solution
from ithaca.solver.staged.engine import solve_staged

#: Share of the time before a search that what runs cost inside may take; the rest is for ways.
INSIDE = 0.75

#: Ways after their bounds, the product of their trips and a number, by which they are ordered.
Queue = list[tuple[Fraction, int, int, Ways]]


class TileSearch:
    """The search of the best way."""

    def __init__(
        self,
        problems: Sequence[Problem],
        tiled: Tiled,
        options: SolveOptions,
        rival: Fraction | None,
        inner: dict[Problem, Solution] | None = None,
    ) -> None:
        self._problems, self._tiled, self._budget = problems, tiled, Budget(options)
        self.value = rival
        """The value to improve on, then the best one; None while nothing is known."""
        self.best: tuple[Solution, ...] = ()
        """The runs of the best; none where nothing better is known."""
        self._known: dict[Problem, Solution] = {}
        self.inner = {} if inner is None else inner
        """Costs inside of runs: searches of other runs know some of it."""
        self._inside = tuple(dict[Any, Fraction]() for _ in problems)
        self._bound: Fraction | None = None
        self._nodes = 0
        self._queue: Queue | None = None
        """Ways with their bounds; None until all have one."""
        self._numbers = count()
        self._inside_known = False
        """Whether it is proven what runs cost inside the fewest loops."""

    def after(self, other: TileSearch, options: SolveOptions) -> TileSearch:
        """A copy of the search, with what another one of the same runs knows, and other time."""
        self.value, self.best, self._budget = other.value, other.best, Budget(options)
        self._known |= other._known
        return self

    @cached_property
    def _roofs(self) -> list[dict[str, Fraction]]:
        """The least of each metric, by run."""
        runs = zip(self._problems, self._tiled.least, strict=True)
        return [
            _least_of_all([each.least(problem.limits) for each in designs])
            for problem, designs in runs
        ]

    def begin(self, options: SolveOptions, *, inside: bool = False) -> None:
        """Bound all ways, if there is time for that: by what is known without a search, or else by
        what runs cost inside, as far as that is known by then."""
        self._budget = Budget(Budget(options).part(INSIDE))
        with options.building(), suppress(StoppedError):
            self._begin()
            if inside:
                self._begin_inside()

    def run(self) -> Certificate:
        """Search, and say what is proven of the least of the rival and all ways: where the call's
        time is over before all of these have bounds, what runs cost at least."""
        complete = False
        with ending(), suppress(StoppedError):
            self._begin()
            self._begin_inside()
            complete = self._search()
        bound, value = self._bound, self.value
        if bound is not None and value is not None:  # a rival that was found later may be below it
            bound = min(bound, value)
        return conclude(
            value,
            bound,
            self._budget.options,
            complete=complete,
            method="staged",
            nodes=self._nodes,
            seconds=self._budget.spent,
        ).within(among := self._tiled.plans.among, among)

    def _begin(self) -> None:
        """Bound all ways by what is known of the runs inside."""
        if self._queue is not None:
            return
        if self._bound is None:
            least = sum(map(_objective_of, self._problems, self._roofs), Fraction(0))
            self._bound = least if self._may_improve(least) else self.value
        queue: Queue = []
        self._push(queue, self._tiled.parts())
        self._queue, self._bound = queue, queue[0][0] if queue else self.value

    def _begin_inside(self) -> None:
        """Find out what runs cost inside the fewest loops, and bound all ways by that."""
        if self._inside_known:
            return
        parts = list(self._tiled.parts())
        least = min((part.trips for part in parts), default=())
        first = [part for part in parts if part.trips == least]
        settled = [self._search_inside(part, again=True) for part in first]
        self._inside_known = all(settled)
        self._queue = None
        self._begin()

    def _push(self, queue: Queue, parts: Iterable[Ways]) -> None:
        for part in parts:
            poll()
            bound = sum(self._bounds(part), Fraction(0))
            if self._may_improve(bound):
                trips = prod(map(prod, part.trips))
                heappush(queue, (bound, trips, next(self._numbers), part))

    def _search(self) -> bool:
        """Search; whether nothing better is left."""
        queue = self._queue
        assert queue is not None
        while queue and self._may_improve(queue[0][0]):
            self._bound, _, _, part = queue[0]
            if self._budget.options.ends(self._budget.spent, self.value, self._bound):
                break
            designs = part.designs
            if designs:
                self._search_inside(part)
            if sum(self._bounds(part), Fraction(0)) > self._bound:
                heappop(queue)
                self._push(queue, [part])
            elif designs is None:
                heappop(queue)
                self._push(queue, part.parts())
            elif self._try(designs, self._bounds(part)):
                heappop(queue)
            else:
                break
        return not queue or not self._may_improve(queue[0][0])

    def _search_inside(self, part: Ways, *, again: bool = False) -> bool:
        """Find out what runs cost inside at least; whether all is proven that was searched."""
        settled = True
        for number, known in enumerate(self._inside):
            key, design = part.inside(number)
            if again or key not in known:
                energy = read_objective("energy", "objective", design.vocabulary)
                proof = self._solved(Problem(design, (), energy), self.inner).certificate
                known[key] = max(known.get(key, Fraction(0)), proof.lower_bound or Fraction(0))
                settled = settled and proof.settled
        return settled

    def _solved(self, problem: Problem, known: dict[Problem, Solution]) -> Solution:
        if problem in known:
            return known[problem]
        solution = solve_staged(problem, self._budget.share())
        self._nodes += solution.certificate.nodes
        if solution.certificate.settled:
            known[problem] = solution
        return solution

    def _bounds(self, part: Ways) -> list[Fraction]:
        """Lower bounds of the objective of every run."""
        bounds = []
        for number, more in enumerate(part.outside):
            problem, roofs = self._problems[number], self._roofs[number]
            least = part.least_inside(number, self._inside[number])
            energy, latency = least + more["energy"], max(roofs["latency"], more["latency"])
            metrics = {**roofs, "energy": energy, "latency": latency, "edp": energy * latency}
            bounds.append(_objective_of(problem, metrics))
        return bounds

    def _try(self, designs: Sequence[Any], bounds: list[Fraction]) -> bool:
        """Search all runs of a way, while it may be the best; False if one was not finished."""
        solutions = []
        for number, (problem, design) in enumerate(zip(self._problems, designs, strict=True)):
            if not self._may_improve(sum(bounds, Fraction(0))):
                return True
            solution = self._solved(replace(problem, design=design), self._known)
            if not solution.certificate.settled:
                return False
            if solution.value is None:
                return True
            bounds[number] = solution.value
            solutions.append(solution)
        total = sum(bounds, Fraction(0))
        if self._may_improve(total):
            self.value, self.best = total, tuple(solutions)
        return True

    def _may_improve(self, bound: Fraction) -> bool:
        return self.value is None or bound < self.value


def search_tiles(
    problems: Sequence[Problem],
    tiled: Tiled,
    options: SolveOptions,
    rival: Fraction | None,
    widest: TileSearch | None = None,
) -> tuple[tuple[Solution, ...], Certificate]:
    """The runs of the best of all ways, none where nothing better than a rival is known, and what
    is proven of the least of both.

    Fewer ways are searched first, for their values: a bound of them is none of all. So where time
    ends all ways are bounded before.

    Parameters
    ----------
    problems : Sequence of Problem
        One per run.
    tiled : Tiled
        The ways.
    options : SolveOptions
        How far to search.
    rival : Fraction, optional
        A value that the runs have otherwise.
    widest : TileSearch, optional
        A search of all ways that has begun; a new one by default.
    """
    budget, stages = Budget(options), tiled.stages
    last = widest or TileSearch(problems, stages[-1], options, rival)
    if options.time_limit is not None:
        last.begin(budget.share(4), inside=True)
    last.value = rival  # of one that has begun before, it may be better by now
    search, proof = last, None
    for left, stage in zip(range(len(stages), 0, -1), stages, strict=True):
        own = last if left == 1 else TileSearch(problems, stage, options, rival, last.inner)
        search = own.after(search, budget.share(left))
        proof = search.run()
    assert proof is not None
    return search.best, proof


def _objective_of(problem: Problem, metrics: Mapping[str, Fraction]) -> Fraction:
    return problem.objective.value(metrics)


def _least_of_all(every: Sequence[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """The least of each metric; what a level does not keep has none of its words."""
    names = {name for each in every for name in each}
    return {name: min(each.get(name, Fraction(0)) for each in every) for name in names}
