"""Print results for people."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ithaca.commands.tables import PrintedTable
from ithaca.files.messages import printable
from ithaca.formulations.families import profile_of
from ithaca.results.view import Block, Fact, Loops, Table

if TYPE_CHECKING:
    from ithaca.formulations.design import Design

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
