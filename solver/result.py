"""A result: what one ``ithaca solve`` answers, and its JSON document (DESIGN.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ithaca.formulations.data_types import DataType
from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.formulations.problem import Limit, SpaceOptions
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.solver.certificate import Certificate
from ithaca.solver.solution import Shortfall, Solution
from ithaca.workloads.library import workload_document
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class Result:
    """The answer of a solve over one or more designs.

    Attributes
    ----------
    nest : LoopNest
        The loop nest, with extents.
    data : DataType
        The type of all arrays.
    platform_name : str
        The platform the limits come from.
    limits : tuple of Limit
        Upper limits on metrics.
    edition : Edition
        The statement of the cost model.
    objective_text : str
        What was minimised, as the user wrote it.
    technology : Technology
        Clock and energies of the platform.
    best : Solution or None
        The best configuration of all designs; None where none was found.
    designs : tuple of Solution
        One solution per design solved.
    space : SpaceOptions
        Restrictions of the design space.
    """

    nest: LoopNest
    data: DataType
    platform_name: str
    limits: tuple[Limit, ...]
    edition: Edition
    objective_text: str
    technology: Technology
    best: Solution | None
    designs: tuple[Solution, ...]
    space: SpaceOptions = field(default_factory=SpaceOptions)


def result_document(result: Result) -> dict[str, Any]:
    """The JSON document of a result; `json_numbers.document_text` makes it text."""
    tightest: dict[str, Fraction] = {}
    for limit in result.limits:
        tightest[limit.metric] = min(limit.bound, tightest.get(limit.metric, limit.bound))
    value = None if result.best is None else result.best.value
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "workload": workload_document(result.nest) | {"dtype": result.data.name},
        "platform": {
            "name": result.platform_name,
            "limits": {metric: json_number(bound) for metric, bound in tightest.items()},
        },
        "edition": result.edition.value,
        "objective": {"expression": result.objective_text, "value": _optional(value)},
    }
    if space := _changed(result.space, SpaceOptions()):
        document["space"] = space
    if technology := _changed(result.technology, DEFAULT_TECHNOLOGY):
        document["technology"] = technology
    document["best"] = None if result.best is None else solution_document(result.best)
    document["designs"] = [solution_document(solution) for solution in result.designs]
    return document


def solution_document(solution: Solution) -> dict[str, Any]:
    """One SOLUTION of DESIGN.md §8."""
    array = solution.problem.array
    document: dict[str, Any] = {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "buildable": array.buildable,
        "tiling": None,
        "metrics": None,
        "certificate": _certificate(solution.certificate),
    }
    if tiling := solution.tiling:
        document["tiling"] = {
            "array_part": dict(tiling.array_part),
            "latency_hiding": dict(tiling.latency_hiding),
            "simd": tiling.simd,
            "pack": tiling.module_packs(array),
        }
        document["metrics"] = {
            **{name: json_number(metric) for name, metric in solution.metrics.items()},
            "off_chip_words_by_array": {name: json_number(words) for name, words in solution.words.items()},
        }
    if solution.shortfalls:
        document["shortfalls"] = [_shortfall(shortfall) for shortfall in solution.shortfalls]
    return document


def _changed(given: SpaceOptions | Technology, default: SpaceOptions | Technology) -> dict[str, Any]:
    """The fields that are not the default, by name."""
    found = {name: getattr(given, name) for name in type(given).__slots__ if getattr(given, name) != getattr(default, name)}
    return {name: json_number(v) if isinstance(v, Fraction) else v for name, v in found.items()}


def _certificate(certificate: Certificate) -> dict[str, Any]:
    gap = certificate.gap
    document: dict[str, Any] = {
        "status": certificate.status.value,
        "lower_bound": _optional(certificate.lower_bound),
        # the gap of a value of 0 is infinite, which JSON cannot say
        "gap": gap if gap is not None and math.isfinite(gap) else None,
        "method": certificate.method,
        "nodes": certificate.nodes,
        "seconds": certificate.seconds,
    }
    if certificate.trace:
        document["trace"] = {
            "seconds": [point.seconds for point in certificate.trace],
            "nodes": [point.nodes for point in certificate.trace],
            "incumbent": [_optional(point.value) for point in certificate.trace],
            "lower_bound": [_optional(point.lower_bound) for point in certificate.trace],
        }
    return document


def _shortfall(shortfall: Shortfall) -> dict[str, Any]:
    return {
        "metric": shortfall.metric,
        "bound": json_number(shortfall.bound),
        "smallest": json_number(shortfall.smallest),
        "others_kept": shortfall.others_kept,
        "proven": shortfall.proven,
    }


def _optional(value: Fraction | None) -> int | float | None:
    return None if value is None else json_number(value)
