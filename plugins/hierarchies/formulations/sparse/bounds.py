"""Lower bounds of what mappings of sparse tensors cost, for many of them at once.

An action is done no less often than on dense tensors times the least share of words that are left.
A stored word is not zero: their share of a tile is that of the tensor, whatever the tile. A read is
saved where a tile that it would meet is empty, which is less likely the larger that is; it is no
smaller than what lies inside the level that the read feeds. Only metadata that ranks have in any
order of loops count.

Loops may be undecided. Then a tensor that one indexes moves all its iterations, another one none
more: they are lanes of the innermost mesh to levels outside it, and innermost in time to levels
inside; tiles have one of them. Of windows, where tiles share words, they are left out.

`SparseModel` computes in doubles, which err by far less than bounds are lowered here (`SHARES`);
logarithms of factorials by some units of their last place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import ceil, exp, lgamma, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import COMPLEMENTS, LOG_FACTORIALS, SHARES
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.counts import Number
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.sparse.actions import KINDS, prices_of
from ithaca.plugins.hierarchies.formulations.sparse.parts import SparseLevel, Sparsity
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.affine import Access
from ithaca.workloads.densities import Banded, Density, none_of

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace

#: Half a unit of the sixth digit, to which the tool rounds shares.
DIGIT = 5e-7

#: Factors of decided loops by slot and loop.
Factors = Mapping[tuple[Slot, str], Any]


class LeastModel(TimeloopModel):
    """Lower bounds of the costs of mappings, of which some loops are decided.

    Parameters
    ----------
    design : MappingSpace
        Whose mappings they are.
    factors : mapping
        Arrays of factors of the decided loops.
    inside : callable
        Of a level, a loop and another: whether the first lies inside, 1 or 0; 0 where that is
        open.
    keeps : tuple of mappings of str to int
        Whether every level keeps a tensor, outermost level first.
    """

    def __init__(
        self,
        design: MappingSpace,
        factors: Factors,
        inside: Callable[[int, str, str], Any],
        keeps: tuple[Mapping[str, int], ...],
    ) -> None:
        nest, levels = design.nest, design.architecture.levels
        decided = {loop for _, loop in factors}
        shared = {loop for each in nest.accesses for loop in _windows(each)}
        open_ = {loop for loop in design.moving if loop not in decided}
        meshes = [p for p in range(len(levels)) if Slot(levels[p].name, "x") in design.slots]

        def dense(place: Slot | None) -> TimeloopModel:
            """The model with the undecided loops in a slot, or none."""

            def factor(slot: Slot, loop: str) -> Any:
                if loop in decided:
                    return factors[slot, loop]
                return nest.sizes[loop] if slot == place and loop not in shared else 1

            numbers = design.numbers_of(NUMPY, factor, inside, keeps, design.most_lanes)
            return TimeloopModel(design.architecture, nest, numbers)

        self._slots, self._factors = design.slots, factors
        least = dense(None)
        super().__init__(design.architecture, nest, least._mapping)
        sparsity = design.architecture.sparsity
        assert isinstance(sparsity, Sparsity)  # as designs are
        assert not isinstance(nest.densities, str)
        self._sparsity, self._complete = sparsity, not open_
        self._parts = [sparsity.levels.get(level.name, SparseLevel()) for level in levels]
        self._known = {
            tensor: own.of(tuple(self._accesses[tensor].sides(nest.sizes)))
            for tensor, own in nest.densities
        }
        self._divided = design.options.divisors_only
        self._timed = frozenset(p for p in range(len(levels)) if meshes and p > meshes[-1])
        if self._complete:
            self._dense = [least] * len(levels)
        else:
            laned = dense(Slot(levels[meshes[-1]].name, "x") if meshes else Slot(levels[-1].name))
            timed = dense(Slot(levels[-1].name))
            self._dense = [timed if p in self._timed else laned for p in range(len(levels))]
        reduced = (d for d in open_ - shared if not nest.output.indexed_by(d))
        self._begun = prod(nest.sizes[d] for d in reduced)
        self._whole_known = self._complete or self._divided
        self._extents = {
            loop: self.extent(0, loop) if self._complete else size for loop, size in nest.extents
        }

    def unsuited(self) -> Any:
        """A mask of mappings whose loops are more than formats have ranks for, each for one."""
        unsuited: Any = False
        for tensor, access in self._accesses.items():
            places = self._places(tensor)
            for place, inner in zip(places, (*places[1:], len(self._levels)), strict=True):
                stored = self._parts[place].formats.get(tensor)
                if stored is None or any(rank.flattens for rank in stored.ranks):
                    continue
                ranks, taken = len(stored.ranks), 0
                within: Any = False
                several = merged = self._one * 0
                for loop in access.loops:
                    trips = [
                        self._factors.get((slot, loop), 1)
                        for level in self._levels[place:inner]
                        for slot in (Slot(level.name), Slot(level.name, "y"), Slot(level.name, "x"))
                        if slot in self._slots
                    ]
                    several = several + sum(np.minimum(n - 1, 1) for n in trips)
                    # a loop takes up those of its name inside a level that is not tiled
                    covered = np.minimum(self.extent(inner, loop) - 1, 1)
                    merged = merged + covered * (np.asarray(trips[-1]) == 1)
                if inner < len(self._levels):
                    within = stored.compressed & (np.asarray(self.tile(inner, tensor)) > 1)
                    other = self._parts[inner].formats.get(tensor)
                    taken = 1 if other is None else len(other.ranks)
                more = np.where(within, several + taken, several + merged) > ranks
                unsuited = unsuited | more
        return unsuited

    # -- shares --------------------------------------------------------------------------

    def _density(self, tensor: str) -> Density:
        return self._known.get(tensor, Density(1.0))

    @remembered
    def _words(self, tensor: str) -> Any:
        """Words of a tensor, at least."""
        return self._accesses[tensor].box(self._extents)

    def _share(self, tensor: str) -> Any:
        """The share of words that are not zero, at least."""
        density = self._density(tensor)
        share: Any = density.share
        if isinstance(density, Banded) and not self._divided:
            share = 0.0  # padded, there is less of it
        if density.uniform and self._whole_known:
            words = np.asarray(self._words(tensor), dtype=float)
            share = np.ceil(density.share * words) / words
        return np.maximum(share - COMPLEMENTS, 0.0) * (1 - SHARES)

    def _filled(self, tensor: str, tile: Any) -> Any:
        """The probability that a tile of so many words, or more, has one that is not zero."""
        density = self._density(tensor)
        if isinstance(density, Banded):  # of tiles no fewer than of words
            return self._share(tensor)
        if not density.uniform:
            return np.minimum(tile * density.share, 1.0) * (1 - SHARES)
        if not self._whole_known:
            return self._share(tensor)
        tiles, words = np.broadcast_arrays(tile, self._words(tensor))
        pairs, places = np.unique(tiles + 1j * words, return_inverse=True)
        each = [_filled(density.share, int(pair.real), int(pair.imag)) for pair in pairs]
        return np.array(each)[places].reshape(tiles.shape)

    def _places(self, tensor: str) -> list[int]:
        return [n for n in range(len(self._levels)) if self.keeps(n, tensor)]

    @remembered
    def _saved(self, place: int, tensor: str) -> Any:
        """The share of reads that a level saves, at most."""
        saved: Any = 0.0
        for outer in range(len(self._levels)):
            for saving in self._parts[outer].savings:
                for target, others in saving.options:
                    homes = [n for n in self._places(target) if n <= outer]
                    if target == tensor and homes[-1] == place:
                        saved = np.maximum(saved, self._unread(place, tensor, others))
        return saved

    def _unread(self, place: int, tensor: str, others: tuple[str, ...]) -> Any:
        """The probability that one of the others is empty where a read meets it, at most."""
        inner = min((n for n in self._places(tensor) if n > place), default=len(self._levels))
        target, met = self._accesses[tensor], 1.0
        for name in others:
            other = self._accesses[name]
            both = [d for d in other.loops if target.indexed_by(d) and self._nest.sizes[d] > 1]
            alone = len(both) > 1  # of several that move both, the tool divides by each again
            extents = {
                d: 1 if alone and d in both else self.extent(inner, d) for d in self._nest.loops
            }
            met = met * self._filled(name, other.box(extents))
        return 1 - met

    def _around(self, place: int, tensor: str) -> Any:
        """The share that levels outside one save, at most."""
        around: Any = 0.0
        for outer in range(place):
            around = np.maximum(around, self._saved(outer, tensor))
        return around

    def _left(self, place: int, tensor: str, kind: str, *, saved: bool) -> Any:
        """The share of words that come to a level, at least; ``saved``: without those that it
        saves."""
        left = 1 - self._around(place, tensor)
        if saved and kind != "fill":
            left = np.minimum(left, 1 - self._saved(place, tensor))
        return np.maximum(left - COMPLEMENTS, 0.0)

    def _ways(self, place: int, tensor: str) -> set[str]:
        """The ways in which a level may save reads of a tensor."""
        return {
            saving.kind
            for part in self._parts[place:]
            for saving in part.savings
            if any(target == tensor for target, _ in saving.options)
        }

    # -- counts --------------------------------------------------------------------------

    def _moved(self, place: int, tensor: str, kind: str) -> Any:
        """Words that dense tensors move, an instance, at least."""
        model, output = self._dense[place], self._is_output(tensor)
        words = getattr(model, f"{kind}s")(place, tensor)
        if kind == "read" and output and place in self._timed:  # lanes begin partial sums
            begun = model.first(place, tensor) * self._begun
            words = model.updates(place, tensor) - begun
        return np.maximum(words, 0.0)

    def _stored(self, place: int, tensor: str) -> bool:
        return tensor in self._parts[place].formats

    @remembered
    def _count(self, place: int, tensor: str, kind: str, *, saved: bool = True) -> Any:
        """Words that an instance moves, at least, be it one whose tile has none; ``saved``: not
        those that are gated or skipped."""
        outer, share = [n for n in self._places(tensor) if n < place], 1.0
        if self._stored(place, tensor):
            share = self._share(tensor)
        elif outer and self._stored(outer[-1], tensor):
            share = self._filled(tensor, self.tile(place, tensor))
        left = share * self._left(place, tensor, kind, saved=saved)
        words = self._moved(place, tensor, kind) * left * (1 - SHARES)
        if saved and kind == "read" and self._is_output(tensor):  # what is saved is rounded up
            words = np.maximum(words - np.any(self._saved(place, tensor)), 0.0)
        return words

    def reads(self, level: int, tensor: str) -> Number:
        return self._held(level, tensor, self._count(level, tensor, "read"))

    def fills(self, level: int, tensor: str) -> Number:
        return self._held(level, tensor, self._count(level, tensor, "fill"))

    def updates(self, level: int, tensor: str) -> Number:
        return self._held(level, tensor, self._count(level, tensor, "update"))

    def capacity(self, level: int, tensor: str) -> Number:
        tile, density = self.tile(level, tensor), self._density(tensor)
        if self._stored(level, tensor):
            if density.uniform:
                words = np.asarray(self._words(tensor), dtype=float)
                tile = np.minimum(tile, np.ceil(density.share * words))
            else:
                tile = np.ceil(tile * self._share(tensor))
        return self._held(level, tensor, tile)

    @property
    def computes(self) -> Number:
        """Multiplications that are done."""
        first, second = (each.tensor for each in self._nest.inputs)
        return self._total_computes * self._done(first, second, done=True)

    @property
    def _total_computes(self) -> Any:
        dense = self._dense[0]
        return np.maximum(dense.operations * dense.pes, float(self._nest.operations))

    def _done(self, first: str, second: str, *, done: bool) -> Any:
        """The share of multiplications that are done, or else done or gated, at least."""
        levels = len(self._levels)
        left = [np.maximum(1 - self._around(levels, t) - COMPLEMENTS, 0.0) for t in (first, second)]
        shares = [self._share(t) for t in (first, second)]
        if self._sparsity.skips or (self._sparsity.gates and done):
            # an operand is a word at least as often as a word is none that the other saves
            either = [
                np.minimum(
                    np.maximum(share - DIGIT, 0.0) * np.maximum(rest - DIGIT, 0.0) / (rest + DIGIT),
                    rest,
                )
                for share, rest in zip(shares, left[::-1], strict=True)
            ]
            return either[0] * either[1] * (1 - SHARES)
        none = (1 - np.maximum(shares[0] - DIGIT, 0)) * (1 - np.maximum(shares[1] - DIGIT, 0))
        marked = all(self._stored(self._places(t)[-1], t) for t in (first, second))
        return left[0] * left[1] * (1 - none * marked) * (1 - SHARES)

    @property
    def steps(self) -> Number:
        first, second = (each.tensor for each in self._nest.inputs)
        share, trips = self._done(first, second, done=False), self._dense[0].operations
        return np.maximum(trips, self._total_computes / self._compute.instances) * share

    def moved(self, place: int, counts: Sequence[str]) -> Number:
        spread = 1.0 if self._complete else self.instances(place) / self._levels[place].instances
        words = (
            self._count(place, t, kind, saved="skipped" in self._ways(place, t))
            for t in self._kept(place)
            for kind in (count.removesuffix("s") for count in counts)
        )
        return sum(words, self._one * 0.0) * spread

    @remembered
    def level_energy(self, place: int) -> Number:
        level, part = self._levels[place], self._parts[place]
        prices, energy = prices_of(level, part), self._one * 0.0
        working = self.instances(place)
        if level.cluster > 1:
            charged = level.charged
            working = (
                np.minimum(working, charged)
                if self._complete
                else working * (charged / level.instances)
            )
        for tensor in self._kept(place):
            # of rows as few are accessed as tiles have words at all (`SparseModel._rows`)
            several = level.block > 1 and self._stored(place, tensor)
            rows = self._filled(tensor, self.tile(place, tensor)) if several else 1.0
            rows = np.minimum(rows, 1.0) / level.block
            for kind in KINDS:
                words, price = self._count(place, tensor, kind), prices.get(kind, 0.0)
                energy = energy + words * (price * rows)
                ways = self._ways(place, tensor)
                least = min([price, *(prices.get(f"{how}_{kind}", 0.0) for how in ways)])
                rest = self._count(place, tensor, kind, saved=False) - words
                energy = energy + np.maximum(rest, 0.0) * (least * rows) * bool(ways)
                if part.width and self._stored(place, tensor):
                    bits = words * self._bits(place, tensor, kind)
                    energy = energy + bits * (prices.get(f"metadata_{kind}", 0.0) / part.width)
        energy = energy * working
        if level.leak:
            energy = energy + float(level.leak) * self.latency
        return energy

    def _bits(self, place: int, tensor: str, kind: str) -> Any:
        """Bits of metadata for each stored word, at least.

        The innermost rank with loops has an entry for each word of its fibers. Those that have
        none are at least e⁻¹ of all where words are anywhere; and of offsets the last are none.
        """
        ranks = self._parts[place].formats[tensor].ranks
        loops = [d for d in self._accesses[tensor].loops if self._nest.sizes[d] > 1]
        again = kind == "read" and np.any(self._around(place, tensor))
        packed = next((n for n, rank in enumerate(ranks) if rank.format == "UOP"), len(ranks))
        runs = len(ranks) > 1 and any(rank.format == "RLE" for rank in ranks)
        banded = isinstance(self._density(tensor), Banded)
        if _windows(self._accesses[tensor]) or banded or again or runs or not packed:
            return 0.0
        bits: float = min(rank.metadata_bits for rank in ranks[:packed])
        bits *= 1 - exp(-1) if self._density(tensor).uniform else 1
        if packed == len(ranks):
            return bits
        if any(rank.flattens for rank in ranks):
            return 0.0
        several = sum((np.minimum(self.extent(place, d) - 1, 1) for d in loops), self._one * 0)
        return bits * (several > len(ranks) - packed)

    @property
    def compute_energy(self) -> Number:
        return self.computes * float(self._compute.energy)


def _windows(access: Access) -> list[str]:
    """Loops along which a tensor has windows: tiles of it share words, or have gaps."""
    ranks = (s for s in access if len(s.terms) > 1 or any(c > 1 for _, c in s.terms))
    return [loop for rank in ranks for loop in rank.loops]


@lru_cache(1 << 16)
def _filled(share: float, tile: int, words: int) -> float:
    """The probability that a tile has a word that is not zero, lowered by the rounding of
    logarithms of factorials."""
    error = SHARES + LOG_FACTORIALS * lgamma(words + 1)
    return max(1 - none_of(tile, words, ceil(share * words)) * (1 + error), 0.0)
