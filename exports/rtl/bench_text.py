"""The bench: plain tensors in memory, words in the order of tiles, and what must come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ithaca.exports.configuration import template
from ithaca.exports.rtl.float_sums import float_patterns
from ithaca.exports.rtl.hardware import Hardware
from ithaca.exports.rtl.sizes import nest_parameters, registers
from ithaca.formulations.systolic.addresses import span
from ithaca.formulations.systolic.cycles import BURST_LATENCY
from ithaca.formulations.systolic.simulation.packages import Packages
from ithaca.formulations.systolic.simulation.values import random_tensors, reference
from ithaca.formulations.systolic.systolic_array import IOGroup


def bench_text(hardware: Hardware, limits: Sequence[int], names: Sequence[str] = ("",)) -> str:
    """``bench.sv``: the array with a memory for each tensor of each layer, which are called so and
    run one after the other; each ends after so many cycles at most."""
    chosen, out = hardware.configuration, hardware.out
    pieces = [
        template("rtl/source_mux.sv.txt").format(
            name=group.tensor, width=hardware.width(group), begun=_begun(group)
        )
        for group in hardware.reads
    ]
    ports = [
        f"        .{group.tensor}_t{what}({group.tensor}_t{what})"
        for group in (*hardware.reads, out)
        for what in ("valid", "ready", "data")
    ]
    sizes = "    localparam integer SIZES = 0;\n"
    if hardware.layers:
        ports += [f"        .size_{what}(size_{what})" for what in ("write", "place", "data")]
        sizes = template("rtl/sizes_bench.sv.txt").format(number=len(registers(hardware)))
    pieces.append(sizes)
    for layer, (each, limit, name) in enumerate(zip(hardware.runs, limits, names, strict=True)):
        for at, group in enumerate((*each.reads, each.out)):
            last = group is each.out
            pieces.append(
                template("rtl/sink.sv.txt" if last else "rtl/source.sv.txt").format(
                    **_memory(each, group),
                    layer=layer,
                    file=f"{PurePosixPath('vectors', name, group.tensor)}.hex",
                    number=at + 1,
                    begun=_begun(group),
                    limit=limit,
                )
            )
    return template("rtl/bench.sv.txt").format(
        statement=chosen.nest,
        design=chosen.design.name,
        what=", layer after layer" if hardware.layers else "",
        layers=len(hardware.runs),
        memories="\n".join(pieces),
        ports=",\n".join(ports),
        name=out.tensor,
        width=hardware.width(out),
    )


def _begun(group: IOGroup) -> str:
    """A buffer at a port takes no word in the first cycle, as after a reset."""
    return " && cycles != 0" if len(group.modules) == 1 else ""


def _memory(hardware: Hardware, group: IOGroup) -> dict[str, Any]:
    pack, bits = hardware.pack(group), hardware.moved_bits(group)
    elements = hardware.in_pack(group).axes
    return {
        "name": group.tensor,
        "bits": bits,
        "pack": pack,
        "width": hardware.width(group),
        "row": elements[-1][0],
        "gap": elements[-1][1],
        "rows": elements[0][1],
        "size": prod(hardware.shape(group)),
        "nest": nest_parameters(hardware.stream(group).merged),
        "burst": 0 if group.outer is None else BURST_LATENCY,
        "line": 1 if group.outer is None else hardware.value(group.outer.last) // pack,
    }


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
        f"{PurePosixPath('vectors', folder, name)}.hex": _hexadecimal(each, digits[name])
        for name, each in words.items()
    }


def _hexadecimal(numbers: Iterable[int], bits: int) -> str:
    digits, modulus = bits // 4, 1 << bits
    return "".join(f"{number % modulus:0{digits}x}\n" for number in numbers)
