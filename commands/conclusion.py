"""Tell an answer: write the files asked for, print it, say why there is none; and commands that
call the function of their name and tell what it answers, no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.options import Loops
from ithaca.commands.api.outputs import AsJson, Output, TableFile, Verbose, Written
from ithaca.commands.outcome import nothing_found, print_document, say, wrote
from ithaca.files.answer import Answer, Wrote
from ithaca.files.errors import InputError
from ithaca.files.writing import write_text_atomically
from ithaca.results.view import View
from ithaca.solver.solution import Solution


@dataclass(frozen=True)
class _Printed:
    as_json: AsJson = False

    def __post_init__(self) -> None:
        for name in ("loops", "verbose"):
            if self.as_json and getattr(self, name, False):
                raise InputError(
                    f"--{name} cannot be given with --json, which prints one "
                    "document; allowed: one of them"
                )


@dataclass(frozen=True)
class Printing(_Printed):
    """Options of how a command prints what it finds. Raises `InputError` if that could not be
    done."""

    loops: Loops = False


@dataclass(frozen=True)
class Outputs(_Printed):
    """The files that an answer is written to, and how it is printed. Raises `InputError` if that
    could not be done."""

    output: Output = None
    table: TableFile = None
    verbose: Verbose = False


@dataclass(frozen=True)
class OutputOptions(Outputs, Printing):
    """Options of how a command prints and writes what it finds."""


def write_and_show(
    show_it: Callable[[], None], *writes: tuple[Path | None, Callable[[Path], object]]
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
    show_it()
    if failures:
        raise InputError("; ".join(failures))


def conclude(
    answer: Answer,
    outputs: Outputs,
    *more: tuple[Path | None, Callable[[Path], object]],
    also: View = (),
) -> None:
    """Write an answer to the files asked for and print it, write more of it, or say why there is
    none.

    Parameters
    ----------
    answer : Answer
        The answer.
    outputs : Outputs
        The files to write, and how it is printed.
    *more : tuple of Path or None, and callable
        Further files, and what writes each.
    also : View, optional
        What is printed in the end.
    """

    def print_it() -> None:
        if outputs.as_json:
            print_document(answer.document)
            return
        from ithaca.commands.display import show
        from ithaca.results.short import short

        show(*(answer.view if outputs.verbose else short(answer.view)))
        if getattr(outputs, "loops", False):
            print_loops(answer.mapped)
        show(*also)

    write_and_show(
        print_it,
        (outputs.output, answer.save),
        (outputs.table, lambda path: write_text_atomically(path, answer.table)),
    )
    write_and_show(lambda: None, *more)
    if answer.failure:
        nothing_found(answer.failure)


def print_loops(solutions: Mapping[str, Solution]) -> None:
    """Print mappings as loop nests, each under a heading that begins with its name."""
    from ithaca.commands.display import loop_nest

    for name, solution in solutions.items():
        say(loop_nest(solution.problem.design, solution.configuration, name))


def printed(options: Any = OutputOptions) -> Callable[..., None]:
    """A command that tells an answer; ``options`` say how that may be."""

    def command(ask: Callable[..., Answer], *, outputs: Any) -> None:
        """Print an answer, and write its files."""
        conclude(ask(), outputs)

    command.__annotations__["outputs"] = options
    return command


def plotted(words: str, check: str = "", options: Any = Outputs) -> Callable[..., None]:
    """A command that tells an answer, and plots it.

    Parameters
    ----------
    words : str
        The help of ``--plot``.
    check : str, optional
        Name of what refuses axes or objectives of which there is no plot, before any is solved.
    options : type, optional
        How the answer may be told.
    """

    def command(ask: Callable[..., Answer], *, plot: Any = None, outputs: Any) -> None:
        """Print an answer, write its files, and draw its plot if one is asked for."""
        refuses = check and plot is not None
        charts = "ithaca.exports.charts.of_studies"
        answer: Any = ask(before=getattr(import_module(charts), check)) if refuses else ask()
        drawn = None if answer.failure and answer.picture is None else plot
        conclude(answer, outputs, (drawn, answer.plot))

    hint = Annotated[Path | None, Option("--plot", help=words), Written(_check_plot)]
    command.__annotations__ |= {"plot": hint, "outputs": options}
    return command


def _check_plot(path: Path) -> None:
    import_module("ithaca.exports.charts.files").check_plot(path)


def line(show: Callable[[str], None] = say) -> Callable[..., None]:
    """A command that tells what was written, by a function that shows a line."""

    def command(ask: Callable[..., Wrote], *, as_json: AsJson = False) -> None:
        """Tell what was written."""
        line = ask()
        if as_json:
            print_document(line.document)
        else:
            show(line)

    return command
