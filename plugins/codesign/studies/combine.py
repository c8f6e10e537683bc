"""Mappings of several layers at once, where more than one number depends on them: sums of the
layers' proven fronts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.hypervolume import nondominated_by
from ithaca.plugins.codesign.studies.question import Amount

#: A mapping of a layer: its design's number, configuration, and what it counts of every amount.
Choice = tuple[int, Configuration, tuple[Fraction, ...]]


@dataclass(frozen=True)
class Combination:
    """A mapping of every layer."""

    totals: tuple[Fraction, ...]
    """By amount."""
    choices: tuple[Choice, ...]
    """By layer."""


def combinations(
    amounts: Sequence[Amount], layers: Sequence[Sequence[Choice]]
) -> list[Combination]:
    """All sums of choices, one of each layer, that no other sum dominates and that keep the limits;
    ascending.

    A choice's numbers are of one run; nothing that a layer's front leaves out can be of use, as
    sums and limits grow with them.
    """
    shares = [[amount.shares[place] for amount in amounts] for place in range(len(layers))]
    weighed = [
        [(choice, tuple(s * n for s, n in zip(own, choice[2], strict=True))) for choice in options]
        for own, options in zip(shares, layers, strict=True)
    ]
    if not all(weighed):
        return []
    rest = [Fraction(0)] * len(amounts)
    least = [
        tuple(min(numbers[a] for _, numbers in options) for a in range(len(amounts)))
        for options in weighed
    ]
    for numbers in least:
        rest = [r + n for r, n in zip(rest, numbers, strict=True)]
    partial = [Combination((Fraction(0),) * len(amounts), ())]
    for options, own in zip(weighed, least, strict=True):
        rest = [r - n for r, n in zip(rest, own, strict=True)]
        sums = (
            Combination(
                tuple(t + n for t, n in zip(known.totals, numbers, strict=True)),
                (*known.choices, choice),
            )
            for known in partial
            for choice, numbers in options
        )
        partial = nondominated_by(
            (c for c in sums if _may_fit(amounts, c.totals, rest)), lambda c: c.totals
        )
    return partial


def _may_fit(
    amounts: Sequence[Amount], totals: Sequence[Fraction], rest: Sequence[Fraction]
) -> bool:
    return all(
        a.bound is None or t + r <= a.bound for a, t, r in zip(amounts, totals, rest, strict=True)
    )
