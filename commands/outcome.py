"""How a command ends: with a document on stdout, or with a line on stderr and an exit status."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import typer

#: Exit status: nothing found, or infeasible.
NOTHING_FOUND = 1

#: Exit status: bad input.
BAD_INPUT = 2


def print_document(document: dict[str, Any]) -> None:
    """Print one JSON document."""
    from ithaca.formulations.json_numbers import document_text

    print(document_text(document), end="")


def note(line: str) -> None:
    """Say something on stderr that changes nothing."""
    print(f"ithaca: {line}", file=sys.stderr)


def wrote(path: Path) -> None:
    """Say that a file is written."""
    print(f"wrote {path}", file=sys.stderr)


def nothing_found(why: str) -> NoReturn:
    """End with one line on stderr: why there is no answer."""
    print(why, file=sys.stderr)
    raise typer.Exit(NOTHING_FOUND)
