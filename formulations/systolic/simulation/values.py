"""A systolic array that computes: its network run with data, and the result beside NumPy's.

A word is what a design's packs and SIMD factor make it. Only DRAM modules know tensors: they send
tiles in the order of the design's tile loops and take finished ones. Everybody else acts by the
place of a word in its FIFO, as hardware does; a word that goes astray, or comes out of turn, ends
up in another product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.machine import Sums
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.quantities import extent, lanes, t1, t2, tiles
from ithaca.formulations.systolic.simulation.carrying import (
    Actor,
    Words,
    barrier_of,
    carry,
    turns_of,
)
from ithaca.formulations.systolic.simulation.network import Loop, ProcessNetwork
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest

#: Moves of words and multiplications that are checked at most: some seconds.
MOST_MOVES = 4_000_000

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Values:
    """Values that an array computed of random tensors, beside NumPy's."""

    tensors: Tensors
    """What it read."""
    result: NDArray[Any]
    """What it wrote."""
    expected: NDArray[Any]
    """What NumPy says; of floating-point numbers in double precision."""
    allowed: NDArray[Any]
    """How far an element may be off: 0 for integers, else 2·n·u·Σ|products| for n roundings of unit
    u, which holds for any order of additions (Higham, Accuracy and Stability of Numerical
    Algorithms, 2002, §3.1)."""

    @property
    def exact(self) -> bool:
        """Whether the numbers are integers."""
        return bool(np.issubdtype(self.result.dtype, np.integer))

    @property
    def wrong(self) -> int:
        """Elements that are off by more than is allowed."""
        return int(np.count_nonzero(~(np.abs(self.result - self.expected) <= self.allowed)))

    @property
    def error(self) -> float:
        """The largest error of an element."""
        return float(np.abs(self.result - self.expected).max())

    @property
    def document(self) -> dict[str, Any]:
        """The comparison, ready for JSON."""
        return {
            "elements": self.result.size,
            "wrong": self.wrong,
            "error": self.error,
            "allowed": float(self.allowed.max()),
        }


def check_moves(design: SystolicDesign, network: ProcessNetwork) -> None:
    """Raise `InputError` if so many values move that checking them would take long."""
    moves = design.nest.operations + sum(turns_of(process.steps) for process in network.processes)
    if moves > MOST_MOVES:
        raise InputError(
            f"--check-values: {moves:,} words move and multiply; allowed: at most {MOST_MOVES:,}"
        )


def check_values(
    design: SystolicDesign, configuration: Mapping[str, int], network: ProcessNetwork, sums: Sums
) -> Values:
    """Run a configuration's network with random data.

    Parameters
    ----------
    design : SystolicDesign
        The design.
    configuration : mapping of str to int
        Value of each of its quantities.
    network : ProcessNetwork
        The network that `array_network` makes of both.
    sums : Sums
        Whether PEs take their neighbour's sum first or last.

    Returns
    -------
    Values
        The tensors, what the drains bring to DRAM, and what NumPy computes.

    Raises
    ------
    InputError
        If that is too much, or words come in other numbers than are waited for.
    """
    check_moves(design, network)
    array = _Array(design, configuration, sums)
    shared: dict[str, Actor] = {}
    actors = {}
    for process in network.processes:
        # both processes of a buffer act on the same
        owner = barrier_of(process.steps) or process.name
        if owner not in shared:
            shared[owner] = array.actor(process.module.partition(" ")[0])
        actors[process.name] = shared[owner]
    carry(network, actors)
    return Values(array.tensors, array.result, *_reference(design.nest, array.tensors))


def _random(nest: LoopNest, access: Access, name: str, seed: int) -> NDArray[Any]:
    numbers = np.random.default_rng(seed)
    shape = [_span(subscript, nest.sizes) for subscript in access]
    if name.startswith("int"):
        return numbers.integers(
            -(2 ** (int(name[3:]) - 1)), 2 ** (int(name[3:]) - 1), shape
        )  # sums are modulo 2⁶⁴
    return numbers.standard_normal(shape).astype(np.float64 if name == "fp64" else np.float32)


