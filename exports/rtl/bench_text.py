"""The bench: plain tensors in memory, words in the order of tiles, and what must come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import PurePosixPath

import numpy as np

from ithaca.exports.rtl.float_sums import float_patterns
from ithaca.exports.rtl.hardware import Hardware
from ithaca.exports.rtl.sizes import nest_parameters, registers
from ithaca.exports.templates import template
from ithaca.formulations.systolic.addresses import span
from ithaca.formulations.systolic.cycles import BURST_LATENCY
from ithaca.formulations.systolic.simulation.packages import Packages
from ithaca.formulations.systolic.simulation.values import random_tensors, reference
from ithaca.formulations.systolic.systolic_array import IOGroup

#: What a bench writes to registers before it runs a layer.
NO_SIZES = "    localparam integer SIZES = 0;\n"


def bench_text(hardware: Hardware, limits: Sequence[int], names: Sequence[str] = ("",)) -> str:
    """``bench.sv``: the array with a memory for each tensor of each layer, which are called so and
    run one after the other; each ends after so many cycles at most."""
    chosen, ports, sizes = hardware.configuration, [], NO_SIZES
    if hardware.layers:
        ports = [f"        .size_{what}(size_{what})" for what in ("write", "place", "data")]
        sizes = template("rtl/sizes_bench.sv.txt", number=len(registers(hardware)))
    layers = [
        [_memory(each, group, name) for group in (*each.reads, each.out)]
        for each, name in zip(hardware.runs, names, strict=True)
    ]
    return bench(
        layers,
        limits,
        sizes,
        ports,
        statement=chosen.nest,
        design=chosen.design.name,
        what=", layer after layer" if hardware.layers else "",
    )


@dataclass(frozen=True)
class Memory:
    """A memory of the bench, by the names that templates have."""

    name: str
    """That of its tensor."""
    reads: bool
    """Whether the array reads it."""
    width: int
    """Bits of a pack."""
    file: str
    """The elements."""
    parameters: str
    """Those of its module but for the file."""
    begun: str = ""
    """What it waits for in the first cycle."""

    def text(self, template_of: str, **words: object) -> str:
        """The text of a template for it."""
        kind = "source" if self.reads else "sink"
        return template(f"rtl/{kind}{template_of}.sv.txt", **vars(self), **words)


def bench(
    layers: Sequence[Sequence[Memory]],
    limits: Sequence[int],
    sizes: str = NO_SIZES,
    ports: Sequence[str] = (),
    **head: object,
) -> str:
    """``bench.sv`` of the memories of each layer, those that are read first."""
    pieces = [*(memory.text("_mux") for memory in layers[0]), sizes]
    for memory in layers[0]:
        channel = (f"{memory.name}_t{what}" for what in ("valid", "ready", "data"))
        ports = [*ports, *(f"        .{wire}({wire})" for wire in channel)]
    for layer, (memories, limit) in enumerate(zip(layers, limits, strict=True)):
        for at, memory in enumerate(memories, 1):
            pieces.append(memory.text("", layer=layer, number=at, others=len(memories) - at))
        pieces.append(f"    assign limits[64*{layer}+:64] = 64'd{limit};\n")
    outs = [memory.name for memory in layers[0] if not memory.reads]
    return template(
        "rtl/bench.sv.txt",
        layers=len(layers),
        memories="\n".join(pieces),
        ports=",\n".join(ports),
        ends=" && ".join(f"({name}_over || {name}_ends[layer])" for name in outs),
        right=" + ".join(f"{name}_rights[32*layer+:32]" for name in outs),
        wrong=" + ".join(f"{name}_wrongs[32*layer+:32]" for name in outs),
        **head,
    )


def _memory(hardware: Hardware, group: IOGroup, layer: str) -> Memory:
    pack, (*_, (row, gap)) = hardware.pack(group), hardware.in_pack(group).axes
    rows, burst, line = hardware.in_pack(group).axes[0][1], 0, 1
    if group.outer is not None:
        burst, line = BURST_LATENCY, hardware.value(group.outer.last) // pack
    return Memory(
        group.tensor,
        group is not hardware.out,
        hardware.width(group),
        f"{PurePosixPath('vectors', layer, group.tensor)}.hex",
        f".BITS({hardware.moved_bits(group)}), .PACK({pack}), .ROW({row}), .GAP({gap}), "
        f".ROWS({rows}), .SIZE({prod(hardware.shape(group))}),\n        "
        f".BURST({burst}), .LINE({line}), {nest_parameters(hardware.stream(group).merged)}",
        # a buffer at a port takes no word in the first cycle, as after a reset
        " && cycles != 0" if len(group.modules) == 1 else "",
    )


def vectors(hardware: Hardware, folder: str = "", *, padding: bool = True) -> Mapping[str, str]:
    """Tensors as hexadecimal numbers, an element a line: random ones, and the result, bit for
    bit; padded to whole tiles, or as they are."""
    chosen, places, bits = hardware.configuration, hardware.places, hardware.sum_bits
    nest, output = chosen.nest, chosen.nest.output
    tensors = random_tensors(nest, chosen.data)
    padded = {access.tensor: places.pad(access, tensors[access.tensor]) for access in nest.inputs}
    if hardware.exponent:
        padded = float_patterns(hardware, padded)
    else:
        padded[output.tensor] = places.pad(output, reference(nest, tensors)[0])
    counts = places.pad(output, np.ones([span(s, nest.sizes) for s in output], np.int64))
    padded[output.tensor] = padded[output.tensor] % (1 << bits) + (counts << bits)
    if not padding:
        padded = {n: t[places.tensor_place(places.access(n))] for n, t in padded.items()}
    digits = {group.tensor: hardware.moved_bits(group) for group in hardware.reads}
    digits |= {output.tensor: bits + 4}
    words = {name: tensor.ravel().tolist() for name, tensor in padded.items()}
    if nest.sparse is not None:  # values from the lowest bits on, and their places
        name, each = nest.sparse.tensor, chosen.data.bits
        blocks = padded[name].reshape(-1, nest.sparse.block) % (1 << each)
        rows = Packages(nest.sparse).packed(blocks).tolist()
        words[name] = [sum(n << each * at for at, n in enumerate(row)) for row in rows]
    return {
        f"{PurePosixPath('vectors', folder, name)}.hex": hexadecimal(each, digits[name])
        for name, each in words.items()
    }


def hexadecimal(numbers: Iterable[int], bits: int) -> str:
    """Numbers of so many bits, one a line."""
    digits, modulus = bits // 4, 1 << bits
    return "".join(f"{number % modulus:0{digits}x}\n" for number in numbers)
