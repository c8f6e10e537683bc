"""Extents padded to whole tiles, which is what a design computes."""

from __future__ import annotations

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.nest import LoopNest


def padded_extents(nest: LoopNest, tiling: Tiling) -> dict[str, int]:
    """Extent of each loop padded to whole tiles, tiles · t1 (iterations); untiled loops are not padded."""
    parts = tiling.array_part
    return {loop: -(-extent // parts[loop]) * parts[loop] if loop in parts else extent for loop, extent in nest.extents}