def _reference(nest: LoopNest, tensors: Tensors) -> tuple[NDArray[Any], NDArray[Any]]:
    """The nest's result, and by how much each element may be off."""
    grid = dict(
        zip(nest.loops, np.ogrid[tuple(slice(n) for n in nest.sizes.values())], strict=True)
    )

    def indices(access: Access) -> tuple[Any, ...]:
        return tuple(
            sum(c * grid[loop] for loop, c in s.terms) + _before(s, nest.sizes) for s in access
        )

    exact = all(np.issubdtype(tensor.dtype, np.integer) for tensor in tensors.values())
    factors = [
        tensors[access.tensor].astype(np.int64 if exact else np.float64)[indices(access)]
        for access in nest.inputs
    ]
    reduced = tuple(
        number for number, loop in enumerate(nest.loops) if loop in nest.reduction_loops
    )
    products = np.broadcast_to(prod(factors[1:], start=factors[0]), tuple(nest.sizes.values()))
    found = np.zeros([_span(s, nest.sizes) for s in nest.output], products.dtype)
    allowed = np.zeros(found.shape)
    # subscripts of the output are loops or constants, so all its elements are reached
    found[indices(nest.output)] = products.sum(axis=reduced, keepdims=True)
    if not exact:
        roundings = prod(nest.sizes[loop] for loop in nest.reduction_loops) + len(factors)
        unit = np.finfo(next(iter(tensors.values())).dtype).eps / 2
        allowed[indices(nest.output)] = (
            2 * roundings * unit * np.abs(products).sum(axis=reduced, keepdims=True)
        )
    return found, allowed


def _span(subscript: Affine, extents: Mapping[str, int]) -> int:
    """Elements that a subscript ranges over, gaps included."""
    return sum(abs(c) * (extents[loop] - 1) for loop, c in subscript.terms) + 1


def _before(subscript: Affine, extents: Mapping[str, int]) -> int:
    """How far the terms of a subscript reach below 0."""
    return sum(-c * (extents[loop] - 1) for loop, c in subscript.terms if c < 0)


