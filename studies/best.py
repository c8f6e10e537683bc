"""The best configuration over several designs, proven once for all of them.

`solve_designs` proves every design's own optimum. A study needs only the best of all, so here a
design must merely be shown not to beat the best known: it is solved under the extra limit
"better than that", which usually is infeasible at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.results.certificate import Certificate, Status, relative_gap
from ithaca.results.result import Unrestricted
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
        answer = _one_by_one(asked, budget, method, given, report)
    return answer if instead.constant is None else _original(answer, instead, problems)


def _original(answer: Solution, instead: EquivalentObjective, problems: Sequence[Problem]) -> Solution:
    """An answer in the objective asked for."""
    known = answer.certificate
    bound = None if known.lower_bound is None else instead.original(known.lower_bound)
    value = None if answer.value is None else instead.original(answer.value)
    certificate = replace(known, lower_bound=bound, gap=relative_gap(value, bound))
    problem = next(p for p in problems if p.design == answer.problem.design)
    return make_solution(problem, answer.configuration, certificate, answer.shortfalls)


def over_all(problem: Problem, solutions: Sequence[Solution], missing: int = 0, budget: Budget | None = None) -> Solution:
    """The answer over several designs that their own solutions add up to (see `conclude_least`)."""
    certificate = conclude_least([(s.value, s.certificate) for s in solutions], missing, budget)
    infeasible = certificate.status is Status.INFEASIBLE
    falls = tuple(fall for s in solutions for fall in s.shortfalls) if infeasible else ()
    best = best_solution(solutions) or Solution(problem, None, None, certificate)
    return replace(best, certificate=certificate, shortfalls=falls)


def conclude_least(
    parts: Sequence[tuple[Fraction | None, Certificate]], missing: int = 0, budget: Budget | None = None
) -> Certificate:
    """What is proven of the least of several values, each with what is proven of it.

    Whatever may be below it is at or above the lower bound of a part that is not infeasible. Of ``missing`` further parts
    nothing is known. The budget says what the search was told, and the time it took; without it that is the time of its
    parts.
    """
    certificates = [certificate for _, certificate in parts]
    infeasible = not missing and all(c.status is Status.INFEASIBLE for c in certificates)
    value = min((value for value, _ in parts if value is not None), default=None)
    bounds = [c.lower_bound for c in certificates if c.status is not Status.INFEASIBLE] + [None] * missing
    known = [b for b in (*bounds, value) if b is not None]
    return conclude(
        value,
        min(known) if known and None not in bounds else None,
        None if budget is None else budget.options,
        complete=infeasible,
        method="+".join(dict.fromkeys(part for c in certificates for part in c.method.split("+"))) or "none",
        nodes=sum(c.nodes for c in certificates),
        seconds=sum(c.seconds for c in certificates) if budget is None else budget.spent,
    )


def without_restriction(restricted: Fraction, found: Fraction | None, certificate: Certificate) -> Unrestricted:
    """The answer without a restriction, from the values with it and without: what the former allows the latter does, too."""
    if found is not None and found <= restricted:
        return Unrestricted(found, certificate)
    nodes, seconds = certificate.nodes, certificate.seconds
    proof = conclude(restricted, certificate.lower_bound, method=certificate.method, nodes=nodes, seconds=seconds)
    return Unrestricted(restricted, proof)


def all_shortfalls(problems: Sequence[Problem], budget: Budget) -> tuple[Shortfall, ...]:
    """Why no design is feasible, as far as the time that is left tells."""
    return tuple(
        shortfall
        for position, problem in enumerate(problems)
        for shortfall in shortfalls(problem, replace(budget.share(len(problems) - position), gap=0.0))
    )


def _one_by_one(
    problems: Sequence[Problem],
    budget: Budget,
    method: Method,
    starts: Sequence[Configuration | None],
    report: Report | None,
) -> Solution:
    """Designs one after the other, each only as far as it may beat the best known."""
    solutions: dict[int, Solution] = {}

    def search(index: int, left: int, *cut: Limit) -> Solution:
        problem = problems[index]

        def tell(progress: Progress) -> None:
            if report is not None:
                report(problem.design.name, progress)

        asked = replace(problem, limits=(*problem.limits, *cut))
        return engine(method)(asked, budget.share(left), tell, starts[index])

    order = _order(problems, starts)
    for position, index in enumerate(order):
        problem, left = problems[index], len(order) - position
        best = min(((s.value, number) for number, s in solutions.items() if s.value is not None), default=None)
        if best is None:
            solutions[index] = search(index, left)
            continue
        value, holder = best
        # what is not below may beat the best within the gap only; an equal one of an earlier design would be preferred
        target = value - Fraction(budget.options.gap) * abs(value)
        try:
            found = search(index, left, _cut(problem, target, strict=index > holder or target < value))
        except InputError:  # the engine cannot express the cut: do without
            solutions[index] = search(index, left)
            continue
        certificate = found.certificate
        if certificate.status is Status.INFEASIBLE:
            certificate = replace(certificate, status=Status.UNKNOWN, lower_bound=target)
        elif certificate.lower_bound is not None:
            certificate = replace(certificate, lower_bound=min(certificate.lower_bound, target))
        solutions[index] = replace(found, problem=problem, certificate=certificate)
    answer = over_all(problems[0], [solutions[index] for index in sorted(solutions)], budget=budget)
    infeasible = answer.certificate.status is Status.INFEASIBLE
    return replace(answer, shortfalls=all_shortfalls(problems, budget)) if infeasible else answer


def _order(problems: Sequence[Problem], starts: Sequence[Configuration | None]) -> list[int]:
    """Designs with a good start first: the better the first, the less work are the others."""
    pairs = zip(problems, starts, strict=True)
    values = [None if start is None else problem.feasible_value(start) for problem, start in pairs]
    return sorted(range(len(problems)), key=lambda i: (values[i] is None, values[i] or 0))


def _cut(problem: Problem, target: Fraction, *, strict: bool) -> Limit:
    """What a configuration must meet to be of interest."""
    try:
        return find_scale(problem, problem.objective).limit(Bound(target, strict))
    except InputError:
        return Limit(f"({problem.objective.text})", target)
