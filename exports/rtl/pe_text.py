"""The text of ``array_pe.sv``."""

from __future__ import annotations

from ithaca.exports.rtl.array_text import channel_ports, parts
from ithaca.exports.rtl.hardware import Hardware
from ithaca.exports.rtl.sizes import BITS, module_sizes
from ithaca.exports.templates import template
from ithaca.formulations.systolic.systolic_array import IOGroup


def pe_text(hardware: Hardware) -> str:
    """``array_pe.sv``: multiplies, adds, and hands on."""
    chosen, out, machine = hardware.configuration, hardware.out, hardware.machine
    parameters, ports, fifos, needs, factors = [], [], [], [], []
    channel = f".DEPTH({machine.fifo_depth}), .STAGES({machine.hop - 1})"
    for group in hardware.reads:
        name, bits = group.name, hardware.word(group) * hardware.bits(group)
        ports += channel_ports(f"{name}_", bits, reads=True)
        needs.append(f"{name}_valid")
        factors.append(_factor(hardware, group))
        if factors[-1] == f"{name}_chosen":
            fifos.append(
                template(
                    "rtl/select.sv.txt",
                    name=name,
                    sparse=chosen.nest.sparse,
                    simd=hardware.simd,
                    bits=chosen.data.bits,
                    words=hardware.vector,
                )
            )
        if group.direction is not None:
            parameters.append(f"parameter integer {name}_LAST = 0")
            ports += channel_ports(f"{name}_next_", bits, reads=False)
            needs.append(f"{name}_room")
            fifos.append(template("rtl/hand_on.sv.txt", name=name, bits=bits, channel=channel))
    name, bits = out.name, hardware.outputs * hardware.sum_bits
    takes, more, taken = "1'b0", f"{bits}'d0", "    wire unused = takes;"
    if out.direction is not None:
        parameters.append(f"parameter integer {name}_FIRST = 0")
        ports += channel_ports(f"{name}_before_", bits, reads=True)
        takes = f"{name}_FIRST == 0 && {machine.sums.value}[VISIT]"
        more = f"takes ? {name}_before_data : {bits}'d0"
        taken = f"    assign {name}_before_ready = turn && takes;"
        needs.append(f"(!takes || {name}_before_valid)")
    ports += channel_ports(f"{name}_", bits, reads=False)
    needs.append(f"(!gives || {name}_room)")
    held, sizes = hardware.held, module_sizes(hardware)["PE"]
    place = max((held - 1).bit_length(), 1)
    if hardware.layers:
        ports = [f"    input  wire [{BITS * len(sizes.rows) - 1}:0] sizes", *ports]
    return template(
        "rtl/array_pe.sv.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        parameters="".join(f"    {each},\n" for each in parameters),
        ports=",\n".join(ports),
        needs=" && ".join(needs),
        ready="\n".join(f"    assign {group.name}_ready = turn;" for group in hardware.reads),
        fifos="".join(fifos),
        nest=sizes.parameters,
        sizes="sizes" if hardware.layers else sizes.port(),
        place=place,
        last_bit=place - 1,
        last_sum=bits - 1,
        takes=takes,
        more=more,
        taken=taken,
        factors=", ".join(reversed(factors)),
        count=len(factors),
        simd=hardware.simd,
        outputs=hardware.outputs,
        bits=chosen.data.bits,
        exponent=hardware.exponent,
        apart=hardware.apart,
        later=int(hardware.later),
        sum_bits=hardware.sum_bits,
        held=held,
        stages=machine.mac,
        name=name,
        width=bits,
        more_stages=machine.hop - 2,
        depth=machine.fifo_depth,
    )


def _factor(hardware: Hardware, group: IOGroup) -> str:
    """What a group gives every MAC unit of a turn."""
    name, word = group.name, hardware.word(group)
    if group.sparse is not None:
        values = group.sparse.values * hardware.configuration.data.bits
        return parts(f"{name}_data", word, hardware.bits(group), values)
    if word == 1 < hardware.simd:
        return f"{{{hardware.simd}{{{name}_data}}}}"
    return f"{name}_{'data' if word == hardware.simd else 'chosen'}"
