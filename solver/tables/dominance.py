"""Remove candidate rows that another row of the same axis makes superfluous.

A row is dominated if another is at least as good in every column: not larger where small
values are good, not smaller where large ones are. Every bound is monotone in its columns, so
replacing a dominated row by its dominator never makes any configuration worse or infeasible.
All filters are sound; none needs to find every dominated row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]
Mask = NDArray[np.bool_]


def run_heads(costs: Costs, keys: Sequence[NDArray[np.int64]]) -> Mask:
    """Keep a row unless the first row of its run dominates it: of consecutive rows with equal keys."""
    rows = costs.shape[1]
    starts = np.zeros(rows, bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    head = np.maximum.accumulate(np.where(starts, np.arange(rows), 0))
    dominated: Mask = ~starts
    for column in costs:
        dominated &= column[head] <= column
    return ~dominated


def duplicates(costs: Costs) -> Mask:
    """Keep the first of rows that agree in every column."""
    weights = np.random.default_rng(0).random(costs.shape[0])
    order = np.argsort(weights @ costs, kind="stable")
    equal = np.ones(max(order.size - 1, 0), bool)
    for column in costs:
        values = column[order]
        equal &= values[1:] == values[:-1]
    keep = np.ones(order.size, bool)
    keep[order[1:][equal]] = False
    return keep
