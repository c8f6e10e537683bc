"""Grids and evolution around a result.

The function of Python is `ithaca.refine.refine`, or `Result.refine`: it is asked as all functions
of `ithaca.commands.api` are, and is imported from there when it is first asked for.
"""

from __future__ import annotations

from typing import Any

from ithaca.files.answer import NAMES


def __getattr__(name: str) -> Any:
    """The function that refines a result."""
    if name != "refine":
        raise AttributeError(f"module 'ithaca.refine' has no attribute {name!r}")
    return NAMES["refine"]
