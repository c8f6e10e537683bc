"""``ithaca solve``: the proven-best configuration."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.answers import Result
from ithaca.api.solving import solve as solve_workload
from ithaca.commands.conclusion import Told, conclude
from ithaca.commands.typed import calls


@calls(solve_workload)
def solve(ask: Callable[..., Result], *, told: Told) -> None:
    """``ithaca solve``."""
    conclude(ask, told)
