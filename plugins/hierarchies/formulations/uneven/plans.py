"""Passing tiles on: designs that share loops, so that what one writes and the next reads is never
there as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol


@dataclass(frozen=True)
class Plans:
    """The kinds of plans that are searched completely."""

    again: bool = True
    """Layers may compute the same tile again in turns of a loop that does not index it."""
    windows: bool = True
    """Loops that move windows may be shared; halos are computed again."""
    homes: bool = True
    """Tiles may be passed on at inner levels, too."""

    @property
    def among(self) -> str:
        """The kinds of plans in words, for certificates."""
        trips = "share loops whose trips divide" + ("" if self.windows else " and move no windows")
        parts = [
            "pass tiles on at "
            + ("levels of one instance" if self.homes else "the level inside the outermost"),
            "run as often as those beside them",
            trips,
            *(["share those of windows once"] if self.windows else []),
            "store all else in inner levels inside of these alone"
            if self.homes
            else "store in inner levels inside of these alone",
            "run whole tiles",
            *(["compute rows that strides step over"] if self.windows else []),
            *(["compute no tile again"] if not self.again else []),
            *(["keep no halos"] if self.windows else []),
        ]
        return f"plans in which layers {', '.join(parts[:-1])}, and {parts[-1]}"


#: At least the energy and the latency of every member.
Roofs = tuple[Mapping[str, Fraction], ...]


class Ways(Protocol):
    """A set of ways to share loops."""

    @property
    def trips(self) -> tuple[tuple[int, ...], ...]:
        """Trips of the loops that every member shares."""

    def inside(self, number: int) -> tuple[Any, Any]:
        """The design whose least energy bounds what a member needs inside, after its key."""

    def least_inside(self, number: int, known: Mapping[Any, Fraction]) -> Fraction:
        """A lower bound of what a member needs inside, where that is known of some keys."""

    @property
    def outside(self) -> Roofs:
        """Lower bounds of what all of the ways cost outside of the level that tiles are passed on
        at."""

    @property
    def designs(self) -> tuple[Any, ...] | None:
        """The members, each with what it shares; None while there are several ways."""

    def parts(self) -> Iterator[Ways]:
        """A division of the ways into several parts."""


class Tiled(Protocol):
    """Designs that may pass tiles on, each to the next."""

    @property
    def plans(self) -> Plans:
        """The kinds of plans to search."""

    @property
    def stages(self) -> tuple[Tiled, ...]:
        """Ever more of the ways: first those in which nothing is computed again, last all."""

    @property
    def least(self) -> tuple[tuple[Any, ...], ...]:
        """The members in some forms, where what they pass on takes next to no room: what a member
        costs in any way is at least that of one of them."""

    def parts(self) -> Iterator[Ways]:
        """The ways to share loops, in parts that together hold every way."""

    def holds(self, designs: Sequence[Any]) -> bool:
        """Whether designs are the members of a way."""
