"""A mapping for people: as a loop nest, as Timeloop prints it, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ithaca.formulations.shown_numbers import number, percent
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.mapping import Mapping as Mapped
from ithaca.formulations.spatial.mapping import Slot
from ithaca.workloads.nest import LoopNest


def loop_lines(nest: LoopNest, architecture: Architecture, mapping: Mapped, metrics: Mapping[str, Fraction]) -> Iterator[str]:
    """Every level with the tensors that it keeps, their words, and its loops, outermost first but for those of one trip."""
    indent = 0
    for level in architecture.levels:
        kept = [access.tensor for access in nest.accesses if access.tensor in mapping.keeps[level.name]]
        words = {tensor: metrics.get(f"{level.name}.{tensor}.capacity") for tensor in kept}
        held = " ".join(tensor if n is None else f"{tensor}:{number(n)}" for tensor, n in words.items())
        heading = f"{level.name} [ {held} ]"
        yield from (heading, "-" * len(heading))
        for direction, said in (("", ""), ("x", " (Spatial-X)"), ("y", " (Spatial-Y)")):
            for loop in mapping.orders[level.name]:
                if (trips := mapping.factor(Slot(level.name, direction), loop)) > 1:
                    yield f"| {'  ' * indent}for {loop} in [0:{trips}){said}"
                    indent += 1
        yield ""
    yield "<<< Compute >>>"


def statements(nest: LoopNest, architecture: Architecture, mapping: Mapped, metrics: Mapping[str, Fraction]) -> Iterator[str]:
    """What binds, where the energy goes, how many multipliers work, and what is padded; each ``Term: statement.``"""
    yield f"Binding: {_binding(architecture, metrics)}."
    shares = {level.name: metrics.get(f"{level.name}.energy") for level in architecture.levels}
    known = {name: energy for name, energy in shares.items() if energy is not None}
    if known and (whole := metrics["energy"]):
        known[architecture.compute.name] = whole - sum(known.values())
        parts = sorted(known.items(), key=lambda part: -part[1])
        yield f"Energy: {', '.join(f'{name} {percent(energy / whole)}' for name, energy in parts)}."
    pes, instances = metrics["pes"], architecture.compute.instances
    yield f"Lanes: {number(pes)} of {instances:,} multipliers work ({percent(pes / instances)})."
    padded = mapping.padded(nest)
    more = [f"{loop} from {extent} to {padded[loop]}" for loop, extent in nest.extents if padded[loop] != extent]
    work = Fraction(1)
    for loop, extent in nest.extents:
        work *= Fraction(padded[loop], extent)
    yield f"Padding: {', '.join(more)}; {percent(work - 1)} more work." if more else "Padding: none."


def _binding(architecture: Architecture, metrics: Mapping[str, Fraction]) -> str:
    """What sets the latency."""
    cycles = {level.name: metrics.get(f"{level.name}.cycles") for level in architecture.levels}
    known = {name: n for name, n in cycles.items() if n is not None}
    steps = metrics["computes"] / metrics["pes"] if "computes" in metrics else None
    latency = metrics["latency"]
    if steps is None:
        return f"{number(latency)} cycles"
    if steps == latency:
        return f"computation, {number(latency)} cycles; no level's bandwidth limits it"
    slowest = max(known, key=lambda name: known[name])
    return (
        f"the bandwidth of {slowest}, whose words take {number(latency)} cycles; the multipliers work {number(steps)} of them "
        f"({percent(steps / latency)})"
    )
