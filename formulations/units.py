"""Units of amounts that people type: ``3W``, ``500mW``, ``2mm2``, ``20GB/s``, ``64KiB``."""

from __future__ import annotations

import re
from fractions import Fraction

from ithaca.files.numbers import DECIMAL, SCALES

#: Powers of ten, or of 1,024, by their prefix.
_PREFIXES = {
    "": Fraction(1),
    **{prefix: Fraction(1, 1000**n) for n, prefix in enumerate("mµnpf", 1)},
    "u": Fraction(1, 10**6),
    "c": Fraction(1, 100),
    **{prefix: Fraction(1000**n) for n, prefix in enumerate("kMGT", 1)},
    **{f"{prefix}i": Fraction(1024**n) for n, prefix in enumerate("KMGT", 1)},
}

#: A unit with its prefix; that of an area is squared with it.
_UNIT = re.compile(rf"(?P<prefix>{'|'.join(_PREFIXES)})(?P<base>W|J|B/s|B|s|Hz|op/s|m(2|²|\^2))")

_AMOUNT = re.compile(rf"({DECIMAL})\s*(?P<unit>\S.*)?")


def size(unit: str) -> tuple[str, Fraction] | None:
    """The base unit, and how many of it a unit is; None of one that has no prefixes, as blocks."""
    if (match := _UNIT.fullmatch(unit)) is None:
        return None
    base, factor = match["base"], _PREFIXES[match["prefix"]]
    return ("m²", factor**2) if base.startswith("m") else (base, factor)


def amount(text: str, unit: str) -> Fraction | None:
    """An amount in some unit of what people type: a number, perhaps with k, M or G, or with that
    unit or another of its kind; None if it is none."""
    if (match := _AMOUNT.fullmatch(text.strip())) is None:
        return None
    number, own = Fraction(match[1]), str(match["unit"] or "")
    if not own or own in SCALES:
        return number * SCALES.get(own, 1)
    if own == unit:
        return number
    known, other = size(own), size(unit)
    if known is None or other is None or known[0] != other[0]:
        return None
    return number * known[1] / other[1]


def example(unit: str) -> str:
    """An amount with its unit as it may be typed, for messages; empty of what has no prefixes."""
    return "" if size(unit) is None else f"3{unit.replace('²', '2')}"
