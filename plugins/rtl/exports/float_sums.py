"""Tensors of floating-point numbers, and their result with sums in the order in which the hardware
adds them, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.float_formats import Floats, bit_patterns, least_normal, rounded
from ithaca.formulations.systolic.quantities import lanes, t1, t2, tiles
from ithaca.plugins.rtl.exports.hardware import Hardware
from ithaca.plugins.rtl.formulations.packages import Packages
from ithaca.plugins.rtl.formulations.values import loop_view
from ithaca.workloads.affine import Access

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
    # lanes before outputs, so that what is multiplied lies side by side
    axes = [*tile, *chain, *visit, (nest.simd, hardware.vector // hardware.outputs, 1), *outputs]
    # a zero of a block is none of its values, whatever its sign
    numbers = {name: rounded(padded, words) + np.float32(0) for name, padded in tensors.items()}
    accesses = [places.access(group.tensor) for group in hardware.reads]
    factors = [
        loop_view(_reductions_first(numbers[a.tensor], a, {*reductions}), a, places.padded, axes)
        for a in accesses
    ]

    zero, normal = np.zeros((), np.float32), _normal(numbers.values(), sums)

    def add(one: Floats, other: Floats) -> Floats:
        return rounded(one + other, sums, normal=normal)

    def multiplied(turn: tuple[int, ...], rows: Any) -> list[Floats]:
        views = [view[turn][rows] for view in factors]
        if nest.sparse is None:
            return views
        lanes_last = [np.moveaxis(view, 0, -1) for view in views]
        lines, packages = (
            [view.reshape(-1, hardware.vector) for view in lanes_last],
            Packages(nest.sparse),
        )
        packed = packages.packed(
            next(row for row, g in zip(lines, hardware.reads, strict=True) if g.sparse)
        )
        shape = (*lanes_last[0].shape[:-1], -1)
        selected = (packages.selected(packed, row).reshape(shape) for row in lines)
        return [np.moveaxis(view, -1, 0) for view in selected]

    def added(levels: list[list[Axis]], turn: tuple[int, ...], rows: Any) -> Floats:
        if levels:
            turns = np.ndindex(*(count for _, count, _ in levels[0]))
            return reduce(add, (added(levels[1:], turn + each, rows) for each in turns), zero)
        terms: Floats = reduce(
            lambda a, b: rounded(a * b, sums, normal=normal), multiplied(turn, rows)
        )
        while (width := len(terms)) > 1:
            if width % 2:
                terms = np.append(terms, np.zeros((1, *terms.shape[1:]), np.float32), 0)
            terms = add(terms[::2], terms[1::2])
        total: Floats = terms[0]
        return total

    stored = np.zeros(places.tensor_shape(output), np.float32)
    results = loop_view(stored, output, places.padded, outputs)
    cuts: list[Any] = [...]
    if outputs:
        step = max(TERMS * len(results) // (results.size * hardware.vector), 1)
        cuts = [slice(begin, begin + step) for begin in range(0, len(results), step)]
    for rows in cuts:
        results[rows] = added(levels, (), (slice(None), rows))
    patterns = {tensor: bit_patterns(each, words) for tensor, each in numbers.items()}
    return {**patterns, output.tensor: bit_patterns(stored, sums)}


def _reductions_first(tensor: Floats, access: Access, reductions: Set[str]) -> Floats:
    """A tensor of which elements of one sum lie apart, and those of neighbouring sums side by
    side."""
    order = sorted(
        range(tensor.ndim), key=lambda axis: not reductions >= {*access.subscripts[axis].loops}
    )
    return np.ascontiguousarray(tensor.transpose(order)).transpose(np.argsort(order))


def _normal(factors: Iterable[Floats], sums: str) -> bool:
    """Whether no product of elements, and no sum of products, is subnormal.

    All are multiples of the last place of the least product, also when rounded: that happens at
    larger places only.
    """
    least = prod(float(np.abs(each[each != 0]).min(initial=1)) for each in factors)
    return bool(least >= 2.0**25 * least_normal(sums))
