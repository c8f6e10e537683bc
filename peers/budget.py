"""How much a search method may use."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ithaca.workloads.errors import InputError


@dataclass(frozen=True, slots=True)
class Budget:
    """Samples, seconds, or both; the search ends with whichever is used up first.

    Attributes
    ----------
    samples : int or None
        Configurations scored at most.
    seconds : float or None
        Time at most.
    """

    samples: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.samples is None and self.seconds is None:
            raise InputError("budget is empty; allowed: samples, seconds, or both")
        whole = isinstance(self.samples, int) and not isinstance(self.samples, bool)
        if self.samples is not None and not (whole and self.samples >= 1):
            raise InputError(f"budget.samples is {self.samples!r}; allowed: an integer of at least 1")
        number = isinstance(self.seconds, (int, float)) and not isinstance(self.seconds, bool)
        if self.seconds is not None and not (number and isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"budget.seconds is {self.seconds!r}; allowed: a positive number")

    def within(self, seconds: float | None) -> Budget:
        """This budget with so many seconds at most; None leaves it as it is."""
        if seconds is None:
            return self
        return Budget(self.samples, seconds if self.seconds is None else min(self.seconds, seconds))
