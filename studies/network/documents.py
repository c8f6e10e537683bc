"""The result of a network as a JSON document.

It says what was found and what is proven, not how long that took: a run that was killed and started again
writes the same file as one in one go. Boxes and seconds of each search are in the results folder.
"""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.formulations.problem import SpaceOptions
from ithaca.formulations.systolic.physical_array import ANY_ARRAY, PhysicalArray
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.solver.certificate import Certificate
from ithaca.solver.result import solution_document
from ithaca.solver.shared.fronts import Minimise
from ithaca.solver.solution import Shortfall, Solution
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import ArrayResult, LayerResult, NetworkResult, SharedDesign, Total
from ithaca.workloads.library import workload_document
from ithaca.workloads.networks.network import Network, Omission


def network_document(result: NetworkResult) -> dict[str, Any]:
    """The document of ``ithaca network``; `load_network_result` reads it back."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "study": "network",
        "mode": result.mode,
        "network": _network(result.network),
        **_request(result.request),
        "method": result.method,
        "complete": result.complete,
        "total": _summary(result),
        "layers": [_layer(layer) for layer in result.layers],
    }
    if result.choices:
        document["choices"] = [_choice(choice) for choice in result.choices]
    if result.arrays:
        document["arrays"] = [_array(array) for array in result.arrays]
    document["failures"] = [{"place": failure.place, "reason": failure.reason} for failure in result.failures]
    return document


def _network(network: Network) -> dict[str, Any]:
    return {
        "name": network.name,
        "parameters": dict(network.parameters),
        "omissions": [_omission(omission) for omission in network.unsupported],
    }


def _omission(omission: Omission) -> dict[str, Any]:
    document: dict[str, Any] = {"operator": omission.operator, "count": omission.count, "kind": omission.kind.value}
    if omission.reason:
        document["reason"] = omission.reason
    if omission.sources:
        document["sources"] = list(omission.sources)
    return document


def _request(request: NetworkRequest) -> dict[str, Any]:
    document: dict[str, Any] = {
        "dtype": request.data.name,
        "platform": {
            "name": request.platform.name,
            "limits": {limit.metric: json_number(limit.bound) for limit in request.limits},
        },
        "edition": request.edition.value,
        "objective": request.objective.text,
    }
    if request.arrays > 1 or request.minimise is not Minimise.TOTAL:
        document["partition"] = {"arrays": request.arrays, "minimise": request.minimise.value}
    if space := _changed(request.space, SpaceOptions()):
        document["space"] = space
    if technology := _changed(request.platform.technology, DEFAULT_TECHNOLOGY):
        document["technology"] = technology
    return document


def _changed(given: SpaceOptions | Technology, default: SpaceOptions | Technology) -> dict[str, Any]:
    """The fields that are not the default, by name."""
    names = [f.name for f in fields(given) if getattr(given, f.name) != getattr(default, f.name)]
    return {name: json_number(v) if isinstance(v := getattr(given, name), Fraction) else v for name in names}


def _summary(result: NetworkResult) -> dict[str, Any]:
    """The objective over the whole network, and what all of its runs take together."""
    latency, comp = result.sum_of("latency"), result.mac_cycles
    operations = sum(layer.layer.operations for layer in result.layers)
    return {
        **(_total(result.total) if result.total is not None else {"value": None, "certificate": None}),
        "operations": operations,
        "latency": _optional(latency),
        "throughput": _optional(result.throughput),
        "dsp_efficiency": None if comp is None else json_number(operations / comp),
    }


def _total(total: Total) -> dict[str, Any]:
    return {"value": _optional(total.value), "certificate": _certificate(total.certificate)}


def _layer(result: LayerResult) -> dict[str, Any]:
    layer, solution = result.layer, result.answer.solution
    document: dict[str, Any] = {
        "name": layer.name,
        "count": layer.count,
        "sources": list(layer.sources),
        "workload": workload_document(layer.nest),
    }
    if result.array is not None:
        document["array"] = result.array
    document["value"] = _optional(result.answer.value)
    document["certificate"] = _certificate(result.answer.certificate)
    document["dsp_efficiency"] = _optional(result.efficiency)
    document["best"] = None if solution is None else _solution(solution)
    if result.answer.shortfalls:
        document["shortfalls"] = [_shortfall(design, shortfall) for design, shortfall in result.answer.shortfalls]
    document["designs"] = [_design(design) for design in result.designs]
    return document


def _solution(solution: Solution) -> dict[str, Any]:
    left_out = ("certificate", "shortfalls")
    document = {name: part for name, part in solution_document(solution).items() if name not in left_out}
    if solution.problem.physical != ANY_ARRAY:
        document["physical"] = _physical(solution.problem.physical)
    return document


def _physical(physical: PhysicalArray) -> dict[str, Any]:
    return {
        "lanes": dict(physical.lanes),
        "simd": physical.simd,
        "packs": dict(physical.packs),
        "buffers": dict(physical.buffers),
        "idle_lanes": physical.idle_lanes,
    }


def _design(solution: Solution) -> dict[str, Any]:
    array = solution.problem.array
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "buildable": array.buildable,
        "value": _optional(solution.value),
        "certificate": _certificate(solution.certificate),
    }


def _shortfall(design: str, shortfall: Shortfall) -> dict[str, Any]:
    return {
        "design": design,
        "metric": shortfall.metric,
        "bound": json_number(shortfall.bound),
        "smallest": json_number(shortfall.smallest),
        "others_kept": shortfall.others_kept,
        "proven": shortfall.proven,
    }


def _choice(choice: SharedDesign) -> dict[str, Any]:
    return {
        "kernel": choice.kernel,
        "dataflow": list(choice.dataflow),
        "permutation": choice.permutation,
        "buildable": choice.buildable,
        "layers": list(choice.layers),
        **_total(choice.total),
        "chosen": choice.chosen,
        "proven": choice.proven,
    }


def _array(array: ArrayResult) -> dict[str, Any]:
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "layers": list(array.layers),
        **_total(array.total),
        "resources": {name: json_number(amount) for name, amount in array.resources.items()},
        "parameters": dict(array.parameters),
    }


def _certificate(certificate: Certificate) -> dict[str, Any]:
    gap = certificate.gap
    return {
        "status": certificate.status.value,
        "lower_bound": _optional(certificate.lower_bound),
        # the gap of a value of 0 is infinite, which JSON cannot say
        "gap": gap if gap is not None and math.isfinite(gap) else None,
        "method": certificate.method,
    }


def _optional(value: Fraction | None) -> int | float | None:
    return None if value is None else json_number(value)
