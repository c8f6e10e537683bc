"""Mappings onto memory hierarchies in documents: architecture and problem as a whole, so that files
stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from pydantic import Field

from ithaca.files.documents import json_schema
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built, model_of
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Count, Document
from ithaca.formulations.family import Family
from ithaca.formulations.schema import NestDocument, ObjectiveDocument, PlatformDocument
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.architecture_files import ArchitectureFile
from ithaca.plugins.hierarchies.formulations.constraint_entries import constraints_schema
from ithaca.plugins.hierarchies.formulations.constraints import Constraints
from ithaca.plugins.hierarchies.formulations.documents import (
    ArchitectureDocument,
    ConstraintsDocument,
)
from ithaca.plugins.hierarchies.formulations.editions import INTRINSIC, Setting
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.profile import MappingProfile, TimeloopProfile
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.profile import DmazerunnerProfile
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.plugins.hierarchies.formulations.published.explainable.profile import ExplainableProfile
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import IntrinsicDesign
from ithaca.plugins.hierarchies.formulations.published.intrinsic.profile import IntrinsicProfile
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.uneven.documents import (
    node_configuration,
    node_fields,
    read_node,
)
from ithaca.plugins.hierarchies.formulations.uneven.model import Node
from ithaca.plugins.hierarchies.formulations.uneven.profile import UnevenProfile
from ithaca.workloads.library import workload_document


class MappingSpaceDocument(model_of(MappingOptions)):  # type: ignore[misc]
    """The options that say which mappings were considered."""


class LevelMappingDocument(Document):
    """The loops of a level, ``LOOP=TRIPS`` from outermost to innermost, those of its mesh, and the
    tensors that it keeps.

    Of edition uneven it is one of the level's storage nodes, of one tensor, and its own loops; the
    outermost level has one for all tensors, and the last of a level has its mesh. Of edition
    intrinsic all of them follow from the iterations that a sub-problem has of each loop: the tile
    of the scratchpad.
    """

    level: str
    keeps: list[str]
    loops: list[str] = Field(default_factory=list)
    x: list[str] = Field(default_factory=list)
    y: list[str] = Field(default_factory=list)
    tile: list[str] = Field(default_factory=list)
    order: Count | None = None
    """Which of the orders that the space offers, where an earlier one has these loops in the same
    order."""


class HeadDocument(Document):
    """The question that a result file of memory hierarchies begins with."""

    problem: NestDocument
    memory: dict[str, list[int]] = Field(default_factory=dict)
    """The tensors' extents in memory, of edition dmazerunner."""
    edition: Literal["timeloop", "dmazerunner", "explainable", "intrinsic", "uneven"]
    platform: PlatformDocument
    objective: ObjectiveDocument
    space: MappingSpaceDocument = MappingSpaceDocument()
    constraints: ConstraintsDocument = ConstraintsDocument()
    architecture: ArchitectureDocument


class MatchedLoopsDocument(Document):
    """The name of a design: the nest's loop by loop of the intrinsic, of edition intrinsic; other
    editions have one design."""

    binding: dict[str, str] = Field(default_factory=dict)


#: The profiles of designs, by their edition.
PROFILES: Mapping[str, type[MappingProfile[Any]]] = {
    "timeloop": TimeloopProfile,
    "dmazerunner": DmazerunnerProfile,
    "explainable": ExplainableProfile,
    "intrinsic": IntrinsicProfile,
    "uneven": UnevenProfile,
}


