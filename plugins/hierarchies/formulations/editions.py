"""Editions of the model: what designs each poses, and what more of an architecture's figures does
there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ithaca.files.errors import InputError
from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Level
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions, MappingSpace
from ithaca.plugins.hierarchies.formulations.matching import staged
from ithaca.plugins.hierarchies.formulations.metrics import common_metrics, priced
from ithaca.plugins.hierarchies.formulations.published.dmazerunner import design as dmazerunner
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import DmazerunnerDesign
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPM,
    StoredLayer,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.plugins.hierarchies.formulations.published.explainable import design as explainable
from ithaca.plugins.hierarchies.formulations.published.explainable.design import ExplainableDesign
from ithaca.plugins.hierarchies.formulations.published.intrinsic import design as intrinsic
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import Binding, array_of
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import IntrinsicDesign
from ithaca.plugins.hierarchies.formulations.sparse.design import SparseDesign
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.variation import (
    BURSTS,
    LIFTABLE,
    MESHES,
    NETWORK,
    NETWORK_ENERGY,
    OF_EDITIONS,
    TENSORIZED,
    figures,
)
from ithaca.workloads.nest import LoopNest, Stored

TIMELOOP, DMAZERUNNER, EXPLAINABLE, INTRINSIC, UNEVEN = (
    "timeloop",
    "dmazerunner",
    "explainable",
    "intrinsic",
    "uneven",
)


@dataclass(frozen=True)
class Setting:
    """The setting that all designs of a result share."""

    architecture: Architecture
    nest: LoopNest
    edition: str
    options: MappingOptions = field(default_factory=MappingOptions)
    constraints: Constraints = NONE
    memory: Stored = ()
    """Extents in memory by tensor, of edition ``dmazerunner``."""
    binding: Binding = ()
    """The loops that run on the intrinsic, of edition ``intrinsic``."""

    def __post_init__(self) -> None:
        if self.nest.sparse is not None:
            raise InputError(
                f"block sparsity {self.nest.sparse} goes with systolic arrays only; "
                "allowed: dense tensors"
            )
        if self.nest.formats and self.edition != TIMELOOP:
            raise InputError(
                f"format {self.nest.labels['format']} does not go with edition {self.edition}; "
                f"allowed: edition {TIMELOOP}"
            )

    @cached_property
    def design(self) -> MappingDesign:
        """The design. Raises `InputError` if the parts do not fit each other."""
        _check_options(self)
        return EDITIONS[self.edition].design(self)

    @property
    def designs(self) -> tuple[MappingDesign, ...]:
        """The designs of the edition: several, where the nest may run in several ways."""
        return tuple(
            replace(self, binding=binding).design
            for binding in EDITIONS[self.edition].bindings(self)
        )


@dataclass(frozen=True)
class SpatialEdition:
    """An edition of the model."""

    design: Callable[[Setting], MappingDesign]
    """The design of a setting."""
    metrics: Callable[[Architecture], tuple[Metric, ...]]
    """The metrics of every nest on an architecture."""
    trends: Callable[[Architecture], Mapping[str, Trend]]
    """The effect of more of each figure (`variation`); figures that the
    edition does not read have none."""
    bindings: Callable[[Setting], tuple[Binding, ...]] = lambda _: ((),)
    """The bindings that designs of a setting differ in."""
    stages: Callable[[Architecture, LoopNest], tuple[LoopNest, ...]] = lambda _, nest: (nest,)
    """The nests that one is run as, where it has more factors than the accelerator multiplies."""


def _mapped(setting: Setting) -> MappingSpace:
    kind = SparseDesign if setting.architecture.sparse else SpatialDesign
    return kind(setting.nest, setting.architecture, setting.options, setting.constraints)


def _of_levels(architecture: Architecture) -> Mapping[str, Trend]:
    """Capacities, bandwidths and instances only add mappings, or cycles that are no more; energies
    multiply counts.

    Instances leak only where they are used, but those that share accesses make as many as there
    are. Wider words leave fewer of them in the bits of a level.
    """
    parts, counted = architecture.parts, set()
    for place, part in enumerate(parts):
        if isinstance(part, Level) and part.cluster > 1:
            counted |= {around.name for around in parts[: place + 1]}
    moves = {}
    for name in figures(architecture):
        own, _, figure = name.rpartition(".")
        if name not in OF_EDITIONS:
            more = figure in LIFTABLE or figure in MESHES
            moves[name] = (
                Trend.MIXED
                if figure in MESHES and own in counted
                else Trend.HELPS
                if more
                else Trend.HURTS
            )
    return moves


def _uneven(setting: Setting) -> UnevenDesign:
    return UnevenDesign(setting.nest, setting.architecture, setting.options)


def _check_options(setting: Setting) -> None:
    """Refuse options that an edition does not have."""
    options = setting.options
    if options.remainders and options.divisors_only:
        raise InputError("remainders do not go with divisors only; allowed: one of them")
    for option, chosen, editions in (
        ("bypass free", options.free_bypass, (TIMELOOP, UNEVEN)),
        ("fanout parent", options.within_parent, (TIMELOOP,)),
        ("nodes levels", options.nodes_by_level, (UNEVEN,)),
        ("drains free", options.free_drains, (UNEVEN,)),
        ("off chip bus", options.off_chip, (INTRINSIC,)),
        ("remainders", options.remainders, (TIMELOOP, UNEVEN)),
        ("divisors only", options.divisors_only, (TIMELOOP, *TILED, UNEVEN)),
        ("constraints", setting.constraints != NONE, (TIMELOOP, *TILED)),
    ):
        if chosen and setting.edition not in editions:
            raise InputError(
                f"{option} does not go with edition {setting.edition}; allowed: "
                f"edition {', '.join(editions)}"
            )


#: The editions of tiles in a scratchpad and register files, by name.
TILED: Mapping[str, type[TilingDesign]] = {
    DMAZERUNNER: DmazerunnerDesign,
    EXPLAINABLE: ExplainableDesign,
}


def _tiled(setting: Setting) -> TilingDesign:
    layer = StoredLayer(setting.nest, setting.memory)
    return TILED[setting.edition](
        setting.architecture, layer, setting.options.divisors_only, setting.constraints
    )


#: Capacities of tiles, and PEs: more never hurt.
HOLDING = dict.fromkeys(
    (f"{SPM}.words", f"{RF}.words", *(f"{RF}.{name}" for name in MESHES)), Trend.HELPS
)


def _of_bursts(architecture: Architecture) -> Mapping[str, Trend]:
    """Register files, banks and PEs are only upper limits of what tiles use; energies and cycles of
    bursts multiply counts.

    Least paddings are so whatever the hardware: larger capacities only add rows. Larger banks are
    fewer; tensors share none.
    """
    moves = HOLDING | dict.fromkeys(BURSTS, Trend.HURTS) | {"bursts.bank_words": Trend.MIXED}
    return moves | _of_accesses(architecture)


def _of_accesses(architecture: Architecture) -> dict[str, Trend]:
    """Energies of accesses and operations multiply counts."""
    names = (f"{level.name}.read_energy" for level in architecture.levels)
    return dict.fromkeys((*names, f"{architecture.compute.name}.energy"), Trend.HURTS)


def _on_intrinsic(setting: Setting) -> IntrinsicDesign:
    binding = setting.binding or _bindings(setting)[0]
    return IntrinsicDesign(setting.nest, setting.architecture, binding, setting.options)


def _bindings(setting: Setting) -> tuple[Binding, ...]:
    return array_of(setting.architecture).bindings(setting.nest)


def _in_stages(architecture: Architecture, nest: LoopNest) -> tuple[LoopNest, ...]:
    return staged(nest, len(array_of(architecture).computes.inputs))


def _of_intrinsic(architecture: Architecture) -> Mapping[str, Trend]:
    """Capacities are only upper limits of what tiles fill, and more banks only divide words; calls
    are padded to the mesh.

    Nothing off chip takes cycles here. Energies multiply counts.
    """
    moves = {f"{level.name}.words": Trend.HELPS for level in architecture.levels[1:]}
    moves |= {f"{architecture.compute.name}.{name}": Trend.MIXED for name in ("mesh_x", "mesh_y")}
    return (
        moves
        | _of_accesses(architecture)
        | dict.fromkeys(TENSORIZED, Trend.IDLE)
        | {"tensorized.banks": Trend.HELPS, "tensorized.dataflow": Trend.MIXED}
    )


def _of_networks(architecture: Architecture) -> Mapping[str, Trend]:
    """Register files, banks, PEs, links and their turns are only upper limits; width and bandwidth
    divide cycles; energies multiply counts."""
    return (
        HOLDING
        | _of_accesses(architecture)
        | dict.fromkeys((f"{DRAM}.shared_bandwidth", *NETWORK), Trend.HELPS)
        | {"network.bank_words": Trend.MIXED, NETWORK_ENERGY: Trend.HURTS}
    )


def _stated(known: Mapping[str, Metric]) -> Callable[[Architecture], tuple[Metric, ...]]:
    """The metrics of an edition on an architecture."""
    return lambda architecture: tuple(priced(known, architecture).values())


#: By name.
EDITIONS: Mapping[str, SpatialEdition] = {
    TIMELOOP: SpatialEdition(_mapped, common_metrics, _of_levels),
    DMAZERUNNER: SpatialEdition(_tiled, _stated(dmazerunner.VOCABULARY), _of_bursts),
    EXPLAINABLE: SpatialEdition(_tiled, _stated(explainable.VOCABULARY), _of_networks),
    INTRINSIC: SpatialEdition(
        _on_intrinsic,
        _stated(intrinsic.VOCABULARY),
        _of_intrinsic,
        _bindings,
        _in_stages,
    ),
    UNEVEN: SpatialEdition(_uneven, common_metrics, _of_levels),
}
