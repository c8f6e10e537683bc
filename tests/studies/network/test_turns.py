"""Turns of layers that compute halos of windows again, element by element."""

from math import prod

import pytest

from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import GOLDEN


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("trips", [{"q": 4}, {"q": 2, "n": 2}, {"n": 3}])
def test_turns_of_windows_are_those_of_all_tiles_one_by_one(trips, stride, padding):
    """The rows that a turn of the second convolution reads, element by element, and what the first
    one multiplies and reads for them."""
    read = stride * 7 + 3
    sizes = {"m": 2, "p": read - padding, "t": 2}
    first = nest_of("T[m][p] += A[p+t] * B[m][t]", sizes)
    second = nest_of(
        f"C[n][q] += T[m][{stride}*q+r] * W[n][m][r]", {"n": 6, "q": 8, "m": 2, "r": 3}
    )
    designs = [UnevenDesign(nest, GOLDEN, MappingOptions(True)) for nest in (first, second)]
    tiled = designs[0].tiled(designs[1:])
    ways = tuple(trips.get(loop.name(1), 1) for loop in tiled.classes)
    made = tiled.turned(0, ways)
    rows, macs, words = 8 // trips.get("q", 1), 0, 0
    for _ in range(trips.get("n", 1)):
        for begin in range(0, 8, rows):
            wanted = {stride * q + r for q in range(begin, begin + rows) for r in range(3)}
            wanted = wanted if trips.get("q") else set(range(sizes["p"]))
            assert tiled.at_once(0, ways) == 2 * len(wanted)
            macs += len(wanted) * 2 * 2
            words += len({p + t for p in wanted for t in range(2)})
    assert made.operations == macs
    shared = tiled.shared(0, ways, {})
    kept = tiled.kept(0, ways, (1, 1))
    model = kept.outside(shared)
    assert model.reads(0, "A") == words
    assert model.reads(0, "B") == 4 * prod(trips.values())
