"""What a solver proved about its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from ithaca.solver.trace import TracePoint


class Status(Enum):
    """How much is known about a solution."""

    OPTIMAL = "optimal"
    """The lower bound equals the value under exact arithmetic."""
    FEASIBLE = "feasible"
    """A configuration was found; a better one has not been excluded."""
    INFEASIBLE = "infeasible"
    """It is proven that no configuration meets the limits."""
    UNKNOWN = "unknown"
    """Nothing was found, and nothing proven, before the search ended."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Status and bound of one solve.

    Attributes
    ----------
    status : Status
        How much is known.
    lower_bound : Fraction or None
        No configuration has a smaller objective; None where nothing is known.
    gap : float or None
        (value − lower bound) / |value|; None without value or bound.
    method : str
        The engine that produced it.
    nodes : int
        Boxes examined.
    seconds : float
        Wall time spent.
    trace : tuple of TracePoint
        When incumbent or bound changed; empty where that was not recorded.
    """

    status: Status
    lower_bound: Fraction | None
    gap: float | None
    method: str
    nodes: int
    seconds: float
    trace: tuple[TracePoint, ...] = ()


def relative_gap(value: Fraction | None, lower_bound: Fraction | None) -> float | None:
    """(value − lower bound) / |value|, or None where either is missing."""
    if value is None or lower_bound is None:
        return None
    if value == lower_bound:
        return 0.0
    return float((value - lower_bound) / abs(value)) if value else float("inf")
