"""Causes of infeasible problems: limits that cannot be met."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: The design of a limit that several problems miss together, whichever design they have.
TOGETHER = "of all layers together"


@dataclass(frozen=True)
class Shortfall:
    """The cause of an infeasible problem: a limit that cannot be met, or whose share in that is
    open."""

    metric: str
    """The metric limited."""
    bound: Fraction
    """The limit."""
    smallest: Fraction | None
    """The smallest value of the limit that could be met; None: the search for it ended before it
    told whether one helps."""
    others_kept: bool
    """Whether ``smallest`` holds with the other limits in force, or with this limit alone."""
    proven: bool
    """Whether ``smallest`` is proven; otherwise it is a lower bound of it."""
    design: str
    """Name of the design that cannot meet it."""
