"""A stage: how a design's problem is searched in two parts, the inner choices first, and each
completed by the outer ones.

Where the cost splits into a part that depends on inner choices and one that depends on outer ones,
``inner + least outer`` bounds every completion of an inner choice (a *row*). Best first, so the
first completed row whose value is below every open bound ends the proof. A family states bounds and
completions; the engine (`ithaca.solver.staged`) decides what is completed, evaluates what comes of
it by the Fraction reference, and claims what is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.configuration import Configuration

#: The value to improve on, as it is now; None while nothing is known. Only what is below it is of
#: interest.
Cutoff = Callable[[], Fraction | None]

#: Configurations to consider; None where there is none by now, so that searches may look up.
Candidates = Iterator[Configuration | None]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of inner choices that may hold improvements."""

    rows: NDArray[Any]
    """The rows that the stage knows them by, one entry of the first axis each; perhaps none."""
    bounds: Floats
    """No completion of a row has an objective below its bound."""
    rest: float
    """A lower bound of all rows in none of the blocks so far; infinite if no improvement is among
    them."""

    @staticmethod
    def empty(rest: float) -> Block:
        """No rows: a moment for the engine to look at the clock, or a better bound of the rest."""
        return Block(np.zeros(0, np.int64), np.zeros(0), rest)


class Stage(Protocol):
    """A problem of a design in two parts. Making one is cheap; everything else is done while
    iterating.

    Bounds are floats rounded outwards (`ithaca.formulations.algebra.rounding`), or exact. Iterators
    yield often, every few tenths of a second, if need be nothing (`Block.empty`, None): searches
    are interrupted only there.
    """

    @property
    def least(self) -> float:
        """A bound of everything that is known at once; minus infinity if none is."""

    @property
    def dropped(self) -> Fraction | float:
        """No configuration that was left out is below this: for want of memory, or of precision.
        Infinite if none was."""

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """Good configurations to begin with, found quickly; they need not be feasible, nor below
        the cutoff.

        Where time is short (``hurried``), any configuration comes first, however bad.
        """

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """All rows whose bound is below the cutoff, but those `dropped`. A `MemoryError` ends the
        search with what is known."""

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The best completion of any of these rows, if it is below the cutoff; better and better
        ones at will."""
