"""Hardware made again from the record in its folder, and compared with what the folder holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from ithaca.exports.generated import GENERATORS
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import counted
from ithaca.files.reading import read_bytes
from ithaca.plugins.rtl.exports.folder import STREAM, written_again
from ithaca.plugins.rtl.exports.generated import generated_files
from ithaca.plugins.rtl.exports.record import RECORD, read_record

#: Files that tools would read, whatever their names: sources, lists of them, scripts, memories.
READ = (".sv", ".svh", ".v", ".vh", ".f", ".vlt", ".tcl", ".ys", ".mk", ".mem", ".hex", ".cpp")
MAKEFILES = ("makefile", "gnumakefile")

#: Differences that are named.
NAMED = 3


def made_again(folder: Path) -> Mapping[str, str]:
    """The files of the hardware whose record a folder has.

    Raises `InputError` if it has none, or one of no hardware.
    """
    family, memory, layers = read_record(folder)
    with errors_at(folder / RECORD):
        if (generator := GENERATORS.get(family)) is None:
            return written_again(layers, memory)
        ((alone, *others)) = layers.values()
        if others or memory != STREAM:
            raise InputError(f"memory is {memory!r}; allowed of {generator.workloads}: {STREAM}")
        if reasons := generator.obstacles(alone.configuration):
            raise InputError("; ".join(reasons))
        return generated_files(generator, alone.configuration)


def differences(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Differences of a folder from what it was written as, a file each."""
    lines = []
    for name, text in files.items():
        content, path = text.encode(), folder / name
        inner = [path, *(folder / each for each in Path(name).parents[:-1])]
        if any(each.is_symlink() for each in inner):
            lines.append(f"{name} is a link")
        elif not path.is_file():
            lines.append(f"{name} is missing")
        elif path.stat().st_size != len(content) or read_bytes(path, len(content)) != content:
            lines.append(f"{name} is not as written")
    entries = ((Path(at, each) for each in (*own, *more)) for at, own, more in os.walk(folder))
    for path in sorted(chain.from_iterable(entries)):
        name = path.relative_to(folder).as_posix()
        read = path.suffix.lower() in READ or path.name.lower() in MAKEFILES
        if name not in files and (read or path.is_symlink()):
            lines.append(f"{name} was not written")
    return tuple(lines)


def in_words(lines: tuple[str, ...]) -> str:
    """Differences as part of a line: the first ones, and how many more."""
    more = f", and {counted(len(lines) - NAMED, 'more difference')}" if lines[NAMED:] else ""
    return ", ".join(lines[:NAMED]) + more
