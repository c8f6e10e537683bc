"""Regions of objective space, and which of them may still hold points of a front.

The part of objective space that no point found so far dominates is a union of boxes {z < u}, one
per *local upper bound* u (Klamroth, Lacour & Vanderpooten, EJOR 2015). A new point z splits the
boxes that contain it; for m objectives every box yields up to m smaller ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: A point of objective space.
Vector = tuple[Fraction, ...]

#: An upper bound per objective; None where there is none.
UpperBounds = tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on an objective."""

    value: Fraction  #: The bound
    strict: bool  #: Whether the value itself is excluded

    def admits(self, value: Fraction) -> bool:
        """Whether a value meets the bound."""
        return value < self.value if self.strict else value <= self.value

    def implies(self, other: Bound) -> bool:
        """Whether whatever meets this bound meets the other one."""
        return self.value < other.value or (self.value == other.value and (self.strict or not other.strict))


#: A bound per objective, None where there is none.
Region = tuple[Bound | None, ...]


def admits(region: Region, vector: Vector) -> bool:
    """Whether a point lies in a region."""
    return all(bound is None or bound.admits(value) for bound, value in zip(region, vector, strict=True))


def within(inner: UpperBounds, outer: UpperBounds) -> bool:
    """Whether the closed box below ``inner`` is part of the one below ``outer``."""
    return all(o is None or (i is not None and i <= o) for i, o in zip(inner, outer, strict=True))


def inside(inner: Region, outer: Region) -> bool:
    """Whether whatever lies in one region lies in the other one."""
    return all(o is None or (i is not None and i.implies(o)) for i, o in zip(inner, outer, strict=True))


def below(upper: UpperBounds) -> Region:
    """The region strictly below a local upper bound."""
    return tuple(None if value is None else Bound(value, strict=True) for value in upper)


def split(uppers: Sequence[UpperBounds], found: Vector) -> list[UpperBounds]:
    """Update local upper bounds for a new point of the front, strictly below at least one of them.

    Their boxes then cover exactly what was covered before, less what the point dominates or equals.
    """
    kept: list[UpperBounds] = []
    parts: list[UpperBounds] = []
    for upper in uppers:
        if admits(below(upper), found):
            parts += [(*upper[:j], value, *upper[j + 1 :]) for j, value in enumerate(found)]
        else:
            kept.append(upper)
    for part in dict.fromkeys(parts):
        # a box inside another one adds nothing
        if not any(other != part and within(part, other) for other in (*kept, *parts)) and part not in kept:
            kept.append(part)
    return kept
