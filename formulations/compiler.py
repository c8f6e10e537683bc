"""Compilers that configurations are meant for."""

from __future__ import annotations

from enum import Enum


class Compiler(Enum):
    """A compiler that configurations are meant for."""

    AUTOSA = "autosa"
    """The systolic array compiler AutoSA."""

    @property
    def title(self) -> str:
        """The compiler's name as it is written."""
        return "AutoSA"
