"""The best configuration of a result, and all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution
from ithaca.studies.explanation.explanation import Explanation
from ithaca.studies.explanation.facts import Facts


@dataclass(frozen=True)
class BestConfiguration:
    """A configuration, and all that is known of it.

    Attributes
    ----------
    result : LoadedResult
        The result it is the best of.
    solution : LoadedSolution
        It, and what is proven of its design.
    tiling : Tiling
        Its factors.
    problem : Problem
        What was asked of its design.
    costs : Costs
        Its exact costs.
    facts : Facts
        Computed of it.
    certificate : Certificate
        What is proven over all designs of the result.
    """

    result: LoadedResult
    solution: LoadedSolution
    tiling: Tiling
    problem: Problem
    costs: Costs
    facts: Facts
    certificate: Certificate

    @property
    def objective(self) -> str:
        """What is minimised."""
        return self.result.objective.text

    @property
    def unit(self) -> str:
        """Unit of the objective; empty for an expression."""
        return METRICS[self.objective].unit if self.objective in METRICS else ""


def best_configuration(result: LoadedResult, explanation: Explanation) -> BestConfiguration | None:
    """The best configuration of a result; None where it has none."""
    known, certificate = explanation.facts, explanation.certificate
    if known is None or certificate is None:
        return None
    solution = next(s for s in result.solutions if s.array == explanation.array and s.value == known.value)
    assert solution.tiling is not None
    problem = result.problem(solution.array)
    return BestConfiguration(result, solution, solution.tiling, problem, problem.costs(solution.tiling), known, certificate)
