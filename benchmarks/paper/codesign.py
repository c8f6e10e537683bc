"""Searches of hardware against what is proven of a whole space, on one evaluator: layers' proven
optima."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from benchmarks.paper.experiment import Cell, Run
from ithaca.exports.charts.chart import LineChart, Series
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies.evaluator import HardwareTrace
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.methods import search_hardware
from ithaca.plugins.codesign.studies.question import CodesignQuestion, make_question
from ithaca.plugins.codesign.studies.workloads import find_workloads

#: Trials that are published, and how often random numbers are drawn anew in full and quick mode.
TRIALS, SEEDS, QUICK_SEEDS = (20, 40), 10, 2

#: Those compared; quick mode has those that need no other package.
METHODS = ("random", "nsga2", "tpe", "explained")

#: Those that need no library.
OWN_METHODS = ("random", "explained")


def ask(
    space: str,
    workload: str,
    objectives: Sequence[str],
    limits: dict[str, int],
    layers: Sequence[str] = (),
) -> CodesignQuestion:
    """A question about a shipped space; of some layers only, where they are named."""
    exact = {name: Fraction(bound) for name, bound in limits.items()}
    return make_question(find_space(space), find_workloads([workload], layers), objectives, exact)


def ending(how: Run, seconds: float | None) -> Callable[[], bool]:
    """Whether a run that begins now is to end: after so many seconds, or as the experiment is."""
    ends = None if seconds is None else time.perf_counter() + seconds

    def over() -> bool:
        late = ends is not None and time.perf_counter() > ends
        return late or (how.stop is not None and how.stop())

    return over


def searches(
    question: CodesignQuestion,
    bank: LayerCache,
    trials: int,
    how: Run,
    often: int = SEEDS,
    seconds: Mapping[str, float] | None = None,
) -> list[HardwareTrace]:
    """Every method with every seed, for so many seconds at most; explained search, in which chance
    plays no part, once, and only for one objective."""
    found = []
    for name in METHODS if how.full else OWN_METHODS:
        explained = name == "explained"
        seeds = 1 if explained else often if how.full else QUICK_SEEDS
        for seed in (
            range(how.seed, how.seed + seeds)
            if len(question.objectives) == 1 or not explained
            else ()
        ):
            how.step(f"{name}, seed {seed}")
            over = ending(how, how.least_seconds((seconds or {}).get(name)))
            found.append(search_hardware(name, question, bank, trials, seed, over))
            how.check()
    return found


def row(trace: HardwareTrace, optimum: Fraction) -> dict[str, Cell]:
    """The best that a search for one objective found, and after how many evaluations and
    seconds."""
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
