"""Seeds: a few configurations of one design, ready for any tool."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.exports.seeds.parameters import ParameterSpace
from ithaca.formulations.systolic.tiling import Tiling


@dataclass(frozen=True)
class Seeds:
    """Start configurations of one design.

    Attributes
    ----------
    space : ParameterSpace
        The design's parameters.
    tilings : tuple of Tiling
        The configurations, the one to try first first.
    """

    space: ParameterSpace
    tilings: tuple[Tiling, ...]

    @property
    def parameters(self) -> tuple[dict[str, int], ...]:
        """The configurations as parameters by name."""
        return tuple(self.space.encode(tiling) for tiling in self.tilings)
