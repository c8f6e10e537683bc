"""Mappings as rows: any mapping onto any hierarchy is read back from the columns that state it."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from ithaca.formulations.spatial.mapping import Mapping as LoopMapping
from ithaca.formulations.spatial.points import load_points
from ithaca.workloads.nest import LoopNest
from tests.formulations.spatial.cases import random_architecture, random_mapping, random_nest


def row(nest: LoopNest, mapping: LoopMapping) -> dict[str, str]:
    found = {f"K:{level}": " ".join(sorted(tensors)) for level, tensors in mapping.keeps.items()}
    for level, order in mapping.orders.items():
        found[f"T:{level}.permutation_innermost_first"] = "".join(reversed(order))
    for slot, factors in mapping.factors.items():
        kind = "T" if slot.temporal else "S"
        several = {loop: trips for loop, trips in factors.items() if trips > 1}
        stated = [f"{loop}={trips}" for loop, trips in several.items()]
        before = found.get(f"{kind}:{slot.level}.factors", "").split()
        found[f"{kind}:{slot.level}.factors"] = " ".join([*before, *stated])
        if not slot.temporal:
            found[f"S:{slot.level}.{slot.direction.upper()}"] = "".join(several)
    return found


def test_rows_state_mappings(tmp_path: Path) -> None:
    meshes = set()
    for seed in range(60):
        rng = random.Random(seed)
        nest = random_nest(rng)
        architecture = random_architecture(rng, nest, rng.randint(2, 6))
        drawn = [random_mapping(rng, nest, architecture) for _ in range(3)]
        rows = [row(nest, mapping) for mapping in drawn]
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path = tmp_path / f"{seed}.csv"
        path.write_text(text.getvalue())
        for point, mapping in zip(load_points(path, architecture, nest), drawn, strict=True):
            assert point.mapping.orders == mapping.orders
            assert point.mapping.keeps == mapping.keeps
            for slot in mapping.factors:
                assert all(point.mapping.factor(slot, loop) == mapping.factor(slot, loop) for loop in nest.loops), (seed, slot)
        meshes.add(sum(slot.direction == "x" for slot in drawn[0].factors))
    assert meshes >= {0, 1, 2, 3}