class _Array:
    """The tensors of a configuration: addresses in tiles, and tiles in tensors."""

    def __init__(
        self, design: SystolicDesign, configuration: Mapping[str, int], sums: Sums
    ) -> None:
        self.nest, self.array, self.sums = design.nest, design.array, sums
        self._values = {
            name: Fraction(value) for name, value in {**design.extents, **configuration}.items()
        }
        self.groups = {group.name: group for group in self.array.packed_groups}
        self.accesses = {access.tensor: access for access in self.nest.accesses}
        #: The subscripts of each tensor, and how they number the elements that its tiles hold.
        self.stored = {
            a.tensor: [(s, s.without_gaps(self.nest.once)) for s in a] for a in self.nest.accesses
        }
        self.modules = {module.name: (group, module) for group, module in self.array.modules}
        self.tensors = {
            a.tensor: _random(self.nest, a, design.data.name, n)
            for n, a in enumerate(self.nest.inputs)
        }
        kind = next(iter(self.tensors.values())).dtype
        self.result = np.zeros([_span(s, self.nest.sizes) for s in self.nest.output], kind)
        space, untiled = self.array.dataflow, self.array.untiled
        #: Iterations of each loop that one buffer's tile covers.
        self.inner = {
            loop: self.value(
                t2(loop) if loop in space else extent(loop) if loop in untiled else t1(loop)
            )
            for loop in self.nest.loops
        }
        self.simd, self.outputs = self.value(self.array.pe.simd), self.value(self.array.pe.outputs)
        self.local, self.accumulators = self._trips()

    def value(self, expression: Expression) -> int:
        """A whole number of the configuration."""
        return int(expression.evaluate(self._values, FRACTION))

    def _trips(self) -> tuple[dict[str, Any], Integers]:
        """The iteration, within a tile, of each loop in every trip of a PE; its accumulator.

        Per block of outputs all reductions, within them the loops that hide latency.
        """
        outer, nest = (
            [loop for loop in self.nest.loops if loop not in self.array.dataflow],
            self.nest,
        )
        outer.sort(key=lambda loop: loop in nest.reduction_loops)
        axes = [
            (x, self.value(extent(x) if x in nest.untiled else lanes(x)), x not in nest.untiled)
            for x in outer
        ]
        hiding = [(x, self.value(t2(x)), False) for x in self.array.latency_hiding_loops]
        shape = [size for _, size, _ in (*axes, *hiding)]
        index = np.indices(shape, np.int64).reshape(len(shape), -1)
        local: dict[str, Any] = dict.fromkeys(nest.loops, np.zeros(prod(shape), np.int64))
        for (loop, _, strided), steps in zip((*axes, *hiding), index, strict=True):
            local[loop] = local[loop] + steps * (self.value(t2(loop)) if strided else 1)
        inner = prod(size for _, size, _ in hiding)
        visits = prod(size for loop, size, _ in axes if loop in nest.reduction_loops)
        trip = np.arange(prod(shape))
        return local, trip // (visits * inner) * inner + trip % inner

    def addresses(self, access: Access) -> Integers:
        """Where in its tile a PE's word of a tensor is, in every trip: a row of elements each."""
        lane = np.arange(self.simd if access.indexed_by(self.nest.simd) else 1)
        flat = np.zeros((len(self.accumulators), len(lane)), np.int64)
        for _, subscript in self.stored[access.tensor]:
            place = sum(c * self.local[loop] for loop, c in subscript.terms) + _before(
                subscript, self.inner
            )
            row = np.reshape(place, (-1, 1)) + subscript.coefficient(self.nest.simd) * lane
            flat = flat * _span(subscript, self.inner) + row
        return flat

    def tiles_of(self, group: IOGroup) -> Iterator[list[tuple[Any, Any]]]:
        """Tile by tile, for each buffer of a group: which part lies where in the tensor."""
        staying = self.array.staying(group.tensor)
        order, access = self.array.order, self.accesses[group.tensor]
        along = None if group.direction is None else self.array.dataflow.index(group.direction)
        places = product(*(range(self.value(lanes(loop))) for loop in self.array.dataflow))
        # chains run along the first space loop but the one the data are handed along
        chains = sorted(
            (p for p in places if along is None or not p[along]), key=lambda place: place[::-1]
        )
        for tile in product(
            *(range(1 if loop in staying else self.value(tiles(loop))) for loop in order)
        ):
            first = {
                loop: number * self.value(t1(loop))
                for loop, number in zip(order, tile, strict=True)
            }
            found = []
            for place in chains:
                lane = {
                    x: n * self.value(t2(x))
                    for x, n in zip(self.array.dataflow, place, strict=True)
                }
                found.append(
                    self._part(
                        access, {x: first.get(x, 0) + lane.get(x, 0) for x in self.nest.loops}
                    )
                )
            yield found

    def _part(self, access: Access, begin: Mapping[str, int]) -> tuple[Any, Any]:
        within, where = [], []
        for subscript, stored in self.stored[access.tensor]:
            origin = sum(c * begin[loop] for loop, c in subscript.terms)
            origin += _before(subscript, self.nest.sizes) - _before(subscript, self.inner)
            last = origin + _span(subscript, self.inner) - 1
            there = np.linspace(origin, last, _span(stored, self.inner), dtype=np.int64)
            inside = np.flatnonzero((there >= 0) & (there < _span(subscript, self.nest.sizes)))
            within.append(inside)
            where.append(there[inside])
        return np.ix_(*within), np.ix_(*where)

    def tile_shape(self, group: IOGroup) -> list[int]:
        """The dimensions of a buffer's tile (elements)."""
        return [_span(stored, self.inner) for _, stored in self.stored[group.tensor]]

    def words(self, group: IOGroup) -> Iterator[Words]:
        """Words that DRAM sends of a tensor, tile by tile; zeros beyond the tensor's end."""
        tensor, shape, pack = (
            self.tensors[group.tensor],
            self.tile_shape(group),
            self.value(group.pack),
        )
        for parts in self.tiles_of(group):
            sent = np.zeros((len(parts), *shape), tensor.dtype)
            for tile, (within, where) in zip(sent, parts, strict=True):
                tile[within] = tensor[where]
            yield sent.reshape(-1, pack)

    def actor(self, module: str) -> Actor:
        """The actor of the processes of a module."""
        if module == "PE":
            return _Pe(self)
        group, stated = self.modules[module]
        if group.role is GroupRole.READ:
            words = self.words(group) if stated.dram else iter(())
            return (
                _Buffer(words, self.addresses(self.accesses[group.tensor]))
                if stated.buffer
                else _Source(words)
            )
        sink = _Sink(self, group)
        return _Drain(self, group, sink) if stated.buffer else sink


