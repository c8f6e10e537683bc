"""Explain a result: the facts about its best configuration, and what to change first.

Every candidate change is solved or looked up, none extrapolated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import meant, quoted
from ithaca.files.numbers import json_ready
from ithaca.files.writing import SCHEMA
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import choice_of, family_of, profile_of
from ithaca.formulations.family import Remarks
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Problem
from ithaca.results.schema import head_fields
from ithaca.solver.certificate import OWN, Certificate, Status
from ithaca.solver.documents import CertificateDocument
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.studies.best import over_all
from ithaca.studies.marginal import (
    Solve,
    as_starts,
    distinct_limits,
    marginal_values,
    raisable_limits,
    raised_limit,
)

#: By how much limits are raised, one at a time (%).
RAISES = (5, 10)


class ChangeKind(Enum):
    """The kind of a change."""

    SEARCH = "search"
    """Nothing: the search goes on from where the result ended."""
    DESIGN = "design"
    """The design, to another one of the result."""
    LIMIT = "limit"
    """A limit, raised."""
    NO_LIMITS = "no_limits"
    """All limits, dropped at once."""
    HARDWARE = "hardware"
    """Hardware, which has more of one thing."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change, and what the objective becomes with it."""

    kind: ChangeKind
    """The kind of thing that is changed."""
    what: str
    """Name of the design changed to, or of the limit raised; that of the design found for a search
    or without limits; in words what is changed of hardware."""
    before: Fraction
    """The objective, as it was and as it becomes."""
    after: Fraction
    proven: bool
    """Whether both are proven; of another design, whether a configuration with that value is at
    hand."""
    percent: int | None = None
    """By how much a limit is raised (%)."""
    limit: Fraction | None = None
    """The limit before and after."""
    raised: Fraction | None = None

    @property
    def gain(self) -> Fraction | None:
        """(before − after) / |before|; None where the objective is 0."""
        return (self.before - self.after) / abs(self.before) if self.before else None


def other_designs(before: Fraction, others: Iterable[tuple[str, Fraction]]) -> tuple[Change, ...]:
    """The change to each other design of a result whose configuration is better."""
    return tuple(
        Change(ChangeKind.DESIGN, name, before, value, True)
        for name, value in others
        if value < before
    )


def raised_limits(
    problems: Sequence[Problem], answer: Solution, solve: Solve
) -> tuple[Change, ...]:
    """Solve again with each limit raised by itself.

    The largest raise comes first: a limit of which it proves no change is not raised by less, as
    what that allows lies between.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else.
    answer : Solution
        Their optimum.
    solve : Solve
        Solves problems from starts.

    Returns
    -------
    tuple of Change
        One per limit and each of `RAISES` (%).
    """
    limits = [limit for limit in raisable_limits(problems) if limit.bound]
    idle: dict[str, Change] = {}
    changes: dict[tuple[int, str], Change] = {}
    for percent in sorted(RAISES, reverse=True):
        left = [limit for limit in limits if limit.metric not in idle]
        for limit in limits:
            if (known := idle.get(limit.metric)) is not None:
                raised = raised_limit(limit, percent).bound
                changes[percent, limit.metric] = replace(known, percent=percent, raised=raised)
        for marginal in marginal_values(problems, answer, percent, solve=solve, limits=left):
            before, after = marginal.before.value, marginal.after.value
            if before is None or after is None:
                continue
            metric, bound = marginal.limit.metric, marginal.limit.bound
            change = Change(
                ChangeKind.LIMIT,
                metric,
                before,
                after,
                marginal.proven,
                percent,
                bound,
                marginal.raised.bound,
            )
            changes[percent, metric] = change
            if change.proven and before == after:
                idle[metric] = change
    order = ((percent, limit.metric) for percent in RAISES for limit in limits)
    return tuple(changes[key] for key in order if key in changes)


def dropped_limits(
    problems: Sequence[Problem], answer: Solution, solve: Solve
) -> tuple[Change, ...]:
    """Solve again without any limit, but with what is required.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else.
    answer : Solution
        Their optimum.
    solve : Solve
        Solves problems from starts.

    Returns
    -------
    tuple of Change
        One change, or none where either optimum is not known.
    """
    if answer.value is None:
        return ()
    free = [
        replace(problem, limits=tuple(x for x in problem.limits if x.required))
        for problem in problems
    ]
    after = solve(free, as_starts(answer, problems))
    if after.value is None:
        return ()
    proven = answer.certificate.status is after.certificate.status is Status.OPTIMAL
    return (Change(ChangeKind.NO_LIMITS, after.design, answer.value, after.value, proven),)


