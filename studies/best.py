"""The best configuration over several designs, proven once for all of them.

`solve_designs` proves every design's own optimum. A study needs only the best of all, so here a
design must merely be shown not to beat the best known: it is solved under the extra limit
"better than that", which usually is infeasible at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.results.certificate import Status, relative_gap
from ithaca.results.shortfall import Shortfall
from ithaca.results.solution import Solution, best_solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.executor import Executor
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.progress import Progress
from ithaca.studies.region import Bound
from ithaca.studies.scale import EquivalentObjective, equivalent_objective, find_scale
from ithaca.workloads.errors import InputError

Report = Callable[[str, Progress], None]


def solve_best(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: Method = Method.EXACT,
    executor: Executor | None = None,
    starts: Sequence[Configuration | None] | None = None,
    report: Report | None = None,
) -> Solution:
    """Find the best configuration of all designs, with a proof over all of them.

    Parameters
    ----------
    problems : sequence of Problem
        One per design, alike in everything else.
    options : SolveOptions, optional
        The time limit is for all designs: each gets an equal share of what is left.
    method : Method
        The engine.
    executor : Executor, optional
        Solves several designs at a time, each to its own proof.
    starts : sequence of Configuration or None, optional
        A configuration per design to start from, of its design space.
    report : callable, optional
        Receives the name of a design and the progress of its search.

    Returns
    -------
    Solution
        Among configurations of equal value that of the first design.
    """
    options = options or SolveOptions()
    given = list(starts) if starts is not None else [None] * len(problems)
    instead = equivalent_objective(problems, problems[0].objective)
    budget = Budget(replace(options, gap=instead.gap(options.gap)))
    asked = [replace(problem, objective=instead.objective) for problem in problems]
    if executor is not None and executor.width > 1 and len(problems) > 1:

        def tell(index: int, progress: Progress) -> None:
            if report is not None:
                report(problems[index].design.name, progress)

        options = budget.options
        solutions = solve_designs(asked, options, method=method, starts=given, report=tell, executor=executor)
        answer = over_all(asked[0], solutions, budget=budget)
    else:
        answer = _Sequence(asked, budget, method, given, report).run()
    return answer if instead.constant is None else _original(answer, instead, problems)


def _original(answer: Solution, instead: EquivalentObjective, problems: Sequence[Problem]) -> Solution:
    """An answer in the objective asked for."""
    known = answer.certificate
    bound = None if known.lower_bound is None else instead.original(known.lower_bound)
    value = None if answer.value is None else instead.original(answer.value)
    certificate = replace(known, lower_bound=bound, gap=relative_gap(value, bound))
    problem = next(p for p in problems if p.design == answer.problem.design)
    return make_solution(problem, answer.configuration, certificate, answer.shortfalls)


def make_answer(
    problem: Problem, solution: Solution | None, bounds: Sequence[Fraction | None], *, infeasible: bool, **ended: Any
) -> Solution:
    """An answer over several designs from the best solution, if any, and how the search ``ended`` (for `conclude`).

    Every configuration that may beat the solution is at or above one of the bounds, None where nothing is known;
    ``infeasible`` says that every design was proven so. The problem is for an answer without configuration.
    """
    value = None if solution is None else solution.value
    known = [b for b in bounds if b is not None]
    lower = None
    if not infeasible and len(known) == len(bounds):
        lower = min(known) if value is None else min(value, *known) if known else value
    certificate = conclude(value, lower, complete=infeasible, **ended)
    return replace(solution or Solution(problem, None, None, certificate), certificate=certificate)


def over_all(problem: Problem, solutions: Sequence[Solution], missing: int = 0, budget: Budget | None = None) -> Solution:
    """The answer over several designs that their own solutions add up to.

    Of ``missing`` further designs nothing is known. The budget says what the search was told, and the time it took;
    without it that is the time of its parts.
    """
    certificates = [s.certificate for s in solutions]
    infeasible = not missing and all(c.status is Status.INFEASIBLE for c in certificates)
    bounds = [c.lower_bound for c in certificates if c.status is not Status.INFEASIBLE] + [None] * missing
    answer = make_answer(
        problem,
        best_solution(solutions),
        bounds,
        infeasible=infeasible,
        options=None if budget is None else budget.options,
        method="+".join(dict.fromkeys(part for c in certificates for part in c.method.split("+"))) or "none",
        nodes=sum(c.nodes for c in certificates),
        seconds=sum(c.seconds for c in certificates) if budget is None else budget.spent,
    )
    return replace(answer, shortfalls=tuple(fall for s in solutions for fall in s.shortfalls) if infeasible else ())


def all_shortfalls(problems: Sequence[Problem], budget: Budget) -> tuple[Shortfall, ...]:
    """Why no design is feasible, as far as the time that is left tells."""
    return tuple(
        shortfall
        for position, problem in enumerate(problems)
        for shortfall in shortfalls(problem, replace(budget.share(len(problems) - position), gap=0.0))
    )


class _Sequence:
    """Designs one after the other, each only as far as it may beat the best known."""

    def __init__(
        self,
        problems: Sequence[Problem],
        budget: Budget,
        method: Method,
        starts: Sequence[Configuration | None],
        report: Report | None,
    ) -> None:
        self.problems = problems
        self.budget = budget
        self.engine = engine(method)
        self.starts = starts
        self.report = report
        self.best: Solution | None = None
        self.holder = -1
        self.bounds: list[Fraction | None] = []
        self.nodes = 0
        self.methods: dict[str, None] = {}
        self.infeasible = True

    def run(self) -> Solution:
        order = self._order()
        for position, index in enumerate(order):
            self._solve(index, len(order) - position)
        found = all_shortfalls(self.problems, self.budget) if self.infeasible else ()
        method = "+".join(self.methods) or "none"
        answer = make_answer(
            self.problems[0],
            self.best,
            self.bounds,
            infeasible=self.infeasible,
            options=self.budget.options,
            method=method,
            nodes=self.nodes,
            seconds=self.budget.spent,
        )
        return replace(answer, shortfalls=found)

    def _order(self) -> list[int]:
        """Designs with a good start first: the better the first, the less work are the others."""
        values: dict[int, Fraction] = {}
        for index, (problem, start) in enumerate(zip(self.problems, self.starts, strict=True)):
            value = None if start is None else problem.feasible_value(start)
            if value is not None:
                values[index] = value
        return sorted(range(len(self.problems)), key=lambda i: (i not in values, values.get(i, 0), i))

    def _solve(self, index: int, left: int) -> None:
        problem = self.problems[index]
        cut, rest = self._cut(index)
        try:
            solution = self._search(index, left, cut)
        except InputError:
            if cut is None:
                raise
            # the engine cannot express the cut: do without
            rest = None
            solution = self._search(index, left, None)
        certificate = solution.certificate
        self.nodes += certificate.nodes
        self.methods |= dict.fromkeys(certificate.method.split("+"))
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

    def _search(self, index: int, left: int, cut: Limit | None) -> Solution:
        problem = self.problems[index]

        def tell(progress: Progress) -> None:
            if self.report is not None:
                self.report(problem.design.name, progress)

        asked = problem if cut is None else replace(problem, limits=(*problem.limits, cut))
        return self.engine(asked, self.budget.share(left), tell, self.starts[index])

    def _cut(self, index: int) -> tuple[Limit | None, Fraction | None]:
        """What a configuration of a design must meet to be of interest, and the least that all others can be."""
        if self.best is None or self.best.value is None:
            return None, None
        value, problem = self.best.value, self.problems[index]
        target = value - Fraction(self.budget.options.gap) * abs(value)
        # an equal one of an earlier design would be preferred
        strict = index > self.holder or target < value
        try:
            return find_scale(problem, problem.objective).limit(Bound(target, strict)), target
        except InputError:
            return Limit(f"({problem.objective.text})", target), target
