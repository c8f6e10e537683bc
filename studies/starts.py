"""Known configurations of one problem as starts of another.

A configuration of a neighbouring problem (other sizes, data type, edition, limits) may lie
outside this problem's design space, or beyond its limits. It is checked in full, and the best
of those that remain is the one to start from.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem


def best_start(problem: Problem, known: Iterable[Configuration]) -> Configuration | None:
    """The best of some configurations that a problem allows; None if it allows none."""
    found: tuple[Fraction, Configuration] | None = None
    for other in known:
        configuration = problem.space.adopted(other)
        value = None if configuration is None else problem.feasible_value(configuration)
        if configuration is not None and value is not None and (found is None or value < found[0]):
            found = value, configuration
    return None if found is None else found[1]
