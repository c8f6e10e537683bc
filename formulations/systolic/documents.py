"""Documents of systolic arrays: workload, edition, space, technology; dataflow and permutation;
tilings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ithaca.formulations.data_models import model_of
from ithaca.formulations.documents import Count, Document, Text
from ithaca.formulations.machine import MachineDocument, WaitsDocument
from ithaca.formulations.schema import NestDocument, ObjectiveDocument, PlatformDocument
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.ports import MemoryPorts
from ithaca.formulations.target import Target
from ithaca.formulations.technology import Technology


class TypedNestDocument(NestDocument):
    """A nest with its extents and the type of its arrays."""

    dtype: Text


class PortsDocument(
    model_of(MemoryPorts, most=(Count, ...), channels=(Count, ...))  # type: ignore[misc]
):
    """The limit on memory ports of a tensor, and the channels of the memory."""


_FOR = Field(alias="for", strict=False)


class DesignSpaceDocument(
    model_of(  # type: ignore[misc]
        SpaceOptions,
        min_lanes=(Annotated[int, Field(ge=1, le=2**31)], 1),
        target=(Annotated[Target | None, _FOR], None),
        ports=(PortsDocument | None, None),
    )
):
    """Restrictions of the design space that are not the default's."""

    @model_validator(mode="before")
    @classmethod
    def _stated(cls, options: Any) -> Any:
        """Options as documents state them, which say ``for``."""
        if not isinstance(options, SpaceOptions):
            return options
        stated = asdict(options)
        return stated | {"for": stated.pop("target")}


class TechnologyDocument(
    model_of(  # type: ignore[misc]
        Technology,
        cost_tables=(Literal["maestro-28nm"] | None, None),
        machine=(MachineDocument, MachineDocument()),
        memory=(WaitsDocument, WaitsDocument()),
    )
):
    """Clock and energies that are not the default's."""


class TileFactorsDocument(Document):
    """Tile factors, and packs by buffer module; memory ports by I/O group, where these may have
    several; tiles of an outer tile, where tiles are tiled again."""

    array_part: dict[str, int]
    latency_hiding: dict[str, int]
    simd: int
    pack: dict[str, int]
    ports: dict[str, int] = Field(default_factory=dict)
    array_part_l2: dict[str, int] = Field(default_factory=dict)


class ArrayDesignDocument(Document):
    """A design by its names."""

    dataflow: list[str]
    permutation: str
    buildable: bool
    single: list[str] = Field(default_factory=list)
    """Tensors that have single buffers, of those whose buffers may be doubled."""


class RestrictionDocument(Document):
    """Restrictions that say which designs were considered."""

    dataflow: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    permutation: Text | None = None
    include_unbuildable: bool = False


class ArrayHeadDocument(Document):
    """The question that a result file of systolic arrays begins with; designs that are described
    follow from no restriction."""

    workload: TypedNestDocument
    platform: PlatformDocument
    edition: Literal["exact", "odyssey", "cycle"]
    objective: ObjectiveDocument
    space: DesignSpaceDocument = DesignSpaceDocument()
    technology: TechnologyDocument = TechnologyDocument()
    kept: dict[str, Count] = Field(default_factory=dict)
    restriction: RestrictionDocument | None = None
