"""``ithaca verify``: check a result anew, its values and its proofs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ithaca.commands.options import ResultFile
from ithaca.commands.outcome import NOTHING_FOUND
from ithaca.commands.parsing import parse_search
from ithaca.formulations.shown_numbers import number
from ithaca.solver.agreement import check_agreement
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution
from ithaca.solver.options import SolveOptions
from ithaca.solver.result_files import load_result
from ithaca.solver.solution import Solution, make_solution
from ithaca.workloads.signals import Interrupt


def verify(
    *,
    file: ResultFile,
    time_limit: Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for each design.")] = None,
) -> None:
    """``ithaca verify``."""
    if not verify_result(file, parse_search(time_limit)):
        raise typer.Exit(NOTHING_FOUND)


def verify_result(path: Path, options: SolveOptions) -> bool:
    """Check every design of a result; whether all that it claims was confirmed.

    Loading re-derives the designs and re-evaluates every metric by the Fraction reference. What is claimed to be optimal
    or infeasible is then proven again by another engine than the recorded one.

    Parameters
    ----------
    path : Path
        A result as written by ``solve -o``.
    options : SolveOptions
        How far to search, for each design.

    Raises
    ------
    DisagreementError
        If an engine contradicts the file.
    """
    result = load_result(path)
    confirmed = True
    with Interrupt() as interrupt:
        for recorded in result.designs:
            line, agreed = _verify(result, recorded, replace(options, stop=interrupt))
            print(f"{recorded.array.name:<10} {line}")
            sys.stdout.flush()
            confirmed &= agreed
    return confirmed


def _verify(result: LoadedResult, recorded: LoadedSolution, options: SolveOptions) -> tuple[str, bool]:
    problem = result.problem(recorded.array)
    claimed = make_solution(problem, recorded.tiling, recorded.certificate)
    status = recorded.certificate.status
    if status not in (Status.OPTIMAL, Status.INFEASIBLE):
        return f"{status.value}: {_value(claimed)}; no proof is claimed", True
    method = Method.EXACT if "cpsat" in recorded.certificate.method else Method.CPSAT
    again = engine(method)(problem, options, start=recorded.tiling)
    if check_agreement(claimed, again):
        return f"{status.value}: {_value(claimed)}, confirmed by {method.value} in {again.certificate.seconds:.1f} s", True
    bound = number(again.certificate.lower_bound)
    return f"{status.value}: {_value(claimed)}, not confirmed by {method.value} in time (its bound: {bound})", False


def _value(solution: Solution) -> str:
    return "no value" if solution.value is None else f"value {number(solution.value)} re-evaluated"
