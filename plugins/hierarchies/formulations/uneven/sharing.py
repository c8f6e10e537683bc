"""Nests that share loops: what each runs, holds and costs at least, given the trips of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from ithaca.files.clock import poll
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.uneven.model import HOME
from ithaca.plugins.hierarchies.formulations.uneven.plans import Plans
from ithaca.plugins.hierarchies.formulations.uneven.space import UnevenSpace
from ithaca.plugins.hierarchies.formulations.uneven.turns import (
    SharedLoop,
    SharedLoops,
    Turn,
    shared_loops,
    turned,
)
from ithaca.workloads.nest import LoopNest, Sizes

#: Number of a nest, and a tensor of its.
Own = tuple[int, str]

#: Trips of all loops that some nests may share, 1 for those that do not lie around.
Trips = tuple[int, ...]


@dataclass(frozen=True)
class SharingNests:
    """Nests, each of which reads what the one before writes."""

    nests: tuple[UnevenSpace, ...]
    """Each alone."""
    plans: Plans
    """Which ways there are."""
    homes: tuple[int, ...]
    """By nest, the level at which it passes on what it writes; of the last one it says nothing."""
    _roofs: dict[tuple[int, SharedLoops], Mapping[str, Fraction]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """The roofs that are known, of all kinds of plans."""

    @cached_property
    def classes(self) -> tuple[SharedLoop, ...]:
        """Loops that may be shared."""
        return shared_loops([nest.nest for nest in self.nests], self.plans)

    def more(self, first: int, last: int, trips: Trips, c: int) -> list[int]:
        """The possible trips of a shared loop around some nests, inside of given ones: their
        multiples that divide the loop's size, or these trips alone where it may not lie there.

        Parameters
        ----------
        first : int
            Number of the first nest that the loop is to lie around.
        last : int
            Number of the last one.
        trips : tuple of int
            Trips of all loops that may be shared, around what is inside: those that are given.
        c : int
            Place of the loop among these.
        """
        loop, around = self.classes[c], zip(self.classes, trips, strict=True)
        if not loop.may_lie_around(first, last) or any(
            n > 1 and loop.excludes(other) for other, n in around
        ):
            return [trips[c]]
        size = self.nests[last].nest.sizes[loop.name(last)]
        return [trips[c] * n for n in divisors(size // trips[c])]

    def turns(self, number: int, trips: Trips) -> tuple[Turn, ...]:
        """The turns that a nest takes in shared loops that are not its own."""
        around = zip(self.classes, trips, strict=True)
        turns = (loop.turn(number, n) for loop, n in around if n > 1)
        return tuple(turn for turn in turns if turn is not None)

    @remembered
    def turned(self, number: int, trips: Trips) -> LoopNest:
        """A nest in all its turns."""
        return turned(self.nests[number].nest, self.turns(number, trips))

    @cached_property
    def least_of_own(self) -> tuple[UnevenSpace, ...]:
        """The nests, each with least tiles of what they pass on."""
        ones = (1,) * len(self.classes)
        made = (self.kept(number, ones, (1, 1)) for number in range(len(self.nests)))
        return tuple(nest for nest in made if nest is not None)

    @remembered
    def kept(self, number: int, trips: Trips, words: tuple[int, ...]) -> UnevenSpace | None:
        """A nest in all its turns, with some words of what it takes and passes on at a time.

        Parameters
        ----------
        number : int
            Number of the nest.
        trips : tuple of int
            Trips of all shared loops around it.
        words : tuple of int
            Words at a time of what it takes from the nest before, and of what it passes on; of the
            first nest the former says nothing.
        """
        poll()
        shared = self.shared(number, trips, {})
        nest = replace(self.nests[number], nest=self.turned(number, trips), shared=shared)
        kept = tuple(zip(self.passed(number), words[number == 0 :], strict=False))
        made = at_homes(nest, dict(shared.homes)).keeping(kept)
        if not isinstance(made, UnevenSpace) or not all(
            made.home(t) == home for t, home in self._homes(number).items()
        ):
            return None
        return made

    def _homes(self, number: int) -> dict[str, int]:
        """The levels of what a nest takes and passes on."""
        return dict(zip(self.passed(number), self.homes[max(number - 1, 0) :], strict=False))

    @remembered
    def inner_homes(self, number: int) -> Sizes:
        """The levels of what it takes and passes on at inner ones."""
        return tuple((t, place) for t, place in self._homes(number).items() if place != HOME)

    @remembered
    def around(self, number: int, trips: Trips) -> Trips:
        """The trips of shared loops that bound what a nest costs inside. Not those that tensors
        lack which may pass by: to keep these may cost more than to send them again."""
        passing = [(number, tensor) for tensor in self.least_of_own[number].may_bypass(HOME)]
        return tuple(
            1 if any(self.lacks(own, c) for own in passing) else n for c, n in enumerate(trips)
        )

    def inside(self, number: int, trips: Trips) -> UnevenSpace:
        """A nest where the outermost level costs nothing, and any tile of the next fits: those of
        tensors that lack a shared loop lie outside of it."""
        free = ("read_energy", "write_energy", "update_energy", "leak")
        fast = ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
        nothing: dict[str, Any] = {**dict.fromkeys(free, Fraction(0)), **dict.fromkeys(fast)}
        nest = self.kept(number, trips, (1, 1))
        assert nest is not None
        nodes = self.lacking(number, (1,) * len(trips), trips)
        outer, home, *others = nest.architecture.levels
        room = replace(home, words=None, tensor_words=())
        levels = (replace(outer, **nothing), room, *others)
        return replace(
            nest,
            architecture=replace(nest.architecture, levels=levels),
            shared=self.shared(number, trips, self.outer(nodes, (1,) * len(trips), trips)),
        )

    @remembered
    def tile(self, own: Own, around: Trips, trips: Trips) -> int:
        """Words of a tile between some shared loops, by the trips of those around it.

        Parameters
        ----------
        own : tuple of int and str
            Number of a nest, and a tensor of its.
        around : tuple of int
            Trips of the shared loops that lie around the tile.
        trips : tuple of int
            Trips of all shared loops around the nest, which state what it computes in a turn.
        """
        nest, outer = self.turned(own[0], trips), dict(self.own(own[0], around))
        sizes = {loop: n // outer.get(loop, 1) for loop, n in nest.extents}
        return int(next(a for a in nest.accesses if a.tensor == own[1]).box(sizes))

    def at_once(self, number: int, trips: Trips) -> int:
        """Words of what a nest passes on in a turn."""
        return self.tile((number, self.nests[number].nest.output.tensor), trips, trips)

    def roofs(self, number: int, trips: Trips, shared: SharedLoops) -> Mapping[str, Fraction]:
        """Lower bounds of the energy of the outermost level in a nest, and of the cycles that it
        takes.

        Parameters
        ----------
        number : int
            Number of the nest.
        trips : tuple of int
            Trips of all shared loops around it.
        shared : SharedLoops
            The same loops by its names, with the storage nodes between them.
        """
        if (number, shared) not in self._roofs:
            nest = self.kept(number, trips, (1, 1))
            assert nest is not None
            model, leak = nest.outside(shared), nest.architecture.levels[0].leak
            busy = Fraction(nest.nest.operations, nest.architecture.compute.instances)
            self._roofs[number, shared] = {
                "energy": model.level_energy(0) - (leak and model.latency * leak),
                "latency": max([busy, *model.waits(0).values()]),
            }
        return self._roofs[number, shared]

    def least_inside(self, number: int, trips: Trips, known: Mapping[Any, Fraction]) -> Fraction:
        """A lower bound of the energy inside of the outermost level, where that is known of some
        trips.

        Parameters
        ----------
        number : int
            Number of the nest.
        trips : tuple of int
            Trips of all shared loops around it.
        known : mapping of tuple to Fraction
            Lower bounds of that energy, by inner homes and other trips.
        """
        each, done = self._each_operation(number), self.turned(number, trips).operations
        bounds = [each * done]
        for (homes, others), least in known.items():
            pairs = zip(self.classes, trips, others, strict=True)
            if homes == self.inner_homes(number) and all(
                n == m if loop.of_windows(number) else n % m == 0 for loop, n, m in pairs
            ):
                # what is computed again
                bounds.append(least + each * (done - self.turned(number, others).operations))
        return max(bounds)

    @remembered
    def _each_operation(self, number: int) -> Fraction:
        """A lower bound of the energy of one operation, and of its words in the innermost level."""
        nest = self.nests[number]
        place, compute = len(nest.architecture.levels) - 1, nest.architecture.compute
        level, output = nest.architecture.levels[place], nest.nest.output.tensor
        costs = (
            level.update_energy if tensor == output else level.read_energy
            for tensor in nest.keeps(place) - nest.may_bypass(place)
        )
        served = Fraction(compute.instances * level.block, level.instances)
        return compute.energy + sum(costs, Fraction(0)) / served

    def own(self, number: int, trips: Trips) -> Sizes:
        """Trips of shared loops by the names of a nest."""
        names = zip((loop.name(number) for loop in self.classes), trips, strict=True)
        return tuple((name, n) for name, n in names if name and n > 1)

    def shared(
        self, number: int, trips: Trips, around: Mapping[Own, Trips], beside: Sequence[int] = ()
    ) -> SharedLoops:
        """The loops that a nest shares, given the trips around nodes.

        Parameters
        ----------
        number : int
            Number of the nest.
        trips : tuple of int
            Trips of all shared loops around it.
        around : mapping of tuple to tuple of int
            Of storage nodes, each the number of a nest and a tensor of its: trips of the shared
            loops around it; those of other nests are left out.
        beside : sequence of int, optional
            By level, words of what stays meanwhile for other nests; none by default.
        """
        nodes = sorted(around.items(), key=lambda node: (prod(node[1]), node[0]))
        between = tuple((t, self.own(number, n)) for (at, t), n in nodes if at == number)
        turns = self.turns(number, trips)
        whole = self.nests[number].nest if turns else None
        home, *inside = beside[HOME:] or (0,)
        names = (level.name for level in self.nests[number].architecture.levels[HOME + 1 :])
        return SharedLoops(
            self.own(number, trips),
            between,
            home,
            tuple((name, n) for name, n in zip(names, inside, strict=False) if n),
            self.inner_homes(number),
            turns,
            whole,
        )

    def passed(self, number: int) -> list[str]:
        """The tensors that a nest finds, and passes on."""
        nest, last = self.nests[number].nest, len(self.nests) - 1
        read = [nest.inputs[0].tensor] if number else []
        return read + ([nest.output.tensor] if number < last else [])

    @remembered
    def lacks(self, own: Own, c: int) -> bool:
        """Whether a tensor does not have a shared loop of its nest for itself: its tiles in some
        turns are the same, or overlap."""
        member, nest = self.classes[c].member(own[0]), self.nests[own[0]].nest
        if member is None:
            return False
        access = next(each for each in nest.accesses if each.tensor == own[1])
        once = {**nest.sizes, member.loop: 1}
        return bool(member.halo) or not any(
            rank.coefficient(member.loop) >= rank.reach(once) for rank in access
        )

    def lacking(self, number: int, outer: Trips, trips: Trips) -> list[Own]:
        """The tensors of a nest's own that lack a loop between some trips.

        Parameters
        ----------
        number : int
            Number of the nest.
        outer : tuple of int
            Trips around the outer end, by shared loop.
        trips : tuple of int
            Trips around the inner end: multiples of those.
        """
        owns = [(number, t) for t in self.nests[number].keeps(HOME) - {*self.passed(number)}]
        ways = [c for c, n in enumerate(trips) if n > outer[c]]
        return [own for own in sorted(owns) if any(self.lacks(own, c) for c in ways)]

    def outer(self, nodes: Sequence[Own], outer: Trips, trips: Trips) -> dict[Own, Trips]:
        """Lower bounds of the trips around nodes, outside of which there are some.

        Parameters
        ----------
        nodes : sequence of tuple
            Storage nodes, each the number of a nest and a tensor of its.
        outer : tuple of int
            Trips of shared loops that lie outside of all of them.
        trips : tuple of int
            Trips of all shared loops around the nests.
        """
        return {
            own: tuple(outer[c] if self.lacks(own, c) else n for c, n in enumerate(trips))
            for own in nodes
        }


def at_homes(nest: UnevenSpace, homes: Mapping[str, int]) -> UnevenSpace:
    """A nest with tensors that stay in no level between the outermost one and their own."""
    levels = tuple(
        replace(level, keeps=level.kept(nest.tensors) - {t for t, n in homes.items() if place < n})
        if place
        else level
        for place, level in enumerate(nest.architecture.levels)
    )
    return replace(nest, architecture=replace(nest.architecture, levels=levels))


def divisors(number: int) -> list[int]:
    """All divisors of a number, ascending."""
    return [n for n in range(1, number + 1) if number % n == 0]
