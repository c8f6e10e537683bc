"""Views of answers: facts, sentences and tables, which the terminal and pages render."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple


class Fact(NamedTuple):
    """A term with its value; without a term, it goes on with the one before."""

    term: str
    text: str
    detail: bool = False
    """Whether short answers do without it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: frozenset[int] = frozenset({0})
    """Columns that are not figures, and so not aligned to the right."""
    folded: bool = False
    """Whether it opens on demand: the figures of a chart beside it."""
    plain: bool = False
    """Whether it does without borders, which takes less room."""
    detail: bool = False
    """Whether short answers do without it."""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Loops:
    """A mapping as a loop nest, line by line."""

    lines: tuple[str, ...]
    kind: ClassVar[str] = "loops"


#: What is said: facts, sentences (empty ones keep others apart), tables, loops.
Block = Fact | str | Table | Loops
View = Sequence[Block]


def tabled(
    rows: Sequence[Sequence[tuple[str, str]]],
    texts: Collection[str],
    caption: str = "",
    *,
    plain: bool = False,
    detail: bool = False,
) -> Table:
    """A table of heading and cell of every column, row by row.

    Parameters
    ----------
    rows : sequence of sequence of tuple of str
        Heading and cell of every column, alike in all rows.
    texts : collection of str
        Headings of columns of texts; all others are figures.
    caption : str, optional
        A line above the table.
    plain : bool, optional
        Whether it does without borders.
    detail : bool, optional
        Whether short answers do without it.
    """
    columns = tuple(heading for row in rows[:1] for heading, _ in row)
    cells = tuple(tuple(cell for _, cell in row) for row in rows)
    places = frozenset(place for place, name in enumerate(columns) if name in texts)
    return Table(caption, columns, cells, places, plain=plain, detail=detail)
