"""Hypervolumes against counting the cells of a grid one by one."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ithaca.plugins.codesign.studies.hypervolume import hypervolume, nondominated


def test_two_objectives_by_hand():
    points = [
        (Fraction(1), Fraction(3)),
        (Fraction(2), Fraction(1)),
        (Fraction(3), Fraction(3)),
        (Fraction(5), Fraction(0)),
    ]
    assert nondominated(points) == [points[0], points[1], points[3]]
    assert hypervolume(points, (Fraction(4), Fraction(4))) == 3 + 6 - 2
    assert hypervolume([], (Fraction(4), Fraction(4))) == 0


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
def test_volumes_are_the_dominated_cells(objectives):
    generator = np.random.default_rng(objectives)
    for _ in range(20):
        points = [
            tuple(Fraction(int(n)) for n in row)
            for row in generator.integers(0, 6, (7, objectives))
        ]
        cells = sum(
            any(all(a <= b for a, b in zip(point, cell, strict=True)) for point in points)
            for cell in product(range(5), repeat=objectives)
        )
        assert hypervolume(points, (Fraction(5),) * objectives) == cells
