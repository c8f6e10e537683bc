"""Solve many designs: one after the other, or side by side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.exact.search import not_begun
from ithaca.solver.executor import Executor, InProcess, Tell
from ithaca.solver.executors import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.solution import Solution
from ithaca.solver.splitting import Helpers
from ithaca.solver.trace import TraceRecorder

#: Receives the number of a problem and its solution.
Finished = Callable[[int, Solution], None]


def solve_designs(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: str = Method.EXACT,
    threads: int = 1,
    scheduler: str | None = None,
    starts: Sequence[Configuration | None] | None = None,
    rivals: Sequence[Hashable] | None = None,
    report: Tell | None = None,
    finished: Finished | None = None,
) -> tuple[Solution, ...]:
    """Solve problems, one per design.

    The best of all comes first: designs that cannot beat it are proven only in the time that is
    left (`ithaca.solver.schedule`). Engines that cannot be interrupted get equal shares of it. The
    exact engine's answers do not depend on the number of threads unless time is up.

    Parameters
    ----------
    problems : Sequence of Problem
        The problems.
    options : SolveOptions, optional
        The time limit is for all of them.
    method : str, optional
        The engine.
    threads : int, optional
        Problems solved at a time, or workers of a single one; beyond 1 in processes of their own.
    scheduler : str, optional
        The Dask scheduler whose workers these are instead.
    starts : Sequence of Configuration or None, optional
        A known configuration of each, or None.
    rivals : Sequence of Hashable, optional
        A key of each; problems of the same key are rivals. By default all are.
    report : Tell, optional
        Told of progress.
    finished : Finished, optional
        Told of solutions as they are found.

    Returns
    -------
    tuple of Solution
        One per problem; those not reached before a stop have status *unknown*.

    Raises
    ------
    MemoryError
        If the system killed a process each time that it solved a problem.
    """
    budget, initial = Budget(options or SolveOptions()), starts or [None] * len(problems)
    solutions: dict[int, Solution] = {}
    # the exact search of a single problem may be shared
    alone = (
        len(problems) == 1 and method in (Method.AUTO, Method.EXACT) and problems[0].stage is None
    )
    with open_executor(threads if alone else min(threads, len(problems)), scheduler) as workers:
        executor: Executor = workers
        if alone:  # it is solved here, and its search shared
            executor = InProcess()
            budget = Budget(replace(budget.share(), helpers=Helpers(workers)))
        for index, outcome in solve_together(
            problems, budget, executor, method=method, starts=initial, rivals=rivals, tell=report
        ):
            if isinstance(outcome, Exception):
                raise outcome
            known = solutions.get(index)
            solutions[index] = outcome
            if finished is not None and outcome.final and not (known is not None and known.final):
                finished(index, outcome)
    if finished is not None:
        for index, solution in solutions.items():
            if not solution.final:
                finished(index, solution)
    answers = tuple(
        solutions.get(index) or not_solved(p, s)
        for index, (p, s) in enumerate(zip(problems, initial, strict=True))
    )
    if budget.options.gap:
        from ithaca.solver.rivals import within_gap

        answers = within_gap(answers, rivals)
    return answers


def solve_together(
    problems: Sequence[Problem],
    budget: Budget,
    executor: Executor,
    *,
    method: str,
    starts: Sequence[Configuration | None],
    tell: Tell | None = None,
    rivals: Sequence[Hashable] | None = None,
    weights: Sequence[int] | None = None,
    best_only: bool = False,
) -> Iterator[tuple[int, Solution | Exception]]:
    """Solve problems within one budget, in rounds where the method can go on from where it was.

    Parameters
    ----------
    problems : Sequence of Problem
        The problems.
    budget : Budget
        The time for all.
    executor : Executor
        What runs them.
    method : str
        The engine.
    starts : Sequence of Configuration or None
        A known configuration of each, or None.
    tell : Tell, optional
        Told of progress.
    rivals : Sequence of Hashable, optional
        A key of each; problems of the same key are rivals. By default all are.
    weights : Sequence of int, optional
        How often each runs, the same for rivals; by default once.
    best_only : bool, optional
        Whether no more than the best of all is asked for.

    Yields
    ------
    tuple of int and Solution or Exception
        The number of a problem with what came of it, perhaps several times: the last counts.
    """
    if method in (Method.AUTO, Method.EXACT):
        from ithaca.solver.schedule import Schedule

        others = method == Method.AUTO
        schedule = Schedule(
            problems,
            budget,
            executor,
            others=others,
            starts=starts,
            rivals=rivals,
            weights=weights,
            best_only=best_only,
            tell=tell,
        )
        yield from schedule.run()
        return
    best: Fraction | None = None

    def share(unfinished: int) -> SolveOptions | None:
        if unfinished < len(jobs) and budget.up:
            return None
        options = budget.share(-(-unfinished // executor.width))
        return (
            options
            if best is None or not best_only
            else replace(options, rival=best - Fraction(options.gap) * abs(best))
        )

    jobs = [
        partial(solve_design, p, start=s, method=method)
        for p, s in zip(problems, starts, strict=True)
    ]
    for index, outcome in executor.run(jobs, share, tell):
        if isinstance(outcome, Solution) and outcome.value is not None:
            best = outcome.value if best is None else min(best, outcome.value)
        yield index, outcome


def solve_design(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Report | None = None,
    start: Configuration | None = None,
    method: str = Method.EXACT,
) -> Solution:
    """Solve one problem; if it is infeasible, find out why.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions, optional
        Time limit, gap and interruption.
    report : Report, optional
        Told the progress.
    start : Configuration, optional
        A configuration to begin with.
    method : str, optional
        The engine.

    Returns
    -------
    Solution
        The answer, with the course of the search in its certificate.
    """
    options = options or SolveOptions()
    tell = TraceRecorder(report=report)
    solution = _bounded(engine(method)(problem, options, tell, start), options)
    if solution.certificate.status is not Status.INFEASIBLE:
        proof = solution.certificate
        trace = tell.trace(solution.value, proof.lower_bound, proof.nodes)
        return replace(solution, certificate=replace(proof, trace=trace))
    from ithaca.solver.infeasibility import shortfalls

    left = options.time_limit
    if left is not None:
        left = max(left - solution.certificate.seconds, 0.0)
    return replace(
        solution, shortfalls=shortfalls(problem, replace(options, gap=0.0, time_limit=left))
    )


def not_solved(problem: Problem, start: Configuration | None = None) -> Solution:
    """The solution of a problem that was not reached: its start, if it has one."""
    return not_begun(problem, start, None, "none")


def _bounded(solution: Solution, options: SolveOptions) -> Solution:
    """A solution with the bound that needs no search, where its method has proven none that is
    better."""
    known, floor = solution.certificate, solution.problem.floor
    if (
        known.settled
        or floor is None
        or (known.lower_bound is not None and known.lower_bound >= floor)
    ):
        return solution
    exhausted = known.termination is Termination.EXHAUSTED
    again = conclude(
        solution.value, floor, options, method=known.method, exhausted=exhausted, nodes=known.nodes
    )
    return replace(solution, certificate=replace(again, seconds=known.seconds, trace=known.trace))
