"""The marginal value of a limit: the proven optimum with a little more of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from ithaca.files.numbers import fraction, json_number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.studies.best import solve_best

#: By how much a limit is raised unless told otherwise (%).
DEFAULT_PERCENT = Fraction(5)

Solve = Callable[[Sequence[Problem], Sequence[Configuration | None]], Solution]


class Proven(Protocol):
    """An optimum, and what is proven of it."""

    @property
    def value(self) -> Fraction | None:
        """The objective."""

    @property
    def certificate(self) -> Certificate:
        """The certificate of its value."""


P = TypeVar("P", bound=Proven)


@dataclass(frozen=True)
class Marginal(Generic[P]):
    """The optimum with one limit raised."""

    limit: Limit
    """As it was."""
    raised: Limit
    """As it is for ``after``."""
    before: P
    """The best over all designs, with certificates."""
    after: P

    @property
    def change(self) -> Fraction | None:
        """(after − before) / |before|, of both as files state them; None where either is missing or
        ``before`` is 0."""
        if not self.before.value or self.after.value is None:
            return None
        ends = (self.before.value, self.after.value)
        before, after = (fraction(json_number(value)) for value in ends)
        return (after - before) / abs(before)

    @property
    def proven(self) -> bool:
        """Whether both ends are proven optimal."""
        return all(a.certificate.status is Status.OPTIMAL for a in (self.before, self.after))


def marginal_values(
    problems: Sequence[Problem],
    answer: Solution | None = None,
    percent: Fraction | int = DEFAULT_PERCENT,
    options: SolveOptions | None = None,
    *,
    solve: Solve | None = None,
    limits: Sequence[Limit] | None = None,
) -> tuple[Marginal[Solution], ...]:
    """Solve again with every limit raised by itself: what each is worth at the optimum.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else.
    answer : Solution, optional
        The optimum over the designs; solved for unless it is given.
    percent : Fraction or int, optional
        By how much of its magnitude a limit is raised (%).
    options : SolveOptions, optional
        Time limit and interruption.
    solve : Solve, optional
        Replaces `solve_best`, to keep results or show progress.
    limits : Sequence of Limit, optional
        The limits to raise; all that some configuration exceeds unless they are given.

    Returns
    -------
    tuple of Marginal
        One per limited metric, in the order of the limits; none if the optimum is not known.
    """
    solve = solve or (lambda changed, starts: solve_best(changed, options, starts=starts))
    before = solve(problems, [None] * len(problems)) if answer is None else answer
    if before.configured is None:
        return ()
    starts = as_starts(before, problems)
    return tuple(
        Marginal(
            limit, raised, before, solve([_with_limit_at(p, raised) for p in problems], starts)
        )
        for limit in (raisable_limits(problems) if limits is None else limits)
        for raised in (raised_limit(limit, percent),)
    )


def raised_limit(limit: Limit, percent: Fraction | int) -> Limit:
    """A limit raised by a share of its magnitude (%)."""
    return Limit(limit.metric, limit.bound + abs(limit.bound) * Fraction(percent) / 100)


def as_starts(answer: Solution, problems: Sequence[Problem]) -> list[Configuration | None]:
    """The best configuration as the start of its design: raising or dropping a limit keeps every
    configuration."""
    return [
        answer.configuration if problem.design == answer.problem.design else None
        for problem in problems
    ]


def raisable_limits(problems: Sequence[Problem]) -> list[Limit]:
    """The tightest limit of each metric, without requirements, and without those that no
    configuration of any design exceeds."""
    able = (x for x in problems[0].limits if not x.required)
    return distinct_limits(
        [x for x in able if any(x in problem.open_limits for problem in problems)]
    )


def distinct_limits(limits: Sequence[Limit]) -> list[Limit]:
    """The tightest limit of each metric."""
    tightest: dict[str, Limit] = {}
    for limit in limits:
        if limit.metric not in tightest or limit.bound < tightest[limit.metric].bound:
            tightest[limit.metric] = limit
    return list(tightest.values())


def _with_limit_at(problem: Problem, raised: Limit) -> Problem:
    """The problem with every limit of a metric at least at the raised bound."""
    limits = (
        Limit(x.metric, max(x.bound, raised.bound)) if x.metric == raised.metric else x
        for x in problem.limits
    )
    return replace(problem, limits=tuple(limits))
