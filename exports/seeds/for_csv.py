"""Seeds as a table: the columns that ``ithaca evaluate --points`` reads, with all metrics."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ithaca.exports.seeds.seeds import Seeds
from ithaca.formulations.systolic.data_types import DataType
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.evaluation import json_metrics
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.points import Point
from ithaca.formulations.technology import Technology
from ithaca.workloads.csv_text import csv_text

_DESIGN = ("app", "descriptor", "dataflow", "reuse", "edition")
_TILING = ("sizes", "array_part", "latency_hiding", "simd", "pack")


def seed_points(seeds: Seeds) -> tuple[Point, ...]:
    """The seeds as points."""
    design = systolic(seeds.space.problem)
    return tuple(Point(design.array, design.nest, design.tiling(configuration)) for configuration in seeds.configurations)


def points_text(points: Sequence[Point], data: DataType, technology: Technology) -> str:
    """The table: one point a row, with every metric that the technology knows, by the Fraction reference."""
    known = [metric.name for metric in METRICS.values() if metric.known(technology)]

    def row(point: Point) -> list[object]:
        array, tiling = point.array, point.tiling
        design = SystolicDesign(point.nest, array, data, technology=technology)
        costs = design.costs(design.configuration(tiling))
        metrics = json_metrics(array, costs)
        mappings = (point.nest.settings, tiling.array_part, tiling.latency_hiding)
        return [
            point.nest.name,
            "",  # derived, not described
            ",".join(array.dataflow),
            array.permutation,
            array.edition.value,
            *(json.dumps(dict(mapping)) for mapping in mappings),
            tiling.simd,
            json.dumps(tiling.module_packs(array)),
            *(metrics[name] for name in known),
            bool(costs.meets_bounds),
        ]

    return csv_text([*_DESIGN, *_TILING, *known, "meets_bounds"], map(row, points))
