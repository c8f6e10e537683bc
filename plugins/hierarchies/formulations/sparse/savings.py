"""Savings: how often words are not read, because those that they would meet are zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from ithaca.plugins.hierarchies.formulations.sparse.loops import LevelLoop
from ithaca.workloads.affine import Access
from ithaca.workloads.densities import Density


def unread(
    target: Access,
    others: Sequence[Access],
    loops: Sequence[Sequence[LevelLoop]],
    scalar: bool,
    block: int,
    densities: Mapping[str, Density],
) -> float:
    """The probability that a read of a tensor meets a tile without a word in one of the others.

    What is read at once is met, until it changes, by a tile of each other tensor.

    Parameters
    ----------
    target : Access
        What is read.
    others : sequence of Access
        Those that it would meet.
    loops : sequence of sequences of Loop
        The loops between the level that reads and the next that keeps the tensor, level by level,
        innermost first.
    scalar : bool
        Whether the multipliers are that next one.
    block : int
        Words that are read at once.
    densities : mapping of str to Density
        Those of all tensors.
    """
    row = [loop for level in loops for loop in level]
    place, alone = _moving(target, loops, scalar)
    chosen = row[place]
    tile = dict.fromkeys(chosen.inside, 1) if alone else dict(chosen.inside)
    met, relevant, turned = dict(tile), [chosen], not chosen.spatial
    for loop in row[place + 1 :]:
        if loop.trips == 1:
            continue
        moves = scalar or target.indexed_by(loop.name)
        if loop.spatial or not (turned or moves):
            met[loop.name] *= loop.trips
            relevant.append(loop)
        turned = turned or (not loop.spatial and moves)
    effectual = 1.0
    for other in others:
        factors = {} if alone else _shared(target, other, relevant)
        if factors is None:
            continue
        own, product = dict(met), 1
        for trips in factors.values():
            product *= trips
        scale: float = ceil(block / (target.box(tile) / product))
        for name in own:
            if name in factors:
                own[name] = ceil(own[name] / (factors[name] / scale))
                scale /= factors[name]
        if scale > 1:
            own[chosen.name] = int(own[chosen.name] * scale)
        effectual *= 1 - densities[other.tensor].empty(tuple(other.sides(own)))
    return 1 - effectual


def _moving(target: Access, loops: Sequence[Sequence[LevelLoop]], scalar: bool) -> tuple[int, bool]:
    """The place of the loop whose iterations read a tile each, and whether a tile is a word."""
    place = 0
    for level in loops:
        for n, loop in enumerate(level):
            moves = loop.trips > 1 and target.indexed_by(loop.name)
            if scalar and not (n + 1 < len(level) and level[n + 1].spatial):
                return place, not loop.spatial
            if moves:
                return place, False
            place += 1
    return place - 1, False


def _shared(target: Access, other: Access, relevant: Sequence[LevelLoop]) -> dict[str, int] | None:
    """Trips of the loops that move both tensors; None where lanes of others would be in their
    way."""
    factors: dict[str, int] = {}
    for loop in relevant:
        if relevant[0].spatial and factors and other.indexed_by(loop.name):
            return None
        if target.indexed_by(loop.name) and other.indexed_by(loop.name):
            factors[loop.name] = factors.get(loop.name, 1) * loop.trips
    return factors
