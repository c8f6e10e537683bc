"""The text of ``array.sv``. Nothing here knows a dataflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from ithaca.exports.rtl.hardware import EXPONENTS, Hardware
from ithaca.exports.rtl.sizes import ModuleSizes, module_sizes, nest_parameters, registers
from ithaca.exports.templates import template
from ithaca.formulations.systolic.quantities import lanes
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup

#: The modules with a buffer, and those without, of tensors that are read and of the output.
BUFFERS = {
    GroupRole.READ: "ithaca_feeder",
    GroupRole.DRAIN: "ithaca_drain",
    GroupRole.FLOW: "ithaca_collector",
}

#: Hands the style of memories down.
RAM = ".RAM(RAM_STYLE)"


def array_text(hardware: Hardware) -> str:
    """``array.sv``: PEs, modules and channels, whatever their number."""
    chosen, groups = hardware.configuration, (*hardware.reads, hardware.out)
    space = chosen.design.dataflow
    sizes = module_sizes(hardware)
    parts = [
        *(_group(hardware, group, sizes[group.modules[0].name]) for group in groups),
        _pes(hardware, groups, sizes["PE"]),
    ]
    ports = [_tensor_port(hardware, group) for group in groups]
    if hardware.layers:
        number = len(registers(hardware))
        ports = [template("rtl/sizes_port.sv.txt", number=number).rstrip(), *ports]
        parts = [template("rtl/sizes.sv.txt", number=number).splitlines(), *parts]
    return template(
        "rtl/array.sv.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        ports=",\n".join(ports),
        lanes="\n".join(
            f"    localparam integer LANES_{x} = {hardware.value(lanes(x))};" for x in space
        ),
        body="\n".join("\n".join(lines) + "\n" for lines in parts),
    )


# -- pieces of text ----------------------------------------------------------------------


def _lane(loop: str | None) -> str:
    """Where along a loop something is; a chain of one has no loop."""
    return "0" if loop is None else f"lane_{loop}"


def _count(loop: str | None) -> str:
    return "1" if loop is None else f"LANES_{loop}"


def _tensor_port(hardware: Hardware, group: IOGroup) -> str:
    name, reads = group.tensor, group.role is GroupRole.READ
    what = f"{hardware.pack(group)} elements of {hardware.moved_bits(group)} bits"
    ports = ",\n".join(channel_ports(f"{name}_t", hardware.width(group), reads=reads))
    return f"    // {name}: {what}\n{ports}"


def channel_ports(name: str, bits: int, *, reads: bool) -> list[str]:
    """Ports of a channel into a module, or out of it."""
    there, back = ("input  wire", "output wire") if reads else ("output wire", "input  wire")
    width = f"[{bits - 1}:0]"
    pad = " " * len(width)
    return [
        f"    {there} {pad} {name}valid",
        f"    {back} {pad} {name}ready",
        f"    {there} {width} {name}data",
    ]


def parts(wire: str, count: int, step: int, bits: int) -> str:
    """So many of the bits of each of the words of a wire, from the lowest on."""
    return f"{{{', '.join(f'{wire}[{step * at}+:{bits}]' for at in reversed(range(count)))}}}"


def _channel(name: str, places: Iterable[str], bits: int) -> list[str]:
    """Wires of a channel at places from 0 to an end each."""
    dims = "".join(f"[{end}:0]" for end in places)
    return [
        f"    wire {dims} {name}_valid, {name}_ready;",
        f"    wire {dims}[{bits - 1}:0] {name}_data;",
    ]


def _for(loops: Sequence[str], label: str, lines: list[str]) -> list[str]:
    """Lines for each lane of loops."""
    for number, loop in enumerate(reversed(loops)):
        at, name = _lane(loop), f"{label}_{loop}" if number else label
        lines = [
            f"    for (genvar {at} = 0; {at} < LANES_{loop}; {at} = {at} + 1) begin : {name}",
            *(f"    {line}" for line in lines),
            "    end",
        ]
    return lines


def _instance(
    module: str,
    name: str,
    parameters: Sequence[str],
    ports: Iterable[tuple[str, str]],
    sizes: str = "",
) -> list[str]:
    """A module of parameters, line by line, with channels at its ports, and a port for sizes."""
    wires = [
        f".{port}_{part}({channel.format(part)})".replace(" ", "\0")
        for port, channel in ports
        for part in ("valid", "ready", "data")
    ]
    listed = wrap(", ".join(wires), 84, break_long_words=False, break_on_hyphens=False)
    return [
        f"    {module} #(",
        *",\n".join(f"        {line}" for line in parameters).splitlines(),
        f"    ) {name} (",
        f"        .clk(clk), .rst(rst),{f' .sizes({sizes}),' if sizes else ''}",
        *(f"        {line}".replace("\0", " ") for line in listed),
        "    );",
    ]


def _end(name: str, at: str, *, inwards: bool) -> list[str]:
    """The end of a chain: nobody takes words there, or gives any."""
    if inwards:
        ties = [f"    assign {name}_ready{at} = 1'b0;"]
        left = f"{{1'b0, {name}_valid{at}, {name}_data{at}}}"
    else:
        ties = [f"    assign {name}_valid{at} = 1'b0;", f"    assign {name}_data{at} = '0;"]
        left = f"{name}_ready{at}"
    return [*ties, f"    wire unused_{name} = &{left};"]


def _same(giver: str, taker: str) -> list[str]:
    """One channel leads on to another."""
    ways = (("valid", taker, giver), ("ready", giver, taker), ("data", taker, giver))
    return [f"    assign {to.format(part)} = {of.format(part)};" for part, to, of in ways]


# -- I/O groups --------------------------------------------------------------------------


def _pe_at(hardware: Hardware, group: IOGroup, along: str) -> str:
    """The place of a PE's channel, as a loop's lane stands there, but for the group's direction."""
    space = hardware.configuration.design.dataflow
    return "".join(f"[{along if x == group.direction else _lane(x)}]" for x in space)


