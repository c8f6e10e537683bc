"""Ithaca: proven-best hardware configurations for tensor programs.

Light to import: what the functions need is imported when one is first asked for.
"""

from __future__ import annotations

from typing import Any

from ithaca import refine as refine
from ithaca.files.answer import NAMES

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The public object of this name, imported when it is first asked for; `__init__.pyi` says what
    they are to those who check types."""
    if name == "__all__":
        return ["__version__", *NAMES]
    if name not in NAMES:
        raise AttributeError(f"module 'ithaca' has no attribute {name!r}")
    own = globals()[name] = NAMES[name]
    return own


def __dir__() -> list[str]:
    return sorted(["__version__", *NAMES])
