"""What to change first: every candidate change solved or looked up, none extrapolated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.results.certificate import Status
from ithaca.results.solution import Solution
from ithaca.studies.marginal import Solve, marginal_values

#: By how much limits are raised, one at a time (%).
RAISES = (5, 10)


class Kind(Enum):
    """What is changed."""

    SEARCH = "search"
    """Nothing: the search goes on from where the result ended."""
    DESIGN = "design"
    """The design, to another one of the result."""
    LIMIT = "limit"
    """A limit, raised."""
    NO_LIMITS = "no_limits"
    """All limits, dropped at once."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change, and what the objective becomes with it."""

    kind: Kind  #: What is changed
    what: str  #: Name of the design changed to, or of the limit raised; that of the design found for a search or without limits
    #: The objective.
    before: Fraction
    after: Fraction
    proven: bool  #: Whether both are proven; of another design, whether a configuration with that value is at hand
    percent: int | None = None  #: By how much a limit is raised (%)
    #: The limit before and after.
    limit: Fraction | None = None
    raised: Fraction | None = None

    @property
    def gain(self) -> Fraction | None:
        """(before − after) / |before|; None where the objective is 0."""
        return (self.before - self.after) / abs(self.before) if self.before else None


def search_further(before: Fraction, answer: Solution) -> Change | None:
    """The change of an objective by searching on; None if nothing was found again."""
    if answer.found is None or answer.value is None:
        return None
    proven = answer.certificate.status is Status.OPTIMAL
    return Change(Kind.SEARCH, answer.found.problem.design.name, before, answer.value, proven)


def other_designs(before: Fraction, others: Iterable[tuple[str, Fraction]]) -> tuple[Change, ...]:
    """The change to each other design of a result whose configuration is better."""
    return tuple(Change(Kind.DESIGN, name, before, value, True) for name, value in others if value < before)


def raised_limits(problems: Sequence[Problem], answer: Solution, solve: Solve) -> tuple[Change, ...]:
    """The optimum over some problems, one per design, with each limit raised, by each of `RAISES`."""
    found = []
    for percent in RAISES:
        for marginal in marginal_values(problems, answer, percent, solve=solve):
            before, after = marginal.before.value, marginal.after.value
            if before is None or after is None or not marginal.limit.bound:
                continue
            limit, raised = marginal.limit, marginal.raised
            found.append(Change(Kind.LIMIT, limit.metric, before, after, marginal.proven, percent, limit.bound, raised.bound))
    return tuple(found)


def dropped_limits(problems: Sequence[Problem], answer: Solution, solve: Solve) -> tuple[Change, ...]:
    """The optimum without any limit; nothing where it was not found, or was not known with the limits."""
    best = answer.found
    if best is None or best.value is None:
        return ()
    starts = [best.configuration if problem.design == best.problem.design else None for problem in problems]
    after = solve([replace(problem, limits=()) for problem in problems], starts)
    if after.found is None or after.value is None:
        return ()
    proven = answer.certificate.status is after.certificate.status is Status.OPTIMAL
    return (Change(Kind.NO_LIMITS, after.found.problem.design.name, best.value, after.value, proven),)


def unbound(changes: Sequence[Change]) -> bool:
    """Whether it is proven that no limit binds: without them, the optimum is the same."""
    return any(change.kind is Kind.NO_LIMITS and change.proven and change.before == change.after for change in changes)


def first_change(changes: Sequence[Change]) -> Change | None:
    """The change with the largest proven gain, of equals the first; None where no gain is proven."""
    gains = [(change.gain, change) for change in changes if change.proven and change.gain is not None and change.gain > 0]
    return max(gains, key=lambda entry: entry[0])[1] if gains else None


def worthless(changes: Sequence[Change]) -> tuple[str, ...]:
    """The limits of which it is proven that raising them changes nothing, by as much as was tried."""
    raises = [change for change in changes if change.kind is Kind.LIMIT]
    names = dict.fromkeys(change.what for change in raises)
    return tuple(n for n in names if all(c.proven and c.after == c.before for c in raises if c.what == n))
