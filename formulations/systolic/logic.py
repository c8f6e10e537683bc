"""Look-up tables and flip-flops of hardware, estimated from features of its array.

Platforms state coefficients, fitted to synthesized arrays. The hardware that Ithaca writes has its
own: the arrays of ``tests/data/resources.csv.xz`` were synthesized by Yosys for UltraScale+ with
every buffer in block RAM; ``python -m benchmarks.resources fit`` makes the coefficients from them,
and says how far off they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
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

#: Hundredths of each resource by `features` of integers on that machine.
COEFFICIENTS: Mapping[str, tuple[int, ...]] = {
    "lut": (0, 6943, 82, 78, 9801, 207, 133),
    "lutram": (0, 0, 38, 58, 4347, 42, 15),
    "ff": (0, 5099, 55, 3, 9228, 265, 152),
}


def features(costs: Costs) -> tuple[Any, ...]:
    """The quantities that logic grows in proportion to, in the order of the fields of
    `ithaca.formulations.technology.LogicFit`: one array; buffers; bits of the packs
    of all I/O modules; bits of the words that PEs take from buffers or give them; PEs; and bits of
    their sums, once for every sum and once for every MAC unit."""
    point = costs.point
    array, data, value = point.array, point.data, point.value
    buffers, packs, words = (point.constant(0) for _ in range(3))
    for group in array.packed_groups:
        bits = int(8 * group.package(data).held / group.package(data).words)
        for module in group.modules:
            count = value(module.instances)
            packs = packs + count * value(group.pack) * bits
            if module.buffer:
                buffers = buffers + count
                words = words + count * value(group.packing.multiple_of) * bits
    pe, pes, bits = array.pe, value(array.pe.count), int(8 * data.sum_bytes)
    sums, macs = pes * value(pe.outputs) * bits, pes * value(pe.simd) * bits
    return point.constant(1), buffers, packs, words, pes, sums, macs


def _rates(technology: Technology, data: DataType, resource: str) -> tuple[Fraction, ...] | None:
    """Coefficients by `features`; None where no hardware of the kind was synthesized."""
    for fit in technology.logic:
        if fit.resource == resource and data.words in fit.types and not data.tensors:
            return fit.rates
    if technology.machine == SYNTHESIZED and data.as_built and data.integer and data.plain:
        return tuple(Fraction(n, 100) for n in COEFFICIENTS[resource])
    return None


def known(technology: Technology, data: DataType, resource: str) -> bool:
    """Whether hardware of this kind was synthesized, so that its costs are known.

    Parameters
    ----------
    technology : Technology
        The machine, and the coefficients that its platform states.
    data : DataType
        The data type of the words.
    resource : str
        ``lut``, ``lutram`` or ``ff``.
    """
    return _rates(technology, data, resource) is not None


def logic(costs: Costs, resource: str) -> Any:
    """The resource, rounded up."""
    point = costs.point
    rates = _rates(point.technology, point.data, resource)
    if rates is None:
        raise InputError(
            f"metric '{resource}' is not known here; allowed: integers on a platform with the "
            "machine of rtl-open, in edition cycle, or a platform whose logic is stated for "
            f"{point.data.words}"
        )
    common = lcm(*(rate.denominator for rate in rates))
    parts: Any = point.constant(0)
    for feature, rate in zip(features(costs), rates, strict=True):
        if rate:
            parts = parts + feature * int(rate * common)
    return point.numbers.ceil_div(parts, point.constant(common))
