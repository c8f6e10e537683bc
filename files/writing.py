"""Write files whole or not at all.

A result that took an hour to find must not replace an older one by half of itself. Content
therefore goes to a temporary folder beside its place first and is renamed only once it is safely on
disk. Temporary folders are removed on every way out, Ctrl-C included, also a second one, and those
of killed processes by the next write.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from ithaca.files.errors import InputError
from ithaca.files.signals import deferred, unbroken
from ithaca.files.staging import exchange, exchangeable, move_into, staging, sweep, sync

#: The type of the version of documents.
Schema = Literal["ithaca/2"]

#: Version of all documents Ithaca reads and writes.
SCHEMA: Schema = "ithaca/2"


def write_text_atomically(path: Path | str, text: str) -> None:
    """Write a text file (UTF-8) so that it holds either all of ``text`` or what it held before.

    Its folder must exist. Links are followed, permissions of an existing file kept. A device or
    pipe (``/dev/stdout``) is written in place, since renaming over it would destroy it.

    Raises `InputError` if the path is a directory or cannot be written.
    """
    with _one_line_errors(path):
        target = _file(path)
        if _is_device(target):
            target.write_bytes(text.encode())
            return
        with staging(target.parent) as place:
            temporary = place / target.name
            _write_new(temporary, text)
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        sync(target.parent)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file for a library to write, moved to the file's place on success.

    It has the file's name, since libraries choose the format by its end. A signal waits until they
    are done. Raises `InputError` if the file cannot be written.
    """
    check_writable(path)
    target = path.resolve()
    if _is_device(target):
        raise InputError(f"cannot write {path}: it is a device or pipe; give the name of a file")
    try:
        with staging(target.parent) as place:
            temporary = place / target.name
            with deferred():
                yield temporary
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        sync(target.parent)
    except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as a RuntimeError
        raise InputError(
            f"cannot write {path}: {getattr(error, 'strerror', None) or error}"
        ) from error


def check_writable(path: Path | str) -> None:
    """Refuse, before any work, a path that `write_text_atomically` could not write."""
    with _one_line_errors(path):
        target = _file(path)
        if not _is_device(target):
            _need_access(target.parent)


def check_folder(folder: Path | str, names: Iterable[str]) -> None:
    """Refuse, before any work, a folder of such names that `write_folder` could not write."""
    with _one_line_errors(folder):
        target = Path(folder).resolve()
        if target.exists() and not target.is_dir():
            raise InputError(f"cannot write {folder}: it is a file; give the name of a folder")
        for name in names:
            if (target / name).is_dir():
                raise InputError(f"cannot write {folder}: {name} in it is a directory")
            for parent in map(str, Path(name).parents):
                if (target / parent).is_symlink():
                    raise InputError(f"cannot write {folder}: {parent} in it is a link to a folder")
        _need_parent(target, folder)
        _need_access(target if target.exists() else target.parent)


def write_folder(folder: Path | str, files: Mapping[str, str | bytes]) -> None:
    """Write a folder, content by name (``folder/name`` inside another): all files or none.

    It is built beside its place, in a folder that must exist, and put there in one step. In an
    existing one the files replace those of the same names; other files stay, as links in what takes
    its place. A folder that cannot be exchanged, since somebody works in it, say, gets file after
    file; what a kill leaves is undone by the next command that reads or writes there. Text is
    written as UTF-8; files that start with ``#!`` become executable.

    Raises `InputError` if the folder or one of its files cannot be written.
    """
    check_folder(folder, files)
    with _one_line_errors(folder):
        target = Path(folder).resolve()
        exists = target.exists()
        if not exists or exchangeable(target):
            with staging(target.parent) as place:
                new = _built(place, files)
                if not exists:
                    new.rename(target)
                else:
                    with unbroken(), suppress(OSError):
                        exchange(new, target, files)
                        exists = False
        if exists:
            sweep(target.parent)
            with staging(target) as place:
                new = _built(place, files)
                with unbroken():
                    move_into(place, new, target, files)
        sync(target.parent)


def _built(place: Path, files: Mapping[str, str | bytes]) -> Path:
    new = place / "new"
    new.mkdir()
    for name, text in files.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        _write_new(new / name, text)
    sync(new)
    return new


def _write_new(path: Path, text: str | bytes) -> None:
    """Create a file and see it safely on disk."""
    content = text.encode() if isinstance(text, str) else text
    mode = (
        0o777 if content.startswith(b"#!") else 0o666
    )  # less the user's umask, as for any new file
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _file(path: Path | str) -> Path:
    """The file that a path means, which can be written as far as its kind and folder say."""
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a directory; give the name of a file")
    if not _is_device(target):
        _need_parent(target, path)
    return target


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file()


def _need_access(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            errno.EACCES, f"folder {folder} is read-only; allowed: one that may be written"
        )


def _need_parent(target: Path, path: Path | str) -> None:
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: {target.parent} is not an existing folder")


@contextmanager
def _one_line_errors(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"cannot write {str(path)!r}: {error}"
        ) from error  # a null byte, a lone surrogate
    except RuntimeError as error:
        raise InputError(f"cannot write {path}: it is a loop of links") from error


def document_text(document: Mapping[str, Any]) -> str:
    """A document as JSON text, ready to print or write; never contains NaN or Infinity."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
