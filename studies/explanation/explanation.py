"""Explain a result: the facts about its best configuration, and what to change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.shown_numbers import is_or_are
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution
from ithaca.solver.solution import make_solution
from ithaca.studies.answer import Answer, why_infeasible
from ithaca.studies.best import make_answer
from ithaca.studies.explanation.changes import (
    Change,
    dropped_limits,
    first_change,
    other_designs,
    raised_limits,
    search_further,
)
from ithaca.studies.explanation.facts import Facts, facts
from ithaca.studies.explanation.slack import limit_uses
from ithaca.studies.marginal import Solve
from ithaca.workloads.errors import InputError


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is explained, and how.

    Attributes
    ----------
    array : SystolicArray or None
        The design; None where there is no configuration.
    certificate : Certificate or None
        What the result says is proven of all designs considered; None where there is no configuration.
    facts : Facts or None
        About its configuration; None where there is none.
    next_best : tuple of (str, Fraction) or None
        The next design of the result, and its objective.
    failure : str or None
        Why there is no configuration, in one line.
    changes : tuple of Change or None
        What was tried; None where nothing was to be tried.
    """

    array: SystolicArray | None
    certificate: Certificate | None
    facts: Facts | None
    next_best: tuple[str, Fraction] | None
    failure: str | None
    changes: tuple[Change, ...] | None

    @property
    def first(self) -> Change | None:
        """What to change first; None where nothing is proven to help."""
        return first_change(self.changes or ())


def chosen_solutions(result: LoadedResult, design: tuple[tuple[str, ...], str] | None) -> tuple[LoadedSolution, ...]:
    """The solutions to explain, the best first: those of all designs, or of the one asked for.

    Parameters
    ----------
    result : LoadedResult
        The result.
    design : tuple of (loops, str) or None
        Dataflow and permutation; the order of the loops does not matter.

    Raises
    ------
    InputError
        If the result has no such design, or none at all.
    """
    if not result.solutions:
        raise InputError("designs is empty; allowed: at least one design")
    if design is None:
        return result.solutions
    dataflow, permutation = design
    same = [s for s in result.solutions if sorted(s.array.dataflow) == sorted(dataflow) and s.array.permutation == permutation]
    if not same:
        held = "; ".join(dict.fromkeys(_name(s) for s in result.solutions))
        raise InputError(f"--design is '{','.join(dataflow)} {permutation}'; allowed: one of the result's, {held}")
    return tuple(same[:1])


def explain(result: LoadedResult, solutions: Sequence[LoadedSolution], solve: Solve | None) -> Explanation:
    """Explain the best of some solutions of a result.

    Parameters
    ----------
    result : LoadedResult
        The result.
    solutions : sequence of LoadedSolution
        What to explain (see `chosen_solutions`): the best of them, against the others.
    solve : callable or None
        Solves problems from starts, to find what to change first; None leaves that out.
    """
    problems = [result.problem(s.array) for s in solutions]
    found = [(s.value, s) for s in solutions if s.value is not None]
    if not found:
        return Explanation(None, None, None, None, _failure(result, solutions), None)
    value, best = min(found, key=lambda entry: entry[0])
    assert best.tiling is not None
    problem = result.problem(best.array)
    recorded = answer = _recorded(result, best, solutions)
    others = [(s.array.name, s.value) for s in result.solutions if s.value is not None and s.array != best.array]
    changes: tuple[Change, ...] | None = None
    if solve is not None:
        changes = other_designs(value, others)
        if not answer.settled:
            answer = solve(problems, [s.tiling for s in solutions])
            further = search_further(value, answer)
            changes += () if further is None else (further,)
        changes += raised_limits(problems, answer, solve)
        if _limits_seem_idle(problem, best.tiling, changes):
            changes += dropped_limits(problems, answer, solve)
    nearest = min(others, key=lambda other: other[1], default=None)
    return Explanation(best.array, recorded.certificate, facts(problem, best.tiling), nearest, None, changes)


def _limits_seem_idle(problem: Problem, tiling: Tiling, changes: Sequence[Change]) -> bool:
    """Whether to ask if limits matter at all: nothing helps, and more than half of every limit is left.

    With less left, a limit may well bind, and a problem without it may take much longer to solve.
    """
    uses = limit_uses(problem, problem.costs(tiling))
    idle = all(change.proven and change.after == change.before for change in changes)
    return idle and bool(changes) and all(2 * use.used < use.bound for use in uses)


def _recorded(result: LoadedResult, best: LoadedSolution, solutions: Sequence[LoadedSolution]) -> Answer:
    """The answer that the certificates of a result add up to."""
    solution = make_solution(result.problem(best.array), best.tiling, best.certificate)
    # a file states bounds as doubles; one that is proven to be the optimum is the exact value itself
    bounds = [
        s.value if s.certificate.status is Status.OPTIMAL else s.certificate.lower_bound
        for s in solutions
        if s.certificate.status is not Status.INFEASIBLE
    ]
    certificates = [s.certificate for s in solutions]
    method = "+".join(dict.fromkeys(c.method for c in certificates))
    nodes, seconds = sum(c.nodes for c in certificates), sum(c.seconds for c in certificates)
    return make_answer(solution, bounds, False, method, nodes, seconds)


def _failure(result: LoadedResult, solutions: Sequence[LoadedSolution]) -> str:
    infeasible = [s for s in solutions if s.certificate.status is Status.INFEASIBLE]
    if len(infeasible) < len(solutions):
        count = f"{len(infeasible)} of {len(solutions)} designs {is_or_are(len(infeasible))}"
        known = f"{count} proven infeasible, and the others are open" if infeasible else "no design is proven infeasible"
        return f"nothing was found before the search ended; {known}"
    shortfalls = [(s.array.name, shortfall) for s in solutions for shortfall in s.shortfalls]
    return f"infeasible: {why_infeasible([result.problem(s.array) for s in solutions], shortfalls)}"


def _name(solution: LoadedSolution) -> str:
    return f"{','.join(solution.array.dataflow)} {solution.array.permutation}"
