"""The report on a mapping onto a memory hierarchy: the words moved, their costs, and a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from textwrap import wrap

from markupsafe import Markup

from ithaca.exports.charts.chart import Bar, BarChart, LineChart, Series
from ithaca.exports.charts.page import environment
from ithaca.exports.report.answer import BestConfiguration, FamilySections
from ithaca.exports.report.blocks import (
    Block,
    ChartFigure,
    Section,
    chart_figure,
    stacked,
)
from ithaca.files.numbers import number, percent, rounded
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.bottleneck import bottleneck, contenders
from ithaca.plugins.hierarchies.exports.report_tiles import tiles_section
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.drawing import LevelWait, waits, working
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Mapped
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign, mapping_design
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.results.view import Table

#: Widths of the drawing for broad pages and for narrow, the height of a line of text, and what is
#: left around things (pixels).
BROAD, NARROW, LINE, MARGIN = 720, 330, 19, 12


def sections(best: BestConfiguration, checkpoint: object = None) -> FamilySections:
    """Figures, tables, charts and the drawing of a mapping; editions that count no levels show
    less."""
    design, metrics = mapping_design(best.problem.design), best.solution.metrics
    mapping = design.mapping(best.configuration)
    held = any(metrics.get(name, 0) for name in metrics if name.endswith(".capacity"))
    counted = f"{design.architecture.levels[0].name}.cycles" in metrics
    return FamilySections(
        _occupancy(best, design) if counted else (),
        (_energy(best, design), _time(best), _roofline(best, design, mapping)) if counted else (),
        (_drawn(design, mapping, metrics), *((tiles_section(design, metrics),) if held else ())),
    )


def _occupancy(best: BestConfiguration, design: MappingDesign) -> tuple[Block, ...]:
    """The share of an instance of each level that its tensors take; nothing where no level has a
    size."""
    bars, metrics = [], best.solution.metrics
    for level in design.architecture.levels:
        if level.words:
            own = units(level, design.nest)
            held = {
                access.tensor: own.words(
                    access.tensor,
                    metrics.get(f"{level.name}.{access.tensor}.capacity", Fraction(0)),
                )
                for access in design.nest.accesses
            }
            share = sum(held.values(), Fraction(0)) / level.words
            note = f"{number(share * level.words)} of {level.words:,} words ({percent(share)})"
            parts = tuple(float(100 * words / level.words) for words in held.values())
            bars.append(Bar(level.name, 100.0, note, "rest", parts=parts))
    if not bars:
        return ()
    tensors = tuple(access.tensor for access in design.nest.accesses)
    title = f"{best.subject}: what the tensors take of a buffer of each level"
    chart = BarChart(title, "% of its words", tuple(bars), parts=tensors)
    return (chart_figure("occupancy-chart", chart),)


def _energy(best: BestConfiguration, design: MappingDesign) -> Section:
    """Energy by level, as parts of a whole."""
    metrics, architecture = best.solution.metrics, design.architecture
    if not metrics.get("energy"):
        return Section("energy", "Energy by level", ("No energy is stated.",))
    spent = {level.name: metrics[f"{level.name}.energy"] for level in architecture.levels}
    spent[architecture.compute.name] = metrics["energy"] - sum(spent.values())
    text = f"Accesses times their energies, {rounded(metrics['energy'] / 10**6)} µJ in all."
    parts = {name: energy / 10**6 for name, energy in spent.items()}
    blocks = stacked("energy-chart", "Energy by level", "µJ", parts)
    return Section("energy", "Energy by level", (text, *blocks))


def _time(best: BestConfiguration) -> Section:
    """Cycles that the multipliers work, and that the words of each level take."""
    latency = best.solution.metrics["latency"]
    bars = []
    for part in contenders(
        bottleneck(best.problem.design, best.configuration, Symbol("latency"), "latency")
    ):
        most = f", most of them {part.parts[0].within(part.name)}" if part.parts else ""
        note = f"{number(part.value)} ({percent(part.share)}){most}"
        bars.append(Bar(part.name, float(part.value), note, "limit" if part.share == 1 else "main"))
    chart = BarChart(
        f"{best.subject}: cycles by part", "cycles", tuple(bars), (float(latency), "latency")
    )
    text = (
        "The latency is that of the slowest part; all overlap. What a level's words "
        "take is their number over its bandwidth."
    )
    return Section("time", "What binds", (text, chart_figure("time-chart", chart)))


def _roofline(best: BestConfiguration, design: MappingDesign, mapping: Mapped) -> Section:
    """Multiply-accumulates a cycle against those per word that a level moves."""
    metrics, compute = best.solution.metrics, design.architecture.compute
    did, peak = float(metrics["computes"] / metrics["latency"]), float(compute.instances)
    slowest: dict[str, LevelWait] = {}
    for wait in waits(design.nest, design.architecture, metrics):
        if wait.level not in slowest or wait.cycles > slowest[wait.level].cycles:
            slowest[wait.level] = wait
    if not slowest:
        return Section("roofline", "Roofline", ("No level has a bandwidth that limits it.",))
    roofs, points = dict[Fraction, list[str]](), []
    for name, wait in slowest.items():
        instances = working(design.architecture, mapping, name)
        roofs.setdefault(wait.rate * instances, []).append(f"{name} {wait.what}")
        points.append((float(metrics["computes"] / (wait.words * instances)), did, name))
    places = [x for x, _, _ in points] + [peak / float(rate) for rate in roofs]
    left, right = min(places) / 2, max(places) * 2
    low = max(min(did, left * float(min(roofs))) / 1.5, did / 100)
    series = []
    for rate, whose in roofs.items():
        begin, ridge = max(left, low / float(rate)), peak / float(rate)
        label = f"{rounded(rate)} words a cycle: {', '.join(whose)}"
        series.append(Series(label, (begin, ridge), (begin * float(rate), peak), form="line"))
    series.append(
        Series(
            f"{compute.instances:,} multipliers",
            (left, right),
            (peak, peak),
            role="limit",
            form="line",
        )
    )
    x, y, names = zip(*points, strict=True)
    series.append(
        Series(
            "the answer, at each level",
            x,
            y,
            labels=names,
            notes=names,
            role="answer",
            form="points",
        )
    )
    axes = ("multiply-accumulates per word moved", "multiply-accumulates per cycle")
    ends = ((left, right), (low, 1.5 * peak))
    title = f"{best.subject}: roofline"
    chart = LineChart(title, *axes, tuple(series), log_x=True, log_y=True, ends=ends)
    text = (
        "A level's line is what its bandwidth allows at so many multiply-accumulates "
        "per word (levels of one bandwidth share it); the answer is below the lines "
        "of all levels and of the multipliers, and on the line of what binds."
    )
    table = Table("The figures of the roofline", *chart.figures, folded=True)
    return Section("roofline", "Roofline", (text, chart_figure("roofline-chart", chart), table))


def _drawn(design: MappingDesign, mapping: Mapped, metrics: Mapping[str, Fraction]) -> Section:
    """The levels as boxes, outermost first, with what they keep, and beside the arrows what moves
    between them in a run."""
    boxes, arrows = [], []
    for level in design.architecture.levels:
        kept = [
            access.tensor
            for access in design.nest.accesses
            if access.tensor in mapping.keeps[level.name]
        ]
        held = [
            f"{tensor} {_words(metrics, level.name, tensor, 'capacity')}".strip() for tensor in kept
        ]
        size = "" if level.words is None else f" of {level.words:,} words"
        instances = working(design.architecture, mapping, level.name)
        many = (
            f"{number(Fraction(instances))} of {level.instances:,} instances"
            if level.instances > 1
            else "1 instance"
        )
        boxes.append((f"{level.name}: {many}{size}", "keeps " + ", ".join(held)))
        moved = []
        for tensor in kept:
            words = [metrics.get(f"{level.name}.{tensor}.{what}") for what in ("reads", "updates")]
            down, up = (None if n is None else n * instances for n in words)
            sent = [f"↓ {number(down)}"] if down else []
            moved += (
                [f"{tensor} {' '.join([*sent, *([f'↑ {number(up)}'] if up else [])])}"]
                if down or up
                else []
            )
        arrows.append("; ".join(moved))
    compute = design.architecture.compute
    boxes.append(
        (compute.name, f"{number(metrics['pes'])} of {compute.instances:,} multipliers work")
    )
    title = f"{design.nest.name} on {design.architecture.name}"
    description = (
        "Levels from outside to inside; beside each arrow the words that all "
        "instances of the level above it send and take."
    )
    return Section(
        "hierarchy",
        "The memory hierarchy",
        (description, _figure(title, description, boxes, arrows)),
    )


def accelerator_section(architecture: Architecture) -> Section:
    """The levels as boxes, outermost first, with their sizes and energies, and beside the arrows
    what they may move."""
    boxes, arrows = [], []
    for level in architecture.levels:
        size = (
            ""
            if level.words is None
            else f" of {level.words:,} words "
            f"({number(Fraction(level.words * level.word_bits, 8))} B)"
        )
        many = (
            f"{level.instances:,} ({level.mesh_x} × {level.mesh_y})"
            if level.instances > 1
            else "1 instance"
        )
        kept = "all tensors" if level.keeps is None else ", ".join(sorted(level.keeps)) or "nothing"
        energy = level.read_energy / level.block
        boxes.append(
            (
                f"{level.name}: {many}{size}",
                f"keeps {kept}; {level.word_bits} bits a word"
                + (f"; {rounded(energy)} pJ a word read" if energy else ""),
            )
        )
        rates = {
            "reads": level.read_bandwidth,
            "takes": level.write_bandwidth,
            "moves": level.shared_bandwidth,
        }
        limits = [f"{what} {rounded(rate)}" for what, rate in rates.items() if rate is not None]
        arrows.append(f"{', '.join(limits)} words a cycle" if limits else "")
    compute = architecture.compute
    mesh = f"{compute.instances:,} ({compute.mesh_x} × {compute.mesh_y})"
    spent = f"{rounded(compute.energy)} pJ a multiply-accumulate" if compute.energy else ""
    boxes.append((f"{compute.name}: {mesh}", spent))
    description = (
        "Levels from outside to inside; beside each arrow what an "
        "instance of the level above it can move."
    )
    figure = _figure(architecture.name, description, boxes, arrows)
    return Section("hierarchy", "The chosen accelerator", (description, figure))


def _figure(
    title: str, description: str, boxes: Sequence[tuple[str, str]], arrows: Sequence[str]
) -> ChartFigure:
    """Boxes with names and texts, one below the other, and texts beside the arrows between them;
    once for broad pages, once for narrow."""
    drawings = (
        _drawing(title, description, boxes, arrows, kind, width)
        for kind, width in (("broad", BROAD), ("narrow", NARROW))
    )
    return ChartFigure(Markup("".join(drawings)), title)


def _drawing(
    title: str,
    description: str,
    boxes: Sequence[tuple[str, str]],
    arrows: Sequence[str],
    kind: str,
    width: int,
) -> str:
    """The drawing for pages of a kind, so many pixels wide."""
    inside = width - 4 * MARGIN
    beside = [_folded(arrow, inside - MARGIN) for arrow in arrows]
    template = environment("ithaca.plugins.hierarchies.exports").get_template("hierarchy.html")
    return template.render(
        title=title,
        description=description,
        kind=kind,
        width=width,
        line=LINE,
        margin=MARGIN,
        boxes=[(_folded(name, inside), _folded(text, inside)) for name, text in boxes],
        arrows=[*beside, *[None] * (len(boxes) - len(arrows))],
    )


def _folded(text: str, room: int) -> list[str]:
    """Lines of a text that fit into so many pixels."""
    return wrap(text, room * 2 // 15, break_on_hyphens=False)


def _words(metrics: Mapping[str, Fraction], level: str, tensor: str, what: str) -> str:
    count = metrics.get(f"{level}.{tensor}.{what}")
    return "" if count is None else number(count)
