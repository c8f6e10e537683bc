"""Compilers that configurations are meant for."""

from __future__ import annotations

from enum import Enum


class Target(Enum):
    """A compiler that configurations are meant for."""

    AUTOSA = "autosa"
    """The systolic array compiler AutoSA."""

    @property
    def title(self) -> str:
        """The target's name as it is written."""
        return "AutoSA"
