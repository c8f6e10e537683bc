"""The result of a network as a table: one row per layer, ready for a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.formulations.json_numbers import json_number
from ithaca.formulations.systolic.design import systolic
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.workloads.csv_text import csv_text

#: What of the metrics the table shows, after latency and throughput.
RESOURCES = ("dsp", "bram18k", "off_chip_words")

#: The columns. ``sizes`` and ``dataflow`` read as on the command line; factors are iterations, packs words.
COLUMNS = (
    "layer",
    "count",
    "kernel",
    "sizes",
    "array",
    "dataflow",
    "permutation",
    "array_part",
    "latency_hiding",
    "simd",
    "pack",
    "objective",
    "lower_bound",
    "gap",
    "status",
    "latency",
    "throughput",
    "dsp_efficiency",
    *RESOURCES,
)


def network_table(result: NetworkResult) -> str:
    """A CSV table, a row per layer in the order of the network; figures are those of one run of the layer."""
    rows = map(_row, result.layers)
    return csv_text(COLUMNS, ([row.get(column, "") for column in COLUMNS] for row in rows))


def _row(result: LayerResult) -> dict[str, object]:
    layer, answer = result.layer, result.answer
    row: dict[str, object] = {
        "layer": layer.name,
        "count": layer.count,
        "kernel": layer.nest.name,
        "sizes": _pairs(layer.nest.settings),
        "array": "" if result.array is None else result.array,
        "objective": _number(answer.value),
        "lower_bound": _number(answer.certificate.lower_bound),
        "gap": "" if answer.certificate.gap is None else answer.certificate.gap,
        "status": answer.certificate.status.value,
    }
    solution = answer.found
    if solution is None or solution.tiling is None:
        return row
    array, tiling = systolic(solution.problem).array, solution.tiling
    return row | {
        "dataflow": ",".join(array.dataflow),
        "permutation": array.permutation,
        "array_part": _pairs(tiling.array_part),
        "latency_hiding": _pairs(tiling.latency_hiding),
        "simd": tiling.simd,
        "pack": _pairs(tiling.module_packs(array)),
        "dsp_efficiency": _number(result.efficiency),
        **{name: _number(solution.metrics[name]) for name in ("latency", "throughput", *RESOURCES)},
    }


def _pairs(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


def _number(value: Fraction | None) -> int | float | str:
    return "" if value is None else json_number(value)
