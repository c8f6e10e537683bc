"""The design of the edition ``uneven``: mappings that are searched axis by axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.design import Design
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.stage import Stage
from ithaca.plugins.hierarchies.formulations.constraints import NONE
from ithaca.plugins.hierarchies.formulations.uneven.plans import Plans
from ithaca.plugins.hierarchies.formulations.uneven.space import UnevenSpace
from ithaca.plugins.hierarchies.formulations.uneven.stage import UnevenStage
from ithaca.plugins.hierarchies.formulations.uneven.tiles import TiledNests, tiled_nests


@dataclass(frozen=True)
class UnevenDesign(UnevenSpace):
    """Mappings of a nest onto an architecture, each tensor with tiles of its own."""

    def stage(self, problem: Problem) -> Stage | None:
        """Options of all loops, joined (`ithaca.plugins.hierarchies.formulations.uneven.stage`)."""
        return UnevenStage(self, problem) if self.moving and not problem.falling else None

    def passing(self, limits: Sequence[Limit]) -> Mapping[str, Fraction] | None:
        if self.constraints != NONE or not self.moving:
            return None
        return self.roofs((self.nest.inputs[0].tensor, self.nest.output.tensor), limits)

    def tiled(self, following: Sequence[Design]) -> TiledNests | None:
        nests = [design for design in (self, *following) if isinstance(design, UnevenDesign)]
        return tiled_nests(nests, Plans()) if len(nests) > len(following) else None
