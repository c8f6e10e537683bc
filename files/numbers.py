"""Numbers at the border: read strictly, written exactly, and as people read them.

Inside, all numbers are exact rationals; in a file they are JSON numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError

#: A number that is not negative, as somebody types it or a result prints it: of up to 40 digits
#: before and after the point.
DECIMAL = r"([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?"


#: What follows a number that people write.
SCALES = {"k": 10**3, "M": 10**6, "G": 10**9}


def scaled_number(text: str, units: Mapping[str, int | Fraction] = SCALES) -> Fraction | None:
    """A number as people write it, such as 2k, 1e6, 10m or 50%; None if it is none."""
    match = re.fullmatch(rf"(?P<number>{DECIMAL})(?P<unit>{'|'.join(units)})?", text)
    return Fraction(match["number"]) * units.get(match["unit"], 1) if match else None


def json_number(value: Fraction) -> int | float:
    """An exact rational as a JSON number: an integer where it is one or beyond 2**53, else
    the nearest double.

    It grows with the number, and that of what is read from a file is what the file says: exact
    numbers are compared by it with those of files.
    """
    return json_ratio(value.numerator, value.denominator)


def json_ready(value: Any) -> Any:
    """A value with exact rationals as JSON numbers, and members of enumerations as their values,
    wherever they stand."""
    if isinstance(value, Mapping):
        return {name: json_ready(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(json_ready, value))
    if isinstance(value, Enum):
        return value.value
    return json_number(value) if isinstance(value, Fraction) else value


def json_ratio(over: int, under: int) -> int | float:
    """`json_number` of a quotient, in lowest terms or not; the denominator is positive."""
    whole, rest = divmod(over, under)
    if not rest:
        return whole
    # where doubles are whole numbers the nearest integer is closer, and is read as it is written;
    # int / int is rounded to nearest
    return over / under if abs(over) < under << 53 else round(Fraction(over, under))


def unquoted(value: Any) -> Any:
    """A number that a file has in quotes, ``K: "16"``, as YAML without them has it; other values as
    they are."""
    if not isinstance(value, str) or not re.fullmatch(DECIMAL, value.strip()):
        return value
    text = value.strip()
    return int(text) if text.isdecimal() else float(text)


def fraction(number: int | float | Fraction) -> Fraction:
    """The exact rational a JSON number stands for, by its decimal text: 0.7 is 7/10; a rational's
    is itself.

    The inverse of `json_number` for integers and for decimals of up to 15 digits; for every
    other double, ``float(fraction(number)) == number``.

    Raises `InputError` if the number is not finite.
    """
    if isinstance(number, int | Fraction):
        return Fraction(number)
    if not math.isfinite(number):
        raise InputError(f"number is {number}; allowed: a finite number")
    return Fraction(repr(number))


def spelled(value: Fraction | None) -> str:
    """A number as documents state it, in an error message."""
    return "null" if value is None else str(json_number(value))


def number(value: Fraction | float | None) -> str:
    """A number with thousands separators and no superfluous decimals."""
    if value is None:
        return "–"
    try:
        decimal = float(value)
    except OverflowError:  # beyond all doubles
        return f"{Decimal(round(value)):.4g}"
    return f"{decimal:.4g}" if 0 < abs(decimal) < 1 else f"{decimal:,.4f}".rstrip("0").rstrip(".")


def rounded(value: Fraction | float | None, digits: int = 4) -> str:
    """A physical quantity, to some significant digits."""
    return number(value if value is None else float(f"{float(value):.{digits}g}"))


def engineering(value: Fraction | float | None) -> str:
    """A number; of a thousand million and more four digits times a power of 1,000."""
    decimal = 0.0 if value is None else float(value)
    if abs(decimal) < 1e9:
        return number(value)
    thousands = (len(f"{abs(decimal):.0f}") - 1) // 3
    power = str(3 * thousands).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{decimal / 1000**thousands:.4g} × 10{power}"


def percent(share: Fraction | float) -> str:
    """A share in per cent, of small ones two digits."""
    hundredths = float(share) * 100
    text = f"{hundredths:.1f}" if hundredths >= 0.95 or not hundredths else f"{hundredths:.2g}"
    return f"{'< 0.0001' if 'e-' in text else text} %"


def counted(count: int, thing: str) -> str:
    """A count of things in words, of which the plural ends in s."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def is_or_are(count: int) -> str:
    """The verb after a count."""
    return "is" if count == 1 else "are"
