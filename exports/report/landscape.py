"""The landscape around the configuration: the exact objective over two tile factors."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING

from markupsafe import Markup

from ithaca.exports.report.blocks import Figure, Paragraph, Section, Table
from ithaca.exports.report.palette import colour, ink
from ithaca.exports.report.subject import Subject
from ithaca.exports.report.svg import CHARACTER, Drawing
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.workloads.errors import InputError

if TYPE_CHECKING:
    from ithaca.refine.heatmap import HeatMap

#: Largest distance of a factor from the answer's, unless told.
AROUND = 10

#: Largest distance allowed: a grid over the factors of two loops has up to (2·15 + 1)^4 points in memory.
FARTHEST = 15

WIDTH, LEFT, RIGHT, TOP = 900, 70, 12, 8
TALLEST, KEY = 30, 74


@dataclass(frozen=True)
class Landscape:
    """A heat map and where the answer is in it.

    Attributes
    ----------
    chart : HeatMap
        The objective over two factors.
    x, y : int
        The answer's factors.
    value : float
        The answer's objective.
    around : int
        Largest distance of a factor from the answer's.
    loops : tuple of str
        The loops whose factors vary.
    """

    chart: HeatMap
    x: int
    y: int
    value: float
    around: int
    loops: tuple[str, ...]


def landscape_axes(array: SystolicArray) -> tuple[str, str]:
    """The two factors to show: the lanes of a 2-D array, lanes and inner factor of a 1-D one."""
    first, *rest = array.dataflow
    return f"lanes.{first}", f"lanes.{rest[0]}" if rest else f"t2.{first}"


def survey(known: Subject, around: int = AROUND) -> Landscape:
    """Evaluate the cost model around a configuration.

    Raises
    ------
    InputError
        If the configuration is outside the design space its grid would be part of.
    """
    from ithaca.refine.grid import exact_grid
    from ithaca.refine.heatmap import heat_map
    from ithaca.refine.window import window_around

    array = known.solution.array
    x, y = landscape_axes(array)
    window = window_around(known.problem, known.tiling, around, array.dataflow)
    chart = heat_map(exact_grid(window), x, y, "objective")
    values = known.costs.point.values
    return Landscape(chart, int(values[x]), int(values[y]), float(known.facts.value), around, array.dataflow)


def landscape(known: Subject, around: int = AROUND) -> Section:
    """The heat map with its figures; the reason where there is none."""
    title = "The landscape around it"
    try:
        found = survey(known, around)
    except InputError as error:
        return Section("landscape", title, (Paragraph(f"Not drawn: {error}."),))
    chart = found.chart
    loops = " and ".join(found.loops)
    text = (
        f"Each cell is the configuration with the least {known.objective} among those with its two factors, evaluated "
        f"exactly: the factors of {loops} are at most {around} from the answer's, all others and the packs are the answer's. "
        f"A cell says by how many per cent it is above the answer. Hatched cells have no configuration within the limits."
    )
    lower = [v for row in chart.values.tolist() for v in row if isfinite(v) and v < found.value]
    if lower:
        text += f" {len(lower)} cells are below the answer, which is not proven optimal; the least is {number(min(lower))}."
    unit = f" ({known.unit})" if known.unit else ""
    caption = f"{known.objective}{unit} over {chart.x_label} and {chart.y_label}"
    rows = tuple(
        (str(int(y)), *(number(value) if isfinite(value) else "infeasible" for value in row))
        for y, row in zip(reversed(chart.y.tolist()), reversed(chart.values.tolist()), strict=True)
    )
    columns = (f"{chart.y_label} ↓ {chart.x_label} →", *(str(int(x)) for x in chart.x.tolist()))
    table = Table(f"{caption}: the figures of the heat map", columns, rows, folded=True)
    return Section(
        "landscape", title, (Paragraph(text), Figure(heat_map_chart(found, known.objective), caption, wide=True), table)
    )


def heat_map_chart(found: Landscape, objective: str) -> Markup:
    """Draw a landscape: y upwards, hatched where nothing is feasible, a ring around the answer."""
    chart = found.chart
    columns, rows = len(chart.x), len(chart.y)
    cell = (WIDTH - LEFT - RIGHT) / columns
    row = min(max(cell * 0.62, 22), TALLEST)
    bottom = TOP + row * rows
    known = [v for line in chart.values.tolist() for v in line if isfinite(v)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    logarithmic = low > 0 and high > low
    infeasible = columns * rows - len(known)
    said = (
        f"{columns} by {rows} cells, {infeasible} of them infeasible; {objective} from {number(low)} to {number(high)}. "
        f"The answer is at {chart.x_label} {found.x}, {chart.y_label} {found.y}, with {number(found.value)}."
    )
    title = f"Heat map of {objective} over {chart.x_label} and {chart.y_label}"
    drawing = Drawing("landscape-map", WIDTH, bottom + 44 + KEY, title, said)
    hatched = drawing.hatch("landscape-hatch")

    def level(value: float) -> float:
        if not high > low:
            return 0.0
        return log(value / low) / log(high / low) if logarithmic else (value - low) / (high - low)

    for j, (y_value, line) in enumerate(zip(chart.y.tolist(), chart.values.tolist(), strict=True)):
        top = bottom - row * (j + 1)
        drawing.text(LEFT - 8, top + row / 2 + 4, str(y_value), "t small", "end")
        for i, (x_value, value) in enumerate(zip(chart.x.tolist(), line, strict=True)):
            left = LEFT + cell * i
            place = f"{chart.x_label} {x_value}, {chart.y_label} {y_value}"
            if not isfinite(value):
                drawing.rect(left, top, cell, row, "cell", f"{place}: infeasible", fill=hatched)
                continue
            fill = colour(level(value))
            drawing.rect(left, top, cell, row, "cell", f"{place}: {number(value)}", fill=fill)
            label = above(value, found.value)
            if len(label) * CHARACTER <= cell:
                drawing.text(left + cell / 2, top + row / 2 + 4, label, "cell-text", "middle", fill=ink(fill))
    every = -(-columns // max(1, int((WIDTH - LEFT - RIGHT) / 34)))
    for i, x_value in enumerate(chart.x.tolist()):
        if i % every == 0:
            drawing.text(LEFT + cell * (i + 0.5), bottom + 16, str(x_value), "t small", "middle")
    drawing.text(LEFT + cell * columns / 2, bottom + 36, chart.x_label, "t", "middle")
    middle = -(TOP + bottom) / 2
    drawing.add("text", chart.y_label, x=middle, y=16, text_anchor="middle", classes="t", transform="rotate(-90)")
    i, j = chart.x.tolist().index(found.x), chart.y.tolist().index(found.y)
    ring = {"x": LEFT + cell * i, "y": bottom - row * (j + 1), "width": cell, "height": row, "rx": 2}
    drawing.add("rect", classes="ring-outer", **ring)
    drawing.add("rect", classes="ring", **ring)
    _key(drawing, bottom + 58, (low, high), hatched, logarithmic)
    return drawing.markup()


def above(value: float, answer: float) -> str:
    """How far a value is above the answer, in whole per cent."""
    if value == answer:
        return "0"
    if not answer:
        return number(value)
    share = (value - answer) / abs(answer) * 100
    sign = "+" if share > 0 else "−"
    if abs(share) < 0.95:
        return f"{sign}{abs(share):.1f}" if abs(share) >= 0.05 else f"{sign}0"
    if share >= 999.5 and answer > 0:
        return f"{value / answer:,.0f}×"
    return f"{sign}{abs(share):.0f}"


def _key(drawing: Drawing, top: float, ends: tuple[float, float], hatched: str, logarithmic: bool) -> None:
    """What colours and signs mean."""
    steps, width = 24, 12
    for step in range(steps):
        drawing.rect(LEFT + width * step, top, width + 0.5, 16, "swatch", fill=colour(step / (steps - 1)))
    drawing.text(LEFT, top + 34, number(ends[0]), "t small")
    drawing.text(LEFT + width * steps, top + 34, number(ends[1]), "t small", "end")
    if logarithmic:
        drawing.text(LEFT + width * steps / 2, top + 34, "logarithmic", "t small", "middle")
    place = LEFT + width * steps + 40
    drawing.rect(place, top, 28, 16, "cell", fill=hatched)
    drawing.text(place + 36, top + 13, "nothing within the limits", "t small")
    place += 230
    drawing.rect(place, top, 28, 16, "ring-outer", rx=2)
    drawing.rect(place, top, 28, 16, "ring", rx=2)
    drawing.text(place + 36, top + 13, "the answer", "t small")
    drawing.text(place - 230, top + 38, "+5: 5 % above the answer; 13×: 13 times it", "t small")
