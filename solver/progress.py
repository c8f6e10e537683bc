"""What a running search reports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a running search."""

    value: Fraction | None  #: The incumbent's objective
    lower_bound: Fraction | None  #: Proven so far
    boxes: int  #: Boxes examined
    seconds: float  #: Since the search began
