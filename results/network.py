"""The result of a network as a JSON document: its fields, how they are filled, and how a file is
read back.

A document says what was found and what is proven, not how long that took: a run that was killed and
started again writes the same file as one in one go. Boxes and seconds of each search are in the
results folder.

A file may have been edited, cut off or written by another version. So every configuration is
evaluated again by the Fraction reference, and the document of what was read must be the document in
the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.json_numbers import SCHEMA, parse_json, read_text, refuse
from ithaca.files.messages import quoted
from ithaca.formulations.families import FAMILIES, UNNAMED, family_of
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Problem
from ithaca.formulations.schema import (
    Document,
    NestDocument,
    Number,
    PlatformDocument,
    Positive,
    Text,
    read_objective,
)
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.data_types import data_type
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.design import Spans, SystolicDesign, fixed, systolic
from ithaca.formulations.systolic.family import (
    ChoiceDocument,
    Setting,
    SpaceDocument,
    TechnologyDocument,
    TilingDocument,
    setting_fields,
)
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.results.consistency import check_consistent
from ithaca.results.files import check_same, check_shortfalls, read_solution, read_unrestricted
from ithaca.results.schema import FirstPart, UnrestrictedDocument, configuration_fields, tightest
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.documents import ProofDocument, ShortfallDocument, check_certificate
from ithaca.solver.solution import Solution
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import (
    ArrayResult,
    Edge,
    Failure,
    Fusing,
    LayerResult,
    NetworkResult,
    SharedDesign,
    Total,
)
from ithaca.studies.shared.plans import Minimise
from ithaca.workloads.library import workload_document
from ithaca.workloads.networks.network import Layer, LayerRun, Network, Omission, OmissionKind

#: Largest result file (bytes); one with 50 layers of 10 designs has about 300 kB.
MAX_BYTES = 32 * 2**20


Names = Annotated[tuple[str, ...], Field(strict=False)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Index = Annotated[int, Field(ge=0, le=10**6)]


class OmissionDocument(Document):
    """Operations that are no layer."""

    operator: Text
    count: Count
    kind: Annotated[OmissionKind, Field(strict=False)]
    reason: str = ""
    sources: Names = ()


class RunDocument(Document):
    """A layer of the network's own, where it runs."""

    source: Text
    count: Count
    follows: bool = False


class NetworkPart(Document):
    """What the layers were taken from; the order they run in where that matters."""

    name: Text
    parameters: dict[str, int]
    omissions: list[OmissionDocument]
    order: list[RunDocument] = Field(default_factory=list)

    def network(self, results: Iterable[LayerResult]) -> Network:
        """The network, of these layers. Raises `InputError` if the order has others."""
        layers = tuple(result.layer for result in results)
        omissions = tuple(Omission(**dict(omission)) for omission in self.omissions)
        parameters = tuple(self.parameters.items())
        nests = {source: layer.nest for layer in layers for source in layer.sources}
        for run in self.order:
            if run.source not in nests:
                raise InputError(
                    f"network.order: {quoted(run.source)} is no source of a "
                    "layer; allowed: those of layers"
                )
        order = tuple(
            LayerRun(run.source, nests[run.source], run.count, run.follows) for run in self.order
        )
        return Network(self.name, layers, unsupported=omissions, parameters=parameters, order=order)


class EdgeDocument(Document):
    """A layer that reads just what the one before wrote."""

    producer: Text
    consumer: Text
    words: Annotated[int, Field(ge=1)]
    kept: bool
    fits: bool = True


class FusingDocument(Document):
    """What stays on chip between layers, and the whole network where nothing does."""

    edges: list[EdgeDocument]
    value: Number | None
    certificate: ProofDocument

    def fusing(self) -> Fusing:
        """The same."""
        without = Total(
            self.value, read_certificate(self.certificate, self.value, "fusing.certificate")
        )
        return Fusing(tuple(Edge(**dict(edge)) for edge in self.edges), without)


class PartitionDocument(Document):
    """How layers were to be partitioned over arrays."""

    arrays: Count
    minimise: Annotated[Minimise, Field(strict=False)]
    shares: dict[Literal["dsp", "bram18k", "bandwidth"], Positive] = Field(default_factory=dict)


class RestrictionDocument(Document):
    """Which designs were considered."""

    dataflow: Names | None = None
    permutation: Text | None = None
    include_unbuildable: bool = False


