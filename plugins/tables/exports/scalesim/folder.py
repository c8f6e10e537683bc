"""The exported folder: topology, configuration and layout, and what is said about them.

SCALE-Sim has three dataflows:

===================  =============  =================  ==============  ==================
Stationary           rows           columns            time            space loops
===================  =============  =================  ==============  ==================
``os`` output        pixels (M)     filters (N)        window (K)      of M, of N, or both
``ws`` weights       window (K)     filters (N)        pixels (M)      of K and of N
``is`` inputs        window (K)     pixels (M)         filters (N)     of K and of M
===================  =============  =================  ==============  ==================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ithaca.exports.configuration import (
    ArrayConfiguration,
    Tool,
    block_obstacles,
    memory_obstacles,
)
from ithaca.exports.templates import templates_of
from ithaca.files.errors import InputError
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.plugins.tables.exports.scalesim.layer import LoopKind, ScalesimLayer, layer
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest

template = templates_of("ithaca.plugins.tables.exports")

#: Name of the layer. One that contains "DP" would be a depthwise convolution to SCALE-Sim.
LAYER = "layer"

#: SCALE-Sim's own distance between the addresses of two tensors (words).
ADDRESS_STEP = 10_000_000

#: Stationary operand by the sides in space, with the side of the rows and of the columns.
_DATAFLOWS = {
    frozenset({LoopKind.PIXELS}): ("os", LoopKind.PIXELS, LoopKind.FILTERS),
    frozenset({LoopKind.FILTERS}): ("os", LoopKind.PIXELS, LoopKind.FILTERS),
    frozenset({LoopKind.PIXELS, LoopKind.FILTERS}): ("os", LoopKind.PIXELS, LoopKind.FILTERS),
    frozenset({LoopKind.WINDOW, LoopKind.FILTERS}): ("ws", LoopKind.WINDOW, LoopKind.FILTERS),
    frozenset({LoopKind.WINDOW, LoopKind.PIXELS}): ("is", LoopKind.WINDOW, LoopKind.PIXELS),
}


@dataclass(frozen=True, slots=True)
class ScalesimArray:
    """The array, buffers and bandwidth of SCALE-Sim's configuration file."""

    dataflow: str
    """``os``, ``ws`` or ``is``."""
    rows: int
    """Its height and width (PEs)."""
    columns: int
    lanes_left: int
    """SIMD lanes of each PE that it leaves out."""


def dataflow_obstacle(nest_layer: ScalesimLayer, design: SystolicArray) -> str | None:
    """The reason why SCALE-Sim has no dataflow like the design's; None where it has one."""
    sides = [nest_layer.side(loop) for loop in design.dataflow]
    name = f"dataflow ({','.join(design.dataflow)})"
    if len(set(sides)) < len(sides):
        what = sides[0].value
        return (
            f"{name} has two loops over {what} in space; SCALE-Sim has rows "
            f"or columns for {what}, not both"
        )
    if frozenset(sides) not in _DATAFLOWS:
        return (
            f"{name} keeps nothing in place; SCALE-Sim's os, ws and is "
            "keep outputs, weights or inputs"
        )
    return None


def grid(nest_layer: ScalesimLayer, configuration: ArrayConfiguration) -> ScalesimArray:
    """The array of a configuration that has no `dataflow_obstacle`.

    SIMD has no counterpart: PEs of SCALE-Sim multiply once per cycle. Where the window is in
    space, SIMD lanes are further rows, since both sum up along it. In ``os`` they are left out.
    """
    design, tiling = configuration.design, configuration.tiling
    lanes = {
        nest_layer.side(x): tiling.array_part[x] // configuration.t2(x) for x in design.dataflow
    }
    name, row, column = _DATAFLOWS[frozenset(lanes)]
    folded = row is LoopKind.WINDOW is nest_layer.side(design.simd_loop)
    return ScalesimArray(
        name,
        lanes.get(row, 1) * (tiling.simd if folded else 1),
        lanes.get(column, 1),
        1 if folded else tiling.simd,
    )


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Reasons why SCALE-Sim has no layer like a nest; empty if it has one."""
    try:
        layer(nest)
    except InputError as error:
        return (str(error),)
    return block_obstacles(nest)


def obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Every reason why SCALE-Sim cannot express a design of a nest; empty if it can."""
    if reasons := nest_obstacles(configuration.nest):
        return reasons
    reason = dataflow_obstacle(layer(configuration.nest), configuration.design)
    return memory_obstacles(configuration) if reason is None else (reason,)


