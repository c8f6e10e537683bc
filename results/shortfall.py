"""Why problems are infeasible: limits that cannot be met, and how to say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: Why nothing is feasible although no limit by itself is at fault.
CONTRADICTION = "the limits contradict each other, and raising a single one is not enough"


@dataclass(frozen=True)
class Shortfall:
    """Why a problem is infeasible: a limit that cannot be met."""

    metric: str  #: The metric limited
    bound: Fraction  #: The limit
    smallest: Fraction  #: The smallest value of the limit that could be met
    others_kept: bool  #: Whether ``smallest`` holds with the other limits in force, or with this limit alone
    proven: bool  #: Whether ``smallest`` is proven; otherwise it is a lower bound of it
    design: str  #: Name of the design that cannot meet it


def explain(shortfalls: Sequence[Shortfall], designs: int) -> list[str]:
    """One line per limit that would help so many infeasible designs, with the smallest value over them that would do."""
    helpful = [shortfall for shortfall in shortfalls if shortfall.others_kept]
    if not helpful:
        # a limit is at fault by itself only if no design meets it
        counts = Counter(shortfall.metric for shortfall in shortfalls)
        helpful = [shortfall for shortfall in shortfalls if counts[shortfall.metric] == designs]
    least: dict[str, Shortfall] = {}
    for shortfall in sorted(helpful, key=lambda shortfall: shortfall.smallest):
        least.setdefault(shortfall.metric, shortfall)
    return [_line(shortfall) for shortfall in least.values()] or [CONTRADICTION]


def _line(shortfall: Shortfall) -> str:
    verb = "the smallest that could be met" if shortfall.proven else "no value below could be met; proven so far:"
    kept = " with the other limits as they are" if shortfall.others_kept else ""
    return (
        f"limit {shortfall.metric} = {_shown(shortfall.bound)} cannot be met; "
        f"{verb}{kept} is {_shown(shortfall.smallest)} (design {shortfall.design})"
    )


def _shown(value: Fraction) -> str:
    return f"{float(value):,.4f}".rstrip("0").rstrip(".")
