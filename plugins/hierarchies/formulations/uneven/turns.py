"""Loops that nests share, each of which reads what the one before writes, and what every nest runs
in a turn of them.

Of a shared loop the last nest has some iterations in a turn. A nest before runs what the next one
reads then: as many of a loop of its own, or a stride times as many and a *halo* where windows
overlap, which is computed again in the next turn, or all the same again where what it writes has no
such loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ithaca.plugins.hierarchies.formulations.uneven.plans import Plans
from ithaca.workloads.affine import Affine
from ithaca.workloads.nest import LoopNest, Sizes


@dataclass(frozen=True)
class Turn:
    """A shared loop that is none of a nest's own, and what it computes in each of its turns."""

    name: str
    """The name of the loop in the nest."""
    trips: int
    loop: str = ""
    """The nest's own loop along which turns move; empty: all of them compute the same."""
    extent: int = 1
    """Its iterations in a turn."""
    step: int = 0
    """Iterations from where a turn begins to where the next one does."""


@dataclass(frozen=True)
class SharedLoops:
    """Loops that nests share: inside are the tiles that these pass on, then the loops of each."""

    trips: Sizes
    """Their trips."""
    around: tuple[tuple[str, Sizes], ...] = ()
    """Tensors whose storage nodes lie between them, and the trips around each: of the nest's own,
    and those that it takes or passes on where only some of the loops are shared."""
    beside: int = 0
    """Words of what stays meanwhile for other nests."""
    beside_inside: Sizes = ()
    """Words of that in inner levels, by their names."""
    homes: Sizes = ()
    """Tensors that are passed on at an inner level, and its place: those around it keep none."""
    turns: tuple[Turn, ...] = ()
    """The work in each turn of loops that are none of the nest's own."""
    whole: LoopNest | None = None
    """The nest by itself, where there are such turns."""


def turned(nest: LoopNest, turns: Sequence[Turn]) -> LoopNest:
    """A nest in all its turns, each of which writes results of its own."""
    for turn in turns:
        own = ((loop, turn.extent if loop == turn.loop else n) for loop, n in nest.extents)

        def moved(rank: Affine, turn: Turn = turn) -> Affine:
            step = rank.coefficient(turn.loop) * turn.step
            return replace(rank, terms=(*rank.terms, (turn.name, step))) if step else rank

        nest = replace(
            nest,
            extents=((turn.name, turn.trips), *own),
            output=replace(
                nest.output, subscripts=(Affine(((turn.name, 1),)), *nest.output.subscripts)
            ),
            inputs=tuple(
                replace(access, subscripts=tuple(map(moved, access))) for access in nest.inputs
            ),
            parameters=(),
            template="",
        )
    return nest


@dataclass(frozen=True)
class Member:
    """A shared loop in one of the nests."""

    name: str
    loop: str
    """The nest's own loop along which turns move; empty if there is none."""
    step: int = 0
    """How many iterations one of the last nest moves it by."""
    halo: int = 0
    """How many more it runs in a turn."""


@dataclass(frozen=True)
class SharedLoop:
    """A loop that nests may share."""

    first: int
    """The number of the first nest that may."""
    members: tuple[Member, ...]
    """In this nest and those that follow."""
    ends: range
    """The nests that may be the last to share it."""
    size: int
    """Its iterations there."""
    once: bool
    """Whether no more of its trips are shared further inside, as of those of windows."""

    @cached_property
    def _loops(self) -> frozenset[tuple[int, str]]:
        """Loops of the nests themselves, with the numbers of these."""
        numbered = enumerate(self.members, start=self.first)
        return frozenset((number, member.loop) for number, member in numbered if member.loop)

    def member(self, number: int) -> Member | None:
        """The loop as a nest, given by number, has it; None if the nest is not among the
        members."""
        place = number - self.first
        return self.members[place] if 0 <= place < len(self.members) else None

    def name(self, number: int) -> str:
        """The loop's name in a nest; empty if the nest may not share it."""
        member = self.member(number)
        return member.name if member else ""

    def of_windows(self, number: int) -> bool:
        """Whether a nest's turns move along a loop that is not the shared one."""
        member = self.member(number)
        return member is not None and member.name != member.loop != ""

    def again(self, number: int) -> bool:
        """Whether a nest computes the same in all its turns."""
        member = self.member(number)
        return member is not None and not member.loop

    def may_lie_around(self, first: int, last: int) -> bool:
        """Whether the nests of some numbers, and those between them, may share the loop."""
        return self.first <= first < last and last in self.ends

    def excludes(self, other: SharedLoop) -> bool:
        """Whether the loop may not be shared inside of another one."""
        return self.once and bool(self._loops & other._loops)

    def turn(self, number: int, trips: int) -> Turn | None:
        """The iterations of a nest in a turn of the shared loop; None if it shares a loop of its
        own, or none."""
        member = self.member(number)
        if member is None or member.name == member.loop:
            return None
        step = member.step * self.size // trips
        extent = step + member.halo if member.loop else 1
        return Turn(member.name, trips, member.loop, extent, step)


