"""The text of ``array.sv``. Nothing here knows a dataflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from ithaca.exports.configuration import template
from ithaca.exports.rtl.hardware import Hardware
from ithaca.formulations.systolic.addresses import AddressNest
from ithaca.formulations.systolic.quantities import lanes
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup, Module

#: Space loops of a channel, and by how much it has more places than lanes.
_Places = Sequence[tuple[str, int]]


def nest_parameters(nest: AddressNest) -> str:
    """A nest as parameters of `ithaca_walk`."""
    axes = nest.axes or ((1, 0),)
    whole = AddressNest(axes, nest.base)
    counts = ", ".join(f"32'd{turns}" for turns, _ in axes)
    steps = ", ".join(f"-32'd{-step}" if step < 0 else f"32'd{step}" for step in whole.steps)
    return f".AXES({len(axes)}), .COUNTS({{{counts}}}), .STEPS({{{steps}}}), .FIRST({nest.base})"


def array_text(hardware: Hardware) -> str:
    """``array.sv``: PEs, modules and channels, whatever their number."""
    return _Array(hardware).text()


def _place(loop: str) -> str:
    return f"lane_{loop}"


class _Array:
    """The top module in the making."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self.space = hardware.configuration.design.dataflow
        machine = hardware.machine
        self.channel = f".HOP({machine.hop}), .DEPTH({machine.fifo_depth})"

    def text(self) -> str:
        """The whole module."""
        hardware, chosen = self.hardware, self.hardware.configuration
        parts = [self._read(group) for group in hardware.reads]
        out = hardware.out
        parts.append(self._drain(out) if out.role is GroupRole.DRAIN else self._collect(out))
        parts.append(self._pes())
        ports = [self._port(group) for group in (*hardware.reads, out)]
        return template("rtl/array.sv.txt").format(
            statement=chosen.nest,
            design=chosen.design.name,
            ports=",\n".join(ports),
            lanes="\n".join(
                f"    localparam integer LANES_{x} = {hardware.value(lanes(x))};"
                for x in self.space
            ),
            body="\n".join(parts),
        )

    # -- pieces of text ------------------------------------------------------------------

    def _width(self, group: IOGroup) -> int:
        return self.hardware.value(group.pack) * self.hardware.bits(group)

    def _port(self, group: IOGroup) -> str:
        reads, name = group.role is GroupRole.READ, group.tensor
        there, back = ("input  wire", "output wire") if reads else ("output wire", "input  wire")
        what = f"{self.hardware.value(group.pack)} elements of {self.hardware.bits(group)} bits"
        bits = f"[{self._width(group) - 1}:0]"
        pad = " " * len(bits)
        return (
            f"    // {name}: {what}\n"
            f"    {there} {pad} {name}_tvalid,\n"
            f"    {back} {pad} {name}_tready,\n"
            f"    {there} {bits} {name}_tdata"
        )

    def _channel(self, name: str, places: _Places, bits: int) -> list[str]:
        """Wires of a channel at every place of some loops."""
        dims = "".join(f"[LANES_{loop}{'' if more else ' - 1'}:0]" for loop, more in places)
        return [
            f"    wire {dims} {name}_valid, {name}_ready;",
            f"    wire {dims}[{bits - 1}:0] {name}_data;",
        ]

    def _for(self, loops: Iterable[str], label: str, body: Iterable[str]) -> list[str]:
        """A body for each lane of loops."""
        lines = list(body)
        for number, loop in enumerate(reversed(tuple(loops))):
            at, name = _place(loop), f"{label}_{loop}" if number else label
            lines = [
                f"    for (genvar {at} = 0; {at} < LANES_{loop}; {at} = {at} + 1) begin : {name}",
                *(f"    {line}" for line in lines),
                "    end",
            ]
        return lines

    def _instance(
        self, module: str, name: str, parameters: Iterable[str], ports: Iterable[str]
    ) -> list[str]:
        given = [text for text in parameters if text]
        return [
            f"    {module} #(",
            *(f"        {text}{',' if text is not given[-1] else ''}" for text in given),
            f"    ) {name} (",
            "        .clk(clk), .rst(rst),",
            *_listed(ports),
            "    );",
        ]

    def _nothing_follows(self, name: str, at: str) -> list[str]:
        """The end of a chain of words that come in."""
        return [
            f"    assign {name}_ready{at} = 1'b0;",
            f"    wire unused_{name} = &{{1'b0, {name}_valid{at}, {name}_data{at}}};",
        ]

    def _nothing_comes(self, name: str, at: str) -> list[str]:
        """The end of a chain of words that go out."""
        return [
            f"    assign {name}_valid{at} = 1'b0;",
            f"    assign {name}_data{at} = '0;",
            f"    wire unused_{name} = {name}_ready{at};",
        ]

    def _loops(self, group: IOGroup) -> tuple[str | None, str | None]:
        """The loop along which the buffers of a group are chained, and the one along which the
        modules behind them are."""
        chain, heads = [*(x for x in self.space if x != group.direction), None, None][:2]
        return chain, heads

    def _tile(self, group: IOGroup) -> list[str]:
        """Parameters of what a buffer holds."""
        hardware, word = self.hardware, self.hardware.word(group)
        nest = hardware.in_tile(group).merged.over(word)
        assert nest is not None
        pack, size = hardware.value(group.pack), hardware.value(group.size)
        widths = f".BITS({hardware.bits(group)}), .PACK({pack}), .WORD({word})"
        return [f"{widths}, .PACKS({size // pack})", nest_parameters(nest)]

    def _behind(self, loop: str | None) -> str:
        return "0" if loop is None else f"LANES_{loop} - 1 - {_place(loop)}"

    def _at(self, loops: Iterable[str | None], more: str = "") -> str:
        """Where a channel is that runs along the last of some loops."""
        named = [loop for loop in loops if loop is not None]
        return "".join(
            f"[{_place(x)}{f' + {more}' if more and x == named[-1] else ''}]" for x in named
        )

    # -- tensors that are read -----------------------------------------------------------

    def _pe_places(self, group: IOGroup, more: int) -> _Places:
        return [(x, more if x == group.direction else 0) for x in self.space]

    def _pe_at(self, group: IOGroup, along: str) -> str:
        return "".join(f"[{along if x == group.direction else _place(x)}]" for x in self.space)

    def _read(self, group: IOGroup) -> str:
        """A group from DRAM to the PEs."""
        hardware = self.hardware
        buffer, *outer = (module.name for module in group.modules)
        chain, heads = self._loops(group)
        bits, word_bits = self._width(group), hardware.word(group) * hardware.bits(group)
        fed, links = f"{group.name}_PE", f"{buffer}_chain"
        again = group.modules[0].intra / hardware.configuration.design.pe.trips
        lines = [f"    // {group.tensor}: {' -> '.join([*reversed((buffer, *outer)), 'PE'])}"]
        lines += self._channel(fed, self._pe_places(group, 1), word_bits)
        inside = [loop for loop in (heads, chain) if loop is not None]
        body = []
        if group.direction is not None:
            end = self._pe_at(group, f"LANES_{group.direction}")
            body += self._nothing_follows(fed, end)
        come, follow = self._at(inside), self._at(inside, "1")
        if outer:
            lines += self._channel(links, [(x, int(x == chain)) for x in inside], bits)
            taken, passed = f"{links}_{{}}{come}", f"{links}_{{}}{follow}"
        else:  # the buffer is at DRAM
            taken, passed = f"{group.tensor}_t{{}}", ""
            body.append(f"    wire unused_{buffer}_valid;")
            body.append(f"    wire [{bits - 1}:0] unused_{buffer}_data;")
        first = self._pe_at(group, "0")
        body += self._instance(
            "ithaca_feeder",
            buffer,
            [
                *self._tile(group),
                f".BEHIND({self._behind(chain if outer else None)}), "
                f".AGAIN({hardware.value(again)}), {self.channel}",
            ],
            [
                *_port("in", taken),
                *(
                    _port("next", passed)
                    if outer
                    else [
                        f".next_valid(unused_{buffer}_valid)",
                        ".next_ready(1'b0)",
                        f".next_data(unused_{buffer}_data)",
                    ]
                ),
                *_port("out", f"{fed}_{{}}{first}"),
            ],
        )
        lines += self._for(inside, f"{buffer}s", body)
        if not outer:
            return "\n".join(lines) + "\n"
        assert chain is not None
        end = f"[LANES_{chain}]"
        if heads is None:
            lines += self._nothing_follows(links, end)
            begin = f"{links}_{{}}[0]"
        else:
            middle, ways = outer[0], f"{outer[0]}_chain"
            lines += self._channel(ways, [(heads, 1)], bits)
            at = _place(heads)
            own = hardware.value(group.size / group.pack)
            split = [
                *self._nothing_follows(links, f"[{at}]{end}"),
                *self._instance(
                    "ithaca_split",
                    middle,
                    [
                        f".BITS({bits}), .OWN({own} * LANES_{chain}), "
                        f".OTHERS(({self._behind(heads)}) * {own} * LANES_{chain}), {self.channel}"
                    ],
                    [
                        *_port("in", f"{ways}_{{}}[{at}]"),
                        *_port("out", f"{links}_{{}}[{at}][0]"),
                        *_port("next", f"{ways}_{{}}[{at} + 1]"),
                    ],
                ),
            ]
            lines += self._for([heads], f"{middle}s", split)
            lines += self._nothing_follows(ways, f"[LANES_{heads}]")
            begin = f"{ways}_{{}}[0]"
        lines += self._fifo(outer[-1], bits, f"{group.tensor}_t{{}}", begin)
        return "\n".join(lines) + "\n"

    def _fifo(self, name: str, bits: int, come: str, go: str) -> list[str]:
        machine = self.hardware.machine
        return self._instance(
            "ithaca_fifo",
            name,
            [f".BITS({bits}), .DEPTH({machine.fifo_depth}), .STAGES({machine.hop - 1})"],
            [*_port("in", come), *_port("out", go)],
        )

    # -- the output ----------------------------------------------------------------------

    def _sums(self, group: IOGroup) -> list[str]:
        return self._channel(
            f"{group.name}_PE",
            self._pe_places(group, 1),
            self.hardware.outputs * self.hardware.sum_bits,
        )

    def _chain_out(
        self, group: IOGroup, modules: Sequence[Module], buffer: list[str], links: str
    ) -> list[str]:
        """Modules with a buffer in chains, and what is behind them."""
        chain, heads = self._loops(group)
        assert chain is not None
        bits = self._width(group)
        inside = [loop for loop in (heads, chain) if loop is not None]
        lines = self._channel(links, [(x, int(x == chain)) for x in inside], bits)
        lines += self._for(inside, f"{modules[0].name}s", buffer)
        end = f"[LANES_{chain}]"
        if heads is None:
            lines += self._nothing_comes(links, end)
            last = f"{links}_{{}}[0]"
        else:
            middle, ways, at = modules[1].name, f"{modules[1].name}_chain", _place(heads)
            lines += self._channel(ways, [(heads, 1)], bits)
            own = self.hardware.value(group.size / group.pack)
            merge = [
                *self._nothing_comes(links, f"[{at}]{end}"),
                *self._instance(
                    "ithaca_merge",
                    middle,
                    [
                        f".BITS({bits}), .OWN({own} * LANES_{chain}), "
                        f".OTHERS(({self._behind(heads)}) * {own} * LANES_{chain}), {self.channel}"
                    ],
                    [
                        *_port("in", f"{links}_{{}}[{at}][0]"),
                        *_port("next", f"{ways}_{{}}[{at} + 1]"),
                        *_port("out", f"{ways}_{{}}[{at}]"),
                    ],
                ),
            ]
            lines += self._for([heads], f"{middle}s", merge)
            lines += self._nothing_comes(ways, f"[LANES_{heads}]")
            last = f"{ways}_{{}}[0]"
        tensor = group.tensor
        return [
            *lines,
            f"    // {modules[-1].name}",
            f"    assign {tensor}_tvalid = {last.format('valid')};",
            f"    assign {last.format('ready')} = {tensor}_tready;",
            f"    assign {tensor}_tdata = {last.format('data')};",
        ]

    def _drain(self, group: IOGroup) -> str:
        """Finished sums, from every PE through its drain to DRAM."""
        chain, heads = self._loops(group)
        links = f"{group.modules[0].name}_chain"
        inside = [loop for loop in (heads, chain) if loop is not None]
        body = self._instance(
            "ithaca_drain",
            group.modules[0].name,
            [*self._tile(group), f".BEHIND({self._behind(chain)}), {self.channel}"],
            [
                *_port("in", f"{group.name}_PE_{{}}{self._at(self.space)}"),
                *_port("next", f"{links}_{{}}{self._at(inside, '1')}"),
                *_port("out", f"{links}_{{}}{self._at(inside)}"),
            ],
        )
        names = " -> ".join(["PE", *(module.name for module in group.modules)])
        lines = [f"    // {group.tensor}: {names}", *self._sums(group)]
        return "\n".join([*lines, *self._chain_out(group, group.modules, body, links)]) + "\n"

    def _collect(self, group: IOGroup) -> str:
        """Sums from the last PE of each chain, added up in buffers on the way to DRAM."""
        chain, _ = self._loops(group)
        buffer, sums = group.modules[0], f"{group.name}_PE"
        names = " -> ".join(["PE", *(module.name for module in group.modules)])
        again = self.hardware.value(buffer.intra * self.hardware.configuration.design.pe.outputs)
        again //= self.hardware.value(group.size)
        lines = [f"    // {group.tensor}: {names}", *self._sums(group)]
        bits, own = self._width(group), f"{buffer.name}_own"
        body = self._nothing_comes(sums, self._pe_at(group, "0"))
        links = f"{buffer.name}_chain"
        if chain is None:
            body += [
                "    wire unused_next;",
            ]
            ends = [
                ".next_valid(1'b0)",
                ".next_ready(unused_next)",
                f".next_data({bits}'d0)",
                *_port("out", f"{group.tensor}_t{{}}"),
            ]
        else:
            at = _place(chain)
            body += [f"    wire {own}_valid, {own}_ready;", f"    wire [{bits - 1}:0] {own}_data;"]
            ends = [*_port("next", f"{links}_{{}}[{at} + 1]"), *_port("out", f"{own}_{{}}")]
        body += self._instance(
            "ithaca_collector",
            buffer.name,
            [*self._tile(group), f".BEHIND({self._behind(chain)}), .AGAIN({again})"],
            [*_port("in", f"{sums}_{{}}{self._pe_at(group, f'LANES_{group.direction}')}"), *ends],
        )
        if chain is None:
            return "\n".join([*lines, *body]) + "\n"
        body += self._fifo(
            f"{buffer.name}_fifo", bits, f"{own}_{{}}", f"{links}_{{}}{self._at([chain])}"
        )
        return "\n".join([*lines, *self._chain_out(group, group.modules, body, links)]) + "\n"

    # -- PEs -----------------------------------------------------------------------------

    def _pes(self) -> str:
        out, ends, ports = self.hardware.out, [], []
        for group in (*self.hardware.reads, out):
            name, channel = group.name, f"{group.name}_PE"
            here, on = (
                self._pe_at(group, f"{_place(group.direction or '')}{more}")
                for more in ("", " + 1")
            )
            if group.role is GroupRole.READ:
                ports += _port(name, f"{channel}_{{}}{here}")
                if group.direction is not None:
                    loop = group.direction
                    ends.append(f".{name}_LAST({_place(loop)} == LANES_{loop} - 1 ? 1 : 0)")
                    ports += _port(f"{name}_next", f"{channel}_{{}}{on}")
            elif group.direction is None:
                ports += _port(name, f"{channel}_{{}}{here}")
            else:
                ends.append(f".{name}_FIRST({_place(group.direction)} == 0 ? 1 : 0)")
                ports += [
                    *_port(f"{name}_before", f"{channel}_{{}}{here}"),
                    *_port(name, f"{channel}_{{}}{on}"),
                ]
        if ends:
            pe = self._instance("array_pe", "PE", [", ".join(ends)], ports)
        else:
            pe = [
                "    array_pe PE (", "        .clk(clk), .rst(rst),", *_listed(ports), "    );"
            ]  # fmt: skip
        return "\n".join(self._for(self.space, "PEs", pe)) + "\n"


def _listed(ports: Iterable[str]) -> list[str]:
    """Ports of an instance, as many a line as fit."""
    whole = ", ".join(text.replace(" ", "\0") for text in ports)
    lines = wrap(whole, 84, break_long_words=False, break_on_hyphens=False)
    return [f"        {line}".replace("\0", " ") for line in lines]


def _port(port: str, wires: str) -> list[str]:
    """The three wires of a channel at a port."""
    return [f".{port}_{what}({wires.format(what)})" for what in ("valid", "ready", "data")]
