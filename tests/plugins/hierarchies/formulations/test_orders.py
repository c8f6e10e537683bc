"""Orders that suffice, against all orders."""

import random
from itertools import permutations

import numpy as np
import pytest

from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.orders import sufficient_orders
from ithaca.plugins.hierarchies.formulations.points import model_of
from tests.plugins.hierarchies.formulations.cases import (
    nest_of,
    random_architecture,
    random_mapping,
    random_nest,
)


@pytest.mark.parametrize(
    ("statement", "extent", "orders"),
    [
        ("O[n][m][p][q] += I[n][c][p+r][q+s] * W[m][c][r][s]", 3, 8),
        ("O[n][m][p][q] += I[n][c][p][q] * W[m][c]", 3, 3),
        ("O[i][j] += A[i][k] * B[k][j]", 3, 3),
        ("O[i][j] += A[i][k] * B[k][j]", 1, 1),
    ],
)
def test_few_orders_suffice(statement, extent, orders):
    nest = nest_of(statement, dict.fromkeys(sorted({c for c in statement if c.islower()}), extent))
    assert len(sufficient_orders(nest, [access.tensor for access in nest.accesses])) == orders
    assert len(sufficient_orders(nest, [])) == 1
    assert len(sufficient_orders(nest, [nest.output.tensor])) == 1


def fills(design, mapping, orders):
    """Words that levels are filled with, by every one of some orders of all levels: a row for
    each."""
    names = [level.name for level in design.architecture.levels]
    mapped = [
        LoopMapping(mapping.factors, dict(zip(names, each, strict=True)), mapping.keeps)
        for each in orders
    ]
    model = model_of(design, mapped)
    kept = [
        (place, tensor)
        for place, name in enumerate(names)
        if place
        for tensor in mapping.keeps[name]
    ]
    columns = [
        [over / under for over, under in model.fills_of(*each).entries(len(orders))]
        for each in kept
    ]
    return np.array(columns).reshape(len(columns), len(orders)).T


def test_no_order_fills_less_than_all_that_suffice():
    """Whatever the trips and the orders of other levels, for any order of a level one that suffices
    fills none with more."""
    compared = 0
    for seed in range(80):
        rng = random.Random(seed)
        nest = random_nest(rng, (1, 2, 4, 8))
        architecture = random_architecture(rng, nest, 3)
        mapping, design = random_mapping(rng, nest, architecture), SpatialDesign(nest, architecture)
        moving = [loop for loop, extent in nest.extents if extent > 1]
        if len(moving) > 6:
            continue
        still = [loop for loop in nest.loops if loop not in moving]
        everything = [(*still, *order) for order in permutations(moving)]
        level = rng.randrange(3)
        for _ in range(3):
            other = [rng.choice(everything) for _ in range(3)]
            orders = [
                [(*other[:level], order, *other[level + 1 :]) for order in offered]
                for offered in (everything, design.orders[architecture.levels[level].name])
            ]
            tried, enough = (fills(design, mapping, each) for each in orders)
            assert (enough[:, None] <= tried[None]).all(axis=2).any(axis=0).all(), (seed, level)
            compared += len(everything)
    assert compared > 10_000
