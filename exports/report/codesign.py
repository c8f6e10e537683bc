"""The report of a co-design: the accelerator or the front, what is proven, where energy goes, and
every layer to open."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.exports.charts.codesign import accelerators_chart, energy_chart
from ithaca.exports.report.answer import Card, Verdict, findings, verdict
from ithaca.exports.report.blocks import Block, Paragraph, Section, Table, chart_figure
from ithaca.exports.report.network import layer_folded
from ithaca.exports.report.page import rendered
from ithaca.files.numbers import engineering, number
from ithaca.formulations.families import module_of
from ithaca.results.codesign_layers import front_rows, limit_uses, metric_of
from ithaca.solver.certificate import Status, as_stated
from ithaca.studies.codesign.question import Question
from ithaca.studies.codesign.result import CodesignResult, HardwarePoint


def codesign_page(result: CodesignResult, statements: Sequence[str]) -> str:
    """A self-contained HTML page about a co-design; ``statements`` are the explanation in words,
    each ``term: statement``."""
    question, sections, architecture = result.question, list[Section](), result.architecture
    several = len(question.objectives) > 1
    facts = [("space", question.space.name), ("accelerators", f"{result.counts.points:,}")]
    facts += [
        ("workloads", ", ".join(question.workloads)),
        ("minimised", ", ".join(o.text for o in question.objectives)),
    ]
    if several and result.front:
        sections.append(_front(result))
    if result.best is not None and not several:
        sections.append(_hardware(question, result.best))
    own = module_of("ithaca.exports.report.families", question.space.accelerator.family)
    if architecture is not None and own is not None and not several:
        sections.append(own.accelerator_section(architecture))
    sections.append(
        findings(
            statements, question.space.accelerator.metrics, "What it takes, and what would help"
        )
    )
    if result.best is not None and not several:
        sections += _layers(result, result.best)
    title = f"{question.space.name} for {', '.join(question.workloads)}"
    return rendered(title, facts, _verdict(result), _cards(result), sections)


def _verdict(result: CodesignResult) -> Verdict:
    proof = result.certificate
    if proof.status is Status.OPTIMAL:
        what = (
            "point is missing from the front"
            if len(result.question.objectives) > 1
            else "accelerator is better"
        )
        among = f", with {proof.among}" if proof.among else ""
        text = f"No {what}, of {result.counts.points:,} in the space{among}{as_stated(result)}."
        return Verdict("optimal", "✓", f"Proven {proof.told}", text)
    if proof.status is Status.INFEASIBLE:
        return Verdict(
            "infeasible",
            "✕",
            "Proven infeasible",
            f"No accelerator of the space keeps rules and limits{as_stated(result)}.",
        )
    return verdict(proof, result.question.objectives[0].text, result)


def _cards(result: CodesignResult) -> tuple[Card, ...]:
    question, best = result.question, result.best
    if best is None or len(question.objectives) > 1:
        return (Card("front", number(len(result.front)), "points", ""),) if result.front else ()
    values = {question.objectives[0].text: best.values[0], **best.costs}
    cards = (
        Card(name, engineering(value), metric_of(question, name).unit, "")
        for name, value in values.items()
    )
    figures = (
        f"{result.counts.layers:,}",
        "layer problems",
        f"for {result.counts.points:,} accelerators",
    )
    return (*cards, Card("proof", *figures))


def _front(result: CodesignResult) -> Section:
    rows = front_rows(result.question, result.front)
    texts = tuple(tuple(text for _, text in row) for row in rows)
    blocks: list[Block] = [
        Table(
            "The accelerators of the front", tuple(name for name, _ in rows[0]), texts, frozenset()
        )
    ]
    if len(result.question.objectives) <= 3:
        blocks.insert(0, chart_figure("front-chart", accelerators_chart(result)))
    return Section("front", "The front", tuple(blocks))


def _hardware(question: Question, best: HardwarePoint) -> Section:
    rows = []
    for q in question.space.quantities:
        ends = f"{q.label(q.values[0])} … {q.label(q.values[-1])}"
        rows.append((q.name, q.label(best.point[q.name]), q.unit or "–", ends, str(len(q.values))))
    columns = ("quantity", "chosen", "unit", "from", "values")
    blocks: list[Block] = [Table("Quantities", columns, tuple(rows), frozenset({0, 2, 3}))]
    if uses := limit_uses(question, best):
        used = tuple(
            (u.metric, number(u.used), number(u.bound), metric_of(question, u.metric).unit)
            for u in uses
        )
        blocks.append(Table("Limits", ("limit", "used", "bound", "unit"), used, frozenset({0, 3})))
    return Section("hardware", "The hardware", tuple(blocks))


def _layers(result: CodesignResult, best: HardwarePoint) -> list[Section]:
    sections = []
    if (chart := energy_chart(result.question, best)) is not None:
        table = Table("Energy by layer and level, in figures", *chart.figures, folded=True)
        sections.append(
            Section(
                "energy", "Energy by layer and level", (chart_figure("energy-chart", chart), table)
            )
        )
    text = "Each layer opens: its mapping, and what is proven of it on this accelerator."
    parts = [(network, layer) for network in result.networks for layer in network.layers]
    folded = (layer_folded(network, layer, place) for place, (network, layer) in enumerate(parts))
    return [*sections, Section("layers", "The layers", (Paragraph(text), *folded))]
