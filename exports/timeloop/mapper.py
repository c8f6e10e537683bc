"""What ``timeloop-mapper`` writes of the mapping that it ends with, under its names of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil

from ithaca.exports.timeloop.folder import yaml_text
from ithaca.exports.timeloop.hierarchy import MappedNest, directives
from ithaca.formulations.spatial.architecture import Level
from ithaca.formulations.spatial.drawing import working
from ithaca.formulations.spatial.mapping import Slot

#: What the tool calls its files.
PREFIX = "timeloop-mapper"


def mapper_files(mapped: MappedNest) -> dict[str, str]:
    """Content by file name."""
    title = f"{mapped.nest} on {mapped.architecture.name}"
    return {
        f"{PREFIX}.map.yaml": yaml_text({"mapping": [*directives(mapped)]}, title),
        f"{PREFIX}.map.txt": "\n".join(_loops(mapped)) + "\n",
        f"{PREFIX}.stats.txt": "\n".join(_statistics(mapped)) + "\n",
    }


def _priced(mapped: MappedNest, name: str, energies: Mapping[str, Fraction]) -> dict[str, str]:
    """Energies of a part as fields; none where nothing says what it takes."""
    unknown = name in mapped.architecture.unpriced
    return {} if unknown else {field: f"{float(pj):.2f} pJ" for field, pj in energies.items()}


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


def _loops(mapped: MappedNest) -> Iterator[str]:
    """The mapping as the tool draws it: words that tiles take, at most and on average, by level."""
    indent, levels = 0, mapped.architecture.levels
    for level in levels:
        words = {t: mapped.metrics[f"{level.name}.{t}.capacity"] for t in _kept(mapped, level)}
        held = "".join(f"{tensor}:{count} ({count}) " for tensor, count in words.items())
        yield f"{level.name} [ {held}] "
        loops = [*_own_loops(mapped, level)]
        if loops or level is levels[-1]:
            yield "-" * len(f"{level.name} [ {held}]")
        for loop in loops:
            yield f"| {'  ' * indent}{loop}"
            indent += 1
        if loops and level is not levels[-1]:
            yield ""
    yield f"| {'  ' * indent}<< Compute >>"


def _statistics(mapped: MappedNest) -> Iterator[str]:
    compute, metrics = mapped.architecture.compute, mapped.metrics
    computes, cycles = metrics["computes"], metrics["latency"]
    yield from ("Buffer and Arithmetic Levels", "-" * 28)
    yield from _heading(0, compute.name)
    yield from _fields(
        "SPECS",
        {
            "Instances": f"{compute.instances} ({compute.mesh_x}*{compute.mesh_y})",
            **_priced(mapped, compute.name, {"Compute energy": compute.energy}),
        },
        (4, 22),
    )
    yield from _fields(
        "STATS",
        {
            "Utilized instances": metrics["pes"],
            "Computes (total)": computes,
            "Cycles": computes / metrics["pes"],
            **_priced(mapped, compute.name, {"Energy (total)": computes * compute.energy}),
        },
        (4, 24),
    )
    spent = {compute.name: computes * compute.energy}
    for number, level in enumerate(reversed(mapped.architecture.levels), start=1):
        if own := metrics.get(f"{level.name}.energy"):
            spent[level.name] = own
        if mapped.mapping.keeps[level.name]:
            yield from _heading(number, level.name)
            yield from _level(mapped, level)
    energy, output = sum(spent.values(), Fraction(0)), mapped.nest.output.tensor
    outputs = metrics[f"{mapped.architecture.levels[0].name}.{output}.capacity"]
    yield from ("", "Summary Stats", "-" * 13)
    yield f"GFLOPs (@1GHz): {float((2 * computes - outputs) / cycles):.2f}"
    yield f"Utilization: {float(100 * computes / (cycles * compute.instances)):.2f}%"
    yield f"Cycles: {cycles}"
    if mapped.architecture.unpriced:
        return
    yield f"Energy: {float(energy / 10**6):.2f} uJ"
    yield f"EDP(J*cycle): {float(energy * cycles / 10**12):.2e}"
    yield from ("", f"Computes = {computes}", "fJ/Compute")
    for name, own in (*spent.items(), ("Total", energy)):
        yield f"    {name:47} = {float(1000 * own / computes):.2f}"


def _heading(number: int, name: str) -> Iterator[str]:
    yield from ("", f"Level {number}", "-" * 7, f"=== {name} ===")


def _fields(
    title: str, values: Mapping[str, object], indent_and_width: tuple[int, int]
) -> Iterator[str]:
    indent, width = indent_and_width
    yield from ("", f"    {title}", f"    {'-' * len(title)}")
    for name, value in values.items():
        yield f"{' ' * indent}{name:{width}}: {value}"


def _level(mapped: MappedNest, level: Level) -> Iterator[str]:
    metrics = mapped.metrics
    rates = {
        f"{name.capitalize()} bandwidth": "-" if rate is None else f"{float(rate):.2f}"
        for name in ("shared", "read", "write")
        for rate in [getattr(level, f"{name}_bandwidth")]
    }
    size = "-" if level.words is None else level.words
    yield from _fields(
        "SPECS",
        {
            "Size": size,
            "Word bits": level.word_bits,
            "Block size": level.block,
            "Cluster size": level.cluster,
            "Instances": f"{level.instances} ({level.mesh_x}*{level.mesh_y})",
            **rates,
            "Multiple buffering": f"{float(level.buffering):.2f}",
            "Effective size": "-" if level.words is None else level.usable(level.words),
            **_priced(
                mapped,
                level.name,
                {
                    "Vector access energy": max(
                        level.read_energy, level.write_energy, level.update_energy
                    ),
                    "Per-instance-cycle leakage": level.leak,
                },
            ),
        },
        (8, 32),
    )
    yield from ("", "    MAPPING", "    -------", "    Loop nest:")
    for depth, loop in enumerate(_own_loops(mapped, level)):
        yield f"      {'  ' * depth}{loop}"
    cycles, steps = metrics[f"{level.name}.cycles"], metrics["computes"] / metrics["pes"]
    throttling = f"{float(steps / cycles):.2f}"
    yield from _fields("STATS", {"Cycles": cycles, "Bandwidth throttling": throttling}, (4, 21))
    for tensor in _kept(mapped, level):
        yield f"    {tensor}:"
        for name, value in _of_tensor(mapped, level, tensor, cycles).items():
            yield f"        {name:41}: {value}"


def _of_tensor(
    mapped: MappedNest, level: Level, tensor: str, cycles: Fraction
) -> dict[str, object]:
    """The statistics of a tensor in a level."""
    counts = {
        what: mapped.metrics[f"{level.name}.{tensor}.{what}"]
        for what in ("reads", "fills", "updates")
    }
    costs = (level.read_energy, level.write_energy, level.update_energy)
    energy = sum(
        (
            ceil(words / level.block) * cost
            for words, cost in zip(counts.values(), costs, strict=True)
        ),
        Fraction(0),
    )
    accesses = sum(counts.values(), Fraction(0))
    instances = working(mapped.architecture, mapped.mapping, level.name)
    charged = min(instances, level.charged)
    bandwidths = {
        "Shared": accesses,
        "Read": counts["reads"],
        "Write": counts["fills"] + counts["updates"],
    }
    return {
        "Utilized capacity": mapped.metrics[f"{level.name}.{tensor}.capacity"],
        "Utilized instances (max)": instances,
        **{f"Scalar {what} (per-instance)": words for what, words in counts.items()},
        **_priced(
            mapped,
            level.name,
            {
                "Energy (per-scalar-access)": energy / accesses if accesses else accesses,
                "Energy (per-instance)": energy,
                "Energy (total)": energy * charged,
            },
        ),
        **{
            f"{name} Bandwidth ({of})": f"{float(words * times / cycles):.2f} words/cycle"
            for name, words in bandwidths.items()
            for of, times in (("per-instance", 1), ("total", instances))
        },
    }
