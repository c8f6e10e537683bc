"""Shares: how much of the arithmetic that was asked for is counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.files.numbers import json_number, number, percent

#: Shares above are not rounded.
NEARLY_ALL = Fraction(999, 1000)


@dataclass(frozen=True, slots=True)
class Share:
    """The counted share of some multiply-accumulates."""

    counted: Fraction
    """The multiply-accumulates of the layers."""
    left_out: Fraction = Fraction(0)
    """The multiply-accumulates of everything else, as far as they are known."""
    uncounted: tuple[str, ...] = ()
    """Operators whose multiply-accumulates are not known."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.left_out and not self.uncounted

    @property
    def value(self) -> Fraction:
        """The share; where something could not be counted, the most that it can be."""
        return self.counted / (self.counted + self.left_out)

    @property
    def known(self) -> Fraction | None:
        """The share, or the most that it can be; None where that says nothing."""
        return None if self.uncounted and not self.left_out else self.value

    @property
    def document(self) -> dict[str, Any]:
        """The fields of documents that say how much of the arithmetic totals are about."""
        return {
            "operations": json_number(self.counted),
            "share": None if self.known is None else json_number(self.known),
            "left_out": json_number(self.left_out),
            "uncounted": list(self.uncounted),
        }

    @property
    def amount(self) -> str:
        """The share in per cent, never rounded to all."""
        if self.whole:
            return "100 %"
        if self.known is None:
            return "unknown share"
        part = "more than 99.9 %" if self.known > NEARLY_ALL else percent(self.known)
        return f"at most {part}" if self.uncounted else part

    @property
    def words(self) -> str:
        """Words after a status: `` of the 50.0 % counted``; empty where nothing is left out."""
        return "" if self.whole else f" of the {self.amount} counted"

    @property
    def statement(self) -> str:
        """The share, and the numbers that make it."""
        known = number(self.counted + self.left_out)
        if self.whole:
            return f"all {known} multiply-accumulates"
        if self.uncounted:
            known = f"at least {known}, as those of {', '.join(self.uncounted)} are not known"
        return f"{self.amount} of the multiply-accumulates: {number(self.counted)} of {known}"


def together(shares: Iterable[tuple[Fraction, Share]]) -> Share:
    """The share of several, each with a weight."""
    parts = list(shares)
    return Share(
        sum((weight * share.counted for weight, share in parts), Fraction(0)),
        sum((weight * share.left_out for weight, share in parts), Fraction(0)),
        tuple(dict.fromkeys(name for _, share in parts for name in share.uncounted)),
    )
