"""``ithaca map``: the proven-best mapping onto a memory hierarchy."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.answers import Result
from ithaca.api.mapping import map as map_problem
from ithaca.commands.conclusion import Told, conclude
from ithaca.commands.typed import calls


@calls(map_problem)
def map(ask: Callable[..., Result], *, told: Told) -> None:
    """``ithaca map``."""
    conclude(ask, told)