def shared_loops(nests: Sequence[LoopNest], plans: Plans) -> tuple[SharedLoop, ...]:
    """All loops that nests may share in plans of a kind."""
    links = [{link[1]: link for link in _links(*pair)} for pair in pairwise(nests)]
    made: list[SharedLoop] = []
    for begin, nest in enumerate(nests):
        for loop, size in nest.extents:
            if size == 1 or (begin and loop in links[begin - 1]):
                continue
            chain, shared = [loop], list[_Link]()
            for after in links[begin:]:
                link = next((link for link in after.values() if link[0] == chain[-1]), None)
                if link is None:
                    break
                chain.append(link[1])
                shared.append(link)
            again = plans.again and begin > 0 and not nest.inputs[0].indexed_by(loop)
            first, lasts = 0 if again else begin, range(begin, begin + len(chain))
            plain = all(link[2:] == (1, 1) for link in shared)
            for last in [lasts[-1]] if plain else lasts if plans.windows else []:
                ends = range(max(begin, first + 1), last + 1) if plain else range(last, last + 1)
                if first < last:
                    own = tuple(chain[: last - begin + 1])
                    members = _members(nests, first, begin, own, shared)
                    made.append(
                        SharedLoop(first, members, ends, nests[last].sizes[own[-1]], not plain)
                    )
    if not any(links):
        return ()
    return tuple(sorted(made, key=lambda each: (each.first, each.members[0].name)))


#: A loop of a nest, the one of the next that moves what this reads along it, by how many iterations
#: one of these does, and how many it reads in one of these.
_Link = tuple[str, str, int, int]


def _links(before: LoopNest, after: LoopNest) -> Iterator[_Link]:
    """The loops of two nests that may be shared."""
    stored, read = before.output, after.inputs[0]
    if len(list(stored)) != len(list(read)) or any(
        str(other) in after.loops and one.reach(before.sizes) != other.reach(after.sizes)
        for one, other in zip(stored, read, strict=True)
    ):
        return  # the same words, elsewhere
    for one, other in zip(stored, read, strict=True):
        loops, others = (
            [d for d in rank.loops if nest.sizes[d] > 1]
            for rank, nest in ((one, before), (other, after))
        )
        moves = [d for d in others if len(others) == 1 or after.output.indexed_by(d)]
        if (
            len(loops) == len(moves) == 1
            and [d for rank in read for d in rank.loops].count(moves[0]) == 1
        ):
            (loop,), (move,) = loops, moves
            stride, size, words = other.coefficient(move), after.sizes[move], before.sizes[loop]
            window = other.reach({**after.sizes, move: 1})
            reach = other.reach(after.sizes)
            padded = 2 * (window - 1)
            if stride > 0 and reach - padded <= words <= max(reach, stride * size):
                plain = stride == window == 1
                yield loop, move, stride, 1 if plain else max(window, 1)


def _members(
    nests: Sequence[LoopNest],
    first: int,
    begin: int,
    own: tuple[str, ...],
    links: Sequence[_Link],
) -> tuple[Member, ...]:
    """A shared loop by nest, given those of their own that it is, from one nest on."""
    made = [Member(own[-1], own[-1], 1)]
    size = nests[begin + len(own) - 1].sizes[own[-1]]
    for number in reversed(range(first, begin + len(own) - 1)):
        nest, after = nests[number], made[0]
        name = f"next_{after.name}"
        while name in nest.loops:
            name += "_"
        if number < begin:
            made.insert(0, Member(name, ""))
            continue
        loop, _, stride, window = links[number - begin]
        step, halo = stride * after.step, max(stride * after.halo + window - stride, 0)
        plain = not halo and step * size == nest.sizes[loop]
        made.insert(0, Member(loop if plain else name, loop, step, halo))
    return tuple(made)
