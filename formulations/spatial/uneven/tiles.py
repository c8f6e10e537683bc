"""Nests that pass tiles on at the level inside the outermost one: all loops that they may share,
and what may lie between these.

A *group* of nests shares loops that index all tensors that are passed on within it. Inside, its
nests take turns; some of them together may be groups again, which share more loops. What passes
between those that take turns stays as long as the outer loops make it, as a whole if there are
none. Some best way has outermost first what no node needs inside, and directly under a storage node
only loops that its tensor does not have for itself; its tile stays while the nests take turns.
Nodes with no shared loop inside, and those of tensors that have all of these, are each nest's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
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

#: Trips of all loops that some nests may share, 1 for those that do not lie around.
Trips = tuple[int, ...]


@dataclass(frozen=True)
class TiledNests:
    """Nests, each of which reads what the one before writes."""

    nests: tuple[UnevenSpace, ...]
    """Each alone."""
    words: tuple[int, ...]
    """Of what each but the last passes on."""

    @cached_property
    def classes(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """Loops that may be shared: the first nest that has one, and its names from there on."""
        found: list[tuple[int, tuple[str, ...]]] = []
        for number, (before, after) in enumerate(pairwise(self.nests)):
            written, read = before.nest.output, after.nest.inputs[0]
            if len(list(written)) != len(list(read)) or any(
                str(other) in after.nest.loops
                and one.reach(before.nest.sizes) != other.reach(after.nest.sizes)
                for one, other in zip(written, read, strict=True)
            ):
                continue  # the same words, elsewhere
            for one, other in zip(written, read, strict=True):
                loops, others = (
                    [d for d in rank.loops if d in nest.moving]
                    for rank, nest in ((one, before), (other, after))
                )
                if len(loops) == len(others) == 1 and one.coefficient(loops[0]) == 1:
                    sizes = before.nest.sizes[loops[0]], after.nest.sizes[others[0]]
                    if other.coefficient(others[0]) == 1 and sizes[0] == sizes[1]:
                        known = [
                            (first, names)
                            for first, names in found
                            if first + len(names) == number + 1 and names[-1] == loops[0]
                        ]
                        found = [each for each in found if each not in known]
                        first, names = known[0] if known else (number, (loops[0],))
                        found.append((first, (*names, others[0])))
        return tuple(sorted(found))

    def name(self, number: int, c: int) -> str | None:
        """A shared loop as a nest names it; None if it has none."""
        first, names = self.classes[c]
        return names[number - first] if 0 <= number - first < len(names) else None

    def more(self, first: int, last: int, trips: Trips) -> list[list[int]]:
        """What the trips of all shared loops around some nests may be, inside of those given."""
        more = []
        for c, n in enumerate(trips):
            names = self.name(first, c), self.name(last, c)
            size = self.nests[first].nest.sizes[names[0]] if names[0] and names[1] else n
            more.append([n * each for each in _divisors(size // n)])
        return more

    @cached_property
    def least(self) -> tuple[UnevenSpace, ...]:
        """Each with least tiles of what they pass on."""
        made = (self.kept(number, (1, 1)) for number in range(len(self.nests)))
        return tuple(nest for nest in made if nest is not None)

    def kept(self, number: int, words: Sequence[int]) -> UnevenSpace | None:
        """A nest with some words of what it takes and passes on at a time."""
        nest = self.nests[number]
        kept = tuple(zip(self.passed(number), words[number == 0 :], strict=False))
        made = nest.keeping(kept)
        if not isinstance(made, UnevenSpace) or not all(
            t in dict(made.architecture.levels[HOME].resident) for t, _ in kept
        ):
            return None
        return made

    @remembered
    def inside(self, number: int, trips: Trips) -> UnevenSpace:
        """A nest where the outermost level costs nothing, and any tile of the next fits: those of
        tensors that lack a shared loop lie outside of it. Loops that tensors lack which may pass by
        are not shared: to keep these may cost more than to send them again."""
        free = ("read_energy", "write_energy", "update_energy", "leak")
        fast = ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
        nothing: dict[str, Any] = {**dict.fromkeys(free, Fraction(0)), **dict.fromkeys(fast)}
        nest = self.least[number]
        passing = [(number, tensor) for tensor in nest.may_bypass(HOME)]
        trips = tuple(
            1 if any(self.lacks(own, c) for own in passing) else n for c, n in enumerate(trips)
        )
        nodes = self.lacking(number, (1,) * len(trips), trips)
        outer, home, *others = nest.architecture.levels
        room = replace(home, words=None, tensor_words=())
        levels = (replace(outer, **nothing), room, *others)
        around = self.outer(nodes, (1,) * len(trips), trips)
        return replace(
            nest,
            architecture=replace(nest.architecture, levels=levels),
            shared=self.shared(number, trips, around),
        )

    @remembered
    def tile(self, own: Own, around: Trips) -> int:
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

    def own(self, number: int, trips: Trips) -> Sizes:
        """Trips of shared loops by the names of a nest."""
        names = ((self.name(number, c), n) for c, n in enumerate(trips))
        return tuple((name, n) for name, n in names if name and n > 1)

    def shared(
        self, number: int, trips: Trips, around: Mapping[Own, Trips], beside: int = 0
    ) -> SharedLoops:
        """What a nest shares, given the trips around nodes."""
        nodes = sorted(around.items(), key=lambda node: (prod(node[1]), node[0]))
        between = tuple((t, self.own(number, n)) for (at, t), n in nodes if at == number)
        return SharedLoops(self.own(number, trips), between, beside)

    def passed(self, number: int) -> list[str]:
        """The tensors that a nest finds, and passes on."""
        nest, last = self.nests[number].nest, len(self.words)
        read = [nest.inputs[0].tensor] if number else []
        return read + ([nest.output.tensor] if number < last else [])

    def lacks(self, own: Own, c: int) -> bool:
        """Whether a tensor does not have a shared loop of its nest for itself."""
        name = self.name(own[0], c)
        return name is not None and not self.nests[own[0]].has(own[1], name)

    def lacking(self, number: int, outer: Trips, trips: Trips) -> list[Own]:
        """The tensors of a nest's own that lack a loop between some trips."""
        owns = [(number, t) for t in self.nests[number].keeps(HOME) - {*self.passed(number)}]
        ways = [c for c, n in enumerate(trips) if n > outer[c]]
        return [own for own in sorted(owns) if any(self.lacks(own, c) for c in ways)]

    def outer(self, nodes: Sequence[Own], outer: Trips, trips: Trips) -> dict[Own, Trips]:
        """At least the trips around nodes, outside of which there are some."""
        return {
            own: tuple(outer[c] if self.lacks(own, c) else n for c, n in enumerate(trips))
            for own in nodes
        }

    def parts(self) -> Iterator[TiledWays]:
        """All ways by the trips of all loops that all share, and the nodes between these."""
        ones = (1,) * len(self.classes)
        yield from TiledWays((Group(self, 0, len(self.words), ones, ones),)).parts()

    def holds(self, designs: Sequence[Any]) -> bool:
        """Whether they are the members of a way."""
        if any(design.shared is None for design in designs):
            return False
        ways = list(self.parts())
        while ways:
            some = ways.pop()
            if all(group.may_be(designs) for group in some.groups):
                if some.designs == tuple(designs):
                    return True
                ways += some.parts()
        return False


