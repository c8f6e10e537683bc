"""Regions of objective space, and which of them may still hold points of a front.

The part of objective space that no point found so far dominates is a union of boxes {z < u}, one
per *local upper bound* u (Klamroth, Lacour & Vanderpooten, EJOR 2015). A new point z splits the
boxes that contain it; for m objectives every box yields up to m smaller ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

#: A point of objective space.
Vector = tuple[Fraction, ...]

#: Numbers of a vector, and what orders it among equals.
Labelled = tuple[tuple[Any, ...], tuple[int, ...]]


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


def undominated(vectors: Iterable[Labelled]) -> list[Labelled]:
    """The vectors that no other dominates, each with its label, in order; of equals the first."""
    kept: list[Labelled] = []
    if not (ordered := sorted(vectors)):
        return kept
    if len(ordered[0][0]) <= 3:
        stairs = _Stairs()
        for each in ordered:
            if stairs.add(*each[0][1:]):
                kept.append(each)
        return kept
    for each in ordered:
        if not any(all(a <= b for a, b in zip(o[0], each[0], strict=True)) for o in kept):
            kept.append(each)
    return kept


class _Stairs:
    """Pairs of which none dominates another, by ascending first number."""

    def __init__(self) -> None:
        self._first: list[Any] = []
        self._second: list[Any] = []

    def add(self, first: Any = 0, second: Any = 0) -> bool:
        """Add a pair unless one of the others is at most as much in both; whether it was added."""
        place = bisect_right(self._first, first)
        if place and self._second[place - 1] <= second:
            return False
        start = bisect_left(self._first, first)
        end = start
        while end < len(self._first) and self._second[end] >= second:
            end += 1
        self._first[start:end], self._second[start:end] = [first], [second]
        return True
