"""The best configuration of a result, as the report's sections take it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.certificate import Certificate
from ithaca.results.result import Result
from ithaca.results.solution import Solution
from ithaca.studies.explanation.explanation import Explanation, LimitUse


@dataclass(frozen=True)
class BestConfiguration:
    """A configuration, and what is known of it."""

    result: Result  #: The result it is the best of
    solution: Solution  #: It, and what is proven of its design
    configuration: Configuration  #: Its quantities
    value: Fraction
    limits: tuple[LimitUse, ...]  #: What it leaves of the limits
    certificate: Certificate  #: What is proven over all designs of the result

    @property
    def problem(self) -> Problem:
        """What was asked of its design."""
        return self.solution.problem

    @property
    def objective(self) -> str:
        """What is minimised."""
        return self.result.objective.text

    def unit(self, metric: str) -> str:
        """Unit of a metric; empty for an expression."""
        known = self.problem.design.vocabulary
        return known[metric].unit if metric in known else ""


def best_configuration(result: Result, explanation: Explanation) -> BestConfiguration | None:
    """The best configuration of a result; None where it has none."""
    solution, certificate = explanation.solution, explanation.certificate
    if solution is None or solution.configuration is None or solution.value is None or certificate is None:
        return None
    return BestConfiguration(result, solution, solution.configuration, solution.value, explanation.limits, certificate)
