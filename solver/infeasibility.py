"""Say why a problem is infeasible: which limit cannot be met, and what would do."""

from __future__ import annotations

from dataclasses import replace

from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Shortfall


def shortfalls(problem: Problem, options: SolveOptions) -> tuple[Shortfall, ...]:
    """The limits of an infeasible problem that cannot be met.

    First every limit by itself: its metric is minimised without any limit. If each can be met
    by itself, the limits contradict each other: then each metric is minimised under the others.

    Parameters
    ----------
    problem : Problem
        A problem proven infeasible.
    options : SolveOptions
        Limits of each minimisation.

    Returns
    -------
    tuple of Shortfall
        Empty if the design space is empty even without limits.
    """
    alone = [_smallest(problem, limit, (), options) for limit in problem.limits]
    at_fault = tuple(s for s in alone if s is not None and s.smallest > s.bound)
    if at_fault:
        return at_fault
    found = (
        _smallest(problem, limit, tuple(other for other in problem.limits if other is not limit), options)
        for limit in problem.limits
    )
    return tuple(s for s in found if s is not None)


def _smallest(problem: Problem, limit: Limit, others: tuple[Limit, ...], options: SolveOptions) -> Shortfall | None:
    """The least value of a limit's metric under other limits; None where nothing is feasible."""
    objective = Objective(limit.metric, limit.expression)
    solution = solve_exact(replace(problem, limits=others, objective=objective), options)
    proven = solution.certificate.status is Status.OPTIMAL
    smallest = solution.certificate.lower_bound
    return None if smallest is None else Shortfall(limit.metric, limit.bound, smallest, bool(others), proven)
