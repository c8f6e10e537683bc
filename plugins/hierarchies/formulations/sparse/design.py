"""The design of the edition ``timeloop`` where tensors are sparse."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Stage
from ithaca.plugins.hierarchies.formulations.sparse.space import SparseSpace
from ithaca.plugins.hierarchies.formulations.sparse.stage import SparseStage


@dataclass(frozen=True)
class SparseDesign(SparseSpace):
    """Mappings of sparse tensors, searched with bounds of what they cost."""

    def stage(self, problem: Problem) -> Stage | None:
        """Factors of all loops, joined (`ithaca.plugins.hierarchies.formulations.sparse.stage`)."""
        problem.check_names()
        return SparseStage(self, problem) if self.moving and not problem.falling else None
