"""Tell an answer: write the files asked for, print it, say why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ithaca.api.answers import Answer, Result
from ithaca.api.options import AsJson, Loops, Output, TableFile
from ithaca.commands.display import loop_nest, print_result
from ithaca.commands.outcome import check_loops, nothing_found, print_document, say, wrote
from ithaca.workloads.errors import InputError
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


def write_and_show(show: Callable[[], None], *writes: tuple[Path | None, Callable[[Path], object]]) -> None:
    """Write the files that have a path, then show: neither a closed pipe nor a full disk must cost the result.

    Raises `InputError` in the end if a file could not be written.
    """
    failures = []
    for path, write in writes:
        if path is None:
            continue
        try:
            write(path)
            wrote(path)
        except InputError as error:
            failures.append(str(error))
    show()
    if failures:
        raise InputError("; ".join(failures))


def tell_answer(answer: Answer, show: Callable[[], None], *, as_json: bool, output: Path | None, table: Path | None) -> None:
    """Write an answer to the files asked for, then print it."""
    print_it = partial(print_document, answer.document) if as_json else show
    write_and_show(print_it, (output, answer.save), (table, lambda path: write_text_atomically(path, answer.table)))


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
