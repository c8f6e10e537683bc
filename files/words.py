"""Turn words, of the command line or of Python, into numbers and names; refuse what does not fit.

Numbers may be given as such: they are read as they are written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.numbers import SCALES, scaled_number

#: Rows of a table in Python.
Rows = Mapping[str, Any] | Iterable[Mapping[str, Any]]

#: Marks an option that may be given several times.
REPEATED = "repeated"


def several(words: Sequence[str] | None) -> Sequence[str]:
    """The words of an option that may be given several times."""
    return [words] if isinstance(words, str) else words or []


def parse_counts(
    option: str, counts: Mapping[str, object] | Sequence[str] | None, example: str
) -> dict[str, int]:
    """Whole numbers from words such as ``d=1,m=8``, which may be given several times, or by
    name.

    Parameters
    ----------
    option : str
        The option's name, for messages.
    counts : mapping of str to object or sequence of str, optional
        Words, or numbers by name; None: there are none.
    example : str
        A word as it may be, for messages.

    Raises
    ------
    InputError
        If a word is no name with a value, or a value no integer from 0 on.
    """
    pairs = (
        counts.items()
        if isinstance(counts, Mapping)
        else assignments(option, several(counts), example)
    )
    return {str(name): parse_integer(f"{option} {name}", value, least=0) for name, value in pairs}


def split_values(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == separator and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def parse_loops(
    words: str | Sequence[str] | None, option: str = "--dataflow"
) -> tuple[str, ...] | None:
    """Loop names, or words such as ``i,j``."""
    if words is None:
        return None
    text = words if isinstance(words, str) else ",".join(words)
    loops = tuple(part.strip() for part in text.split(","))
    if not all(loops):
        raise InputError(f"{option} is {quoted(text)}; allowed: names such as i,j")
    return loops


def parse_choice(option: str, word: object, allowed: Collection[str], why: str = "") -> str:
    """A word of those allowed, or what it stands for.

    Parameters
    ----------
    option : str
        The option's name, for messages.
    word : object
        A word, or a member of an enumeration.
    allowed : collection of str
        The words that are allowed.
    why : str, optional
        What follows these in the message.

    Raises
    ------
    InputError
        If the word is none of them.
    """
    text = str(word.value if isinstance(word, Enum) else word)
    if text not in allowed:
        raise InputError(f"{option} is {quoted(text)}{among(text, allowed, why)}")
    return text


#: Units of times, in seconds; and of shares.
TIMES, SHARES = {"s": 1, "m": 60, "h": 3600}, {"%": Fraction(1, 100)}


def parse_number(
    option: str,
    value: object,
    *,
    positive: bool = False,
    units: Mapping[str, int | Fraction] = SCALES,
) -> float:
    """A finite number, perhaps with a unit, that is not negative (nor 0, where it must be
    positive).

    Parameters
    ----------
    option : str
        The option's name, for messages.
    value : object
        A number or its text.
    positive : bool, optional
        Whether 0 is refused, too.
    units : mapping of str to int or Fraction, optional
        Factors by the letters that may follow the number.

    Raises
    ------
    InputError
        If it is no such number.
    """
    text = str(value)
    try:
        number = scaled_number(text, units)
        read = float(text if number is None else number)
    except ValueError:
        read = math.nan
    if not math.isfinite(read) or read < 0 or (positive and read == 0):
        raise InputError(
            f"{option} is {quoted(text)}; allowed: a finite number {'>' if positive else '≥'} 0, "
            f"or one with {', '.join(units)}"
        )
    return read


def parse_integer(option: str, value: object, *, least: int) -> int:
    """An integer of at least ``least``.

    Parameters
    ----------
    option : str
        The option's name, for messages.
    value : object
        A number or its text, of 18 digits at most.
    least : int
        The least that is allowed.

    Raises
    ------
    InputError
        If it is no such integer.
    """
    text = str(value)
    if (
        isinstance(value, str)
        and (number := scaled_number(text)) is not None
        and number.denominator == 1
    ):
        text = str(int(number))
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or int(text) < least:
        digits = " of at most 18 digits" if re.fullmatch(r"\+?[0-9]{19,}", text) else ""
        raise InputError(f"{option} is {quoted(text)}; allowed: an integer ≥ {least}{digits}")
    return int(text)


def assignments(option: str, texts: Sequence[str], example: str) -> list[tuple[str, str]]:
    """Names and values of words such as ``i=1024,j=512``.

    Parameters
    ----------
    option : str
        The option's name, for messages.
    texts : sequence of str
        Words, several in a text with commas between them.
    example : str
        A word as it may be, for messages.

    Raises
    ------
    InputError
        If a word is no name with a value.
    """
    values: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            name, equals, value = (word.strip() for word in part.partition("="))
            if not equals or not name or not value:
                raise InputError(
                    f"{option} is {quoted(text)}; allowed: NAME=VALUE,… such as {example}"
                )
            if name in values:
                raise InputError(f"{option}: {name} is given twice")
            values[name] = value
    return list(values.items())
