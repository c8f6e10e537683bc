"""Horizontal bars with names and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ithaca.exports.report.axis_numbers import short
from ithaca.exports.report.svg import CHARACTER, Drawing, shortened, ticks

WIDTH, ROW, BAR = 760, 30, 18

#: Most characters of a name beside a bar; the table has it in full.
NAME = 28


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes
    ----------
    name : str
        What it stands for.
    value : float or None
        Its length; None where there is only a note.
    note : str
        Written behind it.
    classes : str
        Style classes of the fill.
    mark : float or None
        Where to put a mark, such as a lower bound.
    """

    name: str
    value: float | None
    note: str
    classes: str = "fill-main"
    mark: float | None = None


def bar_chart(
    name: str,
    title: str,
    description: str,
    bars: Sequence[Bar],
    unit: str,
    *,
    line: tuple[float, str] | None = None,
    axis: tuple[float, float] | None = None,
) -> Markup:
    """Draw bars.

    Parameters
    ----------
    name, title, description : str
        Of the drawing.
    bars : sequence of Bar
        From top to bottom.
    unit : str
        Unit of the axis.
    line : (float, str), optional
        A vertical line across all bars, and its name.
    axis : (float, float), optional
        Ends of the axis; by default those of what is shown.
    """
    left = min(max((len(bar.name) for bar in bars), default=0), NAME) * CHARACTER + 14
    right = max((len(bar.note) for bar in bars), default=0) * CHARACTER + 16
    top = 26 if line else 8
    height = top + ROW * len(bars) + 40
    shown = [v for bar in bars for v in (bar.value, bar.mark) if v is not None] + ([line[0]] if line else [])
    low, high = axis or (min([0.0, *shown]), max([0.0, *shown]))
    if not high > low:
        high = low + 1
    span = WIDTH - left - right
    drawing = Drawing(name, WIDTH, height, title, description)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * span

    bottom = top + ROW * len(bars)
    for tick in ticks(low, high, 5):
        drawing.line(x(tick), top, x(tick), bottom, "rule")
        drawing.text(x(tick), bottom + 16, short(tick), "t small", "middle")
    drawing.text(left + span / 2, bottom + 34, unit, "t small", "middle")
    if line is not None:
        at = x(line[0])
        drawing.line(at, top - 4, at, bottom, "limit")
        room = len(line[1]) * CHARACTER / 2
        drawing.text(min(max(at, room + 2), WIDTH - room - 2), 14, line[1], "t small", "middle")
    for place, bar in enumerate(bars):
        middle = top + ROW * place + ROW / 2
        drawing.text(left - 8, middle + 4, shortened(bar.name, NAME), "t", "end")
        end = left
        if bar.value is not None:
            first, last = sorted((x(0.0) if low <= 0 <= high else left, x(bar.value)))
            tip = f"{bar.name}: {bar.note}"
            drawing.rect(first, middle - BAR / 2, max(last - first, 1.5), BAR, bar.classes, tip, rx=2)
            end = max(last, first + 1.5)
        if bar.mark is not None:
            drawing.line(x(bar.mark), middle - BAR / 2 - 3, x(bar.mark), middle + BAR / 2 + 3, "mark")
            end = max(end, x(bar.mark))
        # beyond a line across all bars notes stand in a column, so that it does not cross them
        drawing.text((left + span if line else end) + 8, middle + 4, bar.note, "t halo")
    drawing.line(x(0.0) if low <= 0 <= high else left, top, x(0.0) if low <= 0 <= high else left, bottom, "axis")
    return drawing.markup()
