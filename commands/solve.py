"""``ithaca solve``: the proven-best configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.options import OBJECTIVE, AsJson, Objective, Output, ProblemOptions, SearchOptions, Sizes, Workload
from ithaca.api.options import Method as MethodName
from ithaca.api.parsing import parse_method, parse_provers
from ithaca.workloads.writing import check_writable


def solve(
    *,
    workload: Workload,
    sizes: Sizes = None,
    problem: ProblemOptions,
    descriptor: Annotated[Path | None, Option("--descriptor", help="Published design description (JSON) to solve.")] = None,
    objective: Objective = OBJECTIVE,
    method: MethodName = "auto",
    prove_with: Annotated[
        str | None,
        Option("--prove-with", metavar="A,B", help="Two engines to prove with, e.g. exact,cpsat; they must agree."),
    ] = None,
    search: SearchOptions,
    start: Annotated[Path | None, Option("--start", help="A result whose configurations to improve on.")] = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """``ithaca solve``."""
    from ithaca.commands.solving import conclude, known_configurations, run

    engine, second = parse_method(method), None
    if prove_with is not None:
        engine, second = parse_provers(prove_with)
    options, threads = search.options, search.workers
    if output is not None:
        check_writable(output)
    request = problem.request(workload, sizes, objective, descriptor)
    known = {} if start is None else known_configurations(start, request.nest)
    conclude(run(request, options, threads, known, engine, second), output, as_json=as_json)
