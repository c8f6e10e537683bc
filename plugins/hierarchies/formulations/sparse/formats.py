"""The metadata that formats store beside the words of a tile, rank by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from ithaca.plugins.hierarchies.formulations.sparse.loops import Extents, LevelLoop
from ithaca.plugins.hierarchies.formulations.sparse.parts import Format, Rank
from ithaca.workloads.affine import Access
from ithaca.workloads.densities import Density, Sides

#: Words of metadata and payloads of every rank, innermost first.
Units = tuple[tuple[float, float], ...]


class UnsuitedError(ValueError):
    """The loops of a mapping that a format has no ranks for."""


@dataclass(frozen=True)
class Ranks:
    """The loops of a tile as the ranks of its format, innermost first."""

    groups: tuple[tuple[LevelLoop, ...], ...]
    """The loops of every rank."""
    tiles: tuple[Sides, ...]
    """Sides of a tile below every rank, and of the one that has all."""


def ranked(
    access: Access,
    stored: Format | None,
    own: Sequence[LevelLoop],
    inner: Ranks | None,
    covered: Extents,
) -> Ranks:
    """Give the loops of a level to the ranks of its format.

    Parameters
    ----------
    access : Access
        The tensor.
    stored : Format, optional
        The format; None: words alone, one rank of all loops.
    own : sequence of Loop
        The loops of the level, and of those between it and the next that keeps the tensor,
        innermost first.
    inner : Ranks, optional
        The ranks of that level, where its tiles are stored one by one.
    covered : Extents
        Iterations that all inside covers, where they are not.
    """
    loops = [loop for loop in own if access.indexed_by(loop.name)]
    if inner is None:
        left = dict(covered)
        for place, loop in enumerate(loops):
            loops[place] = replace(loop, trips=loop.trips * left.pop(loop.name, 1))
    ranks = (Rank("UB", 0, 0, (tuple(covered),)),) if stored is None else stored.ranks
    inwards = stored is None or stored.inwards
    first = len(inner.groups) if inner else 0
    groups: list[tuple[LevelLoop, ...]] = []
    tops: list[Sides] = []
    least, word = tuple(access.sides(loops[0].inside)), (1,) * len(access.subscripts)

    def add(group: tuple[LevelLoop, ...], top: Sides, outermost: bool) -> None:
        groups.insert(len(groups) if outermost else 0, group)
        tops.insert(len(tops) if outermost else 0, top)

    waiting = [loop for loop in (loops[::-1] if inwards else loops) if loop.trips > 1]
    free = list(range(first, len(ranks)))
    while free and waiting:
        rules = ranks[free.pop(-1 if inwards else 0)].flattens
        loop = waiting[0]
        rule = next((rule for rule in rules if loop.name in rule), ())
        if rules and not rule:  # the rank stays empty
            add((), least if inwards else word, True)
            continue
        taken = 1
        while taken < len(waiting) and waiting[taken].name in rule:
            taken += 1
        add(tuple(waiting[:taken]), tuple(access.sides(loop.inside)), not inwards)
        del waiting[:taken]
    for _ in free:
        add((), least, not inwards)
    if waiting:
        raise UnsuitedError(f"more compression ranks needed for {access.tensor}")
    if inner is None:
        return Ranks(tuple(groups), (word, *tops))
    return Ranks((*inner.groups, *groups), (*inner.tiles, *tops))


def units(
    access: Access, stored: Format, ranks: Ranks, density: Density, tile: Sides, held: int
) -> Units:
    """Words of metadata and payloads of every rank, innermost first, of a tile that holds some
    words; the innermost payloads are those words.

    A rank has one fiber for each element of the one around it that is not empty.

    Parameters
    ----------
    access : Access
        The access of the tensor.
    stored : Format
        Its format.
    ranks : Ranks
        Loops and tiles of its ranks.
    density : Density
        Its density.
    tile : tuple of int
        Sides of the tile.
    held : int
        Words of it that are not zero.
    """
    around, fibers, ranked_units = (tile, held), 1, list[tuple[float, float]]()
    empty = density.empty(tile, around)
    for place in reversed(range(len(ranks.groups))):
        extents = dict.fromkeys(access.loops, 1)
        for loop in ranks.groups[place]:
            extents[loop.name] = extents.get(loop.name, 1) * loop.trips
        shape = access.box(extents)
        below = density.empty(ranks.tiles[place], around)
        idle = shape == 1 and place != (len(ranks.groups) - 1 if stored.inwards else 0)
        ranked_units.append(
            (0.0, 0.0) if idle else _units(stored.ranks[place].format, fibers, shape, empty, below)
        )
        fibers, empty = fibers * shape, below
    ranked_units.reverse()
    if (last := next((n for n, own in enumerate(ranked_units) if any(own)), None)) is not None:
        ranked_units[last] = ranked_units[last][0], 0.0
    return tuple(ranked_units)


def _units(kind: str, fibers: int, shape: int, empty: float, below: float) -> tuple[float, float]:
    """Metadata and payload units of a rank of fibers of a shape; ``empty`` and ``below`` are the
    probabilities that a fiber and an element are empty."""
    full, stored = fibers * (1 - empty), shape * (1 - below)
    match kind:
        case "UOP":
            return 0.0, full * (shape + 1)
        case "UB":
            return fibers * shape, fibers * shape
        case "B":
            return full * shape, full * ceil(stored)
        case "RLE":
            return stored * full, stored * full
    return ceil(stored) * full, ceil(stored) * full
