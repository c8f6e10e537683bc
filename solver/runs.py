"""Runs: the cycles that configurations take, word by word, beside what the closed form says.

An optimum is proven by the closed form of cycles. Where hardware takes the cycles that simulation
counts, those that may be the best of a question are run, and the one that is best as it runs is
its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.solver.solution import Solution, best_solution


@dataclass(frozen=True, slots=True)
class Run:
    """The best configuration of a design as it runs."""

    design: str
    """The design."""
    cycles: int | None
    """Cycles of the whole run; None where it did not come to its end."""
    value: Fraction | None
    """The objective in so many cycles; None there, and where a limit is exceeded in them."""
    reason: str = ""
    """Why there is none of either."""


def run_of(solution: Solution, cycles: int | None, reason: str = "") -> Run:
    """The run of a solution.

    Parameters
    ----------
    solution : Solution
        A solution with a configuration.
    cycles : int, optional
        Cycles of the whole run; None where it did not come to its end.
    reason : str, optional
        Why it did not.
    """
    if cycles is None:
        return Run(solution.design, None, None, reason)
    assert solution.configuration is not None
    problem = solution.problem
    metrics = solution.profile.metrics_of_run(solution.configuration, cycles)
    exceeded = [limit.metric for limit in problem.limits if limit.used(metrics) > limit.bound]
    if exceeded:
        return Run(solution.design, cycles, None, f"exceeds limit {exceeded[0]} in these cycles")
    return Run(solution.design, cycles, problem.objective.value(metrics))


def as_it_runs(solutions: Sequence[Solution], runs: Sequence[Run]) -> Solution | None:
    """The solution that is best as it runs; of least value by the closed form where none ran to
    its end."""
    values = {run.design: run.value for run in runs if run.value is not None}
    ran = [solution for solution in solutions if solution.design in values]
    least = min(values.values(), default=None)
    return best_solution([s for s in ran if values[s.design] == least] or solutions)
