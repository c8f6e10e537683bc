"""What the report shows of a mapping onto a memory hierarchy: what moves where, what that takes,
and a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape

from markupsafe import Markup

from ithaca.exports.charts.chart import Bar, BarChart, LineChart, Series
from ithaca.exports.report.answer import BestConfiguration, Card, FamilySections
from ithaca.exports.report.blocks import Block, ChartFigure, Paragraph, Section, Table, chart_figure
from ithaca.files.numbers import number, percent, rounded
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.bottleneck import bottleneck, contenders
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.drawing import LevelWait, waits, working
from ithaca.formulations.spatial.mapping import Mapping as Mapped
from ithaca.formulations.spatial.mapping_design import MappingDesign, mapping_design

#: The drawing's measures (pixels).
WIDTH, HEIGHT, GAP, MARGIN = 720, 52, 46, 12


def sections(best: BestConfiguration, *, simulated: bool) -> FamilySections:
    """Figures, tables, charts and the drawing of a mapping; editions that count no levels show
    less."""
    design, metrics = mapping_design(best.problem.design), best.solution.metrics
    mapping = design.mapping(best.configuration)
    counted = f"{design.architecture.levels[0].name}.cycles" in metrics
    return FamilySections(
        _cards(best),
        (_levels(design, metrics),) if counted else (),
        (_energy(best, design), _time(best), _roofline(best, design, mapping)) if counted else (),
        (_drawn(design, mapping, metrics),),
    )


def _cards(best: BestConfiguration) -> tuple[Card, ...]:
    metrics, compute = (
        best.solution.metrics,
        mapping_design(best.problem.design).architecture.compute,
    )
    found = []
    if best.objective != "latency":
        found.append(Card("latency", number(metrics["latency"]), "cycles", ""))
    if best.objective != "energy" and "energy" in metrics:
        found.append(Card("energy", rounded(metrics["energy"] / 10**6), "µJ", ""))
    if "pes" not in metrics:
        return tuple(found)
    share = percent(metrics["pes"] / compute.instances)
    return (
        *found,
        Card("multipliers", number(metrics["pes"]), f"of {compute.instances:,}", f"{share} work"),
    )


def _levels(design: MappingDesign, metrics: Mapping[str, Fraction]) -> Block:
    rows = []
    for level in design.architecture.levels:
        for tensor in (access.tensor for access in design.nest.accesses):
            counts = [
                metrics.get(f"{level.name}.{tensor}.{what}")
                for what in ("capacity", "reads", "fills", "updates")
            ]
            if None not in counts:
                rows.append((level.name, tensor, *map(number, counts)))
    columns = ("level", "tensor", "words held", "reads", "fills", "updates")
    return Table(
        "What an instance of each level holds and moves (words)",
        columns,
        tuple(rows),
        frozenset({0, 1}),
    )


def _energy(best: BestConfiguration, design: MappingDesign) -> Section:
    """Energy by level, as parts of a whole."""
    metrics, architecture = best.solution.metrics, design.architecture
    spent = {level.name: metrics[f"{level.name}.energy"] for level in architecture.levels}
    spent[architecture.compute.name] = metrics["energy"] - sum(spent.values())
    bars = []
    for name, energy in spent.items():
        share = f" ({percent(energy / metrics['energy'])})" if metrics["energy"] else ""
        bars.append(Bar(name, float(energy) / 1e6, f"{rounded(energy / 10**6)} µJ{share}"))
    chart = BarChart(f"{best.subject}: energy by level", "µJ", tuple(bars), stacked=True)
    whole = rounded(metrics["energy"] / 10**6)
    text = (
        f"Accesses times their energies, {whole} µJ in all; a bar "
        "begins where the one above it ends."
    )
    return Section(
        "energy", "Energy by level", (Paragraph(text), chart_figure("energy-chart", chart))
    )


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
    return Section("time", "What binds", (Paragraph(text), chart_figure("time-chart", chart)))


def _roofline(best: BestConfiguration, design: MappingDesign, mapping: Mapped) -> Section:
    """Multiply-accumulates a cycle against those per word that a level moves."""
    metrics, compute = best.solution.metrics, design.architecture.compute
    did, peak = float(metrics["computes"] / metrics["latency"]), float(compute.instances)
    slowest: dict[str, LevelWait] = {}
    for wait in waits(design.nest, design.architecture, metrics):
        if wait.level not in slowest or wait.cycles > slowest[wait.level].cycles:
            slowest[wait.level] = wait
    series, points = [], []
    for name, wait in slowest.items():
        instances = working(design.architecture, mapping, name)
        bandwidth, intensity = (
            float(wait.rate * instances),
            float(metrics["computes"] / (wait.words * instances)),
        )
        left, ridge = min(intensity, peak / bandwidth) / 2, peak / bandwidth
        label = f"{name} {wait.what}: {rounded(wait.rate * instances)} words a cycle"
        series.append(
            Series(
                label,
                (left, max(ridge, 2 * left)),
                (left * bandwidth, max(peak, 2 * left * bandwidth)),
                form="line",
            )
        )
        points.append((intensity, did, name))
    if not points:
        return Section(
            "roofline", "Roofline", (Paragraph("No level has a bandwidth that limits it."),)
        )
    ends = min(x for x, _, _ in points) / 2, max(x for x, _, _ in points) * 2
    series.append(
        Series(f"{compute.instances:,} multipliers", ends, (peak, peak), role="limit", form="line")
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
    chart = LineChart(f"{best.subject}: roofline", *axes, tuple(series), log_x=True, log_y=True)
    text = (
        "A level's line is what its bandwidth allows at so many multiply-accumulates "
        "per word; the answer is below the lines "
        "of all levels and of the multipliers, and on the line of what binds."
    )
    table = Table("The figures of the roofline", *chart.figures, folded=True)
    return Section(
        "roofline", "Roofline", (Paragraph(text), chart_figure("roofline-chart", chart), table)
    )


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
    said = (
        "Levels from outside to inside; beside each arrow the words that all "
        "instances of the level above it send and take."
    )
    return Section(
        "hierarchy", "The memory hierarchy", (Paragraph(said), _figure(title, said, boxes, arrows))
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
        energy = f"{rounded(level.read_energy / level.block)} pJ a word read"
        boxes.append(
            (
                f"{level.name}: {many}{size}",
                f"keeps {kept}; {level.word_bits} bits a word; {energy}",
            )
        )
        rates = {
            "reads": level.read_bandwidth,
            "takes": level.write_bandwidth,
            "moves": level.shared_bandwidth,
        }
        told = [f"{what} {rounded(rate)}" for what, rate in rates.items() if rate is not None]
        arrows.append(f"{', '.join(told)} words a cycle" if told else "")
    compute = architecture.compute
    mesh = f"{compute.instances:,} ({compute.mesh_x} × {compute.mesh_y})"
    boxes.append((f"{compute.name}: {mesh}", f"{rounded(compute.energy)} pJ a multiply-accumulate"))
    said = (
        "Levels from outside to inside; beside each arrow what an "
        "instance of the level above it can move."
    )
    figure = _figure(architecture.name, said, boxes, arrows)
    return Section("hierarchy", "The chosen accelerator", (Paragraph(said), figure))


def _figure(
    title: str, said: str, boxes: Sequence[tuple[str, str]], arrows: Sequence[str]
) -> ChartFigure:
    """Boxes with names and texts, one below the other, and texts beside the arrows between them."""
    tops = [MARGIN + place * (HEIGHT + GAP) for place in range(len(boxes))]
    parts = [_box(top, name, text) for top, (name, text) in zip(tops, boxes, strict=True)]
    parts += [_arrow(top + HEIGHT, text) for top, text in zip(tops, arrows, strict=False)]
    height = tops[-1] + HEIGHT + MARGIN
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" width="{WIDTH}" '
        f'height="{height}"><title>{escape(title)}</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )
    return ChartFigure(Markup(svg), title)


def _words(metrics: Mapping[str, Fraction], level: str, tensor: str, what: str) -> str:
    found = metrics.get(f"{level}.{tensor}.{what}")
    return "" if found is None else number(found)


def _box(top: int, name: str, text: str) -> str:
    inside = WIDTH - 2 * MARGIN
    return (
        f'<rect x="{MARGIN}" y="{top}" width="{inside}" height="{HEIGHT}" '
        'rx="6" fill="none" stroke="currentColor"/>'
        f'<text x="{2 * MARGIN}" y="{top + 21}" fill="currentColor" '
        f'font-weight="bold">{escape(name)}</text>'
        f'<text x="{2 * MARGIN}" y="{top + 41}" fill="currentColor">{escape(text)}</text>'
    )


def _arrow(top: int, text: str) -> str:
    x, end = WIDTH // 12, top + GAP
    return (
        f'<path d="M{x} {top}V{end}M{x - 5} {end - 8}L{x} {end}L{x + 5} '
        f'{end - 8}" fill="none" stroke="currentColor"/>'
        f'<text x="{x + 14}" y="{top + 28}" fill="currentColor">{escape(text)}</text>'
    )
