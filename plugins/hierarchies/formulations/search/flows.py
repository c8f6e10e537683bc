"""Words that move between levels, as counts weigh them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ithaca.plugins.hierarchies.formulations.search.hierarchy import Count, Hierarchy


@dataclass(frozen=True)
class Flow:
    """Words of a tensor that a level is filled with, gives or takes, in all."""

    weight: int
    """The weight of a word."""
    tensor: int
    """The number of the tensor."""
    own: int
    """The level whose instances count."""
    child: int
    """The level inside whose tiles these are; beyond the last level the multipliers."""
    again: bool
    """Whether words of the first time do not count."""


def flows_of(hierarchy: Hierarchy, count: Count) -> Iterator[Flow]:
    """The words that a count weighs."""
    levels = range(len(hierarchy.levels))
    for v, tensor in enumerate(hierarchy.tensors):
        kept = [level for level in levels if hierarchy.keeps[level][v]]
        for child in (*kept, len(levels)):
            parent = hierarchy.parent(child, v)
            if parent is None:
                continue
            read, fill = count.reads.get((parent, v), 0), count.fills.get((child, v), 0)
            update = count.updates.get((parent, v), 0) if tensor.output else 0
            for weight, own, again in (
                (read, parent, tensor.output),
                (update, parent, False),
                (fill, child, tensor.output),
            ):
                if weight:
                    yield Flow(weight, v, own, child, again)
