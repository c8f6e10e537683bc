"""Mappings as rows: any mapping onto any hierarchy is read back from what was written of it."""

import random

from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.points import SpatialPoint, load_points, points_text
from tests.plugins.hierarchies.formulations.cases import (
    random_architecture,
    random_mapping,
    random_nest,
)


def test_rows_load_back(tmp_path):
    meshes = set()
    for seed in range(30):
        rng = random.Random(seed)
        nest = random_nest(rng)
        architecture = random_architecture(rng, nest, rng.randint(2, 6))
        drawn = [random_mapping(rng, nest, architecture) for _ in range(3)]
        design = SpatialDesign(nest, architecture)
        path = tmp_path / f"{seed}.csv"
        path.write_text(points_text([SpatialPoint(design, mapping) for mapping in drawn]))
        for point, mapping in zip(load_points(path, architecture, nest), drawn, strict=True):
            assert point.mapping.orders == mapping.orders
            assert point.mapping.keeps == mapping.keeps
            for slot in mapping.factors:
                assert all(
                    point.mapping.factor(slot, loop) == mapping.factor(slot, loop)
                    for loop in nest.loops
                ), (seed, slot)
        meshes.add(sum(slot.direction == "x" for slot in drawn[0].factors))
    assert meshes >= {0, 1, 2, 3}
