"""``ithaca verify`` as one types it."""

from __future__ import annotations

import typer

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import NOTHING_FOUND


def verify(file: given.ResultFile, time_limit: given.DesignTimeLimit = None) -> None:
    """Check a result anew: every value by the exact reference, every proof by another engine."""
    from ithaca.commands.options import parse_search
    from ithaca.commands.verify import verify_result

    if not verify_result(file, parse_search(time_limit)):
        raise typer.Exit(NOTHING_FOUND)
