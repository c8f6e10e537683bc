"""``ithaca verify``: check a result anew, its values and its proofs."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from ithaca.commands.api.options import AsJson
from ithaca.commands.api.verifying import Verification
from ithaca.commands.api.verifying import verify as verify_result
from ithaca.commands.outcome import NOTHING_FOUND, print_document, say
from ithaca.commands.typed import calls
from ithaca.results.network_verification import Check


@calls(verify_result)
def verify(ask: Callable[..., Verification], *, as_json: AsJson = False) -> None:
    """``ithaca verify``."""

    def tell(check: Check) -> None:
        say(str(check))
        sys.stdout.flush()

    verification = ask(hear=None if as_json else tell)
    if as_json:
        print_document(verification.document)
    if not verification.confirmed:
        raise typer.Exit(NOTHING_FOUND)
