"""The registry of accelerators that hardware spaces can have."""

from __future__ import annotations

from ithaca.files.registry import Registry
from ithaca.formulations.hardware.kind import AcceleratorKind

#: Kinds of accelerators by their family.
ACCELERATORS: Registry[AcceleratorKind] = Registry("accelerators")


def unnamed_accelerators() -> str:
    """The family of the accelerators of spaces that name none; the first where no kind is it."""
    unnamed = (name for name, kind in ACCELERATORS.items() if kind.unnamed)
    return next(unnamed, next(iter(ACCELERATORS)))
