"""Tell the result of a solve."""

from __future__ import annotations

from pathlib import Path

from ithaca.api.answers import Result
from ithaca.commands.display import explain_infeasibility, loop_nest, print_result
from ithaca.commands.outcome import nothing_found, print_document, say, wrote
from ithaca.results.certificate import Status


def conclude(result: Result, output: Path | None, *, as_json: bool, loops: bool = False) -> None:
    """Write and print a result, or say why there is none."""
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        result.save(output)
        wrote(output)
    if as_json:
        print_document(result.document)
    else:
        print_result(result)
        if loops and result.best is not None:
            say(loop_nest(result.best.problem.design, result.best.configuration))
    if result.best is None:
        nothing_found(explain_failure(result))


def explain_failure(result: Result) -> str:
    """One line: why there is no answer."""
    if all(s.certificate.status is Status.INFEASIBLE for s in result.designs):
        return f"infeasible: {explain_infeasibility(result.designs)}"
    return "nothing found before the search ended; allow more time with --time-limit"
