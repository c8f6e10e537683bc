"""The paper's problem: a matrix product in fp32 on the U250 at 70 %, and how to prove what is asked
of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.paper.experiment import Run
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.workloads.library import workload

#: The paper's extent of all three loops.
SIZE = 1024

#: 70 % of the U250.
DSP, BRAM18K = Fraction("8601.6"), Fraction("3763.2")

#: The dataflows, in the order of the published designs.
DATAFLOWS = (("i",), ("j",), ("k",), ("i", "j"), ("i", "k"), ("j", "k"))

#: The permutations.
PERMUTATIONS = ("A", "B", "C")


def matrix_problem(
    objective: str = "latency",
    *more: Limit,
    size: int = SIZE,
    dataflow: tuple[str, ...] = ("i", "j"),
    permutation: str = "C",
    edition: Edition = Edition.ODYSSEY,
    bram18k: Fraction = BRAM18K,
    space: SpaceOptions | None = None,
) -> Problem:
    """A design of the matrix product of square matrices within the paper's budget, and limits on
    top of it."""
    nest = workload("mm", {"i": size, "j": size, "k": size})
    array = derive(nest, dataflow, permutation, edition)
    limits = (Limit("dsp", DSP), Limit("bram18k", bram18k), *more)
    return Problem(
        SystolicDesign(nest, array, data_type("fp32"), space or SpaceOptions()),
        limits,
        parse_objective(objective),
    )


@dataclass(frozen=True)
class Optimum:
    """A proven optimum."""

    problem: Problem
    """The problem, with the objective that was minimised."""
    configuration: Configuration
    """The point."""
    value: Fraction
    metrics: Mapping[str, Fraction]

    @property
    def tiling(self) -> Tiling:
        """The configuration as papers write it."""
        return systolic(self.problem).tiling(self.configuration)

    @property
    def latency(self) -> Fraction:
        """The latency of the design (cycles)."""
        return self.metrics["latency"]


def prove(problem: Problem, run: Run, start: Configuration | None = None) -> Optimum:
    """The proven optimum of a problem; an error if there is none, since an experiment asks only for
    what exists."""
    solution = solve_exact(problem, run.search, start=start)
    run.check()
    if (
        solution.certificate.status is not Status.OPTIMAL
        or solution.value is None
        or solution.configuration is None
    ):
        raise RuntimeError(
            f"{problem.design.name}, {problem.objective.text}: {solution.certificate.status.value}"
        )
    return Optimum(problem, solution.configuration, solution.value, solution.metrics)


#: What is plotted of shares of the optimum.
PERFORMANCE = "performance (% of the proven optimum)"

#: The column of shares of the optimum, where each is of one run, and where it is their mean.
SHARE, MEAN = "share of the optimum", "mean share of the optimum"

#: The column of configurations.
DESIGN = "design (t1 | t2, SIMD)"


def metrics_of(problem: Problem, tiling: Tiling) -> Mapping[str, Fraction]:
    """All metrics of a tiling of a problem's design."""
    return problem.metrics(systolic(problem).configuration(tiling))


def resources(metrics: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """DSP blocks and block RAM, as columns of a table."""
    return {"DSP": metrics["dsp"], "BRAM18K": metrics["bram18k"]}


def spread(shares: Sequence[float]) -> dict[str, float]:
    """Mean and extremes of repeated runs, as columns of a table."""
    mean = sum(shares) / len(shares)
    return {
        MEAN: mean,
        "least share": min(shares),
        "largest share": max(shares),
        "repetitions": len(shares),
    }


def design_text(tiling: Tiling) -> str:
    """A configuration as the paper writes it: (t1 of all loops | t2 of the others, SIMD)."""
    outer = ",".join(map(str, tiling.array_part.values()))
    inner = ",".join(map(str, [*tiling.latency_hiding.values(), tiling.simd]))
    return f"({outer} | {inner})"


def budget_settings(size: int) -> dict[str, object]:
    """The problem that a document states."""
    return {
        "workload": f"mm i=j=k={size} fp32",
        "limits": {"dsp": float(DSP), "bram18k": float(BRAM18K)},
    }
