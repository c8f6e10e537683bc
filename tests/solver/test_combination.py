"""Geometric programs inside an exact search close nothing that holds an improvement."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ithaca.solver.combination import bound_and_seed, close_coarse_boxes
from ithaca.solver.exact.cells import coarse_cells
from ithaca.solver.exact.search import Search
from ithaca.solver.gp.search import GpSearch
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from tests.problems import MM_DATAFLOWS, mm_problem


@pytest.mark.ci
@pytest.mark.parametrize("dataflow", MM_DATAFLOWS[::2])
def test_cells_partition_the_search_and_the_programs_close_none_that_improves(
    dataflow: tuple[str, ...],
) -> None:
    problem = mm_problem((12, 10, 16), dataflow, dsp="200", bram18k="60")
    optimum = Search(build_model(problem), SolveOptions()).run().value
    assert optimum is not None
    model = build_model(problem)
    search = Search(model, SolveOptions(time_limit=0.0))
    worse = optimum + optimum / 10
    cells = coarse_cells(model, 2)
    closed = 0
    # go down box by box, and ask at every size of box
    for _ in range(6):
        if search._parts:
            search._split(search._parts.pop()[1][0])
        for code in search.crowded_cells(cells, 3):
            inside = GpSearch(problem, worse, within=cells.ranges(code))
            inside.run(0)
            if inside.complete and inside.incumbent is None:
                closed += search.close(cells, [code])
    assert closed > 0
    search.options = SolveOptions()
    assert search.run().value == optimum


def test_the_combination_proves_the_same_optimum() -> None:
    problem = mm_problem((1024, 1024, 1024))
    search = Search(build_model(problem), SolveOptions(time_limit=0.05))
    search.run()
    bound_and_seed(problem, search, SolveOptions(), stages=(4,))
    tried, _ = close_coarse_boxes(problem, search, SolveOptions())
    assert tried > 0
    search.options = SolveOptions()
    state = search.run()
    assert state.value == state.lower_bound == Fraction(639876)
