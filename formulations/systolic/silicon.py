"""Area and power of an ASIC, from published regressions.

MAESTRO's cost tables (Kwon et al., MICRO 2019; regressions over synthesised blocks in 28 nm at 1 GHz): the PEs with
their private (L1) memories grow with the number of PEs and lanes, the shared (L2) memory with its size, the bus with
bandwidth and PEs, the arbiter with the square of the PEs. They were fitted for up to a few thousand PEs with memories in
whole 64-byte and 32-KiB blocks; outside of that, and for other technologies, they extrapolate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.physical_array import ACCUMULATORS

#: Bytes of one block of private and of shared memory.
L1_BLOCK, L2_BLOCK = 64, 32_768


@dataclass(frozen=True, slots=True)
class Silicon:
    """What the regressions are functions of."""

    pes: Any  #: Number of PEs
    lanes: Any  #: Multipliers per PE, each with an adder
    #: Blocks of private memory per PE, and of shared memory.
    l1: Any
    l2: Any
    bandwidth: Any  #: Words that all DRAM modules together move per cycle


def silicon(costs: Costs) -> Silicon:
    """Size up the array of a design: private memory is what lies at level 1 or in the PE, the rest is shared."""
    point, numbers = costs.point, costs.point.numbers
    array, word = point.array, point.data.bytes
    value, constant = point.value, point.constant
    private: Any = constant(0)
    if array.pe.accumulators is not None:
        private = point.held(ACCUMULATORS, array.pe.accumulators) * word
    shared: Any = constant(0)
    bandwidth: Any = constant(0)
    for group, module in array.modules:
        if module.buffer:
            held = point.held(group.name, group.size) * (word * (2 if group.double_buffered else 1))
            if module.level == 1:
                private = private + held
            else:
                shared = shared + held * value(group.count)
        if module.dram:
            bandwidth = bandwidth + value(group.pack)
    return Silicon(
        pes=value(array.pe.count),
        lanes=value(array.pe.simd) * (array.factors - 1),
        l1=numbers.ceil_div(private, constant(L1_BLOCK)),
        l2=numbers.ceil_div(shared, constant(L2_BLOCK)),
        bandwidth=bandwidth,
    )


def area(costs: Costs) -> Any:
    """Area (µm²) by the MAESTRO regressions."""
    s, c = silicon(costs), _decimals(costs)
    return (
        s.pes * (c("4470.9") * s.lanes + c("4505.19") * s.l1)
        + c("4161.536") * s.l2
        + c("101.7938") * _bus(s, c)
        + c("395.473") * costs.point.numbers.maximum(c("1"), _arbiter(s, c))
    )


def power(costs: Costs) -> Any:
    """Power (mW) by the MAESTRO regressions."""
    s, c = silicon(costs), _decimals(costs)
    return (
        s.pes * (c("1.2223") * s.lanes + c("0.2208") * s.l1)
        + c("4") * s.l2
        + c("0.0008") * _bus(s, c)
        + costs.point.numbers.maximum(c("0.34"), c("0.00034") * _arbiter(s, c))
    )


def _bus(s: Silicon, c: Callable[[str], Any]) -> Any:
    """Size of the bus, which grows with bandwidth and PEs."""
    return s.bandwidth * (c("14.662") * s.pes + c("28.895"))


def _arbiter(s: Silicon, c: Callable[[str], Any]) -> Any:
    """Size of the arbiter, which grows with the square of the PEs."""
    return c("1.2886") * s.pes * s.pes + c("5.5814") * s.pes - c("23.711")


def _decimals(costs: Costs) -> Callable[[str], Any]:
    """Exact decimals in the number system of the costs."""
    return lambda decimal: costs.point.numbers.number(Fraction(decimal))