class SpatialFamily(Family[MappingDesign]):
    """Documents of memory hierarchies."""

    document = "mapping"
    head = HeadDocument
    choice = MatchedLoopsDocument
    tiling = list[LevelMappingDocument]

    @property
    def inputs(self) -> Mapping[str, Callable[[], dict[str, Any]]]:
        return {
            "architecture": lambda: json_schema(ArchitectureFile),
            "constraints": constraints_schema,
        }

    def head_fields(self, design: MappingDesign) -> Mapping[str, Any]:
        known: Any = design  # of any edition
        shared: dict[str, Any] = {
            "architecture": known.architecture,
            "problem": workload_document(known.alone),
            "edition": known.edition,
            "constraints": known.constraints,
        }
        if isinstance(known, TilingDesign):
            memory = {tensor: list(sizes) for tensor, sizes in known.layer.stored}
            return shared | {"memory": memory, "space": {"divisors_only": known.divisors_only}}
        return shared | {"space": known.options}

    def choice_fields(self, design: MappingDesign) -> Mapping[str, Any]:
        return {"binding": dict(design.binding)} if isinstance(design, IntrinsicDesign) else {}

    def tiling_fields(self, design: MappingDesign, configuration: Configuration) -> Any:
        if isinstance(design, UnevenDesign):
            return node_fields(design, configuration)
        mapping, levels = design.mapping(configuration), []
        for level in design.architecture.levels:
            own: dict[str, Any] = {"level": level.name, "keeps": sorted(mapping.keeps[level.name])}
            order = mapping.orders[level.name]
            for name, direction in (("loops", ""), ("x", "x"), ("y", "y")):
                own[name] = mapping.several(Slot(level.name, direction), order)
            offered = design.orders.get(level.name, (order,))
            moving = [loop for loop in order if mapping.factor(Slot(level.name), loop) > 1]
            if (first := _first_order(offered, moving)) != order:
                assert first is not None
                own["order"] = offered.index(order) + 1
            levels.append(own)
        if isinstance(design, IntrinsicDesign):
            levels[1]["tile"] = [
                f"{name.partition('.')[0]}={configuration[name]}"
                for name in design.space.quantities
            ]
        return levels

    def setting(self, head: Any) -> Setting:
        with errors_at("problem"):
            nest = head.problem.nest()
        memory = tuple((tensor, tuple(sizes)) for tensor, sizes in head.memory.items())
        parts = (
            head.edition,
            built(MappingOptions, head.space),
            built(Constraints, head.constraints),
            memory,
        )
        return Setting(built(Architecture, head.architecture), nest, *parts)

    def vocabulary(self, setting: Setting) -> Mapping[str, Metric]:
        return setting.design.vocabulary

    def names(self, setting: Setting) -> Collection[str]:
        return setting.design.names

    def design(self, setting: Setting, choice: MatchedLoopsDocument) -> MappingDesign:
        if setting.edition != INTRINSIC:
            return setting.design
        for design in setting.designs:
            if isinstance(design, IntrinsicDesign) and dict(design.binding) == choice.binding:
                return design
        known = "; ".join(design.name for design in setting.designs)
        text = " ".join(f"{loop}={image}" for loop, image in choice.binding.items())
        raise InputError(f"binding is {quoted(text)}; allowed: {known}")

    def configuration(
        self, design: MappingDesign, tiling: list[LevelMappingDocument]
    ) -> Configuration:
        if isinstance(design, UnevenDesign):
            return self._with_nodes(design, tiling)
        names = [level.name for level in design.architecture.levels]
        if [part.level for part in tiling] != names:
            raise InputError(
                f"level is one of {', '.join(part.level for part in tiling)}; "
                f"allowed: {', '.join(names)}, in turn"
            )
        if isinstance(design, IntrinsicDesign):
            return self._tiled(design, tiling)
        values: dict[str, int] = {}
        for part in tiling:
            moving = _read_loops(design, part, values)
            if (offered := design.orders.get(part.level)) is not None:
                order = _first_order(offered, moving) if part.order is None else None
                if part.order is None and order is None:
                    what = " ".join(moving)
                    raise InputError(
                        f"{part.level}.loops are ordered {what}; allowed: an "
                        "order that the space offers"
                    )
                values[f"order.{part.level}"] = (
                    offered.index(order) + 1 if order else int(part.order or 1)
                )
            for tensor in (access.tensor for access in design.nest.accesses):
                values[f"keep.{part.level}.{tensor}"] = 2 if tensor in part.keeps else 1
        own = Configuration({name: values.get(name, 1) for name in design.space.quantities})
        self._check_same(design, tiling, own)
        return own

    def _check_same(
        self, design: MappingDesign, tiling: list[LevelMappingDocument], own: Configuration
    ) -> None:
        """Refuse other loops and kept tensors than a configuration has."""
        for part, right in zip(tiling, self.tiling_fields(design, own), strict=False):
            for field in ("keeps", "loops", "x", "y"):
                value = [text for text in getattr(part, field) if not text.endswith("=1")]
                if sorted(value) != sorted(right[field]):
                    raise InputError(
                        f"{part.level}.{field} is {', '.join(value) or 'nothing'}; "
                        f"allowed: {', '.join(right[field]) or 'nothing'}"
                    )

    def _tiled(self, design: IntrinsicDesign, tiling: list[LevelMappingDocument]) -> Configuration:
        """The configuration whose tiles are stated, if all else follows from them."""
        values: dict[str, int] = {}
        _read_loops(
            design, tiling[1].model_copy(update={"loops": tiling[1].tile, "x": [], "y": []}), values
        )
        if missing := min(design.space.quantities.keys() - values.keys(), default=None):
            raise InputError(
                f"{tiling[1].level}.tile lacks {missing.partition('.')[0]}; "
                "allowed: a tile of every bound loop"
            )
        configuration = Configuration({name: values[name] for name in design.space.quantities})
        if design.space.contains(configuration):
            self._check_same(design, tiling, configuration)
        return configuration

    def _with_nodes(
        self, design: UnevenDesign, tiling: list[LevelMappingDocument]
    ) -> Configuration:
        """The configuration with the storage nodes and loops that are stated."""
        values: dict[str, int] = {}
        order: list[Node] = []
        for number, part in enumerate(tiling):
            nodes = read_node(design, part.level, part.keeps) if number else []
            if not number and (
                part.level != design.slots[0].level or set(part.keeps) != design.keeps(0)
            ):
                raise InputError(
                    f"the first level is {quoted(part.level)}; allowed: "
                    f"{design.slots[0].level}, which keeps {', '.join(sorted(design.keeps(0)))}"
                )
            _read_loops(design, part, values, design.slot(nodes[0]) if nodes else None)
            order += nodes
        own = node_configuration(design, values, tuple(order), tiling[0].order)
        self._check_same(design, tiling, own)
        return own

    def profile(self, design: MappingDesign) -> MappingProfile[Any]:
        return PROFILES[design.edition](design)


