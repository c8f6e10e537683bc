"""Look-up tables and flip-flops of the hardware that Ithaca writes, estimated.

The arrays of ``tests/data/resources.csv.xz`` were synthesized by Yosys for UltraScale+ with every
buffer in block RAM; ``python -m benchmarks.resources fit`` makes the coefficients from them, and
says how far off they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DataType
from ithaca.formulations.machine import Machine, Sums
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.technology import Technology

#: The machine that was synthesized.
SYNTHESIZED = Machine(
    swap=1, entry=0, hop=2, mac=4, fifo_depth=2, sums=Sums.LAST, fitted_fifos=True
)

#: Hundredths of each resource by `features`.
COEFFICIENTS: Mapping[str, tuple[int, ...]] = {
    "lut": (6943, 82, 78, 9801, 207, 133),
    "lutram": (0, 38, 58, 4347, 42, 15),
    "ff": (5099, 55, 3, 9228, 265, 152),
}


def features(costs: Costs) -> tuple[Any, ...]:
    """The six quantities that logic grows in proportion to: buffers; bits of the packs of all I/O
    modules; bits of the words that PEs take from buffers or give them; PEs; and bits of their sums,
    once for every sum and once for every MAC unit."""
    point = costs.point
    array, data, value = point.array, point.data, point.value
    buffers, packs, words = (point.constant(0) for _ in range(3))
    for group in array.packed_groups:
        bits = int(8 * group.stored_bytes(data) / group.stored)
        for module in group.modules:
            count = value(module.instances)
            packs = packs + count * value(group.pack) * bits
            if module.buffer:
                buffers = buffers + count
                words = words + count * value(group.packing.multiple_of) * bits
    pe, pes, bits = array.pe, value(array.pe.count), 8 * data.sum_bytes
    sums, macs = pes * value(pe.outputs) * bits, pes * value(pe.simd) * bits
    return buffers, packs, words, pes, sums, macs


def known(technology: Technology, data: DataType) -> bool:
    """Whether hardware of this kind was synthesized, so that its costs are known."""
    return technology.machine == SYNTHESIZED and data.as_built and data.integer


def logic(costs: Costs, resource: str) -> Any:
    """The resource, rounded up."""
    if not known(costs.point.technology, costs.point.data):
        raise InputError(
            f"metric '{resource}' is not known here; allowed: integers on a platform with the "
            "machine of rtl-open, in edition cycle"
        )
    hundredths: Any = costs.point.constant(0)
    for feature, coefficient in zip(features(costs), COEFFICIENTS[resource], strict=True):
        hundredths = hundredths + feature * coefficient
    return costs.point.numbers.ceil_div(hundredths, costs.point.constant(100))
