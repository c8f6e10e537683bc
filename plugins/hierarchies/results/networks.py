"""A network on a memory hierarchy: what is asked, and the result as a JSON document, like that of a
network on arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.data_models import LISTED, PAIRS, built, model_of
from ithaca.formulations.design import Design
from ithaca.formulations.documents import Document, Number, Text
from ithaca.formulations.families import family_of
from ithaca.formulations.problem import Problem, read_objective
from ithaca.formulations.schema import NestDocument, PlatformDocument
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import Constraints
from ithaca.plugins.hierarchies.formulations.documents import (
    ArchitectureDocument,
    ConstraintsDocument,
)
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.family import (
    LevelMappingDocument,
    MappingSpaceDocument,
)
from ithaca.plugins.hierarchies.formulations.library import fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.uneven.model import HOME
from ithaca.plugins.hierarchies.formulations.uneven.sharing import at_homes
from ithaca.plugins.hierarchies.formulations.uneven.turns import SharedLoops, Turn, turned
from ithaca.results.network_parts import (
    Count,
    FailureDocument,
    FusingDocument,
    Names,
    NetworkHead,
    TotalPart,
    read_answer,
    read_layer_objective,
    read_layers,
    read_result,
)
from ithaca.solver.documents import ProofDocument, ShortfallDocument
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.workloads.networks.network import Layer


class _BestDocument(Document):
    """The run of a layer."""

    tiling: list[LevelMappingDocument]
    metrics: dict[str, Any]


Trips = Annotated[dict[str, Count], PAIRS]
_list: Any = list  # of models that are made here
_TurnDocument = model_of(Turn, trips=(Count, ...), extent=(Count, 1))


class _SharedDocument(
    model_of(  # type: ignore[misc]
        SharedLoops,
        trips=(Trips, {}),
        around=(Annotated[dict[str, Trips], PAIRS], {}),
        beside=(Annotated[int, Field(ge=0)], 0),
        beside_inside=(Trips, {}),
        homes=(Trips, {}),
        turns=(Annotated[_list[_TurnDocument], LISTED], []),
        whole=None,
    )
):
    """Loops that a layer shares with those that it passes tiles to, or takes them from."""


class _LayerDocument(Document):
    """One layer."""

    name: Text
    count: Count
    sources: Names
    problem: NestDocument
    memory: dict[str, list[int]] = Field(default_factory=dict)
    constraints: ConstraintsDocument = ConstraintsDocument()
    kept: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    shared: _SharedDocument | None = None
    value: Number | None
    certificate: ProofDocument
    utilisation: Number | None = None
    best: _BestDocument | None
    shortfalls: list[ShortfallDocument] = Field(default_factory=list)


class _TotalDocument(TotalPart):
    """The whole network."""

    energy: Number | None
    utilisation: Number | None = None


class MappedNetworkDocument(NetworkHead):
    """The whole file."""

    family: Literal["spatial"]
    mode: Literal["per-layer"]
    edition: Literal["timeloop", "dmazerunner", "explainable", "uneven"]
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
    architecture: ArchitectureDocument


MODEL = MappedNetworkDocument


def fields(result: NetworkResult) -> dict[str, Any]:
    """The fields of memory hierarchies alone."""
    request = result.request
    assert isinstance(request, MappingQuestion)
    return {
        "architecture": request.architecture,
        "edition": request.edition,
        "space": request.space,
    }


def total_fields(result: NetworkResult) -> dict[str, Any]:
    """The energy of all runs, and how much of the multipliers works."""
    return {"energy": result.sum_of("energy"), "utilisation": result.efficiency}


def layer_fields(result: LayerResult) -> dict[str, Any]:
    """The fields of a layer on a hierarchy."""
    head = family_of(result.answer.problem.design).head_fields(result.answer.problem.design)
    stated = {name: head[name] for name in ("problem", "memory", "constraints") if name in head}
    shared = result.answer.problem.design.shared
    return {**stated, **({"shared": shared} if shared else {}), "utilisation": result.efficiency}


def result(read: Any) -> NetworkResult:
    """The result that a document states."""
    architecture, options = (
        built(Architecture, read.architecture),
        built(MappingOptions, read.space),
    )
    layers = read_layers(read.layers, lambda layer: _read_layer(layer, read, architecture, options))
    problems = tuple(_problem(layer, read, architecture, options) for layer in read.layers)
    objective = read_objective(read.objective, "objective", problems[0].design.vocabulary)
    request = replace(
        MappingQuestion.of_layers(architecture, read.edition, options, problems),
        objective=objective,
    )
    return read_result(read, request, layers)


def _problem(
    read: _LayerDocument, document: Any, architecture: Architecture, options: MappingOptions
) -> Problem:
    """The problem of a layer that keeps nothing on chip."""
    nest = read.problem.nest()
    memory = tuple((tensor, tuple(sizes)) for tensor, sizes in read.memory.items())
    constraints = built(Constraints, read.constraints)
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
    if read.shared is not None and isinstance(problem.design, UnevenDesign):
        problem = replace(problem, design=at_homes(problem.design, read.shared.homes))
    if read.kept:
        keeping = problem.design.keeping(tuple(read.kept.items()))
        if keeping is None:
            raise InputError(
                f"kept is {', '.join(read.kept)}; allowed: tensors that a "
                "level of one instance may keep"
            )
        problem = replace(problem, design=keeping)
    if read.shared is not None:
        problem = replace(problem, design=_sharing(problem.design, read.shared))
    tiling = None if read.best is None else read.best.tiling
    solution = read_answer(read, problem, tiling)
    return LayerResult(Layer(read.name, nest, read.count, read.sources), solution, (solution,))


def _sharing(design: Design, read: Any) -> Design:
    if not isinstance(design, UnevenDesign) or not design.kept:
        raise InputError("shared is stated; allowed: in edition uneven, with what is kept")
    own = design.keeps(HOME) | dict(design.kept).keys()
    if wrong := min(read.around.keys() - own, default=None):
        known = ", ".join(sorted(own))
        raise InputError(f"shared.around has {quoted(wrong)}; allowed: {known}")
    shared = built(SharedLoops, read)
    nest = turned(design.nest, shared.turns)
    whole = design.nest if shared.turns else None
    return replace(design, nest=nest, shared=replace(shared, whole=whole))
