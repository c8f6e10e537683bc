"""Choices of loops that index tensors together: factors inside the PEs, factors around them, and
columns of what each choice takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.plugins.hierarchies.formulations.constraints import Constraints
from ithaca.plugins.hierarchies.formulations.orders import sharing
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
    Capacities,
    StoredLayer,
)
from ithaca.workloads.nest import MAX_EXTENT


def groups(layer: StoredLayer) -> tuple[tuple[str, ...], ...]:
    """The loops by group, in the order of the nest."""
    loops = layer.nest.loops
    return tuple(sorted(sharing(layer.nest, loops), key=lambda group: loops.index(group[0])))


def divisors(number: int) -> Integers:
    """All divisors of a number, ascending."""
    numbers = np.arange(1, number + 1)
    dividing: Integers = numbers[number % numbers == 0]
    return dividing


def quotients(number: int, *, exact: bool) -> tuple[Integers, Integers]:
    """Factor pairs (p, d) of a number: all with p·d equal to it, or those with p·d at least that
    where neither can be less."""
    if exact:
        numbers = divisors(number)
        return numbers, number // numbers
    least = np.unique(-(-number // np.arange(1, number + 1)))
    return least, -(-number // least)


def inner_choices(
    extent: int, most_r: int, most_s: int, *, exact: bool
) -> tuple[Integers, Integers]:
    """Factors of a loop in register files and over PEs.

    With padding, those of which neither can be lowered without more trips q = ceil(extent / (r·s))
    outside (DMAZERUNNER's lemma: then nothing gets worse, for the tiles are no larger, and no trip
    is added).

    Parameters
    ----------
    extent : int
        Iterations of the loop.
    most_r, most_s : int
        The largest factors in register files, and over PEs.
    exact : bool
        Whether factors must divide the extent.

    Returns
    -------
    tuple of ndarray
        The factors r and s.
    """
    if exact:
        r, s = np.meshgrid(divisors(extent), divisors(extent), indexing="ij")
        keep = extent % (r * s) == 0
    else:
        sides = [np.arange(1, min(extent, most) + 1) for most in (most_r, most_s)]
        r, s = np.meshgrid(*sides, indexing="ij")
        q = -(-extent // (r * s))
        keep = ((r - 1) * s * q < extent) & (r * (s - 1) * q < extent)
    keep &= (r <= most_r) & (s <= most_s)
    return r[keep], s[keep]


@dataclass(frozen=True)
class InnerChoices:
    """The inner choices of a group of loops: rows (r, s), sorted by their tile u = r·s."""

    loops: tuple[str, ...]
    r: Integers
    """Factors in the register files, by loop and row."""
    s: Integers
    """Factors over PEs."""
    tile_of: Integers
    """The number of the tile of each row."""
    tiles: Integers
    """U by loop and tile."""
    trips: Integers
    """ceil(extent / u)."""
    first: Integers
    """First row of each tile, and the number of rows in the end."""
    constraints: Constraints
    """The restrictions of factors."""
    exact: bool
    """Whether factors multiply to the extents."""

    @cached_property
    def counts(self) -> Integers:
        """Rows of each tile."""
        return np.diff(self.first)

    @cached_property
    def outer(self) -> tuple[Integers, Integers, Integers]:
        """The outer choices of all tiles, one after another: factors p and d by loop, and where
        each tile's begin."""
        ps, ds, begins = [], [], [0]
        for trips in self.trips.T:
            poll()
            options = []
            for loop, count in zip(self.loops, trips, strict=True):
                p, d = quotients(int(count), exact=self.exact)
                keep = allowed(self.constraints, loop, {SPM: p, DRAM: d})
                options.append((p[keep], d[keep]))
            grids = [np.meshgrid(*side, indexing="ij") for side in zip(*options, strict=True)]
            ps.append(np.stack([g.ravel() for g in grids[0]]))
            ds.append(np.stack([g.ravel() for g in grids[1]]))
            begins.append(begins[-1] + ps[-1].shape[1])
        return np.concatenate(ps, axis=1), np.concatenate(ds, axis=1), np.array(begins)


def allowed(constraints: Constraints, loop: str, factors: Mapping[str, Integers]) -> Mask:
    """A mask of the choices of a loop's factors that constraints allow.

    Parameters
    ----------
    constraints : Constraints
        Ranges of factors.
    loop : str
        The loop.
    factors : mapping of str to Integers
        By slot, the factors of each choice, shape (choices).

    Returns
    -------
    Mask
        Shape (choices).
    """
    fitting = np.ones(next(iter(factors.values())).size, np.bool_)
    for slot, column in factors.items():
        low, high = factor_range(constraints, loop, slot)
        fitting &= (column >= low) & (column <= high)
    return fitting


