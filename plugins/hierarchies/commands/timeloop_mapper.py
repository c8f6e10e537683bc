"""``ithaca timeloop-mapper``: Timeloop's files in, its mapper's files out, proven."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.conclusion import OutputOptions, Printing, conclude
from ithaca.commands.typed import calls
from ithaca.plugins.hierarchies.commands.mapper import timeloop_mapper as map_files
from ithaca.solver.result import Result


@calls(map_files)
def timeloop_mapper(ask: Callable[..., Result], *, printed: Printing) -> None:
    """``ithaca timeloop-mapper``."""
    conclude(ask(), OutputOptions(printed.loops, printed.as_json))
