"""A mapping onto a memory hierarchy as files for ``timeloop-model`` (format v0.4).

What its parser demands: one directive a level for time and, where a mesh lies inside, one for
space; permutations name single letters, the innermost loop first; of a spatial one the first
``split`` loops run along X; factors multiply to the extents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ithaca.exports.configuration import Tool
from ithaca.files.numbers import json_number, json_ready
from ithaca.plugins.hierarchies.exports.templates import template
from ithaca.plugins.hierarchies.exports.timeloop.folder import (
    YamlNode,
    nest_obstacles,
    problem,
    yaml_text,
)
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.energy_files import beside_levels
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Mapped
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign, mapping_design
from ithaca.plugins.hierarchies.formulations.sparse.documents import (
    metadata_attributes,
    sparse_energies,
    sparse_targets,
)
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity
from ithaca.solver.solution import Solution
from ithaca.workloads.densities import density_fields
from ithaca.workloads.nest import LoopNest

VERSION = "0.4"


@dataclass(frozen=True)
class MappedNest:
    """A nest laid out over an architecture, with what that takes."""

    nest: LoopNest
    architecture: Architecture
    mapping: Mapped
    metrics: Mapping[str, Fraction]
    """By name."""
    edition: ClassVar[str] = "timeloop"

    @classmethod
    def of(cls, solution: Solution) -> MappedNest:
        """The mapping of a solution that has a configuration."""
        design = mapping_design(solution.problem.design)
        assert solution.configuration is not None
        mapping = design.mapping(solution.configuration)
        return cls(design.nest, design.architecture, mapping, solution.metrics)

    @property
    def description(self) -> str:
        """A short description of the mapped nest, in words."""
        return f"{self.nest.name} on {self.name}, for timeloop-model"

    @property
    def name(self) -> str:
        """The name of the architecture, as results call the design."""
        return self.architecture.name


def format_obstacles(nest: LoopNest) -> Iterator[str]:
    """The reason why Timeloop cannot express formats of tensors, if there are any."""
    if nest.formats:
        yield (
            f"format {nest.labels['format']}: words of a level are as wide for all tensors; "
            "allowed: none"
        )


def mapping_obstacles(mapped: MappedNest) -> Iterator[str]:
    """Every reason, in plain words, why Timeloop cannot express the nest or its mapping."""
    yield from nest_obstacles(mapped.nest)
    yield from format_obstacles(mapped.nest)
    for level in mapped.architecture.levels:
        for loop in mapped.nest.loops:
            if all(
                mapped.mapping.factor(Slot(level.name, direction), loop) > 1 for direction in "xy"
            ):
                yield (
                    f"{level.name}: loop {loop} runs along X and Y, and the "
                    "tool takes it along one of them"
                )


def obstacles(mapped: MappedNest) -> Iterator[str]:
    """Every reason, in plain words, why Timeloop cannot express the nest, its mapping or the
    architecture."""
    yield from mapping_obstacles(mapped)
    for name in mapped.architecture.unpriced:
        yield f"{name}: nothing says its energies, which the tool needs in an ERT"
    for level in mapped.architecture.levels:
        for tensor, _ in level.resident:
            yield (
                f"{level.name}: {tensor} stays there between layers, and the tool keeps "
                "every tensor in the outermost level"
            )
        if level.tensor_words:
            yield f"{level.name}: the tool has one capacity for all tensors of a level"


def files(mapped: MappedNest) -> dict[str, str]:
    """Content by file name."""
    title = f"{mapped.nest} on {mapped.architecture.name}"
    padded = mapped.mapping.padded(mapped.nest)
    stated = problem(mapped.nest, mapped.nest.accesses, padded)
    if densities := mapped.nest.densities:
        assert not isinstance(densities, str)  # as those of results
        stated["problem"]["instance"]["densities"] = density_fields(densities)
    return {
        "problem.yaml": yaml_text(stated, title),
        "arch.yaml": yaml_text(_architecture(mapped.architecture), title),
        "ert.yaml": yaml_text(_energies(mapped.architecture), title),
        "mapping.yaml": yaml_text({"mapping": [*directives(mapped)]}, title),
        "README.md": template(
            "timeloop/mapping.md.txt",
            title=title,
            metrics=mapped.metrics,
        ),
    }


def architecture_files(architecture: Architecture) -> dict[str, str]:
    """The file of an architecture by itself."""
    return {"arch.yaml": architecture_text(architecture)}


MAPPINGS = Tool(
    "Timeloop cannot express",
    nest_obstacles,
    lambda mapped: tuple(obstacles(mapped)),
    files,
    "`timeloop-model` in every folder",
    '(cd "$here/$folder" && timeloop-model arch.yaml ert.yaml problem.yaml mapping.yaml "$@")',
    MappingDesign.family,
    MappedNest.of,
    edition=MappedNest.edition,
    architecture=architecture_files,
)


def _architecture(architecture: Architecture) -> dict[str, Any]:
    """The levels in branches inside each other, a new one wherever instances multiply."""
    root: dict[str, Any] = {}
    branch, mesh = root, None
    for part in _parts(architecture):
        if mesh != (part.mesh_x, part.mesh_y):
            mesh = part.mesh_x, part.mesh_y
            inner: dict[str, Any] = {"name": f"{part.name}_mesh", "local": []}
            branch["subtree"], branch = [inner], inner
        stated = _storage(part) if isinstance(part, Level) else _multipliers(part)
        if isinstance(architecture.sparsity, Sparsity):
            stated["attributes"] |= metadata_attributes(architecture.sparsity, part.name)
        branch["local"].append(stated)
    tree = {"architecture": {"version": VERSION, **root}}
    if isinstance(sparsity := architecture.sparsity, Sparsity):
        targets = [*sparse_targets(sparsity, architecture.compute.name)]
        tree["sparse_optimizations"] = {"version": VERSION, "targets": targets}
    return tree


def _parts(architecture: Architecture) -> tuple[Level | Compute, ...]:
    return (*architecture.levels, architecture.compute)


def architecture_text(architecture: Architecture) -> str:
    """The architecture as a file of its own, with its energies and what its levels keep."""
    nodes: list[YamlNode] = []
    x = y = 1
    for part in _parts(architecture):
        if (x, y) != (part.mesh_x, part.mesh_y):
            mesh = {"meshX": part.mesh_x // x, "meshY": part.mesh_y // y}
            nodes.append(YamlNode("!Container", {"name": f"{part.name}_mesh", "spatial": mesh}))
            x, y = part.mesh_x, part.mesh_y
        stated = _storage(part) if isinstance(part, Level) else _multipliers(part)
        own = {
            name: value for name, value in stated["attributes"].items() if name not in _mesh(part)
        }
        own |= {
            "energy" if action == "compute" else f"{action}_energy": json_number(e)
            for action, e in _actions(part).items()
        }
        keeps = None if isinstance(part, Compute) else part.keeps
        kept = {} if keeps is None else {"constraints": {"dataspace": {"keep": sorted(keeps)}}}
        nodes.append(YamlNode("!Component", stated | {"attributes": own} | kept))
    texts = {
        name: text for name in ("description", "source") if (text := getattr(architecture, name))
    }
    tree = {"architecture": {"version": VERSION, "nodes": nodes}}
    return yaml_text(texts | tree | beside_levels(architecture), architecture.name)


def _storage(level: Level) -> dict[str, Any]:
    rates = {name: getattr(level, f"{name}_bandwidth") for name in ("read", "write", "shared")}
    size = dict(level.tensor_words) or level.words
    attributes = {
        "word_bits": level.word_bits,
        "block_size": level.block,
        "cluster_size": level.cluster,
        **_mesh(level),
        **({} if size is None else {"entries": size}),
        **({} if level.buffering == 1 else {"multiple_buffering": json_number(level.buffering)}),
        **{f"{name}_bandwidth": float(rate) for name, rate in rates.items() if rate is not None},
    }
    kind = "DRAM" if size is None else "SRAM" if level.instances == 1 else "regfile"
    return {"name": level.name, "class": kind, "attributes": attributes}


def _multipliers(compute: Compute) -> dict[str, Any]:
    return {
        "name": compute.name,
        "class": "intmac",
        "attributes": {"word_bits": 16, **_mesh(compute)},
    }


def _mesh(part: Level | Compute) -> dict[str, int]:
    return {"instances": part.instances, "meshX": part.mesh_x, "meshY": part.mesh_y}


def _actions(part: Level | Compute) -> dict[str, Fraction]:
    """The energies of its actions (pJ)."""
    if isinstance(part, Compute):
        return {"compute": part.energy}
    return {
        "read": part.read_energy,
        "write": part.write_energy,
        "update": part.update_energy,
        "leak": part.leak,
    }


def _energies(architecture: Architecture) -> dict[str, Any]:
    """The energies of every action (pJ)."""
    tables, nothing = [], dict[str, Any]()
    for part in _parts(architecture):
        energies = json_ready(_actions(part))
        if isinstance(sparsity := architecture.sparsity, Sparsity):
            energies |= sparse_energies(sparsity, part)
        actions = [
            {"name": name, "arguments": nothing, "energy": pj} for name, pj in energies.items()
        ]
        tables.append({"name": part.name, "actions": actions})
    return {"ERT": {"version": VERSION, "tables": tables}}


def directives(mapped: MappedNest) -> Iterator[dict[str, Any]]:
    """The directives of a mapping as the tool reads and writes them: the tensors that levels keep,
    and their loops in time and space."""
    nest, mapping = mapped.nest, mapped.mapping
    tensors = [access.tensor for access in nest.accesses]
    for place, level in enumerate(mapped.architecture.levels):
        kept = [tensor for tensor in tensors if tensor in mapping.keeps[level.name]]
        passed = [tensor for tensor in tensors if tensor not in kept]
        yield {"target": level.name, "type": "bypass", "keep": kept, "bypass": passed}
        inside = [*reversed(mapping.orders[level.name])]
        trips = {loop: mapping.trips(Slot(level.name), loop) for loop in nest.loops}
        yield {"target": level.name, "type": "temporal", **_loops(trips, inside)}
        if mapped.architecture.inner_mesh(place) is None:
            continue
        x, y = (Slot(level.name, axis) for axis in "xy")
        along = [loop for loop in _laned(mapping, x, nest) if mapping.factor(x, loop) > 1]
        both = _loops(
            {loop: mapping.trips(x if loop in along else y, loop) for loop in nest.loops},
            [*along, *(n for n in _laned(mapping, y, nest) if n not in along)],
        )
        # the edition counts what lanes load, not what they could hand to each other
        yield {
            "target": level.name,
            "type": "spatial",
            **both,
            "split": len(along),
            "no_link_transfer": tensors,
        }


def _laned(mapping: Mapped, slot: Slot, nest: LoopNest) -> Iterator[str]:
    """Loops as their lanes are nested, the innermost first."""
    yield from dict.fromkeys((*mapping.factors.get(slot, ()), *nest.loops))


def _loops(trips: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    return {
        "factors": " ".join(f"{loop}={n}" for loop, n in trips.items()),
        "permutation": "".join(order),
    }
