"""The answer to a problem posed to several designs: the best configuration of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.explanation import explain
from ithaca.solver.solution import Shortfall, Solution


@dataclass(frozen=True)
class Answer:
    """The best configuration over several designs, and what is proven about it.

    Attributes
    ----------
    solution : Solution or None
        The best configuration; its certificate speaks for all designs. None where none was found.
    certificate : Certificate
        What is proven over all designs: no configuration of any of them is below the lower bound.
    shortfalls : tuple of (str, Shortfall)
        Design and limit that cannot be met, where all designs are infeasible.
    """

    solution: Solution | None
    certificate: Certificate
    shortfalls: tuple[tuple[str, Shortfall], ...] = ()

    @property
    def value(self) -> Fraction | None:
        """The objective of the best configuration."""
        return None if self.solution is None else self.solution.value

    @property
    def settled(self) -> bool:
        """Whether no further search can change it: proven optimal, or proven infeasible."""
        return self.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)

    def explain(self) -> str:
        """Why there is no configuration: per limit at fault the smallest value over all designs that could be met."""
        return explained(self.shortfalls)


def explained(shortfalls: Sequence[tuple[str, Shortfall]]) -> str:
    """Why no design is feasible, in one line; empty if no limit is at fault."""
    designs = {design for design, _ in shortfalls}
    return "; ".join(explain(shortfalls, len(designs))) if shortfalls else ""


#: What a point is before anything was tried.
NOT_SOLVED = Answer(None, Certificate(Status.UNKNOWN, None, None, "none", 0, 0.0))
