"""A systolic array as the input of the regressions of area and power: private memory lies at level
1 or in the PE."""

from __future__ import annotations

from typing import Any

from ithaca.formulations.hardware.silicon import Silicon
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.quantities import ACCUMULATORS


def silicon(costs: Costs) -> Silicon:
    """Size up the array of a design; its bus moves the words of all DRAM modules."""
    point = costs.point
    array, word = point.array, point.data.bytes
    value, constant = point.value, point.constant
    private: Any = constant(0)
    if array.pe.accumulators is not None:
        private = point.held(ACCUMULATORS, array.pe.accumulators) * word
    shared: Any = constant(0)
    bandwidth: Any = constant(0)
    for group, module in array.modules:
        if module.buffer:
            held_share = group.package(point.data).held_words * group.package(point.data).share
            size = word * held_share * (2 if group.double_buffered else 1)
            held = point.held(group.name, group.size) * constant(size)
            if module.level == 1:
                private = private + held
            else:
                shared = shared + held * value(group.count)
        if module.dram and group.outer is not None:
            shared = shared + value(group.outer.size * group.package(point.data).share) * word
        if module.dram:
            each = group.package(point.data).moved_words * group.package(point.data).share
            bandwidth = bandwidth + value(group.pack * group.ports * each)
    lanes = value(array.pe.simd) * (array.factors - 1)
    return Silicon.of(point.numbers, value(array.pe.count), lanes, private, shared, bandwidth)
