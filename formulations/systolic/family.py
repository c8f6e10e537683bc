"""Systolic arrays as a family: how they are written, read and named."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.family import Family
from ithaca.formulations.systolic.buffering import variants
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import METRICS, NAMES, by_part
from ithaca.formulations.systolic.profile import SystolicProfile
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.formulations.technology import Technology
from ithaca.workloads.library import workload_document
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    from ithaca.formulations.systolic.documents import (
        ArrayDesignDocument,
        ArrayHeadDocument,
        RestrictionDocument,
        TileFactorsDocument,
    )


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

    @cached_property
    def head(self) -> Any:
        from ithaca.formulations.systolic.documents import ArrayHeadDocument

        return ArrayHeadDocument

    @cached_property
    def choice(self) -> Any:
        from ithaca.formulations.systolic.documents import ArrayDesignDocument

        return ArrayDesignDocument

    @cached_property
    def tiling(self) -> Any:
        from ithaca.formulations.systolic.documents import TileFactorsDocument

        return TileFactorsDocument

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
    from ithaca.formulations.systolic.documents import RestrictionDocument

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
