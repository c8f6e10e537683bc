"""SCALE-Sim's three dataflows, and the array of a design in them.

===================  =============  =================  ==============  ==================
Stationary           rows           columns            time            space loops
===================  =============  =================  ==============  ==================
``os`` output        pixels (M)     filters (N)        window (K)      of M, of N, or both
``ws`` weights       window (K)     filters (N)        pixels (M)      of K and of N
``is`` inputs        window (K)     pixels (M)         filters (N)     of K and of M
===================  =============  =================  ==============  ==================
"""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.exports.scalesim.layer import Layer, Side
from ithaca.formulations.systolic.systolic_array import SystolicArray

#: Stationary operand by the sides in space, with the side of the rows and of the columns.
_DATAFLOWS = {
    frozenset({Side.PIXELS}): ("os", Side.PIXELS, Side.FILTERS),
    frozenset({Side.FILTERS}): ("os", Side.PIXELS, Side.FILTERS),
    frozenset({Side.PIXELS, Side.FILTERS}): ("os", Side.PIXELS, Side.FILTERS),
    frozenset({Side.WINDOW, Side.FILTERS}): ("ws", Side.WINDOW, Side.FILTERS),
    frozenset({Side.WINDOW, Side.PIXELS}): ("is", Side.WINDOW, Side.PIXELS),
}


@dataclass(frozen=True, slots=True)
class Grid:
    """SCALE-Sim's array."""

    dataflow: str  #: ``os``, ``ws`` or ``is``
    #: Its height and width (PEs).
    rows: int
    columns: int
    lanes_left: int  #: SIMD lanes of each PE that it leaves out


def dataflow_obstacle(nest_layer: Layer, design: SystolicArray) -> str | None:
    """Why SCALE-Sim has no dataflow like the design's; None where it has one."""
    sides = [nest_layer.side(loop) for loop in design.dataflow]
    name = f"dataflow ({','.join(design.dataflow)})"
    if len(set(sides)) < len(sides):
        what = sides[0].value
        return f"{name} has two loops over {what} in space; SCALE-Sim has rows or columns for {what}, not both"
    if frozenset(sides) not in _DATAFLOWS:
        return f"{name} keeps nothing in place; SCALE-Sim's os, ws and is keep outputs, weights or inputs"
    return None


def grid(nest_layer: Layer, configuration: ArrayConfiguration) -> Grid:
    """The array of a configuration that has no `dataflow_obstacle`.

    SIMD has no counterpart: PEs of SCALE-Sim multiply once per cycle. Where the window is in
    space, SIMD lanes are further rows, since both sum up along it. In ``os`` they are left out.
    """
    design, tiling = configuration.design, configuration.tiling
    lanes = {nest_layer.side(x): tiling.array_part[x] // configuration.t2(x) for x in design.dataflow}
    name, row, column = _DATAFLOWS[frozenset(lanes)]
    folded = row is Side.WINDOW is nest_layer.side(design.simd_loop)
    return Grid(name, lanes.get(row, 1) * (tiling.simd if folded else 1), lanes.get(column, 1), 1 if folded else tiling.simd)
