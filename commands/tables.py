"""Tables that cut no figure, however narrow the terminal is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import NamedTuple

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from ithaca.files.messages import printable
from ithaca.results.view import Table

#: Headings of the columns that a narrow table does without, the least important first.
DISPENSABLE = ("seconds", "GB/s", "prologue", "epilogue", "main", "µJ", "ms", "lower bound")

#: Width of texts below which a table is harder to read than its rows one below the other.
READABLE = 14


class _Column(NamedTuple):
    heading: str
    cells: tuple[str, ...]
    text: bool

    @property
    def width(self) -> int:
        """The width where nothing wraps."""
        lines = (line for cell in (self.heading, *self.cells) for line in cell.split("\n"))
        return max(1, *map(len, lines))

    @property
    def least(self) -> int:
        """The width down to which headings and texts wrap at spaces."""
        words = " ".join((self.heading, *(self.cells if self.text else ()))).split()
        whole = () if self.text else self.cells
        readable = min(READABLE, self.width) if self.text else 1
        return max([readable, *map(len, (*words, *whole))])


class PrintedTable:
    """A table no wider than the terminal: headings and texts wrap, then borders go, then columns
    are left out and named below the table, then every row is printed upright, a line a column."""

    def __init__(self, table: Table) -> None:
        self.title, self.plain = table.caption or None, table.plain
        self.columns = [
            _Column(
                printable(heading),
                tuple(printable(row[place]) for row in table.rows),
                place in table.text_columns,
            )
            for place, heading in enumerate(table.columns)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room, columns, dropped = options.max_width, self.columns, list[str]()
        for plain, heading in (
            (self.plain, None),
            *((True, each) for each in (None, *DISPENSABLE)),
        ):
            kept = [column for column in columns if column.heading != heading]
            dropped += [heading] if heading and len(kept) < len(columns) else []
            columns = kept
            between = len(columns) - 1 if plain else 3 * len(columns) + 1
            if (widths := _widths(columns, room - between)) is not None:
                yield self._grid(columns, widths, plain=plain)
                if dropped:
                    what = ", ".join(dropped)
                    yield Text(f"left out in {room} columns: {what} (--json has all)")
                return
        yield from self._upright(room)

    def _grid(self, columns: Sequence[_Column], widths: Sequence[int], *, plain: bool) -> Grid:
        grid = Grid(
            title=self.title,
            title_justify="left",
            box=SIMPLE_HEAD if plain else HEAVY_HEAD,
            show_edge=not plain,
            padding=0 if plain else (0, 1),
        )
        for column, width in zip(columns, widths, strict=True):
            grid.add_column(
                _wrapped(column.heading, width),
                justify="left" if column.text else "right",
                width=width,
                overflow="fold",
            )
        for row in zip(*(column.cells for column in columns), strict=True):
            grid.add_row(*map(_wrapped, row, widths))
        return grid

    def _upright(self, room: int) -> Iterator[Text]:
        """Every row as lines of heading and cell, rows apart."""
        if self.title is not None:
            yield Text(self.title, style="table.title")
        side = min(max(len(column.heading) for column in self.columns), room // 2 - 2)
        for row in zip(*(column.cells for column in self.columns), strict=True):
            for column, cell in zip(self.columns, row, strict=True):
                heading = _lines(column.heading, side)
                for name, line in zip_longest(heading, _lines(cell, room - side - 2), fillvalue=""):
                    yield Text(f"{name:<{side}}  {line}".rstrip())
            yield Text()


def _widths(columns: Sequence[_Column], room: int) -> list[int] | None:
    """The widths that columns get in a room; None if they do not fit."""
    widths, least = [c.width for c in columns], [c.least for c in columns]
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda n: (widths[n] > least[n]) * widths[n])
        widths[widest] -= 1
    return widths


def _lines(text: str, width: int) -> list[str]:
    """Lines of a text, broken at spaces; longer words anywhere but within a figure."""
    fitting = rf".{{1,{width}}}(?:(?<![\d.,])|(?![\d.,]))|.{{1,{width}}}"
    lines = (
        wrapped
        for line in text.split("\n")
        for wrapped in wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
    )
    return [each for line in lines for each in re.findall(fitting, line) or [""]]


def _wrapped(text: str, width: int) -> Text:
    return Text("\n".join(_lines(text, width)))