def _group(hardware: Hardware, group: IOGroup, sizes: ModuleSizes) -> list[str]:
    """A group between DRAM and the PEs: buffers in chains, modules behind the heads of the chains,
    and the one at DRAM."""
    space, inwards = hardware.configuration.design.dataflow, group.role is GroupRole.READ
    buffer, *outer = (module.name for module in group.modules)
    chain, heads = [*(x for x in space if x != group.direction), None, None][:2]
    head_loops = [] if heads is None else [heads]
    links, ways, fed = f"{buffer}_chain", f"{outer[0]}_chain" if heads else "", f"{group.name}_PE"
    head = "".join(f"[{_lane(x)}]" for x in head_loops)
    bits = hardware.pack(group) * hardware.bits(group)
    channel = f".HOP({hardware.machine.hop}), .DEPTH({hardware.machine.fifo_depth})"

    def instance(
        name: str, kind: str, parameters: list[str], dram: str, pe: str, behind: str, size: str
    ) -> list[str]:
        ends = (dram, pe) if inwards else (pe, dram)
        ports = [("in", ends[0]), ("next", behind), ("out", ends[1])]
        return _instance(kind, name, parameters, ports, size)

    # buffers; where PEs hand words on, they are at one end of the PEs' chain
    first, last = (_pe_at(hardware, group, end) for end in ("0", f"LANES_{group.direction}"))
    near, far = (first, last) if inwards else (last, first)
    body = _end(fed, far, inwards=inwards) if group.direction is not None else []
    again = sizes.counts.get("again")
    timing = f".AGAIN({max(again)}), " if again else ""
    timing += (
        f".EXPONENT({EXPONENTS.get(hardware.sum_type, 0)}), "
        if group.role is GroupRole.FLOW
        else ""
    )
    direct = "" if inwards or outer else ", .DIRECT(1)"
    body += instance(
        buffer,
        BUFFERS[group.role],
        [
            *_tile(hardware, group, sizes),
            f".BEHIND({_others(chain)}), {timing}{channel}{direct}, {RAM}",
        ],
        f"{links}_{{}}{head}[{_lane(chain)}]",
        f"{fed}_{{}}{near}",
        f"{links}_{{}}{head}[{_next(chain)}]",
        sizes.port(),
    )
    names = [*reversed(outer), buffer, "PE"]
    lines = [f"    // {group.tensor}: {' -> '.join(names if inwards else reversed(names))}"]
    lines += _channel(
        fed,
        [f"LANES_{x}" if x == group.direction else f"LANES_{x} - 1" for x in space],
        hardware.word(group) * hardware.bits(group),
    )
    lines += _channel(links, [*(f"LANES_{x} - 1" for x in head_loops), _count(chain)], bits)
    lines += _for([*head_loops, *([] if chain is None else [chain])], f"{buffer}s", body)
    # modules behind the heads of the chains
    body, dram = _end(links, f"{head}[{_count(chain)}]", inwards=inwards), f"{links}_{{}}[0]"
    if heads is not None:
        own = f".PACKS({max(sizes.counts['packs'])}), .OWN({_count(chain)})"
        run_time = ", .RUN_TIME(1)" if hardware.layers else ""
        body += instance(
            outer[0],
            "ithaca_split" if inwards else "ithaca_merge",
            [f".BITS({bits}), {own}, .BEHIND({_others(heads)}), {channel}{run_time}"],
            f"{ways}_{{}}[{_lane(heads)}]",
            f"{links}_{{}}{head}[0]",
            f"{ways}_{{}}[{_next(heads)}]",
            sizes.port("packs"),
        )
        lines += _channel(ways, [_count(heads)], bits)
        lines += _for(head_loops, f"{outer[0]}s", body)
        body, dram = _end(ways, f"[{_count(heads)}]", inwards=inwards), f"{ways}_{{}}[0]"
    # the module at DRAM: a channel, or a port
    port = f"{group.tensor}_t{{}}"
    if group.outer is not None:
        _, order = hardware.places.outer_tile(group)
        nest = order.over(hardware.pack(group))
        held = f".BITS({bits}), .WORDS({hardware.value(group.outer.size / group.pack)})"
        return [*lines, *body, *_instance(
            "ithaca_outer",
            outer[-1],
            [f"{held}, .INWARDS({inwards:d})", nest_parameters(nest.merged), f"{channel}, {RAM}"],
            [("in", port if inwards else dram), ("out", dram if inwards else port)],
        )]  # fmt: skip
    if group.sparse is not None:
        lines, port = [*lines, *_packages(hardware, group, port)], f"{group.tensor}_held_{{}}"
    if inwards and outer:
        stages = f".DEPTH({hardware.machine.fifo_depth}), .STAGES({hardware.machine.hop - 1})"
        ends = [("in", port), ("out", dram)]
        return [*lines, *body, *_instance(
            "ithaca_fifo", outer[-1], [f".BITS({bits}), {stages}"], ends
        )]  # fmt: skip
    return [*lines, *body, *(_same(port, dram) if inwards else _same(dram, port))]