def factor_range(constraints: Constraints, loop: str, slot: str) -> tuple[int, int]:
    """The least and the largest factor that a loop may have in a slot.

    Parameters
    ----------
    constraints : Constraints
        Ranges of factors.
    loop : str
        The loop.
    slot : str
        A level's name for its temporal loops, or that of the spatial ones.
    """
    span = (
        constraints.factor(SPM, "spatial", loop)
        if slot == SPATIAL
        else constraints.factor(slot, "temporal", loop)
    )
    return span.low, MAX_EXTENT if span.high is None else span.high


def make_group(
    layer: StoredLayer,
    machine: Capacities,
    loops: tuple[str, ...],
    constraints: Constraints,
    *,
    exact: bool,
) -> InnerChoices:
    """The inner choices of a group of loops.

    Parameters
    ----------
    layer : StoredLayer
        Extents of its loops, and the tensors that they index.
    machine : Capacities
        The capacities, which leave out what does not fit alone.
    loops : tuple of str
        The group.
    constraints : Constraints
        Restrictions of factors.
    exact : bool
        Whether factors must divide extents.

    Returns
    -------
    InnerChoices
        The choices, sorted by their tile.
    """
    extents = np.array([layer.nest.sizes[loop] for loop in loops], dtype=np.int64)
    choices = []
    for loop, extent in zip(loops, extents, strict=True):
        # a register file holds a word of every tensor at least, and as many words of one as a loop
        # has iterations there
        r, s = inner_choices(int(extent), machine.rf_words, machine.pes, exact=exact)
        keep = allowed(constraints, loop, {RF: r, SPATIAL: s})
        choices.append((r[keep], s[keep]))
    places = np.meshgrid(*(np.arange(len(r)) for r, _ in choices), indexing="ij")
    r = np.stack([choice[0][place.ravel()] for choice, place in zip(choices, places, strict=True)])
    s = np.stack([choice[1][place.ravel()] for choice, place in zip(choices, places, strict=True)])
    keep = s.prod(axis=0) <= machine.pes
    tiles, tile_of = np.unique(r[:, keep] * s[:, keep], axis=1, return_inverse=True)
    order = np.argsort(tile_of.ravel(), kind="stable")
    tile_of = tile_of.ravel()[order]
    first = np.searchsorted(tile_of, np.arange(tiles.shape[1] + 1))
    trips = -(-extents[:, None] // tiles)
    return InnerChoices(
        loops,
        r[:, keep][:, order],
        s[:, keep][:, order],
        tile_of,
        tiles,
        trips,
        first,
        constraints,
        exact,
    )


@dataclass(frozen=True)
class OuterChoices:
    """Outer choices of some tiles."""

    tile: Integers
    """Which of the tiles each is of."""
    choices: Integers
    """The choice of each group."""
    banks: Floats
    """Banks in use."""
    parts: list[tuple[Any, ...]]
    """Costs of transfers, by reused tensor, as the tables count them."""


@dataclass(frozen=True)
class ChoiceColumns:
    """Equally long columns by name; those of several groups multiply."""

    data: dict[str, Floats]
    """The columns that are known."""
    make: Callable[[str], Floats] | None = None
    """Makes the others, when they are needed."""

    def __getitem__(self, name: str) -> Floats:
        if self.make is not None and name not in self.data:
            self.data[name] = self.make(name)
        return self.data[name]

    def take(self, places: Any) -> ChoiceColumns:
        """The entries of given numbers."""
        return ChoiceColumns({}, lambda name: self[name].take(places))

    def times(self, other: ChoiceColumns) -> ChoiceColumns:
        """The product with others, entry by entry."""
        return ChoiceColumns({}, lambda name: self[name] * other[name])

    def by_tensor(self, name: str, tensors: Sequence[str]) -> dict[str, Floats]:
        """The columns of that name of every tensor."""
        return {tensor: self[f"{name}.{tensor}"] for tensor in tensors}

    @property
    def least(self) -> ChoiceColumns:
        """The least entry of each, as a column of one."""
        return ChoiceColumns({}, lambda name: self[name].min(keepdims=True))


#: Columns of one entry that leave others as they are.
ONES = ChoiceColumns({}, lambda name: np.ones(1))


def by_loop(group: InnerChoices, factors: Integers) -> dict[str, Floats]:
    """Columns of a group's factors, by loop, as floats: products of them do not overflow."""
    return {loop: column.astype(float) for loop, column in zip(group.loops, factors, strict=True)}


def ragged(counts: Integers) -> tuple[Integers, Integers]:
    """The entry of every part, where each entry has so many parts, and the part's number among
    those of its entry."""
    owner = np.repeat(np.arange(counts.size), counts)
    begins = np.cumsum(counts) - counts
    return owner, np.arange(owner.size) - begins[owner]
