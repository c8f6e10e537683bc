"""``ithaca refine``: evolve the configurations of a result."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.answers import Result
from ithaca.api.refining import refine as refine_result
from ithaca.commands.conclusion import Told, conclude
from ithaca.commands.typed import calls


@calls(refine_result)
def refine(ask: Callable[..., Result], *, told: Told) -> None:
    """``ithaca refine``."""
    conclude(ask, told)
