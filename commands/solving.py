"""Solve what a command was asked to, and tell the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ithaca.api.live_line import LiveLine
from ithaca.api.request import Request, problems
from ithaca.commands.display import explain_infeasibility, print_result
from ithaca.commands.outcome import nothing_found, print_document, wrote
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.json_numbers import document_text
from ithaca.formulations.systolic.design import systolic
from ithaca.results.certificate import Status
from ithaca.results.files import load_result, result_document
from ithaca.results.result import Result
from ithaca.results.solution import best_solution
from ithaca.solver.agreement import prove_again
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import write_text_atomically


def conclude(result: Result, output: Path | None, *, as_json: bool) -> None:
    """Write and print a result, or say why there is none."""
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        write_result(result, output)
    if as_json:
        print_document(result_document(result))
    else:
        print_result(result)
    if result.best is None:
        nothing_found(explain_failure(result))


def run(
    request: Request,
    options: SolveOptions,
    threads: int,
    start: Mapping[tuple[str, ...], Configuration],
    method: Method = Method.AUTO,
    prove_again_with: Method | None = None,
) -> Result:
    """Solve every requested design; Ctrl-C ends with what is known.

    ``start`` has known configurations by dataflow and permutation, ``(*dataflow, permutation)``.

    Raises `DisagreementError` if the two engines contradict each other.
    """
    asked = problems(request)
    starts = [start.get((*systolic(p).array.dataflow, systolic(p).array.permutation)) for p in asked]
    with Interrupt() as interrupt, LiveLine("deriving tables", [p.design.name for p in asked]) as line:
        bounded = replace(options, stop=interrupt)
        solutions = solve_designs(
            asked, bounded, method=method, threads=threads, starts=starts, report=line.report, finished=line.finished
        )
        if prove_again_with is not None:
            solutions = tuple(prove_again(s, prove_again_with, bounded) for s in solutions)
    return Result(request.platform.name, best_solution(solutions), solutions)


def write_result(result: Result, path: Path) -> None:
    """Write the document of a result."""
    write_text_atomically(path, document_text(result_document(result)))
    wrote(path)


def explain_failure(result: Result) -> str:
    """One line: why there is no answer."""
    if all(s.certificate.status is Status.INFEASIBLE for s in result.designs):
        return f"infeasible: {explain_infeasibility(result.designs)}"
    return "nothing found before the search ended; allow more time with --time-limit"


def known_configurations(path: Path, nest: LoopNest) -> dict[tuple[str, ...], Configuration]:
    """Configurations of a result by dataflow and permutation, ``(*dataflow, permutation)``.

    Sizes, limits and data type may differ: a configuration that does not fit is not taken. Raises `InputError` if the result is
    of another workload, or holds no configuration.
    """
    result = load_result(path)
    workload = systolic(result.problem).nest.name
    if workload != nest.name:
        raise InputError(f"--start {path} is a result of workload '{workload}'; allowed: one of '{nest.name}'")
    designs = [(systolic(s.problem).array, s.tiling) for s in reversed(result.solutions) if s.configuration is not None]
    found = {(*array.dataflow, array.permutation): tiling.configuration(array, nest.sizes) for array, tiling in designs}
    if not found:
        raise InputError(f"--start {path} holds no configuration")
    return found
