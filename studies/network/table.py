"""The result of a network as a table: one row per layer, ready for a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.formulations.json_numbers import json_number
from ithaca.formulations.systolic.design import systolic
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.workloads.csv_text import csv_text

#: Metrics that the table shows.
SHOWN = ("latency", "throughput", "dsp_efficiency", "dsp", "bram18k", "off_chip_words", "time", "bandwidth", "energy")


def network_table(result: NetworkResult) -> str:
    """A CSV table, a row per layer in the order of the network; figures are those of one run of the layer.

    ``sizes`` and ``dataflow`` read as on the command line; factors are iterations, packs words.
    """
    if not isinstance(result.request, NetworkRequest):
        return mapped_table(result)
    rows = [_row(layer) for layer in result.layers]
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def mapped_table(result: NetworkResult) -> str:
    """The same of a network on a memory hierarchy; the mapping is in lines."""
    known = dict.fromkeys(name for layer in result.layers for name in layer.answer.problem.design.vocabulary)
    rows = []
    for layer in result.layers:
        answer, design = layer.answer, layer.answer.problem.design
        rows.append(
            {
                "layer": layer.layer.name,
                "count": layer.layer.count,
                "kernel": layer.layer.nest.name,
                "sizes": _pairs(layer.layer.nest.settings),
                "mapping": "" if answer.configuration is None else "; ".join(filter(None, design.loops(answer.configuration))),
                **_proven(layer),
                **{name: _number(answer.metrics.get(name)) for name in known},
            }
        )
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def _proven(result: LayerResult) -> dict[str, object]:
    answer = result.answer
    return {
        "objective": _number(answer.value),
        "lower_bound": _number(answer.certificate.lower_bound),
        "gap": "" if answer.certificate.gap is None else answer.certificate.gap,
        "status": answer.certificate.status.value,
    }


def _row(result: LayerResult) -> dict[str, object]:
    layer, solution = result.layer, result.answer.found
    names = ("dataflow", "permutation", "array_part", "latency_hiding", "simd", "pack")
    chosen: dict[str, object] = dict.fromkeys(names, "")
    figures: dict[str, object] = dict.fromkeys(SHOWN, "")
    if solution is not None:
        array, tiling = systolic(solution.problem).array, solution.tiling
        parts = (tiling.array_part, tiling.latency_hiding, tiling.simd, tiling.module_packs(array))
        values = (",".join(array.dataflow), array.permutation, *(p if isinstance(p, int) else _pairs(p) for p in parts))
        chosen = dict(zip(names, values, strict=True))
        metrics = {**solution.metrics, "dsp_efficiency": result.efficiency}
        figures = {name: _number(metrics[name]) for name in SHOWN}
    return {
        "layer": layer.name,
        "count": layer.count,
        "kernel": layer.nest.name,
        "sizes": _pairs(layer.nest.settings),
        "array": "" if result.array is None else result.array,
        **chosen,
        **_proven(result),
        **figures,
    }


def _pairs(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


def _number(value: Fraction | None) -> int | float | str:
    return "" if value is None else json_number(value)
