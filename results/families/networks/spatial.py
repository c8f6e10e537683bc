"""A network on a memory hierarchy: what is asked, and the result as a JSON document, like that of a
network on arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from ithaca.files.errors import InputError
from ithaca.files.writing import SCHEMA
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import family_of
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.formulations.problem import Problem, read_objective
from ithaca.formulations.schema import Document, NestDocument, Number, PlatformDocument, Text
from ithaca.formulations.spatial.accelerator import HierarchyAccelerator
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.documents import (
    ArchitectureDocument,
    ConstraintsDocument,
    architecture_fields,
    read_architecture_document,
)
from ithaca.formulations.spatial.editions import Setting
from ithaca.formulations.spatial.family import LevelMappingDocument, MappingSpaceDocument
from ithaca.formulations.spatial.library import fitted
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.spatial.question import MappingQuestion
from ithaca.results.files import check_shortfalls, read_solution
from ithaca.results.network_parts import (
    Count,
    FailureDocument,
    FusingDocument,
    Names,
    NetworkPart,
    fusing_fields,
    layer_objective_field,
    network_fields,
    read_certificate,
    read_layer_objective,
    read_layers,
    read_total,
)
from ithaca.results.schema import FirstPart, configuration_fields, tightest
from ithaca.solver.documents import ProofDocument, ShortfallDocument
from ithaca.studies.network.parts import PER_LAYER
from ithaca.studies.network.result import Failure, LayerResult, NetworkResult
from ithaca.workloads.networks.network import Layer


class _BestDocument(Document):
    """How a layer is run."""

    tiling: list[LevelMappingDocument]
    metrics: dict[str, Any]


class _LayerDocument(Document):
    """One layer."""

    name: Text
    count: Count
    sources: Names
    problem: NestDocument
    memory: dict[str, list[int]] = Field(default_factory=dict)
    constraints: ConstraintsDocument = ConstraintsDocument()
    kept: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    value: Number | None
    certificate: ProofDocument
    utilisation: Number | None = None
    best: _BestDocument | None
    shortfalls: list[ShortfallDocument] = Field(default_factory=list)


class _TotalDocument(Document):
    """The whole network."""

    value: Number | None
    certificate: ProofDocument | None
    operations: int
    latency: Number | None
    energy: Number | None
    utilisation: Number | None = None


class _Part(FirstPart):
    study: Literal["network"]
    family: Literal["spatial"]
    mode: Literal["per-layer"]
    network: NetworkPart
    edition: Literal["timeloop", "dmazerunner", "explainable"]
    platform: PlatformDocument
    objective: Text
    layer_objective: Text | None = None
    space: MappingSpaceDocument = MappingSpaceDocument()
    method: Text
    complete: bool
    total: _TotalDocument
    layers: Annotated[list[_LayerDocument], Field(min_length=1)]
    failures: list[FailureDocument]
    fusing: FusingDocument | None = None


#: The whole file.
MODEL: Any = create_model(
    "MappedNetworkDocument", __base__=_Part, architecture=(ArchitectureDocument, ...)
)


def document(result: NetworkResult) -> dict[str, Any]:
    """The document of ``ithaca network --arch``."""
    total, request = result.total, result.request
    assert isinstance(request, MappingQuestion)
    fields = {
        "schema": SCHEMA,
        "study": "network",
        "family": "spatial",
        "mode": result.mode,
        "network": network_fields(result.network, ordered=result.fusing is not None),
        "architecture": architecture_fields(request.architecture),
        "edition": request.edition,
        "platform": {"name": request.architecture.name, "limits": tightest(request.limits)},
        "objective": request.objective.text,
        "layer_objective": layer_objective_field(result),
        "space": request.space,
        "method": result.method,
        "complete": result.complete,
        "total": {
            "value": None if total is None else total.value,
            "certificate": None if total is None else total.certificate,
            "operations": sum(layer.layer.operations for layer in result.layers),
            "latency": result.sum_of("latency"),
            "energy": result.sum_of("energy"),
            "utilisation": result.efficiency,
        },
        "layers": [_layer(layer) for layer in result.layers],
        "failures": list(result.failures),
        "fusing": fusing_fields(result),
    }
    written_fields: dict[str, Any] = MODEL.model_validate(fields, from_attributes=True).written()
    return written_fields


def _layer(result: LayerResult) -> dict[str, Any]:
    answer, head = (
        result.answer,
        family_of(result.answer.problem.design).head_fields(result.answer.problem.design),
    )
    best = None
    if answer.configuration is not None:
        best = configuration_fields(answer.problem, answer.configuration)
    return {
        "name": result.layer.name,
        "count": result.layer.count,
        "sources": result.layer.sources,
        **{name: head[name] for name in ("problem", "memory", "constraints") if name in head},
        "kept": dict(answer.problem.design.kept),
        "value": answer.value,
        "certificate": answer.certificate,
        "utilisation": result.efficiency,
        "best": best,
        "shortfalls": list(answer.shortfalls),
    }


def result(read: Any) -> NetworkResult:
    """The result that a document states."""
    architecture, options = (
        read_architecture_document(read.architecture),
        MappingOptions(**dict(read.space)),
    )
    layers = read_layers(read.layers, lambda layer: _read_layer(layer, read, architecture, options))
    problems = tuple(_problem(layer, read, architecture, options) for layer in read.layers)
    objective = read_objective(read.objective, "objective", problems[0].design.vocabulary)
    request = replace(_question(architecture, read.edition, options, problems), objective=objective)
    failures = tuple(Failure(failure.place, failure.reason) for failure in read.failures)
    parts = (
        read.method,
        layers,
        read_total(read.total.value, read.total.certificate, "total"),
        read.complete,
    )
    fusing = None if read.fusing is None else read.fusing.fusing()
    return NetworkResult(
        PER_LAYER, read.network.network(layers), request, *parts, failures=failures, fusing=fusing
    )


def _problem(
    read: _LayerDocument, document: Any, architecture: Architecture, options: MappingOptions
) -> Problem:
    """The problem of a layer that keeps nothing on chip."""
    nest = read.problem.nest()
    memory = tuple((tensor, tuple(sizes)) for tensor, sizes in read.memory.items())
    constraints = read.constraints.constraints()
    design = Setting(
        fitted(architecture, nest), nest, document.edition, options, constraints, memory
    ).design
    known = design.vocabulary
    return Problem(
        design, document.platform.upper_limits(known), read_layer_objective(document, known)
    )


def _read_layer(
    read: _LayerDocument, document: Any, architecture: Architecture, options: MappingOptions
) -> LayerResult:
    problem, nest = _problem(read, document, architecture, options), read.problem.nest()
    if read.kept:
        keeping = problem.design.keeping(tuple(read.kept.items()))
        if keeping is None:
            raise InputError(
                f"kept is {', '.join(read.kept)}; allowed: tensors that a "
                "level of one instance may keep"
            )
        problem = replace(problem, design=keeping)
    certificate = read_certificate(read.certificate, read.value, "certificate")
    falls = check_shortfalls(
        [s.shortfall(problem.design.name) for s in read.shortfalls], problem.limits, "shortfalls"
    )
    tiling = None if read.best is None else read.best.tiling
    solution = read_solution(problem, tiling, certificate, "best", falls)
    return LayerResult(Layer(read.name, nest, read.count, read.sources), solution, (solution,))


# -- layers on accelerators of hardware spaces -----------------------------------------


def accelerator(space: HardwareSpace, point: Configuration, text: str) -> Architecture:
    """An accelerator of a space as an architecture by itself."""
    kind = space.accelerator
    assert isinstance(kind, HierarchyAccelerator)
    architecture = kind.architecture_with(space.at(point))
    return replace(architecture, name=space.name, description=text, source=space.source)


def request(
    accelerator: HierarchyAccelerator, architecture: Architecture, problems: tuple[Problem, ...]
) -> MappingQuestion:
    """The question that layers on an accelerator were mapped for."""
    own = _question(architecture, accelerator.edition, accelerator.options, problems)
    return replace(own, bounds={})


def _question(
    architecture: Architecture, edition: str, space: MappingOptions, layers: tuple[Problem, ...]
) -> MappingQuestion:
    """The question that layers were mapped for, whose problems are known."""
    return MappingQuestion(
        architecture=architecture,
        edition=edition,
        space=space,
        objective=layers[0].objective,
        bounds={limit.metric: limit.bound for limit in layers[0].limits},
        layers=layers,
    )
