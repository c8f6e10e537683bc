"""Passing tiles on: designs that share loops, so that what one writes and the next reads is never
there as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

#: At least the energy and the latency of every member.
Roofs = tuple[Mapping[str, Fraction], ...]


class Ways(Protocol):
    """Some ways to share loops."""

    @property
    def trips(self) -> tuple[tuple[int, ...], ...]:
        """Trips of the loops that every member shares. Inside, it costs nothing less than with
        divisors of these."""

    def inside(self, number: int) -> Any:
        """The design whose least energy is what a member needs inside, at least."""

    @property
    def outside(self) -> Roofs:
        """At least what all of them cost outside of the level that tiles are passed on at."""

    @property
    def designs(self) -> tuple[Any, ...] | None:
        """The members, each with what it shares; None while there are several ways."""

    def parts(self) -> Iterator[Ways]:
        """The same ways in several parts."""


class Tiled(Protocol):
    """Designs that may pass tiles on, each to the next."""

    @property
    def least(self) -> tuple[Any, ...]:
        """The members where what they pass on takes next to no room."""

    def parts(self) -> Iterator[Ways]:
        """All ways."""

    def holds(self, designs: Sequence[Any]) -> bool:
        """Whether they are the members of a way."""
