"""The texts of ``array.sv`` and ``array_pe.sv``. Nothing here knows a dataflow."""

from __future__ import annotations

from ithaca.formulations.systolic.quantities import lanes
from ithaca.plugins.rtl.exports.hardware import EXPONENTS, Hardware
from ithaca.plugins.rtl.exports.sizes import module_sizes, nest_parameters, registers
from ithaca.plugins.rtl.exports.templates import template


def array_text(hardware: Hardware) -> str:
    """``array.sv``: PEs, modules and channels, whatever their number."""
    chosen = hardware.configuration
    return template(
        "array.sv.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        hardware=hardware,
        groups=(*hardware.reads, hardware.out),
        space=chosen.design.dataflow,
        lane_counts={x: hardware.value(lanes(x)) for x in chosen.design.dataflow},
        sizes=module_sizes(hardware),
        registers=len(registers(hardware)),
        sum_exponent=EXPONENTS.get(hardware.sum_type, 0),
        nest_parameters=nest_parameters,
    )


def pe_text(hardware: Hardware) -> str:
    """``array_pe.sv``: multiplies, adds, and hands on."""
    chosen = hardware.configuration
    return template(
        "array_pe.sv.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        hardware=hardware,
        reads=hardware.reads,
        out=hardware.out,
        sizes=module_sizes(hardware)["PE"],
    )
