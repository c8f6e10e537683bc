"""Nests that pass tiles on at the level inside the outermost one: all loops that they may share,
and what may lie between these.

Shared are loops that index all tensors that are passed on. Some best way has outermost first what
no node needs inside, and directly under a storage node only loops that its tensor does not have for
itself; its tile stays while the nests take turns. Nodes with no shared loop inside, and those of
tensors that have all of these, are each nest's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import prod
from operator import mul
from typing import Any

from ithaca.formulations.remembered import remembered
from ithaca.formulations.spatial.constraints import NONE
from ithaca.formulations.spatial.uneven.model import HOME
from ithaca.formulations.spatial.uneven.space import SharedLoops, UnevenSpace
from ithaca.formulations.tiles import Roofs
from ithaca.workloads.nest import Sizes

#: Number of a nest, and a tensor of its.
Own = tuple[int, str]


@dataclass(frozen=True)
class TiledNests:
    """Nests, each of which reads what the one before writes."""

    nests: tuple[UnevenSpace, ...]
    """Each alone."""
    words: tuple[int, ...]
    """Of what each but the last passes on."""

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """Loops that may be shared: the loop of every nest."""
        first = self.nests[0]
        chains: list[tuple[str, ...]] = [(loop,) for loop in first.moving]
        for before, after in zip(self.nests, self.nests[1:], strict=False):
            written, read = before.nest.output, after.nest.inputs[0]
            if len(list(written)) != len(list(read)):
                return ()
            pairs = {}
            for one, other in zip(written, read, strict=True):
                loops, others = (
                    [d for d in rank.loops if d in nest.moving]
                    for rank, nest in ((one, before), (other, after))
                )
                if len(loops) == len(others) == 1 and one.coefficient(loops[0]) == 1:
                    sizes = before.nest.sizes[loops[0]], after.nest.sizes[others[0]]
                    if other.coefficient(others[0]) == 1 and sizes[0] == sizes[1]:
                        pairs[loops[0]] = others[0]
            chains = [(*chain, pairs[chain[-1]]) for chain in chains if chain[-1] in pairs]
        return tuple(chains)

    @cached_property
    def inside(self) -> tuple[UnevenSpace, ...]:
        """Each where the outermost level costs nothing, and any tile of the next fits."""
        free, made = ("read_energy", "write_energy", "update_energy", "leak"), []
        fast = ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
        nothing: dict[str, Any] = {**dict.fromkeys(free, Fraction(0)), **dict.fromkeys(fast)}
        for nest in self.least:
            outer, home, *others = nest.architecture.levels
            room = replace(home, words=None, tensor_words=())
            levels = (replace(outer, **nothing), room, *others)
            made.append(replace(nest, architecture=replace(nest.architecture, levels=levels)))
        return tuple(made)

    @cached_property
    def least(self) -> tuple[UnevenSpace, ...]:
        """Each with least tiles of what they pass on."""
        made = (self.kept(number, (1,) * len(self.words)) for number in range(len(self.nests)))
        return tuple(nest for nest in made if nest is not None)

    def kept(self, number: int, words: Sequence[int]) -> UnevenSpace | None:
        """A nest with some words of what it passes on at a time."""
        nest, kept = self.nests[number], []
        if number:
            kept.append((nest.nest.inputs[0].tensor, words[number - 1]))
        if number < len(self.words):
            kept.append((nest.nest.output.tensor, words[number]))
        made = nest.keeping(tuple(kept))
        if not isinstance(made, UnevenSpace) or not all(
            t in dict(made.architecture.levels[HOME].resident) for t, _ in kept
        ):
            return None
        return made

    @remembered
    def tile(self, own: Own, around: tuple[int, ...]) -> int:
        """Words of a tile between shared loops, by the trips of these around it."""
        trips = self.own(own[0], around)
        model = self.nests[own[0]].outside(SharedLoops(trips, ((own[1], trips),)))
        return int(model.tile(HOME, own[1]))

    @remembered
    def roofs(self, number: int, shared: SharedLoops) -> Mapping[str, Fraction]:
        """At least the energy of the outermost level in a nest, and the cycles that it takes."""
        model = self.least[number].outside(shared)
        leak = model.latency * self.least[number].architecture.levels[0].leak
        waits = model.waits(0).values()
        return {
            "energy": model.level_energy(0) - leak,
            "latency": max(waits, default=Fraction(0)),
        }

    def own(self, number: int, trips: Sequence[int]) -> Sizes:
        """Trips of shared loops by the names of a nest."""
        chains = zip(self.classes, trips, strict=True)
        return tuple((chain[number], n) for chain, n in chains if n > 1)

    def passed(self, number: int) -> frozenset[str]:
        """The tensors that a nest passes on, or finds."""
        nest, last = self.nests[number].nest, len(self.words)
        read = {nest.inputs[0].tensor} if number else set()
        return frozenset(read | ({nest.output.tensor} if number < last else set()))

    def lacks(self, own: Own, number: int) -> bool:
        """Whether a tensor does not have a shared loop for itself."""
        return not self.nests[own[0]].has(own[1], self.classes[number][own[0]])

    def parts(self) -> Iterator[TiledWays]:
        """All ways by the trips of all shared loops, and the nodes between these."""
        sizes = [self.nests[0].nest.sizes[chain[0]] for chain in self.classes]
        for trips in product(*map(_divisors, sizes)):
            ways = TiledWays(self, trips)
            able = [own for own in ways.able if replace(ways, left=(own,)).fits]
            for count in range(len(able) + 1):
                for left in combinations(able, count):
                    some = replace(ways, left=left, now=None if left else trips)
                    if some.fits:
                        yield some

    def holds(self, designs: Sequence[Any]) -> bool:
        """Whether they are the members of a way."""
        shared = [design.shared for design in designs]
        if any(each is None for each in shared):
            return False

        def of(number: int, loops: Sizes) -> tuple[int, ...]:
            return tuple(dict(loops).get(chain[number], 1) for chain in self.classes)

        trips = of(0, shared[0].trips)
        around = [((n, t), of(n, own)) for n, each in enumerate(shared) for t, own in each.around]
        steps = [*sorted({n for _, n in around}, key=prod), trips]
        whole = [self.nests[0].nest.sizes[chain[0]] for chain in self.classes]
        divides = all(
            a > 0 and b % a == 0
            for one, other in zip(steps, [*steps[1:], whole], strict=True)
            for a, b in zip(one, other, strict=True)
        )
        ways = TiledWays(self, trips, around=tuple(around))
        return divides and ways.designs == tuple(designs)


@dataclass(frozen=True)
class TiledWays:
    """Ways of some trips of shared loops, of which the outer ones are known, and the storage nodes
    between those."""

    tiled: TiledNests
    trips: tuple[int, ...]
    """Of all shared loops."""
    left: tuple[Own, ...] = ()
    """The nodes that lie further inside."""
    now: tuple[int, ...] | None = None
    """Trips of the outer ones; None while nothing is known of these."""
    around: tuple[tuple[Own, tuple[int, ...]], ...] = ()
    """The nodes between those, and the trips around each."""
    begin: int = 0
    """Of the nodes that are left, the first that may come next: of those with no loop between them
    all orders are the same."""

    @property
    def inside(self) -> tuple[UnevenSpace, ...]:
        """The nests where the outermost level costs nothing, and any tile of the next fits: those
        of tensors that lack a shared loop lie outside of it."""
        around = self._outer(tuple(self.able), (1,) * len(self.trips))
        every = enumerate(self.tiled.inside)
        return tuple(replace(nest, shared=self._shared(n, around)) for n, nest in every)

    def _outer(self, nodes: tuple[Own, ...], outer: tuple[int, ...]) -> dict[Own, tuple[int, ...]]:
        """At least the trips around nodes, outside of which there are some."""
        return {
            own: tuple(outer[c] if self.tiled.lacks(own, c) else trips for c, trips in self._each)
            for own in nodes
        }

    @property
    def able(self) -> Iterator[Own]:
        """Tensors that lack a shared loop."""
        for number, nest in enumerate(self.tiled.nests):
            for tensor in nest.keeps(HOME) - self.tiled.passed(number):
                if any(n > 1 and self.tiled.lacks((number, tensor), c) for c, n in self._each):
                    yield number, tensor

    @property
    def _each(self) -> Iterator[tuple[int, int]]:
        return enumerate(self.trips)

    @cached_property
    def _passed(self) -> list[int]:
        """Words of the tiles that are passed on."""
        return [words // prod(self.trips) for words in self.tiled.words]

    @property
    def fits(self) -> bool:
        """Whether there may be room: tiles are at least those inside all loops."""
        level = self.tiled.nests[0].architecture.levels[HOME]
        words = sum(self.tiled.tile(own, trips) for own, trips in self.around)
        words += sum(self.tiled.tile(own, self.trips) for own in self.left)
        words += max(map(sum, zip((0, *self._passed), (*self._passed, 0), strict=True)))
        return level.words is None or words <= level.usable(level.words)

    @cached_property
    def outside(self) -> Roofs:
        """At least what they cost in the outermost level."""
        outer = self.now or (1,) * len(self.trips)
        known = dict(self.around) | self._outer(self.left, outer)
        every = range(len(self.tiled.nests))
        return tuple(self.tiled.roofs(number, self._shared(number, known)) for number in every)

    def _shared(
        self, number: int, around: Mapping[Own, tuple[int, ...]], beside: int = 0
    ) -> SharedLoops:
        own = self.tiled.own
        nodes = sorted(around.items(), key=lambda node: (prod(node[1]), node[0]))
        between = tuple((t, own(number, n)) for (at, t), n in nodes if at == number)
        return SharedLoops(own(number, self.trips), between, beside)

    @property
    def designs(self) -> tuple[UnevenSpace, ...] | None:
        """The nests, each with what is shared; None while nodes are left."""
        if self.left:
            return None
        words = {own: self.tiled.tile(own, trips) for own, trips in self.around}
        made = []
        for number in range(len(self.tiled.nests)):
            nest = self.tiled.kept(number, self._passed)
            beside = sum(n for (at, _), n in words.items() if at != number)
            assert nest is not None
            made.append(replace(nest, shared=self._shared(number, dict(self.around), beside)))
        return tuple(made)

    def parts(self) -> Iterator[TiledWays]:
        """By what comes next: the outermost trips, or a node and the trips under it."""
        if self.now is None:
            for now in product(*self._factors(self.left, (1,) * len(self.trips), None)):
                yield replace(self, now=now)
            return
        for place, own in enumerate(self.left[self.begin :], start=self.begin):
            rest = (*self.left[:place], *self.left[place + 1 :])
            for more in product(*self._factors(rest, self.now, own)):
                if prod(more) > 1 or rest[place:]:
                    ways = replace(
                        self,
                        left=rest,
                        now=tuple(map(mul, self.now, more)),
                        around=(*self.around, (own, self.now)),
                        begin=place if prod(more) == 1 else 0,
                    )
                    if ways.fits:
                        yield ways

    def _factors(
        self, later: tuple[Own, ...], now: tuple[int, ...], under: Own | None
    ) -> Iterator[list[int]]:
        """The further trips of every loop: all, where no later node lacks it."""
        for c, trips in self._each:
            rest = trips // now[c]
            if under is not None and not self.tiled.lacks(under, c):
                yield [1]
            elif any(self.tiled.lacks(own, c) for own in later):
                yield _divisors(rest)
            else:
                yield [rest]


def tiled_nests(nests: Sequence[UnevenSpace], words: Sequence[int]) -> TiledNests | None:
    """How nests may pass tiles on; None if they cannot."""
    tiled = TiledNests(tuple(nests), tuple(words))
    able = len(tiled.least) == len(nests) and all(nest.constraints == NONE for nest in nests)
    return tiled if able and tiled.classes else None


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]
