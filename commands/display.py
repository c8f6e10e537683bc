"""Print results for people, in tables that cut no figure, however narrow the terminal is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from ithaca.files.messages import printable
from ithaca.formulations.families import profile_of
from ithaca.results.view import Block, Fact, Loops, Table

if TYPE_CHECKING:
    from ithaca.formulations.design import Design


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


#: Width of tables printed to no terminal where COLUMNS states none.
WIDTH = 140


class _Output(Console):
    """Standard output; a closed pipe is an error for the caller to report, not a silent exit.

    Control characters of whatever is printed are escaped.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Standard output; where it is no terminal, lines of text stay whole, and tables fit the width
    that COLUMNS states."""
    plain = _Output(highlight=False, markup=False)
    if plain.is_terminal:
        return plain
    width = None if os.environ.get("COLUMNS", "").isdigit() else WIDTH
    return _Output(highlight=False, markup=False, width=width, color_system=None, soft_wrap=True)


def loop_nest(design: Design, configuration: Mapping[str, int] | None, what: str = "") -> str:
    """A configuration as a loop nest, under a heading that may say of what; a line if there is none
    to show.

    Parameters
    ----------
    design : Design
        The design.
    configuration : mapping of str to int, optional
        Its configuration; None: there is none.
    what : str, optional
        What the heading begins with.
    """
    lines = () if configuration is None else profile_of(design).loops(configuration)
    remark = "loops of one iteration are left out" if lines else "nothing to show"
    return "\n".join((f"\n{what}design {design.name} as a loop nest ({remark})", *lines))


def show(*view: Block) -> None:
    """Print what is said of an answer."""
    out = console()
    for block in view:
        match block:
            case Fact(term, text):
                out.print(f"{term:<10} {text}")
            case Loops(lines):
                out.print("\n".join(lines))
            case Table():
                out.print(PrintedTable(block))
            case _:
                out.print(block)
