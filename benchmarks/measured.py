"""CPU time and memory of commands in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile


@dataclass(frozen=True)
class Taken:
    """A command as it ran."""

    seconds: float
    """CPU seconds of the process, user's and system's."""
    memory: int
    """Largest memory (bytes)."""
    status: int
    """Its exit status."""
    output: str
    """Its standard output."""
    errors: str
    """Its standard error."""


def measured(words: Sequence[str], compiled: str | None = None) -> Taken:
    """Run Python with some words, and measure it.

    Parameters
    ----------
    words : sequence of str
        Arguments of the interpreter, such as ``-m ithaca solve …``.
    compiled : str, optional
        The folder of compiled code, as it is where Ithaca is installed; by default beside the code.
    """
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    if compiled is not None:
        env["PYTHONPYCACHEPREFIX"] = compiled
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        running = subprocess.Popen([sys.executable, *words], stdout=output, stderr=errors, env=env)
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        return Taken(seconds, memory, running.returncode, output.read(), errors.read())


def write_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what a page has between two marks."""
    before, rest = page.read_text(encoding="utf-8").split(marks[0])
    after = rest.split(marks[1])[1]
    page.write_text(before + marks[0] + text + marks[1] + after, encoding="utf-8")