def _read_loops(
    design: MappingDesign,
    part: LevelMappingDocument,
    values: dict[str, int],
    node: Slot | None = None,
) -> list[str]:
    """Take up the factors of a level, or of a storage node; the loops that it runs in time,
    outermost first."""
    for direction, texts in (("", part.loops), ("x", part.x), ("y", part.y)):
        for text in texts:
            match = re.fullmatch(r"([A-Za-z_]\w*)=([0-9]{1,9})(?:,[0-9]{1,9})?", text)
            loops = design.nest.loops
            if match is None or match[1] not in loops:
                raise InputError(
                    f"{part.level} has {quoted(text)}; allowed: LOOP=TRIPS "
                    f"with loops {', '.join(loops)}"
                )
            slot = node if node is not None and not direction else Slot(part.level, direction)
            name = slot.quantity(match[1])
            if name not in design.space.quantities or name in values:
                raise InputError(
                    f"{part.level} has {quoted(text)}; allowed: every loop once, "
                    "where the space has a factor of it"
                )
            values[name] = int(match[2])
    return [text.partition("=")[0] for text in part.loops]


def _first_order(offered: tuple[Order, ...], moving: list[str]) -> Order | None:
    """The first order in which some loops come one after the other."""
    return next(
        (order for order in offered if [loop for loop in order if loop in moving] == moving), None
    )


#: The family, for the registry.
SPATIAL = SpatialFamily()
