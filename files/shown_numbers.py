"""Numbers as people read them."""

from __future__ import annotations

from fractions import Fraction


def number(value: Fraction | float | None) -> str:
    """A number with thousands separators and no superfluous decimals."""
    if value is None:
        return "–"
    shown = float(value)
    return f"{shown:.4g}" if 0 < abs(shown) < 1 else f"{shown:,.4f}".rstrip("0").rstrip(".")


def rounded(value: Fraction | float | None, digits: int = 4) -> str:
    """A physical quantity, to some significant digits."""
    return number(value if value is None else float(f"{float(value):.{digits}g}"))


def percent(share: Fraction | float) -> str:
    """A share in per cent, of small ones two significant digits."""
    shown = float(share) * 100
    return f"{shown:.1f} %" if shown >= 0.95 or not shown else f"{shown:.2g} %"


def counted(count: int, thing: str) -> str:
    """How many of a thing whose plural ends in s."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def is_or_are(count: int) -> str:
    """The verb after a count."""
    return "is" if count == 1 else "are"
