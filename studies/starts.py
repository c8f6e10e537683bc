"""Known configurations of one problem as starts of another.

A configuration of a neighbouring problem (other sizes, data type, edition, limits) may lie
outside this problem's design space, or beyond its limits. It is checked in full, and the best
of those that remain is the one to start from.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.tiling import Tiling


def best_start(problem: Problem, tilings: Iterable[Tiling]) -> Tiling | None:
    """The best of some tilings that is a configuration of a problem; None if none is."""
    found: tuple[Fraction, Tiling] | None = None
    for tiling in tilings:
        value = feasible_value(problem, tiling)
        if value is not None and (found is None or value < found[0]):
            found = value, tiling
    return None if found is None else found[1]