class PhysicalDocument(Document):
    """What was given of the array."""

    lanes: dict[str, int]
    simd: int | None
    packs: dict[str, int]
    buffers: dict[str, int]
    idle_lanes: int

    def hardware(self, design: SystolicDesign) -> Spans:
        """The values of the design's hardware quantities."""
        found = {quantities.lanes(loop).name: lanes for loop, lanes in self.lanes.items()}
        if self.simd is not None:
            found[quantities.t2(design.array.simd_loop).name] = self.simd
        found |= {quantities.pack(group).name: pack for group, pack in self.packs.items()}
        return fixed(
            found | {quantities.buffer(name).name: words for name, words in self.buffers.items()}
        )


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

    dataflow: Names  # type: ignore[assignment]
    kernel: Text
    layers: Names
    value: Number | None
    certificate: ProofDocument
    chosen: bool
    proven: bool
    how_far: Annotated[Text | None, Field(exclude=True)] = None
    """In words; earlier versions stated it, and values of all."""

    def claimed(self) -> Self:
        """The same with a value only if it is chosen: nobody proves the others."""
        if self.how_far is None or self.chosen or self.value is None:
            return self
        proof = self.certificate.model_copy(update={"status": Status.UNKNOWN, "gap": None})
        return self.model_copy(update={"value": None, "certificate": proof})


class ArrayDocument(Document):
    """One array that runs several layers."""

    dataflow: Names
    permutation: str | None
    layers: Names
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
    edition: Annotated[Edition, Field(strict=False)]
    objective: Text
    partition: PartitionDocument = PartitionDocument(arrays=1, minimise=Minimise.TOTAL)
    restriction: RestrictionDocument = RestrictionDocument()
    space: SpaceDocument = SpaceDocument()
    technology: TechnologyDocument = TechnologyDocument()
    method: Text
    complete: bool
    total: TotalDocument
    layers: Annotated[list[LayerDocument], Field(min_length=1)]
    choices: list[Annotated[SharedDesignDocument, AfterValidator(SharedDesignDocument.claimed)]] = (
        Field(default_factory=list)
    )
    arrays: list[ArrayDocument] = Field(default_factory=list)
    failures: list[FailureDocument]
    unrestricted: UnrestrictedDocument | None = None
    fusing: FusingDocument | None = None


def network_document(result: NetworkResult) -> dict[str, Any]:
    """The document of ``ithaca network``."""
    network, request = result.network, result.request
    if not isinstance(request, NetworkRequest):
        from ithaca.results.mapped_network import mapped_network_document

        return mapped_network_document(result, request)
    document = {
        "schema": SCHEMA,
        "study": "network",
        "mode": result.mode,
        "network": network_fields(network, ordered=result.fusing is not None),
        "dtype": request.data.name,
        "platform": {"name": request.platform.name, "limits": tightest(request.limits)},
        "edition": request.edition,
        "objective": request.objective.text,
        "partition": request,
        "restriction": request,
        **setting_fields(request.space, request.technology),
        "method": result.method,
        "complete": result.complete,
        "total": _summary(result),
        "layers": [_layer(layer) for layer in result.layers],
        "choices": [_shared(choice) for choice in result.choices],
        "arrays": [_shared(array) for array in result.arrays],
        "failures": list(result.failures),
        "unrestricted": result.unrestricted,
        "fusing": fusing_fields(result),
    }
    return NetworkResultDocument.model_validate(document, from_attributes=True).written()


def network_fields(network: Network, *, ordered: bool = False) -> dict[str, Any]:
    """What `NetworkPart` states of a network, with the order of its runs if asked for."""
    order = list(network.order) if ordered else []
    parts = {
        "parameters": dict(network.parameters),
        "omissions": list(network.unsupported),
        "order": order,
    }
    return {"name": network.name, **parts}


def fusing_fields(result: NetworkResult) -> dict[str, Any] | None:
    """What `FusingDocument` states of a result."""
    if result.fusing is None:
        return None
    without = result.fusing.without
    return {
        "edges": list(result.fusing.edges),
        "value": without.value,
        "certificate": without.certificate,
    }


def _summary(result: NetworkResult) -> dict[str, Any]:
    """The objective over the whole network, and what all of its runs take together."""
    operations, comp = sum(layer.layer.operations for layer in result.layers), result.mac_cycles
    return {
        "value": None if result.total is None else result.total.value,
        "certificate": None if result.total is None else result.total.certificate,
        "operations": operations,
        "latency": result.sum_of("latency"),
        "throughput": result.throughput,
        "dsp_efficiency": None if comp is None else operations / comp,
    }


def _layer(result: LayerResult) -> dict[str, Any]:
    layer, answer = result.layer, result.answer
    return {
        "name": layer.name,
        "count": layer.count,
        "sources": layer.sources,
        "workload": workload_document(layer.nest),
        "folded": layer.folded,
        "kept": dict(answer.problem.design.kept),
        "array": result.array,
        "value": answer.value,
        "certificate": answer.certificate,
        "dsp_efficiency": result.efficiency,
        "best": None if answer.found is None else _best(answer.found),
        "shortfalls": list(answer.shortfalls),
        "designs": [
            {
                **family_of(design.problem.design).choice_fields(design.problem.design),
                "value": design.value,
                "certificate": design.certificate,
            }
            for design in result.designs
        ],
    }


