"""The command line of Ithaca: its commands, and how each run of it ends.

What each command takes is in `ithaca.commands.syntax`, what it does in `ithaca.commands`. All that is
imported here is light, so that ``ithaca --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType
from typing import Annotated, Any

import typer

from ithaca.commands.syntax.evaluate import evaluate
from ithaca.commands.syntax.experiment import experiment
from ithaca.commands.syntax.explain import explain
from ithaca.commands.syntax.export import export
from ithaca.commands.syntax.grid import grid
from ithaca.commands.syntax.listing import listing
from ithaca.commands.syntax.network import network
from ithaca.commands.syntax.outcome import BAD_INPUT, INTERRUPTED
from ithaca.commands.syntax.pareto import pareto
from ithaca.commands.syntax.refine import refine
from ithaca.commands.syntax.report import report
from ithaca.commands.syntax.seed import seed
from ithaca.commands.syntax.solve import solve
from ithaca.commands.syntax.verify import verify
from ithaca.commands.syntax.whatif import whatif
from ithaca.workloads.errors import DisagreementError, InputError

#: File descriptor of standard error.
STDERR = 2

CLOSED = "standard output was closed before everything was printed"

app = typer.Typer(
    name="ithaca",
    help="Find the best hardware configuration for a tensor program, with a proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (solve, network, whatif, pareto, grid, evaluate, verify, explain, report, export, seed, refine, experiment):
    app.command()(command)
app.add_typer(listing, name="list")


def _version(value: bool) -> None:
    if value:
        from ithaca import __version__

        print(f"ithaca {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None: ...


def main() -> None:
    """Entry point: exit status 0 answer found, 1 nothing found, 2 bad input, 130 interrupted (one line on stderr)."""
    _keep_standard_error()
    if sys.stdout is None:
        print("ithaca: standard output is closed", file=sys.stderr)
        sys.exit(BAD_INPUT)
    if sys.argv[1:] in ([], ["list"]):
        sys.argv.append("--help")
    interrupted = _interruptible()
    try:
        status = _run(interrupted)
        sys.stdout.flush()
    except InputError as error:
        status = _refuse(str(error))
    except KeyboardInterrupt:
        status = _refuse("interrupted", status=INTERRUPTED)
    except BrokenPipeError:
        status = _refuse(CLOSED, broken_output=True)
    except SystemExit:  # typer makes this of a BrokenPipeError with an error number, and of nothing else
        status = _refuse(CLOSED, broken_output=True)
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        status = _refuse(f"{error.strerror or error}{where}", broken_output=error.filename is None)
    except DisagreementError as error:
        status = _refuse(f"DISAGREEMENT: {error}")
    except MemoryError:
        status = _refuse("out of memory; smaller extents need less")
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        status = _refuse(message())
    sys.exit(status if isinstance(status, int) else 0)


class _Forgiving(io.FileIO):
    """A file that takes everything, though it may be full."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content) or 0
        except OSError:
            return memoryview(content).nbytes


def _keep_standard_error() -> None:
    """Let what cannot be said on standard error, since it is closed or full, change nothing else."""
    if sys.stderr is None:  # the next file opened would take its place
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != STDERR:
            os.dup2(nowhere, STDERR)
    elif sys.stderr is not sys.__stderr__:  # what a caller put there
        return
    file = io.BufferedWriter(_Forgiving(STDERR, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(file, errors="backslashreplace", line_buffering=True)


def _interruptible() -> list[int]:
    """Have SIGINT and SIGTERM raise KeyboardInterrupt; the list holds those that came.

    By default SIGTERM ends a process at once, and leaves behind the temporary files it has.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and shells ask for
            signal.signal(number, interrupt)
    return came


def _run(interrupted: list[int]) -> object:
    """Run the command; its exit status, if it says one."""
    try:
        status = app(standalone_mode=False)
    except Exception:
        if interrupted:  # libraries make errors of their own of it, above all while they are imported
            raise KeyboardInterrupt from None
        raise
    if status == INTERRUPTED:  # as does typer
        raise KeyboardInterrupt
    return status


def _refuse(message: str, *, broken_output: bool = False, status: int = BAD_INPUT) -> int:
    line = " ".join(message.split())
    if broken_output:
        # what is still buffered can go nowhere; keep the interpreter from trying at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if line:
        print(f"ithaca: {line}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
