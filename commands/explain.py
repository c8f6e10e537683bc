"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.api.explaining import explain as explain_result
from ithaca.commands.conclusion import Printing, print_loops
from ithaca.commands.outcome import print_document, say
from ithaca.commands.typed import calls
from ithaca.files.answer import Words


@calls(explain_result)
def explain(ask: Callable[..., Words], *, printed: Printing) -> None:
    """``ithaca explain``."""
    explained = ask()
    if printed.as_json:
        print_document(explained.document)
        return
    say(str(explained))
    if printed.loops:
        best = explained.solution
        print_loops(explained.result.mapped if best is None else {"": best})
