"""``ithaca verify``: check a result anew, its values and its proofs."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ithaca.commands.api.outputs import AsJson
from ithaca.commands.api.verifying import verify as verify_result
from ithaca.commands.outcome import nothing_found, print_document, say
from ithaca.commands.typed import calls
from ithaca.files.answer import Check, Verification
from ithaca.solver.again import WITHIN

#: What is said where values are confirmed, and not all that is proven of them.
UNREPEATED = (
    "all values hold, and nothing contradicts the file, but not every claim was proven again: {}; "
    f"--time-limit gives more time (a bound has {WITHIN:.0f} s unless given)"
)


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
        left = (check.place.strip() for check in verification.checks if not check.confirmed)
        nothing_found(UNREPEATED.format("; ".join(left)))
