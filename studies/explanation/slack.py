"""What a configuration leaves of its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.studies.marginal import distinct_limits


@dataclass(frozen=True, slots=True)
class LimitUse:
    """How much of a limit is used."""

    metric: str  #: What is limited
    #: Its value, and the limit (in the metric's unit).
    used: Fraction
    bound: Fraction

    @property
    def slack(self) -> Fraction:
        """What is left (in the metric's unit)."""
        return self.bound - self.used

    @property
    def slack_share(self) -> Fraction | None:
        """What is left, over the limit; None where the limit is not positive."""
        return self.slack / self.bound if self.bound > 0 else None


def limit_uses(problem: Problem, configuration: Mapping[str, int]) -> tuple[LimitUse, ...]:
    """Every limit of a problem, the one with the least left first (relative to the limit)."""
    metrics = problem.metrics(configuration)
    uses = [LimitUse(limit.metric, limit.used(metrics), limit.bound) for limit in distinct_limits(problem.limits)]
    return tuple(sorted(uses, key=lambda use: use.slack_share or Fraction(0)))
