"""Factors that fill lanes or trips: what ``maximize_dims`` of Timeloop's front end comes to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import ceil

from ithaca.plugins.hierarchies.formulations.cosa import prime_factors


def filling(extents: Sequence[int], room: int) -> tuple[int, ...]:
    """The factors of loops, in their order, that fill a room best: whole divisors, or of an extent
    that exceeds the room equal parts but for the last, by their average. Of equally good ones those
    that give to the first loops, their least primes first, as the front end does."""
    return _filling(tuple(extents), room)[1]


@cache
def _filling(extents: tuple[int, ...], room: int) -> tuple[Fraction, tuple[int, ...]]:
    best = Fraction(1), (1,) * len(extents)
    for place, extent in enumerate(extents if room > 1 else ()):
        options: list[tuple[Fraction, int, tuple[int, ...] | None]] = []
        if extent > room:
            parts = ceil(Fraction(extent, room))
            most = ceil(Fraction(extent, parts))
            options = [(Fraction(most * (parts - 1) + extent % most, parts), most, None)]
        for prime in dict.fromkeys(p for p in prime_factors(extent) if p <= room):
            left = (*extents[:place], extent // prime, *extents[place + 1 :])
            used, own = _filling(left, room // prime)
            options.append((prime * used, prime, own))
        for used, factor, inner in options:
            if used > best[0]:
                own = inner or (1,) * len(extents)
                best = used, (*own[:place], factor * own[place], *own[place + 1 :])
    return best
