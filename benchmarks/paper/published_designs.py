"""The designs of 1024³ that the paper prints: dataflow (i,j), permutation C, on the U250 (Table 4
and text).

And the objectives whose optima seed the published search, with the designs that come of them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.paper.experiment import PUBLICATION, Run
from benchmarks.paper.matrix_product import Optimum, matrix_problem, metrics_of, prove
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.geometric.solver.nlp import NlpSearch

#: The metrics that Table 4 compares, each as a ratio to the best of the designs, by name of the
#: ratio.
COMPARED = {"latency": "latency", "off-chip": "off_chip_words", "DSP": "dsp"}

#: Cycles of the best design whose factors divide the extents, and of the paper's best (both by its
#: own model).
DIVISOR_LATENCY, BEST_LATENCY = Fraction(1_052_673), Fraction("644713.5")


@dataclass(frozen=True)
class Published:
    """A design of the published table, with the ratios it states."""

    objective: str
    t1: tuple[int, int, int]
    t2: tuple[int, int]
    simd: int
    stated: tuple[float, float, float]

    @property
    def ratios(self) -> dict[str, float]:
        """The stated ratios by name."""
        return dict(zip(COMPARED, self.stated, strict=True))

    @property
    def tiling(self) -> Tiling:
        """The design."""
        sizes = dict(zip("ijk", self.t1, strict=True)), dict(zip("ij", self.t2, strict=True))
        return Tiling(*sizes, self.simd, {"A": 16, "B": 16, "C_drain": 4})

    @property
    def metrics(self) -> Mapping[str, Fraction]:
        """All metrics of the design, by the odyssey model edition."""
        return metrics_of(matrix_problem(), self.tiling)


#: The designs that the paper prints.
TABLE = tuple(
    Published(
        row["objective"], tuple(row["t1"]), tuple(row["t2"]), row["simd"], tuple(row["stated"])
    )
    for row in PUBLICATION["designs"]
)

#: The designs of the nonlinear solver.
SOLVED = TABLE[:3]

#: The best design whose factors divide the extents, as published; ratios to others are not stated
#: of it.
DIVISORS = Tiling(
    {"i": 64, "j": 128, "k": 128}, {"i": 16, "j": 4}, 8, {"A": 16, "B": 16, "C_drain": 4}
)


def least_of_each(rows: list[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """The best value of each compared metric."""
    return {name: min(row[name] for row in rows) for name in COMPARED.values()}


#: The published ones.
PUBLISHED = tuple(row.objective for row in SOLVED)

#: Name of the published combination with both parts divided by their best values.
NORMALISED = "comm - comp, normalised"

#: What the search itself minimises.
LATENCY = "latency"

#: All of them, in the order of the tables.
NAMES = (*PUBLISHED, NORMALISED, LATENCY)


def expressions(run: Run) -> dict[str, str]:
    """The objectives by name; what the normalised one divides by is proven here."""
    most = -prove(matrix_problem("-comp"), run).value
    least = prove(matrix_problem("comm"), run).value
    return {name: name for name in NAMES} | {NORMALISED: f"comm/{least} - comp/{most}"}


def fastest_optimum(expression: str, run: Run) -> Optimum:
    """The design of least latency among those that an objective is proven to prefer."""
    first = prove(matrix_problem(expression), run)
    limit = Limit(expression, first.value)
    return prove(matrix_problem(LATENCY, limit), run, start=first.configuration)


def rounded_program(expression: str, run: Run) -> tuple[Tiling, Fraction]:
    """The design that the nonlinear program of an objective rounds to, and its latency."""
    search = NlpSearch(matrix_problem(expression), run.seed)
    search.run(run.search)
    run.check()
    if search.incumbent is None:
        raise RuntimeError(f"the nonlinear program of {expression} rounds to no design")
    problem = matrix_problem()
    return systolic(problem).tiling(search.incumbent), problem.value(search.incumbent)
