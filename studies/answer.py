"""The answer to a problem posed to several designs: the best configuration of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.explanation import CONTRADICTION, explain
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Shortfall, Solution

#: Why nothing is feasible although there are no limits.
EMPTY_SPACE = "the design space itself is empty: relax --min-lanes or --divisors-only"

#: How long to look for a configuration without limits before limits are blamed (seconds, per design).
EMPTY_WITHIN = 5.0


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
        """Why there is no configuration: per limit at fault the smallest value that could be met; empty if none is."""
        designs = {design for design, _ in self.shortfalls}
        return "; ".join(explain(self.shortfalls, len(designs))) if self.shortfalls else ""


def why_infeasible(problems: Sequence[Problem], shortfalls: Sequence[tuple[str, Shortfall]]) -> str:
    """Why no design is feasible, in one line.

    Parameters
    ----------
    problems : sequence of Problem
        One per design.
    shortfalls : sequence of (str, Shortfall)
        Design and limit that cannot be met.
    """
    if shortfalls:
        return "; ".join(explain(shortfalls, len(problems)))
    return EMPTY_SPACE if all(_is_empty(problem) for problem in problems) else CONTRADICTION


def _is_empty(problem: Problem) -> bool:
    """Whether an infeasible problem is proven to be so without its limits, too."""
    if not problem.limits:
        return True
    # any configuration will do, so the search may end with the first; an empty space is mostly seen at once
    options = SolveOptions(time_limit=EMPTY_WITHIN, gap=1.0)
    return solve_exact(replace(problem, limits=()), options).certificate.status is Status.INFEASIBLE


#: What a point is before anything was tried.
NOT_SOLVED = Answer(None, Certificate(Status.UNKNOWN, None, None, "none", 0, 0.0))
