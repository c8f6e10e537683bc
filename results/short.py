"""Short answers: what fits a screen of a view; the rest is shown on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ithaca.files.numbers import counted
from ithaca.results.view import Block, Fact, Loops, Table, View

#: Most lines of a short answer, of tables that fit the terminal.
MOST = 20

#: Fewest rows of a table that is cut.
FEWEST = 5


def short(view: View, most: int = MOST) -> View:
    """A view without details, in at most so many lines where its facts allow that: tables are cut,
    levels of loop nests take a line each, and a last line says how to see all.

    Parameters
    ----------
    view : View
        The whole view.
    most : int, optional
        Most lines.
    """
    kept = [block for block in view if not getattr(block, "detail", False)]
    whole = sum(map(lines, view))
    if whole <= most:
        return view
    for narrowed in (_levels, _unspaced, _joined):
        if sum(map(lines, kept)) >= most:
            kept = [*narrowed(kept)]
    over = sum(map(lines, kept)) + 1 - most
    for place, block in enumerate(kept):
        if over > 0 and isinstance(block, Table) and len(block.rows) > FEWEST:
            fewer = max(FEWEST, len(block.rows) - over - 1)
            over -= len(block.rows) - fewer - 1
            kept[place : place + 1] = _cut(block, fewer)
            break
    return (*kept, Fact("more", f"all {whole} lines: --verbose"))


def lines(block: Block) -> int:
    """The number of lines that a block takes where nothing wraps."""
    match block:
        case Table(caption, _, rows):
            return len(rows) + (2 if block.plain else 4) + bool(caption)
        case Loops(text):
            return sum(1 + line.count("\n") for line in text)
    return 1


def _cut(table: Table, rows: int) -> tuple[Block, ...]:
    """The first rows of a table, and a line on the others."""
    left = counted(len(table.rows) - rows, "more row")
    return replace(table, rows=table.rows[:rows]), f"… {left}"


def _levels(view: Sequence[Block]) -> Iterator[Block]:
    """Loop nests with a line a level: its name, which is underlined, then its loops."""
    for block in view:
        if not isinstance(block, Loops):
            yield block
            continue
        levels: list[tuple[str, list[str]]] = [("", [])]
        for line in block.lines:
            if line and not line.strip("-"):  # underlines the name before it
                levels.append((levels[-1][1].pop(), []))
            elif line.strip(" |") and not line.startswith("<<<"):
                levels[-1][1].append(line.strip(" |"))
        named = [(name, loops) for name, loops in levels if name or loops]
        yield Loops(tuple(": ".join(filter(None, (n, ", ".join(own)))) for n, own in named))


def _joined(view: Sequence[Block]) -> Iterator[Block]:
    """Facts with what goes on from them in one line."""
    own: Fact | None = None
    for block in view:
        goes_on = isinstance(block, Fact) and not block.term
        if own is not None and not goes_on:
            yield own
        if not isinstance(block, Fact):
            own = None
            yield block
        else:
            own = (
                own._replace(text=f"{own.text.rstrip(';')}; {block.text}")
                if own is not None and goes_on
                else block
            )
    if own is not None:
        yield own


def _unspaced(view: Sequence[Block]) -> Iterator[Block]:
    """Blocks without empty lines."""
    yield from (block for block in view if block != "")