@dataclass(frozen=True)
class TiledWays:
    """Ways of nests that take turns, some of them in groups."""

    groups: tuple[Group, ...]
    """In order; those of one nest are known."""

    @cached_property
    def trips(self) -> tuple[Trips, ...]:
        """By nest."""
        return tuple(g.trips for g in self.groups for _ in g.numbers)

    def inside(self, number: int) -> UnevenSpace:
        """A nest where the outermost level costs nothing."""
        return self.groups[0].tiled.inside(number, self.trips[number])

    @cached_property
    def outside(self) -> Roofs:
        """At least what they cost in the outermost level."""
        return tuple(roofs for group in self.groups for roofs in group.outside)

    @cached_property
    def designs(self) -> tuple[UnevenSpace, ...] | None:
        """The nests, each with what is shared; None while there are several ways."""
        if any(group.first < group.last for group in self.groups):
            return None
        return tuple(group.design for group in self.groups)

    def parts(self) -> Iterator[TiledWays]:
        """By what comes next in the first group of several nests."""
        wide = (place for place, group in enumerate(self.groups) if group.first < group.last)
        for place in wide:
            before, after = self.groups[:place], self.groups[place + 1 :]
            for some in self.groups[place].parts():
                yield TiledWays((*before, *some, *after))
            return


