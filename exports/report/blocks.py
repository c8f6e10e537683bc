"""The blocks that sections of a report consist of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, groupby
from typing import ClassVar

from markupsafe import Markup

from ithaca.exports.charts.chart import Bar, BarChart, Chart
from ithaca.exports.charts.page import placed
from ithaca.files.numbers import number, percent
from ithaca.results.view import Fact, Loops, Table, View

#: Most columns of a table, and most terms, that half a page has room for.
MANY_COLUMNS, MANY_TERMS = 4, 6


@dataclass(frozen=True, slots=True)
class Statements:
    """A list of terms, each with statements."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    """Term, and what is stated of it."""
    kind: ClassVar[str] = "statements"

    def adding(self, fact: Fact) -> Statements:
        """The statements and a further fact; of the last term, or none, it is said under that."""
        *before, last = self.entries or (("", ()),)
        if fact.term in ("", last[0]):
            return Statements((*before, (last[0], (*last[1], fact.text))))
        return Statements((*self.entries, (fact.term, (fact.text,))))


@dataclass(frozen=True, slots=True)
class ChartFigure:
    """A chart or a drawing, with a caption."""

    markup: Markup
    """The place of a chart; or as SVG, with title and description, one drawing, or one for broad
    pages and one for narrow."""
    caption: str
    drawn_there: bool = False
    """Whether the page draws it: a chart."""
    kind: ClassVar[str] = "figure"


def chart_figure(name: str, chart: Chart) -> ChartFigure:
    """A chart as a figure under its title; of a name that is unique on the page."""
    return ChartFigure(placed(chart, name), chart.title, True)


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

    @property
    def charts(self) -> bool:
        """Whether it has charts, which the page draws."""
        return any(figure.drawn_there for figure in _figures(self.blocks))

    @property
    def wide(self) -> bool:
        """Whether it needs the whole width: it has a drawing, parts that open, long lines, a table
        of many columns or many statements."""
        drawings = any(not figure.drawn_there for figure in _figures(self.blocks))
        return drawings or any(
            isinstance(block, Folded | Loops)
            or (isinstance(block, Table) and len(block.columns) > MANY_COLUMNS)
            or (isinstance(block, Statements) and len(block.entries) > MANY_TERMS)
            for block in self.blocks
        )


def wide_sections(sections: Sequence[Section]) -> set[str]:
    """The names of sections that take the whole width: those that need it, and those that would
    stand alone beside nothing."""
    names: set[str] = set()
    for wide, run in groupby(sections, key=lambda section: section.wide):
        several = [section.name for section in run]
        if wide or len(several) == 1:
            names.update(several)
    return names


def _figures(blocks: Sequence[Block]) -> list[ChartFigure]:
    """The figures among blocks, and in those that open."""
    inner = [_figures(block.blocks) for block in blocks if isinstance(block, Folded)]
    own = [block for block in blocks if isinstance(block, ChartFigure)]
    return [*own, *chain.from_iterable(inner)]
