"""``--results``: a folder that studies keep their answers in."""

from __future__ import annotations

import sys
from pathlib import Path

from ithaca.studies.store import Store


def open_store(folder: Path | None) -> Store | None:
    """The results folder, made if missing; what cannot be used in it is told on stderr."""
    return None if folder is None else Store(folder, lambda line: print(f"ithaca: {line}", file=sys.stderr))