def _best(solution: Solution) -> dict[str, Any]:
    found: dict[str, Any] = {"lanes": {}, "simd": None, "packs": {}, "buffers": {}}
    for name, value in systolic(solution.problem).given.items():
        kind, _, owner = name.partition(".")
        if owner:
            found[kind if kind == "lanes" else f"{kind}s"][owner] = value
        else:
            found[kind] = value
    given = {**found, "idle_lanes": max(found["lanes"].values())} if found["lanes"] else None
    return configuration_fields(solution.problem, solution.configuration) | {"physical": given}


def _shared(part: SharedDesign | ArrayResult) -> dict[str, Any]:
    own = {field.name: getattr(part, field.name) for field in fields(part) if field.name != "total"}
    return own | {"value": part.total.value, "certificate": part.total.certificate}


# -- reading ---------------------------------------------------------------------------


def load_network_result(path: Path) -> NetworkResult:
    """Read a result file of a network and check it against the model.

    Boxes and seconds of the searches are not in the file; they are read as 0.

    Raises `InputError` if it is no such file, or it is not what the model computes.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    if isinstance(document, dict) and document.get("family") == "spatial":
        from ithaca.results.mapped_network import read_mapped_network

        return read_mapped_network(document, path)
    read = validated(NetworkResultDocument, document, path)
    try:
        result = _read_result(read)
        check_same(read.written(), network_document(result), "")
        check_consistent(result)
    except InputError as error:
        raise refuse(path, error) from None
    return result


def _read_result(read: NetworkResultDocument) -> NetworkResult:
    request = NetworkRequest(
        data=data_type(read.dtype),
        platform=Platform(read.platform.name, "", read.technology.technology(), {}),
        limits=read.platform.upper_limits(METRICS),
        objective=read_objective(read.objective, "objective", METRICS),
        edition=read.edition,
        **dict(read.restriction),
        space=read.space.options(),
        **dict(read.partition),
    )
    layers = read_layers(read.layers, lambda layer: _read_layer(layer, request))
    return NetworkResult(
        read.mode,
        read.network.network(layers),
        request,
        read.method,
        layers,
        read_total(read.total.value, read.total.certificate, "total"),
        read.complete,
        tuple(
            _read_shared(choice, f"choices[{index}]") for index, choice in enumerate(read.choices)
        ),
        tuple(Failure(failure.place, failure.reason) for failure in read.failures),
        read_unrestricted(read, read.total.value),
        None if read.fusing is None else read.fusing.fusing(),
    )


def read_layers(
    documents: Sequence[Any], read: Callable[[Any], LayerResult]
) -> tuple[LayerResult, ...]:
    """The layers of a document; errors say which it is."""
    layers = []
    for index, document in enumerate(documents):
        try:
            layers.append(read(document))
        except InputError as error:
            raise InputError(f"layers[{index}]: {error}") from None
    return tuple(layers)


def _read_layer(read: LayerDocument, request: NetworkRequest) -> LayerResult:
    layer = Layer(read.name, read.workload.nest(), read.count, read.sources, read.folded)
    setting = Setting(
        layer.nest, request.data, request.edition, request.space, request.technology, read.kept
    )

    def problem(choice: ChoiceDocument) -> Problem:
        return Problem(FAMILIES[UNNAMED].design(setting, choice), request.limits, request.objective)

    certificate = read_certificate(read.certificate, read.value, "certificate")
    falls = check_shortfalls(
        [s.shortfall(s.design) for s in read.shortfalls], request.limits, "shortfalls"
    )
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
        posed, tiling = problem(read.best), read.best.tiling
        if (given := read.best.physical) is not None:
            posed = posed.with_design(hardware=given.hardware(systolic(posed)))
    else:
        anything = ChoiceDocument(
            dataflow=list(dataflows(layer.nest)[0]),
            permutation=layer.nest.output.tensor,
            buildable=True,
        )
        posed, tiling = designs[0].problem if designs else problem(anything), None
    return LayerResult(
        layer, read_solution(posed, tiling, certificate, "best", falls), designs, read.array
    )


def _read_shared(read: SharedDesignDocument, at: str) -> SharedDesign:
    own = dict(read)
    del own["how_far"]
    total = Total(
        own["value"],
        read_certificate(own.pop("certificate"), own.pop("value"), f"{at}.certificate"),
    )
    return SharedDesign(**own, total=total)


def read_total(value: Fraction | None, certificate: ProofDocument | None, at: str) -> Total | None:
    """The total that a document states, if it states one."""
    return (
        None
        if certificate is None
        else Total(value, read_certificate(certificate, value, f"{at}.certificate"))
    )


def read_certificate(read: ProofDocument, value: Fraction | None, at: str) -> Certificate:
    """A certificate that its value does not contradict."""
    certificate = read.certificate()
    check_certificate(certificate, value, at)
    return certificate
