"""Charts of pipelines: how long each layer takes, and which one all wait for; their documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.numbers import number
from ithaca.plugins.unrolling.commands.unrolling import Unrolling, called, words
from ithaca.plugins.unrolling.formulations.layers import INTERVAL


def pipeline_chart(answer: Unrolling) -> BarChart:
    """The cycles of each layer as bars; a mark for those of the file's folding, and a line for the
    interval. Raises `InputError` if no folding was found."""
    if answer.best is None:
        raise InputError("--plot: no folding was found; allowed: limits that some folding keeps")
    pipeline, file = answer.pipeline, answer.folding and answer.folding.unrolled
    best = pipeline.figures(pipeline.configuration(answer.best))
    stated = pipeline.figures(pipeline.configuration(file)) if file else [{}] * len(best)
    bars = []
    for layer, unrolled, own, other in zip(pipeline.layers, answer.best, best, stated, strict=True):
        mark, note = other.get(INTERVAL), f"{words(unrolled, answer.tool)}: {number(own[INTERVAL])}"
        note += "" if mark is None else f", in the file {number(mark)}"
        at = None if mark is None else float(mark)
        bars.append(Bar(layer.name, float(own[INTERVAL]), note, mark=at))
    interval = max(own[INTERVAL] for own in best)
    marks = "; marks: the file's folding" if file else ""
    return BarChart(
        f"{answer.headline}; the cycles of each layer, as {called(answer.tool)} builds them{marks}",
        "cycles from image to image",
        tuple(bars),
        line=(float(interval), f"interval {number(interval)}"),
    )


def refuse_document(document: Any, path: Path) -> NoReturn:
    """Refuse the document of an unrolled pipeline, which does not hold its whole question, in a
    line that says what its command writes itself."""
    network = document.get("network", "NETWORK") if isinstance(document, dict) else "NETWORK"
    raise refuse(
        path,
        "holds an unrolled pipeline, which is not read again; allowed: what its command writes, "
        f"such as ithaca unroll {str(network)[:40]} --plot page.html, or --table and --json",
    )
