"""The code that makes answers, as a hash: what a faulty search has proven does not outlive it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ithaca
from ithaca.files.errors import InputError

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
