"""Charts of co-design: the front of accelerators, and where the energy of each layer goes."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.charts.chart import Bar, BarChart, Chart, LineChart, other_unit
from ithaca.exports.charts.network import layer_bars
from ithaca.exports.charts.of_studies import points_chart
from ithaca.files.errors import InputError
from ithaca.files.numbers import rounded
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.plugins.codesign.results.layers import (
    energies,
    metric_of,
    objective_labels,
)
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult, HardwarePoint


def codesign_chart(result: CodesignResult) -> Chart:
    """The front, or what the layers take on the best accelerator. Raises `InputError` if there is
    neither."""
    if len(result.question.objectives) > 1:
        return accelerators_chart(result)
    if result.best is None:
        raise InputError("--plot: no accelerator was found; allowed: a result that has one")
    return energy_chart(result.question, result.best) or layer_bars(result.networks[0])


def accelerators_chart(result: CodesignResult) -> LineChart:
    """The first two objectives of the front against each other; a third one as colour."""
    question = result.question
    metrics = [metric_of(question, name_asked(objective.text)) for objective in question.objectives]
    points = [
        (
            "accelerators",
            [
                as_asked(objective.text, value)[1]
                for objective, value in zip(question.objectives, accelerator.values, strict=True)
            ],
            question.space.text(accelerator.point),
        )
        for accelerator in result.front
    ]
    title = (
        f"{question.space.name} for "
        f"{', '.join(question.workloads)}{'' if result.settled else ', partial'}"
        f"{result.share.words}"
    )
    labels = objective_labels(question)
    return points_chart(title, labels, [other_unit(metric.unit) for metric in metrics], points)


def energy_chart(question: CodesignQuestion, accelerator: HardwarePoint) -> BarChart | None:
    """The energy of all runs of each layer (µJ), stacked by level; None where the model does not
    say where it goes."""
    spent = energies(question, accelerator)
    levels = tuple(dict.fromkeys(level for own in spent.values() for level in own))
    if not levels:
        return None
    bars = []
    for name, own in spent.items():
        parts = tuple(float(own.get(level, Fraction(0))) / 1e6 for level in levels)
        bars.append(Bar(name, sum(parts), f"{rounded(sum(parts))} µJ", parts=parts))
    title = f"Energy by layer and level on {question.space.text(accelerator.point)}"
    return BarChart(title, "µJ", tuple(bars), parts=levels)
