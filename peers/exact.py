"""Ithaca's exact search as one more method: its samples are boxes."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.peers.evaluator import Evaluator, check_starts
from ithaca.peers.trace import Ended
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import BATCH
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress


def search(evaluator: Evaluator, seed: int, starts: Sequence[Tiling]) -> Ended | None:
    """Branch and bound to the proof, from the best of the starts; chance plays no part."""
    recorder, problem = evaluator.recorder, evaluator.problem
    check_starts(problem, starts)
    best = min(starts, key=lambda tiling: problem.value(problem.costs(tiling)), default=None)

    def report(progress: Progress) -> None:
        recorder.samples = progress.boxes
        if progress.value is not None:
            recorder.note(progress.value, progress.boxes)

    def stop() -> bool:
        # a batch of open boxes becomes twice as many: stop before they could exceed the budget
        budget, boxes = recorder.budget.samples, recorder.samples
        return budget is not None and boxes + 2 * min(boxes, BATCH) > budget

    solution = solve_exact(problem, SolveOptions(time_limit=recorder.seconds_left, stop=stop), report, best)
    recorder.samples = solution.certificate.nodes
    if solution.tiling is not None:
        recorder.finish(solution.tiling, recorder.samples)
    if solution.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return Ended.EXHAUSTED
    return recorder.used_up() or Ended.SAMPLES
