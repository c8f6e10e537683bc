"""The best configuration over several designs, proven once for all of them.

`solve_designs` proves every design's own optimum. A study needs only the best of all, so here a
design must merely be shown not to beat the best known: it is solved under the extra limit
"better than that", which usually is infeasible at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.membership import feasible_value
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import best_solution, solve_designs
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Shortfall, Solution
from ithaca.studies.answer import Answer
from ithaca.studies.strict import largest_below
from ithaca.workloads.errors import InputError

Report = Callable[[str, Progress], None]


def solve_best(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    threads: int = 1,
    starts: Sequence[Tiling | None] | None = None,
    report: Report | None = None,
) -> Answer:
    """Find the best configuration of all designs, with a proof over all of them.

    Parameters
    ----------
    problems : sequence of Problem
        One per design, alike in everything else.
    options : SolveOptions, optional
        The time limit is for all designs: each gets an equal share of what is left.
    threads : int
        How many designs to solve at a time (beyond 1 each to its own proof, in a process of its own).
    starts : sequence of Tiling or None, optional
        A configuration per design to start from, of its design space.
    report : callable, optional
        Receives the name of a design and the progress of its search.

    Returns
    -------
    Answer
        Among configurations of equal value that of the first design.
    """
    options = options or SolveOptions()
    given = list(starts) if starts is not None else [None] * len(problems)
    began = time.perf_counter()
    if threads > 1 and len(problems) > 1:

        def tell(index: int, progress: Progress) -> None:
            if report is not None:
                report(problems[index].array.name, progress)

        solutions = solve_designs(problems, options, threads=threads, starts=given, report=tell)
        return _over_all(solutions, time.perf_counter() - began)
    return _Sequence(problems, options, given, report).run()


def with_limit(problem: Problem, text: str, bound: Fraction) -> Problem:
    """A problem with one more limit, on an expression over metrics."""
    # in parentheses it is an expression, whose bound may be negative
    return replace(problem, limits=(*problem.limits, Limit(f"({text})", bound)))


def make_answer(
    solution: Solution | None, bounds: Sequence[Fraction | None], infeasible: bool, method: str, nodes: int, seconds: float
) -> Answer:
    """An answer from the best solution and lower bounds that together cover all other configurations.

    Parameters
    ----------
    solution : Solution or None
        The best configuration found.
    bounds : sequence of Fraction or None
        Every configuration that may beat it is at or above one of them; None where nothing is known.
    infeasible : bool
        Whether every design was proven infeasible.
    method, nodes, seconds : str, int, float
        For the certificate.
    """
    value = None if solution is None else solution.value
    known = [b for b in bounds if b is not None]
    lower = None
    if not infeasible and len(known) == len(bounds):
        lower = min(known) if value is None else min(value, *known) if known else value
    if value is None:
        status = Status.INFEASIBLE if infeasible else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if lower == value else Status.FEASIBLE
    certificate = Certificate(status, lower, relative_gap(value, lower), method, nodes, seconds)
    return Answer(None if solution is None else replace(solution, certificate=certificate), certificate)


def _over_all(solutions: Sequence[Solution], seconds: float) -> Answer:
    """The answer from every design's own solution."""
    certificates = [s.certificate for s in solutions]
    infeasible = all(c.status is Status.INFEASIBLE for c in certificates)
    bounds = [c.lower_bound for c in certificates if c.status is not Status.INFEASIBLE]
    nodes = sum(c.nodes for c in certificates)
    answer = make_answer(best_solution(solutions), bounds, infeasible, certificates[0].method, nodes, seconds)
    found = tuple((s.problem.array.name, shortfall) for s in solutions for shortfall in s.shortfalls)
    return replace(answer, shortfalls=found if infeasible else ())


class _Sequence:
    """Designs one after the other, each only as far as it may beat the best known."""

    def __init__(
        self, problems: Sequence[Problem], options: SolveOptions, starts: Sequence[Tiling | None], report: Report | None
    ) -> None:
        self.problems = problems
        self.options = options
        self.starts = starts
        self.report = report
        self.began = time.perf_counter()
        self.best: Solution | None = None
        self.holder = -1
        self.bounds: list[Fraction | None] = []
        self.nodes = 0
        self.method = "none"
        self.infeasible = True

    def run(self) -> Answer:
        order = self._order()
        for position, index in enumerate(order):
            self._solve(index, len(order) - position)
        seconds = time.perf_counter() - self.began
        answer = make_answer(self.best, self.bounds, self.infeasible, self.method, self.nodes, seconds)
        return replace(answer, shortfalls=self._shortfalls()) if self.infeasible else answer

    def _order(self) -> list[int]:
        """Designs with a good start first: the better the first, the less work are the others."""
        values: dict[int, Fraction] = {}
        for index, (problem, start) in enumerate(zip(self.problems, self.starts, strict=True)):
            value = None if start is None else feasible_value(problem, start)
            if value is not None:
                values[index] = value
        return sorted(range(len(self.problems)), key=lambda i: (i not in values, values.get(i, 0), i))

    def _solve(self, index: int, left: int) -> None:
        problem = self.problems[index]
        cut, rest = self._cut(index)
        solution = solve_exact(
            problem if cut is None else with_limit(problem, problem.objective.text, cut),
            self._share(left),
            None if self.report is None else lambda progress: self._tell(problem, progress),
            self.starts[index],
        )
        certificate = solution.certificate
        self.nodes += certificate.nodes
        self.method = certificate.method
        if certificate.status is Status.INFEASIBLE:
            if rest is not None:
                self.bounds.append(rest)  # what the cut excludes may beat the best, within the gap
            return
        self.infeasible = False
        bound = certificate.lower_bound
        if bound is not None and rest is not None:
            bound = min(bound, rest)
        self.bounds.append(bound)
        if solution.value is not None and (self.best is None or (solution.value, index) < (self.best.value, self.holder)):
            self.best, self.holder = replace(solution, problem=problem), index

    def _cut(self, index: int) -> tuple[Fraction | None, Fraction | None]:
        """What a configuration of a design must not exceed to be of interest, and the least that all others can be."""
        if self.best is None or self.best.value is None:
            return None, None
        value, problem = self.best.value, self.problems[index]
        target = value - Fraction(self.options.gap) * abs(value)
        if index < self.holder and target == value:
            return value, value  # an equal one of an earlier design would be preferred
        try:
            return largest_below(problem, problem.objective)(target), target
        except InputError:
            return target, target

    def _share(self, left: int) -> SolveOptions:
        if self.options.time_limit is None:
            return self.options
        remaining = max(self.options.time_limit - (time.perf_counter() - self.began), 0.0)
        return replace(self.options, time_limit=remaining / left)

    def _tell(self, problem: Problem, progress: Progress) -> None:
        if self.report is not None:
            self.report(problem.array.name, progress)

    def _shortfalls(self) -> tuple[tuple[str, Shortfall], ...]:
        plain = replace(self.options, gap=0.0)
        return tuple((p.array.name, s) for p in self.problems for s in shortfalls(p, plain))
