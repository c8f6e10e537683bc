"""The result of a network as a JSON document: its fields, and how they are filled.

It says what was found and what is proven, not how long that took: a run that was killed and started again
writes the same file as one in one go. Boxes and seconds of each search are in the results folder.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.formulations.json_numbers import SCHEMA
from ithaca.formulations.schema import Document, Number, PlatformDocument, Text
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.family import (
    FAMILY,
    ChoiceDocument,
    NestDocument,
    SpaceDocument,
    TechnologyDocument,
    TilingDocument,
    setting_fields,
)
from ithaca.formulations.systolic.physical_array import ANY_ARRAY
from ithaca.results.schema import FirstPart, ProofDocument, ShortfallDocument, configuration_fields, tightest
from ithaca.results.solution import Solution
from ithaca.studies.network.result import ArrayResult, LayerResult, NetworkResult, SharedDesign, Total
from ithaca.workloads.library import workload_document
from ithaca.workloads.networks.network import Omission

Count = Annotated[int, Field(ge=1, le=10**9)]
Index = Annotated[int, Field(ge=0, le=10**6)]


class OmissionDocument(Document):
    """Operations that are no layer."""

    operator: Text
    count: Count
    kind: Literal["unsupported", "elementwise", "movement"]
    reason: str = ""
    sources: list[str] = Field(default_factory=list)


class NetworkPart(Document):
    """What the layers were taken from."""

    name: Text
    parameters: dict[str, int]
    omissions: list[OmissionDocument]


class PartitionDocument(Document):
    """How layers were to be partitioned over arrays."""

    arrays: Count = 1
    minimise: Literal["total", "slowest"] = "total"


class PhysicalDocument(Document):
    """What was given of the array."""

    lanes: dict[str, int]
    simd: int | None
    packs: dict[str, int]
    buffers: dict[str, int]
    idle_lanes: int


class BestDocument(ChoiceDocument):
    """How a layer is run."""

    tiling: TilingDocument
    metrics: dict[str, Any]
    physical: PhysicalDocument | None = None


class DesignShortfallDocument(ShortfallDocument):
    """A limit that a design cannot meet."""

    design: Text


class DesignDocument(ChoiceDocument):
    """What came of one design."""

    value: Number | None
    certificate: ProofDocument


class LayerDocument(Document):
    """One layer."""

    name: Text
    count: Count
    sources: list[str]
    workload: NestDocument
    array: Index | None = None
    value: Number | None
    certificate: ProofDocument
    dsp_efficiency: Number | None
    best: BestDocument | None
    shortfalls: list[DesignShortfallDocument] = Field(default_factory=list)
    designs: list[DesignDocument]


class TotalDocument(Document):
    """The whole network."""

    value: Number | None
    certificate: ProofDocument | None
    operations: int
    latency: Number | None
    throughput: Number | None
    dsp_efficiency: Number | None


class SharedDesignDocument(ChoiceDocument):
    """One dataflow and permutation for the layers of a kernel."""

    kernel: Text
    layers: list[str]
    value: Number | None
    certificate: ProofDocument
    chosen: bool
    proven: bool


class ArrayDocument(Document):
    """One array that runs several layers."""

    dataflow: list[str]
    permutation: str | None
    layers: list[str]
    value: Number | None
    certificate: ProofDocument
    resources: dict[str, Number]
    parameters: dict[str, int]


class FailureDocument(Document):
    """A problem that could not be solved."""

    place: str
    reason: str


class NetworkResultDocument(FirstPart):
    """The whole file."""

    study: Literal["network"]
    mode: Text
    network: NetworkPart
    dtype: Text
    platform: PlatformDocument
    edition: Literal["exact", "odyssey"]
    objective: Text
    partition: PartitionDocument = PartitionDocument()
    space: SpaceDocument = SpaceDocument()
    technology: TechnologyDocument = TechnologyDocument()
    method: Text
    complete: bool
    total: TotalDocument
    layers: Annotated[list[LayerDocument], Field(min_length=1)]
    choices: list[SharedDesignDocument] = Field(default_factory=list)
    arrays: list[ArrayDocument] = Field(default_factory=list)
    failures: list[FailureDocument]


def network_document(result: NetworkResult) -> dict[str, Any]:
    """The document of ``ithaca network``; `load_network_result` reads it back."""
    network, request = result.network, result.request
    fields = {
        "schema": SCHEMA,
        "study": "network",
        "mode": result.mode,
        "network": {
            "name": network.name,
            "parameters": dict(network.parameters),
            "omissions": [_omission(omission) for omission in network.unsupported],
        },
        "dtype": request.data.name,
        "platform": {"name": request.platform.name, "limits": tightest(request.limits)},
        "edition": request.edition.value,
        "objective": request.objective.text,
        "partition": {"arrays": request.arrays, "minimise": request.minimise.value},
        **setting_fields(request.space, request.platform.technology),
        "method": result.method,
        "complete": result.complete,
        "total": _summary(result),
        "layers": [_layer(layer) for layer in result.layers],
        "choices": [_choice(choice) for choice in result.choices],
        "arrays": [_array(array) for array in result.arrays],
        "failures": list(result.failures),
    }
    return NetworkResultDocument.model_validate(fields, from_attributes=True).written()


def _omission(omission: Omission) -> dict[str, Any]:
    return asdict(omission) | {"kind": omission.kind.value, "sources": list(omission.sources)}


def _summary(result: NetworkResult) -> dict[str, Any]:
    """The objective over the whole network, and what all of its runs take together."""
    operations, comp = sum(layer.layer.operations for layer in result.layers), result.mac_cycles
    return {
        **({"value": None, "certificate": None} if result.total is None else _total(result.total)),
        "operations": operations,
        "latency": result.sum_of("latency"),
        "throughput": result.throughput,
        "dsp_efficiency": None if comp is None else operations / comp,
    }


def _total(total: Total) -> dict[str, Any]:
    return {"value": total.value, "certificate": total.certificate}


def _layer(result: LayerResult) -> dict[str, Any]:
    layer, answer = result.layer, result.answer
    return {
        "name": layer.name,
        "count": layer.count,
        "sources": list(layer.sources),
        "workload": workload_document(layer.nest),
        "array": result.array,
        "value": answer.value,
        "certificate": answer.certificate,
        "dsp_efficiency": result.efficiency,
        "best": None if answer.found is None else _best(answer.found),
        "shortfalls": list(answer.shortfalls),
        "designs": [_design(design) for design in result.designs],
    }


def _best(solution: Solution) -> dict[str, Any]:
    physical = systolic(solution.problem).physical
    parts = {"lanes": dict(physical.lanes), "packs": dict(physical.packs), "buffers": dict(physical.buffers)}
    given = None if physical == ANY_ARRAY else asdict(physical) | parts
    return configuration_fields(FAMILY, solution.problem, solution.configuration) | {"physical": given}


def _design(solution: Solution) -> dict[str, Any]:
    names = FAMILY.choice_fields(solution.problem.design)
    return {**names, "value": solution.value, "certificate": solution.certificate}


def _choice(choice: SharedDesign) -> dict[str, Any]:
    lists = {"dataflow": list(choice.dataflow), "layers": list(choice.layers)}
    names = ("kernel", "permutation", "buildable", "chosen", "proven")
    return {name: getattr(choice, name) for name in names} | lists | _total(choice.total)


def _array(array: ArrayResult) -> dict[str, Any]:
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "layers": list(array.layers),
        **_total(array.total),
        "resources": dict(array.resources),
        "parameters": dict(array.parameters),
    }
