"""Evaluate points: every metric afresh, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.json_numbers import SCHEMA, json_number, json_ratio
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.data_types import DataType
from ithaca.formulations.systolic.metrics import metric_values, tensor_words
from ithaca.formulations.systolic.points import Point
from ithaca.formulations.systolic.systolic_array import SystolicArray

#: Points evaluated at once.
BATCH = 4096


def evaluate_points(points: Iterable[Point], data: DataType) -> list[dict[str, Any]]:
    """Evaluate points on arrays of rationals, those of a design together.

    Parameters
    ----------
    points : iterable of Point
        The points.
    data : DataType
        The type of all tensors.

    Returns
    -------
    list of dict
        One per point, in order: the design (``dataflow``, ``permutation``, ``edition``), its
        ``metrics`` with ``off_chip_words_by_array``, and ``meets_bounds``. Ready for JSON.
    """
    numbered: dict[int, list[tuple[int, Point]]] = {}
    for place, point in enumerate(points):
        numbered.setdefault(id(point.array), []).append((place, point))
    rows: dict[int, dict[str, Any]] = {}
    for together in numbered.values():
        for begin in range(0, len(together), BATCH):
            places, batch = zip(*together[begin : begin + BATCH], strict=True)
            rows |= zip(places, _evaluated(batch, data), strict=True)
    return [rows[place] for place in range(len(rows))]


def evaluation_document(points: Iterable[Point], data: DataType) -> dict[str, Any]:
    """The document of ``ithaca evaluate --json``."""
    return {"schema": SCHEMA, "points": evaluate_points(points, data)}


def json_metrics(array: SystolicArray, costs: Costs) -> dict[str, Any]:
    """All metrics of exact costs, ready for JSON."""
    metrics: dict[str, Any] = {name: json_number(value) for name, value in metric_values(costs).items()}
    metrics["off_chip_words_by_array"] = {name: json_number(value) for name, value in tensor_words(array, costs).items()}
    return metrics


def _evaluated(points: Sequence[Point], data: DataType) -> Iterator[dict[str, Any]]:
    """Points of one design."""
    array, count = points[0].array, len(points)
    values = {name: Rationals.of([point.quantities[name] for point in points]) for name in points[0].quantities}
    costs = evaluate(array, values, data, RATIONAL_ARRAYS)

    def rows(columns: Mapping[str, Rationals]) -> Iterator[dict[str, Any]]:
        numbers = ([json_ratio(over, under) for over, under in column.entries(count)] for column in columns.values())
        return (dict(zip(columns, row, strict=True)) for row in zip(*numbers, strict=True))

    meets_bounds = np.broadcast_to(costs.meets_bounds, (count,)).tolist()
    for metrics, words, meets in zip(rows(metric_values(costs)), rows(tensor_words(array, costs)), meets_bounds, strict=True):
        yield {
            "dataflow": list(array.dataflow),
            "permutation": array.permutation,
            "edition": array.edition.value,
            "metrics": {**metrics, "off_chip_words_by_array": words},
            "meets_bounds": meets,
        }
