"""Tell an answer: write the files asked for, print it, say why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ithaca.commands.api.options import AsJson, Loops, Output, TableFile
from ithaca.commands.display import loop_nest, print_result
from ithaca.commands.outcome import nothing_found, print_document, say, wrote
from ithaca.files.answer import Answer
from ithaca.files.errors import InputError
from ithaca.files.writing import write_text_atomically
from ithaca.solver.result import Result


@dataclass(frozen=True)
class Printed:
    """How what a command finds is printed. Raises `InputError` if that could not be done."""

    loops: Loops = False
    as_json: AsJson = False

    def __post_init__(self) -> None:
        if self.loops and self.as_json:
            raise InputError(
                "--loops cannot be given with --json, which prints one "
                "document; allowed: one of them"
            )


@dataclass(frozen=True)
class Outputs:
    """The files that an answer is written to, and whether it is printed as a document."""

    as_json: AsJson = False
    output: Output = None
    table: TableFile = None


@dataclass(frozen=True)
class OutputOptions(Outputs, Printed):
    """How what a command finds is printed and written."""


def write_and_show(
    show: Callable[[], None], *writes: tuple[Path | None, Callable[[Path], object]]
) -> None:
    """Write the files that have a path, then show: neither a closed pipe nor a full disk must cost
    the result.

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


def conclude(
    answer: Answer,
    show: Callable[[], None],
    outputs: Outputs,
    *more: tuple[Path | None, Callable[[Path], object]],
) -> None:
    """Write an answer to the files asked for and print it, write more of it, or say why there is
    none.

    Parameters
    ----------
    answer : Answer
        The answer.
    show : callable
        Prints it for people.
    outputs : Outputs
        The files to write, and whether a document is printed instead.
    *more : tuple of Path or None, and callable
        Further files, and what writes each.
    """
    print_it = partial(print_document, answer.document) if outputs.as_json else show
    write_and_show(
        print_it,
        (outputs.output, answer.save),
        (outputs.table, lambda path: write_text_atomically(path, answer.table)),
    )
    for path, write in more:
        if path is not None:
            write(path)
            wrote(path)
    if answer.failure:
        nothing_found(answer.failure)


def conclude_result(result: Result, outputs: OutputOptions) -> None:
    """The same of a result of one workload."""

    def show() -> None:
        print_result(result)
        if outputs.loops and result.best is not None:
            say(loop_nest(result.best.problem.design, result.best.configuration))

    conclude(result, show, outputs)
