"""Result files of networks read back.

A file may have been edited, cut off or written by another version. So every configuration is evaluated again by the
Fraction reference, and the document of what was read must be the document in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.data_types import data_type
from ithaca.formulations.json_numbers import json_number, parse_json, read_text, refuse, refuse_invalid
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Objective, Problem, SpaceOptions
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.physical_array import ANY_ARRAY, PhysicalArray
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.result_files import EDITED
from ithaca.solver.schema import ProofDocument
from ithaca.solver.shared.fronts import Minimise
from ithaca.solver.solution import Shortfall, Solution, make_solution
from ithaca.studies.answer import Answer
from ithaca.studies.network import schema
from ithaca.studies.network.documents import network_document
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import ArrayResult, Failure, LayerResult, NetworkResult, SharedDesign, Total
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Layer, Network, Omission, OmissionKind

#: Largest result file (bytes); one with 50 layers of 10 designs has about 300 kB.
MAX_BYTES = 32 * 2**20


def load_network_result(path: Path) -> NetworkResult:
    """Read a result file of a network and check it against the model.

    Boxes and seconds of the searches are not in the file; they are read as 0.

    Raises
    ------
    InputError
        If it is no such file, or it is not what the model computes.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    try:
        read = schema.NetworkResultDocument.model_validate(document)
    except ValidationError as error:
        raise refuse_invalid(path, error, schema.NetworkResultDocument) from None
    try:
        result = _result(read)
        _check_same(document, network_document(result), "")
        _check_total(result)
    except InputError as error:
        raise refuse(path, error) from None
    return result


def _result(read: schema.NetworkResultDocument) -> NetworkResult:
    request = _request(read)
    layers = []
    for index, layer in enumerate(read.layers):
        try:
            layers.append(_layer(layer, request))
        except InputError as error:
            raise InputError(f"layers[{index}]: {error}") from None
    omissions = tuple(
        Omission(o.operator, o.count, OmissionKind(o.kind), o.reason, tuple(o.sources)) for o in read.network.omissions
    )
    network = Network(
        read.network.name,
        tuple(layer.layer for layer in layers),
        unsupported=omissions,
        parameters=tuple(read.network.parameters.items()),
    )
    certificate = read.total.certificate
    return NetworkResult(
        read.mode,
        network,
        request,
        read.method,
        tuple(layers),
        None if certificate is None else _total(read.total.value, certificate, "total"),
        read.complete,
        tuple(_choice(choice, f"choices[{index}]") for index, choice in enumerate(read.choices)),
        tuple(_array(array, f"arrays[{index}]") for index, array in enumerate(read.arrays)),
        tuple(Failure(failure.place, failure.reason) for failure in read.failures),
    )


def _request(read: schema.NetworkResultDocument) -> NetworkRequest:
    return NetworkRequest(
        data=data_type(read.dtype),
        platform=Platform(read.platform.name, "", read.technology.technology(), {}),
        limits=read.platform.upper_limits(),
        objective=Objective(read.objective, parse_expression(read.objective, where="objective", allowed=METRICS)),
        edition=Edition(read.edition),
        space=SpaceOptions(**read.space.model_dump()),
        arrays=read.partition.arrays,
        minimise=Minimise(read.partition.minimise),
    )


def _layer(read: schema.LayerDocument, request: NetworkRequest) -> LayerResult:
    layer = Layer(read.name, read.workload.nest(), read.count, tuple(read.sources))
    certificate = _certificate(read.certificate, read.value, "certificate")
    solution = None
    if read.best is not None:
        problem = _problem(layer, request, read.best.dataflow, read.best.permutation, read.best.physical)
        tiling = read.best.tiling
        packs = group_packs(problem.array, tiling.pack, "best.tiling.pack")
        given = Tiling(tiling.array_part, tiling.latency_hiding, tiling.simd, packs)
        if feasible_value(problem, given) is None:
            raise InputError("best.tiling is not one of the design space, or exceeds a limit")
        solution = make_solution(problem, given, certificate)
    falls = tuple((s.design, Shortfall(s.metric, s.bound, s.smallest, s.others_kept, s.proven)) for s in read.shortfalls)
    designs = tuple(_design(design, layer, request, f"designs[{index}]") for index, design in enumerate(read.designs))
    return LayerResult(layer, Answer(solution, certificate, falls), designs, read.array)


