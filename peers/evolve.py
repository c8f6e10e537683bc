"""Ithaca's evolution as one more method: seeded by geometric programs, and without."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.peers.evaluator import Evaluator, check_starts
from ithaca.peers.trace import Ended
from ithaca.solver.certificate import Status
from ithaca.solver.evolution.engine import solve_evolve
from ithaca.solver.evolution.seeding import NOTHING, Start
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress

#: Samples where the budget has none: it ends by time or for lack of improvement.
UNLIMITED = 10**12


def search_seeded(evaluator: Evaluator, seed: int, starts: Sequence[Tiling]) -> Ended | None:
    """Evolution from rounded geometric programs and the starts; what rounding evaluates is no sample."""
    return _search(evaluator, seed, starts, None)


def search_unseeded(evaluator: Evaluator, seed: int, starts: Sequence[Tiling]) -> Ended | None:
    """Evolution from the starts, or from random configurations if there are none."""
    return _search(evaluator, seed, starts, NOTHING)


def _search(evaluator: Evaluator, seed: int, starts: Sequence[Tiling], known: Start | None) -> Ended | None:
    recorder = evaluator.recorder
    check_starts(evaluator.problem, starts)
    already = recorder.samples  # of an evolution that stagnated before
    room = UNLIMITED if recorder.budget.samples is None else recorder.budget.samples - already

    def report(progress: Progress) -> None:
        recorder.samples = already + progress.boxes
        if progress.value is not None:
            recorder.note(progress.value, recorder.samples)

    options = SolveOptions(time_limit=recorder.seconds_left, seed=seed)
    solution = solve_evolve(evaluator.problem, options, report, samples=room, more_starts=starts, known=known)
    recorder.samples = already + solution.certificate.nodes
    if solution.tiling is not None:
        recorder.finish(solution.tiling, recorder.samples)
    proven = solution.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return recorder.used_up() or (Ended.EXHAUSTED if proven else None)
