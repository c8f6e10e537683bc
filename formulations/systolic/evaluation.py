"""Evaluate points: every metric afresh, by the exact reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DataType
from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.metrics import array_words, metric_values
from ithaca.formulations.systolic.points import Point
from ithaca.formulations.systolic.systolic_array import SystolicArray


def evaluate_points(points: Iterable[Point], data: DataType) -> list[dict[str, Any]]:
    """Evaluate points on Fractions.

    Parameters
    ----------
    points : iterable of Point
        The points.
    data : DataType
        The type of all arrays.

    Returns
    -------
    list of dict
        One per point, in order: the design (``dataflow``, ``permutation``, ``edition``), its
        ``metrics`` with ``off_chip_words_by_array``, and ``meets_bounds``. Ready for JSON.
    """
    rows = []
    for point in points:
        costs = evaluate(point.array, point.tiling.quantities(point.array, point.nest.sizes), data, FRACTION)
        rows.append(
            {
                "dataflow": list(point.array.dataflow),
                "permutation": point.array.permutation,
                "edition": point.array.edition.value,
                "metrics": json_metrics(point.array, costs),
                "meets_bounds": bool(costs.meets_bounds),
            }
        )
    return rows


def evaluation_document(points: Iterable[Point], data: DataType) -> dict[str, Any]:
    """The document of ``ithaca evaluate --json``."""
    return {"schema": SCHEMA, "points": evaluate_points(points, data)}


def json_metrics(array: SystolicArray, costs: Costs) -> dict[str, Any]:
    """All metrics of exact costs, ready for JSON."""
    metrics: dict[str, Any] = {name: json_number(value) for name, value in metric_values(costs).items()}
    metrics["off_chip_words_by_array"] = {name: json_number(value) for name, value in array_words(array, costs).items()}
    return metrics
