"""Seals of files: whether a file is as this user's Ithaca wrote it.

A seal is an HMAC-SHA256 of all else that a document states. Its key, 32 random bytes, lives in the
user's own state folder, or in the file that `ITHACA_KEY` names; it is made at first use, and nobody
else may read it.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.reading import check_readable
from ithaca.files.staging import staging

#: The environment variable that names the file of the key.
VARIABLE = "ITHACA_KEY"

#: Bytes of a key; a file of fewer is no key.
LENGTH = 32


def key_file() -> Path:
    """The file of the key. Raises `InputError` if nobody knows where the user is at home."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        raise InputError(
            f"no home folder is known to keep a key in; allowed: {VARIABLE}, naming its file"
        ) from None
    return Path(state, "ithaca", "key")


def own_key() -> bytes:
    """The user's key, made if there is none yet. Raises `InputError` if it cannot be had."""
    path = key_file()
    try:
        if not path.exists():
            _make(path)
        check_readable(path)
        key = path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot use {path} as the key of kept results: {why}; allowed: a file of your own, "
            f"named by {VARIABLE}"
        ) from None
    if len(key) < LENGTH:
        raise InputError(
            f"{path}, the key of kept results, has {len(key)} bytes; allowed: {LENGTH} or more"
        )
    return key


def seal(document: Mapping[str, Any], key: bytes) -> str:
    """The seal of all that a document states beside its own seal."""
    stated = {name: part for name, part in document.items() if name != "seal"}
    text = json.dumps(stated, sort_keys=True, separators=(",", ":"))
    return hmac.digest(key, text.encode(), "sha256").hex()


def is_sealed(document: Mapping[str, Any], key: bytes) -> bool:
    """Whether a document has the seal that it gets by this key."""
    own = document.get("seal")
    return isinstance(own, str) and own.isascii() and hmac.compare_digest(own, seal(document, key))


def _make(path: Path) -> None:
    """Write a new key, whole, unless another process did so meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with staging(path.parent) as place:
        temporary = place / path.name
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as stream:
            stream.write(secrets.token_bytes(LENGTH))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            temporary.replace(path)
