"""Columns of Datasets, and so of tables, of systolic arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import METRICS

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
