"""The counts of a mapping in any number system: trips, tiles, words moved, and the words that must
fit each level.

A level's trips of a loop are a number; so is whether one temporal loop of a level lies inside
another (1 or 0), and whether a level keeps a tensor. So orders may be fixed, chosen by a quantity,
or differ from row to row of arrays.

With n trips, "has more than one trip" is ``min(n − 1, 1)``; a loop that does not index a tensor
multiplies its fills exactly where a loop inside it that does has more than one trip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate
from operator import mul
from typing import Any

from ithaca.formulations.algebra.number_systems import INTERVAL, NumberSystem
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest

#: Numbers of any system.
Number = Any


@dataclass(frozen=True)
class Numbers:
    """A mapping in numbers of one system."""

    system: NumberSystem
    """Their system."""
    trips: tuple[Mapping[str, Number], ...]
    """Trips of the temporal loops of every level."""
    lanes: tuple[Mapping[str, Number], ...]
    """Trips of the spatial loops inside every level; none where there is no mesh."""
    mesh: tuple[tuple[Number, Number], ...]
    """Lanes of all loops inside every level along X and along Y; 1 where there is no mesh."""
    inside: Callable[[int, str, str], Number]
    """Whether, of the temporal loops of a level, the first named lies inside the second: 1 or 0."""
    keeps: tuple[Mapping[str, Number], ...]
    """Whether every level keeps a tensor: 1 or 0."""
    most_lanes: Callable[[int, str], int]
    """At least the lanes of a loop inside a level, of which two share a rank of a tensor: bounds a
    count of multicasts."""
    whole: Numbers | None = None
    """The mapping with the trips of all but last iterations, where trips are averages."""
    share: Callable[[int, str], Number] | None = None
    """Then, what a level outside the lanes of a loop has of what they run in step; else 1."""


@dataclass(frozen=True)
class CapacityRule:
    """A use of a level that must not exceed a bound."""

    level: str
    """The level that it is about."""
    what: str
    """The message where it does, with places for both numbers; in the tool's words where it has
    some."""
    used: Number
    """The use, which must not exceed the bound."""
    bound: int
    """The bound."""


class MappingCounts:
    """Counts of a mapping onto an architecture, each computed once, when it is asked for.

    Levels are counted from the outermost, 0; the multipliers are the level after the last. Counts
    are per instance. Where last iterations have fewer trips, words are those of average tiles in
    average trips; what must fit, and the cycles of the multipliers, are of whole ones.
    """

    def __init__(self, architecture: Architecture, nest: LoopNest, mapping: Numbers) -> None:
        self._levels, self._compute = architecture.levels, architecture.compute
        self._nest, self._mapping, whole = nest, mapping, mapping.whole
        self._whole: MappingCounts = (
            self if whole is None else type(self)(architecture, nest, whole)
        )
        self._one: Number = mapping.system.number(Fraction(1))
        self._accesses = {access.tensor: access for access in nest.accesses}
        self._units = tuple(units(level, nest) for level in self._levels)

    def _product(self, factors: Iterable[Number]) -> Number:
        return reduce(mul, factors, self._one)

    # -- tiles ---------------------------------------------------------------------------

    @remembered
    def extent(self, level: int, loop: str) -> Number:
        """The iterations of a loop that a level and everything inside it cover."""
        if level == len(self._levels):
            return self._one
        trips = self._shared(level, loop, self._mapping.trips[level][loop])
        return trips * self.around(level, loop)

    def _shared(self, level: int, loop: str, words: Number) -> Number:
        share = self._mapping.share
        return words if share is None else words * share(level, loop)

    def around(self, level: int, loop: str) -> Number:
        """The iterations of a loop that all lanes inside a level cover together in one of its
        trips."""
        inner, lanes = self.extent(level + 1, loop), self._mapping.lanes[level]
        return lanes[loop] * inner if loop in lanes else inner

    @remembered
    def widths(self, level: int, tensor: str) -> tuple[Number, ...]:
        """The sides of the bounding box of a tensor's tile (elements)."""
        return self._sides(tensor, lambda loop: self.extent(level, loop))

    def _sides(self, tensor: str, extent: Callable[[str], Number]) -> tuple[Number, ...]:
        return tuple(
            sum((c * (extent(d) - 1) for d, c in rank.terms), self._one)
            for rank in self._accesses[tensor]
        )

    @remembered
    def tile(self, level: int, tensor: str) -> Number:
        """Words of a tensor's tile: of its bounding box."""
        return self._product(self.widths(level, tensor))

    # -- time: how often a tile is filled ------------------------------------------------

    @remembered
    def _several(self, level: int, loop: str) -> Number:
        """1 where a temporal loop has more than one trip, else 0."""
        trips = self._whole._mapping.trips[level][loop]
        return self._mapping.system.minimum(trips - 1, self._one)

    def _moved_inside(self, inner: int, level: int, loop: str, access: Access) -> Number:
        """1 where a loop outside ``inner`` and inside this temporal loop moves the tensor's tile,
        else 0."""
        moving = [
            self._several(k, d)
            for k in range(level + 1, inner)
            for d in self._nest.loops
            if access.indexed_by(d)
        ]
        for other in self._nest.loops:
            if other != loop and access.indexed_by(other):
                is_inside = self._mapping.inside(level, other, loop)
                if not isinstance(is_inside, int) or is_inside:
                    moving.append(self._several(level, other) * is_inside)
        return self._mapping.system.maximum(*moving) if moving else self._one * 0

    @remembered
    def fills_of(self, inner: int, tensor: str) -> Number:
        """Words that an instance of a level would take if it kept the tensor; for the multipliers,
        what one takes.

        Loops inside the innermost one that moves the tile cost nothing; along that one alone, what
        two neighbouring tiles share stays: of w elements that move by δ < w, n trips take w + (n −
        1)·δ.
        """
        access, trips = self._accesses[tensor], self._mapping.trips
        if inner == len(self._levels):
            return self.operations
        loops = [(level, loop) for level in range(inner) for loop in self._nest.loops]
        moved = {
            at: self._moved_inside(inner, *at, access)
            for at in loops
            if not access.indexed_by(at[1]) or self._partner(access, at[1]) is not None
        }
        factors = [
            trips[k][d] if access.indexed_by(d) else self._one + moved[k, d] * (trips[k][d] - 1)
            for k, d in loops
        ]
        words = self.tile(inner, tensor) * self._product(factors)
        before = list(accumulate(factors, mul, initial=self._one))
        after = list(accumulate(reversed(factors), mul, initial=self._one))[::-1]
        for place, (level, loop) in enumerate(loops):
            if (partner := self._partner(access, loop)) is None:
                continue
            rank, coefficient = partner
            lacks = self._whole.extent(inner, loop) - self.extent(inner, loop)
            width = self.widths(inner, tensor)[rank] + coefficient * lacks
            beside = self._product(w for r, w in enumerate(self.widths(inner, tensor)) if r != rank)
            shared = width - self._mapping.system.minimum(
                coefficient * self._whole.around(level, loop), width
            )
            runs = before[place] * after[place + 1]
            words = (
                words - (1 - moved[level, loop]) * (trips[level][loop] - 1) * shared * beside * runs
            )
        return words

    def _partner(self, access: Access, loop: str) -> tuple[int, int] | None:
        """Rank and coefficient of a loop that shares a rank with another one: its tiles may
        overlap; None otherwise."""
        for rank, subscript in enumerate(access):
            if len(subscript.terms) > 1 and subscript.coefficient(loop):
                return rank, subscript.coefficient(loop)
        return None

    # -- space: how many tiles are wanted ------------------------------------------------

    @remembered
    def positions(self, level: int, tensor: str) -> Number:
        """The number of different tiles of a tensor that the lanes inside one instance of a level
        want."""
        ranks = self._accesses[tensor]
        return self._product(self._rank_positions(level, rank.terms) for rank in ranks)

    def _rank_positions(self, level: int, terms: tuple[tuple[str, int], ...]) -> Number:
        """Different positions of tiles along one rank.

        Of two loops that move tiles by A and B, tiles (i, j) and (i + d, j − q) are the same if A·d
        = B·q; with the least such d and q, of m·n tiles those (m − d)·(n − q) that have a like one
        are counted twice.
        """
        lanes, numbers = self._mapping.lanes[level], self._mapping.system
        trips = [
            (self._mapping.most_lanes(level, loop), loop, c) for loop, c in terms if loop in lanes
        ]
        count = self._product(lanes[loop] for _, loop, _ in trips)
        if len(trips) < 2:
            return count
        (most, loop, c), (_, other, c_other) = sorted(trips)
        step, step_other = c * self.extent(level + 1, loop), c_other * self.extent(level + 1, other)
        twice = [self._one * 0]
        for d in range(1, most):
            q = numbers.ceil_div(d * step, step_other)
            meets = 1 - numbers.minimum(q * step_other - d * step, self._one)
            rest = numbers.maximum(lanes[loop] - d, self._one * 0) * numbers.maximum(
                lanes[other] - q, self._one * 0
            )
            twice.append(meets * rest)
        return count - numbers.maximum(*twice)

    def distinct(self, parent: int, child: int, tensor: str) -> Number:
        """The number of different tiles that the children of one instance want, stage by stage.

        Parameters
        ----------
        parent : int
            The number of the level that sends, 0 for the outermost.
        child : int
            That of the level whose instances are children.
        tensor : str
            The name of the tensor.
        """
        return self._product(
            self.positions(level, tensor)
            for level in range(parent, child)
            if self._mapping.lanes[level]
        )

    # -- counts --------------------------------------------------------------------------

    def keeps(self, level: int, tensor: str) -> Number:
        """1 where a level keeps a tensor, else 0; the multipliers keep all."""
        return 1 if level == len(self._levels) else self._mapping.keeps[level][tensor]

    @remembered
    def sent(self, parent: int, tensor: str, *, again: bool = False) -> Number:
        """Words that an instance gives to the next inner level that keeps the tensor, or takes.

        Parameters
        ----------
        parent : int
            The number of the level, 0 for the outermost.
        tensor : str
            The tensor.
        again : bool, optional
            Whether words of the output that are sent for the first time do not count.
        """
        words, passed = self._one * 0, 1
        for child in range(parent + 1, len(self._levels) + 1):
            kept = self.keeps(child, tensor)
            if not isinstance(kept, int) or kept:
                sent = self.fills_of(child, tensor) * self.distinct(parent, child, tensor)
                if again:
                    sent = self._again(parent, tensor, sent, child)
                words = words + passed * kept * sent
            passed = passed * (1 - kept)
            if isinstance(passed, int) and not passed:
                break
        return words

    @remembered
    def first(self, level: int, tensor: str, inside: int | None = None) -> Number:
        """Words of the output that an instance takes for the first time, from nowhere.

        Parameters
        ----------
        level : int
            The number of the level, 0 for the outermost.
        tensor : str
            The output.
        inside : int, optional
            The level that takes them from it; by default they come from outside.
        """
        inside = level if inside is None else inside
        loops = [d for d in self._nest.loops if self._accesses[tensor].indexed_by(d)]
        trips = self._product(
            self._shared(at, d, trips[d]) if at >= inside else trips[d]
            for at, trips in enumerate(self._mapping.trips)
            for d in loops
        )
        return trips * self._product(
            lanes[d] for lanes in self._mapping.lanes[level:] for d in loops if d in lanes
        )

    def _is_output(self, tensor: str) -> bool:
        return tensor == self._nest.output.tensor

    @remembered
    def reads(self, level: int, tensor: str) -> Number:
        """The words of a tensor that an instance of a level reads."""
        if self._mapping.share is None:
            sent = self._again(level, tensor, self.sent(level, tensor))
        else:  # what lanes run in step they also begin
            sent = self.sent(level, tensor, again=True)
        return self._held(level, tensor, sent)

    @remembered
    def fills(self, level: int, tensor: str) -> Number:
        """Words taken from the level around it."""
        if not level or tensor in dict(self._levels[level].resident):
            return self._one * 0
        return self._held(level, tensor, self._again(level, tensor, self.fills_of(level, tensor)))

    def _again(self, level: int, tensor: str, words: Number, inside: int | None = None) -> Number:
        """Words that are read, or taken from outside: of the output not those for the first
        time."""
        if not self._is_output(tensor):
            return words
        again = words - self.first(level, tensor, inside)
        # never negative, which intervals do not see: both sides come from the same factors
        return INTERVAL.maximum(again, 0) if self._mapping.system is INTERVAL else again

    def updates(self, level: int, tensor: str) -> Number:
        """Words of results taken from inside."""
        return (
            self._held(level, tensor, self.sent(level, tensor))
            if self._is_output(tensor)
            else self._one * 0
        )

    def capacity(self, level: int, tensor: str) -> Number:
        """Words held; of a level that is filled once no more than there are."""
        if (words := dict(self._levels[level].resident).get(tensor)) is not None:
            return self._one * words
        if self._whole is self:
            return self._held(level, tensor, self.tile(level, tensor))
        least, whole = self._mapping.system.minimum, self._whole.extent
        sides = self._sides(tensor, lambda d: least(whole(level, d), self.extent(0, d)))
        return self._held(level, tensor, self._product(sides))

    def _held(self, level: int, tensor: str, words: Number) -> Number:
        kept = self.keeps(level, tensor)
        return words if isinstance(kept, int) and kept else words * kept

    def used(self, level: int) -> Number:
        """Words that all tiles of an instance fill, if they are whole."""
        words = [self._whole.filled(level, tensor) for tensor in self._kept(level)]
        return reduce(lambda a, b: a + b, words, self._one * 0)

    def filled(self, level: int, tensor: str) -> Number:
        """Words of a level that what it holds of a tensor fills."""
        words, units = self.capacity(level, tensor), self._units[level]
        whole, rest = divmod(weight := units.values[tensor], units.word)
        if rest:
            return self._mapping.system.ceil_div(words * weight, self._one * units.word)
        return words if whole == 1 else words * whole

    def _weighed(self, level: int, tensor: str, words: Number) -> Number:
        """Words of a tensor in units of a level's."""
        weight = self._units[level].values[tensor]
        return words if weight == 1 else words * weight

    def _kept(self, level: int) -> list[str]:
        kept = self._mapping.keeps[level]
        return [
            tensor for tensor in self._accesses if not isinstance(kept[tensor], int) or kept[tensor]
        ]

    # -- validity ------------------------------------------------------------------------

    def rules(self, within_parent: bool = False) -> Iterator[CapacityRule]:
        """The rules that a mapping must meet to fit; ``within_parent`` holds the lanes inside one
        instance to the instances there, too.

        The tool checks what tiles fill, and the lanes from the outermost level up to the instances
        of each level.
        """
        yield from self.room_rules()
        yield from self.mesh_rules(within_parent)

    def room_rules(self) -> Iterator[CapacityRule]:
        """The rules about what tiles fill."""
        for place, level in reversed(list(enumerate(self._levels))):
            if level.words is not None:
                yield CapacityRule(
                    level.name,
                    "mapped tile size {} exceeds buffer capacity {}",
                    self.used(place),
                    level.usable(level.words),
                )
            for tensor, words in level.tensor_words:
                what = f"mapped tile size {{}} of {tensor} exceeds its buffer capacity {{}}"
                yield CapacityRule(
                    level.name, what, self._whole.filled(place, tensor), level.usable(words)
                )

    def mesh_rules(self, within_parent: bool) -> Iterator[CapacityRule]:
        parts: tuple[Level | Compute, ...] = (*self._levels, self._compute)
        for place in range(len(self._levels), 0, -1):
            part, outer = parts[place], parts[place - 1]
            if not any(self._mapping.lanes[:place]):
                continue
            kind = "Arithmetic " if part is self._compute else ""
            for axis, (limit, around) in enumerate(
                ((part.mesh_x, outer.mesh_x), (part.mesh_y, outer.mesh_y))
            ):
                lanes = [mesh[axis] for mesh in self._mapping.mesh[:place]]
                what = (
                    f"mapped max {kind}{'XY'[axis]} expansion {{}} exceeds hardware instances {{}}"
                )
                yield CapacityRule(part.name, what, self._product(lanes), limit)
                if within_parent and self._mapping.lanes[place - 1]:
                    what = (
                        f"mapped {'XY'[axis]} lanes {{}} inside one {outer.name} "
                        f"exceed its hardware instances {{}}"
                    )
                    yield CapacityRule(part.name, what, lanes[-1], limit // around)

    # -- steps ---------------------------------------------------------------------------

    @property
    def steps(self) -> Number:
        """Cycles that the multipliers work: trips of all temporal loops, whole ones, as the tool
        counts them."""
        return self._whole.operations

    @cached_property
    def operations(self) -> Number:
        """The operations of a multiplier: the product of all trips of all loops."""
        return self._product(
            trips[loop] for trips in self._mapping.trips for loop in self._nest.loops
        )
