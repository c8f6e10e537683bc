"""Labels that others are better than.

Of a loop whose tiles never overlap, labels with as many trips left have the same choices outside:
⌈⌈n/e⌉/f⌉ = ⌈n/(e·f)⌉. With least paddings one that covers less, for no more, is therefore at least
as good; elsewhere only what covers the same can be compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.plugins.hierarchies.formulations.search.outer_levels import trips_left
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import Matrix, PartialMappings

#: Rounds at most, each of which compares all labels of a group with one of them; and the share that
#: the last one has removed.
ROUNDS, WORTH = 60, 0.01


def undominated(keys: Matrix, costs: Matrix) -> NDArray[np.intp]:
    """Columns without those that another one with the same keys is at least as good as, in every
    row of costs.

    Of equals the first is left. Some that are dominated may be left, too.
    """
    count = costs.shape[1]
    if count < 2:
        return np.arange(count)
    scale = np.maximum(np.abs(costs).max(axis=1), 1e-300)
    weight = (costs / scale[:, None]).sum(axis=0)
    _, key = np.unique(_number(keys), return_inverse=True)
    order = np.lexsort((weight, key))
    group, costs = key[order], costs[:, order]
    alive, done = np.arange(count), []
    for _ in range(ROUNDS):
        # the first of every group is left; what it is as good as goes
        first = np.ones(alive.size, bool)
        first[1:] = group[alive[1:]] != group[alive[:-1]]
        done.append(alive[first])
        rest, leader = alive[~first], alive[first][(np.cumsum(first) - 1)[~first]]
        beaten = np.arange(rest.size)
        for row in costs:
            beaten = beaten[row[leader[beaten]] <= row[rest[beaten]]]
        alive = np.delete(rest, beaten)
        if beaten.size <= WORTH * rest.size:
            break
    return np.sort(order[np.concatenate([*done, alive])])


def _number(keys: Matrix) -> Floats | Integers:
    """A number for every column, the same for the same ones."""
    high = keys.max(axis=1) + 1
    if high.prod() < 2.0**62:
        numbers = np.zeros(keys.shape[1], np.int64)
        for row, most in zip(keys, high, strict=True):
            numbers = numbers * int(most) + row.astype(np.int64)
        return numbers
    return np.unique(keys, axis=1, return_inverse=True)[1].ravel()


def undominated_labels(
    labels: PartialMappings, *, meshes_left: bool, timed: bool, lanes: bool, padded: bool
) -> NDArray[np.intp]:
    """Labels without those that others with the same choices left are at least as good as in all
    that matters outside.

    Parameters
    ----------
    labels : PartialMappings
        The labels, decided up to the same place.
    meshes_left : bool
        Whether lanes may still be added.
    timed : bool
        Whether cycles count.
    lanes : bool
        Whether fewer lanes may be better.
    padded : bool
        Whether factors may multiply to more than the extents, and less of it is never worse.

    Returns
    -------
    NDArray
        The places of those that are kept.
    """
    layout, hierarchy = labels.layout, labels.hierarchy
    extents = labels.rows("extent")
    keys, costs = [*extents], []
    if padded:
        left = trips_left(hierarchy, extents)
        for d in set(range(len(keys))) - hierarchy.overlapping - set(hierarchy.ending):
            keys[d] = left[d]
            costs.append(extents[d])
    if meshes_left:
        keys.append(labels.row("mesh"))
    settled, first = labels.rows("settled"), labels.rows("first")
    output = hierarchy.output
    for place, number in enumerate(layout.counts):
        if number in hierarchy.relaxed:
            continue
        costs.append(settled[place])
        pending = [labels.rows(item)[place] for item in layout.items]
        costs += [row for row in pending if row.any()]
        if first[place].any():
            own = [
                row for row, item in zip(pending, layout.items, strict=True) if item[0] == output
            ]
            costs.append(settled[place] + sum(own) - first[place])
    costs += [*labels.rows("wanted"), *labels.rows("closed"), *labels.rows("leak")]
    costs += [*labels.rows("reach"), *labels.rows("run")]
    if timed:
        costs.append(labels.row("steps"))
    if lanes:
        costs.append(labels.row("lanes"))
    for item in layout.items:
        for rank in hierarchy.tensors[item[0]].window_ranks:
            costs.append(-labels.row((*item, rank)))
    varying = [row for row in costs if row.size and (row != row[0]).any()]
    if not varying:
        varying = [costs[0]]
    return undominated(np.array(keys), np.array(varying))
