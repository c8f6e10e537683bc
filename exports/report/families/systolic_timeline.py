"""When the modules of an array work: the configuration run, word by word."""

from __future__ import annotations

import numpy as np

from ithaca.exports.charts.chart import HeatMap
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Block, Paragraph, Section, Table, chart_figure
from ithaca.files import signals
from ithaca.files.errors import InputError
from ithaca.files.numbers import number, percent
from ithaca.formulations.systolic.design import systolic

#: Stretches of time that are told apart.
STRETCHES = 60

#: Turns of a run that is shown: a few seconds.
MOST_TURNS = 200_000_000


def timeline_sections(best: BestConfiguration) -> tuple[Section, ...]:
    """The run in pictures and figures, or the reason why it cannot be run."""
    title = "The run, word by word"
    try:
        return (Section("run", title, _run(best)),)
    except InputError as error:
        return (Section("run", title, (Paragraph(f"Not simulated: {error}."),)),)


def _run(best: BestConfiguration) -> tuple[Block, ...]:
    from ithaca.formulations.systolic.simulation.compared import simulate_configuration
    from ithaca.formulations.systolic.simulation.timeline import timeline

    design = systolic(best.problem)
    found = simulate_configuration(
        design, best.configuration, design.technology.machine, checkpoint=signals.check
    )
    run = found.run
    if found.cycles is None:
        fifos = ", ".join(f"'{wait.fifo}'" for wait in run.hanging[:3])
        return (
            Paragraph(f"The array hangs after {number(run.cycles)} cycles, at the FIFOs {fifos}."),
        )
    busiest = max(run.modules, key=lambda module: module.working)
    text = (
        f"With ideal memory the array takes {number(found.cycles)} cycles; "
        f"{busiest.module} is busiest and works "
        f"{percent(busiest.working)} of them."
    )
    table = Table(
        "What modules do with their time, on average over their instances",
        ("module", "instances", "works", "waits for words", "waits for room", "longest wait"),
        tuple(
            (
                module.module,
                number(module.processes),
                *map(percent, (module.working, module.starved, module.held_up)),
                "–"
                if module.cause is None
                else f"{number(module.cause.cycles)} cycles, {module.cause.neighbour}",
            )
            for module in run.modules
        ),
        frozenset({0, 5}),
        folded=True,
    )
    if sum(activity.turns for activity in run.activities) > MOST_TURNS:
        return Paragraph(f"{text} It is too long to be drawn."), table
    lines = timeline(run, STRETCHES, signals.check)
    rows = np.arange(len(lines.modules), 0, -1)
    chart = HeatMap(
        "When modules work",
        "cycle",
        "",
        "share of instances at work (%)",
        lines.begins,
        rows[::-1],
        np.round(100 * lines.working[::-1], 1),
        most=True,
        rows=lines.modules[::-1],
    )
    text += " Dark is at work, light waits; modules that begin first are at the top."
    return Paragraph(text), chart_figure("run-chart", chart), table
