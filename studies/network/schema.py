"""Result files of networks as they are written: the fields of the document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.solver.schema import (
    DesignChoiceDocument,
    Document,
    NestDocument,
    Number,
    PlatformDocument,
    ProofDocument,
    ShortfallDocument,
    SpaceDocument,
    TechnologyDocument,
    Text,
    TilingDocument,
)

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


class BestDocument(DesignChoiceDocument):
    """How a layer is run."""

    tiling: TilingDocument
    metrics: dict[str, Any]
    physical: PhysicalDocument | None = None


class DesignShortfallDocument(ShortfallDocument):
    """A limit that a design cannot meet."""

    design: Text


class DesignDocument(DesignChoiceDocument):
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


class ChoiceDocument(DesignChoiceDocument):
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


class NetworkResultDocument(Document):
    """The whole file."""

    schema_: Annotated[Literal["ithaca/1"], Field(alias="schema")]
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
    choices: list[ChoiceDocument] = Field(default_factory=list)
    arrays: list[ArrayDocument] = Field(default_factory=list)
    failures: list[FailureDocument]
