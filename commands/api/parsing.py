"""Turn words, of the command line or of Python, into objects; refuse what does not fit.

Numbers may be given as such: they are read as they are written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import DECIMAL
from ithaca.formulations.platform import Bound, Share
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.target import Target
from ithaca.solver.options import SolveOptions
from ithaca.workloads.nest import MAX_EXTENT

if TYPE_CHECKING:
    from ithaca.solver.engines import Method


def parse_sizes(given: Mapping[str, object] | Sequence[str]) -> dict[str, int]:
    """Extents from words such as ``i=1024,j=512``, which may be given several times, or by name."""
    if isinstance(given, Mapping):
        return {str(name): parse_extent(str(name), value) for name, value in given.items()}
    words = _assignments("--sizes", several(given), "i=1024,j=1024")
    return {name: parse_extent(name, value, "--sizes: ") for name, value in words}


def parse_extents(
    sizes: Mapping[str, object] | Sequence[str] | None, by_name: Mapping[str, object]
) -> dict[str, int]:
    """Extents from ``--sizes`` and from keywords."""
    own, more = parse_sizes(sizes or {}), parse_sizes(by_name)
    for name in own.keys() & more.keys():
        raise InputError(
            f"{name} is given twice, as a keyword and in --sizes; allowed: one of them"
        )
    return own | more


def several(given: Sequence[str] | None) -> Sequence[str]:
    """The words of an option that may be given several times."""
    return [given] if isinstance(given, str) else given or []


def parse_counts(
    option: str, given: Mapping[str, object] | Sequence[str] | None, example: str
) -> dict[str, int]:
    """Whole numbers from words such as ``d=1,m=8``, which may be given several times, or by
    name."""
    pairs = (
        given.items()
        if isinstance(given, Mapping)
        else _assignments(option, several(given), example)
    )
    return {str(name): parse_integer(f"{option} {name}", value, least=0) for name, value in pairs}


def parse_extent(loop: str, value: object, where: str = "") -> int:
    """An extent; whether it is in range, the nest says."""
    text = str(value)
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise InputError(
            f"{where}loop '{loop}' is {quoted(text)}; allowed: an integer from 1 to {MAX_EXTENT}"
        )
    return int(text)


def parse_limits(given: Mapping[str, object] | Sequence[str]) -> dict[str, Bound]:
    """Limits from words such as ``dsp=8601,bram18k=3763`` or ``latency*dsp<=1e9``, several times,
    or by name.

    The left side is any expression over metrics; ``<=`` and ``=`` mean the same. A bound may be a
    share of the platform's resource (``bram18k=50%``), or ``none``.
    """
    if isinstance(given, Mapping):
        return {
            str(name): parse_upper(str(name), value, "--limit: ") for name, value in given.items()
        }
    limits: dict[str, Bound] = {}
    texts = several(given)
    for text in texts:
        if re.search(r"[^=<>]\s*(>=?|=>|<(?!=)|==)", text):
            raise InputError(
                f"--limit is {quoted(text)}; allowed: upper limits only, "
                "METRIC=VALUE or METRIC<=VALUE"
            )
    for part in [part for text in texts for part in split_values(text.replace("<=", "="))]:
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name or not value:
            raise InputError(
                f"--limit is {quoted(part)}; allowed: METRIC=VALUE,… such as dsp=8601,bram18k=3763"
            )
        if name in limits:
            raise InputError(f"--limit: {quoted(name)} is given twice")
        limits[name] = parse_upper(name, value, "--limit: ")
    return limits


def parse_upper(name: str, value: object, where: str = "") -> Bound:
    """What a metric, or an expression over metrics, may be at most: a number, a share, or none."""
    if value is None or value == "none":
        return None
    if isinstance(value, str) and value.endswith("%"):
        if not re.fullmatch(f"{DECIMAL}%", value):
            raise InputError(
                f"{where}{quoted(name)} is {quoted(value)}; allowed: a share such as 50%"
            )
        return Share(Fraction(value[:-1]))
    plain = name.replace(".", "").isidentifier()
    if isinstance(value, Fraction) and (value >= 0 or not plain):
        return value
    text = str(value)
    if not re.fullmatch(("" if plain else "-?") + DECIMAL, text):
        sign = " that is not negative" if plain else ""
        what = f"a finite number{sign}, such as 8601.6 or 1e9; exponents of two digits"
        raise InputError(f"{where}{quoted(name)} is {quoted(text)}; allowed: {what}")
    return Fraction(text)


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


def parse_loops(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Loop names, or words such as ``i,j``."""
    if given is None:
        return None
    text = given if isinstance(given, str) else ",".join(given)
    loops = tuple(part.strip() for part in text.split(","))
    if not all(loops):
        raise InputError(f"--dataflow is {quoted(text)}; allowed: loop names such as i,j")
    return loops


