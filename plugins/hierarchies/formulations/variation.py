"""Architectures with one figure changed: what studies vary of hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.design import Metric
from ithaca.plugins.hierarchies.formulations.architecture import (
    NETWORKS,
    Architecture,
    Compute,
    Level,
)

#: Figures of levels by name, those that may be lifted, and those that are whole numbers.
FIGURES = {
    figure.name: figure
    for figure in (
        Metric("words", "words", "capacity of an instance, its depth or entries"),
        Metric("read_bandwidth", "words/cycle", "what an instance reads"),
        Metric("write_bandwidth", "words/cycle", "what an instance takes"),
        Metric("shared_bandwidth", "words/cycle", "what an instance reads and takes"),
        Metric("read_energy", "pJ", "a read access"),
        Metric("write_energy", "pJ", "an access that fills"),
        Metric("update_energy", "pJ", "an access that writes results"),
        Metric("leak", "pJ/cycle", "an instance in use"),
        Metric(
            "mesh_x",
            "instances",
            "instances along the first direction, each with what is inside it",
        ),
        Metric(
            "mesh_y",
            "instances",
            "instances along the second direction, each with what is inside it",
        ),
        Metric(
            "fanout_x",
            "instances",
            "instances along the first direction inside each instance around them",
        ),
        Metric(
            "fanout_y",
            "instances",
            "instances along the second direction inside each instance around them",
        ),
    )
}
LIFTABLE = ("words", "read_bandwidth", "write_bandwidth", "shared_bandwidth")
MESHES = ("mesh_x", "mesh_y", "fanout_x", "fanout_y")
WHOLE = ("words", *MESHES)

#: The width of all words, a figure of no level.
WORD_BITS = Metric(
    "word_bits", "bits", "width of words at every level, whose bits and ports stay as they are"
)


def _of(field: str, *metrics: Metric) -> dict[str, Metric]:
    """Figures of a field of architectures that only one edition reads."""
    return {f"{field}.{figure.name}": figure for figure in metrics}


#: What only edition `dmazerunner` reads.
BURSTS = _of(
    "bursts",
    Metric("bank_words", "words", "a bank of the scratchpad"),
    Metric("setup", "cycles", "to begin a burst"),
    Metric("word", "cycles", "of every word of a burst"),
    Metric("network_energy", "pJ", "a word over the network"),
)

#: What only edition `intrinsic` reads.
TENSORIZED = _of(
    "tensorized",
    Metric("dataflow", "", "which of the dataflows is built, from 1"),
    Metric("banks", "banks", "of the scratchpad, two words a cycle each"),
    Metric("bus_bits", "bits", "width of the bus off chip"),
    Metric("burst_bytes", "bytes", "longest burst on it"),
)

#: What only edition `explainable` reads.
NETWORK = _of(
    "network",
    Metric("width", "bits/cycle", "every link"),
    *(Metric(f"{name}_links", "links", f"of the network {name}") for name in NETWORKS),
    *(
        Metric(f"{name}_virtual", "groups", f"that take turns at a link of the network {name}")
        for name in NETWORKS
    ),
    Metric("bank_words", "words", "a bank of the scratchpad"),
)
NETWORK_ENERGY = "network.energy"

#: All of these.
OF_EDITIONS = (
    BURSTS
    | TENSORIZED
    | NETWORK
    | {NETWORK_ENERGY: Metric("energy", "pJ", "a word over the networks, at every PE")}
)

#: Figures of no level that are whole numbers.
WHOLE_NUMBERS = (WORD_BITS.name, "bursts.bank_words", *TENSORIZED, *NETWORK)


def figures(architecture: Architecture) -> dict[str, Metric]:
    """The figures that can be varied: ``GLB.words`` and so on of every level, the mesh of the
    multipliers, ``word_bits``."""
    known = {
        f"{level.name}.{name}": figure
        for level in architecture.levels
        for name, figure in FIGURES.items()
    }
    known |= {f"{architecture.compute.name}.{name}": FIGURES[name] for name in MESHES}
    known |= {
        f"{architecture.compute.name}.energy": Metric("energy", "pJ", "a multiply-accumulate")
    }
    known |= {WORD_BITS.name: WORD_BITS}
    return known | {
        name: own
        for name, own in OF_EDITIONS.items()
        if getattr(architecture, name.partition(".")[0]) is not None
    }


def with_figures(architecture: Architecture, values: Mapping[str, Fraction]) -> Architecture:
    """The architecture with other figures: the width of words first, then meshes from outside, then
    the rest.

    Raises `InputError` if a figure cannot have its value.
    """
    parts = [part.name for part in architecture.parts]

    def turn(name: str) -> tuple[int, int]:
        part, _, field = name.rpartition(".")
        return (
            0 if not part else 1 if field in MESHES else 2,
            parts.index(part) if part in parts else 0,
        )

    for name in sorted(values, key=turn):
        architecture = with_figure(architecture, name, values[name])
    return architecture


def with_figure(architecture: Architecture, name: str, value: Fraction | None) -> Architecture:
    """The architecture with another figure.

    Parameters
    ----------
    architecture : Architecture
        The architecture.
    name : str
        One of `figures`.
    value : Fraction or None
        Its value; None lifts a capacity or bandwidth.

    Returns
    -------
    Architecture
        The architecture.

    Raises
    ------
    InputError
        If the figure cannot have that value.
    """
    part, _, field = name.rpartition(".")
    if name not in figures(architecture):
        known = ", ".join(
            (*(level.name for level in architecture.levels), architecture.compute.name)
        )
        raise InputError(f"{architecture.name} has no {name}; its parts are {known}")
    if value is None and field not in LIFTABLE:
        raise InputError(f"{quoted(name)} is none; allowed: a number")
    if (
        value is not None
        and (field in WHOLE or name in WHOLE_NUMBERS)
        and (value < 1 or value.denominator != 1)
    ):
        raise InputError(f"{quoted(name)} is {float(value):g}; allowed: a positive integer")
    changed: Any = {
        field: int(value)
        if value is not None and (field in WHOLE or name in WHOLE_NUMBERS)
        else value
    }
    if name in OF_EDITIONS or (part == architecture.compute.name and field not in MESHES):
        owner = part if name in OF_EDITIONS else "compute"
        more: Any = {owner: replace(getattr(architecture, owner), **changed)}
        return replace(architecture, **more)
    if not part:
        return replace(
            architecture,
            levels=tuple(_wide(level, changed[field]) for level in architecture.levels),
        )
    if field in MESHES:
        return _meshed(architecture, part, field, changed[field])
    if (
        field == "read_energy" and architecture.bursts is not None
    ):  # a figure of its own takes the place of a table's
        tables = tuple(
            (level, sizes) for level, sizes in architecture.bursts.energies if level != part
        )
        architecture = replace(architecture, bursts=replace(architecture.bursts, energies=tables))
    levels = (
        replace(level, **changed) if level.name == part else level for level in architecture.levels
    )
    return replace(architecture, levels=tuple(levels))


def _wide(level: Level, bits: int) -> Level:
    """A level with words of another width: as many bits of capacity, and as many a cycle."""
    share = Fraction(level.word_bits, bits)

    def rate(words: Fraction | None) -> Fraction | None:
        return None if words is None else words * share

    return replace(
        level,
        word_bits=bits,
        words=None if level.words is None else int(level.words * share),
        tensor_words=tuple((tensor, int(words * share)) for tensor, words in level.tensor_words),
        read_bandwidth=rate(level.read_bandwidth),
        write_bandwidth=rate(level.write_bandwidth),
        shared_bandwidth=rate(level.shared_bandwidth),
    )


def _meshed(architecture: Architecture, part: str, field: str, count: int) -> Architecture:
    """The architecture with another number of instances of a part along a direction, each with what
    is inside it."""
    parts = list(architecture.parts)
    place = [each.name for each in parts].index(part)
    if field.startswith("fanout"):
        field = field.replace("fanout", "mesh")
        count *= getattr(parts[place - 1], field) if place else 1
    old = getattr(parts[place], field)
    for k, each in enumerate(parts[place:], start=place):
        mesh = {
            "mesh_x": each.mesh_x,
            "mesh_y": each.mesh_y,
            field: getattr(each, field) // old * count,
        }
        parts[k] = replace(each, instances=prod(mesh.values()), **mesh)
    *levels, compute = parts
    assert isinstance(compute, Compute)
    return replace(
        architecture, levels=tuple(x for x in levels if isinstance(x, Level)), compute=compute
    )
