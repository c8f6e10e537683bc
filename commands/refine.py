"""``ithaca refine``: evolve the configurations of a result."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.answers import Result
from ithaca.api.options import AsJson, Loops, Output, TableFile
from ithaca.api.refining import refine as refine_result
from ithaca.commands.conclusion import conclude
from ithaca.commands.outcome import check_loops
from ithaca.commands.typed import calls
from ithaca.workloads.writing import check_writable


@calls(refine_result)
def refine(
    ask: Callable[..., Result],
    *,
    loops: Loops = False,
    as_json: AsJson = False,
    output: Output = None,
    table: TableFile = None,
) -> None:
    """``ithaca refine``."""
    check_loops(loops=loops, as_json=as_json)
    for path in (output, table):
        if path is not None:
            check_writable(path)
    conclude(ask(), output, table, as_json=as_json, loops=loops)