def _files(configuration: ArrayConfiguration) -> Mapping[str, str]:
    expressed = layer(configuration.nest)
    shape = grid(expressed, configuration)
    return {
        "topology.csv": _topology(configuration.nest, expressed),
        "scale.cfg": _configuration(configuration, expressed, shape),
        "layout.csv": "Layer name,\n",
        "README.md": _readme(configuration, expressed, shape),
    }


SCALESIM = Tool("SCALE-Sim cannot express", nest_obstacles, obstacles, _files)


def _topology(nest: LoopNest, expressed: ScalesimLayer) -> str:
    sizes = {side: 1 for _, side in expressed.sides}
    for loop, side in expressed.sides:
        sizes[side] *= nest.sizes[loop]
    by_name = {side.name: size for side, size in sizes.items()}
    pixels, filters, window = (by_name.get(name, 1) for name in ("PIXELS", "FILTERS", "WINDOW"))
    if not expressed.dimensions:
        return f"Layer,M,N,K,\n{LAYER},{pixels},{filters},{window},\n"
    height, width = expressed.dimensions
    row = (
        height.extent,
        width.extent,
        height.window,
        width.window,
        expressed.channels,
        filters,
        height.stride,
    )
    header = (
        "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter "
        "Width,Channels,Num Filter,Strides,"
    )
    return f"{header}\n{LAYER},{','.join(map(str, row))},\n"


def _configuration(
    configuration: ArrayConfiguration, expressed: ScalesimLayer, shape: ScalesimArray
) -> str:
    nest = configuration.nest
    filter_offset = _next_step(_words(nest, expressed.ifmap))
    # with bandwidths of the user's, version 3 reads those of the inputs from the section on layouts
    return template(
        "scalesim/scale.cfg.txt",
        rows=shape.rows,
        columns=shape.columns,
        ifmap=_kilobytes(configuration, expressed.ifmap),
        filters=_kilobytes(configuration, expressed.filters),
        ofmap=_kilobytes(configuration, nest.output),
        filter_offset=filter_offset,
        ofmap_offset=filter_offset + _next_step(_words(nest, expressed.filters)),
        bandwidth=configuration.data.port_words,
        dataflow=shape.dataflow,
    )


def _kilobytes(configuration: ArrayConfiguration, access: Access) -> int:
    """Size of all buffers of a tensor, the second halves included (1,024 words, rounded up)."""
    group = configuration.moved_group(access.tensor)
    return -(
        -configuration.whole(group.size * group.count) * (2 if group.double_buffered else 1) // 1024
    )


def _words(nest: LoopNest, access: Access) -> int:
    """Words of an input."""
    words = 1
    for subscript in access:
        words *= subscript.reach(nest.sizes)
    return words


def _next_step(words: int) -> int:
    """The smallest multiple of the address step that holds so many words."""
    return -(-words // ADDRESS_STEP) * ADDRESS_STEP


def _readme(
    configuration: ArrayConfiguration, expressed: ScalesimLayer, shape: ScalesimArray
) -> str:
    simd = (
        "There is no SIMD in this configuration."
        if shape.lanes_left == 1
        else (
            f"Its PEs multiply once per cycle, so that the {shape.lanes_left} "
            "SIMD lanes of each PE are left out: "
            f"expect about {shape.lanes_left} times the cycles."
        )
    )
    if shape.dataflow != "os":
        simd = "SIMD lanes are rows: both sum up along the window."
    return template(
        "scalesim/readme.md.txt",
        statement=configuration.nest,
        design=configuration.design.name,
        kind="a convolution" if expressed.dimensions else "a matrix multiplication",
        option="conv" if expressed.dimensions else "gemm",
        dataflow=shape.dataflow,
        rows=shape.rows,
        columns=shape.columns,
        loops=",".join(configuration.design.dataflow),
        ifmap=expressed.ifmap.tensor,
        filters=expressed.filters.tensor,
        ofmap=configuration.nest.output.tensor,
        bandwidth=configuration.data.port_words,
        data=configuration.data.name,
        simd=simd,
    )
