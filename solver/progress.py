"""The progress of a running search, and the reports on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a running search."""

    value: Fraction | None
    """The incumbent's objective."""
    lower_bound: Fraction | None
    """Proven so far."""
    boxes: int
    """Boxes examined."""
    seconds: float
    """Since the search began."""


#: Hears of the progress of a search.
Report = Callable[[Progress], None]


class Incumbent:
    """The best configuration that a search has found of a problem; its value is by the Fraction
    reference."""

    def __init__(self, problem: Problem, value: Fraction | None = None) -> None:
        self.problem = problem
        self.incumbent: Configuration | None = None
        self.value = value

    def offer(self, configuration: Configuration) -> bool:
        """Take a configuration if the reference confirms that it improves; whether it is
        feasible."""
        value = self.problem.feasible_value(configuration)
        if value is not None and (self.value is None or value < self.value):
            self.incumbent, self.value = configuration, value
        return value is not None