def enlarged_hardware(answer: Solution, solve: Solve) -> tuple[Change, ...]:
    """The optimum on hardware that has more of one thing, one at a time."""
    if answer.value is None:
        return ()
    enlarged = []
    for what, design in answer.profile.enlarged.items():
        after = solve([replace(answer.problem, design=design)], [answer.configuration])
        if after.value is not None:
            proven = answer.certificate.status is after.certificate.status is Status.OPTIMAL
            enlarged.append(Change(ChangeKind.HARDWARE, what, answer.value, after.value, proven))
    return tuple(enlarged)


def unbound(changes: Sequence[Change]) -> bool:
    """Whether it is proven that no limit binds: without them, the optimum is the same."""
    return any(
        change.kind is ChangeKind.NO_LIMITS and change.proven and change.before == change.after
        for change in changes
    )


def first_change(changes: Sequence[Change]) -> Change | None:
    """The change with the largest proven gain, of equals the first; None where no gain is
    proven."""
    gains = [
        (change.gain, change)
        for change in changes
        if change.proven and change.gain is not None and change.gain > 0
    ]
    return max(gains, key=lambda entry: entry[0])[1] if gains else None


def worthless(changes: Sequence[Change]) -> tuple[str, ...]:
    """The limits of which it is proven that raising them changes nothing, by as much as was
    tried."""
    raises = [change for change in changes if change.kind is ChangeKind.LIMIT]
    names = dict.fromkeys(change.what for change in raises)
    return tuple(
        n for n in names if all(c.proven and c.after == c.before for c in raises if c.what == n)
    )


@dataclass(frozen=True, slots=True)
class LimitUse:
    """The used share of a limit."""

    metric: str
    """The metric that is limited."""
    used: Fraction
    """Its value, and the limit (in the metric's unit)."""
    bound: Fraction

    @property
    def slack(self) -> Fraction:
        """The rest of a limit (in the metric's unit)."""
        return self.bound - self.used

    @property
    def slack_share(self) -> Fraction | None:
        """The rest of a limit, over the limit; None where that is not positive."""
        return self.slack / self.bound if self.bound > 0 else None


def limit_uses(problem: Problem, configuration: Mapping[str, int]) -> tuple[LimitUse, ...]:
    """Every limit of a problem, the one with the least left first (relative to the limit)."""
    metrics = problem.metrics(configuration)
    uses = [
        LimitUse(limit.metric, limit.used(metrics), limit.bound)
        for limit in distinct_limits(problem.limits)
    ]
    return tuple(sorted(uses, key=lambda use: use.slack_share or Fraction(0)))


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a configuration."""

    solution: Solution | None
    """The configuration that is explained; None where there is none."""
    certificate: Certificate | None
    """The result's proof over all designs considered; None where there is no configuration."""
    limits: tuple[LimitUse, ...]
    """The rest of the limits, the least first."""
    remarks: Remarks
    """Remarks of its family on the configuration."""
    next_best: tuple[str, Fraction] | None
    """The next design of the result, and its objective."""
    failure: str | None
    """Why there is no configuration, in one line."""
    changes: tuple[Change, ...] | None
    """The changes that were tried; None where nothing was to be tried."""


def chosen_solutions(result: Result, design: str | None) -> tuple[Solution, ...]:
    """The solutions to explain, the best first: those of all designs, or of the one asked for by
    its family's name.

    Raises `InputError` if the result has no such design, or none at all.
    """
    if design is None:
        return result.solutions
    same = [s for s in result.solutions if s.profile.answers_to(design)]
    if not same:
        held = list(dict.fromkeys(s.design for s in result.solutions))
        what = f"--design is {quoted(design)}; allowed: one of the result's, {'; '.join(held)}"
        raise InputError(what + meant(design, held))
    return tuple(same[:1])


