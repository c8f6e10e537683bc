"""Search methods on designs of the matrix product, each run measured against the proven optimum
(Figures 7 to 9).

The released script (run_method_cmp.sh) gives every method 300 s on each of 18 designs, some of them
a number of epochs instead: simulated annealing 150,000, Bayesian optimisation 300, reinforcement
learning 50,000. Those numbers are kept here as most samples, within the 300 s. The methods are
those of `ithaca.plugins.peers.studies` that stand for the published ones.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from math import exp, log

from benchmarks.paper.experiment import PUBLICATION, Cell, Run, Table
from benchmarks.paper.matrix_product import DATAFLOWS, PERMUTATIONS, SHARE, matrix_problem, prove
from ithaca.files.errors import InputError
from ithaca.files.signals import at_once
from ithaca.formulations.problem import Problem
from ithaca.plugins.peers.studies.methods import PEERS, run_peer
from ithaca.plugins.peers.studies.recorder import SampleBudget, Trace
from ithaca.solver.processes import end_with_parent

#: What each method stands for in the paper.
STANDS_FOR: Mapping[str, str] = PUBLICATION["methods"]

#: Ithaca's seeded evolution, which works as the paper's search does, and its exact search.
SEEDED, UNSEEDED, EXACT = "evolve", "evolve-unseeded", "exact"

#: Most samples of a run in the released script.
MOST_SAMPLES: Mapping[str, int] = PUBLICATION["most samples"]

#: Methods of quick mode: they need no other package, and score many configurations at once.
QUICK_METHODS = ("random", "exhaustive", "policy-gradient", UNSEEDED, SEEDED, EXACT)

#: All 18 designs.
DESIGNS = tuple((dataflow, permutation) for dataflow in DATAFLOWS for permutation in PERMUTATIONS)

#: The design of the paper's best configuration.
BEST_DESIGN = (("i", "j"), "C")

Design = tuple[tuple[str, ...], str]


@dataclass(frozen=True)
class Job:
    """One run of one method."""

    method: str
    design: Design
    seed: int
    budget: SampleBudget
    problem: Problem


@dataclass(frozen=True)
class Compared:
    """A run, and what it is measured against."""

    job: Job
    """The run that is compared."""
    trace: Trace
    """The trace of the run."""
    optimum: Fraction
    """The proven optimum of its design."""

    def share(self, value: Fraction | None) -> float:
        """Optimum over a value of the run; 0 where it had found none."""
        return 0.0 if value is None else float(self.optimum / value)

    @property
    def row(self) -> dict[str, Cell]:
        """The first columns of a table of runs."""
        dataflow, permutation = self.job.design
        method = {"method": self.job.method, "stands for": STANDS_FOR[self.job.method]}
        return {"dataflow": ",".join(dataflow), "permutation": permutation, **method}

    def result(self, value: Fraction | None) -> dict[str, Cell]:
        """Columns of what it had found at some time."""
        return {
            "latency (cycles)": value,
            "proven optimum (cycles)": self.optimum,
            SHARE: self.share(value),
        }


def design_name(design: Design) -> str:
    """A design as in the tables, such as ``[i,j] C``."""
    return f"[{','.join(design[0])}] {design[1]}"


def methods(how: Run) -> tuple[str, ...]:
    """The methods of a run: all in full mode, those that need no other package in quick mode.

    Raises `InputError` in full mode if a package is missing: hours of a comparison with holes help
    nobody.
    """
    if not how.full:
        return QUICK_METHODS
    missing = [
        name
        for name, peer in PEERS.items()
        if not all(find_spec(library) for library in peer.libraries)
    ]
    if missing:
        raise InputError(
            f"--full compares all methods, and {', '.join(missing)} need packages that are not installed; "
            "allowed: pip install 'ithaca[peers]' first, or --quick, which leaves them out"
        )
    return tuple(PEERS)


def compare(
    names: Sequence[str],
    designs: Sequence[Design],
    seeds: Sequence[int],
    budget: Mapping[str, SampleBudget],
    size: int,
    how: Run,
) -> tuple[Compared, ...]:
    """Run methods on designs, each with its budget and with seeds of the random numbers, and prove
    each design's optimum."""
    problems = {d: matrix_problem(size=size, dataflow=d[0], permutation=d[1]) for d in designs}
    optima = {}
    for design, problem in problems.items():
        how.step(f"proven optimum of {design_name(design)}")
        optima[design] = prove(problem, how).value
    jobs = [Job(m, d, s, budget[m], problems[d]) for d in designs for m in names for s in seeds]
    found = []
    with closing(_traces(jobs, how)) as traces:
        for number, (job, trace) in enumerate(zip(jobs, traces, strict=True)):
            found.append(Compared(job, trace, optima[job.design]))
            how.step(f"{number + 1} of {len(jobs)} runs: {job.method} on {design_name(job.design)}")
    return tuple(found)


def budget_text(budget: SampleBudget) -> str:
    """A budget in words."""
    parts = []
    if budget.samples is not None:
        parts.append(f"{budget.samples:,} samples")
    if budget.seconds is not None:
        parts.append(f"{budget.seconds:g} s")
    return " or ".join(parts)


def mean_shares(table: Table) -> dict[str, float]:
    """Geometric mean of the shares of the optimum of every method; 0 where one of them is."""
    found = {}
    for method in dict.fromkeys(str(record["method"]) for record in table.records()):
        shares = [float(record[SHARE]) for record in table.records(method=method)]  # type: ignore[arg-type]
        found[method] = exp(sum(map(log, shares)) / len(shares)) if all(shares) else 0.0
    return found


def least_share(table: Table, method: str) -> float:
    """The least share of the optimum of a method over the designs."""
    return min(float(record[SHARE]) for record in table.records(method=method))  # type: ignore[arg-type]


def _traces(jobs: Sequence[Job], how: Run) -> Generator[Trace, None, None]:
    """The runs, in order."""
    with ExitStack() as stack:
        traces: Iterator[Trace] = map(_run, jobs)
        if how.threads > 1:
            # spawn: a fork of a process with threads can hang
            pool = stack.enter_context(
                multiprocessing.get_context("spawn").Pool(how.threads, _begin_child)
            )
            traces = pool.imap(_run, jobs)
        for _ in jobs:
            with at_once():
                trace = next(traces)
            yield trace


def _run(job: Job) -> Trace:
    return run_peer(job.method, job.problem, job.budget, job.seed)


def _begin_child() -> None:
    # SIGTERM stays: it is how a pool ends its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