def _packages(hardware: Hardware, group: IOGroup, port: str) -> list[str]:
    """A channel of packages without what pads them in memory."""
    held, data, bits = f"{group.tensor}_held", port.format("data"), hardware.bits(group)
    words = parts(data, hardware.pack(group), hardware.moved_bits(group), bits)
    return [
        *_channel(held, [], hardware.pack(group) * bits),
        *_same(port, f"{held}_{{}}")[:2],
        f"    assign {held}_data = {words};",
        f"    wire unused_{held} = &{data};",
    ]


def _next(loop: str | None) -> str:
    return "1" if loop is None else f"{_lane(loop)} + 1"


def _others(loop: str | None) -> str:
    """Modules behind one of a chain."""
    return "0" if loop is None else f"LANES_{loop} - 1 - {_lane(loop)}"


def _tile(hardware: Hardware, group: IOGroup, sizes: ModuleSizes) -> list[str]:
    """Parameters of what a buffer holds."""
    word, pack = hardware.word(group), hardware.pack(group)
    widths = f".BITS({hardware.bits(group)}), .PACK({pack}), .WORD({word})"
    return [f"{widths}, .PACKS({max(sizes.counts['packs'])})", sizes.parameters]


# -- PEs ---------------------------------------------------------------------------------


def _pes(hardware: Hardware, groups: Iterable[IOGroup], sizes: ModuleSizes) -> list[str]:
    ends, ports = [], []
    for group in groups:
        name, loop = group.name, group.direction
        here, on = (
            f"{name}_PE_{{}}{_pe_at(hardware, group, place)}"
            for place in (_lane(loop), _next(loop))
        )
        if loop is None:
            ports.append((name, here))
        elif group.role is GroupRole.READ:
            ends.append(f".{name}_LAST({_lane(loop)} == LANES_{loop} - 1 ? 1 : 0)")
            ports += [(name, here), (f"{name}_next", on)]
        else:
            ends.append(f".{name}_FIRST({_lane(loop)} == 0 ? 1 : 0)")
            ports += [(f"{name}_before", here), (name, on)]
    size = sizes.port() if hardware.layers else ""
    pe = _instance("array_pe", "PE", [*ends, ".RAM_STYLE(RAM_STYLE)"], ports, size)
    return _for(hardware.configuration.design.dataflow, "PEs", pe)
