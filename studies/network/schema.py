"""Result files of networks as they are written: the fields of the document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ithaca.solver.result_files import Number, Positive, Text

Count = Annotated[int, Field(ge=1, le=10**9)]
Index = Annotated[int, Field(ge=0, le=10**6)]


class Document(BaseModel):
    """Unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class OmissionDocument(Document):
    """Operations that are no layer."""

    operator: Text
    count: Count
    kind: Literal["unsupported", "elementwise", "movement"]
    reason: str = ""
    sources: list[str] = []


class NetworkPart(Document):
    """What the layers were taken from."""

    name: Text
    parameters: dict[str, int]
    omissions: list[OmissionDocument]


class PlatformDocument(Document):
    """The device and its limits."""

    name: Text
    limits: dict[str, Number]


class PartitionDocument(Document):
    """How layers were to be partitioned over arrays."""

    arrays: Count = 1
    minimise: Literal["total", "slowest"] = "total"


class SpaceDocument(Document):
    """Restrictions of the design space that are not the default's."""

    min_lanes: Count = 1
    divisors_only: bool = False
    dividing_packs: bool = False


class TechnologyDocument(Document):
    """Fields that are not the default's; an absent one is None."""

    clock_mhz: Positive | None = None
    dram: Positive | None = None
    buffer: Positive | None = None
    hop: Positive | None = None
    register_: Annotated[Positive | None, Field(alias="register")] = None
    mac: Positive | None = None
    mac_pj: Positive | None = None
    cost_tables: Literal["maestro-28nm"] | None = None


class CertificateDocument(Document):
    """What is proven."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    lower_bound: Number | None
    gap: Annotated[float, Field(ge=0)] | None
    method: Text


class KernelDocument(Document):
    """A nest that is not the library's."""

    statement: Text
    untiled: list[str]
    simd: Text


class WorkloadDocument(Document):
    """A nest with its extents."""

    name: Text
    sizes: dict[str, int]
    parameters: dict[str, int] = {}
    kernel: KernelDocument | None = None


class TilingDocument(Document):
    """Tile factors and packs."""

    array_part: dict[str, int]
    latency_hiding: dict[str, int]
    simd: int
    pack: dict[str, int]


class PhysicalDocument(Document):
    """What was given of the array."""

    lanes: dict[str, int]
    simd: int | None
    packs: dict[str, int]
    buffers: dict[str, int]
    idle_lanes: int


class BestDocument(Document):
    """How a layer is run."""

    dataflow: list[str]
    permutation: str
    buildable: bool
    tiling: TilingDocument
    metrics: dict[str, Any]
    physical: PhysicalDocument | None = None


class ShortfallDocument(Document):
    """A limit that a design cannot meet."""

    design: Text
    metric: Text
    bound: Number
    smallest: Number
    others_kept: bool
    proven: bool


class DesignDocument(Document):
    """What came of one design."""

    dataflow: list[str]
    permutation: str
    buildable: bool
    value: Number | None
    certificate: CertificateDocument


class LayerDocument(Document):
    """One layer."""

    name: Text
    count: Count
    sources: list[str]
    workload: WorkloadDocument
    array: Index | None = None
    value: Number | None
    certificate: CertificateDocument
    dsp_efficiency: Number | None
    best: BestDocument | None
    shortfalls: list[ShortfallDocument] = []
    designs: list[DesignDocument]


class TotalDocument(Document):
    """The whole network."""

    value: Number | None
    certificate: CertificateDocument | None
    operations: int
    latency: Number | None
    throughput: Number | None
    dsp_efficiency: Number | None


class ChoiceDocument(Document):
    """One dataflow and permutation for the layers of a kernel."""

    kernel: Text
    dataflow: list[str]
    permutation: str
    buildable: bool
    layers: list[str]
    value: Number | None
    certificate: CertificateDocument
    chosen: bool
    proven: bool


class ArrayDocument(Document):
    """One array that runs several layers."""

    dataflow: list[str]
    permutation: str | None
    layers: list[str]
    value: Number | None
    certificate: CertificateDocument
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
    choices: list[ChoiceDocument] = []
    arrays: list[ArrayDocument] = []
    failures: list[FailureDocument]