class _Source(Actor):
    """A module without a buffer: sends what comes from DRAM, passes on the rest."""

    def __init__(self, words: Iterator[Words]) -> None:
        self._words = words

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        return taken if loop.reads else [next(self._words)]


class _Buffer(_Source):
    """A doubled buffer of a tensor that is read."""

    def __init__(self, words: Iterator[Words], addresses: Integers) -> None:
        super().__init__(words)
        self._addresses = addresses
        self._filled = self._fed = np.zeros(0)

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        if loop.reads and loop.writes:
            return taken
        if loop.writes:
            return [self._fed[self._addresses]]
        self._filled = (taken[0] if loop.reads else next(self._words)).ravel()
        return []

    def meet(self) -> None:
        self._fed = self._filled


class _Pe(Actor):
    """Multiplies, adds, and hands on."""

    def __init__(self, array: _Array) -> None:
        self._array = array
        size = int(array.accumulators.max()) + 1
        self._sums = np.zeros((size, array.outputs), array.result.dtype)
        self._trip = 0

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        array = self._array
        named = {
            name.partition(" ")[0]: words for name, words in zip(loop.reads, taken, strict=True)
        }
        factors = [
            named.pop(group.name) for group in array.groups.values() if group.role is GroupRole.READ
        ]
        products = prod(factors[1:], start=factors[0])
        if array.outputs == 1:
            products = products.sum(axis=1, keepdims=True, dtype=products.dtype)
        count = len(products)
        at = array.accumulators[(self._trip + np.arange(count)) % len(array.accumulators)]
        self._trip += count
        added = [products, *named.values()]
        for words in reversed(added) if array.sums is Sums.FIRST else added:
            np.add.at(self._sums, at, words)  # turn by turn
        given = []
        for name in loop.writes:
            group = name.partition(" ")[0]
            if array.groups[group].role is GroupRole.READ:
                given.append(taken[[name.partition(" ")[0] for name in loop.reads].index(group)])
            else:
                given.append(self._sums[at])
                self._sums[at] = 0
        return given


class _Sink(Actor):
    """A module without a buffer: passes sums on, the one at DRAM takes them to their places."""

    def __init__(self, array: _Array, group: IOGroup) -> None:
        self._array, self._shape = array, array.tile_shape(group)
        self._tiles = array.tiles_of(group)

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        return taken if loop.writes else self.write(taken[0])

    def write(self, words: Words) -> Sequence[Words]:
        """A tile of every buffer."""
        parts = next(self._tiles)
        for tile, (within, where) in zip(
            words.reshape(len(parts), *self._shape), parts, strict=True
        ):
            self._array.result[where] = tile[within]
        return []


class _Drain(Actor):
    """Takes sums, adds up what comes for the same output, and sends tiles."""

    def __init__(self, array: _Array, group: IOGroup, sink: _Sink) -> None:
        self._sink, self._shape = sink, array.tile_shape(group)
        self._pack = array.value(group.pack)
        # where each accumulator's sums belong in the tile
        _, first = np.unique(array.accumulators, return_index=True)
        self._addresses = array.addresses(array.accesses[group.tensor])[first]
        self._empty = np.zeros((len(first), array.outputs), array.result.dtype)
        self._sums: Words = self._empty
        self._whole: Words | None = None

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        if loop.reads and loop.writes:
            return taken
        if loop.reads:
            self._sums = self._sums + taken[0]
            return []
        if self._whole is None:  # a drain meets nobody
            self.meet()
        tile = np.zeros(prod(self._shape), self._empty.dtype)
        tile[self._addresses] = self._whole
        self._whole = None
        words = tile.reshape(-1, self._pack)
        return [words] if loop.writes else self._sink.write(words)

    def meet(self) -> None:
        self._whole, self._sums = self._sums, self._empty
