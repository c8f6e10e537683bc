"""The terms of the closed form of cycles: the parts of a run, and what read groups add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.systolic.systolic_array import IOGroup

if TYPE_CHECKING:
    from ithaca.formulations.algebra.number_systems import NumberSystem

#: Cycles, and by how many tiles they are shared.
Period: TypeAlias = tuple[tuple[Any, Expression], ...]


@dataclass(frozen=True, slots=True)
class Cycles:
    """The parts of a run (cycles)."""

    fill: Any
    """Until PEs take their first words."""
    run: Any
    """All tiles, one after the other."""
    rest: Any
    """Cycles of the drain after the last tile."""
    latency: Any
    """All three."""

    def at_least(self, latency: Any, numbers: NumberSystem) -> Cycles:
        """The cycles of a run that takes longer, as what it moves does."""
        longer = numbers.maximum(self.latency, latency)
        return Cycles(self.fill, longer - self.fill - self.rest, self.rest, longer)


@dataclass(frozen=True, slots=True)
class Reads:
    """The cycles that a read group adds."""

    group: IOGroup
    """The group."""
    fill: Any
    """B: until its first words come to the PEs."""
    period: Period
    """M, from one tile to the next: the greatest of these quotients."""
    enters: Any
    """At least that where PEs enter a loop again to drain."""
    behind: Any
    """F: how far the chain of a lane of the second loop is behind the one before; else 0."""
    words: Any
    """A: words per lane; with the bursts of its rows, where they open any."""
    lag: Any
    """By how many lanes of the second loop a memory port's last one is behind its first."""
    least: Any
    """No less than fill and run: what fills its buffers, all tiles taken together."""
    simple: bool
    """Whether it has f = 0, and feeds every tile once."""
    each: Any
    """Cycles from one tile to the next that no fill of several, nor memory's clock, takes."""
    clock: Any = None
    """W: cycles in which memory feeds all lanes of the second loop, one after the other; then it
    is one of its period."""
    refill: Any = None
    """Cycles in which the buffers of one of these lanes are filled, where memory has a clock."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The way of a read group's first words to the last lanes."""

    reads: Reads
    """The read group."""
    behind: Any
    """Cycles by which the last lanes are behind."""

    @property
    def cycles(self) -> Any:
        """Cycles until its first words are at the last lanes."""
        return self.reads.fill + self.behind

    @property
    def each(self) -> Any:
        """Cycles from one tile to the next, but for those of its memory, and of what feeds
        several."""
        return self.reads.each
