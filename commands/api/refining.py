"""`ithaca.refine.refine`: evolve the configurations of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import searching
from ithaca.commands.api.opening import one_result
from ithaca.commands.api.options import Effort, LayerName, RandomSeed, ResultFile
from ithaca.files.words import REPEATED, parse_integer
from ithaca.refine.evolution.engine import SAMPLES, solve_evolve
from ithaca.refine.evolution.shares import NAMES, PUBLISHED, Shares, parse_shares
from ithaca.refine.kept import with_neighbourhood
from ithaca.solver import conclusion
from ithaca.solver.certificate import OWN, Certificate, Termination
from ithaca.solver.executors import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress, Report
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution, best_solution
from ithaca.solver.trace import TraceRecorder
from ithaca.solver.verification import check_agreement
from ithaca.studies.runs import with_runs


@public
def refine(
    result: ResultFile,
    *,
    layer: LayerName = None,
    samples: Annotated[
        int | None,
        Option("--samples", metavar="N", help="Most configurations to evaluate for each design."),
    ] = None,
    shares: Annotated[
        Mapping[str, float | str] | Sequence[str] | None,
        Option(
            "--shares",
            metavar="NAME=SHARE,...",
            help="How often each variation makes a new configuration. Default: "
            f"{', '.join(f'{name}={getattr(PUBLISHED, name)}' for name in NAMES)}.",
        ),
        REPEATED,
    ] = None,
    effort: Effort,
    seed: RandomSeed = 0,
) -> Result:
    """Improve the configurations of a result by evolution; what is proven optimal stays as it is.

    The certificates have the course of evolution, from the seed at 0 samples on (`Result.plot`).
    Lower bounds that the result states are kept where they are better than those of geometric
    programs; `ithaca.verify` checks what it claims. The time limit is for all designs together.
    Raises `DisagreementError` if evolution finds what the result claims to be impossible.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.refine.refine(r, samples=10).value  # proven already
    Fraction(58, 1)
    """
    search = replace(effort.options, seed=parse_integer("--seed", seed, least=0))
    most = SAMPLES if samples is None else parse_integer("--samples", samples, least=1)
    chosen = parse_shares(shares)
    threads, loaded = effort.workers, one_result(result, layer)
    refined = dict(enumerate(loaded.designs))  # what is not reached stays as it is
    with (
        searching("deriving tables", search, [s.design for s in loaded.designs]) as (
            stoppable,
            line,
        ),
        open_executor(min(threads, len(refined))) as executor,
    ):
        budget = Budget(stoppable)
        jobs = [partial(_refined, recorded, most, chosen) for recorded in loaded.designs]
        for index, solution in executor.results(
            jobs, lambda left: budget.share(-(-left // executor.width)), line.report
        ):
            refined[index] = solution
            line.finished(index, solution)
    solutions = tuple(refined.values())
    kept = any(
        s.certificate.lower_bound == r.certificate.lower_bound
        for s, r in zip(solutions, loaded.designs, strict=True)
    )
    answer = Result(
        loaded.platform_name,
        best_solution(solutions),
        solutions,
        source=loaded.source if kept else OWN,
    )
    return with_neighbourhood(with_runs(answer, budget))


def _refined(
    recorded: Solution, samples: int, shares: Shares, options: SolveOptions, report: Report
) -> Solution:
    if recorded.certificate.status.proven:
        return recorded
    tell = TraceRecorder(report=report)
    tell(Progress(recorded.value, recorded.certificate.lower_bound, 0, 0.0))
    evolved = solve_evolve(
        recorded.problem, options, tell, recorded.configuration, samples=samples, shares=shares
    )
    check_agreement(recorded, evolved)
    proof = _joined(evolved, recorded.certificate, options)
    trace = tell.trace(evolved.value, proof.lower_bound, proof.nodes)
    return replace(evolved, certificate=replace(proof, trace=trace))


def _joined(evolved: Solution, recorded: Certificate, options: SolveOptions) -> Certificate:
    """The certificate of what was found, with the recorded bound where that is better."""
    certificate, bound = evolved.certificate, recorded.lower_bound
    if bound is None or (certificate.lower_bound is not None and certificate.lower_bound >= bound):
        return certificate
    return conclusion.conclude(
        evolved.value,
        bound,
        options,
        exhausted=certificate.termination is Termination.EXHAUSTED,
        method=f"{recorded.method}+{certificate.method}",
        nodes=certificate.nodes,
        seconds=certificate.seconds,
    )
