"""Accesses of several words, and of several instances together: counted in whole ones.

Bounds take a word for its share of an access. What labels are compared by are the words of an
instance, of every tensor that a level of such accesses reads, fills or updates: costs fall with
none of them, so that what is dominated in all of them is no better whatever is rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ithaca.plugins.hierarchies.formulations.search.hierarchy import Count, Hierarchy
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import Matrix, PartialMappings


@dataclass(frozen=True, slots=True)
class SharedAccesses:
    """Words of a tensor that an instance reads, or is filled or updated with, many an access."""

    count: Count
    """The count of the words."""
    level: int
    """The level."""
    units: int
    """Units of a word."""
    weight: int
    """The cost of a word of an instance in bounds: its share of an access."""
    access: int
    """The cost of an access."""


class WholeAccesses:
    """The accesses of the levels that share them, for the energies that are asked for.

    Parameters
    ----------
    hierarchy : Hierarchy
        The levels.
    energies : mapping of str to int
        The places of energies among the counts, by metric.
    """

    def __init__(self, hierarchy: Hierarchy, energies: Mapping[str, int]) -> None:
        self.hierarchy = hierarchy
        names = [level.name for level in hierarchy.levels]
        #: By place of an energy, the levels that count to it and share accesses.
        self.levels = {
            place: shared
            for name, place in energies.items()
            if (
                shared := [
                    number
                    for number, own in enumerate(names)
                    if hierarchy.shares(number) and name in ("energy", f"{own}.energy")
                ]
            )
        }
        self.counting = tuple(sorted({level for each in self.levels.values() for level in each}))
        self.shared = tuple(each for level in self.counting for each in self._shared(level))
        whole = [hierarchy.energy(shared=False)] if energies.get("energy") in self.levels else []
        #: What labels are compared by instead of these energies.
        self.counts = (*whole, *(each.count for each in self.shared))

    def _shared(self, number: int) -> list[SharedAccesses]:
        hierarchy, level = self.hierarchy, self.hierarchy.levels[number]
        scale, units = hierarchy.energy_scale, hierarchy.units[number]
        return [
            SharedAccesses(
                hierarchy.words(number, v, what),
                number,
                units.values[hierarchy.tensors[v].name],
                int(cost * hierarchy.share(number, v) * scale),
                int(cost * scale),
            )
            for v, keeps in enumerate(hierarchy.keeps[number])
            for what, cost in level.prices.items()
            if keeps and cost
        ]

    @property
    def instances(self) -> tuple[tuple[int, ...], ...]:
        """A row for each of these levels that counts its instances, as leaks are counted."""
        every = range(len(self.hierarchy.levels))
        return tuple(tuple(int(level == own) for level in every) for own in self.counting)

    def add(self, vector: Matrix, words: Matrix, labels: PartialMappings) -> None:
        """Round up accesses in the energies of complete mappings.

        Parameters
        ----------
        vector : Matrix
            Whole numbers, a column for each label; changed in place.
        words : Matrix
            The words that share accesses, of an instance each, shape (`shared`, labels).
        labels : PartialMappings
            The labels.
        """
        if not self.shared:
            return
        working = dict(zip(self.counting, labels.rows("leak")[-len(self.counting) :], strict=True))
        for place, levels in self.levels.items():
            for each, of_one in zip(self.shared, words, strict=True):
                if each.level in levels:
                    level, instances = self.hierarchy.levels[each.level], working[each.level]
                    size = level.block * self.hierarchy.units[each.level].word
                    accesses = -(-of_one * each.units // size)
                    whole = accesses * np.minimum(instances, level.charged)
                    vector[3 + place] += each.access * whole - each.weight * of_one * instances
