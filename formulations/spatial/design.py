"""The design of the edition ``timeloop``: mappings that are searched by labels."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.formulations.spatial.mapping_space import MappingSpace
from ithaca.formulations.spatial.search.offered import stage_of
from ithaca.formulations.stage import Stage


@dataclass(frozen=True)
class SpatialDesign(MappingSpace):
    """Mappings of a nest onto an architecture."""

    def stage(self, problem: Problem) -> Stage | None:
        """Labels from the multipliers outwards (`ithaca.formulations.spatial.search`)."""
        return stage_of(self, problem)
