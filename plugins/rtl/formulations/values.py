"""A systolic array that computes: its network run with data, and the result beside NumPy's.

A word is what a design's packs and SIMD factor make it. Only DRAM modules know tensors: they send
tiles in the order of the design's tile loops and take finished ones. Everybody else acts by the
place of a word in its FIFO, as hardware does; a word that goes astray, or comes out of turn, ends
up in another product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.data_types import DataType
from ithaca.formulations.machine import Sums
from ithaca.formulations.processes import Loop, ProcessNetwork
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.quantities import t2
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup
from ithaca.plugins.rtl.formulations.addresses import AddressNest, ArrayAddresses
from ithaca.plugins.rtl.formulations.carrying import (
    Actor,
    Words,
    barrier_of,
    carry,
    turns_of,
)
from ithaca.plugins.rtl.formulations.packages import Packages, emptied
from ithaca.workloads.affine import Access, reach_below, span
from ithaca.workloads.nest import LoopNest

#: Moves of words and multiplications that are checked at most: some seconds.
MOST_MOVES = 4_000_000

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Values:
    """Values that an array computed of random tensors, beside NumPy's."""

    tensors: Tensors
    """The tensors that it read."""
    result: NDArray[Any]
    """The tensor that it wrote."""
    expected: NDArray[Any]
    """The result by NumPy; of floating-point numbers in double precision."""
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
            module = process.module.partition(" ")[0]
            port = process.name.removeprefix(module).strip() if process.memory else ""
            shared[owner] = array.actor(module, int(port) if port.isdigit() else 0)
        actors[process.name] = shared[owner]
    carry(network, actors)
    return Values(array.tensors, array.result, *reference(design.nest, array.tensors))


def random_tensors(nest: LoopNest, data: DataType) -> dict[str, NDArray[Any]]:
    """Random tensors that a nest reads, the same at every call; integers of the whole range, and
    zeros at random places of a block-sparse tensor."""
    tensors = {
        access.tensor: _random(nest, access, data, n) for n, access in enumerate(nest.inputs)
    }
    if nest.sparse is not None:
        tensor = nest.sparse.tensor
        tensors[tensor] = emptied(nest.sparse, tensors[tensor], len(tensors))
    return tensors


def _random(nest: LoopNest, access: Access, data: DataType, seed: int) -> NDArray[Any]:
    numbers = np.random.default_rng(seed)
    shape = [span(subscript, nest.sizes) for subscript in access]
    if data.integer:
        most = 2 ** (data.bits - 1)
        return numbers.integers(-most, most, shape)  # sums are modulo 2⁶⁴
    return numbers.standard_normal(shape).astype(np.float32)


