"""The options of a loop of a mapping: its factors in every step, with what they cost, cover and
use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.number_systems import ceilings
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy
from ithaca.plugins.hierarchies.formulations.search.pareto import undominated
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import fits

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension, MappingStep


#: A factor: what it is of, and of which levels.
Row = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class LoopOptions:
    """Factors of a loop, a column for each option."""

    factors: Floats
    """Shape (steps, options), innermost step first."""
    steps: Sequence[MappingStep]
    """The meaning of the rows."""

    @property
    def count(self) -> int:
        """The number of options."""
        return int(self.factors.shape[1])

    def take(self, places: Integers) -> LoopOptions:
        """Some of the options."""
        return LoopOptions(self.factors[:, places], self.steps)

    def value(self, row: Row) -> Floats:
        """A factor of all options."""
        what, own, level = row
        if what == "covered":
            return self.covered(level)
        if what == "trips":
            return self.trips(level)
        if what == "run":  # what an instance's tiles and trips cover
            return self.covered(0) / self.lanes_outside(own)
        if what == "mesh":
            return self.lanes(own)
        if what == "steps":
            return self.trips_outside(max(step.level for step in self.steps))
        if what == "lanes":
            return self.lanes_outside(own)
        around = self.trips_outside(level)
        return (around - 1 if what == "again" else around) * self.lanes_outside(own)

    def trips(self, level: int) -> Floats:
        """The trips in a level."""
        return self._over(lambda step: not step.lanes and step.level == level)

    def trips_outside(self, level: int) -> Floats:
        """The trips in a level and all around it, together."""
        return self._over(lambda step: not step.lanes and step.level <= level)

    def lanes(self, level: int) -> Floats:
        """The lanes of a mesh inside a level."""
        return self._over(lambda step: step.lanes and step.level == level)

    def lanes_outside(self, level: int) -> Floats:
        """The lanes of all meshes outside a level."""
        return self._over(lambda step: step.lanes and step.level < level)

    def covered(self, level: int) -> Floats:
        """The extent that a tile of a level covers."""
        return self._over(lambda step: step.level >= level)

    def _over(self, holds: Callable[[MappingStep], bool]) -> Floats:
        rows = [row for row, step in zip(self.factors, self.steps, strict=True) if holds(step)]
        every: Floats = np.prod(rows, axis=0) if rows else np.ones(self.count)
        return every


def loop_options(
    search: Extension, loop: int, most: int, fullest: Hierarchy | None = None
) -> LoopOptions | None:
    """All options of a loop that fit alone, but those that others are as good as; None if there are
    more than so many at any time.

    Parameters
    ----------
    search : Extension
        The steps and the factors that they allow.
    loop : int
        The number of the loop.
    most : int
        How many options are worth making.
    fullest : Hierarchy, optional
        The levels where they keep all that they may, if the search is that of levels which keep as
        little as they may: the options are then those of all choices between.
    """
    hierarchy = search.hierarchy
    extent = hierarchy.extents[loop]
    factors, covered, widest = np.ones((0, 1)), np.ones(1), np.ones(1)
    for step in search.steps:
        poll()
        left = ceilings(extent, covered).astype(np.int64)
        kinds, which = np.unique(left, return_inverse=True)
        choices = [search.factors(int(kind), loop, step) for kind in kinds]
        counts = np.array([own.size for own in choices], np.int64)[which]
        if counts.sum() > most:
            return None
        origin = np.repeat(np.arange(covered.size), counts)
        own = np.concatenate([np.zeros(0), *(choices[kind] for kind in which)])
        made, wide = covered[origin] * own, np.maximum(widest[origin], own)
        extents = np.ones((len(hierarchy.loops), made.size))
        extents[loop] = made
        legal = fits(hierarchy, extents, step.level)
        if not search.divisors:
            legal &= search.hierarchy.lean(made, wide, loop)
        covered, widest = made[legal], wide[legal]
        factors = np.concatenate([factors[:, origin[legal]], own[legal][None]])
    # what costs where levels keep less costs where they keep more, too
    return _undominated(fullest or hierarchy, LoopOptions(factors, search.steps), loop)


def _undominated(hierarchy: Hierarchy, options: LoopOptions, loop: int) -> LoopOptions:
    """Options without those that others are as good as in all that costs or uses anything.

    Nothing falls with what an option covers, with its lanes, its trips around any level, or with
    whether it has trips in a level: these may close tiles of other loops.
    """
    if options.count < 2:
        return options
    levels = range(len(hierarchy.levels))
    moving = [tensor.moved[loop] for tensor in hierarchy.tensors]
    # the steps of a mapping are the trips around its innermost level, whatever moves
    costs = [options.covered(0), options.trips_outside(levels[-1])]
    for level in levels:
        tensors = {v for room in hierarchy.room(level) for v in room[0]}
        if any(moving[v] for v in tensors):
            costs.append(options.covered(level))
    costs += [options.lanes(mesh.level) for mesh in hierarchy.meshes]
    if not all(moving):
        costs += [options.trips_outside(level) for level in levels]
    if any(moving):
        costs += [np.minimum(options.trips(level), 2) for level in levels]
    if any(not count.adds for count in hierarchy.counts):
        costs += [options.covered(0) / options.lanes_outside(level) for level in levels]
    for alike in ([options.lanes(mesh.level) for mesh in hierarchy.meshes], []):
        keys = np.array([np.ones(options.count), *alike])
        kept = undominated(keys, np.array(costs))
        costs = [row[kept] for row in costs]
        options = LoopOptions(options.factors[:, kept], options.steps)
    return options
