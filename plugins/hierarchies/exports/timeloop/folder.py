"""The exported folder: problem, architecture, mapping, and obstacles in Timeloop's format.

Keys and tags follow the published front end (github.com/Accelergy-Project/timeloopfe, ``v4``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from ithaca.exports.configuration import (
    ArrayConfiguration,
    Tool,
    block_obstacles,
    memory_obstacles,
)
from ithaca.formulations.data_types import DRAM_PORT_BYTES, DataType
from ithaca.formulations.systolic.metrics import tensor_words
from ithaca.plugins.hierarchies.exports.templates import template
from ithaca.plugins.hierarchies.exports.timeloop.levels import (
    LevelKind,
    TimeloopHierarchy,
    TimeloopLevel,
)
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest

VERSION = 0.4

#: Tells Accelergy that there is no energy to look up: Ithaca's FPGAs are in none of its tables.
NO_TECHNOLOGY = -1

#: Published classes of components. "storage" in a class makes it storage to Timeloop; a dummy holds
#: nothing.
CLASSES = {
    LevelKind.DRAM: "DRAM",
    LevelKind.BUFFER: "SRAM",
    LevelKind.REGISTERS: "regfile",
    LevelKind.LOOPS: "dummy_storage",
}


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A node of the architecture: a mapping with a YAML tag."""

    tag: str
    content: dict[str, Any]


# -- problem -----------------------------------------------------------------------------


def problem(
    nest: LoopNest, accesses: tuple[Access, ...], extents: Mapping[str, int]
) -> dict[str, Any]:
    """The problem file: a loop nest on padded extents, which the mapping's factors multiply to.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    accesses : tuple of Access
        Its accesses, without strides that only name elements.
    extents : mapping of str to int
        Padded extent of each loop.

    Returns
    -------
    dict
        The document, ready for YAML.
    """
    coefficients = _coefficients(accesses)
    shape = {
        "name": nest.name,
        "dimensions": list(nest.loops),
        "coefficients": [{"name": name, "default": value} for value, name in coefficients.items()],
        "data_spaces": [_data_space(nest, access, coefficients) for access in accesses],
    }
    instance = {**extents, **{name: value for value, name in coefficients.items()}}
    return {"problem": {"version": VERSION, "shape": shape, "instance": instance}}


def _coefficients(accesses: tuple[Access, ...]) -> dict[int, str]:
    """Names of the coefficients other than 1, such as strides."""
    values = {
        c for access in accesses for subscript in access for _, c in subscript.terms if c != 1
    }
    return {value: f"times{value}" for value in sorted(values)}


def _data_space(nest: LoopNest, access: Access, coefficients: dict[int, str]) -> dict[str, Any]:
    """A tensor: per dimension a sum of products of a loop and perhaps a coefficient."""
    projection = [
        [[x] if c == 1 else [x, coefficients[c]] for x, c in subscript.terms]
        for subscript in access
    ]
    space: dict[str, Any] = {"name": access.tensor, "projection": projection}
    return {**space, "read_write": True} if access.tensor == nest.output.tensor else space


# -- architecture ------------------------------------------------------------------------


def architecture(hierarchy: TimeloopHierarchy) -> dict[str, Any]:
    """The hierarchy's components. Lanes are containers: they multiply everything that follows."""
    chosen = hierarchy.configuration
    seconds = float(1 / (chosen.technology.clock_mhz * 10**6))
    system = {
        "name": "system",
        "attributes": {"technology": NO_TECHNOLOGY, "global_cycle_seconds": seconds},
    }
    nodes = [
        YamlNode("!Container", system),
        *(_node(level, chosen.data) for level in hierarchy.levels),
    ]
    return {"architecture": {"version": VERSION, "nodes": nodes}}


def _node(level: TimeloopLevel, data: DataType) -> YamlNode:
    if level.kind is LevelKind.LANES:
        ((_, lanes),) = level.loops
        return YamlNode("!Container", {"name": level.name, "spatial": {"meshX": lanes}})
    if level.kind is LevelKind.COMPUTE:
        kind = "intmac" if data.integer else "fpmac"
        return YamlNode(
            "!Component",
            {"name": level.name, "class": kind, "attributes": {"datawidth": data.bits}},
        )
    return YamlNode(
        "!Component",
        {"name": level.name, "class": CLASSES[level.kind], "attributes": _storage(level, data)},
    )


