"""Columns of tables and Datasets of systolic arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.results.table import pairs
from ithaca.studies.network.result import LayerResult

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

#: Type, unit and meaning of variables, and the dimension that they have beside the points'.
COLUMNS: Mapping[str, tuple[Any, ...]] = {
    "dataflow": (str, "", ""),
    "permutation": (str, "", ""),
    "edition": (str, "", ""),
    "pack": (str, "words", "data packing factor by buffer module (JSON)"),
    "ports": (str, "", "memory ports by I/O group (JSON)"),
    "array_part_l2": (str, "", "tiles of a tile of tiles by loop (JSON)"),
    **{name: (float, metric.unit, metric.meaning) for name, metric in METRICS.items()},
    "t1": (float, "iterations", "array partitioning factor", "loop"),
    "t2": (float, "iterations", "latency hiding factor; of the SIMD loop the SIMD factor", "loop"),
}


def loops(problem: Problem) -> Sequence[str]:
    """The loops that a design tiles."""
    return systolic(problem).array.band


def row(problem: Problem, configuration: Configuration, loops: Sequence[str]) -> dict[str, Any]:
    """A configuration as values of the columns.

    Parameters
    ----------
    problem : Problem
        A problem of a systolic design.
    configuration : Configuration
        The value of each quantity of its space.
    loops : sequence of str
        The loops that ``t1`` and ``t2`` list; loops outside the band are no number there.

    Returns
    -------
    dict
        By column; metrics as doubles in the units of `METRICS`.
    """
    metrics = problem.metrics(configuration)
    design = systolic(problem)
    array, tiling = design.array, design.tiling(configuration)
    packs = tiling.module_packs(array)
    return {
        "dataflow": ",".join(array.dataflow),
        "permutation": array.permutation,
        "edition": array.edition.value,
        **{
            name: json.dumps(dict(values)) if values else ""
            for name, values in (
                ("pack", packs),
                ("ports", tiling.ports),
                ("array_part_l2", tiling.array_part_l2),
            )
        },
        **{name: nan if name not in metrics else float(metrics[name]) for name in METRICS},
        "t1": [tiling.array_part[loop] if loop in array.band else nan for loop in loops],
        "t2": [tiling.t2(array, loop) if loop in array.band else nan for loop in loops],
    }


def layer_row(result: LayerResult) -> tuple[dict[str, object], dict[str, Any]]:
    """A row on how a layer runs on a systolic array, with the metrics shown."""
    solution = result.answer.configured
    dram = systolic(result.answer.problem).array.dram
    optional = {"ports": dram.ports, "array_part_l2": dram.two_level}
    extra = [name for name, own in optional.items() if own]
    names = ("dataflow", "permutation", "array_part", "latency_hiding", "simd", "pack", *extra)
    chosen: dict[str, object] = dict.fromkeys(names, "")
    figures: dict[str, Any] = dict.fromkeys(SHOWN)
    if solution is not None:
        array, tiling = systolic(solution.problem).array, solution.tiling
        parts = (
            *(tiling.array_part, tiling.latency_hiding, tiling.simd, tiling.module_packs(array)),
            *(getattr(tiling, name) for name in extra),
        )
        values = (
            ",".join(array.dataflow),
            array.permutation,
            *(p if isinstance(p, int) else pairs(p) for p in parts),
        )
        chosen = dict(zip(names, values, strict=True))
        metrics = {**solution.metrics, "dsp_efficiency": result.efficiency}
        figures = {name: metrics[name] for name in SHOWN}
    return {"array": "" if result.array is None else result.array, **chosen}, figures
