"""Axes of charts: how they are scaled, named and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, isfinite, log10
from typing import Any

from ithaca.exports.charts.chart import AxisUnit
from ithaca.exports.charts.palette import ROLES

#: Sizes of text: names of axes, and all others (pixels).
TEXT, SMALL = 12, 11.5

#: About as many ticks an axis has.
TICKS = 5

#: The colours and sizes of axes.
AXIS_COLOURS: dict[str, Any] = {
    "labelColor": ROLES["soft"],
    "labelFontSize": SMALL,
    "titleColor": ROLES["ink"],
    "titleFontSize": TEXT,
    "titleFontWeight": "normal",
    "gridColor": ROLES["rule"],
    "domainColor": ROLES["soft"],
    "tickColor": ROLES["soft"],
    "titleLimit": 290,
}

#: Words on a mark, for those who point at it and those who do not see it.
TOLD: dict[str, Any] = {"tooltip": {"field": "tip"}, "description": {"field": "tip"}}


def short(value: str, digits: int = 6) -> str:
    """An expression for a number with a metric suffix from 100,000 on, such as 640k.

    Parameters
    ----------
    value : str
        The expression of the number.
    digits : int, optional
        Most digits of it that are written.
    """
    suffixed = f"format({value}, '.{digits}~s')"
    return f"(abs({value}) >= 100000 ? {suffixed} : format({value}, ',.{digits}~r'))"


def axis(
    label: str,
    also: AxisUnit | None = None,
    upright: bool = False,
    numbers: Iterable[float] = (),
    **more: Any,
) -> dict[str, Any]:
    """An axis of numbers, read in a second unit, too, if there is one.

    Parameters
    ----------
    label : str
        Its name, with the unit.
    also : AxisUnit, optional
        The second unit: below the numbers, or in brackets behind them.
    upright : bool, optional
        Whether it is the vertical one.
    numbers : iterable of float, optional
        What it shows, where it does not begin at 0: near ticks need more digits.
    **more : object
        Further properties of the axis.
    """
    text, title = short("datum.value"), [label]
    if also is not None:
        other = short(f"(datum.value * {also.factor!r})", _digits(numbers))
        if upright:
            text, title = f"{text} + ' (' + {other} + ')'", [f"{label}; ({also.label})"]
        else:
            text, title = f"[{text}, {other}]", [f"{label}; below: {also.label}"]
    made = {"title": title, "labelExpr": f"datum.label ? {text} : ''", "tickCount": TICKS}
    # a number at the end that would stand out of the page is left out
    return made | ({} if upright else {"labelBound": 4}) | more


def _digits(values: Iterable[float]) -> int:
    """The digits by which ticks in the second unit differ, at least 3 and at most 6."""
    known = [value for value in values if isfinite(value)]
    spread = max(known, default=0.0) - min(known, default=0.0)
    return min(max(3, ceil(log10(TICKS * max(map(abs, known)) / spread))), 6) if spread else 3


def scale(
    values: Iterable[float],
    logarithmic: bool,
    ends: Sequence[float] | None = None,
    margin: int = 12,
) -> dict[str, Any]:
    """The scale of an axis of numbers.

    Parameters
    ----------
    values : iterable of float
        What it shows.
    logarithmic : bool
        Whether it is logarithmic, where all values are positive.
    ends : sequence of float, optional
        Its ends; by default those of the values, with a margin; of none, 0 and 1.
    margin : int, optional
        The margin (pixels).
    """
    known = [value for value in values if isfinite(value)]
    positive, ends = all(value > 0 for value in known), ends or (None if known else (0.0, 1.0))
    kind = "log" if logarithmic and positive else "symlog" if logarithmic else "linear"
    made = {"type": kind, "nice": False} | ({"zero": False} if kind == "linear" else {})
    return made | ({"padding": margin} if ends is None else {"domain": [*ends]})
