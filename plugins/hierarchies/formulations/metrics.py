"""Metrics of mappings: their names, and the least that any mapping of a nest takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil
from typing import TYPE_CHECKING

from ithaca.formulations.design import Metric
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.nest import LoopNest, footprints

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit

#: The metric of all editions of which more is better.
PES = Metric("pes", "PEs", "multipliers that work", most=True, scarce=True)

#: Metrics of all nests on all architectures.
WHOLE = {
    metric.name: metric
    for metric in (
        Metric(
            "latency",
            "cycles",
            "the multipliers' cycles, or those of the level whose words take longest",
        ),
        Metric("energy", "pJ", "all accesses and multiply-accumulates"),
        Metric("edp", "pJ·cycles", "energy times latency"),
        Metric("computes", "MACs", "multiply-accumulates, padding included"),
        PES,
    )
}

#: What a level counts of every tensor (words of an instance).
COUNTS = {
    "reads": "read",
    "fills": "taken from the level around it",
    "updates": "of results taken from inside",
    "capacity": "held at once",
}


def priced(known: Mapping[str, Metric], architecture: Architecture) -> Mapping[str, Metric]:
    """Metrics without energy and EDP, where nothing says the energies of some component.

    Parameters
    ----------
    known : mapping of str to Metric
        All of an edition.
    architecture : Architecture
        Its components.
    """
    if not architecture.unpriced:
        return known
    return {name: metric for name, metric in known.items() if name not in ("energy", "edp")}


def common_metrics(architecture: Architecture) -> tuple[Metric, ...]:
    """The metrics of every nest on an architecture: whole costs, then those of levels."""
    metrics = [*WHOLE.values()]
    for level in architecture.levels:
        metrics += [
            Metric(
                f"{level.name}.cycles", "cycles", f"that {level.name} needs, or the multipliers"
            ),
            Metric(f"{level.name}.energy", "pJ", f"accesses of all instances of {level.name}"),
        ][: 1 if level.name in architecture.unpriced else 2]
    return tuple(priced({metric.name: metric for metric in metrics}, architecture).values())


def count_metrics(level: str, tensors: Iterable[str]) -> Iterator[Metric]:
    """The metrics that count the words of some tensors at a level."""
    for tensor, (count, meaning) in product(tensors, COUNTS.items()):
        yield Metric(
            f"{level}.{tensor}.{count}", "words", f"{tensor} {meaning}, an instance of {level}"
        )


def least_metrics(
    nest: LoopNest,
    architecture: Architecture,
    kept: Sequence[Collection[str]],
    limits: Sequence[Limit],
) -> dict[str, Fraction]:
    """Lower bounds of whole costs and those of levels, whatever the mapping.

    PEs do all operations, and every level moves each word that it always keeps at least once: it is
    read there, or updated if it is a result; operands were filled, too, but for those that begin
    there. Words are at best spread over all instances.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    architecture : Architecture
        What it is mapped onto.
    kept : sequence of collections of str
        The tensors that each level always keeps, outermost first.
    limits : sequence of Limit
        Limits of the problem; those on ``pes`` bound how many PEs work.

    Returns
    -------
    dict
        By metric, in its unit (cycles, pJ, pJ·cycles, MACs).
    """
    every, output, compute = footprints(nest), nest.output.tensor, architecture.compute
    allowed = [Fraction(compute.instances), *(x.bound for x in limits if x.metric == "pes")]
    steps = ceil(nest.operations / max(min(allowed), Fraction(1)))
    lowest = {"computes": Fraction(nest.operations)}
    latency, energy = Fraction(0), nest.operations * compute.energy
    for place, (level, always) in enumerate(zip(architecture.levels, kept, strict=True)):
        own, resident = units(level, nest), {tensor for tensor, _ in level.resident} | {output}
        words = {tensor: count * own.share(tensor) for tensor, count in every.items()}
        moved = {
            "reads": sum(words[t] for t in always if t != output),
            "fills": sum(words[t] for t in always if t not in resident) if place else 0,
            "updates": words[output] if output in always else 0,
        }
        waits = (
            sum(moved[count] for count in counts) / rate / level.instances
            for _, rate, counts in level.rates
        )
        cycles = Fraction(ceil(max([Fraction(steps), *waits])))
        spent = sum(moved[count] * pj for count, pj in level.prices.items()) * level.share
        lowest |= {f"{level.name}.cycles": cycles, f"{level.name}.energy": spent}
        latency, energy = max(latency, cycles), energy + spent
    return lowest | {"latency": latency, "energy": energy, "edp": energy * latency}
