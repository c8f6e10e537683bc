"""Ithaca's own engines as further methods: exact search, whose samples are boxes, and evolution
with and without its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.plugins.peers.studies.evaluator import Evaluator, check_starts
from ithaca.plugins.peers.studies.recorder import Ended, Recorder
from ithaca.refine.evolution.engine import solve_evolve
from ithaca.solver.certificate import Status
from ithaca.solver.combination import Start
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import BATCH
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution

#: Samples where the budget has none: evolution ends by time or for lack of improvement.
UNLIMITED = 10**12


def search_exact(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Branch and bound to the proof, from the best of the starts; chance plays no part.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    recorder, problem = evaluator.recorder, evaluator.problem
    check_starts(problem, starts)

    def stop() -> bool:
        # a batch of open boxes becomes twice as many: stop before they could exceed the budget
        budget, boxes = recorder.budget.samples, recorder.samples
        return budget is not None and boxes + 2 * min(boxes, BATCH) > budget

    options = SolveOptions(time_limit=recorder.seconds_left, stop=stop, any_tie=True)
    solution = solve_exact(
        problem, options, _recording(recorder), min(starts, key=problem.value, default=None)
    )
    return _finished(evaluator, solution, 0) or Ended.SAMPLES


def search_within(
    baseline: str, evaluator: Evaluator, seed: int, starts: Sequence[Configuration]
) -> Ended | None:
    """The best of a space that a published method keeps to, by proof instead of enumeration; chance
    and starts play no part.

    Parameters
    ----------
    baseline : str
        The name of a baseline of the problem's design.
    evaluator : Evaluator
        The problem, and who records what is found.
    seed : int
        Not looked at.
    starts : sequence of Configuration
        Configurations that are checked to be feasible, and not used.
    """
    recorder, problem = evaluator.recorder, evaluator.problem
    check_starts(problem, starts)
    for design, limits in profile_of(problem.design).baselines()[baseline]:
        narrowed = replace(problem, design=design, limits=(*problem.limits, *limits))
        solution = solve_exact(narrowed, SolveOptions(time_limit=recorder.seconds_left))
        if solution.certificate.status is Status.INFEASIBLE:
            continue
        recorder.samples += solution.certificate.nodes
        if solution.configuration is not None:
            configuration = problem.design.translated(design, solution.configuration)
            if configuration is not None:
                recorder.offer(configuration, recorder.samples)
        return Ended.EXHAUSTED if solution.settled else recorder.used_up()
    return Ended.EXHAUSTED


def evolve(
    evaluator: Evaluator, seed: int, starts: Sequence[Configuration], known: Start | None = None
) -> Ended | None:
    """Evolution from the starts and what else is known: by default from rounded geometric programs,
    and what rounding evaluates is no sample; from random configurations if there is nothing.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    known : Start, optional
        Other configurations and fractional optima to begin with; by default those of geometric
        programs.
    """
    recorder = evaluator.recorder
    check_starts(evaluator.problem, starts)
    already = recorder.samples  # of an evolution that stagnated before
    room = UNLIMITED if recorder.budget.samples is None else recorder.budget.samples - already
    options = SolveOptions(time_limit=recorder.seconds_left, seed=seed)
    report = _recording(recorder)
    solution = solve_evolve(
        evaluator.problem, options, report, samples=room, more_starts=starts, known=known
    )
    return _finished(evaluator, solution, already)


def _recording(recorder: Recorder) -> Report:
    """Records an engine's progress; its samples are counted from those used before."""
    already = recorder.samples

    def report(progress: Progress) -> None:
        recorder.samples = already + progress.boxes
        if progress.value is not None:
            recorder.note(progress.value, recorder.samples)

    return report


def _finished(evaluator: Evaluator, solution: Solution, already: int) -> Ended | None:
    """Record an engine's answer, and why it ended."""
    recorder = evaluator.recorder
    recorder.samples = already + solution.certificate.nodes
    if solution.configuration is not None:
        recorder.finish(solution.configuration, recorder.samples)
    if solution.settled:
        return Ended.EXHAUSTED
    return recorder.used_up()
