"""``ithaca refine``: evolve the configurations of a result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.live_line import LiveLine
from ithaca.commands.options import AsJson, Output, RandomSeed, ResultFile, TimeLimit
from ithaca.commands.parsing import parse_integer, parse_search
from ithaca.commands.solve import conclude
from ithaca.results.certificate import Certificate, Termination
from ithaca.results.files import load_result
from ithaca.results.result import Result
from ithaca.results.solution import Solution, best_solution
from ithaca.solver import conclusion
from ithaca.solver.agreement import check_agreement
from ithaca.solver.evolution.engine import SAMPLES, solve_evolve
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import check_writable


def refine(
    *,
    file: ResultFile,
    samples: Annotated[
        str | None, Option("--samples", metavar="N", help="Configurations to evaluate at most, for each design.")
    ] = None,
    time_limit: TimeLimit = None,
    seed: RandomSeed = "0",
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """``ithaca refine``."""
    search = parse_search(time_limit, seed=seed)
    budget = SAMPLES if samples is None else parse_integer("--samples", samples, least=1)
    if output is not None:
        check_writable(output)
    conclude(refine_result(file, search, budget), output, as_json=as_json)


def refine_result(path: Path, options: SolveOptions, samples: int) -> Result:
    """Evolve every design of a result from the configuration it has, if any.

    Designs that the file calls optimal or infeasible are left alone; lower bounds that it states are kept where they
    are better than those of geometric programs. ``ithaca verify`` checks what a file claims.

    Parameters
    ----------
    path : Path
        A result as written by ``solve -o``.
    options : SolveOptions
        How far: the time limit is for all designs together.
    samples : int
        How many configurations to evaluate at most, for each design.

    Raises
    ------
    InputError
        If the file is no result.
    DisagreementError
        If evolution finds what the file claims to be impossible.
    """
    loaded = load_result(path)
    began, solutions = time.perf_counter(), []
    with Interrupt() as interrupt, LiveLine("deriving tables", [s.design for s in loaded.designs]) as line:
        for index, recorded in enumerate(loaded.designs):
            left = options.time_limit
            if left is not None:
                left = max(left - (time.perf_counter() - began), 0.0) / (len(loaded.designs) - index)
            share = replace(options, time_limit=left, stop=interrupt)

            def tell(progress: Progress, index: int = index) -> None:
                line.report(index, progress)

            solutions.append(_refined(recorded, share, samples, tell))
            line.finished(index, solutions[-1])
    return Result(loaded.platform_name, best_solution(solutions), tuple(solutions))


def _refined(recorded: Solution, options: SolveOptions, samples: int, report: Callable[[Progress], None]) -> Solution:
    if recorded.certificate.status.proven:
        return recorded
    found = solve_evolve(recorded.problem, options, report, recorded.configuration, samples=samples)
    check_agreement(recorded, found)
    return replace(found, certificate=_joined(found, recorded.certificate, options))


def _joined(found: Solution, recorded: Certificate, options: SolveOptions) -> Certificate:
    """The certificate of what was found, with the recorded bound where that is better."""
    certificate, bound = found.certificate, recorded.lower_bound
    if bound is None or (certificate.lower_bound is not None and certificate.lower_bound >= bound):
        return certificate
    return conclusion.conclude(
        found.value,
        bound,
        options,
        exhausted=certificate.termination is Termination.EXHAUSTED,
        method=f"{recorded.method}+{certificate.method}",
        nodes=certificate.nodes,
        seconds=certificate.seconds,
    )
