"""Editions of the model: what designs each poses, and what more of an architecture's figures does there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.spatial.architecture import Architecture, Level
from ithaca.formulations.spatial.constraints import NONE, Constraints
from ithaca.formulations.spatial.design import MappingOptions, SpatialDesign, common_metrics
from ithaca.formulations.spatial.dmazerunner import design as dmazerunner
from ithaca.formulations.spatial.dmazerunner.design import DmazerunnerDesign
from ithaca.formulations.spatial.dmazerunner.model import RF, SPM, Layer
from ithaca.formulations.spatial.variation import BURSTS, LIFTABLE, MESHES, figures
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

TIMELOOP, DMAZERUNNER = "timeloop", "dmazerunner"


@dataclass(frozen=True)
class Setting:
    """What a result is about."""

    architecture: Architecture
    nest: LoopNest
    edition: str
    options: MappingOptions = field(default_factory=MappingOptions)
    constraints: Constraints = NONE
    memory: tuple[tuple[str, tuple[int, ...]], ...] = ()  #: Extents in memory by tensor, of edition ``dmazerunner``

    @cached_property
    def design(self) -> SpatialDesign | DmazerunnerDesign:
        """The design. Raises `InputError` if the parts do not fit each other."""
        return EDITIONS[self.edition].design(self)


@dataclass(frozen=True)
class Edition:
    """An edition of the model."""

    design: Callable[[Setting], SpatialDesign | DmazerunnerDesign]  #: The design of a setting
    metrics: Callable[[Architecture], tuple[Metric, ...]]  #: The metrics of every nest on an architecture
    #: What more of each figure (`ithaca.formulations.spatial.variation`) does; figures that the edition does not read have none
    trends: Callable[[Architecture], Mapping[str, Trend]]


def _mapped(setting: Setting) -> SpatialDesign:
    return SpatialDesign(setting.nest, setting.architecture, setting.options, setting.constraints)


def _of_levels(architecture: Architecture) -> Mapping[str, Trend]:
    """Capacities, bandwidths and instances only add mappings, or cycles that are no more; energies multiply counts.

    What leaks does so in every instance, so that more of them may cost more energy, or save some by being done earlier;
    instances that share accesses make as many as there are. Wider words leave fewer of them in the bits of a level.
    """
    parts, counted = architecture.parts, set()
    for place, part in enumerate(parts):
        if part.leak or (isinstance(part, Level) and part.cluster > 1):
            counted |= {around.name for around in parts[: place + 1]}
    found = {}
    for name in figures(architecture):
        own, _, figure = name.rpartition(".")
        if name not in BURSTS:
            more = figure in LIFTABLE or figure in MESHES
            found[name] = Trend.MIXED if figure in MESHES and own in counted else Trend.HELPS if more else Trend.HURTS
    return found


def _on_dmazerunner(setting: Setting) -> DmazerunnerDesign:
    for option, given in (("bypass free", setting.options.free_bypass), ("fanout parent", setting.options.within_parent)):
        if given:
            raise InputError(f"{option} does not go with edition dmazerunner; allowed: edition timeloop")
    layer = Layer(setting.nest, setting.memory)
    return DmazerunnerDesign(setting.architecture, layer, setting.options.divisors_only, setting.constraints)


def _of_bursts(architecture: Architecture) -> Mapping[str, Trend]:
    """Register files, banks and PEs are only upper limits of what tiles use; energies and cycles of bursts multiply counts.

    Least paddings are so whatever the hardware: larger capacities only add rows. Larger banks are fewer; tensors share none.
    """
    found = {f"{part}.words": Trend.HELPS for part in (SPM, RF)} | {f"{RF}.{name}": Trend.HELPS for name in MESHES}
    found |= {f"{level.name}.read_energy": Trend.HURTS for level in architecture.levels}
    found |= dict.fromkeys(BURSTS, Trend.HURTS) | {"bursts.bank_words": Trend.MIXED}
    return found | {f"{architecture.compute.name}.energy": Trend.HURTS}


#: By name.
EDITIONS: Mapping[str, Edition] = {
    TIMELOOP: Edition(_mapped, common_metrics, _of_levels),
    DMAZERUNNER: Edition(_on_dmazerunner, lambda _: tuple(dmazerunner.VOCABULARY.values()), _of_bursts),
}
