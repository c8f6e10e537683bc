"""Runs: the cycles that configurations take, word by word, beside what the closed form says.

An optimum is proven by the closed form of cycles. Where hardware takes the cycles that simulation
counts, those that may be the best of a question are run, and the one that is best as it runs is
its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.design import Design
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution, best_solution

#: Words after the status of what no run confirms.
BY_FORM = " by the closed form"


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


def not_run(designs: Iterable[Design]) -> str:
    """Words to add about proofs of designs of which none was run: where hardware takes the cycles
    that simulation counts, they are by the closed form."""
    return BY_FORM if any(profile_of(design).runs for design in designs) else ""


def none_by_form(problem: Problem, shortfalls: Sequence[Shortfall]) -> str:
    """Words to add where no configuration meets the limits: one that takes other cycles as it runs
    than by the closed form might, unless that is so whatever the cycles are."""
    profile, named = profile_of(problem.design), {shortfall.metric for shortfall in shortfalls}
    if not profile.runs:
        return ""
    timed = [x.metric for x in problem.limits if profile.timed & x.expression.symbols]
    # a limit that is not named could be lifted, and still nothing would meet the others
    whatever = len(timed) == 1 and named and timed[0] not in named
    return BY_FORM if timed and not whatever else ""


def own_run(answer: Solution | None, runs: Sequence[Run]) -> Run | None:
    """The run of an answer; None where it was not run."""
    design = None if answer is None else answer.design
    return next((run for run in runs if run.design == design), None)


def outrun(answer: Solution | None, designs: Sequence[Solution]) -> tuple[Solution, ...]:
    """The solutions of less value by the closed form than an answer, which is better as they
    run."""
    value = None if answer is None else answer.value
    return tuple(
        s for s in designs if value is not None and s.value is not None and s.value < value
    )


def basis(answer: Solution | None, designs: Sequence[Solution], runs: Sequence[Run]) -> str:
    """Words to add about the proof of an answer where simulation says anything else than the closed
    form, or nothing.

    Parameters
    ----------
    answer : Solution, optional
        The answer; None where nothing was found.
    designs : sequence of Solution
        All from which it was chosen.
    runs : sequence of Run
        The runs by which it was.
    """
    if answer is None or answer.value is None:
        none = [s for s in (answer, *designs) if s is not None]
        if not all(s.certificate.status is Status.INFEASIBLE for s in none):
            return ""
        words = (none_by_form(s.problem, s.shortfalls) for s in none)
        return next(filter(None, words), "")
    own = own_run(answer, runs)
    same = own is not None and own.value == answer.value and not outrun(answer, designs)
    return "" if same else not_run([answer.problem.design])


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
    ran = solution.profile.metrics_of_run(solution.configuration, cycles)
    metrics = problem.known(ran, solution.configuration)
    exceeded = [limit.words for limit in problem.limits if limit.used(metrics) > limit.bound]
    if exceeded:
        return Run(solution.design, cycles, None, f"exceeds {exceeded[0]} in these cycles")
    return Run(solution.design, cycles, problem.objective.value(metrics))


def as_it_runs(solutions: Sequence[Solution], runs: Sequence[Run]) -> Solution | None:
    """The solution that is best as it runs; of least value by the closed form where none ran to
    its end."""
    values = {run.design: run.value for run in runs if run.value is not None}
    ran = [solution for solution in solutions if solution.design in values]
    least = min(values.values(), default=None)
    return best_solution([s for s in ran if values[s.design] == least] or solutions)
