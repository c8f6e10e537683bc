"""Hypervolume: how much of objective space a front dominates within a reference point. Exact in
exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from ithaca.studies.region import undominated

Vector = Sequence[Fraction]
Thing = TypeVar("Thing")


def nondominated(points: Iterable[Vector]) -> list[tuple[Fraction, ...]]:
    """The points that no other is at least as good as in everything, ascending; smaller is
    better."""
    return nondominated_by(map(tuple, points), lambda point: point)


def nondominated_by(
    things: Iterable[Thing], vector: Callable[[Thing], tuple[Fraction, ...]]
) -> list[Thing]:
    """The things whose points no other is at least as good as in everything, ascending; of equals
    the first."""
    every = list(things)
    best = undominated((vector(thing), (place,)) for place, thing in enumerate(every))
    return [every[place] for _, (place,) in best]


def hypervolume(points: Iterable[Vector], reference: Vector) -> Fraction:
    """The volume that is dominated by some point and dominates the reference; all objectives are
    minimised.

    By slices along the last objective, between which the front of the others stays as it is.
    """
    inside = [
        point for point in points if all(a < b for a, b in zip(point, reference, strict=True))
    ]
    if not inside:
        return Fraction(0)
    if len(reference) == 1:
        return reference[0] - min(point[0] for point in inside)
    heights = sorted({point[-1] for point in inside})
    volume = Fraction(0)
    for low, high in zip(heights, (*heights[1:], reference[-1]), strict=True):
        slab = nondominated(point[:-1] for point in inside if point[-1] <= low)
        volume += hypervolume(slab, reference[:-1]) * (high - low)
    return volume
