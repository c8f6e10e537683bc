"""Hardware made again from the record in its folder, and compared with what the folder holds."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from ithaca.exports.generated import GENERATORS
from ithaca.exports.layers import TABLE, IndexDocument, digest, index_files
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import counted
from ithaca.files.reading import parse_json, read_bytes, read_text
from ithaca.files.writing import document_text
from ithaca.plugins.rtl.exports.folder import RTL, STREAM, written_again
from ithaca.plugins.rtl.exports.generated import generated_files
from ithaca.plugins.rtl.exports.record import MAX_BYTES, NAME, RECORD, Recorded, read_record

#: Files that tools would read, whatever their names: sources, lists of them, scripts, memories,
#: constraints, settings; modules that Python takes for others beside ``host.py``.
READ = (".sv", ".svh", ".v", ".vh", ".f", ".vlt", ".tcl", ".ys", ".mk", ".mem", ".hex", ".cpp",
        ".xdc", ".ini", ".cfg", ".py", ".pyc", ".so", ".sh")  # fmt: skip
MAKEFILES = ("makefile", "gnumakefile")

#: Differences that are named.
NAMED = 3


def made_again(folder: Path) -> Mapping[str, str]:
    """The files of the hardware whose record a folder has, or of a network's layers.

    Raises `InputError` if it has none, or one of no hardware.
    """
    if not (folder / TABLE).exists():
        return _hardware_files(folder, *read_record(folder))
    path = folder / RECORD
    index = read_index(path)
    folders = dict.fromkeys(row.folder for row in index.layers)
    read = {name: read_record(_beside(path, name)) for name in folders}
    for row in index.layers:
        family, _, layers = read[row.folder]
        if row.of not in layers:
            allowed = ", ".join(map(quoted, layers))
            raise InputError(f"{path}: {row.layer} is of {quoted(row.of)}; allowed: {allowed}")
        if (generator := GENERATORS.get(family)) is not None:
            what = f"one of {generator.workloads}"
            raise InputError(f"{path}: {row.layer} is {what}; allowed: layers of a network")
        if (design := layers[row.of].configuration.name) != row.design:
            what = f"design of {row.layer} is {quoted(row.design)}"
            raise InputError(f"{path}: {what}; allowed: {quoted(design)}")
    own = {name: _hardware_files(folder / name, *record) for name, record in read.items()}
    digests = {name: digest(files[RECORD]) for name, files in own.items()}
    for name in sorted(digests.keys() | index.records.keys()):
        if digests.get(name) != index.records.get(name):
            raise InputError(f"{name}/{RECORD} is not the one that {path} states")
    return {
        **{f"{name}/{file}": text for name, files in own.items() for file, text in files.items()},
        **index_files(RTL, index),
        RECORD: document_text(index.model_dump(by_alias=True)),
    }


def read_index(path: Path) -> IndexDocument:
    """The record of a network's folder."""
    return validated(IndexDocument, parse_json(read_text(path, MAX_BYTES), path), path)


def folders_of(table: Path) -> list[str]:
    """The folders that a network's table names, each beside it."""
    rows = csv.DictReader(read_text(table, MAX_BYTES).splitlines())
    names = [*dict.fromkeys(row.get("folder") or "" for row in rows)]
    if not all(names):
        raise InputError(f"{table}: column folder is missing; allowed: a folder a row")
    for name in names:
        _beside(table, name)
    return names


def _beside(file: Path, name: str) -> Path:
    """The folder of a name beside a file that states it."""
    if not NAME.fullmatch(name) or (file.parent / name).is_symlink():
        raise InputError(f"{file}: folder is {quoted(name)}; allowed: a folder beside it")
    return file.parent / name


def _hardware_files(
    folder: Path, family: str, memory: str, layers: Mapping[str, Recorded]
) -> Mapping[str, str]:
    """The files of one piece of hardware, of what its record states."""
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
