"""Commands that call the function of their name and tell what it answers, no more."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.outputs import AsJson, Written
from ithaca.commands.conclusion import OutputOptions, Outputs, conclude
from ithaca.commands.outcome import print_document, say
from ithaca.files.answer import Answer, Wrote


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
        nothing = answer.failure and answer.picture is None
        conclude(answer, outputs, (None if nothing else plot, answer.plot))

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
