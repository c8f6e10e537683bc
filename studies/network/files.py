"""Result files of networks read back.

A file may have been edited, cut off or written by another version. So every configuration is evaluated again by the
Fraction reference, and the document of what was read must be the document in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ithaca.formulations.json_numbers import json_number, parse_json, read_text, refuse, refuse_invalid
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Problem
from ithaca.formulations.schema import read_objective
from ithaca.formulations.systolic.data_types import data_type
from ithaca.formulations.systolic.dataflows import dataflows, find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import systolic_problem
from ithaca.formulations.systolic.family import FAMILY
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.physical_array import ANY_ARRAY, PhysicalArray
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.results.certificate import Certificate
from ithaca.results.files import EDITED, check_certificate, check_legal
from ithaca.results.schema import ProofDocument
from ithaca.results.solution import Solution, make_solution
from ithaca.studies.network import documents as schema
from ithaca.studies.network.documents import network_document
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import ArrayResult, Failure, LayerResult, NetworkResult, SharedDesign, Total
from ithaca.studies.shared.fronts import Minimise
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
        limits=read.platform.upper_limits(METRICS),
        objective=read_objective(read.objective, "objective", METRICS),
        edition=Edition(read.edition),
        space=read.space.options(),
        arrays=read.partition.arrays,
        minimise=Minimise(read.partition.minimise),
    )


def _layer(read: schema.LayerDocument, request: NetworkRequest) -> LayerResult:
    layer = Layer(read.name, read.workload.nest(), read.count, tuple(read.sources))
    certificate = _certificate(read.certificate, read.value, "certificate")
    falls = tuple(s.shortfall(s.design) for s in read.shortfalls)
    designs = tuple(_design(design, layer, request, f"designs[{index}]") for index, design in enumerate(read.designs))
    if read.best is None:
        problem = designs[0].problem if designs else _problem(layer, request, dataflows(layer.nest)[0], layer.nest.output.array)
        solution = Solution(problem, None, None, certificate, falls)
    else:
        problem = _problem(layer, request, read.best.dataflow, read.best.permutation, read.best.physical)
        given = FAMILY.configuration(problem.design, read.best.tiling)
        if problem.feasible_value(given) is None:
            check_legal(problem.space, given, "best.tiling")
            raise InputError("best.tiling exceeds a limit or breaks a condition of the design; allowed: one that does not")
        solution = make_solution(problem, given, certificate, falls)
    return LayerResult(layer, solution, designs, read.array)


def _design(read: schema.DesignDocument, layer: Layer, request: NetworkRequest, at: str) -> Solution:
    problem = _problem(layer, request, read.dataflow, read.permutation)
    return Solution(problem, None, read.value, _certificate(read.certificate, read.value, f"{at}.certificate"))


def _problem(
    layer: Layer,
    request: NetworkRequest,
    dataflow: Sequence[str],
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
    return systolic_problem(
        layer.nest, array, request.data, request.limits, request.objective, request.space, technology, physical
    )


def _choice(read: schema.SharedDesignDocument, at: str) -> SharedDesign:
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
    certificate = read.certificate()
    check_certificate(certificate, value, at)
    return certificate


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
