"""Costs of a mapping of sparse tensors, as Timeloop's sparse modelling has them
(`docs/evaluating-mappings.md`).

Probabilities are doubles, and words are rounded where the tool rounds them; so is what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, prod

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.counts import CapacityRule, Number
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.sparse.actions import KINDS, Held, prices_of, propagate
from ithaca.plugins.hierarchies.formulations.sparse.formats import UnsuitedError, ranked, units
from ithaca.plugins.hierarchies.formulations.sparse.loops import loops_of
from ithaca.plugins.hierarchies.formulations.sparse.parts import SparseLevel, Sparsity
from ithaca.plugins.hierarchies.formulations.sparse.savings import unread
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.affine import Access
from ithaca.workloads.densities import Banded, Density, Sides
from ithaca.workloads.nest import LoopNest

#: Tiles of fewer rows than this, by words of a row and tenths of their words that are not zero,
#: fill rows one by one; of larger ones rows are full (`include/model/buffer.hpp`).
_ROWS: Mapping[int, tuple[int, ...]] = {
    2: (251, 125, 84, 63, 51, 42, 36, 32, 28, 1),
    4: (375, 188, 125, 94, 75, 63, 54, 47, 42, 1),
    8: (438, 219, 146, 110, 88, 73, 63, 55, 49, 1),
    16: (469, 235, 157, 118, 94, 79, 67, 59, 52, 1),
    32: (485, 243, 162, 122, 97, 81, 70, 61, 52, 1),
}


class SparseModel(TimeloopModel):
    """Costs of a mapping of a design onto an architecture that knows of sparse tensors.

    Raises `UnsuitedError` if its loops do not suit the formats, and `InputError` if something is
    not modelled.

    Parameters
    ----------
    design : MappingSpace
        The design.
    mapping : Mapping
        The mapping.
    kind : type, optional
        The model of the same tensors without zeros.
    """

    def __init__(
        self,
        design: MappingSpace,
        mapping: LoopMapping,
        kind: type[TimeloopModel] = TimeloopModel,
    ) -> None:
        nest, sparsity = design.nest, design.architecture.sparsity
        check_modelled(nest, design.architecture)
        self._dense = _dense_model(design, mapping, kind)
        super().__init__(design.architecture, nest, self._dense._mapping)
        assert isinstance(sparsity, Sparsity)  # as callers ask
        assert not isinstance(nest.densities, str)
        self._sparsity, self._loops = sparsity, loops_of(nest, mapping)
        self._parts = [sparsity.levels.get(level.name, SparseLevel()) for level in self._levels]
        known = dict(nest.densities)
        self._densities = {
            tensor: known.get(tensor, Density(1.0)).of(self._tile(access, 0))
            for tensor, access in self._accesses.items()
        }
        self._stored: dict[str, dict[int, Held]] = {
            tensor: self._held_by_level(access) for tensor, access in self._accesses.items()
        }
        for how in ("gated", "skipped"):
            for place in reversed(range(len(self._levels))):
                for saving in self._parts[place].savings:
                    if saving.kind == how:
                        options = [self._option(place, *option) for option in saving.options]
                        _, own, share = max(options[::-1], key=lambda option: option[0])
                        if own.saving is None or own.saving[1] < share:
                            own.saving = how, share
        self._shares = {t: propagate([*held.values()]) for t, held in self._stored.items()}

    def _tile(self, access: Access, place: int) -> Sides:
        """The sides of a level's tile."""
        return tuple(map(int, access.sides(self._loops[place][-1].inside)))

    # -- formats -------------------------------------------------------------------------

    def _held_by_level(self, access: Access) -> dict[int, Held]:
        """A tensor in the levels that keep it, outermost first."""
        tensor, levels = access.tensor, dict[int, Held]()
        density, ranks, inner = self._densities[tensor], None, len(self._levels)
        places = [n for n in range(inner) if self.keeps(n, tensor)]
        for number, place in reversed([*enumerate(places)]):
            stored = self._parts[place].formats.get(tensor)
            sides, instances = self._tile(access, place), float(self._dense.instances(place))
            tile = prod(sides)
            compressed = stored is not None and stored.compressed
            if inner < len(self._levels):
                covered = self._loops[inner][-1].inside
                within = compressed and levels[inner].tile > 1
                self._check(tensor, place, inner, within)
            else:
                covered, within = dict.fromkeys(self._nest.loops, 1), False
            own = [loop for n in range(inner - 1, place - 1, -1) for loop in self._loops[n]]
            ranks = ranked(access, stored, own, ranks if within else None, covered)
            # where the level around has metadata, tiles without words stay there
            sifted = number and tensor in self._parts[places[number - 1]].formats
            filled = 1 - density.empty(sides) if sifted else 1.0
            share = density.mean(sides) / filled / tile if filled else 0.0
            dense = {k: int(getattr(self._dense, f"{k}s")(place, tensor)) for k in KINDS}
            held = Held(
                dense,
                self._is_output(tensor),
                sides,
                density.most(sides) if stored else tile,
                share,
                instances * filled,
                stored is not None,
                compressed,
            )
            if stored is not None:
                held.bits = [(rank.metadata_bits, rank.payload_bits) for rank in stored.ranks]
                totals = [[0.0, 0.0] for _ in stored.ranks]
                for n, p in density.occupancies(sides):
                    if n or not sifted:
                        for rank, each in zip(
                            totals, units(access, stored, ranks, density, sides, n), strict=True
                        ):
                            rank[:] = (a + p / filled * b for a, b in zip(rank, each, strict=True))
                held.units = totals
                most = units(access, stored, ranks, density, sides, held.most)
                held.most_bits = ceil(
                    sum(a * m + b * n for (a, b), (m, n) in zip(most, held.bits, strict=True))
                )
            held.begin()
            levels[place], inner = held, place
        return dict(reversed(levels.items()))

    def _check(self, tensor: str, place: int, inner: int, within: bool) -> None:
        """Refuse formats of two levels that do not fit each other."""
        own, other = (self._parts[n].formats.get(tensor) for n in (place, inner))
        packed, part = other is not None and other.compressed, self._parts[inner]
        if own is None or not own.compressed:
            if packed:
                raise UnsuitedError(f"{tensor} would be compressed on chip, which is not modelled")
            return
        if not packed and not part.decompresses:
            raise UnsuitedError("decompression (from parent level) needed but not supported")
        if not packed and not part.compresses and self._is_output(tensor):
            raise UnsuitedError("compression (to parent level) needed but not supported")
        if packed and other is not None and len(own.ranks) < len(other.ranks):
            raise UnsuitedError("runtime partition needed but not supported (NOT IMPLEMENTED YET)")
        theirs = [rank.format for rank in other.ranks] if other else [""]
        ours = [rank.format for rank in own.ranks[: len(theirs)]]
        if within and (len(ours) < len(theirs) or (packed and ours != theirs)):
            level = self._levels[inner].name
            raise UnsuitedError(f"pretiling for {tensor} required, with ranks as {level} has")

    # -- savings -------------------------------------------------------------------------

    def _option(self, place: int, tensor: str, others: Sequence[str]) -> tuple[float, Held, float]:
        """The energy that a way of saving saves (pJ), the tensor at the level where it saves, and
        the share of its words that are saved."""
        held = self._stored[tensor]
        home = max(n for n in held if n <= place)
        inner = min((n for n in held if n > home), default=len(self._levels))
        level, access = self._levels[home], self._accesses[tensor]
        share = unread(
            access,
            [self._accesses[other] for other in others],
            [self._loops[n] for n in range(inner - 1, home - 1, -1)],
            inner == len(self._levels),
            level.block,
            self._densities,
        )
        per_word = self._parts[home].word_bits // level.word_bits
        sent = sum(map(sum, held.get(inner, held[home]).units)) * per_word
        moved = held[home].density * held[home].tile + sent
        return float(level.read_energy) / level.block * moved * share, held[home], share

    # -- what costs ----------------------------------------------------------------------

    @cached_property
    def multiplications(self) -> Mapping[str, int]:
        """Multiplications that are done, gated and skipped.

        An operand is a word, a zero, or not stored, as far as the savings above let it pass.
        """
        total, inputs = int(self._dense.computes), [each.tensor for each in self._nest.inputs]
        for tensor in inputs:
            total -= floor(total * (self._shares[tensor] or 0.0))
        states = []
        for tensor, other in zip(inputs, reversed(inputs), strict=True):
            met = 1 - _rounded(self._shares[other] or 0.0)  # what the other does not save
            word = min(_rounded(self._densities[tensor].mean((1,))) / met, 1.0) if met else 0.0
            marked = [*self._stored[tensor].values()][-1].marked
            states.append((word, (1 - word) * (not marked), (1 - word) * marked))
        (word, zero, none), (word_b, zero_b, none_b) = states
        gated = skipped = 0.0
        for missing, share in (
            (False, word * zero_b + zero * word_b),
            (True, word * none_b + none * word_b),
            (False, zero * zero_b),
            (True, zero * none_b + none * zero_b),
        ):
            if missing and self._sparsity.skips:
                skipped += total * share
            elif self._sparsity.gates:
                gated += total * share
        done = total - floor(skipped) - floor(gated) - floor(total * (none * none_b))
        return {"": done, "gated": floor(gated), "skipped": floor(skipped)}

    @property
    def computes(self) -> Number:
        return Fraction(self.multiplications[""])

    @property
    def steps(self) -> Number:
        """Cycles that the multipliers work, or rest."""
        done = self.multiplications
        return Fraction(ceil((done[""] + done["gated"]) / float(self._dense.pes)))

    @cached_property
    def compute_energy(self) -> Number:
        prices = {"": float(self._compute.energy), **self._sparsity.energies}
        return Fraction(sum(n * prices[how] for how, n in self.multiplications.items()))

    def reads(self, level: int, tensor: str) -> Number:
        return self._words(level, tensor, "read")

    def fills(self, level: int, tensor: str) -> Number:
        return self._words(level, tensor, "fill")

    def updates(self, level: int, tensor: str) -> Number:
        return self._words(level, tensor, "update")

    def _words(self, level: int, tensor: str, action: str) -> Number:
        own = self._stored[tensor].get(level)
        return Fraction(own.words[action] if own else 0)

    def capacity(self, level: int, tensor: str) -> Number:
        own = self._stored[tensor].get(level)
        return Fraction(own.most if own else 0)

    def _here(self, place: int) -> Mapping[str, Held]:
        """The tensors that a level keeps."""
        return {t: held[place] for t, held in self._stored.items() if place in held}

    def room_rules(self) -> Iterator[CapacityRule]:
        yield from super().room_rules()
        for place, level in enumerate(self._levels):
            if level.words is not None:
                bits = sum(own.most_bits for own in self._here(place).values())
                what = "mapped metadata tile size {} exceeds metadata buffer capacity {}"
                room = level.usable(self._parts[place].room)
                yield CapacityRule(level.name, what, Fraction(bits), room)

    def moved(self, place: int, counts: Sequence[str]) -> Number:
        bits, working = self._levels[place].word_bits, float(self._dense.instances(place))
        return sum(
            ceil(own.moved(each, bits) * (own.instances / working))
            for own in self._here(place).values()
            for each in (KINDS[:1], KINDS[1:])
            if f"{each[0]}s" in counts
        )

    @remembered
    def level_energy(self, place: int) -> Number:
        level, part, here = self._levels[place], self._parts[place], self._here(place)
        prices = prices_of(level, part)
        energy, working = 0.0, float(self._dense.instances(place))
        charged = min(working, level.charged) / working
        for tensor, own in here.items():
            rows, spent = self._rows(tensor, own, level.block), 0.0
            for action, n in own.words.items():
                spent += -(-n // level.block) * rows * prices.get(action, 0.0)
            for action in own.metadata if part.width else ():
                bits = own.metadata_bits(action)
                spent += ceil(bits / part.width) * prices.get(action, 0.0)
            outer = max((n for n in self._stored[tensor] if n < place), default=None)
            around = None if outer is None else self._stored[tensor][outer]
            if around is not None and around.compressed and not own.compressed:
                spent += own.words["fill"] * prices.get("decompression_count", 0.0)
                if own.output:
                    spent += around.words["update"] * prices.get("compression_count", 0.0)
            energy += spent * own.instances * charged
        if level.leak:
            if len(here) == len(self._stored):
                working = max(1.0, *(own.instances for own in here.values()))
            energy += float(level.leak * self.latency) * working
        return Fraction(energy)

    def _rows(self, tensor: str, own: Held, block: int) -> float:
        """Accesses to rows that tiles do not fill, over those to full ones."""
        if not own.compressed or block == 1 or not 0 < own.density < 1:
            return 1.0
        if block not in _ROWS:
            raise InputError(
                f"{tensor} is compressed in rows of {block} words, of which the tool knows "
                f"nothing; allowed: rows of {', '.join(map(str, _ROWS))}"
            )
        if _ROWS[block][max(floor(own.density / 0.1) - 1, 0)] <= own.tile // block:
            return 1.0
        held = self._densities[tensor].occupancies(own.sides)
        return sum(ceil(n / block) * p for n, p in held) / (own.tile * own.density / block)

    @property
    def details(self) -> Mapping[str, Number]:
        """The counts of operations and accesses that are only gated or skipped, and of rows of
        metadata moved, by name."""
        done = self.multiplications
        counts = {f"{how}_computes": done[how] for how in ("gated", "skipped")}
        for tensor, stored in self._stored.items():
            for place, own in stored.items():
                name, width = f"{self._levels[place].name}.{tensor}", self._parts[place].width
                counts |= {f"{name}.{a}s": n for a, n in own.words.items() if a not in KINDS}
                if own.marked and width:
                    counts |= {
                        f"{name}.{a}s": ceil(own.metadata_bits(a) / width) for a in own.metadata
                    }
        return {each: Fraction(n) for each, n in counts.items()}


def check_modelled(nest: LoopNest, architecture: Architecture) -> None:
    """Refuse nests and tensors of which the model says nothing."""
    if len(nest.inputs) != 2:
        raise InputError(
            f"workload {nest.name} has {len(nest.inputs)} inputs, which does not go with "
            "sparse_optimizations; allowed: 2"
        )
    if nest.formats:
        raise InputError(
            f"format {nest.labels['format']} does not go with sparse_optimizations; allowed: "
            "dense tensors"
        )
    stated = () if isinstance(nest.densities, str) else nest.densities
    bands = {tensor: own.width for tensor, own in stated if isinstance(own, Banded)}
    for access in (access for access in nest.accesses if access.tensor in bands):
        sides, width = access.sides(nest.sizes), bands[access.tensor]
        single = all(own.terms == ((*own.loops, 1),) for own in access)
        if not single or len({*sides}) > 1 or len(sides) != 2 or width >= sides[0]:
            raise InputError(
                f"densities.{access.tensor}: band_width is {width} of {access} with sides "
                f"{sides}; allowed: square matrices of two loops, wider than the band"
            )
    assert isinstance(architecture.sparsity, Sparsity)  # as callers ask
    tensors = [access.tensor for access in nest.accesses]
    for level in architecture.sparsity.levels.values():
        for target, others in (option for saving in level.savings for option in saving.options):
            for name in (target, *others):
                if name not in tensors:
                    known = ", ".join(tensors)
                    raise InputError(
                        f"sparse_optimizations has {name}, no tensor; allowed: {known}"
                    )


def _dense_model(
    design: MappingSpace, mapping: LoopMapping, kind: type[TimeloopModel]
) -> TimeloopModel:
    """The model of the same mapping of dense tensors."""
    levels = design.architecture.levels
    if mapping.remainders:
        raise InputError("remainders do not go with sparse_optimizations; allowed: whole tiles")

    def factor(slot: Slot, loop: str) -> Number:
        return Fraction(mapping.factor(slot, loop))

    def inside(level: int, inner: str, outer: str) -> int:
        order = mapping.orders[levels[level].name]
        return int(order.index(inner) > order.index(outer))

    def most(level: int, loop: str) -> int:
        x, y = (Slot(levels[level].name, along) for along in "xy")
        return mapping.factor(x, loop) * mapping.factor(y, loop)

    keeps = tuple(
        {tensor: int(tensor in mapping.keeps[level.name]) for tensor in design.tensors}
        for level in levels
    )
    numbers = design.numbers_of(FRACTION, factor, inside, keeps, most)
    return kind(design.architecture, design.nest, numbers)


def _rounded(share: float) -> float:
    """A share rounded to six digits, as the tool rounds."""
    return floor(share * 1000000 + 0.5) / 1000000
