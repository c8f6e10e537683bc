"""Explain a result: the facts about its best configuration, and what to change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Remarks
from ithaca.formulations.problem import Problem
from ithaca.formulations.shown_numbers import is_or_are
from ithaca.results.certificate import Certificate, Status
from ithaca.results.result import Result
from ithaca.results.solution import Solution
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.best import over_all
from ithaca.studies.explanation.changes import (
    Change,
    dropped_limits,
    first_change,
    other_designs,
    raised_limits,
    search_further,
)
from ithaca.studies.explanation.slack import LimitUse, limit_uses
from ithaca.studies.marginal import Solve
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is explained, and how."""

    solution: Solution | None  #: The configuration that is explained; None where there is none
    #: What the result says is proven of all designs considered; None where there is no configuration.
    certificate: Certificate | None
    limits: tuple[LimitUse, ...]  #: What is left of the limits, the least first
    remarks: Remarks  #: What its family says of the configuration
    next_best: tuple[str, Fraction] | None  #: The next design of the result, and its objective
    failure: str | None  #: Why there is no configuration, in one line
    changes: tuple[Change, ...] | None  #: What was tried; None where nothing was to be tried

    @property
    def first(self) -> Change | None:
        """What to change first; None where nothing is proven to help."""
        return first_change(self.changes or ())


def chosen_solutions(result: Result, design: str | None) -> tuple[Solution, ...]:
    """The solutions to explain, the best first: those of all designs, or of the one asked for.

    Parameters
    ----------
    result : Result
        The result.
    design : str or None
        The design, as its family names it.

    Raises
    ------
    InputError
        If the result has no such design, or none at all.
    """
    if design is None:
        return result.solutions
    same = [s for s in result.solutions if s.problem.design.answers_to(design)]
    if not same:
        held = "; ".join(dict.fromkeys(s.design for s in result.solutions))
        raise InputError(f"--design is {quoted(design)}; allowed: one of the result's, {held}")
    return tuple(same[:1])


def explain(result: Result, solutions: Sequence[Solution], solve: Solve | None) -> Explanation:
    """Explain the best of some solutions of a result.

    Parameters
    ----------
    result : Result
        The result.
    solutions : sequence of Solution
        What to explain (see `chosen_solutions`): the best of them, against the others.
    solve : callable or None
        Solves problems from starts, to find what to change first; None leaves that out.
    """
    problems = [s.problem for s in solutions]
    found = [(s.value, s) for s in solutions if s.value is not None]
    if not found:
        return Explanation(None, None, (), Remarks(), None, _failure(solutions), None)
    value, best = min(found, key=lambda entry: entry[0])
    problem, configuration = best.problem, best.configuration
    assert configuration is not None
    recorded = answer = over_all(problem, solutions)
    others = [(s.design, s.value) for s in result.solutions if s.value is not None and s.design != best.design]
    changes: tuple[Change, ...] | None = None
    if solve is not None:
        changes = other_designs(value, others)
        if not answer.settled:
            answer = solve(problems, [s.configuration for s in solutions])
            further = search_further(value, answer)
            changes += () if further is None else (further,)
        changes += raised_limits(problems, answer, solve)
        if _limits_seem_idle(problem, configuration, changes):
            changes += dropped_limits(problems, answer, solve)
    nearest = min(others, key=lambda other: other[1], default=None)
    limits, remarks = limit_uses(problem, configuration), problem.design.remarks(configuration, problem.limits)
    return Explanation(best, recorded.certificate, limits, remarks, nearest, None, changes)


def _limits_seem_idle(problem: Problem, configuration: Configuration, changes: Sequence[Change]) -> bool:
    """Whether to ask if limits matter at all: nothing helps, and more than half of every limit is left.

    With less left, a limit may well bind, and a problem without it may take much longer to solve.
    """
    uses = limit_uses(problem, configuration)
    idle = all(change.proven and change.after == change.before for change in changes)
    return idle and bool(changes) and all(2 * use.used < use.bound for use in uses)


def _failure(solutions: Sequence[Solution]) -> str:
    infeasible = [s for s in solutions if s.certificate.status is Status.INFEASIBLE]
    if len(infeasible) < len(solutions):
        count = f"{len(infeasible)} of {len(solutions)} designs {is_or_are(len(infeasible))}"
        known = f"{count} proven infeasible, and the others are open" if infeasible else "no design is proven infeasible"
        return f"nothing was found before the search ended; {known}"
    shortfalls = [shortfall for s in solutions for shortfall in s.shortfalls]
    return f"infeasible: {why_infeasible([s.problem for s in solutions], shortfalls)}"