def explain(result: Result, solutions: Sequence[Solution], solve: Solve | None) -> Explanation:
    """Explain the best of some solutions of a result against the others.

    Parameters
    ----------
    result : Result
        The result.
    solutions : Sequence of Solution
        Those to choose from (see `chosen_solutions`).
    solve : Solve or None
        Solves problems from starts, for what to change first; None leaves that out.

    Returns
    -------
    Explanation
        The explanation.
    """
    outrun = result.outrun if result.best in solutions else ()
    solutions = [s for s in solutions if s not in outrun]
    problems = [s.problem for s in solutions]
    solved = [(s.value, s) for s in solutions if s.value is not None]
    if not solved:
        failure = replace(result, best=None, designs=tuple(solutions), source=OWN).failure
        return Explanation(None, None, (), Remarks(), None, failure, None)
    value, best = min(solved, key=lambda entry: entry[0])
    problem, configuration = best.problem, best.configuration
    assert configuration is not None
    recorded = answer = over_all(problem, solutions)
    others = [
        (s.design, s.value)
        for s in result.solutions
        if s.value is not None and s.design != best.design and s not in outrun
    ]
    changes: tuple[Change, ...] | None = None
    if solve is not None:
        changes = other_designs(value, others)
        if not answer.settled:
            answer = solve(problems, [s.configuration for s in solutions])
            if answer.value is not None:
                proven = answer.certificate.status is Status.OPTIMAL
                changes += (Change(ChangeKind.SEARCH, answer.design, value, answer.value, proven),)
        changes += raised_limits(problems, answer, solve)
        changes += enlarged_hardware(answer, solve)
        if _limits_seem_idle(problem, configuration, changes):
            changes += dropped_limits(problems, answer, solve)
    nearest = min(others, key=lambda other: other[1], default=None)
    limits, remarks = (
        limit_uses(problem, configuration),
        profile_of(problem.design).remarks(configuration, problem.limits),
    )
    proof = result.certificate if outrun else recorded.certificate
    return Explanation(best, proof, limits, remarks, nearest, None, changes)


def _limits_seem_idle(
    problem: Problem, configuration: Configuration, changes: Sequence[Change]
) -> bool:
    """Whether to ask if limits matter at all: nothing helps, and more than half of every limit is
    left.

    With less left, a limit may well bind, and a problem without it may take much longer to solve.
    """
    uses = limit_uses(problem, configuration)
    idle = all(change.proven and change.after == change.before for change in changes)
    loose = (2 * use.used < use.bound for use in uses if not is_requirement(use.metric))
    return idle and bool(changes) and all(loose)


#: Fields of documents, and the attributes that they state.
_LIMIT = {"limit": "metric"} | {name: name for name in ("used", "bound", "slack", "slack_share")}
_CHANGE = {name: name for name in ("kind", "what", "percent")} | {"from": "limit", "to": "raised"}
_CHANGE |= {name: name for name in ("before", "after", "gain", "proven")}


def explanation_document(result: Result, explanation: Explanation) -> dict[str, Any]:
    """The document of ``ithaca explain --json``; exact where JSON numbers can be, else the nearest
    double."""
    solution, family = explanation.solution, family_of(result.problem.design)
    head = head_fields(
        [each.problem for each in result.designs],
        result.platform_name,
        None if solution is None else solution.value,
    )
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "study": "explain",
        **family.head.model_validate(head, from_attributes=True).as_json(),
        "failure": explanation.failure,
        "design": None,
    }
    if solution is None or explanation.certificate is None:
        return document
    document["design"] = dict(choice_of(solution.problem.design))
    document["certificate"] = CertificateDocument.model_validate(
        explanation.certificate, from_attributes=True
    ).as_json()
    document |= explanation.remarks.document
    document["limits"] = [_stated(use, _LIMIT) for use in explanation.limits]
    document["next_best"] = None
    if explanation.next_best is not None:
        name, value = explanation.next_best
        document["next_best"] = {"design": name, "value": json_ready(value)}
    return document | document_of_changes(explanation.changes)


def document_of_changes(changes: Sequence[Change] | None) -> dict[str, Any]:
    """All changes tried, and the one to make first, ready for JSON."""
    first = first_change(changes or ())
    return {
        "changes": None if changes is None else [_stated(change, _CHANGE) for change in changes],
        "first_change": None if first is None else _stated(first, _CHANGE),
    }


def _stated(part: LimitUse | Change, names: Mapping[str, str]) -> dict[str, Any]:
    return {name: json_ready(getattr(part, attribute)) for name, attribute in names.items()}
