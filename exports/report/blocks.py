"""What a section of a report consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from ithaca.studies.charts.chart import Chart
from ithaca.studies.charts.picture import inline_svg


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or several.

    Attributes
    ----------
    text : str
        Plain text.
    """

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements under terms.

    Attributes
    ----------
    entries : tuple of (str, tuple of str)
        Term, and what is stated of it.
    """

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    kind: ClassVar[str] = "statements"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row names the row.

    Attributes
    ----------
    caption : str
        What it shows.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells.
    text_columns : frozenset of int
        Columns that are not figures, and so not aligned to the right.
    folded : bool
        Whether it opens on demand: the figures of a chart beside it.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: frozenset[int] = frozenset({0})
    folded: bool = False
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart.

    Attributes
    ----------
    svg : Markup
        The drawing, with title and description.
    caption : str
        What it shows.
    wide : bool
        Whether it takes the whole width.
    """

    svg: Markup
    caption: str
    wide: bool = False
    kind: ClassVar[str] = "figure"


def chart_figure(name: str, chart: Chart, size: tuple[float, float] = (8.0, 4.0)) -> Figure:
    """A chart as a figure under its title; of a name that is unique on the page."""
    return Figure(Markup(inline_svg(chart, name, size)), chart.title, wide=size[0] > 8)


Block = Paragraph | Statements | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    name : str
        Its anchor.
    title : str
        Its heading.
    blocks : tuple of Block
        In order.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
