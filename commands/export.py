"""``ithaca export``: a configuration for another tool."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.exporting import export as export_result
from ithaca.commands.outcome import say
from ithaca.commands.typed import calls


@calls(export_result)
def export(ask: Callable[..., str]) -> None:
    """``ithaca export``."""
    say(ask())
