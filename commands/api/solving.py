"""`ithaca.solve`: the proven-best configuration of a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, note_missing_engines, searching
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Method,
    Objective,
    ProveWith,
    Scheduler,
    SearchOptions,
    Sizes,
    Workload,
)
from ithaca.commands.api.parsing import check_sizes, parse_engines, parse_extents
from ithaca.exports.programs.solved import SolvedModel, is_solution
from ithaca.files.errors import InputError
from ithaca.files.reading import read_document
from ithaca.files.words import Rows
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.solver.options import COMPARING, RUNNING, Budget, SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.solver.solution import best_solution
from ithaca.workloads.nest import LoopNest

Start = Annotated[
    str | Path | Result | Rows | SolvedModel | None,
    Option(
        "--start",
        metavar="FILE",
        help="Warm start from a result, a CSV file, another solver's solution (.sol) or Timeloop's "
        "mapping (.yaml). A result's data type is used unless --dtype is given.",
    ),
]


@public
def solve(
    workload: Workload,
    *,
    sizes: Sizes = None,
    family: FamilyOptions,
    descriptor: Annotated[
        str | Path | None,
        Option("--descriptor", help="Published design description (JSON) to solve."),
    ] = None,
    objective: Objective = OBJECTIVE,
    method: Method = "auto",
    prove_with: ProveWith = None,
    search: SearchOptions,
    scheduler: Scheduler = None,
    start: Start = None,
    **extents: Extents,
) -> Result:
    """Find the best configuration of a workload, and prove it.

    ``start`` is a result, or its file; a CSV file as ``evaluate`` writes; a mapping of Timeloop's;
    a model as `ithaca.model` makes, with values, or a file of these (``.sol``); or rows in Python:
    dictionaries, or a table of pandas, as `Result.to_dataframe` makes.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> r.status, r.value, r.best.tiling.array_part
    ('optimal', Fraction(58, 1), {'i': 4, 'j': 4, 'k': 4})
    """
    engine, second = parse_engines(method, prove_with)
    own = parse_extents(sizes, extents)
    nest = family.nest(workload, own)
    options, threads = search.options, search.on(scheduler)
    known, name = read_start(start)
    if isinstance(known, Result):
        stated = known.profile.options
        family = replace(family, words={**stated, **family.words})
    if "norm" in str(objective):
        from ithaca.commands.api.normalising import normalised, of_designs

        budget = Budget(options)
        optimum = of_designs(
            lambda text: family.question(workload, text, descriptor=descriptor).problems(nest),
            engine,
        )
        objective = normalised(str(family.spelled_out(objective)), optimum, budget)
        options = budget.share()
    question = family.question(workload, objective, descriptor=descriptor)
    problems, free = question.problems(nest), question.unrestricted
    check_sizes(workload, nest, own)
    starts = None if known is None else starts_of(known, problems, nest, name)
    for line in question.remarks(nest):
        note(line)
    unrestricted = () if free is None else free.problems(nest)
    return answers(
        question.place,
        [problems],
        options,
        threads,
        starts,
        engine,
        second,
        unrestricted,
        scheduler=scheduler,
    )[0]


def answers(
    place: str,
    rows: Sequence[Sequence[Problem]],
    options: SolveOptions,
    threads: int = 1,
    starts: Sequence[Configuration | None] | None = None,
    method: str = "auto",
    prove_again_with: str | None = None,
    unrestricted: Sequence[Problem] = (),
    *,
    scheduler: str | None = None,
) -> tuple[Result, ...]:
    """Solve the designs of one nest, or of several within one time limit, some of each before
    proofs; Ctrl-C ends with what is known.

    Parameters
    ----------
    place : str
        What the designs are for.
    rows : sequence of sequence of Problem
        The problems of each nest.
    options : SolveOptions
        How far to search.
    threads : int
        Number of parallel worker processes.
    starts : sequence of Configuration or None, optional
        Known configurations of the problems.
    method : str
        The engine.
    prove_again_with : str, optional
        Another one to prove all of it again.
    unrestricted : sequence of Problem, optional
        The same of one nest without what a compiler cannot build, to compare with.
    scheduler : str, optional
        The Dask scheduler to solve on.

    Raises
    ------
    DisagreementError
        If the two engines contradict each other.
    """
    problems = [problem for row in rows for problem in row]
    rivals, compared = [number for number, row in enumerate(rows) for _ in row], None
    names, alone = [p.design.name for p in problems], len(rows) == 1
    with searching("building problems", options, names, rivals=alone) as (stoppable, line):
        budget = Budget(stoppable)
        run = any(profile_of(row[0].design).runs for row in rows if row)
        bounded = stoppable.keeping(COMPARING if unrestricted else 0).keeping(RUNNING * run)
        solutions = solve_designs(
            problems,
            bounded,
            method=method,
            threads=threads,
            scheduler=scheduler,
            starts=starts,
            rivals=rivals,
            report=line.report,
            finished=line.finished,
        )
        if prove_again_with is not None:
            from ithaca.solver.verification import prove_again

            solutions = tuple(prove_again(s, prove_again_with, bounded) for s in solutions)
        own = [
            tuple(s for s, rival in zip(solutions, rivals, strict=True) if rival == number)
            for number in range(len(rows))
        ]
        best = best_solution(own[0])
        if unrestricted and best is not None and best.value is not None and not stoppable.stopped:
            from ithaca.studies.best import solve_best, without_restriction

            known = [
                best.configuration if p.design.name == best.design else None for p in unrestricted
            ]
            left = replace(budget.share(), any_tie=True)
            free = solve_best(unrestricted, left, method=method, starts=known, report=line.show)
            compared = replace(
                without_restriction(best.value, free.value, free.certificate),
                problems=tuple(unrestricted),
            )
        note_missing_engines(settled=all(solution.settled for solution in solutions))
        results = tuple(Result(place, best_solution(row), row, compared) for row in own)
        if not run:
            return results
        from ithaca.studies.runs import with_runs

        return tuple(with_runs(result, budget) for result in results)


def read_start(start: Start) -> tuple[Result | Path | Rows | SolvedModel | None, str]:
    """Known configurations, the result in a file among them, and what messages call them."""
    if not isinstance(start, str | Path):
        return start, ""
    path = Path(start)
    if path.suffix.lower() != ".json":
        return path, f" {start}"
    from ithaca.results.files import read_result

    return read_result(read_document(path), path), f" {start}"


def starts_of(
    start: Result | Path | Rows | SolvedModel,
    problems: Sequence[Problem],
    nest: LoopNest,
    name: str,
) -> list[Configuration | None]:
    """The known configurations to start problems from.

    Sizes, limits and data type of a result may differ: a configuration that does not fit is not
    taken. Raises `InputError` if there is none, or it is of another workload.

    Parameters
    ----------
    start : Result or Path or Rows
        A result, or configurations as files or rows state them.
    problems : sequence of Problem
        One for each design that is solved.
    nest : LoopNest
        The workload of all.
    name : str
        What messages call the start.

    Returns
    -------
    list of Configuration, optional
        One for each problem; None where none fits.
    """
    if isinstance(start, Result):
        known = start.profile.nest
        if known is None or known.name != nest.name:
            workload = "no nest" if known is None else f"workload '{known.name}'"
            raise InputError(
                f"--start{name} is a result of {workload}; allowed: one of '{nest.name}'"
            )
        pairs = [
            (solution.problem.design, solution.configuration)
            for solution in start.solutions
            if solution.configuration is not None
        ]
    elif is_solution(start):
        from ithaca.exports.programs.solutions import configurations_of

        pairs = configurations_of(start, problems)
    else:
        from ithaca.commands.api.points import points_of

        pairs = points_of(problems[0].design.family).configurations(start, problems, nest)
    from ithaca.studies.best import best_start

    starts: list[Configuration | None] = []
    for problem in problems:
        own = [(design, each) for design, each in pairs if design.name == problem.design.name]
        able = [c for pair in own if (c := problem.design.translated(*pair)) is not None]
        starts.append(best_start(problem, able) or (able[0] if able else None))
    if not pairs or not (isinstance(start, Result) or any(starts)):
        raise InputError(f"--start{name} holds no configuration")
    return starts
