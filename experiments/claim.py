"""A claim of the paper, set beside what Ithaca measures: it holds or it differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt

#: How a measured quantity is compared with a bound.
RELATIONS: Mapping[str, Callable[[float | Fraction, float | Fraction], bool]] = {
    "<": lt,
    "≤": le,
    "=": eq,
    "≥": ge,
    ">": gt,
}

#: What the paper says where its text could not be read.
NOT_AT_HAND = "not known (the paper's text was not at hand)"

#: What is claimed where the paper claims nothing.
OWN = "none (Ithaca's own)"


@dataclass(frozen=True)
class Claim:
    """A statement about measured quantities that may turn out false.

    Attributes
    ----------
    statement : str
        What is claimed.
    published : str
        The paper's figure, or why there is none.
    quantity : str
        What is measured, with its unit.
    measured : Fraction or float
        Its value.
    relation : str
        One of `RELATIONS`.
    bound : Fraction or float
        What the statement says of it: ``measured relation bound``. Exact numbers are compared exactly.
    why : str
        Where it differs from the paper, and why; or how to read it.
    """

    statement: str
    published: str
    quantity: str
    measured: Fraction | float
    relation: str
    bound: Fraction | float
    why: str = ""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"relation is {self.relation!r}; allowed: {', '.join(RELATIONS)}")

    @property
    def holds(self) -> bool:
        """Whether the measurement agrees with the statement."""
        return bool(RELATIONS[self.relation](self.measured, self.bound))

    @property
    def verdict(self) -> str:
        """``holds`` or ``differs``."""
        return "holds" if self.holds else "differs"


def loss(best: Fraction, value: Fraction) -> Fraction:
    """Share of the best performance that a design of some latency loses: 1 − best / latency."""
    return 1 - best / value
