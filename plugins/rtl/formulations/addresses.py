"""Addresses as nests of counters: the order in which words lie in tiles, and tiles in tensors.

Tiles are stored row by row, without elements that are stepped over; a tensor in memory is padded to
whole tiles. Every stream of words is then an affine nest: a counter per axis and one sum, which is
what hardware has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.systolic.quantities import extent, inner, lanes, outer, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import IOGroup, SystolicArray
from ithaca.formulations.systolic.tiling import outer_loops
from ithaca.formulations.systolic.two_level import covered
from ithaca.workloads.affine import Access, Affine, reach_below, row_weights, span
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class AddressNest:
    """The addresses that nested loops visit."""

    axes: tuple[tuple[int, int], ...]
    """Turns and stride of each loop, outermost first."""
    base: int = 0
    """The first address."""

    @property
    def count(self) -> int:
        """The number of addresses."""
        return prod(turns for turns, _ in self.axes)

    @property
    def addresses(self) -> Integers:
        """All addresses of the nest, in order."""
        numbers = np.full(1, self.base, np.int64)
        for turns, stride in self.axes:
            numbers = np.add.outer(numbers, stride * np.arange(turns)).ravel()
        return numbers

    @property
    def merged(self) -> AddressNest:
        """The nest with as few loops as can be: none of one turn, none that continues another."""
        return merged_alike([self])[0]

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of the address where each loop goes on, and those inside begin again."""
        inner, jumps = 0, []
        for turns, stride in reversed(self.axes):
            jumps.append(stride - inner)
            inner += stride * (turns - 1)
        return tuple(reversed(jumps))

    def multiple_of(self, words: int) -> bool:
        """Whether every address is a multiple of so many words."""
        return not any(number % words for number in (self.base, *(step for _, step in self.axes)))

    def over(self, words: int) -> AddressNest:
        """The addresses in units of so many words, of which they are multiples."""
        assert self.multiple_of(words)
        return AddressNest(
            tuple((n, stride // words) for n, stride in self.axes), self.base // words
        )


def merged_alike(nests: Sequence[AddressNest]) -> list[AddressNest]:
    """Nests of equally many loops with as few as can be, the same in all: none of one turn in all,
    none that continues another in all."""
    columns: list[list[tuple[int, int]]] = []
    axes = [[(turns, stride * (turns > 1)) for turns, stride in nest.axes] for nest in nests]
    for column in zip(*axes, strict=True):
        if columns and None not in (
            joined := [_joined(*axes) for axes in zip(columns[-1], column, strict=True)]
        ):
            columns[-1] = [axis for axis in joined if axis is not None]
        else:
            columns.append(list(column))
    kept = [column for column in columns if any(turns > 1 for turns, _ in column)]
    return [
        AddressNest(tuple(column[at] for column in kept), nest.base)
        for at, nest in enumerate(nests)
    ]


def _joined(outer: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int] | None:
    """The loop that two loops make; None where the inner one does not continue the outer one."""
    if inner[0] == 1 or outer[0] == 1:
        return outer if inner[0] == 1 else inner
    return (outer[0] * inner[0], inner[1]) if outer[1] == inner[0] * inner[1] else None


@dataclass(frozen=True)
class ArrayAddresses:
    """The places of a configuration's words in tiles, and of the tiles in tensors."""

    nest: LoopNest
    """The loop nest, with extents."""
    array: SystolicArray
    """The design, derived from the nest."""
    quantities: Mapping[str, Fraction]
    """Value of every quantity of the design, and of the extents."""

    def value(self, expression: Expression) -> int:
        """A whole number of the configuration."""
        return int(expression.evaluate(self.quantities, FRACTION))

    def _extents(self, tiled: Callable[[str], Expression]) -> dict[str, int]:
        untiled = self.array.untiled
        return {x: self.value(extent(x) if x in untiled else tiled(x)) for x in self.nest.loops}

    @cached_property
    def inner(self) -> dict[str, int]:
        """Iterations of each loop that one buffer's tile covers."""
        return self._extents(lambda x: t2(x) if x in self.array.dataflow else t1(x))

    @cached_property
    def padded(self) -> dict[str, int]:
        """Extent of each loop, padded to whole tiles."""
        return self._extents(lambda x: tiles(x) * t1(x))

    def access(self, tensor: str) -> Access:
        """The access of a tensor."""
        return next(access for access in self.nest.accesses if access.tensor == tensor)

    # -- inside a tile -------------------------------------------------------------------

    def _dimensions(self, access: Access, weights: Sequence[int]) -> list[tuple[Affine, int]]:
        """Subscripts that number the elements which tiles hold, and from one element to the next in
        a tensor of these weights: row by row, but the SIMD loop's dimension last where packs divide
        it."""
        simd = self.nest.simd
        dimensions = [
            (s.without_gaps(self.nest.once), s.step(self.nest.once) * weight)
            for s, weight in zip(access, weights, strict=True)
        ]
        along = sorted(dimensions, key=lambda dimension: dimension[0].coefficient(simd) != 0)
        return dimensions if self._split(access, along) is None else along

    def _split(
        self, access: Access, dimensions: Iterable[tuple[Affine, int]]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
        """The loops over the packs of a tile, and those over the elements of a pack, which holds
        whole rows or a part of one; None where it does neither."""
        group = next(g for g in self.array.packed_groups if g.tensor == access.tensor)
        left, packs, elements = self.value(group.pack), [], []
        for stored, step in reversed([*dimensions]):
            size = span(stored, self.inner)
            within = min(size, left)
            if size % within or left % within:
                return None
            left //= within
            elements.append((within, step))
            packs.append((size // within, step * within))
        return packs[::-1], elements[::-1]

    def _stored(self, access: Access) -> list[Affine]:
        return [subscript for subscript, _ in self._dimensions(access, self._rows(access))]

    def tile_shape(self, access: Access) -> list[int]:
        """The dimensions of a buffer's tile (elements)."""
        return [span(stored, self.inner) for stored in self._stored(access)]

    def lane_stride(self, access: Access) -> int:
        """The step from the element of one SIMD lane to that of the next, in a tile; 0: all have
        one."""
        weights = row_weights(self.tile_shape(access))
        return _stride(self._stored(access), weights, self.nest.simd)

    def trips(self) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
        """Loop, turns and iterations per turn of what a PE runs: blocks of outputs and in each all
        reductions; inside of them the loops that hide latency."""
        untiled = self.nest.untiled
        loops = [x for x in self.nest.loops if x not in self.array.dataflow]
        loops.sort(key=lambda x: x in self.nest.reduction_loops)
        axes = [
            (x, self.value(extent(x)), 1)
            if x in untiled
            else (x, self.value(lanes(x)), self.value(t2(x)))
            for x in loops
        ]
        hiding = [(x, self.value(t2(x)), 1) for x in self.array.latency_hiding_loops]
        return axes, hiding

    def feed(self, access: Access) -> AddressNest:
        """A PE's words of a tensor in its tile, one in every trip."""
        axes, hiding = self.trips()
        return self._in_tile(access, [*axes, *hiding])

    def sums(self) -> AddressNest:
        """The sums of a PE in their tile, one for each accumulator."""
        axes, hiding = self.trips()
        kept = [axis for axis in axes if axis[0] not in self.nest.reduction_loops]
        return self._in_tile(self.nest.output, [*kept, *hiding])

    def accumulators(self) -> AddressNest:
        """The accumulator of every trip: blocks of sums, their visits, and what hides latency."""
        hidden = prod(turns for _, turns, _ in self.trips()[1])
        visits = self.value(self.array.pe.trips) // self.sums().count
        return AddressNest(((self.sums().count // hidden, hidden), (visits, 0), (hidden, 1)))

    def _in_tile(self, access: Access, axes: Iterable[tuple[str, int, int]]) -> AddressNest:
        stored, weights = self._stored(access), row_weights(self.tile_shape(access))
        return AddressNest(
            tuple((turns, each * _stride(stored, weights, x)) for x, turns, each in axes),
            _address([reach_below(subscript, self.inner) for subscript in stored], weights),
        )

    # -- in memory -----------------------------------------------------------------------

    def tensor_shape(self, access: Access) -> list[int]:
        """The dimensions of a tensor padded to whole tiles (elements)."""
        return [span(subscript, self.padded) for subscript in access]

    def tensor_place(self, access: Access) -> tuple[slice, ...]:
        """The place of a tensor in the padded one."""
        sizes = self.nest.sizes
        begins = [reach_below(s, self.padded) - reach_below(s, sizes) for s in access]
        return tuple(
            slice(begin, begin + span(s, sizes)) for begin, s in zip(begins, access, strict=True)
        )

    def pad(self, access: Access, tensor: NDArray[Any]) -> NDArray[Any]:
        """A tensor padded to whole tiles, with zeros."""
        padded = np.zeros(self.tensor_shape(access), tensor.dtype)
        padded[self.tensor_place(access)] = tensor
        return padded

    def _rows(self, access: Access) -> list[int]:
        return row_weights(self.tensor_shape(access))

    def in_pack(self, group: IOGroup) -> AddressNest:
        """The elements of a pack in the padded tensor, from its first on."""
        return self._moved(group)[1].merged

    def stream(self, group: IOGroup) -> AddressNest:
        """The first elements of all packs that a group moves from or to the padded tensor: tile by
        tile, in each the buffers along their chains, in each the pack after pack."""
        return self._moved(group)[0]

    def elements(self, group: IOGroup, weights: Sequence[int]) -> AddressNest:
        """All elements that a group moves, in order, where dimensions of the padded tensor have
        these weights in an address."""
        packs, inside = self._moved(group, weights)
        return AddressNest(packs.axes + inside.axes, packs.base)

    def outer_tile(
        self, group: IOGroup, weights: Sequence[int] = ()
    ) -> tuple[AddressNest, AddressNest]:
        """The first elements of all packs that the module beside DRAM moves from or to the padded
        tensor, row by row of its buffer, and where in its buffer those are, in the order in which
        modules behind it take or give them, of every fill; where dimensions of the padded tensor
        have these weights in an address, if any are given.

        Packs are parts of rows.
        """
        access, pack = self.access(group.tensor), self.value(group.pack)
        stored = tuple(subscript.without_gaps(self.nest.once) for subscript in access)
        extents = self._extents(lambda x: covered(self.nest, x))
        shape, rows = [span(each, extents) for each in stored], weights or self._rows(access)
        steps = [s.step(self.nest.once) * row for s, row in zip(access, rows, strict=True)]
        below = [reach_below(s, self.padded) - reach_below(s, extents) for s in access]
        tiles, _ = self._moved(group, rows)
        sent, _ = self._moved(
            group, row_weights(shape), replace(access, subscripts=stored), extents
        )
        # it keeps what it was filled with along inner loops that do not index the tensor
        turns = fills = 2 * len(outer_loops(self.array))
        while fills and not tiles.axes[fills - 1][1] * (tiles.axes[fills - 1][0] - 1):
            fills -= 1
        packs = [*zip(shape[:-1], steps[:-1], strict=True), (shape[-1] // pack, pack * steps[-1])]
        again = prod(count for count, _ in tiles.axes[fills:turns])
        return (
            AddressNest((*tiles.axes[:fills], *packs), _address(below, rows)),
            AddressNest(((again, 0), *sent.axes[turns:]), sent.base),
        )

    def _moved(
        self,
        group: IOGroup,
        weights: Sequence[int] = (),
        access: Access | None = None,
        extents: Mapping[str, int] | None = None,
    ) -> tuple[AddressNest, AddressNest]:
        """The packs that a group moves, and the elements of each, in a tensor of such weights:
        indexed so by loops of such extents, instead of the padded one."""
        space, extents = self.array.dataflow, extents or self.padded
        access = access or self.access(group.tensor)
        staying, weights = self.array.staying(group.tensor), weights or self._rows(access)
        split_again = outer_loops(self.array)
        counted = [(x, outer(x), inner(x) * t1(x)) for x in split_again]
        counted += [
            (x, inner(x) if x in split_again else tiles(x), t1(x)) for x in self.array.order
        ]
        axes = [
            (self.value(count), self.value(step) * _stride(access, weights, x))
            for x, count, step in counted
            if x not in staying
        ]
        axes += [
            (self.value(lanes(x)), self.value(t2(x)) * _stride(access, weights, x))
            for x in reversed(space)
            if x != group.direction
        ]
        split = self._split(access, self._dimensions(access, weights))
        assert split is not None
        below = [reach_below(s, extents) - reach_below(s, self.inner) for s in access]
        packs, elements = split
        return (
            AddressNest((*axes, *packs), _address(below, weights)),
            AddressNest(tuple(elements)),
        )


def _address(places: Iterable[int], weights: Sequence[int]) -> int:
    """An address from a place in every dimension."""
    return sum(place * weight for place, weight in zip(places, weights, strict=True))


def _stride(subscripts: Iterable[Affine], weights: Sequence[int], loop: str) -> int:
    return _address((subscript.coefficient(loop) for subscript in subscripts), weights)
