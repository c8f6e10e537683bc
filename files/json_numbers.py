"""Numbers and documents as they cross the border: read strictly, written exactly.

Inside, all numbers are exact rationals; in a file they are JSON numbers. How files are read and
refused stands in `ithaca.files.reading`, whose functions can be had from here, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse as refuse
from ithaca.files.reading import MAX_DIGITS as MAX_DIGITS
from ithaca.files.reading import parse_json as parse_json
from ithaca.files.reading import read_text as read_text

#: Version of all documents Ithaca reads and writes.
SCHEMA = "ithaca/1"

#: A number that is not negative, as somebody types it or a result prints it: of up to 40 digits
#: before and after the point.
DECIMAL = r"([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?"


def json_number(value: Fraction) -> int | float:
    """An exact rational as a JSON number: an integer where it is one, else the nearest double."""
    return json_ratio(value.numerator, value.denominator)


def json_ratio(over: int, under: int) -> int | float:
    """`json_number` of a quotient, in lowest terms or not; the denominator is positive."""
    whole, rest = divmod(over, under)
    if not rest:
        return whole
    # beyond the doubles the nearest integer is closer than any double could be; int / int is
    # rounded to nearest
    return over / under if abs(over) < under << 1000 else round(Fraction(over, under))


def fraction(number: int | float) -> Fraction:
    """The exact rational a JSON number stands for, by its decimal text: 0.7 is 7/10.

    The inverse of `json_number` for integers and for decimals of up to 15 digits; for every
    other double, ``float(fraction(number)) == number``.

    Raises `InputError` if the number is not finite.
    """
    if isinstance(number, int):
        return Fraction(number)
    if not math.isfinite(number):
        raise InputError(f"number is {number}; allowed: a finite number")
    return Fraction(repr(number))


def document_text(document: Mapping[str, Any]) -> str:
    """A document as JSON text, ready to print or write; never contains NaN or Infinity."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def spelled(value: Fraction | None) -> str:
    """A number as documents state it, in an error message."""
    return "null" if value is None else str(json_number(value))
