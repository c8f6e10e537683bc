"""Say why a problem is infeasible: which limit cannot be met, and what would do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.algebra.expression import quotient
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.unreachable import least_quotient
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.reasons import CONTRADICTION, contradiction, explain
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.solver.staged.engine import solve_staged

#: Why nothing is feasible although there are no limits.
EMPTY_SPACE = "the design space itself is empty"

#: How long to look for a configuration without limits before limits are blamed (seconds, per
#: design).
EMPTY_WITHIN = 5.0

#: Boxes in which the smallest value that could be met is looked for where no time limit is stated
#: (per design): of mappings, whose limit is refuted without a search, and of arrays.
BOXES = {True: 50_000, False: 500_000}

#: Boxes in which any configuration under the other limits is looked for.
FEW = 100_000


def shortfalls(problem: Problem, options: SolveOptions) -> tuple[Shortfall, ...]:
    """The limits of a problem proven infeasible, and what each would have to be.

    Each metric is minimised under the other limits: raising that limit alone to the minimum makes
    the problem feasible. If no single limit can help, each metric is minimised without any limit,
    and those that even then exceed their limit are reported: none if the design space is empty, or
    several limits must be raised together. The options limit all minimisations together; limits of
    which that leaves open whether they help are named without a value.
    """
    limits, options = problem.open_limits, replace(options, any_tie=True)
    if options.time_limit is not None:
        options = replace(options, time_limit=options.time_limit / max(2 * len(limits), 1))
    minima = [
        _smallest(problem, limit, tuple(o for o in limits if o is not limit), options)
        for limit in limits
    ]
    faults = tuple(s for s in minima if s is not None)
    if any(s.smallest is not None for s in faults):
        return faults
    alone = (_smallest(problem, limit, (), options) for limit in limits) if len(limits) > 1 else ()
    return (*faults, *(s for s in alone if s is not None and s.smallest is not None))


def _smallest(
    problem: Problem, limit: Limit, others: tuple[Limit, ...], options: SolveOptions
) -> Shortfall | None:
    """The least value of a limit's metric under other limits; None where no value of it helps."""
    target = _target(problem, limit, others)
    if target.hopeless:
        return None
    staged, floor = target.stage is not None, _floor(target)
    kept, name = bool(others) or len(problem.open_limits) == 1, problem.design.name
    if options.time_limit is None:
        refuted = floor is not None and floor > limit.bound
        if refuted or not staged:
            options = replace(options, boxes=BOXES[staged])
        # of refuted quotients no bounds are made: any configuration shows that raising them helps
        if refuted and not staged and _has_quotients(target):
            if not others:
                return Shortfall(limit.metric, limit.bound, floor, kept, False, name)
            if any(_refuted(problem, other) for other in others):
                return None
            some = _solve(replace(problem, limits=others), replace(options, gap=1.0, boxes=FEW))
            if some.certificate.status is Status.INFEASIBLE:
                return None
            least = None if some.value is None else floor
            return Shortfall(limit.metric, limit.bound, least, kept, False, name)
    solution = _solve(target, options)
    proven, smallest = (
        solution.certificate.status is Status.OPTIMAL,
        solution.certificate.lower_bound,
    )
    if floor is not None and not proven and (smallest is None or smallest < floor):
        smallest = floor
    met = smallest is not None and smallest <= limit.bound
    if solution.certificate.status is Status.INFEASIBLE or (proven and met):
        return None
    if met or (solution.value is None and others):
        smallest = None
    return Shortfall(limit.metric, limit.bound, smallest, kept, proven, name)


def _target(problem: Problem, limit: Limit, others: tuple[Limit, ...]) -> Problem:
    """The problem of the least value of a limit's metric under other limits."""
    objective = Objective(limit.metric, limit.expression)
    return replace(problem, limits=others, objective=objective)


def _floor(target: Problem) -> Fraction | None:
    """The best lower bound of an objective that is known without a search."""
    floors = [target.floor]
    if target.stage is None:
        floors.append(least_quotient(target.symbolic().objective, target.design))
    return max((each for each in floors if each is not None), default=None)


def _refuted(problem: Problem, limit: Limit) -> bool:
    """Whether no configuration meets a limit, whatever the others are, as is known without a
    search."""
    floor = _floor(_target(problem, limit, ()))
    return floor is not None and floor > limit.bound


def _has_quotients(target: Problem) -> bool:
    symbolic = target.symbolic()
    return any(map(quotient, (symbolic.objective, *(used for used, _ in symbolic.limits))))


def why_infeasible(problems: Sequence[Problem], faults: Sequence[Shortfall]) -> str:
    """The reason why no design is feasible, in one line, given limits that they cannot meet."""
    reasons = (
        explain(faults, len(problems), problems[0].design.vocabulary) if faults else [CONTRADICTION]
    )
    if reasons != [CONTRADICTION]:
        return "; ".join(reasons)
    return emptiness(problems) or contradiction(_at_fault(problems))


def emptiness(problems: Sequence[Problem]) -> str:
    """The reason, in one line, why no design has a configuration whatever limits are; empty where
    one may have some."""
    if not all(_is_empty(problem) for problem in problems):
        return ""
    relax = profile_of(problems[0].design).relaxable
    return f"{EMPTY_SPACE}: relax {relax}" if relax else EMPTY_SPACE


def _at_fault(problems: Sequence[Problem]) -> list[str]:
    """The metrics of limits that no design meets together, none of which can be left out."""
    names = list(dict.fromkeys(x.metric for problem in problems for x in problem.open_limits))
    for name in list(names):
        fewer = [each for each in names if each != name]
        if all(_is_empty(problem, fewer) for problem in problems):
            names = fewer
    return names


def _solve(problem: Problem, options: SolveOptions) -> Solution:
    """Solve by the engine that proves such designs: in stages where they offer one."""
    staged = problem.stage is not None
    return (solve_staged if staged else solve_exact)(problem, options)


def _is_empty(problem: Problem, names: Collection[str] = ()) -> bool:
    """Whether an infeasible problem is proven to be so with the limits on some metrics alone."""
    limits = tuple(limit for limit in problem.limits if limit.metric in names)
    if limits == problem.limits:
        return True
    # any configuration will do, so the search may end with the first; an empty space is mostly seen
    # at once
    options = SolveOptions(time_limit=EMPTY_WITHIN, gap=1.0, any_tie=True)
    return _solve(replace(problem, limits=limits), options).certificate.status is Status.INFEASIBLE
