"""`ithaca.solve`: the proven-best configuration of a workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.answers import Result
from ithaca.commands.api.keywords import Given, public
from ithaca.commands.api.live_line import LiveLine
from ithaca.commands.api.mapping import on_hierarchy, question_of, solve_nest
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    HierarchyOptions,
    Method,
    Objective,
    SearchOptions,
    Sizes,
    TargetedOptions,
    Workload,
)
from ithaca.commands.api.parsing import parse_engines, parse_extents
from ithaca.commands.api.request import Request, read_nest, request_of_array, restricted_share
from ithaca.files.errors import InputError
from ithaca.files.signals import Interrupt
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.systolic.design import systolic
from ithaca.results.files import load_result
from ithaca.solver import engines
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result as Loaded
from ithaca.solver.solution import best_solution
from ithaca.solver.verification import prove_again
from ithaca.studies.best import solve_best, without_restriction
from ithaca.workloads.nest import LoopNest


@public
def solve(
    workload: Workload,
    *,
    sizes: Sizes = None,
    problem: TargetedOptions,
    hierarchy: HierarchyOptions,
    descriptor: Annotated[
        str | Path | None,
        Option("--descriptor", help="Published design description (JSON) to solve."),
    ] = None,
    objective: Objective = OBJECTIVE,
    method: Method = "auto",
    prove_with: Annotated[
        str | Sequence[str] | None,
        Option(
            "--prove-with",
            metavar="A,B",
            help="Two engines to prove with, e.g. exact,cpsat; they must agree.",
        ),
    ] = None,
    search: SearchOptions,
    start: Annotated[
        str | Path | Loaded | None,
        Option(
            "--start",
            help="A result whose configurations to improve on; it gives the "
            "data type unless --dtype does.",
        ),
    ] = None,
    given: Given,
    **extents: Extents,
) -> Result:
    """Find the best configuration of a workload, and prove it."""
    engine, second = parse_engines(method, prove_with)
    if on_hierarchy(given):
        nest = read_nest(workload, parse_extents(sizes, extents))
        return solve_nest(
            nest, question_of(hierarchy, problem, objective, given), search.options, engine, second
        )
    options, threads = search.options, search.workers
    loaded = load_result(Path(start)) if isinstance(start, str | Path) else start
    if loaded is not None and "--dtype" not in given:
        problem = replace(problem, dtype=systolic(loaded.problem).data.name)
    request = request_of_array(
        problem, workload, parse_extents(sizes, extents), objective, descriptor
    )
    name = f" {start}" if isinstance(start, str | Path) else ""
    known = {} if loaded is None else known_configurations(loaded, request.nest, name)
    return run(request, options, threads, known, engine, second)


def run(
    request: Request,
    options: SolveOptions,
    threads: int,
    start: Mapping[tuple[str, ...], Configuration],
    method: engines.Method = engines.Method.AUTO,
    prove_again_with: engines.Method | None = None,
) -> Result:
    """Solve every requested design; Ctrl-C ends with what is known.

    ``start`` has known configurations by dataflow and permutation, ``(*dataflow, permutation)``.

    Raises `DisagreementError` if the two engines contradict each other.
    """
    asked, budget = request.posed, Budget(options)
    request.remark()
    starts = [
        start.get((*systolic(p).array.dataflow, systolic(p).array.permutation)) for p in asked
    ]
    with (
        Interrupt() as interrupt,
        LiveLine("deriving tables", [p.design.name for p in asked]) as line,
    ):
        bounded = restricted_share(replace(options, stop=interrupt), request.space)
        solutions = solve_designs(
            asked,
            bounded,
            method=method,
            threads=threads,
            starts=starts,
            report=line.report,
            finished=line.finished,
        )
        if prove_again_with is not None:
            solutions = tuple(prove_again(s, prove_again_with, bounded) for s in solutions)
        best, compared = best_solution(solutions), None
        if (
            request.space.target is not None
            and best is not None
            and best.value is not None
            and not interrupt()
        ):
            free = replace(request, space=replace(request.space, target=None)).posed
            known = [best.configuration if p.design.name == best.design else None for p in free]
            left = replace(budget.share(), stop=interrupt, any_tie=True)
            found = solve_best(free, left, method=method, starts=known, report=line.show)
            compared = replace(
                without_restriction(best.value, found.value, found.certificate), problems=free
            )
    return Result(request.platform.name, best, solutions, compared)


def known_configurations(
    result: Loaded, nest: LoopNest, name: str = ""
) -> dict[tuple[str, ...], Configuration]:
    """Configurations of a result by dataflow and permutation, ``(*dataflow, permutation)``.

    Sizes, limits and data type may differ: a configuration that does not fit is not taken. Raises
    `InputError` if the result is of another workload, or holds no configuration.
    """
    workload = systolic(result.problem).nest.name
    if workload != nest.name:
        raise InputError(
            f"--start{name} is a result of workload '{workload}'; allowed: one of '{nest.name}'"
        )
    designs = [
        (systolic(s.problem).array, s.tiling)
        for s in reversed(result.solutions)
        if s.configuration is not None
    ]
    found = {
        (*array.dataflow, array.permutation): tiling.configuration(array, nest.sizes)
        for array, tiling in designs
    }
    if not found:
        raise InputError(f"--start{name} holds no configuration")
    return found
