"""Steps that put what was written beside a place into that place: all of it, or nothing.

A process may be killed at any of them. What it leaves beside the place, in a folder that it had
locked, is removed by the next write; a write into a folder that cannot be exchanged as a whole is
undone by whoever comes next.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.signals import undone

#: Temporary folders; short, since a name derived from a file's could exceed the longest allowed.
_TEMPORARY = re.compile(r"\.ithaca-[0-9a-f]{12}\.tmp")

#: How a folder was before files were moved into it one by one: there while they are.
UNDO = ".ithaca-undo"

#: Entries of a folder up to which it is exchanged as a whole, with links to those that stay.
MOST_LINKS = 10_000

#: Permissions of folders that are locked: others could hold the lock of one that they can open.
_PRIVATE = 0o700

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def staging(place: Path) -> Iterator[Path]:
    """A temporary folder in another; removed on every way out, as are those of killed processes."""
    recover(place)
    sweep(place)
    with ExitStack() as stack:
        ours = False
        while not ours:  # removed by another who came before the lock
            path = place / _temporary_name()
            remove = partial(shutil.rmtree, path, ignore_errors=True)
            stack.callback(remove)
            stack.enter_context(undone(remove))
            path.mkdir(_PRIVATE)
            ours = stack.enter_context(_locked(path))
        yield path


def sweep(place: Path) -> bool:
    """Remove the temporary folders of killed processes; whether none is left of living ones."""
    swept = True
    with suppress(OSError):
        for name in [each.name for each in os.scandir(place) if _TEMPORARY.fullmatch(each.name)]:
            try:
                with _locked(place / name, wait=False):
                    shutil.rmtree(place / name, ignore_errors=True)
            except OSError:
                swept = False
    return swept


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """A lock on a folder, which ends with the process; whether the folder is still there.

    Raises `OSError` if another process has it and ``wait`` is False. Where there are no such locks,
    as on some network file systems, nobody waits for another, and nothing is swept.
    """
    if sys.platform == "win32":
        if not wait:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        yield folder.exists()
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield False
        return
    import fcntl

    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            if not wait:
                raise
        try:
            there = os.path.samestat(os.fstat(descriptor), os.lstat(folder))
        except FileNotFoundError:
            there = False
        yield there
    finally:
        os.close(descriptor)


def _temporary_name() -> str:
    return f".ithaca-{secrets.token_hex(6)}.tmp"


def sync(folder: Path) -> None:
    """Make renames in a folder durable, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# -- a folder exchanged as a whole -------------------------------------------------------


def exchangeable(folder: Path) -> bool:
    """Whether a folder may be replaced by another that has its name: not one that a process works
    in, a mount point, or one whose parent cannot be written."""
    if sys.platform != "linux" or os.path.ismount(folder):
        return False
    if not os.access(folder.parent, os.W_OK | os.X_OK) or not sweep(folder):
        return False
    for process in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if process.readlink().is_relative_to(folder):
                return False
    return True


def exchange(new: Path, folder: Path, names: Collection[str]) -> None:
    """Let a new folder take the place of another in one step, with links to what else that holds.

    Parameters
    ----------
    new : Path
        The new folder; afterwards the old one.
    folder : Path
        The folder in its place.
    names : collection of str
        Paths in both that are not linked: those that were written.

    Raises
    ------
    OSError
        Where that cannot be; nothing has changed then.
    """
    _link_others(folder, new, names)
    _rename_exchange(new, folder)
    _keep_late(new, folder, names)
    sync(folder.parent)


def _link_others(old: Path, new: Path, names: Collection[str]) -> None:
    """Link what a folder holds beside some names from a new one, which gets its permissions."""
    device, user, count = old.stat().st_dev, os.geteuid(), 0

    def carry(inner: str) -> None:
        nonlocal count
        place = old / inner
        for entry in os.scandir(place):
            count, name = count + 1, f"{inner}{entry.name}"
            if count > MOST_LINKS:
                raise OSError(errno.EMLINK, os.strerror(errno.EMLINK))
            if entry.is_dir(follow_symlinks=False):
                (new / name).mkdir(exist_ok=True)
                carry(f"{name}/")
            elif name not in names:
                os.link(entry.path, new / name, follow_symlinks=False)
        stated, made = place.stat(), (new / inner).stat()
        if (stated.st_dev, stated.st_uid) != (device, user):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        if stated.st_gid != made.st_gid:
            os.chown(new / inner, -1, stated.st_gid)
        shutil.copystat(place, new / inner)

    carry("")
    os.utime(new)


