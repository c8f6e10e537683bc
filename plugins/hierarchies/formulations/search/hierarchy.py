"""A nest on an architecture as numbers: which loop moves which tensor, who keeps what, and what is
to be summed up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, lcm, prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.number_systems import ceilings
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.mapping import Order
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class MovedTensor:
    """A tensor: the loops that move it, and its ranks."""

    name: str
    """Its name."""
    output: bool
    """Whether it is written."""
    moved: tuple[bool, ...]
    """Whether each loop moves its tile."""
    ranks: tuple[tuple[tuple[int, int], ...], ...]
    """Per rank that has any, loops with their coefficients."""

    @cached_property
    def windows(self) -> dict[int, tuple[int, int]]:
        """Rank and coefficient of the loops along which neighbouring tiles may overlap."""
        return {
            d: (rank, c)
            for rank, terms in enumerate(self.ranks)
            if len(terms) > 1
            for d, c in terms
        }

    @property
    def window_ranks(self) -> tuple[int, ...]:
        """The ranks along which tiles may overlap."""
        return tuple(rank for rank, terms in enumerate(self.ranks) if len(terms) > 1)


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh inside a level."""

    level: int
    """The level."""
    x: int
    """Instances along X from the outermost level up to the inner side of this mesh."""
    y: int
    """Instances along Y, likewise."""
    own: tuple[int, int]
    """Instances inside one of the level."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is to be small: words of some levels, weighted.

    What *adds up over instances*, such as energy, grows with lanes outside; what is counted of one
    instance does not.
    """

    name: str
    """The name of a metric, or of what bounds its time."""
    adds: bool
    """Whether it adds up over instances."""
    reads: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Weights of words by level and tensor: read, filled and updated. Whole numbers."""
    fills: Mapping[tuple[int, int], int] = field(default_factory=dict)
    updates: Mapping[tuple[int, int], int] = field(default_factory=dict)
    scale: Fraction = Fraction(1)
    """The metric is the count divided by this."""
    step: int = 0
    """The count of a multiplier's step beside words."""
    rate: Fraction | None = None
    """Where the count makes cycles: how many words a cycle."""