def reference(nest: LoopNest, tensors: Tensors) -> tuple[NDArray[Any], NDArray[Any]]:
    """The nest's result, and by how much each element may be off."""
    exact = all(np.issubdtype(tensor.dtype, np.integer) for tensor in tensors.values())
    number = {loop: at for at, loop in enumerate(nest.loops)}

    def summed(words: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
        # each factor as a view with an axis per loop, so that no product is kept
        factors: list[Any] = []
        for access in nest.inputs:
            tensor = words(tensors[access.tensor].astype(np.int64 if exact else np.float64))
            loops = [loop for loop in nest.loops if access.indexed_by(loop)]
            axes = [(loop, nest.sizes[loop], 1) for loop in loops]
            view = loop_view(tensor, access, nest.sizes, axes)
            factors += [view, [number[loop] for loop in loops]]
        kept = [number[loop] for subscript in nest.output for loop in subscript.loops]
        result: NDArray[Any] = np.einsum(*factors, kept)
        return result.reshape([span(s, nest.sizes) for s in nest.output])

    result = summed(lambda tensor: tensor)
    if exact:
        return result, np.zeros(result.shape)
    roundings = prod(nest.sizes[loop] for loop in nest.reduction_loops) + len(nest.inputs)
    unit = np.finfo(next(iter(tensors.values())).dtype).eps / 2
    return result, 2 * roundings * unit * summed(np.abs)


def loop_view(
    tensor: NDArray[Any],
    access: Access,
    extents: Mapping[str, int],
    axes: Iterable[tuple[str, int, int]],
) -> NDArray[Any]:
    """A tensor of loops of such extents, with an axis for each of some: loop, turns, and iterations
    per turn.

    Parameters
    ----------
    tensor : NDArray[Any]
        The tensor.
    access : Access
        How the nest indexes it.
    extents : mapping of str to int
        Extents of the loops, padded.
    axes : iterable of tuple of str, int, int
        Of each axis wanted its loop, its turns, and the iterations of one.

    Returns
    -------
    NDArray
        A view, shape (turns of each axis).
    """
    first = tuple(slice(reach_below(subscript, extents), None) for subscript in access)
    shape, strides = [], []
    for loop, turns, each in axes:
        steps = zip(access, tensor.strides, strict=True)
        shape.append(turns)
        strides.append(each * sum(s.coefficient(loop) * step for s, step in steps))
    return as_strided(tensor[first], shape, strides)


class _Array:
    """The tensors of a configuration, padded to whole tiles, and the places of all words."""

    def __init__(
        self, design: SystolicDesign, configuration: Mapping[str, int], sums: Sums
    ) -> None:
        nest, array = design.nest, design.array
        quantities = {
            name: Fraction(value) for name, value in {**design.extents, **configuration}.items()
        }
        self.sums, self.places = sums, ArrayAddresses(nest, array, quantities)
        self.groups = {group.name: group for group in array.packed_groups}
        self.modules = {module.name: (group, module) for group, module in array.modules}
        self.tensors = random_tensors(nest, design.data)
        kind = next(iter(self.tensors.values())).dtype
        #: What drains bring to DRAM, and the result in it.
        self.stored = np.zeros(prod(self.places.tensor_shape(nest.output)), kind)
        self.result = self.stored.reshape(self.places.tensor_shape(nest.output))[
            self.places.tensor_place(nest.output)
        ]
        self.simd, self.outputs = self.value(t2(nest.simd)), self.value(array.pe.outputs)
        self.accumulators = self.places.accumulators().addresses

    def value(self, expression: Expression) -> int:
        """A whole number of the configuration."""
        return self.places.value(expression)

    def lanes(self, access: Access, nest: AddressNest) -> Integers:
        """The elements of the words at the places of a nest in a tile: a row each."""
        stride = self.places.lane_stride(access)
        lanes = stride * np.arange(self.simd if stride else 1)
        return np.add.outer(nest.addresses, lanes)

    def packs(self, group: IOGroup, port: int) -> Integers:
        """The elements of the packs that a memory port of a group moves in the padded tensor, one
        after the other."""
        packs = np.add.outer(
            self.places.stream(group).addresses, self.places.in_pack(group).addresses
        )
        # of each tile a port has what its chain of modules moves
        tiles, ports = self.value(group.modules[-1].tiles), self.value(group.ports)
        return packs.reshape(tiles, ports, -1, packs.shape[1])[:, port].reshape(-1, packs.shape[1])

    def words(self, group: IOGroup, port: int) -> Words:
        """Words that a memory port sends of a tensor; zeros beyond the tensor's end."""
        padded = self.places.pad(self.places.access(group.tensor), self.tensors[group.tensor])
        sent: Words = padded.ravel()[self.packs(group, port)]
        return sent if group.sparse is None else Packages(group.sparse).packed(sent)

    def actor(self, module: str, port: int) -> Actor:
        """The actor of the processes of a module, of those at DRAM of the one at a port."""
        if module == "PE":
            return _Pe(self)
        group, stated = self.modules[module]
        if group.role is GroupRole.READ:
            words = iter(self.words(group, port) if stated.dram else ())
            if stated.dram and group.outer is not None:
                return _Filled(words, iter(self.packs(group, port)))
            if not stated.buffer:
                return _Source(words)
            access = self.places.access(group.tensor)
            lanes = self.lanes(access, self.places.feed(access))
            if group.sparse is not None:
                lanes = Packages(group.sparse).places(lanes)
            return _Buffer(words, lanes, doubled=group.double_buffered)
        stores = stated.dram and group.outer is not None
        sink = (_StoringModule if stores else _Sink)(self, group, port)
        return _Drain(self, group, sink) if stated.buffer else sink


class _Source(Actor):
    """A module without a buffer: sends what comes from DRAM, passes on the rest."""

    def __init__(self, words: Iterator[Words]) -> None:
        self._words = words

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        return taken if loop.reads else [self.sent(loop)]

    def sent(self, loop: Loop) -> Words:
        """The next words from DRAM, as many as the loop moves."""
        assert isinstance(loop.words, int)
        return np.stack([*islice(self._words, loop.words)])


class _Filled(_Source):
    """A module beside DRAM with a buffer: sends, as often as it likes, what it was filled with."""

    def __init__(self, words: Iterator[Words], packs: Iterator[Integers]) -> None:
        super().__init__(words)
        self._packs, self._room = packs, 0

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        assert isinstance(loop.words, int)
        if not loop.writes:
            self._room += loop.words
            return []
        words, elements = self.sent(loop), np.stack([*islice(self._packs, loop.words)])
        # elements beyond the buffer's room are none
        _, number = np.unique(elements, return_inverse=True)
        beyond = number.reshape(elements.shape) >= self._room * elements.shape[1]
        self._room = 0
        return [np.where(beyond, 0, words)]


class _Buffer(_Source):
    """A buffer of a tensor that is read."""

    def __init__(self, words: Iterator[Words], addresses: Integers, *, doubled: bool) -> None:
        super().__init__(words)
        self._addresses, self._doubled, self._fed = addresses, doubled, np.zeros(0)
        self._filled: list[Words] = []

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        if loop.reads and loop.writes:
            return taken
        if loop.writes:
            if self._filled and not self._doubled:  # a single one meets nobody
                self.meet()
            return [self._fed[self._addresses]]
        self._filled.append((taken[0] if loop.reads else self.sent(loop)).ravel())
        return []

    def meet(self) -> None:
        self._fed, self._filled = np.concatenate(self._filled), []


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
        reads = [group for group in array.groups.values() if group.role is GroupRole.READ]
        factors = [named.pop(read.name) for read in reads if read.sparse is None]
        for read in reads:
            if read.sparse is not None:
                packages, words = Packages(read.sparse), named.pop(read.name)
                factors = [packages.selected(words, other) for other in factors]
                factors.append(packages.values(words))
        products = prod(factors[1:], start=factors[0])
        if array.outputs == 1:
            products = products.sum(axis=1, keepdims=True, dtype=products.dtype)
        count = len(products)
        at = array.accumulators[(self._trip + np.arange(count)) % len(array.accumulators)]
        self._trip += count
        added = [products, *named.values()]
        for words in reversed(added) if array.sums is Sums.FIRST else added:
            np.add.at(self._sums, at, words)  # turn by turn
        produced = []
        for name in loop.writes:
            group = name.partition(" ")[0]
            if array.groups[group].role is GroupRole.READ:
                produced.append(taken[[name.partition(" ")[0] for name in loop.reads].index(group)])
            else:
                produced.append(self._sums[at])
                self._sums[at] = 0
        return produced


class _Sink(Actor):
    """A module without a buffer: passes sums on, the one at DRAM takes them to their places."""

    def __init__(self, array: _Array, group: IOGroup, port: int) -> None:
        self._array, self._packs = array, iter(array.packs(group, port))

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        return taken if loop.writes else self.write(taken[0])

    def write(self, words: Words) -> Sequence[Words]:
        """Packs to their places."""
        self._array.stored[[*islice(self._packs, len(words))]] = words
        return []


class _StoringModule(_Sink):
    """A module beside DRAM with a buffer: takes a tile, and then writes it."""

    _kept: Words = np.zeros(0)

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        if loop.reads:
            self._kept = taken[0]
            return []
        assert isinstance(loop.words, int)
        words, self._kept = np.split(self._kept, [loop.words])
        return self.write(words)


class _Drain(Actor):
    """Takes sums, adds up what comes for the same output, and sends tiles."""

    def __init__(self, array: _Array, group: IOGroup, sink: _Sink) -> None:
        access, sums = array.places.access(group.tensor), array.places.sums()
        self._sink, self._size = sink, prod(array.places.tile_shape(access))
        self._pack = array.value(group.pack)
        # where each accumulator's sums belong in the tile
        self._addresses = array.lanes(access, sums)
        self._empty = np.zeros((sums.count, array.outputs), array.result.dtype)
        self._sums: Words = self._empty
        self._whole: Words | None = None
        self._left: Words = np.zeros((0, self._pack), self._empty.dtype)

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        if loop.reads and loop.writes:
            return taken
        if loop.reads:
            self._sums = self._sums + taken[0]
            return []
        if not len(self._left):
            if self._whole is None:  # a drain meets nobody
                self.meet()
            tile = np.zeros(self._size, self._empty.dtype)
            tile[self._addresses] = self._whole
            self._whole, self._left = None, tile.reshape(-1, self._pack)
        assert isinstance(loop.words, int)
        words, self._left = np.split(self._left, [loop.words])
        return [words] if loop.writes else self._sink.write(words)

    def meet(self) -> None:
        self._whole, self._sums = self._sums, self._empty
