"""Nests that pass tiles on: all loops that they may share, the levels at which they may, and what
may lie between these loops.

A *group* of nests shares loops of its last one. Inside, its nests take turns; some of them together
may be groups again, which share more loops. In a turn each computes what the next one reads then
(`uneven.turns`). What passes between those that take turns stays as
long as the outer loops make it, as a whole if there are none. Some best way has outermost first
what no node needs inside, and directly under a storage node only loops that its tensor does not
have for itself; its tile stays while the nests take turns. Nodes with no shared loop inside, and
those of tensors that have all of these, are each nest's own.

A tile's *home* is the level inside the outermost one, or an inner one of one instance; levels
around that keep none of it. All of these are ways. Nodes between shared loops are of the former
level, and of what passes.
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

from ithaca.plugins.hierarchies.formulations.constraints import NONE
from ithaca.plugins.hierarchies.formulations.uneven.model import HOME
from ithaca.plugins.hierarchies.formulations.uneven.plans import Plans, Roofs
from ithaca.plugins.hierarchies.formulations.uneven.sharing import (
    Own,
    SharingNests,
    Trips,
    divisors,
)
from ithaca.plugins.hierarchies.formulations.uneven.space import UnevenSpace


@dataclass(frozen=True)
class TiledNests(SharingNests):
    """Nests that may pass tiles on."""

    @property
    def stages(self) -> tuple[TiledNests, ...]:
        """First where nothing is computed again, then where tiles have no inner homes."""
        plans = [Plans(again=False, windows=False, homes=False), Plans(homes=False), Plans()]
        inner = any(max(each.homes) > HOME for each in self._variants)
        every = [replace(self, plans=each) for each in plans[: 3 if inner else 2]]
        return tuple(each for each in every if each.least)

    @cached_property
    def _variants(self) -> tuple[TiledNests, ...]:
        """Nests that share loops, by the homes of all tiles, the innermost ones last."""
        levels = range(HOME + 1, len(self.nests[0].architecture.levels))
        able = [
            [HOME, *(n for n in levels if self.plans.homes and self._may_pass(number, n))]
            for number in range(len(self.nests) - 1)
        ]
        every = [replace(self, homes=(*homes, HOME)) for homes in product(*able)]
        return tuple(each for each in every if len(each.least_of_own) == len(self.nests))

    def _may_pass(self, number: int, place: int) -> bool:
        """Whether a nest may pass on what it writes at an inner level."""
        before, after = self.nests[number : number + 2]
        return (
            before.architecture.levels[place].instances == 1
            and before.nest.output.tensor in before.keeps(place)
            and after.nest.inputs[0].tensor in after.keeps(place)
        )

    @property
    def least(self) -> tuple[tuple[UnevenSpace, ...], ...]:
        """The nests, each with least tiles of what they pass on, by the homes of these: with
        ``--bypass free`` an outer home may leave out a level that an inner one is at."""
        return tuple(zip(*(each.least_of_own for each in self._variants), strict=True))

    def parts(self) -> Iterator[TiledWays]:
        """All ways by the homes of tiles, the trips of all loops that all share, and the nodes
        between these."""
        ones = (1,) * len(self.classes)
        for tiled in self._variants:
            yield from TiledWays((Group(tiled, 0, len(self.nests) - 1, ones, ones),)).parts()

    def holds(self, designs: Sequence[Any]) -> bool:
        """Whether designs are the members of a way."""
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
        """The trips of the shared loops around each nest, in the order of the nests."""
        return tuple(g.trips for g in self.groups for _ in g.numbers)

    def inside(self, number: int) -> tuple[Any, UnevenSpace]:
        """A nest where the outermost level costs nothing, and with which homes in which turns."""
        tiled = self.groups[0].tiled
        trips = tiled.around(number, self.trips[number])
        return (tiled.inner_homes(number), trips), tiled.inside(number, trips)

    def least_inside(self, number: int, known: Mapping[Any, Fraction]) -> Fraction:
        """A lower bound of the energy of a nest inside, where that is known of some homes and
        trips."""
        return self.groups[0].tiled.least_inside(number, self.trips[number], known)

    @cached_property
    def outside(self) -> Roofs:
        """Lower bounds of what the nests cost in the outermost level."""
        return tuple(roofs for group in self.groups for roofs in group.outside)

    @cached_property
    def designs(self) -> tuple[UnevenSpace, ...] | None:
        """The nests, each with what is shared; None while there are several ways."""
        if any(group.first < group.last for group in self.groups):
            return None
        return tuple(group.design for group in self.groups)

    def parts(self) -> Iterator[TiledWays]:
        """Divisions by what comes next in the first group of several nests."""
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
    """Trips of the loops around all of it."""
    trips: Trips
    """Trips of all loops that it shares, with those."""
    left: tuple[Own, ...] = ()
    """The nodes that lie further inside."""
    now: Trips | None = None
    """Trips of the outer ones; None while nothing is known of these."""
    around: tuple[tuple[Own, Trips], ...] = ()
    """The nodes of its nests between those, and the trips around each."""
    begin: int = 0
    """The first of the nodes that are left that may come next: of those with no loop between them
    all orders are the same."""
    ends: tuple[Trips | None, Trips | None] = (None, None)
    """Trips around what it takes and passes on; None: it is not passed on."""
    beside: tuple[int, ...] = ()
    """By level, words of all else that stays meanwhile."""
    decided: int = 0
    """The number of shared loops whose trips are known."""

    @property
    def numbers(self) -> range:
        """The numbers of the group's nests."""
        return range(self.first, self.last + 1)

    @property
    def _each(self) -> Iterator[tuple[int, int]]:
        return enumerate(self.trips)

    @cached_property
    def _tiles(self) -> tuple[int, int]:
        """Words of what it takes and passes on at a time."""
        read, output = self.ends
        return (
            self.tiled.at_once(self.first - 1, read) if read else 0,
            self.tiled.at_once(self.last, output) if output else 0,
        )

    def _held(self, read: int, output: int, words: int) -> list[int]:
        """Words of what is taken, passed on, and of other tensors, with all else, by level."""
        levels, homes = self.tiled.nests[0].architecture.levels, self.tiled.homes
        held = [*self.beside] or [0] * len(levels)
        held[HOME] += words
        held[homes[self.first - 1]] += read
        held[homes[self.last]] += output
        return held

    @property
    def fits(self) -> bool:
        """Whether the levels may have room for the tiles: these are at least those inside all
        loops."""
        tile, levels = self.tiled.tile, self.tiled.nests[0].architecture.levels
        words = sum(tile(own, trips, self.trips) for own, trips in self.around)
        words += sum(tile(own, self.trips, self.trips) for own in self.left)
        held, inner = self._held(*self._tiles, words), range(self.first, self.last)
        if (self.left or self.now) and len(homes := {self.tiled.homes[n] for n in inner}) == 1:
            held[homes.pop()] += min(self.tiled.at_once(n, self.trips) for n in inner)
        return all(
            level.words is None or words <= level.usable(level.words)
            for level, words in zip(levels, held, strict=True)
        )

    @cached_property
    def outside(self) -> Roofs:
        """Lower bounds of what the nests cost in the outermost level."""
        tiled, outer = self.tiled, self.now or self.base
        left = self.left if self.left or self.now else self._able(self.trips)
        known = tiled.outer(left, outer, self.trips) | dict(self.around)
        return tuple(
            tiled.roofs(n, self.trips, tiled.shared(n, self.trips, known)) for n in self.numbers
        )

    def _able(self, trips: Trips) -> list[Own]:
        """The nodes that may come between its own loops."""
        lacking = self.tiled.lacking
        return [own for n in self.numbers for own in lacking(n, self.base, trips)]

    @cached_property
    def design(self) -> UnevenSpace:
        """The only nest, with what is shared."""
        tiled, n = self.tiled, self.first
        nest = tiled.kept(n, self.trips, self._tiles)
        assert nest is not None
        passed = zip(tiled.passed(n), self.ends[n == 0 :], strict=False)
        ends = {(n, t): trips for t, trips in passed if trips and trips != self.trips}
        known = dict(self.around) | ends
        return replace(nest, shared=tiled.shared(n, self.trips, known, self.beside))

    def may_be(self, designs: Sequence[Any]) -> bool:
        """Whether designs may be of the group's ways."""
        for n in self.numbers:
            shared, own = designs[n].shared, dict(self.tiled.own(n, self.trips))
            stated, known = dict(shared.around), [(t, a) for (at, t), a in self.around if at == n]
            if not (
                all(dict(shared.trips).get(loop, 0) % n == 0 for loop, n in own.items())
                and all(stated.get(t) == self.tiled.own(n, trips) for t, trips in known)
                and all(t in stated for at, t in self.left if at == n)
                and shared.homes == self.tiled.inner_homes(n)
            ):
                return False
        return True

    def parts(self) -> Iterator[tuple[Group, ...]]:
        """Divisions by what comes next: all trips and the nodes between these, the outermost trips,
        a node and the trips under it, or groups inside."""
        if self.left:
            yield from ((some,) for some in self._further())
        elif self.now:
            yield from self._turns()
        else:
            yield from ((some,) for some in self._begun())

    def _begun(self) -> Iterator[Group]:
        tiled, c, known = self.tiled, self.decided, dict(self.around)
        if c < len(self.trips):
            for n in tiled.more(self.first, self.last, self.trips, c):
                yield replace(self, trips=(*self.trips[:c], n, *self.trips[c + 1 :]), decided=c + 1)
            return
        if len(self.numbers) < len(tiled.nests) and self.trips == self.base:
            return
        owns = (own for own in self._able(self.trips) if own not in known)
        able = [own for own in owns if replace(self, left=(own,)).fits]
        for count in range(len(able) + 1):
            for left in combinations(able, count):
                ways = replace(self, left=left, now=None if left else self.trips)
                if ways.fits and (left or self._pays(self.base)):
                    yield ways

    def _pays(self, outer: Trips) -> bool:
        """Whether loops inside of some may pay, with no node between: not if the first of two nests
        computes the same in turns of one."""
        return self.first + 1 < self.last or not any(
            n > m and loop.again(self.first)
            for loop, n, m in zip(self.tiled.classes, self.trips, outer, strict=True)
        )

    def _further(self) -> Iterator[Group]:
        if self.now is None:
            for now in product(*self._factors(self.left, self.base, None)):
                yield replace(self, now=tuple(map(mul, self.base, now)))
            return
        for place, own in enumerate(self.left[self.begin :], start=self.begin):
            rest = (*self.left[:place], *self.left[place + 1 :])
            for more in product(*self._factors(rest, self.now, own)):
                if (rest or self._pays(self.now)) and (prod(more) > 1 or rest[place:]):
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
                yield divisors(rest)
            else:
                yield [rest]

    def _turns(self) -> Iterator[tuple[Group, ...]]:
        """Divisions by where what passes stays while inner groups take turns."""
        inner = [*range(self.first + 1, self.last + 1)]
        for count in range(1, len(inner) + 1):
            for cuts in combinations(inner, count):
                pairs = pairwise((self.first, *cuts, self.last + 1))
                some = tuple(self._member(a, b - 1) for a, b in pairs)
                if all(group is not None and group.fits for group in some):
                    yield tuple(group for group in some if group is not None)

    def _member(self, first: int, last: int) -> Group | None:
        """A group of nests that takes turns with the others; None if these share nothing more."""
        more = (self.tiled.more(first, last, self.trips, c) for c, _ in self._each)
        if first < last and all(len(n) == 1 for n in more):
            return None
        numbers, tile = range(first, last + 1), self.tiled.tile
        starts, stops = first == self.first, last == self.last
        around = (each for each in self.around if each[0][0] not in numbers)
        other = [tile(own, trips, self.trips) for own, trips in around]
        read, output = self._tiles
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
            beside=tuple(self._held(0 if starts else read, 0 if stops else output, sum(other))),
        )


def tiled_nests(nests: Sequence[UnevenSpace], plans: Plans) -> TiledNests | None:
    """Nests that may pass tiles on; None if they cannot."""
    tiled = TiledNests(tuple(nests), plans, (HOME,) * len(nests))
    able = all(nest.constraints == NONE and nest.moving for nest in nests)
    return tiled.stages[-1] if able and tiled.least and tiled.classes else None
