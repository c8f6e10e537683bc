"""Say in words why designs are infeasible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from ithaca.solver.solution import Shortfall

#: Why nothing is feasible although no limit by itself is at fault.
CONTRADICTION = "the limits contradict each other, and raising a single one is not enough"


def explain(shortfalls: Sequence[tuple[str, Shortfall]], designs: int) -> list[str]:
    """One line per limit that would help, with the smallest value over all designs that would do.

    Parameters
    ----------
    shortfalls : sequence of (str, Shortfall)
        Name of a design, and a limit that it cannot meet.
    designs : int
        How many designs there are; all are infeasible.
    """
    helpful = [entry for entry in shortfalls if entry[1].others_kept]
    if not helpful:
        # a limit is at fault by itself only if no design meets it
        counts = Counter(shortfall.metric for _, shortfall in shortfalls)
        helpful = [entry for entry in shortfalls if counts[entry[1].metric] == designs]
    least: dict[str, tuple[str, Shortfall]] = {}
    for design, shortfall in sorted(helpful, key=lambda entry: entry[1].smallest):
        least.setdefault(shortfall.metric, (design, shortfall))
    return [_line(design, shortfall) for design, shortfall in least.values()] or [CONTRADICTION]


def _line(design: str, shortfall: Shortfall) -> str:
    verb = "the smallest that could be met" if shortfall.proven else "no value below could be met; proven so far:"
    kept = " with the other limits as they are" if shortfall.others_kept else ""
    return (
        f"limit {shortfall.metric} = {_shown(shortfall.bound)} cannot be met; "
        f"{verb}{kept} is {_shown(shortfall.smallest)} (design {design})"
    )


def _shown(value: Fraction) -> str:
    return f"{float(value):,.4f}".rstrip("0").rstrip(".")
