"""Upper limits as people type them: bounds of metrics and expressions, with their units (``3W``,
``500mW``, ``2mm2``, ``20GB/s``, ``64KiB``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import DECIMAL, SCALES, json_number
from ithaca.files.words import several, split_values
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import maximised
from ithaca.formulations.platform import Bound, Share

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


def parse_limits(
    words: Mapping[str, object] | Sequence[str],
    metrics: Mapping[str, Metric] | None = None,
    *,
    requirements: bool = True,
) -> dict[str, Bound]:
    """Limits from words such as ``dsp=8601,bram18k=3763`` or ``latency*dsp<=1e9``, several times,
    or by name.

    The left side is any expression over metrics; ``<=`` and ``=`` mean the same. Where more is
    better the sign says which limit it is: ``throughput>=5`` is a requirement, and ``=`` is
    refused, but of what is scarce, such as PEs. A bound may be a share of the platform's resource
    (``bram18k=50%``), or ``none``; of ``metrics`` it may have a unit (``power=3W``).
    Without ``requirements`` there is no ``--require`` for lower limits of other metrics.

    Parameters
    ----------
    words : mapping or sequence of str
        Bounds by metric, or such texts.
    metrics : mapping of str to Metric, optional
        The metrics that may be limited, for units and for which way is better.
    requirements : bool
        Whether lower limits may be stated as requirements.
    """

    def read(name: str, value: object) -> Bound:
        return parse_upper(name, value, "--limit: ", unit_of(name, metrics or {}))

    if isinstance(words, Mapping):
        for name, value in words.items():
            if value not in (None, "none") and goes_both_ways(str(name), metrics or {}):
                raise _both_ways(str(name), value)
        return {str(name): read(str(name), value) for name, value in words.items()}
    limits, seen = dict[str, Bound](), set[tuple[str, bool]]()
    for part in (part for text in several(words) for part in split_values(text)):
        name, sign, value = _sides(part)
        if sign == "=" and value != "none" and goes_both_ways(name, metrics or {}):
            raise _both_ways(name, value)
        own = name
        if lower := sign == ">=":
            if metrics and "." not in name:
                parse_expression(name, where="--limit", allowed=metrics)
            if not _better_the_more(name, metrics or {}):
                instead = f", and --require '{name} >= {value}'" if requirements else ""
                raise InputError(
                    f"--limit is {quoted(part)}; allowed: upper limits only, METRIC=VALUE or "
                    f"METRIC<=VALUE{instead}"
                )
        bound = read(name, value)
        if lower:
            if not isinstance(bound, Fraction):
                raise InputError(f"--limit is {quoted(part)}; allowed: numbers behind >=")
            text = str(json_number(bound))
            own = f"{name} >= {text if Fraction(text) == bound else bound}"
        if (name, lower) in seen:
            raise InputError(f"--limit: {quoted(name)} is given twice")
        seen.add((name, lower))
        limits[own] = Fraction(0) if lower else bound
    return limits


def _sides(part: str) -> tuple[str, str, str]:
    """The name, sign and value of a limit as it is typed."""
    match = re.fullmatch(r"([^=<>]*)(<=|>=|=)([^=<>]*)", part)
    if match is None and re.search("[<>]|==", part):
        raise InputError(
            f"--limit is {quoted(part)}; allowed: METRIC=VALUE, METRIC<=VALUE, or "
            "METRIC>=VALUE where more is better"
        )
    name, sign, value = (word.strip() for word in match.groups()) if match else ("", "", "")
    if not name or not value:
        raise InputError(
            f"--limit is {quoted(part)}; allowed: METRIC=VALUE,… such as dsp=8601,bram18k=3763"
        )
    return name, sign, value


def _better_the_more(name: str, metrics: Mapping[str, Metric]) -> Collection[str]:
    """The names in a metric or expression of which more is better, so that a limit on it may be a
    lower one; none of others."""
    try:
        expression = maximised(name, metrics)
    except InputError:
        return ()
    return () if expression is None else expression.symbols


def goes_both_ways(name: str, metrics: Mapping[str, Metric]) -> bool:
    """Whether a limit of this name may be meant as a lower or an upper one: more is better, and it
    is nothing that hardware has so much of.

    Parameters
    ----------
    name : str
        A metric, or an expression over metrics.
    metrics : mapping of str to Metric
        Metrics by name.
    """
    names = _better_the_more(name, metrics)
    return not all(each in metrics and metrics[each].scarce for each in names)


def _both_ways(name: str, value: object) -> InputError:
    """The error of a limit of which it is open whether it is an upper one."""
    return InputError(
        f"--limit: {quoted(name)} is {quoted(str(value))}, and more of it is better; allowed: "
        f"'{name}>={value}' for at least that, '{name}<={value}' for at most"
    )


def unit_of(name: str, metrics: Mapping[str, Metric]) -> str:
    """The unit of a metric, or of one of its parts, such as ``DRAM.energy``; empty where it is not
    known."""
    metric = metrics.get(name) or metrics.get(name.rpartition(".")[2])
    return "" if metric is None else metric.unit


def typed_unit(name: str, metrics: Mapping[str, Metric]) -> str:
    """The unit of a metric if people may type it behind a limit; else empty, as of blocks."""
    unit = unit_of(name, metrics)
    return unit if example(unit) else ""


def parse_upper(name: str, value: object, where: str = "", unit: str = "") -> Bound:
    """Read the upper limit of a metric, or of an expression over metrics.

    Parameters
    ----------
    name : str
        The metric or expression.
    value : object
        A number, a share such as ``50%``, or ``none``.
    where : str, optional
        What error lines begin with.
    unit : str, optional
        The metric's unit, which the number is in unless it says another, as in ``500mW``.

    Returns
    -------
    Fraction or Share or None
        The limit; None: there is none.

    Raises
    ------
    InputError
        If the value is none of these.
    """
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
    size = text if plain else text.removeprefix("-")
    if (number := amount(size, unit)) is None:
        sign = " that is not negative" if plain else ""
        of = f" of {unit}" if unit else ""
        typed = f", or with a unit such as {example(unit)}" if example(unit) else ""
        if not unit and re.match(rf"{DECIMAL}\s*[^\W\d]", size):
            typed = f", without a unit, as none is known of {name}"
        what = (
            f"a finite number{of}{sign}, such as 8601.6, 2k or 1e9{typed}; exponents of two digits"
        )
        raise InputError(f"{where}{quoted(name)} is {quoted(text)}; allowed: {what}")
    return -number if text.startswith("-") else number
