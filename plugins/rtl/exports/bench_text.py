"""The bench: plain tensors in memory, words in the order of tiles, and what must come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import PurePosixPath

import numpy as np

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.systolic.cycle_arithmetic import BURST_LATENCY
from ithaca.formulations.systolic.systolic_array import IOGroup
from ithaca.plugins.rtl.exports.float_sums import float_patterns
from ithaca.plugins.rtl.exports.hardware import Hardware
from ithaca.plugins.rtl.exports.sizes import nest_parameters, registers
from ithaca.plugins.rtl.exports.templates import template
from ithaca.plugins.rtl.formulations.packages import Packages
from ithaca.plugins.rtl.formulations.values import random_tensors, reference
from ithaca.workloads.affine import span


def bench_text(hardware: Hardware, limits: Sequence[int], names: Sequence[str] = ("",)) -> str:
    """``bench.sv``: the array with a memory for each tensor of each layer, which are called so and
    run one after the other; each ends after so many cycles at most.

    Parameters
    ----------
    hardware : Hardware
        The array.
    limits : sequence of int
        Cycles that each layer may take.
    names : sequence of str, optional
        What signals of each layer begin with.
    """
    chosen = hardware.configuration
    return template(
        "bench.sv.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        layers=[
            [_memory(each, group, name) for group in (*each.reads, each.out)]
            for each, name in zip(hardware.runs, names, strict=True)
        ],
        limits=limits,
        registers=len(registers(hardware)) if hardware.layers else 0,
    )


@dataclass(frozen=True)
class BenchMemory:
    """A memory of the bench."""

    name: str
    """The name of the tensor."""
    reads: bool
    """Whether the array reads it."""
    width: int
    """Bits of a pack."""
    file: str
    """The elements."""
    parameters: str
    """The parameters of the tensor's module but for the file."""
    begun: str = ""
    """The condition that it waits for in the first cycle."""


def _memory(hardware: Hardware, group: IOGroup, layer: str) -> BenchMemory:
    pack, (*_, (row, gap)) = hardware.pack(group), hardware.in_pack(group).axes
    rows, burst, line = hardware.in_pack(group).axes[0][1], 0, 1
    if group.outer is not None:
        burst, line = BURST_LATENCY, hardware.value(group.outer.last) // pack
    return BenchMemory(
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
    bit; padded to whole tiles, or as they are.

    Parameters
    ----------
    hardware : Hardware
        The array.
    folder : str, optional
        The folder below ``vectors``.
    padding : bool, optional
        Whether tensors are padded to whole tiles.
    """
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
    words: dict[str, Iterable[int] | Integers] = {n: t.ravel() for n, t in padded.items()}
    if nest.sparse is not None:  # values from the lowest bits on, and their places
        name, each = nest.sparse.tensor, chosen.data.bits
        blocks = padded[name].reshape(-1, nest.sparse.block) % (1 << each)
        rows = Packages(nest.sparse).packed(blocks).tolist()
        words[name] = [sum(n << each * at for at, n in enumerate(row)) for row in rows]
    return {
        f"{PurePosixPath('vectors', folder, name)}.hex": hexadecimal(each, digits[name])
        for name, each in words.items()
    }


def hexadecimal(numbers: Iterable[int] | Integers, bits: int) -> str:
    """Numbers of so many bits, one a line."""
    digits, modulus = bits // 4, 1 << bits
    if isinstance(numbers, np.ndarray) and bits <= 64 and bits % 4 == 0:
        signs = np.frombuffer(b"0123456789abcdef", np.uint8)
        lines = np.full((numbers.size, digits + 1), ord("\n"), np.uint8)
        for place in range(digits):
            lines[:, place] = signs[numbers >> 4 * (digits - 1 - place) & 15]
        return lines.tobytes().decode("ascii")
    return "".join(f"{number % modulus:0{digits}x}\n" for number in numbers)
