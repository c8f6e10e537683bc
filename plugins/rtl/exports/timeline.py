"""Charts of when the modules of an array work: the configuration run, word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ithaca.exports.charts.chart import HeatMap
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Block, Section, chart_figure
from ithaca.files import signals
from ithaca.files.errors import InputError
from ithaca.files.numbers import number, percent
from ithaca.formulations.systolic.design import systolic
from ithaca.plugins.rtl.formulations.compared import Simulation
from ithaca.results.view import Table

if TYPE_CHECKING:
    from ithaca.plugins.rtl.formulations.activity import SimulatedRun

#: Stretches of time that are told apart.
STRETCHES = 60

#: Turns of a run that is shown: a few seconds.
MOST_TURNS = 200_000_000


def timeline_sections(
    best: BestConfiguration, checkpoint: Callable[[], None]
) -> tuple[Section, ...]:
    """The run in pictures and figures, or the reason why it cannot be run, perhaps one that
    ``checkpoint`` raises."""
    title = "The run, word by word"
    try:
        return (Section("run", title, _run(best, checkpoint)),)
    except InputError as error:
        return (Section("run", title, (f"Not simulated: {error}.",)),)


def _run(best: BestConfiguration, checkpoint: Callable[[], None]) -> tuple[Block, ...]:
    from ithaca.plugins.rtl.formulations.compared import simulate_configuration

    design = systolic(best.problem)
    simulation = simulate_configuration(
        design,
        best.configuration,
        design.technology.machine,
        checkpoint=checkpoint,
        stretches=STRETCHES,
    )
    run = simulation.run
    if simulation.cycles is None:
        fifos = ", ".join(f"'{wait.fifo}'" for wait in run.hanging[:3])
        return (f"The array hangs after {number(run.cycles)} cycles, at the FIFOs {fifos}.",)
    busiest = max(run.modules, key=lambda module: module.working)
    text = (
        f"With ideal memory the array takes {number(simulation.cycles)} cycles; "
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
    try:
        chart = run_chart(run, checkpoint)
    except InputError:
        return f"{text} It is too long to be drawn.", table
    text += " Dark is at work, light waits; modules that begin first are at the top."
    return text, chart_figure("run-chart", chart), table


def simulation_chart(simulation: Simulation) -> HeatMap:
    """The chart of when each module of a simulated array works."""
    return run_chart(simulation.run)


def run_chart(run: SimulatedRun, checkpoint: Callable[[], None] = signals.check) -> HeatMap:
    """A chart of when each module works, those that begin first at the top.

    Raises `InputError` if the run hangs or is too long to be drawn.
    """
    from ithaca.plugins.rtl.formulations.timeline import timeline

    turns = sum(activity.turns for activity in run.activities)
    if run.hanging or turns > MOST_TURNS:
        why = "hangs" if run.hanging else f"has {turns:,} turns"
        raise InputError(f"the run {why}; allowed: one that ends, of {MOST_TURNS:,} turns at most")
    lines = timeline(run, STRETCHES, checkpoint)
    rows = np.arange(len(lines.modules), 0, -1)
    return HeatMap(
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
