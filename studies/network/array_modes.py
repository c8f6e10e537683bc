"""The modes of a network's solve whose layers share arrays."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.files.registry import Registry


@dataclass(frozen=True)
class ArrayMode:
    """A mode whose layers share arrays. It is one search over all of them: there are no problems
    to share out, or to keep one by one."""

    several: bool
    """Whether there may be more than one array."""
    counted: tuple[str, str]
    """The things that the search counts, and their meaning."""


#: By the name of the mode.
ARRAY_MODES: Registry[ArrayMode] = Registry("array modes")
