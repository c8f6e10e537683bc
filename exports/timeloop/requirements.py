"""What Timeloop's problem format cannot state, and why."""

from __future__ import annotations

from collections.abc import Iterator

from ithaca.workloads.nest import LoopNest


def obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Every reason why Timeloop cannot express a nest; designs and tilings are no obstacle.

    Returns
    -------
    tuple of str
        One reason each, in plain words; empty if the nest can be expressed.
    """
    return (*_of_names(nest), *_of_subscripts(nest))


def _of_names(nest: LoopNest) -> Iterator[str]:
    for loop in nest.loops:
        if not (len(loop) == 1 and loop.isascii() and loop.isalpha()):
            yield f"loop '{loop}': dimensions are single letters, because Timeloop joins them to permutations"


def _of_subscripts(nest: LoopNest) -> Iterator[str]:
    for access in nest.accesses:
        for subscript in access:
            if subscript.constant or not subscript.terms:
                yield f"subscript {subscript} of {access}: projections have no constants"
            elif any(coefficient < 0 for _, coefficient in subscript.terms):
                yield f"subscript {subscript} of {access}: projections have no negative coefficients"
