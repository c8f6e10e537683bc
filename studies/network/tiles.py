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
from ithaca.formulations.tiles import Tiled, Ways
from ithaca.solver.certificate import Certificate
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.solution import Solution
from ithaca.solver.staged.engine import solve_staged


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
        """What runs cost inside: searches of other runs know some of it."""
        self._inside = tuple(dict[Any, Fraction]() for _ in problems)
        self._bound: Fraction | None = None
        self._nodes = 0
        self._queue = list[tuple[Fraction, int, int, Ways]]()
        self._numbers = count()
        self._begun = False
        self._first: list[Ways] = []
        """Ways of the fewest loops."""
        self._hurried = set[tuple[int, Any]]()
        """Runs and keys that were searched inside in a share of the time, and not to the end."""

    def after(self, other: TileSearch, options: SolveOptions) -> TileSearch:
        """This search, with what another one of the same runs knows, and other time."""
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

    def begin(self, options: SolveOptions) -> None:
        """Bound all ways, if there is time for that."""
        self._budget = Budget(options)
        with options.building(), suppress(StoppedError):
            self._begin()
            if self._hurried:
                for part in self._first:
                    self._search_inside(part)

    def run(self) -> Certificate:
        """Search, and say what is proven of the least of the rival and all ways: where the call's
        time is over before all of these have bounds, what runs cost at least."""
        complete = False
        with ending(), suppress(StoppedError):
            self._begin()
            complete = self._search()
        return conclude(
            self.value,
            self._bound,
            self._budget.options,
            complete=complete,
            method="staged",
            nodes=self._nodes,
            seconds=self._budget.spent,
        ).within(among := self._tiled.plans.among, among)

    def _begin(self) -> None:
        if self._begun:
            return
        self._queue.clear()
        least_of_all = sum(map(_objective_of, self._problems, self._roofs), Fraction(0))
        self._bound = least_of_all if self._may_improve(least_of_all) else self.value
        parts = list(self._tiled.parts())
        least = min((part.trips for part in parts), default=())
        self._first = [part for part in parts if part.trips == least]
        self._search_all_inside()
        self._push(parts)
        self._begun = True
        self._bound = self._queue[0][0] if self._queue else self.value

    def _push(self, parts: Iterable[Ways]) -> None:
        for part in parts:
            poll()
            bound = sum(self._bounds(part), Fraction(0))
            if self._may_improve(bound):
                trips = prod(map(prod, part.trips))
                heappush(self._queue, (bound, trips, next(self._numbers), part))

    def _search(self) -> bool:
        """Search; whether nothing better is left."""
        queue = self._queue
        if self._hurried:
            self._search_all_inside()
        while queue and self._may_improve(queue[0][0]):
            self._bound, _, _, part = queue[0]
            if self._budget.options.ends(self._budget.spent, self.value, self._bound):
                break
            designs = part.designs
            if designs:
                self._search_inside(part)
            if sum(self._bounds(part), Fraction(0)) > self._bound:
                heappop(queue)
                self._push([part])
            elif designs is None:
                heappop(queue)
                self._push(part.parts())
            elif self._try(designs, self._bounds(part)):
                heappop(queue)
            else:
                break
        return not queue or not self._may_improve(queue[0][0])

    def _search_all_inside(self) -> None:
        """Find out what runs cost inside the fewest loops; some time is left to bound ways."""
        for left, part in zip(range(len(self._first), 0, -1), self._first, strict=True):
            self._search_inside(part, 1 / (left + 1))

    def _search_inside(self, part: Ways, share: float = 1) -> None:
        """Find out what runs cost inside at least, in a share of what time is left; once more where
        it was not enough."""
        for number, known in enumerate(self._inside):
            key, design = part.inside(number)
            if key not in known or (number, key) in self._hurried:
                energy = read_objective("energy", "objective", design.vocabulary)
                problem = Problem(design, (), energy)
                proof = self._solved(problem, self._budget.part(share), self.inner).certificate
                known[key] = max(proof.lower_bound or Fraction(0), known.get(key, Fraction(0)))
                self._hurried.discard((number, key))
                if share < 1 and not proof.settled:
                    self._hurried.add((number, key))

    def _solved(
        self, problem: Problem, options: SolveOptions, known: dict[Problem, Solution]
    ) -> Solution:
        if problem in known:
            return known[problem]
        solution = solve_staged(problem, options)
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
            own = replace(problem, design=design)
            solution = self._solved(own, self._budget.share(), self._known)
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
        last.begin(budget.share(2))
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
