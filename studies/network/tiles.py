"""Runs that pass tiles on: the best of all loops that they may share.

Every way to share loops is bounded by what it costs outside of the level that tiles are passed on
at, and by the least that each run costs inside. Ways are searched in the order of their bounds, run
by run, until these reach the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from math import prod
from typing import Any

from ithaca.files.clock import StoppedError, ending, poll
from ithaca.files.fraction import Fraction
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
    ) -> None:
        self._problems, self._tiled, self._budget = problems, tiled, Budget(options)
        self.value = rival
        """The value to improve on, then the best one; None while nothing is known."""
        self.best: tuple[Solution, ...] = ()
        """The runs of the best; none where nothing better is known."""
        self._known: dict[Problem, Solution] = {}
        self._inside = tuple(dict[Any, Fraction]() for _ in problems)
        self._bound: Fraction | None = None
        self._nodes = 0

    def wider(self, tiled: Tiled, options: SolveOptions) -> TileSearch:
        """A search of more ways of the same runs, which begins with what is known here."""
        search = TileSearch(self._problems, tiled, options, self.value)
        search.best, search._known = self.best, self._known
        return search

    @cached_property
    def _roofs(self) -> list[dict[str, Fraction]]:
        """The least of each metric, by run."""
        runs = zip(self._problems, self._tiled.least, strict=True)
        return [
            _least_of_all([each.least(problem.limits) for each in designs])
            for problem, designs in runs
        ]

    def run(self) -> Certificate:
        """Search, and say what is proven of the least of the rival and all ways; where the call's
        time is over before all of these have bounds, nothing is."""
        complete = False
        with ending(), suppress(StoppedError):
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

    def _search(self) -> bool:
        """Search; whether nothing better is left."""
        numbers, queue = count(), list[tuple[Fraction, int, int, Ways]]()

        def push(parts: Iterable[Ways]) -> None:
            for part in parts:
                poll()
                bound = sum(self._bounds(part), Fraction(0))
                if self._may_improve(bound):
                    trips = prod(map(prod, part.trips))
                    heappush(queue, (bound, trips, next(numbers), part))

        parts = list(self._tiled.parts())
        least = min((part.trips for part in parts), default=())
        for part in parts:
            if part.trips == least:
                self._search_inside(part)
        push(parts)
        while queue and self._may_improve(queue[0][0]):
            self._bound, _, _, part = queue[0]
            if self._budget.options.ends(self._budget.spent, self.value, self._bound):
                break
            designs = part.designs
            if designs:
                self._search_inside(part)
            if sum(self._bounds(part), Fraction(0)) > self._bound:
                heappop(queue)
                push([part])
            elif designs is None:
                heappop(queue)
                push(part.parts())
            elif self._try(designs, self._bounds(part)):
                heappop(queue)
            else:
                break
        return not queue or not self._may_improve(queue[0][0])

    def _search_inside(self, part: Ways) -> None:
        """Find out what runs cost inside at least."""
        for number, known in enumerate(self._inside):
            key, design = part.inside(number)
            if key not in known:
                energy = read_objective("energy", "objective", design.vocabulary)
                least = self._solved(Problem(design, (), energy)).certificate.lower_bound
                known[key] = least or Fraction(0)

    def _solved(self, problem: Problem) -> Solution:
        if problem in self._known:
            return self._known[problem]
        solution = solve_staged(problem, self._budget.share())
        self._nodes += solution.certificate.nodes
        if solution.certificate.settled:
            self._known[problem] = solution
        return solution

    def _bounds(self, part: Ways) -> list[Fraction]:
        """Lower bounds of the objective of every run."""
        bounds = []
        for number, more in enumerate(part.outside):
            problem, roofs = self._problems[number], self._roofs[number]
            least = part.least_inside(number, self._inside[number])
            energy, latency = least + more["energy"], max(roofs["latency"], more["latency"])
            metrics = {**roofs, "energy": energy, "latency": latency, "edp": energy * latency}
            bounds.append(problem.objective.value(metrics))
        return bounds

    def _try(self, designs: Sequence[Any], bounds: list[Fraction]) -> bool:
        """Search all runs of a way, while it may be the best; False if one was not finished."""
        solutions = []
        for number, (problem, design) in enumerate(zip(self._problems, designs, strict=True)):
            if not self._may_improve(sum(bounds, Fraction(0))):
                return True
            solution = self._solved(replace(problem, design=design))
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
    problems: Sequence[Problem], tiled: Tiled, options: SolveOptions, rival: Fraction | None
) -> tuple[tuple[Solution, ...], Certificate]:
    """The runs of the best of all ways, none where nothing better than a rival is known, and what
    is proven of the least of both.

    Fewer ways are searched first, for their values: a bound of them is none of all.

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
    """
    budget, stages = Budget(options), tiled.stages
    search = TileSearch(problems, stages[0], budget.share(len(stages)), rival)
    proof = search.run()
    for done, stage in enumerate(stages[1:], start=1):
        search = search.wider(stage, budget.share(len(stages) - done))
        proof = search.run()
    return search.best, proof


def _least_of_all(every: Sequence[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """The least of each metric; what a level does not keep has none of its words."""
    names = {name for each in every for name in each}
    return {name: min(each.get(name, Fraction(0)) for each in every) for name in names}
