"""Seeds as a table: the columns that ``ithaca evaluate --points`` reads, with all metrics."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from ithaca.exports.seeds.seeds import Seeds
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.evaluation import json_metrics
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.points import Point
from ithaca.formulations.technology import Technology

_DESIGN = ("app", "descriptor", "dataflow", "reuse", "edition")
_TILING = ("sizes", "array_part", "latency_hiding", "simd", "pack")


def seed_points(seeds: Seeds) -> tuple[Point, ...]:
    """The seeds as points."""
    problem = seeds.space.problem
    return tuple(Point(problem.array, problem.nest, tiling) for tiling in seeds.tilings)


def csv_text(points: Sequence[Point], data: DataType, technology: Technology) -> str:
    """The table: one point a row, with every metric that the technology knows, by the Fraction reference."""
    known = [metric.name for metric in METRICS.values() if metric.known(technology)]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*_DESIGN, *_TILING, *known, "meets_bounds"])
    for point in points:
        array, tiling = point.array, point.tiling
        costs = evaluate(array, tiling.quantities(array, point.nest.sizes), data, FRACTION, technology)
        metrics = json_metrics(array, costs)
        mappings = (point.nest.settings, tiling.array_part, tiling.latency_hiding)
        table.writerow(
            [
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
        )
    return stream.getvalue()
