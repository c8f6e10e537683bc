"""Tell an answer: write the files asked for, print it, say why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ithaca.api.answers import Answer, Result
from ithaca.api.options import AsJson, Loops, Output, TableFile
from ithaca.commands.display import loop_nest, print_result
from ithaca.commands.outcome import check_loops, nothing_found, print_document, say, wrote
from ithaca.workloads.writing import check_writable, write_text_atomically


@dataclass(frozen=True)
class Told:
    """How the mapping that a command finds is told."""

    loops: Loops = False
    as_json: AsJson = False
    output: Output = None
    table: TableFile = None

    def check(self) -> None:
        """Refuse, before anything is computed, what could not be told."""
        check_loops(loops=self.loops, as_json=self.as_json)
        for path in (self.output, self.table):
            if path is not None:
                check_writable(path)


def tell_answer(answer: Answer, show: Callable[[], None], *, as_json: bool, output: Path | None, table: Path | None) -> None:
    """Write an answer to the files asked for, then print it: a closed pipe must not cost the result."""
    if output is not None:
        answer.save(output)
        wrote(output)
    if table is not None:
        write_text_atomically(table, answer.table)
        wrote(table)
    if as_json:
        print_document(answer.document)
    else:
        show()


def conclude(ask: Callable[..., Result], told: Told) -> None:
    """Ask for a result, write and print it, or say why there is none."""
    told.check()
    conclude_result(ask(), told)


def conclude_result(result: Result, told: Told) -> None:
    """Write and print a result, or say why there is none."""

    def show() -> None:
        print_result(result)
        if told.loops and result.best is not None:
            say(loop_nest(result.best.problem.design, result.best.configuration))

    tell_answer(result, show, as_json=told.as_json, output=told.output, table=told.table)
    if result.best is None:
        nothing_found(result.failure)
