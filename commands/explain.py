"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.api.explaining import explain as explain_result
from ithaca.commands.conclusion import Printed
from ithaca.commands.outcome import print_document, say
from ithaca.commands.typed import calls
from ithaca.files.answer import Words
from ithaca.studies.network.result import NetworkResult


@calls(explain_result)
def explain(ask: Callable[..., Words], *, printed: Printed) -> None:
    """``ithaca explain``."""
    explained = ask()
    if printed.as_json:
        print_document(explained.document)
        return
    say(str(explained))
    if printed.loops:
        say("\n".join(_mapping(explained)))


def _mapping(explained: Words) -> list[str]:
    """The mapping of what is explained as loop nests."""
    from ithaca.commands.display import loop_nest
    from ithaca.commands.network_display import layer_loops

    best = explained.solution
    if isinstance(explained.result, NetworkResult):
        return layer_loops(explained.result)
    return [] if best is None else [loop_nest(best.problem.design, best.configuration)]
