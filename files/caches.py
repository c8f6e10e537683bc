"""Files of the user's cache, each under the user's seal, so that nobody else can slip one in, nor
one of them in the place of another.

`ITHACA_CACHE` names the folder, by default ``ithaca`` in ``XDG_CACHE_HOME`` or ``~/.cache``; if it
is empty, nothing is kept. A hash of the code that makes answers says what is of use no more: what a
faulty search has proven does not outlive it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.reading import check_readable
from ithaca.files.seals import own_key
from ithaca.files.staging import staging

#: The layers that pose, solve and prove, and read what they work on; and all plug-ins, which have
#: layers of their own.
LAYERS = ("files", "workloads", "formulations", "solver", "refine", "studies", "plugins")

#: Packages that compute for them.
LIBRARIES = ("cyipopt-wheels", "numpy", "ortools")


@cache
def proving_code() -> str:
    """The hash of the sources of all layers that make answers, and of the versions of what computes
    for them, in 64 hexadecimal digits.

    Raises `InputError` if there are no sources.
    """
    root, digest = Path(ithaca.__file__).parent, hashlib.sha256()
    for layer in LAYERS:
        sources = sorted((root / layer).rglob("*.py"))
        if not sources:
            raise InputError(
                f"{root / layer} has no sources to know kept results by; allowed: an installation "
                "with its .py files"
            )
        for path in sources:
            name, text = path.relative_to(root).as_posix(), path.read_bytes()
            digest.update(f"{name} {len(text)}\n".encode() + text)
    digest.update(" ".join(f"{name} {_version(name)}" for name in LIBRARIES).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


#: The environment variable that names the folder.
VARIABLE = "ITHACA_CACHE"

#: Bytes of the largest file that is read.
LARGEST = 1 << 24


def cache_folder() -> Path | None:
    """The folder of the user's cache; None where nothing is kept."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        try:
            caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        except RuntimeError:
            return None
        folder = str(Path(caches, "ithaca"))
    return Path(folder) if folder else None


def recalled_bytes(path: Path | None) -> bytes | None:
    """The contents of a file that this user's Ithaca kept; None if there is none of that seal."""
    try:
        if path is None or path.stat().st_size > LARGEST:
            return None
        check_readable(path)
        seal, _, content = path.read_bytes().partition(b"\n")
        if not hmac.compare_digest(seal, _seal(path, content)):
            return None
        os.utime(path)
    except (OSError, InputError):
        return None
    return content


def keep_bytes(path: Path, content: bytes) -> None:
    """Keep contents for later, whole; where they cannot be written, nothing is kept."""
    with suppress(OSError, InputError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with staging(path.parent) as place:
            temporary = place / path.name
            temporary.write_bytes(_seal(path, content) + b"\n" + content)
            temporary.replace(path)  # whatever is there: also a pipe, which would be waited for


@lru_cache(maxsize=1)
def _key() -> bytes:
    return own_key()


def _seal(path: Path, content: bytes) -> bytes:
    """The seal of contents in their place: what kind of file it is, and what it was made from."""
    place = f"{path.parent.name}/{path.name}\n".encode()
    return hmac.digest(_key(), place + content, "sha256").hex().encode()
