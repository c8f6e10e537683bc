"""The design of the edition ``timeloop``: mappings that are searched by labels."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Stage
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.search.offered import stage_of


@dataclass(frozen=True)
class SpatialDesign(MappingSpace):
    """Mappings of a nest onto an architecture."""

    def stage(self, problem: Problem) -> Stage | None:
        """Labels from the multipliers outwards (`search`)."""
        return stage_of(self, problem)
