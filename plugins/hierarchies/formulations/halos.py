"""Halos as Timeloop's versions count them: what a moving window keeps from the step before it.

The tool takes two trips of every loop. The second stands for all later ones, also where an outer
loop steps on from it. The edition's own counts take all trips.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.counts import Number
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel

#: Steps of a window along the ranks of its tensor.
Move = tuple[int, ...]


class SteppedModel(TimeloopModel):
    """Costs with halos as the tool counts them since January 2025: a window keeps words if its
    last step was the same, or nothing is known of it; standing still changes nothing."""

    @staticmethod
    def keeps_words(move: Move, before: Any, overlaps: bool) -> tuple[bool, Any]:
        """Whether words are kept after a move, and what the next move is compared with.

        Parameters
        ----------
        move : tuple of int
            The steps.
        before : object
            What this move is compared with; None if nothing is known.
        overlaps : bool
            Whether the window overlaps its last place, moved along one rank.
        """
        if not any(move):
            return True, before
        return (True, move) if before in (None, move) else (False, None)

    @remembered
    def fills_of(self, inner: int, tensor: str) -> Number:
        access, levels = self._accesses[tensor], len(self._levels)
        window = any(len(rank.terms) > 1 for rank in access)
        if inner == levels or not window or self._mapping.share is not None:
            return super().fills_of(inner, tensor)
        moves = [
            (trips, tuple(rank.coefficient(loop) * around for rank in access))
            for level in range(inner)
            for loop in self._outermost_first(level)
            if (trips := _whole(self._mapping.trips[level][loop])) > 1
            and (around := _whole(self.around(level, loop)))
        ]
        return self._one * self._stepped([_whole(w) for w in self.widths(inner, tensor)], moves)

    def _outermost_first(self, level: int) -> list[str]:
        loops, inside = self._nest.loops, self._mapping.inside
        around = {
            loop: sum(_whole(inside(level, loop, other)) for other in loops if other != loop)
            for loop in loops
        }
        return sorted(loops, key=around.__getitem__)

    def _stepped(self, sides: list[int], moves: list[tuple[int, Move]]) -> int:
        """Words of a window that moves by loops, outermost first, each with trips and steps."""
        back = [
            tuple(map(sum, zip(*(by for _, by in moves[place:]), strict=True)))
            for place in range(len(moves))
        ]

        @cache
        def taken(place: int, move: Move, before: Any) -> tuple[int, Any]:
            if place == len(moves):
                return self._step(sides, move, before)
            trips, by = moves[place]
            rest = back[place + 1] if place + 1 < len(moves) else (0,) * len(by)
            words, before = taken(place + 1, move, before)
            again = tuple(a - b for a, b in zip(by, rest, strict=True))
            more, before = taken(place + 1, again, before)
            return words + (trips - 1) * more, before

        return taken(0, (), None)[0]

    def _step(self, sides: list[int], move: Move, before: Any) -> tuple[int, Any]:
        """Words of one more place, and what the next move is compared with."""
        words = prod(sides)
        if not move:  # the first place of all
            return words, None
        moved = [(abs(by), side) for by, side in zip(move, sides, strict=True) if by]
        overlaps = len(moved) == 1 and moved[0][0] < moved[0][1]
        kept, before = self.keeps_words(move, before, overlaps)
        if kept and not moved:
            return 0, before
        if kept and overlaps:
            by, side = moved[0]
            return words // side * by, before
        return words, before


class RestartedModel(SteppedModel):
    """Costs with halos as the tool counted them from 2022 to January 2025: a window that stood
    still keeps none at its next step."""

    @staticmethod
    def keeps_words(move: Move, before: Any, overlaps: bool) -> tuple[bool, Any]:
        # standing still is a step, too
        return (True, move) if before in (None, move) else (False, None)


class DirectedModel(SteppedModel):
    """Costs with halos as the tool counted them until 2021: a window keeps words while it moves in
    one direction."""

    @staticmethod
    def keeps_words(move: Move, before: Any, overlaps: bool) -> tuple[bool, Any]:
        # any step that overlaps, in the direction of the last one
        towards = tuple((by > 0) - (by < 0) for by in move) if overlaps else None
        if before is None or not any(move) or before == towards:
            return True, towards
        return False, None


def _whole(number: Number) -> int:
    """A number of one mapping as an integer."""
    if hasattr(number, "entries"):
        ((over, under),) = number.entries(1)
        number = over // under
    return int(number)
