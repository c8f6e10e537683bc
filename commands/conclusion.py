"""Tell the result of a solve."""

from __future__ import annotations

from pathlib import Path

from ithaca.api.answers import Result
from ithaca.commands.display import loop_nest, print_result
from ithaca.commands.outcome import nothing_found, print_document, say, write_table, wrote


def conclude(result: Result, output: Path | None, table: Path | None, *, as_json: bool, loops: bool) -> None:
    """Write and print a result, or say why there is none."""
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        result.save(output)
        wrote(output)
    write_table(result, table)
    if as_json:
        print_document(result.document)
    else:
        print_result(result)
        if loops and result.best is not None:
            say(loop_nest(result.best.problem.design, result.best.configuration))
    if result.best is None:
        nothing_found(result.failure)
