"""Incumbent and lower bound over time."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from sys import float_info

from markupsafe import Markup

from ithaca.exports.report.axis_numbers import short
from ithaca.exports.report.svg import CHARACTER, Drawing, ticks
from ithaca.formulations.shown_numbers import number
from ithaca.solver.trace import TracePoint

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 74, 128, 16, 46

#: A ratio of largest to smallest value from which the axis is logarithmic.
LOGARITHMIC = 30


def convergence_chart(trace: Sequence[TracePoint], objective: str, unit: str) -> Markup:
    """Draw the steps of a search.

    Parameters
    ----------
    trace : sequence of TracePoint
        At least one.
    objective, unit : str
        What was minimised.
    """
    ends = trace[-1]
    title = "Incumbent and lower bound over time"
    first = next((p for p in trace if p.value is not None), None)
    said = f"{len(trace)} changes in {number(ends.seconds)} s."
    if first is not None:
        said += f" First incumbent {number(first.value)} after {number(first.seconds)} s, last {number(ends.value)};"
    said += f" last lower bound {number(ends.lower_bound)}."
    drawing = Drawing("convergence", WIDTH, HEIGHT, title, said)
    values = [float(v) for p in trace for v in (p.value, p.lower_bound) if v is not None]
    if not values:
        values = [0.0]
    low, high = min(values), max(values)
    logarithmic = low > 0 and high / low >= LOGARITHMIC
    if high == low:
        low, high = low - (abs(low) or 1) / 20, high + (abs(high) or 1) / 20
    if not logarithmic:
        margin = (high - low) / 20
        low, high = low - margin, high + margin
    last = ends.seconds or 1.0

    def x(seconds: float) -> float:
        return LEFT + seconds / last * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        part = (log10(value) - log10(low)) / (log10(high) - log10(low)) if logarithmic else (value - low) / (high - low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    for tick in _value_ticks(low, high, logarithmic):
        drawing.line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "rule")
        drawing.text(LEFT - 8, y(tick) + 4, short(tick), "t small", "end")
    for tick in ticks(0.0, last):
        drawing.line(x(tick), HEIGHT - BOTTOM, x(tick), HEIGHT - BOTTOM + 4, "axis")
        drawing.text(x(tick), HEIGHT - BOTTOM + 18, f"{tick:.3g}", "t small", "middle")
    label = f"{objective} ({unit})" if unit else objective
    drawing.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "seconds", "t small", "middle")
    drawing.line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis")
    incumbents = [(p.seconds, float(p.value)) for p in trace if p.value is not None]
    bounds = [(p.seconds, float(p.lower_bound)) for p in trace if p.lower_bound is not None]
    places = _apart([y(steps[-1][1]) if steps else None for steps in (incumbents, bounds)])
    for steps, classes, name, place in (
        (incumbents, "incumbent", "incumbent", places[0]),
        (bounds, "bound", "lower bound", places[1]),
    ):
        if not steps or place is None:
            continue
        path = f"M{x(steps[0][0]):.1f} {y(steps[0][1]):.1f}" + "".join(f"H{x(s):.1f}V{y(v):.1f}" for s, v in steps[1:])
        drawing.add("path", d=f"{path}H{x(last):.1f}", classes=f"step {classes}")
        drawing.add("circle", cx=x(steps[0][0]), cy=y(steps[0][1]), r=3.5, classes=f"dot {classes}-dot")
        drawing.text(WIDTH - RIGHT + 8, place, name, f"t {classes}-text")
        drawing.text(WIDTH - RIGHT + 8, place + 14, number(steps[-1][1])[: int((RIGHT - 8) / CHARACTER)], "t small figure")
    drawing.add(
        "text", label, x=-(TOP + HEIGHT - BOTTOM) / 2, y=14, text_anchor="middle", classes="t small", transform="rotate(-90)"
    )
    return drawing.markup()


def _value_ticks(low: float, high: float, logarithmic: bool) -> list[float]:
    if not logarithmic:
        return ticks(low, high)
    powers = range(int(log10(low)) - 1, min(int(log10(high)) + 2, float_info.max_10_exp + 1))
    return [m * 10.0**p for p in powers for m in (1, 3) if low <= m * 10.0**p <= high]


def _apart(places: Sequence[float | None]) -> list[float | None]:
    """Where to write two names, at least two lines from each other."""
    upper, lower = places
    if upper is None or lower is None:
        return [None if place is None else place for place in places]
    if abs(lower - upper) >= 32:
        return [min(upper, HEIGHT - BOTTOM - 14), min(lower, HEIGHT - BOTTOM - 14)]
    middle = min(max((upper + lower) / 2, TOP + 20), HEIGHT - BOTTOM - 34)
    return [middle - 14, middle + 20]
