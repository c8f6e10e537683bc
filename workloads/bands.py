"""Tiles of a banded matrix, whose words are those no further than a width from its diagonal.

A tile's words follow from its sides and its offset, by which its first row is beyond its first
column. So tiles are counted by their offsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import gcd

#: Elements of a tensor or tile along every rank.
Sides = tuple[int, ...]


def words_in(tile: Sides, offset: int, width: int) -> int:
    """The words of a tile that are in the band.

    Parameters
    ----------
    tile : tuple of int
        Its sides.
    offset : int
        Its offset.
    width : int
        The width of the band.
    """
    return _beyond(tile, -width - offset) - _beyond(tile, width + 1 - offset)


def _beyond(tile: Sides, least: int) -> int:
    """Places of a tile whose row is at least so far beyond the column."""
    rows, columns = tile
    return (
        _triangle(rows - least)
        - _triangle(-least)
        - _triangle(rows - columns - least)
        + _triangle(-columns - least)
    )


def _triangle(side: int) -> int:
    return side * (side + 1) // 2 if side > 0 else 0


@lru_cache(1 << 10)
def tiles_with_words(around: Sides, tile: Sides, width: int, offset: int = 0) -> Mapping[int, int]:
    """The number of tiles of a box that have words, by their offsets; those that the box cuts are
    none.

    Parameters
    ----------
    around : tuple of int
        Sides of the box.
    tile : tuple of int
        Sides of a tile.
    width : int
        The width of the band.
    offset : int
        The offset of the box.
    """
    rows, columns = tile
    down, along = around[0] // rows, around[1] // columns
    step = gcd(rows, columns)
    own, other = rows // step, columns // step  # place i · own - j · other, in steps
    inverse = pow(own, -1, other)
    least = max(1 - rows - width - offset, (1 - along) * columns)
    most = min(columns - 1 + width - offset, (down - 1) * rows)
    counts = {}
    for place in range(-(-least // step), most // step + 1):
        first = place * inverse % other  # the least i
        beside = (first * own - place) // other  # its j
        begin = max(0, -(beside // own))
        end = min((down - 1 - first) // other, (along - 1 - beside) // own)
        if end >= begin:
            counts[offset + place * step] = end - begin + 1
    return counts


@lru_cache(1 << 10)
def offsets_by_words(around: Sides, tile: Sides, width: int) -> Mapping[int, Mapping[int, int]]:
    """The tiles of a matrix that have words, by their words and offsets.

    Parameters
    ----------
    around : tuple of int
        Sides of the matrix.
    tile : tuple of int
        Sides of a tile.
    width : int
        The width of the band.
    """
    by_words: dict[int, dict[int, int]] = {}
    for offset, count in tiles_with_words(around, tile, width).items():
        by_words.setdefault(words_in(tile, offset, width), {})[offset] = count
    return dict(sorted(by_words.items()))
