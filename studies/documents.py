"""Studies and fronts as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate
from ithaca.studies.front import Front, FrontPoint
from ithaca.studies.marginal import Marginal
from ithaca.studies.prover import ProofStep
from ithaca.studies.whatif import Study, StudyPoint


def study_document(study: Study) -> dict[str, Any]:
    """The document of ``ithaca whatif --json``."""
    return {
        "schema": SCHEMA,
        "study": "whatif",
        **study.provenance,
        "axes": [{"name": a.name, "unit": a.unit, "values": list(a.labels)} for a in study.axes],
        "complete": study.complete,
        "points": [{"at": study.labels(index), **_point(point)} for index, point in study.points.items()],
    }


def front_document(front: Front, provenance: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The document of ``ithaca pareto --json``."""
    names = [o.text for o in front.objectives]
    return {
        "schema": SCHEMA,
        "study": "pareto",
        **(provenance or {}),
        "objectives": names,
        "complete": front.complete,
        "unfinished": front.unfinished,
        "nodes": front.nodes,
        "seconds": front.seconds,
        "points": [_front_point(point, names) for point in front.points],
        "completeness": [_step(step, names) for step in front.completeness],
    }


def _point(point: StudyPoint) -> dict[str, Any]:
    answer, solution = point.answer, point.answer.solution
    document: dict[str, Any] = {
        "objective": {"expression": point.problems[0].objective.text, "value": _number(answer.value)},
        "limits": {limit.metric: json_number(limit.bound) for limit in point.problems[0].limits},
        "certificate": certificate_document(answer.certificate),
        "best": None,
    }
    if solution is not None and solution.tiling is not None:
        document["best"] = _configuration(solution.problem.array, solution.tiling, solution.metrics)
    if answer.shortfalls:
        document["shortfall"] = answer.explain()
    if point.marginals:
        document["marginal"] = [_marginal(m) for m in point.marginals]
    return document


def _marginal(marginal: Marginal) -> dict[str, Any]:
    return {
        "limit": marginal.limit.metric,
        "from": json_number(marginal.limit.bound),
        "to": json_number(marginal.raised.bound),
        "value": _number(marginal.after.value),
        "change": _number(marginal.change),
        "proven": marginal.proven,
        "certificate": certificate_document(marginal.after.certificate),
    }


def _front_point(point: FrontPoint, names: list[str]) -> dict[str, Any]:
    return {
        "values": {name: json_number(value) for name, value in zip(names, point.values, strict=True)},
        **_configuration(point.problem.array, point.tiling, point.metrics),
        "proof": [_step(step, names) for step in point.proof],
    }


def _step(step: ProofStep, names: list[str]) -> dict[str, Any]:
    bounds = {
        name: {"<" if bound.strict else "<=": json_number(bound.value)}
        for name, bound in zip(names, step.region, strict=True)
        if bound is not None
    }
    return {
        "minimised": names[step.objective],
        "under": bounds,
        "minimum": _number(step.value),
        "designs_solved": step.solved,
        "designs_known": step.known,
        "nodes": step.nodes,
        "seconds": step.seconds,
    }


def _configuration(array: SystolicArray, tiling: Tiling, metrics: Mapping[str, Fraction]) -> dict[str, Any]:
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "buildable": array.buildable,
        "tiling": {
            "array_part": dict(tiling.array_part),
            "latency_hiding": dict(tiling.latency_hiding),
            "simd": tiling.simd,
            "pack": tiling.module_packs(array),
        },
        "metrics": {name: json_number(value) for name, value in metrics.items()},
    }


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """A certificate over all designs."""
    return {
        "status": certificate.status.value,
        "lower_bound": _number(certificate.lower_bound),
        "gap": certificate.gap if certificate.gap is not None and certificate.gap < float("inf") else None,
        "method": certificate.method,
        "nodes": certificate.nodes,
        "seconds": certificate.seconds,
    }


def _number(value: Fraction | None) -> int | float | None:
    return None if value is None else json_number(value)
