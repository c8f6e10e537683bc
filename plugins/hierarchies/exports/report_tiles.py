"""The tiles that levels hold of every tensor, as squares inside each other."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt

from markupsafe import Markup

from ithaca.exports.charts.drawing import LINE, Drawing
from ithaca.exports.report.blocks import ChartFigure, Section
from ithaca.files.numbers import number
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign

#: Widths of the drawing for broad pages and for narrow, and what is left around things (pixels).
WIDTHS, MARGIN = {"broad": 720, "narrow": 330}, 12

#: The side of the smallest square (pixels).
LEAST = 2.0


def tiles_section(design: MappingDesign, metrics: Mapping[str, Fraction]) -> Section:
    """A square for each tile of each tensor, as large as it has words."""
    held = {
        access.tensor: {
            level.name: words
            for level in design.architecture.levels
            if (words := metrics.get(f"{level.name}.{access.tensor}.capacity", Fraction(0)))
        }
        for access in design.nest.accesses
    }
    title = f"Tiles of {design.nest.name} on {design.architecture.name}"
    text = (
        "Of each tensor the tiles that levels hold, inside each other: areas are words of an "
        "instance, on one scale."
    )
    drawings = [_drawn(held, kind, width, title, text) for kind, width in WIDTHS.items()]
    figure = ChartFigure(Markup("".join(drawings)), title)
    return Section("tiles", "Tiles of each tensor", (text, figure))


def _drawn(
    held: Mapping[str, Mapping[str, Fraction]], kind: str, width: int, title: str, text: str
) -> Markup:
    column = (width - MARGIN) / len(held)
    room, most = column - MARGIN, max(words for own in held.values() for words in own.values())
    lines = max(map(len, held.values()))
    foot = LINE + MARGIN + room
    drawing = Drawing(f"tiles-{kind}", kind, width, foot + LINE * lines + 2 * MARGIN, title, text)
    for place, (tensor, own) in enumerate(held.items()):
        left = MARGIN + place * column
        drawing.text(left, LINE, tensor, "t box strong", "start")
        for row, (level, words) in enumerate(own.items(), start=1):
            side, label = max(room * sqrt(words / most), LEAST), f"{level} {number(words)}"
            colours = {"fill": "currentColor", "fill_opacity": 0.15, "stroke": "currentColor"}
            drawing.rect((left, foot - side, side, side), "tile", label, **colours)
            drawing.text(left, foot + LINE * row, label, "t box", "start")
    return drawing.markup()
