"""Geometric programs inside an exact search close nothing that holds an improvement."""

from fractions import Fraction

from ithaca.solver.combination import bound_and_seed
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from tests.problems import mm_problem


def test_the_combination_proves_the_same_optimum():
    problem = mm_problem((1024, 1024, 1024))
    search = Search(build_model(problem), SolveOptions(time_limit=0.05))
    search.run()
    bound_and_seed(problem, search, SolveOptions(), stages=(4,))
    search.options = SolveOptions()
    state = search.run()
    assert state.value == state.lower_bound == Fraction(639876)
