"""Searches of hardware against what is proven of a whole space, on one evaluator: layers' proven
optima."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from benchmarks.paper.experiment import Cell, Run
from ithaca.exports.charts.chart import LineChart, Series
from ithaca.formulations.hardware.files import find_space
from ithaca.studies.codesign.layer_cache import LayerCache
from ithaca.studies.codesign.question import Question, make_question
from ithaca.studies.codesign.workloads import find_workloads
from ithaca.studies.peers.hardware import HardwareTrace
from ithaca.studies.peers.hardware_methods import HARDWARE_PEERS, run_hardware_peer

#: Trials that are published, and how often random numbers are drawn anew in full and quick mode.
TRIALS, SEEDS, QUICK_SEEDS = (20, 40), 10, 2

#: Those compared; quick mode has those that need no other package.
METHODS = ("random", "nsga2", "tpe", "explained")


def ask(
    space: str,
    workload: str,
    objectives: Sequence[str],
    limits: dict[str, int],
    layers: Sequence[str] = (),
) -> Question:
    """A question about a shipped space; of some layers only, where they are named."""
    exact = {name: Fraction(bound) for name, bound in limits.items()}
    return make_question(find_space(space), find_workloads([workload], layers), objectives, exact)


def searches(
    question: Question, bank: LayerCache, trials: int, how: Run, often: int = SEEDS
) -> list[HardwareTrace]:
    """Every method with every seed; explained search, in which chance plays no part, once, and only
    for one objective."""
    found = []
    for name in (name for name in METHODS if how.full or not HARDWARE_PEERS[name][1]):
        explained = name == "explained"
        seeds = 1 if explained else often if how.full else QUICK_SEEDS
        for seed in (
            range(how.seed, how.seed + seeds)
            if len(question.objectives) == 1 or not explained
            else ()
        ):
            how.step(f"{name}, seed {seed}")
            found.append(run_hardware_peer(name, question, bank, trials, seed, how.stop))
            how.check()
    return found


def row(trace: HardwareTrace, optimum: Fraction) -> dict[str, Cell]:
    """What a search for one objective found, and after how many evaluations and seconds."""
    best, last = trace.best(), trace.evaluations[-1]
    place = None if best is None else trace.evaluations.index(best) + 1
    value = None if best is None else best.value
    ratio = None if value is None else float(value / optimum)
    found = {"found after": place, "seconds until then": None if best is None else best.seconds}
    counted = {"evaluations": len(trace.evaluations), "seconds": last.seconds, **found}
    return {
        "method": trace.method,
        "seed": trace.seed,
        **counted,
        "value": value,
        "over the optimum": ratio,
    }


def progress(title: str, traces: Sequence[HardwareTrace], optimum: Fraction) -> LineChart:
    """The mean of the best value over the optimum by evaluations, from where every seed has one."""
    series = []
    for name in dict.fromkeys(trace.method for trace in traces):
        mine = [trace for trace in traces if trace.method == name]
        points = []
        for trials in range(1, max(len(trace.evaluations) for trace in mine) + 1):
            values = [
                best.value
                for trace in mine
                if (best := trace.best(trials)) is not None and best.value is not None
            ]
            if len(values) == len(mine):
                points.append(
                    (float(trials), float(sum(values, Fraction(0)) / len(mine) / optimum))
                )
        series.append(
            Series(name, tuple(x for x, _ in points), tuple(y for _, y in points), form="line")
        )
    shown = tuple(line for line in series if line.x)
    return LineChart(
        title, "evaluations", "mean of the best over the proven optimum", shown, steps=True
    )
