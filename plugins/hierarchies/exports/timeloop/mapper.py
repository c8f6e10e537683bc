"""The statistics that ``timeloop-mapper`` writes of its final mapping, under its names of
fields."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

from ithaca.plugins.hierarchies.exports.templates import template
from ithaca.plugins.hierarchies.exports.timeloop.folder import yaml_text
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest, directives
from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.plugins.hierarchies.formulations.drawing import working
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity
from ithaca.plugins.hierarchies.formulations.widths import units

#: What the tool calls its files.
PREFIX = "timeloop-mapper"


def mapper_files(mapped: MappedNest) -> dict[str, str]:
    """Content by file name."""
    title = f"{mapped.nest} on {mapped.architecture.name}"
    return {
        f"{PREFIX}.map.yaml": yaml_text({"mapping": [*directives(mapped)]}, title),
        f"{PREFIX}.map.txt": template("timeloop/map.txt", **_facts(mapped)),
        f"{PREFIX}.stats.txt": statistics_text(mapped),
    }


def statistics_text(mapped: MappedNest) -> str:
    """The statistics of a mapping; of sparse tensors those of words that are moved, without the
    energies of single tensors."""
    architecture = mapped.architecture
    return template(
        "timeloop/stats.txt",
        **_facts(mapped),
        compute=architecture.compute,
        numbers={level.name: at for at, level in enumerate(reversed(architecture.levels), 1)},
        unpriced=architecture.unpriced,
        sparse=isinstance(architecture.sparsity, Sparsity),
        moved=partial(_moved, mapped),
        held=partial(_words, mapped, what="capacity"),
        pace=partial(_pace, mapped),
        outputs=_words(mapped, architecture.levels[0], mapped.nest.output.tensor, "capacity"),
        spent=spent(mapped),
    )


def _facts(mapped: MappedNest) -> dict[str, Any]:
    """The levels, with what they keep and their loops, and the metrics of a mapping."""
    levels = [
        (level, _kept(mapped, level), [*_own_loops(mapped, level)])
        for level in mapped.architecture.levels
    ]
    return {"levels": levels, "metrics": mapped.metrics}


def _kept(mapped: MappedNest, level: Level) -> list[str]:
    return [
        access.tensor
        for access in mapped.nest.accesses
        if access.tensor in mapped.mapping.keeps[level.name]
    ]


def _own_loops(mapped: MappedNest, level: Level) -> Iterator[str]:
    """The loops of a level, outermost first, but for those of one trip."""
    for direction, along in (("", ""), ("x", " (Spatial-X)"), ("y", " (Spatial-Y)")):
        for loop in mapped.mapping.orders[level.name]:
            slot = Slot(level.name, direction)
            if mapped.mapping.factor(slot, loop) > 1:
                yield f"for {loop} in [0:{mapped.mapping.trips(slot, loop)}){along}"


def spent(mapped: MappedNest) -> dict[str, Fraction]:
    """The energy of each part, from the inside outwards, and of all (pJ)."""
    compute, metrics = mapped.architecture.compute, mapped.metrics
    energies = {compute.name: metrics["computes"] * compute.energy}
    for level in reversed(mapped.architecture.levels):
        if own := metrics.get(f"{level.name}.energy"):
            energies[level.name] = own
    return {**energies, "Total": sum(energies.values(), Fraction(0))}


def _pace(mapped: MappedNest, level: Level) -> Fraction:
    """The share of the multipliers' pace that the bandwidths of a level let them keep."""
    metrics, kept = mapped.metrics, _kept(mapped, level)
    steps = metrics["computes"] / metrics["pes"]
    own = units(level, mapped.nest)
    waits = [
        sum(
            own.share(tensor) * metrics[f"{level.name}.{tensor}.{what}"]
            for tensor in kept
            for what in counts
        )
        / rate
        for _, rate, counts in level.rates
    ]
    return min([Fraction(1), *(steps / wait for wait in waits if wait)])


def _words(mapped: MappedNest, level: Level, tensor: str, what: str) -> Fraction:
    """Words of a level that what is counted of a tensor fills."""
    values = mapped.metrics[f"{level.name}.{tensor}.{what}"]
    return Fraction(units(level, mapped.nest).words(tensor, values))


def _moved(
    mapped: MappedNest, level: Level, tensor: str
) -> tuple[dict[str, Fraction], Fraction, int]:
    """The words of a tensor that an instance of a level moves, by kind, their energy (pJ), and the
    number of working instances."""
    whats = ("reads", "fills", "updates")
    counts = {what: _words(mapped, level, tensor, what) for what in whats}
    costs = (level.read_energy, level.write_energy, level.update_energy)
    energies = (
        ceil(words / level.block) * cost for words, cost in zip(counts.values(), costs, strict=True)
    )
    instances = working(mapped.architecture, mapped.mapping, level.name)
    return counts, sum(energies, Fraction(0)), instances
