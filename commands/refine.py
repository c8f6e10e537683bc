"""``ithaca refine``: evolve the configurations of a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.answers import Result
from ithaca.api.live_line import LiveLine
from ithaca.api.options import AsJson, Effort, Output, RandomSeed, ResultFile
from ithaca.api.parsing import parse_integer
from ithaca.commands.conclusion import conclude
from ithaca.results.certificate import Certificate, Termination
from ithaca.results.files import load_result
from ithaca.results.solution import Solution, best_solution
from ithaca.solver import conclusion
from ithaca.solver.agreement import check_agreement
from ithaca.solver.evolution.engine import SAMPLES, solve_evolve
from ithaca.solver.executor import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import check_writable


def refine(
    *,
    file: ResultFile,
    samples: Annotated[
        str | None, Option("--samples", metavar="N", help="Configurations to evaluate at most, for each design.")
    ] = None,
    effort: Effort,
    seed: RandomSeed = 0,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """``ithaca refine``."""
    search = replace(effort.options, seed=parse_integer("--seed", seed, least=0))
    budget = SAMPLES if samples is None else parse_integer("--samples", samples, least=1)
    if output is not None:
        check_writable(output)
    conclude(refine_result(file, search, budget, effort.workers), output, as_json=as_json)


def refine_result(path: Path, options: SolveOptions, samples: int, threads: int = 1) -> Result:
    """Evolve every design of a result from the configuration it has, if any.

    Designs that the file calls optimal or infeasible are left alone; lower bounds that it states are kept where they are better
    than those of geometric programs. ``ithaca verify`` checks what a file claims. The time limit is for all designs together.
    Raises `InputError` if the file is no result, `DisagreementError` if evolution finds what the file claims to be impossible.
    """
    loaded = load_result(path)
    found = dict(enumerate(loaded.designs))  # what is not reached stays as it is
    with (
        Interrupt() as interrupt,
        LiveLine("deriving tables", [s.design for s in loaded.designs]) as line,
        open_executor(min(threads, len(found))) as executor,
    ):
        budget = Budget(replace(options, stop=interrupt))
        jobs = [partial(_refined, recorded, samples) for recorded in loaded.designs]
        for index, solution in executor.results(jobs, lambda left: budget.share(-(-left // executor.width)), line.report):
            found[index] = solution
            line.finished(index, solution)
    solutions = tuple(found.values())
    return Result(loaded.platform_name, best_solution(solutions), solutions)


def _refined(recorded: Solution, samples: int, options: SolveOptions, report: Callable[[Progress], None]) -> Solution:
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
