"""Tiles of banded matrices against enumeration of the matrix."""

from collections import Counter
from itertools import product
from random import Random

import pytest

from ithaca.workloads.densities import (
    Banded,
    density_fields,
    read_densities,
    tiles_with_words,
    words_in,
)


def cut(matrix, sides):
    """The tiles of a matrix; not those that its end cuts."""
    (rows, columns), (height, breadth) = sides, (len(matrix), len(matrix[0]))
    return [
        [line[c : c + columns] for line in matrix[r : r + rows]]
        for r in range(0, height - rows + 1, rows)
        for c in range(0, breadth - columns + 1, columns)
    ]


def words(tile):
    return sum(map(sum, tile))


@pytest.mark.parametrize("seed", range(60))
def test_tiles_are_those_of_the_matrix(seed):
    rng = Random(seed)
    height, breadth = rng.randint(1, 14), rng.randint(1, 14)
    width = rng.randrange(7)
    matrix = [[int(abs(r - c) <= width) for c in range(breadth)] for r in range(height)]
    density = Banded(1.0, width=width).of((height, breadth))
    assert density.share == words(matrix) / (height * breadth)
    for tile in product(range(1, height + 1), range(1, breadth + 1)):
        tiles = cut(matrix, tile)
        counts = Counter(map(words, tiles))
        expected = {n: pytest.approx(count / len(tiles)) for n, count in counts.items()}
        assert dict(density.occupancies(tile)) == expected
        assert density.empty(tile) == pytest.approx(counts[0] / len(tiles))
        assert density.most(tile) == max(counts)
        whole = height % tile[0] == 0 == breadth % tile[1]
        if whole:
            assert density.mean(tile) == pytest.approx(sum(map(words, tiles)) / len(tiles))
        inner = rng.randint(1, tile[0]), rng.randint(1, tile[1])
        for held in counts:  # of the tiles that hold as many words
            within = [part for own in tiles if words(own) == held for part in cut(own, inner)]
            share = sum(words(part) == 0 for part in within) / len(within)
            assert density.empty(inner, (tile, held)) == pytest.approx(share)


@pytest.mark.parametrize("seed", range(20))
def test_no_fewer_tiles_than_words_are_of_the_band(seed):
    """Bounds rest on it, also for tiles that do not divide the matrix."""
    rng = Random(seed)
    side = rng.randint(1, 40)
    density = Banded(1.0, width=rng.randrange(side)).of((side, side))
    for tile in product(range(1, side + 1), repeat=2):
        assert 1 - density.empty(tile) >= density.share - 1e-12


def test_large_matrices_are_counted_without_their_tiles():
    side, width = 10**9, 5
    assert words_in((side, side), 0, width) == side + 2 * sum(side - n for n in range(1, 6))
    tiles = tiles_with_words((side, side), (4, 2), width)
    assert sum(n * words_in((4, 2), at, width) for at, n in tiles.items()) == words_in((side, side), 0, width)  # fmt: skip


def test_bands_are_stated_as_files_state_them():
    stated = {"densities": {"A": {"distribution": "banded", "band_width": 3}}}
    read = read_densities(stated, ["A"], "problem")
    assert read == (("A", Banded(1.0, width=3)),)
    assert density_fields(read) == stated["densities"]
    stated["densities"]["A"]["band_width"] = -1
    error = read_densities(stated, ["A"], "problem")
    assert error == "problem: densities.A: band_width is -1; allowed: a whole number from 0 on"