def _storage(level: TimeloopLevel, data: DataType) -> dict[str, Any]:
    if level.kind is LevelKind.LOOPS:
        return {"width": 1, "depth": 1, "datawidth": 1}
    limited = {f"{name}_bandwidth": _rate(words) for name, words in level.rates.items()}
    if level.kind is LevelKind.DRAM:
        return {"width": 8 * DRAM_PORT_BYTES, "datawidth": data.bits, **limited}
    attributes = {
        "depth": -(-level.words // level.width),
        "width": level.width * data.bits,
        "datawidth": data.bits,
    }
    return {**attributes, **({"multiple_buffering": 2} if level.double_buffered else {}), **limited}


def _rate(words: Fraction) -> float:
    """Words per cycle, rounded up in the twelfth digit, since Timeloop rounds cycles up."""
    scale = Fraction(10) ** (12 - len(str(int(words))))
    return float(-(-words * scale // 1) / scale)


# -- mapping -----------------------------------------------------------------------------


def mapping(hierarchy: TimeloopHierarchy) -> dict[str, Any]:
    """The tensors that every level keeps, and its loops; permutations begin with the innermost."""
    return {
        "mapping": [
            entry
            for level in hierarchy.levels
            for entry in _entries(hierarchy.configuration.nest, level)
        ]
    }


def _entries(nest: LoopNest, level: TimeloopLevel) -> list[dict[str, Any]]:
    if level.kind is LevelKind.COMPUTE:
        return []
    entries: list[dict[str, Any]] = []
    if level.kind is not LevelKind.LANES:
        bypass = [access.tensor for access in nest.accesses if access.tensor not in level.keeps]
        kept = {"keep": list(level.keeps)} if level.keeps else {}
        entries.append(
            {
                "target": level.name,
                "type": "dataspace",
                **kept,
                **({"bypass": bypass} if bypass else {}),
            }
        )
    trips = dict(level.loops)
    inside = [loop for loop, _ in reversed(level.loops)]
    entries.append(
        {
            "target": level.name,
            "type": "spatial" if level.kind is LevelKind.LANES else "temporal",
            "factors": [f"{loop}={trips.get(loop, 1)}" for loop in nest.loops],
            "permutation": [*inside, *(loop for loop in reversed(nest.loops) if loop not in trips)],
            **({"no_reuse": list(level.no_reuse)} if level.no_reuse else {}),
            # what lanes hand to each other is not counted beside what they load
            **(
                {"no_link_transfer": [access.tensor for access in nest.accesses]}
                if level.kind is LevelKind.LANES
                else {}
            ),
        }
    )
    return entries


# -- the folder --------------------------------------------------------------------------


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Every reason, in plain words, why Timeloop cannot express a nest."""
    return (*_of_names(nest), *_of_subscripts(nest), *block_obstacles(nest))


def _of_names(nest: LoopNest) -> Iterator[str]:
    for loop in nest.loops:
        if not (len(loop) == 1 and loop.isascii() and loop.isalpha()):
            yield (
                f"loop '{loop}': dimensions are single letters, because "
                "Timeloop joins them to permutations"
            )


def _of_subscripts(nest: LoopNest) -> Iterator[str]:
    for access in nest.accesses:
        for subscript in access:
            if subscript.constant or not subscript.terms:
                yield f"subscript {subscript} of {access}: projections have no constants"
            elif any(coefficient < 0 for _, coefficient in subscript.terms):
                yield (
                    f"subscript {subscript} of {access}: projections have no negative coefficients"
                )


def _files(configuration: ArrayConfiguration) -> Mapping[str, str]:
    hierarchy = TimeloopHierarchy(configuration)
    title = f"{configuration.nest}, design {configuration.design.name}"
    return {
        "problem.yaml": yaml_text(
            problem(configuration.nest, hierarchy.accesses, configuration.padded), title
        ),
        "architecture.yaml": yaml_text(architecture(hierarchy), title),
        "mapping.yaml": yaml_text(mapping(hierarchy), title),
        "README.md": _readme(hierarchy),
    }


TIMELOOP = Tool(
    "Timeloop cannot express",
    nest_obstacles,
    lambda chosen: (*nest_obstacles(chosen.nest), *memory_obstacles(chosen)),
    _files,
)


def yaml_text(document: dict[str, Any], title: str) -> str:
    """A document as YAML, under a line that says what it is."""
    from yaml import SafeDumper, dump

    class Dumper(SafeDumper):
        """Writes architecture nodes with their tags, and nothing by reference."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    Dumper.add_representer(
        YamlNode, lambda dumper, node: dumper.represent_mapping(node.tag, node.content)
    )
    text: str = dump(document, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=1000)
    return f"# {title}; written by Ithaca for Timeloop v0.4.\n{text}"


def _readme(hierarchy: TimeloopHierarchy) -> str:
    configuration = hierarchy.configuration
    padded = configuration.padded
    costs = hierarchy.costs
    words = tensor_words(configuration.design, costs)
    counts = {
        **{f"off-chip words of {tensor}": n for tensor, n in words.items()},
        "cycles of the PEs": costs.point.value(
            configuration.design.pe.trips * configuration.design.pe.tiles
        ),
        "multiply-accumulates, padding included": prod(padded.values()),
        "multipliers": costs.comp,
    }
    return template(
        "timeloop/readme.md.txt",
        statement=configuration.nest,
        design=configuration.design.name,
        metrics=counts,
        main=costs.main,
        unstated=[tensor for tensor, stated in hierarchy.kept_longer.items() if not stated],
        padded=padded,
        levels=hierarchy.levels,
    )
