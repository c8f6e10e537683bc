"""One problem to solve, and an attempt at it that never raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.studies.network.failure import Failure
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import escaped

#: Longest reason of a failure (characters).
MAX_REASON = 300


@dataclass(frozen=True)
class Job:
    """One problem to solve.

    Attributes
    ----------
    place : str
        What it is, for people: layer and design.
    problem : Problem
        The problem.
    start : Tiling or None
        A configuration to start from.
    """

    place: str
    problem: Problem
    start: Tiling | None = None


def attempt(
    job: Job, options: SolveOptions, method: Method, report: Callable[[Progress], None] | None = None
) -> Solution | Failure:
    """Solve a problem; whatever goes wrong with it becomes a `Failure`, so that others can go on."""
    try:
        return solve_design(job.problem, options, report, job.start, method)
    except InputError as error:
        return Failure(job.place, one_line(str(error)), refused=True)
    except MemoryError:
        return Failure(job.place, "out of memory")
    except Exception as error:
        return Failure(job.place, one_line(f"{type(error).__name__}: {error}"))


def one_line(text: str) -> str:
    """A text as the reason of a failure."""
    line = escaped(" ".join(text.split()))
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"
