"""Reasons why nothing meets the limits, in words: those that cannot be met, and what would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, log10
from types import MappingProxyType

from ithaca.files.numbers import number
from ithaca.formulations.design import Metric
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.limits import typed_unit
from ithaca.solver.shortfall import TOGETHER, Shortfall

#: Why nothing is feasible although no limit by itself is at fault.
CONTRADICTION = "the limits contradict each other, and raising a single one is not enough"

#: No metric whose unit is known.
NO_METRICS: Mapping[str, Metric] = MappingProxyType({})

#: How a line begins that names limits of which it is open whether raising one alone would do.
OPEN = "whether raising"


def contradiction(metrics: Sequence[str]) -> str:
    """The contradiction in words, with the limits that are part of it by their metrics."""
    return CONTRADICTION.replace("limits", f"limits {' and '.join(metrics)}", 1)


def explain(
    shortfalls: Sequence[Shortfall], designs: int, metrics: Mapping[str, Metric] = NO_METRICS
) -> list[str]:
    """One line per limit that would help infeasible designs, with the smallest value over them that
    would do; then the same of what several problems miss together.

    Limits of which searches did not tell in time whether they would help are named in a last line.

    Parameters
    ----------
    shortfalls : sequence of Shortfall
        What is known of the limits.
    designs : int
        The number of infeasible designs.
    metrics : mapping of str to Metric, optional
        Metrics whose units are known, such as W or GB/s.
    """
    together = [shortfall for shortfall in shortfalls if shortfall.design == TOGETHER]
    if 0 < len(together) < len(shortfalls):
        alone = [shortfall for shortfall in shortfalls if shortfall.design != TOGETHER]
        return [*explain(alone, designs, metrics), *explain(together, 1, metrics)]
    open_ = list(
        dict.fromkeys(shortfall.metric for shortfall in shortfalls if shortfall.smallest is None)
    )
    known = [
        (shortfall.smallest, shortfall)
        for shortfall in shortfalls
        if shortfall.smallest is not None
    ]
    helpful = [each for each in known if each[1].others_kept]
    if not helpful:
        # a limit is at fault by itself only if no design meets it
        counts = Counter(shortfall.metric for _, shortfall in known)
        helpful = [each for each in known if counts[each[1].metric] >= designs]
    least: dict[str, tuple[Fraction, Shortfall]] = {}
    for smallest, shortfall in sorted(helpful, key=lambda each: each[0]):
        least.setdefault(shortfall.metric, (smallest, shortfall))
    lines = [
        _line(*each, metric in open_, typed_unit(metric, metrics)) for metric, each in least.items()
    ]
    if left := [
        metric for metric in open_ if metric not in least or not least[metric][1].others_kept
    ]:
        lines.append(
            f"{OPEN} {' or '.join(left)} alone would do is open, as the search ended before"
        )
    return lines or [CONTRADICTION]


def _line(smallest: Fraction, shortfall: Shortfall, open_: bool, unit: str) -> str:
    if is_requirement(shortfall.metric):
        return _unmet(smallest, shortfall)
    value = f"{rounded(smallest, up=shortfall.proven)} {unit}".rstrip()
    kept = " with the other limits as they are" if shortfall.others_kept else ""
    partly = open_ and shortfall.others_kept  # of another design nothing is known
    if not shortfall.proven:
        of = " by this design" if partly else ""
        least = f"no value below {value} could be met{of}{kept}, as far as is proven"
    elif partly:
        least = f"a value that would do, perhaps not the smallest,{kept} is {value}"
    else:
        least = f"the smallest that could be met{kept} is {value}"
    bound = f"{number(shortfall.bound)} {unit}".rstrip()
    return f"limit {shortfall.metric} = {bound} cannot be met; {least} (design {shortfall.design})"


def _unmet(smallest: Fraction, shortfall: Shortfall) -> str:
    """The line of a requirement, whose sides differ by so much at least."""
    by = rounded(smallest, up=False)
    kept = " with the limits as they are" if shortfall.others_kept else ""
    known = "" if shortfall.proven else ", as far as is proven"
    return (
        f"requirement {shortfall.metric} cannot be met: it is missed by {by} at least{kept}"
        f"{known} (design {shortfall.design})"
    )


def last_digit(value: Fraction) -> Fraction:
    """The last digit of a value that is written: the fourth one that counts, or behind the
    point."""
    return Fraction(1, 10 ** (3 - floor(log10(abs(value))) if 0 < abs(value) < 1 else 4))


def rounded(value: Fraction, *, up: bool) -> str:
    """A value that would do (``up``), or a lower bound of it, as `number` writes it, rounded so
    that this holds of what is written."""
    digit = last_digit(value)
    return number((ceil if up else floor)(value / digit) * digit)
