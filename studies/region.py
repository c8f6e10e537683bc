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


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on an objective."""

    value: Fraction
    """The bound."""
    strict: bool
    """Whether the value itself is excluded."""

    def admits(self, value: Fraction) -> bool:
        """Whether a value meets the bound."""
        return value < self.value if self.strict else value <= self.value

    def implies(self, other: Bound) -> bool:
        """Whether whatever meets this bound meets the other one."""
        return self.value < other.value or (
            self.value == other.value and (self.strict or not other.strict)
        )


#: A bound per objective, None where there is none.
Region = tuple[Bound | None, ...]


def dominates(one: Vector, other: Vector) -> bool:
    """Whether a point is at least as good as another in every objective."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def admits(region: Region, vector: Vector) -> bool:
    """Whether a point lies in a region."""
    return all(
        bound is None or bound.admits(value) for bound, value in zip(region, vector, strict=True)
    )


def inside(inner: Region, outer: Region) -> bool:
    """Whether whatever lies in one region lies in the other one."""
    return all(
        o is None or (i is not None and i.implies(o)) for i, o in zip(inner, outer, strict=True)
    )


def split(boxes: Sequence[Region], point: Vector) -> list[Region]:
    """Update boxes, of which each is all that is strictly below a local upper bound, for a new
    point of the front in some.

    They then cover exactly what was covered before, less what the point dominates or equals.
    """
    kept: list[Region] = []
    parts: list[Region] = []
    for box in boxes:
        if admits(box, point):
            parts += [
                (*box[:j], Bound(value, strict=True), *box[j + 1 :])
                for j, value in enumerate(point)
            ]
        else:
            kept.append(box)
    for part in dict.fromkeys(parts):
        # a box inside another one adds nothing
        if (
            not any(other != part and inside(part, other) for other in (*kept, *parts))
            and part not in kept
        ):
            kept.append(part)
    return kept
