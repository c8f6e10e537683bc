"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.api.answers import NetworkResult
from ithaca.api.explaining import Words
from ithaca.api.explaining import explain as explain_result
from ithaca.api.options import AsJson, Loops
from ithaca.commands.outcome import check_loops, print_document, say
from ithaca.commands.typed import calls


@calls(explain_result)
def explain(ask: Callable[..., Words], *, loops: Loops = False, as_json: AsJson = False) -> None:
    """``ithaca explain``."""
    check_loops(loops=loops, as_json=as_json)
    explained = ask()
    if as_json:
        print_document(explained.document)
        return
    say(str(explained))
    if loops:
        say("\n".join(_mapping(explained)))


def _mapping(explained: Words) -> list[str]:
    """The mapping of what is explained as loop nests."""
    from ithaca.commands.display import loop_nest
    from ithaca.commands.network_display import layer_loops

    best = explained.solution
    if isinstance(explained.result, NetworkResult):
        return layer_loops(explained.result)
    return [] if best is None else [loop_nest(best.problem.design, best.configuration)]
