"""The blocks that sections of a report consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from markupsafe import Markup

from ithaca.exports.charts.chart import Bar, BarChart, Chart
from ithaca.exports.charts.svg import inline_svg
from ithaca.files.numbers import number, percent
from ithaca.results.view import Fact, Loops, Table, View


@dataclass(frozen=True, slots=True)
class Statements:
    """A list of terms, each with statements."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    """Term, and what is stated of it."""
    kind: ClassVar[str] = "statements"

    def adding(self, fact: Fact) -> Statements:
        """The statements and a further fact."""
        *before, last = self.entries or (("", ()),)
        if not fact.term:
            return Statements((*before, (last[0], (*last[1], fact.text))))
        return Statements((*self.entries, (fact.term, (fact.text,))))


@dataclass(frozen=True, slots=True)
class ChartFigure:
    """A chart as SVG, with a caption."""

    svg: Markup
    """One drawing, or one for broad pages and one for narrow; with title and description."""
    caption: str
    kind: ClassVar[str] = "figure"


def chart_figure(name: str, chart: Chart) -> ChartFigure:
    """A chart as a figure under its title; of a name that is unique on the page."""
    return ChartFigure(Markup(inline_svg(chart, name)), chart.title)


def stacked(
    name: str, title: str, unit: str, parts: Mapping[str, Fraction]
) -> tuple[ChartFigure, Table]:
    """A whole as one bar of its parts, and the same in figures.

    Parameters
    ----------
    name : str
        The chart's name, unique on the page.
    title : str
        The title of chart and table.
    unit : str
        The unit of the parts.
    parts : mapping of str to Fraction
        By name; they add up to the whole.
    """
    whole = sum(parts.values(), Fraction(0))
    pieces = tuple(map(float, parts.values()))
    bar = Bar("in all", float(whole), f"{number(whole)} {unit}", parts=pieces)
    chart = BarChart(title, unit, (bar,), parts=tuple(parts))
    rows = tuple(
        (part, number(value), percent(value / whole) if whole else "–")
        for part, value in parts.items()
    )
    return chart_figure(name, chart), Table(title, ("part", unit, "share"), rows)


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that open on demand."""

    name: str
    """The anchor."""
    caption: str
    blocks: tuple[Block, ...]
    kind: ClassVar[str] = "folded"


#: Sentences are plain texts.
Block = str | Statements | Loops | Table | ChartFigure | Folded


def view_blocks(view: View) -> tuple[Block, ...]:
    """The view of an answer as blocks of a page."""
    blocks: list[Block] = []
    for block in view:
        match block:
            case Fact():
                last = blocks[-1] if blocks else None
                if isinstance(last, Statements):
                    blocks[-1] = last.adding(block)
                else:
                    blocks.append(Statements(()).adding(block))
            case Table(caption, columns):
                blocks.append(replace(block, caption=caption or f"By {columns[0]}"))
            case _ if block:
                blocks.append(block)
    return tuple(blocks)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page."""

    name: str
    """Its anchor."""
    title: str
    """Its heading."""
    blocks: tuple[Block, ...]
    """In order."""
