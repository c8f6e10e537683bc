"""The objectives whose optima seed the published search (Table 4), and the designs that come of them."""

from __future__ import annotations

from fractions import Fraction

from ithaca.experiments.experiment import Run
from ithaca.experiments.matrix_product import Optimum, matrix_problem, prove
from ithaca.experiments.published_designs import SOLVED
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.nlp.search import NlpSearch

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
    """Of the designs that an objective is proven to prefer, the one of least latency."""
    first = prove(matrix_problem(expression), run)
    limit = Limit(expression, first.value)
    return prove(matrix_problem(LATENCY, limit), run, start=first.tiling)


def rounded_program(expression: str, run: Run) -> tuple[Tiling, Fraction]:
    """The design that the nonlinear program of an objective rounds to, and its latency.

    Raises
    ------
    RuntimeError
        If it rounds to none.
    """
    search = NlpSearch(matrix_problem(expression), run.seed)
    search.run(run.search)
    run.check()
    if search.incumbent is None:
        raise RuntimeError(f"the nonlinear program of {expression} rounds to no design")
    problem = matrix_problem()
    return search.incumbent, problem.value(problem.costs(search.incumbent))