def _keep_late(old: Path, new: Path, names: Collection[str], inner: str = "") -> None:
    """Move what came into a folder, or was replaced in it, after links to its content were made."""
    for entry in os.scandir(old / inner):
        name = f"{inner}{entry.name}"
        if entry.is_dir(follow_symlinks=False) and (new / name).is_dir():
            _keep_late(old, new, names, f"{name}/")
        elif name not in names:
            with suppress(FileNotFoundError):
                if os.lstat(new / name).st_ino == entry.inode():
                    continue
            Path(entry.path).replace(new / name)


def _rename_exchange(one: Path, other: Path) -> None:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# -- files moved into a folder one by one ------------------------------------------------


def move_into(place: Path, new: Path, folder: Path, names: Collection[str]) -> None:
    """Move files into a folder.

    Until the last one is there, `UNDO` in it says how to put back what was, which is done on
    failure here, and after a kill by the next command that reads or writes in the folder.

    Parameters
    ----------
    place : Path
        Temporary folder in that folder.
    new : Path
        Folder that has the new files.
    folder : Path
        Where they go.
    names : collection of str
        Their paths in both.
    """
    before = place / "undo"
    for made in (before, before / "kept", before / "none"):
        made.mkdir(_PRIVATE)
    (before / "inode").write_text(f"{before.stat().st_ino}")
    for name in names:
        kept, none = before / "kept" / name, before / "none" / name
        if (folder / name).parent.is_dir():
            kept.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(folder / name):
            try:
                os.link(folder / name, kept, follow_symlinks=False)
            except OSError:
                shutil.copy2(folder / name, kept, follow_symlinks=False)
        else:
            none.parent.mkdir(parents=True, exist_ok=True)
            none.touch()
    sync(before)
    with _locked(before):
        before.rename(folder / UNDO)
        try:
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).replace(folder / name)
            sync(folder)
            (folder / UNDO).rename(place / "done")
        except BaseException:
            _put_back(folder, place / "done")
            raise
    sync(folder)


def recover(place: Path) -> None:
    """Undo writes that were cut off, into a folder and those that it is in, once nobody is at them.

    Raises `InputError` if that cannot be.
    """
    for folder in (place.absolute(), *place.absolute().parents):
        if not _cut_off(folder):
            continue
        try:
            with _locked(folder / UNDO) as there:
                if there:
                    _check_ours(folder / UNDO)
                    _put_back(folder, folder / _temporary_name())
            sweep(folder)
        except OSError as error:
            raise InputError(
                f"{folder} holds half of what was to be written, which cannot be undone: "
                f"{error.strerror}"
            ) from error


def _cut_off(folder: Path) -> bool:
    """Whether a write into a folder was cut off; not by others who may merely write there, as
    everybody may in a folder for temporary files."""
    try:
        owner = os.lstat(folder / UNDO).st_uid
    except (OSError, ValueError):
        return False
    return owner in (folder.stat().st_uid, getattr(os, "geteuid", int)())


def _check_ours(undo: Path) -> None:
    """Refuse what others have packed: nothing is moved in a folder because of it."""
    known = undo / "inode"
    if not known.is_file() or known.read_bytes()[:99] != f"{undo.stat().st_ino}".encode():
        raise InputError(f"{undo} is of no write that was cut off here; allowed: without it")


def _put_back(folder: Path, swept: Path) -> None:
    """Put back what there was before files were moved into a folder; what says so gets a name under
    which it does no longer."""
    undo = folder / UNDO
    for kept in _files(undo / "kept"):
        (undo / "kept" / kept).replace(folder / kept)
    for none in _files(undo / "none"):
        (folder / none).unlink(missing_ok=True)
        for parent in none.parents:
            if not (undo / "kept" / parent).is_dir():
                with suppress(OSError):
                    (folder / parent).rmdir()
    sync(folder)
    undo.rename(swept)


def _files(folder: Path) -> list[Path]:
    return [each.relative_to(folder) for each in folder.rglob("*") if not each.is_dir()]
