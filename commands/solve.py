"""``ithaca solve``: the proven-best configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ithaca.commands.display import explain_infeasibility
from ithaca.commands.interrupt import Interrupt
from ithaca.commands.live_line import LiveLine
from ithaca.commands.request import Request, problems
from ithaca.formulations.json_numbers import document_text
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.agreement import prove_again
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import best_solution, solve_designs
from ithaca.solver.result import Result, result_document
from ithaca.workloads.writing import write_text_atomically


def run(
    request: Request,
    options: SolveOptions,
    threads: int,
    start: Mapping[tuple[str, ...], Tiling],
    method: Method = Method.AUTO,
    prove_again_with: Method | None = None,
) -> Result:
    """Solve every requested design; Ctrl-C ends with what is known.

    Parameters
    ----------
    request : Request
        What to solve.
    options : SolveOptions
        How far.
    threads : int
        How many designs at a time.
    start : mapping
        Known tilings by dataflow and permutation, ``(*dataflow, permutation)``.
    method : Method
        The engine.
    prove_again_with : Method or None
        A second engine that is asked for the same proofs.

    Raises
    ------
    DisagreementError
        If the two engines contradict each other.
    """
    asked = problems(request)
    starts = [start.get((*p.array.dataflow, p.array.permutation)) for p in asked]
    with Interrupt() as interrupt, LiveLine("deriving tables", [p.array.name for p in asked]) as line:
        bounded = replace(options, stop=interrupt)
        solutions = solve_designs(
            asked, bounded, method=method, threads=threads, starts=starts, report=line.report, finished=line.finished
        )
        if prove_again_with is not None:
            solutions = tuple(prove_again(s, prove_again_with, bounded) for s in solutions)
    return Result(
        nest=request.nest,
        data=request.data,
        platform_name=request.platform.name,
        technology=request.platform.technology,
        limits=asked[0].limits,
        edition=request.edition,
        objective_text=request.objective.text,
        space=request.space,
        best=best_solution(solutions),
        designs=solutions,
    )


def write_result(result: Result, path: Path) -> None:
    """Write the document of a result."""
    write_text_atomically(path, document_text(result_document(result)))
    print(f"wrote {path}", file=sys.stderr)


def explain_failure(result: Result) -> str:
    """One line: why there is no answer."""
    if all(s.certificate.status is Status.INFEASIBLE for s in result.designs):
        return f"infeasible: {explain_infeasibility(result.designs)}"
    return "nothing found before the search ended; allow more time with --time-limit"
