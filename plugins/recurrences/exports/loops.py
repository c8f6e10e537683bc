"""Loops of recurrences in hardware: what bounds those of a PE, and which PEs there are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import product

from ithaca.plugins.recurrences.formulations.array import RecurrenceArray
from ithaca.plugins.recurrences.workloads.recurrence import Recurrence
from ithaca.plugins.recurrences.workloads.sums import ends
from ithaca.workloads.statement import AccessReader

#: Coefficient by loop of a sum that is 0 at least; that of the empty name is its constant.
Sum = Mapping[str, int]


def sums(nest: Recurrence) -> Iterator[Sum]:
    """The sums that are 0 at least where there is an iteration.

    Raises `InputError` if bounds are no sums.
    """
    reader = AccessReader(nest.name, nest.sizes)
    for loop, (first, end) in nest.bounds.items():
        texts = [f"{loop} - ({each})" for each in ends(first, "max")]
        for text in [*texts, *(f"{each} - 1 - {loop}" for each in ends(end, "min"))]:
            yield reader.linear(ast.parse(text, mode="eval").body)


def bounds(array: RecurrenceArray) -> Mapping[str, list[Sum]]:
    """The bounds of each loop of a PE over space loops and those around it, and under the empty
    name the conditions on space loops: loops are eliminated from the innermost on (Fourier and
    Motzkin)."""
    every, sums_of = [*sums(array.nest)], dict[str, list[Sum]]()
    for loop in reversed(array.own):
        sums_of[loop] = own = [each for each in every if each.get(loop)]
        every = [each for each in every if each not in own]
        for low, high in product(own, own):
            if (up := low[loop]) > 0 > (down := high[loop]):
                both = {x: up * high.get(x, 0) - down * low.get(x, 0) for x in {**low, **high}}
                every.append(both)
    return sums_of | {"": every}


def sum_text(each: Sum, prefix: str, but: str = "") -> str:
    """A sum but for a loop in SystemVerilog, where loops are called with a prefix.

    Parameters
    ----------
    each : Sum
        Coefficients by loop, and the constant.
    prefix : str
        What names of loops begin with.
    but : str, optional
        The loop that is left out.
    """
    terms = (f"{n} * {prefix}{x}" for x, n in each.items() if n and x not in ("", but))
    return " + ".join([*terms, str(each.get("", 0))])


def least(all_bounds: Mapping[str, list[Sum]], loop: str, prefix: str, sign: int) -> str:
    """The first (sign 1) or last (-1) value of a loop of a PE.

    Parameters
    ----------
    all_bounds : mapping of str to list of Sum
        Bounds by loop.
    loop : str
        The loop.
    prefix : str
        What names of loops begin with.
    sign : int
        1 for the first value, -1 for the last.
    """
    own = {sum_text(each, prefix, loop) for each in all_bounds[loop] if each[loop] == sign}
    *others, least = sorted(own)
    for other in others:
        least = f"least({other}, {least})"
    return f"-({least})" if sign > 0 else least
