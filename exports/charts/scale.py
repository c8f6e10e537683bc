"""Scales of axes: where values stand, and which ones are named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

#: Metric suffixes of numbers.
_SUFFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(value: float) -> str:
    """A number with a metric suffix, such as 640 k, for an axis."""
    for scale, letter in _SUFFIXES:
        if scale <= abs(value) < 1e21:
            return f"{value / scale:.6g} {letter}"
    return f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Places along a line, in the order of values."""

    low: float
    high: float
    start: float = 0.0
    """The place of the least value."""
    end: float = 1.0
    """The place of the greatest one."""
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; of those beyond an end, the end."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic and low > 0:
            low, high, at = log10(low), log10(high), log10(at)
        share = (at - low) / (high - low) if high > low else 0.0
        return self.start + share * (self.end - self.start)

    def ticks(self, most: float) -> list[float]:
        """Round values at about so many places."""
        low, high = self.low, self.high
        decades = log10(high / low) if self.logarithmic else 0.0
        if decades >= 1:
            subs = next(s for s in ("125", "13", "1") if len(s) * decades <= 1.6 * most or s == "1")
            powers = range(floor(log10(low)), ceil(log10(high)) + 1, ceil(decades / (1.6 * most)))
            return [v for p in powers for s in subs if low <= (v := int(s) * 10.0**p) <= high]
        power, places = 10.0 ** floor(log10((high - low) / most)), range(0)
        for step in (power * n for n in (1, 2, 2.5, 5, 10, 20)):
            places = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
            if len(places) <= most + 1:
                break
        return [place * step for place in places]


def spread(values: Iterable[float], logarithmic: bool) -> tuple[float, float]:
    """The ends of an axis: those of its values, with a margin."""
    known = [v for v in values if v > 0 or not logarithmic] or [1.0]
    low, high = min(known), max(known)
    if logarithmic:
        ratio = (high / low) ** 0.05 if high > low else 1.5
        return low / ratio, high * ratio
    margin = (high - low) * 0.05 if high > low else abs(low) / 20 or 1.0
    return low - margin, high + margin
