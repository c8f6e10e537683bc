"""Result files as they are written: the fields of the document, and the parts that other documents share."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from ithaca.formulations.json_numbers import fraction
from ithaca.formulations.problem import Limit
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import documented_workload
from ithaca.workloads.nest import LoopNest


def number(value: object) -> Fraction:
    """The exact value of a JSON number.

    Raises
    ------
    ValueError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return fraction(value)


def _positive(value: object) -> Fraction:
    read = number(value)
    if read < 0:
        raise ValueError("a number that is not negative")
    return read


Number = Annotated[Fraction, PlainValidator(number)]
Positive = Annotated[Fraction, PlainValidator(_positive)]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]


class Document(BaseModel):
    """Unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class KernelDocument(Document):
    """A nest that is not the library's."""

    statement: Text
    untiled: list[str]
    simd: Text


class NestDocument(Document):
    """A nest with its extents."""

    name: Text
    sizes: dict[str, int]
    parameters: dict[str, int] = {}
    kernel: KernelDocument | None = None

    def nest(self) -> LoopNest:
        """The nest these fields describe.

        Raises
        ------
        InputError
            If there is no such nest.
        """
        kernel = None if self.kernel is None else self.kernel.model_dump()
        return documented_workload(self.name, self.sizes, self.parameters, kernel)


class WorkloadDocument(NestDocument):
    """A nest with its extents and the type of its arrays."""

    dtype: Text


class PlatformDocument(Document):
    """The device and its limits."""

    name: Text
    limits: dict[str, Number]

    def upper_limits(self) -> tuple[Limit, ...]:
        """The limits.

        Raises
        ------
        InputError
            If one limits no metric.
        """
        try:
            return tuple(Limit(metric, bound) for metric, bound in self.limits.items())
        except InputError as error:
            raise InputError(f"platform.limits: {error}") from None


class ObjectiveDocument(Document):
    """What was minimised, and its least value found."""

    expression: Text
    value: Number | None


class SpaceDocument(Document):
    """Restrictions of the design space that are not the default's."""

    min_lanes: Annotated[int, Field(ge=1, le=2**31)] = 1
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

    def technology(self) -> Technology:
        """The technology these fields change."""
        # read field by field: model_dump makes text of Fractions in some versions of pydantic
        given = {name.rstrip("_"): value for name, value in self if value is not None}
        return replace(DEFAULT_TECHNOLOGY, **given)


class TilingDocument(Document):
    """Tile factors and packs."""

    array_part: dict[str, int]
    latency_hiding: dict[str, int]
    simd: int
    pack: dict[str, int]


class ProofDocument(Document):
    """What is proven."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    lower_bound: Number | None
    gap: Annotated[float, Field(ge=0)] | None
    method: Text


class TraceDocument(Document):
    """When incumbent or bound changed: equally long columns."""

    seconds: Annotated[list[Annotated[float, Field(ge=0)]], Field(max_length=1000)]
    nodes: list[Annotated[int, Field(ge=0)]]
    incumbent: list[Number | None]
    lower_bound: list[Number | None]


class CertificateDocument(ProofDocument):
    """What is proven, and what it took."""

    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    trace: TraceDocument | None = None


class ShortfallDocument(Document):
    """A limit that cannot be met."""

    metric: Text
    bound: Number
    smallest: Number
    others_kept: bool
    proven: bool


class DesignChoiceDocument(Document):
    """A design by its names."""

    dataflow: list[str]
    permutation: str
    buildable: bool


class SolutionDocument(DesignChoiceDocument):
    """What came of one design."""

    tiling: TilingDocument | None
    metrics: dict[str, Any] | None
    certificate: CertificateDocument
    shortfalls: list[ShortfallDocument] = []


class ResultDocument(Document):
    """The whole file."""

    schema_: Annotated[Literal["ithaca/1"], Field(alias="schema")]
    workload: WorkloadDocument
    platform: PlatformDocument
    edition: Literal["exact", "odyssey"]
    objective: ObjectiveDocument
    space: SpaceDocument = SpaceDocument()
    technology: TechnologyDocument = TechnologyDocument()
    best: SolutionDocument | None
    designs: list[SolutionDocument]
