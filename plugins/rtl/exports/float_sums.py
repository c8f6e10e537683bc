"""Tensors of floating-point numbers, and their result with sums in the order in which the hardware
adds them, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.float_formats import Floats, bit_patterns, rounded
from ithaca.formulations.systolic.quantities import lanes, t1, t2, tiles
from ithaca.plugins.rtl.exports.hardware import Hardware
from ithaca.plugins.rtl.formulations.packages import Packages
from ithaca.plugins.rtl.formulations.values import loop_view

#: Terms that are added up at a time: few enough for a processor's cache.
TERMS = 2**18

#: A loop, its turns, and iterations per turn.
Axis: TypeAlias = tuple[str, int, int]


def float_patterns(hardware: Hardware, tensors: Mapping[str, Floats]) -> dict[str, Integers]:
    """The bits of padded tensors, and of the padded output.

    Lanes are added up in pairs, then visit by visit in an accumulator, PE by PE along the chain
    where sums are handed on, and tile by tile.
    """
    places, nest, value = hardware.places, hardware.configuration.nest, hardware.value
    words, sums = hardware.configuration.data.words, hardware.sum_type
    output, reductions = nest.output, nest.reduction_loops
    tile = [(x, value(tiles(x)), value(t1(x))) for x in places.array.order if x in reductions]
    chain = [(x, value(lanes(x)), value(t2(x))) for x in reductions if x == hardware.out.direction]
    visit = [axis for axis in places.trips()[0] if axis[0] in reductions]
    levels = [tile, chain, visit] if hardware.later else [tile, chain + visit]
    if not chain:  # accumulators are kept from tile to tile
        levels = [tile + visit]
    outputs = [(x, n, 1) for x, n in places.padded.items() if x not in reductions]
    axes = [*tile, *chain, *visit, *outputs, (nest.simd, hardware.vector // hardware.outputs, 1)]
    # a zero of a block is none of its values, whatever its sign
    numbers = {name: rounded(padded, words) + np.float32(0) for name, padded in tensors.items()}
    factors = [
        loop_view(numbers[group.tensor], places.access(group.tensor), places.padded, axes)
        for group in hardware.reads
    ]

    zero = np.zeros((), np.float32)

    def add(one: Floats, other: Floats) -> Floats:
        return rounded(one + other, sums)

    def multiplied(turn: tuple[int, ...], rows: Any) -> list[Floats]:
        views = [view[turn][rows] for view in factors]
        if nest.sparse is None:
            return views
        lines, packages = (
            [view.reshape(-1, hardware.vector) for view in views],
            Packages(nest.sparse),
        )
        packed = packages.packed(
            next(row for row, g in zip(lines, hardware.reads, strict=True) if g.sparse)
        )
        shape = (*views[0].shape[:-1], -1)
        return [packages.selected(packed, row).reshape(shape) for row in lines]

    def added(levels: list[list[Axis]], turn: tuple[int, ...], rows: Any) -> Floats:
        if levels:
            turns = np.ndindex(*(count for _, count, _ in levels[0]))
            return reduce(add, (added(levels[1:], turn + each, rows) for each in turns), zero)
        terms: Floats = reduce(lambda a, b: rounded(a * b, sums), multiplied(turn, rows))
        while (width := terms.shape[-1]) > 1:
            if width % 2:
                terms = np.append(terms, np.zeros((*terms.shape[:-1], 1), np.float32), -1)
            terms = add(terms[..., ::2], terms[..., 1::2])
        return terms.squeeze(-1)

    stored = np.zeros(places.tensor_shape(output), np.float32)
    results = loop_view(stored, output, places.padded, outputs)
    cuts: list[Any] = [...]
    if outputs:
        step = max(TERMS * len(results) // (results.size * hardware.vector), 1)
        cuts = [slice(begin, begin + step) for begin in range(0, len(results), step)]
    for rows in cuts:
        results[rows] = added(levels, (), rows)
    patterns = {tensor: bit_patterns(each, words) for tensor, each in numbers.items()}
    return {**patterns, output.tensor: bit_patterns(stored, sums)}
