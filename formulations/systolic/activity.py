"""Activity: how often a run uses each kind of hardware.

Counted per word, from what the cost model already states of each module:

- **DRAM**: the off-chip words.
- **Buffer**: every word of a tile enters its buffer once on one side, and the PEs (or the accumulating
  output) access it once per cycle of `intra` on the other, SIMD words at a time where the SIMD loop indexes the tensor.
- **Hop**: towards its buffer a word passes half of the chain on average, (lanes + 1)/2 modules, and one more module
  on each level between buffer and DRAM; on the PE side it takes one step, and from PE to PE along the whole array where
  the group is exterior.
- **Register**: each iteration accesses one register per tensor.
- **MAC**: all iterations, padding included; where more than two tensors are multiplied, one for each of the multiplications.
"""

from __future__ import annotations

from typing import Any

from ithaca.formulations.systolic.cost_model import Costs


def activity(costs: Costs) -> dict[str, Any]:
    """Activity of a run by kind, named like the energies of a technology, at the point the costs were evaluated at."""
    point, value = costs.point, costs.point.value
    pe = point.array.pe
    macs = value(pe.count * pe.simd * pe.trips * pe.tiles)
    tensors = {group.tensor for group in point.array.groups}
    buffer: Any = None
    hop: Any = None
    for group, module in point.array.modules:
        moved = value(module.tiles * group.count * group.size)
        if not module.buffer:
            steps = moved
        else:
            used = value(module.tiles * group.count * module.intra * group.packing.multiple_of)
            along = value(pe.count / group.count) if group.exterior else 1
            steps = moved * value((module.chain + 1) / 2) + used * along
            buffer = moved + used if buffer is None else buffer + moved + used
        hop = steps if hop is None else hop + steps
    return {
        "dram": costs.off_chip_words,
        "buffer": buffer,
        "hop": hop,
        "register": macs * len(tensors),
        "mac": macs * (point.array.factors - 1),
    }