def parse_choice(option: str, word: object, allowed: Collection[str], why: str = "") -> str:
    """A word of those allowed, or what it stands for."""
    text = str(word.value if isinstance(word, Enum) else word)
    if text not in allowed:
        raise InputError(f"{option} is {quoted(text)}; allowed: {', '.join(allowed)}{why}")
    return text


def parse_method(name: object) -> Method:
    """Look up an engine."""
    from ithaca.solver.engines import Method

    return Method(parse_choice("--method", name, [m.value for m in Method]))


def parse_steady_method(name: object, time_limit: object) -> Method:
    """Look up an engine; unless one is named the one that finds the same in every run, or under a
    time limit the most."""
    return parse_method(name or ("exact" if time_limit is None else "auto"))


def parse_proving_method(name: object) -> Method:
    """Look up an engine that proves optimality."""
    from ithaca.solver.engines import PROVERS, Method

    allowed = [m.value for m in (Method.AUTO, *PROVERS, Method.STAGED)]
    return Method(parse_choice("--method", name, allowed, ", which prove what they find"))


def parse_engines(
    method: object, given: str | Sequence[str] | None
) -> tuple[Method, Method | None]:
    """The engine to solve with; or two that prove optimality, such as ``exact,cpsat``, where they
    are given."""
    from ithaca.solver.engines import PROVERS, Method

    one = parse_method(method)
    if given is None:
        return one, None
    text = given if isinstance(given, str) else ",".join(given)
    own = {Method.EXACT.value, Method.STAGED.value}  # of designs that offer stages both are one
    names, allowed = (
        [part.strip() for part in text.split(",")],
        [m.value for m in (*PROVERS, Method.STAGED)],
    )
    if (
        len(names) != 2
        or len(set(names)) != 2
        or not set(names) <= set(allowed)
        or set(names) == own
    ):
        raise InputError(
            f"--prove-with is {quoted(text)}; allowed: two different "
            "ones of exact (or staged), cpsat"
        )
    return Method(names[0]), Method(names[1])


def parse_edition(name: object) -> Edition:
    """Look up a model edition."""
    return Edition(parse_choice("--edition", name, [e.value for e in Edition]))


def parse_target(name: str | None) -> Target | None:
    """Look up a compiler that ``--for`` names; None for none."""
    return (
        None
        if name is None
        else Target(parse_choice("--for", name, [target.value for target in Target]))
    )


def parse_search(time_limit: object, gap: object = 0, seed: object = 0) -> SolveOptions:
    """How far to search, from ``--time-limit``, ``--gap`` and ``--seed``."""
    seconds = (
        None if time_limit is None else parse_number("--time-limit", time_limit, positive=True)
    )
    return SolveOptions(
        seconds, parse_number("--gap", gap), seed=parse_integer("--seed", seed, least=0)
    )


def parse_number(option: str, value: object, *, positive: bool = False) -> float:
    """A finite number that is not negative (nor 0, where it must be positive)."""
    text = str(value)
    try:
        read = float(text)
    except ValueError:
        read = math.nan
    if not math.isfinite(read) or read < 0 or (positive and read == 0):
        raise InputError(
            f"{option} is {quoted(text)}; allowed: a finite number {'>' if positive else '≥'} 0"
        )
    return read


def parse_integer(option: str, value: object, *, least: int) -> int:
    """An integer of at least ``least``."""
    text = str(value)
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or int(text) < least:
        digits = " of at most 18 digits" if re.fullmatch(r"\+?[0-9]{19,}", text) else ""
        raise InputError(f"{option} is {quoted(text)}; allowed: an integer ≥ {least}{digits}")
    return int(text)


def _assignments(option: str, texts: Sequence[str], example: str) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            name, equals, value = (word.strip() for word in part.partition("="))
            if not equals or not name or not value:
                raise InputError(
                    f"{option} is {quoted(text)}; allowed: NAME=VALUE,… such as {example}"
                )
            if name in found:
                raise InputError(f"{option}: {name} is given twice")
            found[name] = value
    return list(found.items())
