"""The command line, called within the test's process, or as a process of its own where that is the
point.

A process of its own takes half a second to start; most tests ask what a command answers, not how it
starts.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import chdir, contextmanager
from pathlib import Path
from subprocess import CompletedProcess, Popen
from unittest.mock import patch

from ithaca import cli

#: The program, as ``python -c`` takes it. It says on stderr when it begins: what happens before is
#: Python's, not the program's. A shell starts a background process with SIGINT ignored, and so
#: would be all that it starts.
TOLD = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.{}); sys.path.append({!r}); from {} import main; "
    "print('begun', file=sys.stderr, flush=True); main()"
)

ROOT = str(Path(__file__).parents[1])


def ithaca(
    *arguments,
    cwd=None,
    env=None,
    together=False,
    main=None,
):
    """Run a command to its end, as `ithaca.cli.main` does in a process of its own.

    Parameters
    ----------
    *arguments
        What is typed after ``ithaca``.
    cwd : Path, optional
        The folder to run it in.
    env : Mapping, optional
        Environment variables to set beside those there are.
    together : bool
        Whether errors go where output goes.
    main : Callable, optional
        Another program than `ithaca.cli.main`.

    Returns
    -------
    CompletedProcess
        Exit status, and all that is written to the descriptors 1 and 2, by libraries in C and by
        child processes, too.
    """
    words = ["ithaca", *map(str, arguments)]
    # rich asks the terminal for its width, which a test's must not depend on
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        patch.object(sys, "argv", words),
        patch.dict(os.environ, {"COLUMNS": "140", **(env or {})}),
        chdir(cwd or Path.cwd()),
        _same_handlers(),
        _redirected(1, output.fileno()) as sys_stdout,
        _redirected(2, (output if together else errors).fileno()) as sys_stderr,
        patch.object(sys, "stdout", sys_stdout),
        patch.object(sys, "stderr", sys_stderr),
        _printed_warnings(),
    ):
        try:
            (main or cli.main)()
            status = 0
        except SystemExit as end:
            status = end.code
        sys_stdout.flush()
        sys_stderr.flush()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
    return CompletedProcess(
        words, status if isinstance(status, int) else int(status is not None), *texts
    )


def succeed(*arguments, **options):
    """Run a command as `ithaca` does, which must succeed."""
    done = ithaca(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def refused(*arguments, **options):
    """Run a command as `ithaca` does, which must be refused: the one line that says why."""
    done = ithaca(*arguments, **options)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("ithaca: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


class Process(Popen[str]):
    """A process that ends with its ``with`` block where that fails, which would otherwise wait for
    it."""

    def __exit__(self, kind, *rest):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


def start(
    *arguments,
    sigint="default_int_handler",
    program="ithaca.cli",
    **options,
):
    """Start a command in a process of its own, with options of `Popen`; SIGINT reaches it however
    the tests were started."""
    command = [sys.executable, "-c", TOLD.format(sigint, ROOT, program), *map(str, arguments)]
    return Process(
        command, text=True, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    )


def begin(*arguments, **options):
    """Start a command as `start` does, and wait until the program itself begins."""
    process = start(*arguments, **options)
    assert process.stderr.readline() == "begun\n"
    return process


def interrupted(*arguments, program="ithaca.cli"):
    """Interrupt a command that takes minutes, once it has begun to search: exit status, output and
    errors.

    How soon that is depends on the machine; before, it has nothing, says so, and is given more
    time.
    """
    for pause in (2, 4, 8, 16, 32):
        with begin(*arguments, program=program) as process:
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=100)
        if process.returncode != 130:
            break
        assert (output, errors) == ("", "ithaca: interrupted\n")
    return process.returncode, output, errors


@contextmanager
def _redirected(descriptor, target):
    """Have a descriptor lead elsewhere for a while; a stream that writes to it."""
    kept = os.dup(descriptor)
    try:
        os.dup2(target, descriptor)
        with open(
            descriptor, "w", buffering=1 if descriptor == 2 else -1, encoding="utf-8", closefd=False
        ) as stream:
            yield stream
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


@contextmanager
def _same_handlers():
    """Put back what the program sets for signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # whoever runs the tests may ignore SIGINT, as a shell does in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _printed_warnings():
    """Have warnings printed as a program of its own prints them; pytest keeps them to itself."""

    def show(message, category, name, line, *rest):
        print(warnings.formatwarning(message, category, name, line), file=sys.stderr, end="")

    with warnings.catch_warnings():
        warnings.resetwarnings()
        for ignored in (
            DeprecationWarning,
            PendingDeprecationWarning,
            ImportWarning,
            ResourceWarning,
        ):
            warnings.simplefilter("ignore", ignored)
        warnings.showwarning = show
        yield