@dataclass(frozen=True)
class Group:
    """Ways of nests that share some trips of loops, of which the outer ones are known, and the
    storage nodes between those."""

    tiled: TiledNests
    first: int
    last: int
    """The numbers of its nests."""
    base: Trips
    """Of loops around all of it."""
    trips: Trips
    """Of all loops that it shares, with those."""
    left: tuple[Own, ...] = ()
    """The nodes that lie further inside."""
    now: Trips | None = None
    """Trips of the outer ones; None while nothing is known of these."""
    around: tuple[tuple[Own, Trips], ...] = ()
    """The nodes of its nests between those, and the trips around each."""
    begin: int = 0
    """Of the nodes that are left, the first that may come next: of those with no loop between them
    all orders are the same."""
    ends: tuple[Trips | None, Trips | None] = (None, None)
    """Trips around what it takes and passes on; None: it is not passed on."""
    beside: int = 0
    """Words of all else that stays meanwhile."""

    @property
    def numbers(self) -> range:
        """Of its nests."""
        return range(self.first, self.last + 1)

    @property
    def _each(self) -> Iterator[tuple[int, int]]:
        return enumerate(self.trips)

    @cached_property
    def _tiles(self) -> tuple[int, int]:
        """Words of what it takes and passes on at a time."""
        read, written = self.ends
        words, last = self.tiled.words, self.last
        return (
            words[self.first - 1] // prod(read) if read else 0,
            words[last] // prod(written) if written else 0,
        )

    @property
    def fits(self) -> bool:
        """Whether there may be room: tiles are at least those inside all loops."""
        tile, level = self.tiled.tile, self.tiled.nests[0].architecture.levels[HOME]
        words = self.beside + sum(self._tiles)
        words += sum(tile(own, trips) for own, trips in self.around)
        words += sum(tile(own, self.trips) for own in self.left)
        if self.left or self.now:
            passed = self.tiled.words[self.first : self.last]
            words += min(passed, default=0) // prod(self.trips)
        return level.words is None or words <= level.usable(level.words)

    @cached_property
    def outside(self) -> Roofs:
        """At least what they cost in the outermost level."""
        tiled, outer = self.tiled, self.now or self.base
        known = dict(self.around) | tiled.outer(self.left, outer, self.trips)
        return tuple(tiled.roofs(n, tiled.shared(n, self.trips, known)) for n in self.numbers)

    @cached_property
    def design(self) -> UnevenSpace:
        """The only nest, with what is shared."""
        tiled, n = self.tiled, self.first
        nest = tiled.kept(n, self._tiles)
        assert nest is not None
        passed = zip(tiled.passed(n), self.ends[n == 0 :], strict=False)
        ends = {(n, t): trips for t, trips in passed if trips and trips != self.trips}
        known = dict(self.around) | ends
        return replace(nest, shared=tiled.shared(n, self.trips, known, self.beside))

    def may_be(self, designs: Sequence[Any]) -> bool:
        """Whether these may be of its ways."""
        for n in self.numbers:
            shared, own = designs[n].shared, dict(self.tiled.own(n, self.trips))
            stated, known = dict(shared.around), [(t, a) for (at, t), a in self.around if at == n]
            if not (
                all(dict(shared.trips).get(loop, 0) % n == 0 for loop, n in own.items())
                and all(stated.get(t) == self.tiled.own(n, trips) for t, trips in known)
                and all(t in stated for at, t in self.left if at == n)
            ):
                return False
        return True

    def parts(self) -> Iterator[tuple[Group, ...]]:
        """By what comes next: all trips and the nodes between these, the outermost trips, a node
        and the trips under it, or groups inside."""
        if self.left:
            yield from ((some,) for some in self._further())
        elif self.now:
            yield from self._turns()
        else:
            yield from ((some,) for some in self._begun())

    def _begun(self) -> Iterator[Group]:
        tiled, inner = self.tiled, self.last - self.first < len(self.tiled.words)
        for trips in product(*tiled.more(self.first, self.last, self.base)):
            if inner and trips == self.base:
                continue
            owns = [own for n in self.numbers for own in tiled.lacking(n, self.base, trips)]
            known = dict(self.around)
            some = replace(self, trips=trips)
            able = [o for o in owns if o not in known and replace(some, left=(o,)).fits]
            for count in range(len(able) + 1):
                for left in combinations(able, count):
                    ways = replace(some, left=left, now=None if left else trips)
                    if ways.fits:
                        yield ways

    def _further(self) -> Iterator[Group]:
        if self.now is None:
            for now in product(*self._factors(self.left, self.base, None)):
                yield replace(self, now=tuple(map(mul, self.base, now)))
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
        self, later: tuple[Own, ...], now: Trips, under: Own | None
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

    def _turns(self) -> Iterator[tuple[Group, ...]]:
        """By where what passes stays while inner groups take turns."""
        inner = [*range(self.first + 1, self.last + 1)]
        for count in range(1, len(inner) + 1):
            for cuts in combinations(inner, count):
                pairs = pairwise((self.first, *cuts, self.last + 1))
                some = tuple(self._member(a, b - 1) for a, b in pairs)
                if all(group is not None and group.fits for group in some):
                    yield tuple(group for group in some if group is not None)

    def _member(self, first: int, last: int) -> Group | None:
        """Some of its nests that take turns with the others; None if they share nothing more."""
        if first < last and all(len(n) == 1 for n in self.tiled.more(first, last, self.trips)):
            return None
        numbers, tile = range(first, last + 1), self.tiled.tile
        starts, stops = first == self.first, last == self.last
        other = [tile(own, trips) for own, trips in self.around if own[0] not in numbers]
        read, written = self._tiles
        return Group(
            self.tiled,
            first,
            last,
            self.trips,
            self.trips,
            now=self.trips if first == last else None,
            around=tuple(each for each in self.around if each[0][0] in numbers),
            ends=(
                self.ends[0] if starts else self.trips,
                self.ends[1] if stops else self.trips,
            ),
            beside=self.beside + sum(other) + (0 if starts else read) + (0 if stops else written),
        )


def tiled_nests(nests: Sequence[UnevenSpace], words: Sequence[int]) -> TiledNests | None:
    """How nests may pass tiles on; None if they cannot."""
    tiled = TiledNests(tuple(nests), tuple(words))
    able = all(nest.constraints == NONE and nest.moving for nest in nests)
    return tiled if able and len(tiled.least) == len(nests) and tiled.classes else None


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]