class Hierarchy:
    """A nest of loops on an architecture whose tensors are kept where its levels say; loops of one
    trip are left out."""

    def __init__(
        self,
        nest: LoopNest,
        architecture: Architecture,
        orders: Mapping[str, tuple[Order, ...]],
        *,
        divides: bool,
        ending: Collection[str] = (),
    ) -> None:
        self.nest, self.architecture = nest, architecture
        self.divides = (
            divides  #: Whether factors divide extents; else loops may run up to about twice as long
        )
        #: What is counted; whoever searches says what. The first ones have bounds.
        self.counts: tuple[Count, ...] = ()
        self.bounded = range(0)
        #: The counts that labels are not compared by.
        self.relaxed: frozenset[int] = frozenset()
        #: What an instance of every level leaks a cycle, in whole numbers, a row for each metric
        #: that counts it.
        self.leaks: tuple[tuple[int, ...], ...] = ()
        #: Energies that are larger are of no interest; they may be rounded.
        self.within = inf
        #: One of one trip is left where no loop has more: matrices have a row for each.
        self.loops = tuple(name for name, extent in nest.extents if extent > 1) or nest.loops[:1]
        place = {name: number for number, name in enumerate(self.loops)}
        self.extents = tuple(nest.sizes[name] for name in self.loops)
        self.tensors = tuple(
            MovedTensor(
                access.tensor,
                access.tensor == nest.output.tensor,
                tuple(access.indexed_by(name) for name in self.loops),
                tuple(tuple((place[n], c) for n, c in rank.terms if n in place) for rank in access),
            )
            for access in nest.accesses
        )
        #: The loops that end with what is left outside the outermost mesh.
        self.ending = tuple(place[name] for name in self.loops if name in ending)
        self.levels = architecture.levels
        #: What words of levels, and values in them, are whole numbers of.
        self.units = tuple(units(level, nest) for level in self.levels)
        kept = [level.kept([t.name for t in self.tensors]) for level in self.levels]
        self.keeps = tuple(tuple(t.name in names for t in self.tensors) for names in kept)
        self.output = next(v for v, tensor in enumerate(self.tensors) if tensor.output)
        #: Per level, the orders that it offers: loops, innermost first.
        self.orders = tuple(
            tuple(
                tuple(place[name] for name in reversed(order) if name in place)
                for order in orders[level.name]
            )
            for level in self.levels
        )

    @cached_property
    def meshes(self) -> tuple[Mesh, ...]:
        """All meshes, innermost first."""
        outwards = []
        for number, level in reversed(list(enumerate(self.levels))):
            if (mesh := self.architecture.inner_mesh(number)) is not None:
                outwards.append(
                    Mesh(number, *mesh, (mesh[0] // level.mesh_x, mesh[1] // level.mesh_y))
                )
        return tuple(outwards)

    def least_words(self, count: Count, parent: int | None, tensor: int) -> int:
        """Least count of a level that has a tensor without windows for giving, or taking, all of it
        once.

        Parameters
        ----------
        count : Count
            The level's count.
        parent : int or None
            The level outside of it that keeps the tensor; None where there is none.
        tensor : int
            The number of the tensor.
        """
        whole = self.tensors[tensor]
        weights = count.updates if whole.output else count.reads
        each = 0 if parent is None else weights.get((parent, tensor), 0)
        return each * prod(n for n, moved in zip(self.extents, whole.moved, strict=True) if moved)

    @cached_property
    def overlapping(self) -> frozenset[int]:
        """The loops along which tiles of some tensor may overlap."""
        return frozenset().union(*(tensor.windows for tensor in self.tensors))

    @property
    def ends(self) -> int:
        """The innermost level whose loops may end with what is left."""
        return self.meshes[-1].level if self.meshes else len(self.levels) - 1

    def top(self, tensor: int) -> int:
        """The outermost level that keeps a tensor."""
        return next(number for number, keeps in enumerate(self.keeps) if keeps[tensor])

    def parent(self, level: int, tensor: int) -> int | None:
        """The next level around one, or the multipliers, that keeps a tensor."""
        return next(
            (number for number in reversed(range(level)) if self.keeps[number][tensor]), None
        )

    def room(self, level: int) -> tuple[tuple[tuple[int, ...], int], ...]:
        """The room for tiles of a level: tensors with the words that they may fill together."""
        rooms = []
        part, names = self.levels[level], [tensor.name for tensor in self.tensors]
        resident = {
            names.index(tensor): self.units[level].words(tensor, words)
            for tensor, words in part.resident
        }
        kept = [v for v, keeps in enumerate(self.keeps[level]) if keeps]
        shared = [(kept, part.words)] if part.words is not None else []
        for together, words in (
            *shared,
            *(([names.index(t)], words) for t, words in part.tensor_words),
        ):
            tiles = tuple(v for v in together if v in kept and v not in resident)
            if tiles or any(v in resident for v in together):
                rooms.append(
                    (tiles, part.usable(words) - sum(resident.get(v, 0) for v in together))
                )
        return tuple(rooms)

    def filled(self, level: int, tensor: int, words: Floats) -> Floats:
        """Words of a level that tiles of a tensor fill.

        Parameters
        ----------
        level : int
            The number of the level.
        tensor : int
            The number of the tensor.
        words : array of float
            Values of the tensor, by tile.
        """
        filled: Floats = self.units[level].words(self.tensors[tensor].name, words)
        return filled

    def _weights(self, level: int) -> tuple[int, ...]:
        """Units of a word of each tensor in a level."""
        return tuple(self.units[level].values[tensor.name] for tensor in self.tensors)

    def share(self, level: int, tensor: int) -> Fraction:
        """Accesses of a level that a word of a tensor costs at least."""
        return self.levels[level].share * self.units[level].share(self.tensors[tensor].name)

    def shares(self, level: int) -> bool:
        """Whether accesses of a level are of several words, of parts of them, or of several
        instances."""
        return self.levels[level].share < 1 or self.units[level].word > 1

    # -- counts --------------------------------------------------------------------------

    @cached_property
    def energy_scale(self) -> int:
        """The least number that makes energies of words whole (per pJ)."""
        costs = [self.architecture.compute.energy]
        for number, level in enumerate(self.levels):
            shares = {Fraction(1), *(self.share(number, v) for v in range(len(self.tensors)))}
            costs += (pj * share for pj in level.prices.values() for share in shares)
        return lcm(*(cost.denominator for cost in costs))

    def energy(self, only: int | None = None, *, shared: bool = True) -> Count:
        """Energy of the accesses of all levels, or of one; without leaks and multipliers.

        Parameters
        ----------
        only : int, optional
            The number of the level.
        shared : bool, optional
            Whether levels count whose words or instances share accesses.
        """
        parts: tuple[dict[tuple[int, int], int], ...] = ({}, {}, {})
        for number, level in enumerate(self.levels):
            if (only is None or number == only) and (shared or not self.shares(number)):
                for weights, cost in zip(parts, level.prices.values(), strict=True):
                    if cost:
                        weights |= {
                            (number, v): int(cost * self.share(number, v) * self.energy_scale)
                            for v, keeps in enumerate(self.keeps[number])
                            if keeps
                        }
        name = "energy" if only is None else f"{self.levels[only].name}.energy"
        step = 0 if only is not None else int(self.architecture.compute.energy * self.energy_scale)
        return Count(name, True, parts[0], parts[1], parts[2], Fraction(self.energy_scale), step)

    def waits(self) -> tuple[Count, ...]:
        """The words that the bandwidths of levels make wait, in units: their scale is units a
        cycle."""
        counts = []
        for number, level in enumerate(self.levels):
            weights = self._weights(number)
            kept = {(number, v): weights[v] for v, keeps in enumerate(self.keeps[number]) if keeps}
            for what, rate, shared in level.rates:
                own: dict[str, Any] = dict.fromkeys(shared, kept)
                rate = rate * self.units[number].word
                counts.append(Count(f"{number} {what}", False, **own, rate=rate))
        return tuple(counts)

    def words(self, level: int, tensor: int, what: str) -> Count:
        """Words of a tensor that an instance of a level reads, or is filled or updated with.

        Parameters
        ----------
        level, tensor : int
            Their numbers.
        what : str
            ``reads``, ``fills`` or ``updates``.
        """
        name = f"{self.levels[level].name}.{self.tensors[tensor].name}.{what}"
        own: dict[str, Any] = {what: {(level, tensor): 1}}
        return Count(name, False, **own)

    @property
    def largest(self) -> float:
        """No number that labels hold is larger: every level counts at most its weight of each
        multiply-accumulate, a whole access where bounds count a share of one. Energies beyond
        `within` need not be exact."""
        steps = prod(float(extent if self.divides else 2 * extent - 2) for extent in self.extents)
        holes = prod(c for tensor in self.tensors for terms in tensor.ranks for _, c in terms)
        leaking = self.architecture.compute.instances * max(map(sum, self.leaks), default=0)
        most = [2 * steps * holes, float(leaking)]
        for count in self.counts:
            weights = [Fraction(count.step)]
            for part in (count.reads, count.fills, count.updates):
                for (level, v), weight in part.items():
                    filled = part is not count.fills or level != self.top(v)
                    if filled and (part is not count.updates or v == self.output):
                        least = min(self.share(level, v), self.levels[level].share)
                        weights.append(weight / least)
            own = most[0] * float(sum(weights))
            most.append(min(own, self.within) if count.adds else own)
        return float(max(most))

    def gross(self, count: Count, least: Fraction) -> float:
        """No number of an energy is larger in a mapping whose energy is at most so much: words of
        the output that are taken for the first time are counted, and subtracted."""
        output = self.tensors[self.output]
        if any(len(terms) > 1 for terms in output.ranks):
            return inf
        words = prod(
            extent if self.divides else 2 * extent - 2
            for extent, moved in zip(self.extents, output.moved, strict=True)
            if moved
        )
        first = sum(
            self.levels[level].instances * weight * words
            for part in (count.reads, count.fills)
            for (level, v), weight in part.items()
            if v == self.output
        )
        return float(least * count.scale + first)

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Floats that hold all these numbers exactly, or the best there are."""
        return np.float64 if self.largest < 2.0**53 else np.longdouble

    @property
    def exact(self) -> bool:
        """Whether the floats of labels hold the values exactly."""
        return bool(self.largest < 2.0 ** (np.finfo(self.dtype).nmant + 1))

    def counted_at(self, level: int) -> list[int]:
        """The counts to which words of a level add."""
        numbers = []
        for number, count in enumerate(self.counts):
            if any(
                at == level
                for weights in (count.reads, count.fills, count.updates)
                for at, _ in weights
            ):
                numbers.append(number)
        return numbers

    def lean(self, extents: Floats, widest: Floats, loop: int) -> Mask:
        """A mask of the labels that pad a loop no more than they must: no factor could be less with
        as many trips left.

        Parameters
        ----------
        extents : ndarray
            Iterations that the factors cover.
        widest : ndarray
            The largest factor of each label.
        loop : int
            The loop.
        """
        extent = self.extents[loop]
        less = np.maximum(extents - extents / widest, 1)
        lean: Mask = ceilings(extent, less) > ceilings(extent, extents)
        lean |= widest == 1
        return lean
