"""``ithaca seed``: start populations for other search tools."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.seeding import seed as write_seeds
from ithaca.commands.outcome import nothing_found, say
from ithaca.commands.typed import calls
from ithaca.workloads.errors import NothingFoundError


@calls(write_seeds)
def seed(ask: Callable[..., str]) -> None:
    """``ithaca seed``."""
    try:
        line = ask()
    except NothingFoundError as why:
        nothing_found(str(why))
    say(line)