def _design(read: schema.DesignDocument, layer: Layer, request: NetworkRequest, at: str) -> Solution:
    problem = _problem(layer, request, read.dataflow, read.permutation)
    return Solution(problem, None, read.value, _certificate(read.certificate, read.value, f"{at}.certificate"), {}, {})


def _problem(
    layer: Layer,
    request: NetworkRequest,
    dataflow: list[str],
    permutation: str,
    given: schema.PhysicalDocument | None = None,
) -> Problem:
    array = derive(layer.nest, find_dataflow(layer.nest, tuple(dataflow)), permutation, request.edition)
    physical = ANY_ARRAY
    if given is not None:
        parts = (tuple(part.items()) for part in (given.lanes, given.packs, given.buffers))
        lanes, packs, buffers = parts
        physical = PhysicalArray(lanes, given.simd, packs, buffers, given.idle_lanes)
    technology = request.platform.technology
    return Problem(layer.nest, array, request.data, request.limits, request.objective, request.space, technology, physical)


def _choice(read: schema.ChoiceDocument, at: str) -> SharedDesign:
    total = _total(read.value, read.certificate, at)
    return SharedDesign(
        read.kernel,
        tuple(read.dataflow),
        read.permutation,
        read.buildable,
        tuple(read.layers),
        total,
        read.chosen,
        read.proven,
    )


def _array(read: schema.ArrayDocument, at: str) -> ArrayResult:
    total = _total(read.value, read.certificate, at)
    return ArrayResult(tuple(read.dataflow), read.permutation, tuple(read.layers), total, read.resources, read.parameters)


def _total(value: Fraction | None, certificate: ProofDocument, at: str) -> Total:
    return Total(value, _certificate(certificate, value, f"{at}.certificate"))


def _certificate(read: ProofDocument, value: Fraction | None, at: str) -> Certificate:
    """A certificate that its value does not contradict."""
    status, bound = Status(read.status), read.lower_bound
    if (status in (Status.OPTIMAL, Status.FEASIBLE)) != (value is not None):
        raise InputError(f"{at}.status is '{read.status}', which contradicts the value")
    if value is not None and bound is not None and bound > value:
        raise InputError(f"{at}.lower_bound is above the value")
    if status is Status.OPTIMAL and bound != value:
        raise InputError(f"{at}.status is 'optimal', but lower_bound is not the value")
    return Certificate(status, bound, read.gap, read.method, 0, 0.0)


def _check_total(result: NetworkResult) -> None:
    """Where layers are run one after the other, the whole takes what they take together."""
    if result.total is None or result.total.value is None or result.request.minimise is not Minimise.TOTAL:
        return
    values = [None if r.answer.value is None else r.layer.count * r.answer.value for r in result.layers]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or json_number(sum(known, Fraction(0))) != json_number(result.total.value):
        raise InputError(f"total.value is not the sum over the layers: {EDITED}")


def _check_same(found: Any, model: Any, at: str) -> None:
    """Refuse the first part of a document that is not what the model computes."""
    if isinstance(found, Mapping) and isinstance(model, Mapping):
        for name in (*found, *(name for name in model if name not in found)):
            _check_same(found.get(name), model.get(name), f"{at}.{name}" if at else name)
    elif isinstance(found, list) and isinstance(model, list) and len(found) == len(model):
        for index, (one, other) in enumerate(zip(found, model, strict=True)):
            _check_same(one, other, f"{at}[{index}]")
    elif found != model:
        raise InputError(f"{at} is not what the model computes: {EDITED}")
