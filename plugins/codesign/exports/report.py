"""The report of a co-design: the accelerator or the front, what is proven, where energy goes, and
every layer to open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ithaca.exports.report.answer import Card, card, findings, verdict
from ithaca.exports.report.blocks import Block, Section, chart_figure, view_blocks
from ithaca.exports.report.network import layer_folded
from ithaca.exports.report.page import SECTIONS, rendered
from ithaca.files.numbers import number
from ithaca.formulations.directions import goal
from ithaca.plugins.codesign.exports.chart import accelerators_chart, energy_chart
from ithaca.plugins.codesign.results.layers import metric_of
from ithaca.plugins.codesign.studies.result import CodesignResult, HardwarePoint
from ithaca.results.view import Table


def codesign_page(result: CodesignResult, statements: Sequence[str]) -> str:
    """A self-contained HTML page about a co-design; ``statements`` are the explanation in words,
    each ``term: statement``."""
    question, architecture = result.question, result.architecture
    several = len(question.objectives) > 1
    facts = [("space", question.space.name), ("accelerators", f"{result.counts.points:,}")]
    facts += [
        ("workloads", ", ".join(question.workloads)),
        ("objective", goal([o.text for o in question.objectives])),
    ]
    sections = [_answer(result)]
    own = SECTIONS.get(question.space.accelerator.family)
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
    proof = verdict(result, result.certificate)
    return rendered(title, facts, proof, _cards(result), sections, statements)


def _cards(result: CodesignResult) -> tuple[Card, ...]:
    question, best = result.question, result.best
    if best is None or len(question.objectives) > 1:
        return (Card("front", number(len(result.front)), "points", ""),) if result.front else ()
    values = {question.objectives[0].text: best.values[0], **best.costs}
    cards = (card(name, value, metric_of(question, name).unit) for name, value in values.items())
    figures = (
        f"{result.counts.layers:,}",
        "layer problems",
        f"for {result.counts.points:,} accelerators",
    )
    return (*cards, Card("proof", *figures))


def _answer(result: CodesignResult) -> Section:
    """The section on the accelerator, or on the front with its picture."""
    names = {network.network.name for network in result.networks}
    blocks: list[Block] = [*_named_tables(view_blocks(result.view[1:]), names)]
    if result.front and 1 < len(result.question.objectives) <= 3:
        at = next(n for n, block in enumerate(blocks) if isinstance(block, Table))
        blocks.insert(at, chart_figure("front-chart", accelerators_chart(result)))
    several = len(result.question.objectives) > 1
    return Section("answer", "The front" if several else "The hardware", tuple(blocks))


def _named_tables(blocks: Sequence[Block], names: Collection[str]) -> Iterator[Block]:
    """Blocks of which the name of a workload is in the caption of the table below it."""
    for before, block in pairwise(("", *blocks)):
        if isinstance(block, Table) and before in names:
            yield replace(block, caption=f"{before}, {block.caption[0].lower()}{block.caption[1:]}")
        elif not isinstance(block, str) or block not in names:
            yield block


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
    return [*sections, Section("layers", "The layers", (text, *folded))]
