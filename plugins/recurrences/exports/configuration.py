"""Arrays of recurrences as they are exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.plugins.recurrences.formulations.array import RecurrenceArray
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class RecurrenceConfiguration:
    """An array of recurrences as it is exported."""

    array: RecurrenceArray
    metrics: Mapping[str, Fraction]
    proven: bool
    """Whether a certificate says that nothing is better."""

    @classmethod
    def of(cls, solution: Solution) -> RecurrenceConfiguration:
        """The configuration of a solution."""
        design = solution.problem.design
        assert isinstance(design, RecurrenceDesign)
        return cls(design.array, solution.metrics, solution.certificate.status.proven)

    @property
    def nest(self) -> LoopNest:
        """The recurrences that the array computes."""
        return self.array.nest

    @property
    def name(self) -> str:
        """The space loops, joined by commas."""
        return ",".join(self.array.space)

    @property
    def description(self) -> str:
        """A short description of the configuration, in words."""
        return f"design {self.name}, the result's best configuration"
