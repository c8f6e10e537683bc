"""The command line of Ithaca: its commands, and how each run of it ends.

What a command takes and does is in its module in `ithaca.commands`, imported when it is asked for,
so that ``ithaca --help`` answers at once.

Characters that an output cannot encode are written as others that say the same.
"""

from __future__ import annotations

import atexit
import codecs
import gc
import io
import os
import sys
from contextlib import suppress
from importlib.resources import files
from typing import Annotated, Any, NoReturn, TextIO
from unicodedata import combining, normalize

import typer
from typer.core import TyperCommand, TyperGroup

from ithaca.commands.api.live_line import tell
from ithaca.commands.outcome import BAD_INPUT, NOTHING_FOUND
from ithaca.files import clock, signals
from ithaca.files.errors import DisagreementError, InputError, NothingFoundError
from ithaca.files.extras import lacking
from ithaca.files.messages import escaped
from ithaca.files.plugin import plugins
from ithaca.files.registry import Registry
from ithaca.files.signals import INTERRUPTED, STDERR

#: The name of the error handler.
PLAIN = "ithaca.plain"

_WRITTEN_AS = str.maketrans(
    {
        "×": "x",
        "·": "*",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "±": "+-",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "→": "->",
        "←": "<-",
        "µ": "u",
        "μ": "u",
        "Δ": "delta",
        "Σ": "sum",
        "∞": "inf",
        "⌈": "ceil(",
        "⌉": ")",
        "•": "*",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
    }
)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Characters that the encoding of an output has, in place of those that it has not."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = normalize("NFKD", error.object[error.start : error.end].translate(_WRITTEN_AS))
    plain = "".join(c if c.isascii() else "?" for c in text if not combining(c))
    return plain, error.end


def degrade(stream: TextIO) -> None:
    """Have a stream write what its encoding cannot say as characters that it can."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=PLAIN)


codecs.register_error(PLAIN, _plain)


#: Exit status where nobody reads on (``| head``), which is no error: as of a process that SIGPIPE
#: ends.
CLOSED = 141

#: The commands by name; the function of each has its options, or calls one that has them.
COMMANDS: Registry[Any] = Registry("commands")


def helps() -> dict[str, str]:
    """A line on each command, by name; its help begins with the docstring of the
    function that it calls."""
    return {name: text for plugin in plugins().values() for name, text in plugin.commands.items()}


def load(name: str) -> Any:
    """A command with its options; all that it needs is imported only here."""
    from ithaca.commands.grouped import GroupedCommand
    from ithaca.commands.typed import as_typed

    examples = [line for line in _examples() if line.startswith(f"ithaca {name} ")]
    epilog = "\n".join(["\b", "Examples:", *(f"  {line}" for line in examples)])
    if name == "list":
        from ithaca.commands.listing import listing

        listing.info.epilog = epilog
        return typer.main.get_command(listing)
    command = COMMANDS[name]
    what = str(getattr(command, "calls", command).__doc__).partition("\n\n")[0]
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    text = " ".join(what.split())
    single.command(name, cls=GroupedCommand, help=text, epilog=epilog)(as_typed(command))
    return typer.main.get_command(single)


def _examples() -> list[str]:
    """Examples of all commands, which run one after the other in an empty folder."""
    return (
        files("ithaca.commands").joinpath("examples.txt").read_text(encoding="utf-8").splitlines()
    )


class _Commands(TyperGroup):
    """The commands by name and help alone; the one that is asked for is loaded."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(
            (name, TyperCommand(name, help=text)) for name, text in helps().items()
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except Exception:
            from ithaca.commands.strays import of_command

            if line := of_command(args[0], {own: load(own) for own in helps()}):
                raise line from None
            raise
        if (
            ctx.resilient_parsing and rest and rest[-1].startswith("-")
        ):  # an option whose value is being completed
            rest = rest[:-1]
        return name, None if command is None else load(str(name)), rest


app = typer.Typer(
    name="ithaca",
    cls=_Commands,
    help="Find the best hardware configuration for a tensor program, with a proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        from ithaca import __version__

        print(f"ithaca {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main(program: typer.Typer = app, name: str = "ithaca") -> None:
    """Run a program: exit status 0 answer found, 1 nothing found, 2 bad input, 130 interrupted (one
    line on stderr), 141 standard output closed (none)."""
    try:
        signals.install()  # first: what comes before finds only Python's own handlers
        # expressions are many and live long: cycles looked for at every 700 take 0.14 of 2.5 s
        gc.set_threshold(10_000)
        # Ithaca's models have none, and looking for them takes longer than a list
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        _keep_standard_error()
        if sys.stdout is None:
            raise InputError("standard output is closed")
        degrade(sys.stdout)
        if program is app and sys.argv[1:] in ([], ["list"]):
            sys.argv.append("--help")
        elif program is app and sys.argv[1:2] == ["help"]:
            sys.argv[1:] = [*sys.argv[2:3], "--help"]
        with clock.beginning():
            status = _run(program, name)
        sys.stdout.flush()
    except InputError as error:
        status = _refuse(error.line)
    except KeyboardInterrupt:
        status = _refuse("interrupted", status=INTERRUPTED)
    except BrokenPipeError:
        status = _refuse("", broken_output=True, status=CLOSED)
    # typer makes 1 of a BrokenPipeError with an error number; 0 ends what completes words
    except SystemExit as ended:
        status = _refuse("", broken_output=True, status=CLOSED) if ended.code else 0
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        status = _refuse(f"{error.strerror or error}{where}", broken_output=error.filename is None)
    except NothingFoundError as why:
        tell(str(why))
        status = NOTHING_FOUND
    except DisagreementError as error:
        status = _refuse(f"DISAGREEMENT: {error}")
    except MemoryError:
        status = _refuse("out of memory; smaller extents need less")
    except ModuleNotFoundError as error:
        known = lacking(error)
        if not isinstance(known, InputError):
            raise
        status = _refuse(known.line)
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        status = _refuse(message())
    signals.settle()
    if status == INTERRUPTED and signals.came():
        _end_interrupted()
    sys.exit(status if isinstance(status, int) else 0)


def _end_interrupted() -> NoReturn:
    """End without Python's own end: libraries that a signal found half loaded may crash it
    there."""
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


class _Forgiving(io.FileIO):
    """A file that takes everything, though it may be full."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content) or 0
        except OSError:
            return memoryview(content).nbytes


def _keep_standard_error() -> None:
    """Let what cannot be said on standard error, since it is closed or full, change nothing
    else."""
    if sys.stderr is None:  # the next file opened would take its place
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != STDERR:
            os.dup2(nowhere, STDERR)
    elif sys.stderr is not sys.__stderr__:  # what a caller put there
        return
    encoding = getattr(sys.stderr, "encoding", None)
    file = io.BufferedWriter(_Forgiving(STDERR, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(file, encoding, PLAIN, line_buffering=True)


def _run(program: typer.Typer, name: str) -> object:
    """Run the command; its exit status, if it says one."""
    try:
        status = program(prog_name=name, standalone_mode=False)
    except Exception:
        if (
            signals.came()
        ):  # libraries make errors of their own of it, above all while they are imported
            raise KeyboardInterrupt from None
        raise
    if status == INTERRUPTED:  # as does typer
        raise KeyboardInterrupt
    return status


def _refuse(message: str, *, broken_output: bool = False, status: int = BAD_INPUT) -> int:
    line = escaped(" ".join(message.split()))
    if broken_output:
        # what is still buffered can go nowhere; keep the interpreter from trying at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if line:
        print(f"ithaca: {line}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
