"""What a tiling computes beyond the nest: whole tiles, idle lanes, idle SIMD lanes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class LoopPadding:
    """One band loop, padded to whole tiles."""

    loop: str  #: Its name
    #: Iterations of the nest, and of the tiling: tiles · t1.
    extent: int
    padded: int
    #: PEs along a space loop (1 for another), and those without any work in the last tile.
    lanes: int
    idle_lanes: int
    idle_simd: int  #: SIMD lanes without work in the last vector that has any; 0 but for the SIMD loop


@dataclass(frozen=True, slots=True)
class Padding:
    """Padding of a tiling."""

    loops: tuple[LoopPadding, ...]  #: One per band loop
    #: Multiply-accumulates of the nest, and of the tiling.
    operations: int
    padded_operations: int

    @property
    def share(self) -> Fraction:
        """The part of the operations done that is padding."""
        return 1 - Fraction(self.operations, self.padded_operations)


def padding(nest: LoopNest, costs: Costs) -> Padding:
    """Compare the iterations of a tiling with those of its nest."""
    array, values = costs.point.array, costs.point.values
    loops = []
    for loop in array.band:
        t1, t2 = int(values[quantities.t1(loop).name]), int(values[quantities.t2(loop).name])
        extent, padded = nest.sizes[loop], int(values[quantities.tiles(loop).name]) * t1
        space = loop in array.dataflow
        lanes = int(values[quantities.lanes(loop).name]) if space else 1
        idle_lanes = (padded - extent) // t2 if space else 0
        idle_simd = (padded - extent) % t2 if loop == array.simd_loop else 0
        loops.append(LoopPadding(loop, extent, padded, lanes, idle_lanes, idle_simd))
    untiled = prod(nest.sizes[loop] for loop in array.untiled)
    return Padding(tuple(loops), nest.operations, untiled * prod(entry.padded for entry in loops))
