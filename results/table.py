"""The result of a network as a table: one row per layer, ready for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from ithaca.files.csv_text import csv_text
from ithaca.files.json_numbers import json_number
from ithaca.formulations.families import profile_of
from ithaca.formulations.systolic.design import systolic
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult

#: Metrics that the table shows.
SHOWN = (
    "latency",
    "throughput",
    "dsp_efficiency",
    "dsp",
    "bram18k",
    "off_chip_words",
    "time",
    "bandwidth",
    "energy",
)


def network_table(result: NetworkResult) -> str:
    """A CSV table, a row per layer in the order of the network; figures are those of one run of the
    layer.

    ``sizes`` and ``dataflow`` read as on the command line; factors are iterations, packs words.
    """
    known = dict.fromkeys(
        name for layer in result.layers for name in layer.answer.problem.design.vocabulary
    )
    row = (
        _arrays
        if isinstance(result.request, NetworkRequest)
        else lambda layer: _mapping(layer, known)
    )
    rows = []
    for each in result.layers:
        layer, (chosen, figures) = each.layer, row(each)
        head = {
            "layer": layer.name,
            "count": layer.count,
            "kernel": layer.nest.name,
            "sizes": _pairs(layer.nest.settings),
        }
        rows.append({**head, **chosen, **_proven(each), **figures})
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def _mapping(
    result: LayerResult, known: Iterable[str]
) -> tuple[dict[str, object], dict[str, object]]:
    """How a layer runs on a memory hierarchy, its loops in a line; and the metrics known of any
    layer."""
    answer, design = result.answer, result.answer.problem.design
    mapping = (
        ""
        if answer.configuration is None
        else "; ".join(filter(None, profile_of(design).loops(answer.configuration)))
    )
    return {"mapping": mapping}, {name: _number(answer.metrics.get(name)) for name in known}


def _proven(result: LayerResult) -> dict[str, object]:
    answer = result.answer
    return {
        "objective": _number(answer.value),
        "lower_bound": _number(answer.certificate.lower_bound),
        "gap": "" if answer.certificate.gap is None else answer.certificate.gap,
        "status": answer.certificate.status.value,
    }


def _arrays(result: LayerResult) -> tuple[dict[str, object], dict[str, object]]:
    """How a layer runs on a systolic array; and the metrics shown."""
    solution = result.answer.found
    names = ("dataflow", "permutation", "array_part", "latency_hiding", "simd", "pack")
    chosen: dict[str, object] = dict.fromkeys(names, "")
    figures: dict[str, object] = dict.fromkeys(SHOWN, "")
    if solution is not None:
        array, tiling = systolic(solution.problem).array, solution.tiling
        parts = (tiling.array_part, tiling.latency_hiding, tiling.simd, tiling.module_packs(array))
        values = (
            ",".join(array.dataflow),
            array.permutation,
            *(p if isinstance(p, int) else _pairs(p) for p in parts),
        )
        chosen = dict(zip(names, values, strict=True))
        metrics = {**solution.metrics, "dsp_efficiency": result.efficiency}
        figures = {name: _number(metrics[name]) for name in SHOWN}
    return {"array": "" if result.array is None else result.array, **chosen}, figures


def _pairs(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


def _number(value: Fraction | None) -> int | float | str:
    return "" if value is None else json_number(value)
