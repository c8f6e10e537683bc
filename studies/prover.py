"""Minimise one objective within bounds on the others, over all designs, and remember what was proven."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.studies.region import Region, UpperBounds, Vector, admits, within
from ithaca.studies.strict import largest_below

#: A design that does not hold the best is searched to this much above it: what is found there, or
#: proven empty, saves later solves.
LOOKAHEAD = Fraction(1, 4)


class UnfinishedError(Exception):
    """The search ended before a proof."""


@dataclass(frozen=True, slots=True)
class Found:
    """A configuration met on the way.

    Attributes
    ----------
    design : int
        Number of its problem.
    tiling : Tiling
        The configuration.
    vector : tuple of Fraction
        Its objectives.
    """

    design: int
    tiling: Tiling
    vector: Vector


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One proven minimum.

    Attributes
    ----------
    objective : int
        Number of the objective minimised.
    region : tuple of Bound or None
        The bounds it was minimised under, one per objective.
    value : Fraction or None
        The minimum over all designs; None if no configuration of any design is in the region.
    solved : int
        Designs solved for it.
    known : int
        Designs about which earlier steps had already proven enough.
    nodes : int
        Boxes examined.
    seconds : float
        Wall time.
    """

    objective: int
    region: Region
    value: Fraction | None
    solved: int
    known: int
    nodes: int
    seconds: float


class Prover:
    """Answers "what is the least f_k within these bounds?" over several designs.

    It keeps every configuration met, and for every design the boxes of objective space proven
    empty. A design is solved again only if they do not settle the question.

    Parameters
    ----------
    problems : sequence of Problem
        One per design; their own limits hold throughout.
    objectives : sequence of Objective
        The objectives.
    options : SolveOptions
        The time limit is for all questions together.
    report : callable, optional
        Receives the name of a design and the progress of its search.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        objectives: Sequence[Objective],
        options: SolveOptions,
        report: Callable[[str, Progress], None] | None = None,
    ) -> None:
        self._problems = problems
        self._objectives = objectives
        self._options = options
        self._report = report
        self._began = time.perf_counter()
        self._below = [[largest_below(p, o) for o in objectives] for p in problems]
        self._empty: list[list[UpperBounds]] = [[] for _ in problems]
        self._pool: dict[Vector, Found] = {}
        self._order = list(range(len(problems)))
        self.nodes = 0

    def minimise(self, objective: int, region: Region) -> tuple[ProofStep, Found | None]:
        """The least value of an objective within a region.

        Raises
        ------
        UnfinishedError
            If time is up, or the search was told to stop, before it is proven.
        """
        began, before = time.perf_counter(), self.nodes
        inside = [found for vector, found in self._pool.items() if admits(region, vector)]
        best = min(inside, key=lambda found: found.vector[objective], default=None)
        solved: set[int] = set()
        for design in tuple(self._order):
            while not self._settled(design, objective, region, best):
                solved.add(design)
                found = self._solve(design, objective, region, best)
                if found is not None and (best is None or found.vector[objective] < best.vector[objective]):
                    best = found
                    self._order.remove(design)
                    self._order.insert(0, design)
        value = None if best is None else best.vector[objective]
        known = len(self._problems) - len(solved)
        seconds = time.perf_counter() - began
        return ProofStep(objective, region, value, len(solved), known, self.nodes - before, seconds), best

    def empty(self, region: Region) -> bool:
        """Whether a region is already known to hold no configuration of any design."""
        return all(self._covered(design, self._closed(design, region)) for design in range(len(self._problems)))

    def _settled(self, design: int, objective: int, region: Region, best: Found | None) -> bool:
        """Whether a design is known to hold nothing better than the best within a region."""
        upper = self._closed(design, region)
        if best is not None:
            upper = self._capped(upper, objective, self._below[design][objective](best.vector[objective]))
        return self._covered(design, upper)

    def _covered(self, design: int, upper: UpperBounds) -> bool:
        return any(within(upper, empty) for empty in self._empty[design])

    def _closed(self, design: int, region: Region) -> UpperBounds:
        """A region with strict bounds turned into the bounds just below them."""
        return tuple(
            None if bound is None else below(bound.value) if bound.strict else bound.value
            for bound, below in zip(region, self._below[design], strict=True)
        )

    @staticmethod
    def _capped(upper: UpperBounds, objective: int, cap: Fraction) -> UpperBounds:
        known = upper[objective]
        return (*upper[:objective], cap if known is None else min(cap, known), *upper[objective + 1 :])

    def _solve(self, design: int, objective: int, region: Region, best: Found | None) -> Found | None:
        """Minimise over one design, and remember what that proves."""
        problem, upper = self._problems[design], self._closed(design, region)
        searched = upper
        if best is not None:
            value = best.vector[objective]
            ceiling = value + LOOKAHEAD * abs(value)
            searched = self._capped(upper, objective, ceiling)
        limits = tuple(
            Limit(f"({o.text})", bound) for o, bound in zip(self._objectives, searched, strict=True) if bound is not None
        )
        asked = replace(problem, limits=(*problem.limits, *limits), objective=self._objectives[objective])
        solution = solve_exact(asked, self._share(), None if self._report is None else lambda p: self._tell(design, p))
        self.nodes += solution.certificate.nodes
        if solution.certificate.status is Status.INFEASIBLE:
            self._empty[design].append(searched)
            return None
        if solution.certificate.status is not Status.OPTIMAL or solution.tiling is None or solution.value is None:
            raise UnfinishedError
        costs = asked.costs(solution.tiling)
        vector = tuple(o.value(costs) for o in self._objectives)
        self._empty[design].append(self._capped(upper, objective, self._below[design][objective](solution.value)))
        return self._pool.setdefault(vector, Found(design, solution.tiling, vector))

    def _share(self) -> SolveOptions:
        limit, stop = self._options.time_limit, self._options.stop
        left = None if limit is None else limit - (time.perf_counter() - self._began)
        if (left is not None and left <= 0) or (stop is not None and stop()):
            raise UnfinishedError
        return replace(self._options, time_limit=left, gap=0.0)

    def _tell(self, design: int, progress: Progress) -> None:
        assert self._report is not None
        self._report(self._problems[design].array.name, progress)
