"""Systolic arrays in documents: workload, edition, space, technology; dataflow and permutation;
tilings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built, model_of
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Count, Document, Text
from ithaca.formulations.family import Family
from ithaca.formulations.machine import MachineDocument, WaitsDocument
from ithaca.formulations.schema import NestDocument, ObjectiveDocument, PlatformDocument
from ithaca.formulations.systolic.buffering import variants
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import METRICS, NAMES, by_part
from ithaca.formulations.systolic.ports import MemoryPorts
from ithaca.formulations.systolic.profile import SystolicProfile
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.formulations.target import Target
from ithaca.formulations.technology import Technology
from ithaca.workloads.library import workload_document
from ithaca.workloads.nest import LoopNest


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


@dataclass(frozen=True, slots=True)
class ArraySetting:
    """The setting that all designs of a result share."""

    nest: LoopNest
    """The loop nest, with extents."""
    data: DataType
    """The type of all tensors."""
    edition: Edition
    """The statement of the cost model."""
    options: SpaceOptions
    """Restrictions of the design space."""
    technology: Technology
    """Clock and energies of the platform."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """Tensors that stay on chip, with the words of all of each."""

    def __post_init__(self) -> None:
        for tensor in self.kept:
            if tensor not in (allowed := (self.nest.inputs[0].tensor, self.nest.output.tensor)):
                raise InputError(
                    f"kept: tensor {quoted(tensor)} cannot stay on chip; "
                    f"allowed: {' and '.join(allowed)}"
                )


class SystolicFamily(Family[SystolicDesign]):
    """Documents and words of systolic arrays."""

    document = "result"
    head = ArrayHeadDocument
    choice = ArrayDesignDocument
    tiling = TileFactorsDocument

    def head_fields(self, design: SystolicDesign) -> Mapping[str, Any]:
        return {
            "workload": workload_document(design.nest) | {"dtype": design.data.stated},
            "edition": design.array.edition.value,
            "kept": dict(design.kept),
            "space": design.options,
            "technology": design.technology,
        }

    def choice_fields(self, design: SystolicDesign) -> Mapping[str, Any]:
        array = design.array
        return {
            "dataflow": list(array.dataflow),
            "permutation": array.permutation,
            "buildable": array.buildable,
            **({"single": list(array.single)} if array.single else {}),
        }

    def restriction_fields(self, designs: Sequence[SystolicDesign]) -> Mapping[str, Any]:
        restriction = _restriction(designs)
        return {} if restriction is None else {"restriction": restriction}

    def unrestricted(self, designs: Sequence[SystolicDesign]) -> Sequence[SystolicDesign]:
        if (restriction := _restriction(designs)) is None:
            raise InputError(
                f"designs are {', '.join(design.name for design in designs)}, not all of a "
                "dataflow and a permutation, or of any; allowed with unrestricted: all"
            )
        free = replace(designs[0], options=replace(designs[0].options, target=None))
        return [replace(free, array=array) for array in _arrays(free, restriction)]

    def tiling_fields(
        self, design: SystolicDesign, configuration: Configuration
    ) -> Mapping[str, Any]:
        tiling = design.tiling(configuration)
        fields = asdict(tiling) | {"pack": tiling.module_packs(design.array)}
        optional = ("ports", "array_part_l2")
        return {name: value for name, value in fields.items() if name not in optional or value}

    def detail_fields(
        self, design: SystolicDesign, configuration: Configuration
    ) -> Mapping[str, Mapping[str, Fraction]]:
        return by_part(design.costs(configuration))

    def setting(self, head: ArrayHeadDocument) -> ArraySetting:
        with errors_at("workload"):
            nest = head.workload.nest()
        edition = Edition(head.edition)
        data = data_type(head.workload.dtype)
        return ArraySetting(
            nest,
            data,
            edition,
            built(SpaceOptions, head.space),
            built(Technology, head.technology),
            head.kept,
        )

    def vocabulary(self, setting: ArraySetting) -> Mapping[str, Metric]:
        return METRICS

    def names(self, setting: ArraySetting) -> Collection[str]:
        return NAMES

    def design(self, setting: ArraySetting, choice: ArrayDesignDocument) -> SystolicDesign:
        nest = setting.nest
        array = derive(
            nest,
            find_dataflow(nest, tuple(choice.dataflow)),
            choice.permutation,
            setting.edition,
            setting.options.dram,
        )
        array = _buffered(array, choice.single, setting.options.double_buffer)
        target = setting.options.target
        if target is not None:
            from ithaca.formulations.systolic.target import design_obstacles

            if obstacles := tuple(design_obstacles(nest, array)):
                raise InputError(
                    f"design {array.name} is none that {target.title} builds: "
                    f"{'; '.join(obstacles)}"
                )
        design = SystolicDesign(nest, array, setting.data, setting.options, setting.technology)
        return replace(design, kept=tuple(setting.kept.items()))

    def configuration(self, design: SystolicDesign, tiling: TileFactorsDocument) -> Configuration:
        packs = group_packs(design.array, tiling.pack)
        return design.configuration(Tiling(**dict(tiling) | {"pack": packs}))

    def unmet(self, design: SystolicDesign) -> str:
        needed = f"{design.data.accumulator_factor}" + (
            " · simd" if design.array.pe.outputs == ONE else ""
        )
        return f"Π latency_hiding is too small; allowed: at least {needed}"

    def profile(self, design: SystolicDesign) -> SystolicProfile:
        return SystolicProfile(design)


def _arrays(like: SystolicDesign, restriction: RestrictionDocument) -> tuple[SystolicArray, ...]:
    """The arrays that a question has, whose designs are otherwise ``like`` one of them."""
    return choose_designs(
        like.nest,
        like.array.edition,
        restriction.dataflow,
        restriction.permutation,
        include_unbuildable=restriction.include_unbuildable,
        target=like.options.target,
        sums=like.technology.machine.sums,
        dram=like.options.dram,
        double_buffer=like.options.double_buffer,
    )


def _buffered(array: SystolicArray, single: Sequence[str], words: str) -> SystolicArray:
    """An array with single buffers of some tensors. Raises `InputError` if the question, whose
    words say what is doubled, has no such design."""
    known = {own.single: own for own in variants(array, words)}
    if tuple(single) not in known:
        allowed = " or ".join(",".join(names) or "none" for names in known)
        raise InputError(f"single is {quoted(','.join(single) or 'none')}; allowed: {allowed}")
    return known[tuple(single)]


def _restriction(designs: Sequence[SystolicDesign]) -> RestrictionDocument | None:
    """The loosest question that has just these designs, if there is one."""
    array, names = designs[0].array, [design.array.name for design in designs]
    kinds = product((False, True), (None, array.dataflow), (None, array.permutation))
    for unbuildable, dataflow, permutation in kinds:
        restriction = RestrictionDocument(
            dataflow=dataflow, permutation=permutation, include_unbuildable=unbuildable
        )
        try:
            if [each.name for each in _arrays(designs[0], restriction)] == names:
                return restriction
        except InputError:  # it has no designs
            continue
    return None


#: The family, for the registry.
SYSTOLIC = SystolicFamily()
