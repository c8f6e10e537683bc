"""The documents of networks on systolic arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import number
from ithaca.formulations.data_models import built
from ithaca.formulations.data_types import data_type
from ithaca.formulations.documents import Document, Number, Positive, Text
from ithaca.formulations.families import FAMILIES, UNNAMED, choice_of
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Problem, read_objective
from ithaca.formulations.question import Minimise
from ithaca.formulations.schema import NestDocument, PlatformDocument
from ithaca.formulations.space import Role
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.channels import beside
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.design import SpaceOptions, fixed, systolic
from ithaca.formulations.systolic.documents import (
    ArrayDesignDocument,
    DesignSpaceDocument,
    RestrictionDocument,
    TechnologyDocument,
    TileFactorsDocument,
)
from ithaca.formulations.systolic.family import ArraySetting
from ithaca.formulations.systolic.metrics import NAMES
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.results.files import read_unrestricted
from ithaca.results.network_parts import (
    Count,
    DesignShortfallDocument,
    FailureDocument,
    FusingDocument,
    Names,
    NetworkHead,
    TotalPart,
    read_answer,
    read_certificate,
    read_layer_objective,
    read_layers,
    read_result,
)
from ithaca.results.schema import UnrestrictedDocument
from ithaca.solver.certificate import Termination
from ithaca.solver.documents import DesignProofDocument, ProofDocument, RunDocument, read_runs
from ithaca.solver.solution import Solution
from ithaca.studies.network.result import (
    ArrayResult,
    LayerResult,
    NetworkResult,
    SharedDesign,
    Total,
)
from ithaca.workloads.library import workload_document
from ithaca.workloads.networks.network import Layer

Index = Annotated[int, Field(ge=0, le=10**6)]


class PartitionDocument(Document):
    """The partition of layers over arrays that was asked for."""

    arrays: Count
    minimise: Annotated[Minimise, Field(strict=False)]
    shares: dict[Literal["dsp", "bram18k", "bandwidth"], Positive] = Field(default_factory=dict)


class BestDocument(ArrayDesignDocument):
    """The run of a layer."""

    tiling: TileFactorsDocument
    metrics: dict[str, Any]


class DesignDocument(ArrayDesignDocument):
    """The value and certificate of one design."""

    value: Number | None
    certificate: DesignProofDocument


class LayerDocument(Document):
    """One layer."""

    name: Text
    count: Count
    sources: Names
    workload: NestDocument
    folded: Text | None = None
    kept: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    array: Index | None = None
    value: Number | None
    certificate: ProofDocument
    dsp_efficiency: Number | None
    best: BestDocument | None
    shortfalls: list[DesignShortfallDocument] = Field(default_factory=list)
    designs: list[DesignDocument]
    runs: list[RunDocument] = Field(default_factory=list)


class TotalDocument(TotalPart):
    """The whole network."""

    throughput: Number | None
    dsp_efficiency: Number | None


class SharedDesignDocument(ArrayDesignDocument):
    """One dataflow and permutation for the layers of a kernel."""

    dataflow: Names  # type: ignore[assignment]
    single: Names = ()  # type: ignore[assignment]
    kernel: Text
    layers: Names
    value: Number | None
    certificate: ProofDocument
    chosen: bool
    proven: bool


class ArrayDocument(Document):
    """One array that runs several layers."""

    dataflow: Names
    permutation: str | None
    layers: Names
    value: Number | None
    certificate: ProofDocument
    resources: dict[str, Number]
    parameters: dict[str, Count]


class NetworkResultDocument(NetworkHead):
    """The whole file."""

    dtype: Text
    platform: PlatformDocument
    edition: Annotated[Edition, Field(strict=False)]
    objective: Text
    layer_objective: Text | None = None
    partition: PartitionDocument = PartitionDocument(arrays=1, minimise=Minimise.TOTAL)
    restriction: RestrictionDocument = RestrictionDocument()
    space: DesignSpaceDocument = DesignSpaceDocument()
    technology: TechnologyDocument = TechnologyDocument()
    method: Text
    complete: bool
    total: TotalDocument
    layers: Annotated[list[LayerDocument], Field(min_length=1)]
    choices: list[SharedDesignDocument] = Field(default_factory=list)
    arrays: list[ArrayDocument] = Field(default_factory=list)
    failures: list[FailureDocument]
    unrestricted: UnrestrictedDocument | None = None
    fusing: FusingDocument | None = None


def fields(result: NetworkResult) -> dict[str, Any]:
    """The fields of arrays alone."""
    request = result.request
    assert isinstance(request, ArrayQuestion)
    return {
        "dtype": request.counted.stated,
        "edition": request.edition,
        "partition": request,
        "restriction": request,
        "space": request.space,
        "technology": request.technology,
        "choices": [_shared(choice) for choice in result.choices],
        "arrays": [_shared(array) for array in result.arrays],
        "unrestricted": result.unrestricted,
    }


def total_fields(result: NetworkResult) -> dict[str, Any]:
    """The rates of all runs."""
    return {"throughput": result.throughput, "dsp_efficiency": result.efficiency}


def layer_fields(result: LayerResult) -> dict[str, Any]:
    """The fields of a layer on an array."""
    return {
        "workload": workload_document(result.layer.nest),
        "folded": result.layer.folded,
        "array": result.array,
        "dsp_efficiency": result.efficiency,
        "designs": [
            {
                **choice_of(design.problem.design),
                "value": design.value,
                "certificate": design.certificate,
            }
            for design in result.designs
        ],
        "runs": list(result.runs),
    }


def _shared(part: SharedDesign | ArrayResult) -> dict[str, Any]:
    own = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    del own["total"]
    return own | {"value": part.total.value, "certificate": part.total.certificate}


MODEL = NetworkResultDocument


# -- reading ---------------------------------------------------------------------------


def result(read: NetworkResultDocument) -> NetworkResult:
    """The result that a document states."""
    space, technology = built(SpaceOptions, read.space), built(Technology, read.technology)
    has = technology.memory.channels
    if space.ports is not None and space.ports.channels != has:
        raise InputError(
            f"space.ports.channels is {space.ports.channels}; allowed: {has}, as "
            "technology.memory.channels"
        )
    request = ArrayQuestion(
        data=data_type(read.dtype),
        platform=Platform(read.platform.name, "", technology, {}),
        bounds={x.metric: x.bound for x in read.platform.upper_limits(NAMES)},
        objective=read_objective(read.objective, "objective", NAMES),
        edition=read.edition,
        **dict(read.restriction),
        space=space,
        **dict(read.partition),
    )
    layered = request.minimising(read_layer_objective(read, NAMES))
    if (own := beside(layered, max(len(read.arrays), 1))) is None:
        raise InputError(
            f"arrays are {len(read.arrays)}, but space.ports.channels is {has}; allowed: a channel "
            "for each"
        )
    parameters = {place: array.parameters for place, array in enumerate(read.arrays)}
    layers = read_layers(
        read.layers, lambda layer: _read_layer(layer, own, parameters.get(layer.array))
    )
    return read_result(
        read,
        request,
        layers,
        choices=tuple(
            _read_shared(choice, f"choices[{index}]") for index, choice in enumerate(read.choices)
        ),
        unrestricted=read_unrestricted(read, read.total.value),
    )


def _read_layer(
    read: LayerDocument, request: ArrayQuestion, hardware: Mapping[str, int] | None
) -> LayerResult:
    layer = Layer(read.name, read.workload.nest(), read.count, read.sources, read.folded)
    request = request.of(layer.nest)
    setting = ArraySetting(
        layer.nest, request.data, request.edition, request.space, request.technology, read.kept
    )

    def problem(choice: ArrayDesignDocument) -> Problem:
        return Problem(FAMILIES[UNNAMED].design(setting, choice), request.limits, request.objective)

    designs = tuple(
        Solution(
            problem(d),
            None,
            d.value,
            read_certificate(d.certificate, d.value, f"designs[{index}].certificate"),
        )
        for index, d in enumerate(read.designs)
    )
    if read.best is not None:
        chosen, tiling = problem(read.best), read.best.tiling
        if hardware is not None:
            own = systolic(chosen)
            simd = quantities.t2(own.array.simd_loop).name
            parts = [q.name for q in own.space.quantities.values() if q.role is not Role.MAPPING]
            known = {"simd" if name == simd else name: name for name in parts}
            known |= {name: name for name in (quantities.buffer(b).name for b in own.buffers)}
            if wrong := min(hardware.keys() ^ known.keys(), default=None):
                has = "has" if wrong in hardware else "lacks"
                at = f"arrays[{read.array}].parameters {has} {quoted(wrong)}"
                raise InputError(f"{at}; allowed: {', '.join(known)}, all of them")
            values = {known[name]: value for name, value in hardware.items()}
            chosen = chosen.with_design(hardware=fixed(values))
    else:
        anything = ArrayDesignDocument(
            dataflow=list(dataflows(layer.nest)[0]),
            permutation=layer.nest.output.tensor,
            buildable=True,
        )
        chosen, tiling = designs[0].problem if designs else problem(anything), None
    answer = read_answer(read, chosen, tiling)
    for index, design in enumerate(designs):
        proof = design.certificate
        if proof.beaten and (
            answer.value is None or proof.lower_bound is None or proof.lower_bound < answer.value
        ):
            raise InputError(
                f"designs[{index}].certificate.termination is '{Termination.BEATEN.value}', yet "
                f"its lower_bound is {number(proof.lower_bound)}; allowed: one that is at least "
                f"the layer's value, {number(answer.value)}"
            )
    others = [design for design in designs if design.design != answer.design]
    runs = read_runs(read.runs, [answer, *others])
    return LayerResult(layer, answer, designs, read.array, runs)


def _read_shared(read: SharedDesignDocument, at: str) -> SharedDesign:
    own = dict(read)
    total = Total(
        own["value"],
        read_certificate(own.pop("certificate"), own.pop("value"), f"{at}.certificate"),
    )
    return SharedDesign(**own, total=total)
