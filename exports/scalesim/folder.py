"""The exported folder: topology, configuration and layout, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.exports.scalesim.dataflow import Grid, dataflow_obstacle, grid
from ithaca.exports.scalesim.layer import Layer, layer
from ithaca.workloads.affine import Access
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

#: Name of the layer. One that contains "DP" would be a depthwise convolution to SCALE-Sim.
LAYER = "layer"

#: SCALE-Sim's own distance between the addresses of two tensors (words).
ADDRESS_STEP = 10_000_000

#: With bandwidths of the user's, version 3 reads those of the inputs from the section on layouts.
_CONFIGURATION = """\
[general]
run_name = ithaca

[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {columns}
IfmapSramSzkB = {ifmap}
FilterSramSzkB = {filters}
OfmapSramSzkB = {ofmap}
IfmapOffset = 0
FilterOffset = {filter_offset}
OfmapOffset = {ofmap_offset}
Bandwidth = {bandwidth}
Dataflow = {dataflow}
MemoryBanks = 1
ReadRequestBuffer = 32
WriteRequestBuffer = 32

[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = {bandwidth}
IfmapSRAMBankNum = 1
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = {bandwidth}
FilterSRAMBankNum = 1
FilterSRAMBankPort = 2

[sparsity]
SparsitySupport = false
SparseRep = ellpack_block
OptimizedMapping = false
BlockSize = 8
RandomNumberGeneratorSeed = 40

[run_presets]
InterfaceBandwidth = USER
UseRamulatorTrace = False
"""

_README = """\
# {statement}, design {design}

Written by Ithaca for SCALE-Sim (github.com/scalesim-project/SCALE-Sim), versions 2 and 3.

| file | what it is |
| --- | --- |
| `topology.csv` | the layer, {kind} |
| `scale.cfg` | the array, its buffers and its bandwidth |
| `layout.csv` | empty: version 3 wants the file, and reads nothing from it without custom layouts |

    python -m scalesim.scale -c scale.cfg -t topology.csv -l layout.csv -i {option} -p results

Version 2 has no layouts: leave out `-l layout.csv`.

| SCALE-Sim | Ithaca |
| --- | --- |
| dataflow {dataflow}, {rows} rows, {columns} columns | space loops ({loops}) |
| IFMAP, filter and OFMAP SRAM | buffers of {ifmap}, {filters} and {ofmap}, all together, rounded up |
| bandwidth {bandwidth} | words of {data} that one DRAM port moves per cycle |

SCALE-Sim's words are bytes: its kB are 1,024 words of {data}. {simd}
It orders and tiles loops itself, so the permutation, array partitioning, latency hiding and data packs
are not in these files; sizes of buffers are.
"""


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Why SCALE-Sim has no layer like a nest; empty if it has one."""
    try:
        layer(nest)
    except InputError as error:
        return (str(error),)
    return ()


def obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Every reason why SCALE-Sim cannot express a design of a nest; empty if it can."""
    if reasons := nest_obstacles(configuration.nest):
        return reasons
    reason = dataflow_obstacle(layer(configuration.nest), configuration.design)
    return () if reason is None else (reason,)


def _written(configuration: ArrayConfiguration) -> Mapping[str, str]:
    found = layer(configuration.nest)
    shape = grid(found, configuration)
    return {
        "topology.csv": _topology(configuration.nest, found),
        "scale.cfg": _configuration(configuration, found, shape),
        "layout.csv": "Layer name,\n",
        "README.md": _readme(configuration, found, shape),
    }


SCALESIM = Tool("SCALE-Sim cannot express", nest_obstacles, obstacles, _written)


def _topology(nest: LoopNest, found: Layer) -> str:
    sizes = {side: 1 for _, side in found.sides}
    for loop, side in found.sides:
        sizes[side] *= nest.sizes[loop]
    by_name = {side.name: size for side, size in sizes.items()}
    pixels, filters, window = (by_name.get(name, 1) for name in ("PIXELS", "FILTERS", "WINDOW"))
    if not found.dimensions:
        return f"Layer,M,N,K,\n{LAYER},{pixels},{filters},{window},\n"
    height, width = found.dimensions
    row = (height.extent, width.extent, height.window, width.window, found.channels, filters, height.stride)
    header = "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,"
    return f"{header}\n{LAYER},{','.join(map(str, row))},\n"


def _configuration(configuration: ArrayConfiguration, found: Layer, shape: Grid) -> str:
    nest = configuration.nest
    filter_offset = _next_step(_words(nest, found.ifmap))
    return _CONFIGURATION.format(
        rows=shape.rows,
        columns=shape.columns,
        ifmap=_kilobytes(configuration, found.ifmap),
        filters=_kilobytes(configuration, found.filters),
        ofmap=_kilobytes(configuration, nest.output),
        filter_offset=filter_offset,
        ofmap_offset=filter_offset + _next_step(_words(nest, found.filters)),
        bandwidth=configuration.data.port_words,
        dataflow=shape.dataflow,
    )


def _kilobytes(configuration: ArrayConfiguration, access: Access) -> int:
    """Size of all buffers of a tensor, the second halves included (1,024 words, rounded up)."""
    group = configuration.moved_group(access.tensor)
    return -(-configuration.whole(group.size * group.count) * (2 if group.double_buffered else 1) // 1024)


def _words(nest: LoopNest, access: Access) -> int:
    """Words of an input."""
    words = 1
    for subscript in access:
        words *= sum(c * (nest.sizes[loop] - 1) for loop, c in subscript.terms) + 1
    return words


def _next_step(words: int) -> int:
    """The smallest multiple of the address step that holds so many words."""
    return -(-words // ADDRESS_STEP) * ADDRESS_STEP


def _readme(configuration: ArrayConfiguration, found: Layer, shape: Grid) -> str:
    simd = (
        "There is no SIMD in this configuration."
        if shape.lanes_left == 1
        else (
            f"Its PEs multiply once per cycle, so that the {shape.lanes_left} SIMD lanes of each PE are left out: "
            f"expect about {shape.lanes_left} times the cycles."
        )
    )
    if shape.dataflow != "os":
        simd = "SIMD lanes are rows: both sum up along the window."
    return _README.format(
        statement=configuration.nest,
        design=configuration.design.name,
        kind="a convolution" if found.dimensions else "a matrix multiplication",
        option="conv" if found.dimensions else "gemm",
        dataflow=shape.dataflow,
        rows=shape.rows,
        columns=shape.columns,
        loops=",".join(configuration.design.dataflow),
        ifmap=found.ifmap.tensor,
        filters=found.filters.tensor,
        ofmap=configuration.nest.output.tensor,
        bandwidth=configuration.data.port_words,
        data=configuration.data.name,
        simd=simd,
    )
