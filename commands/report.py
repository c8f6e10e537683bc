"""``ithaca report``: a result as one page."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.api.live_line import tell
from ithaca.commands.api.reporting import report as write_report
from ithaca.commands.typed import calls


@calls(write_report)
def report(ask: Callable[..., str]) -> None:
    """``ithaca report``."""
    tell(ask())  # on stderr: the page may go to /dev/stdout
