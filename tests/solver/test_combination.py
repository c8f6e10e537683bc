"""Geometric programs inside an exact search close nothing that holds an improvement."""

from fractions import Fraction

import pytest

from ithaca.exports.programs.pieces import ROUNDED
from ithaca.files.plugin import CORE, plugins
from ithaca.solver.auto import solve_auto
from ithaca.solver.combination import NOTHING, bound_and_seed, quantity_ranges, solver_start
from ithaca.solver.enumeration.engine import solve_enumeration
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions, never
from ithaca.solver.tables.frame import build_model
from tests.installed import needs
from tests.problems import mm_problem


@needs("geometric")
def test_the_combination_proves_the_same_optimum():
    problem = mm_problem((1024, 1024, 1024))
    search = Search(build_model(problem), SolveOptions(time_limit=0.05))
    search.run()
    bound_and_seed(problem, search, SolveOptions(), stages=(4,))
    search.options = SolveOptions()
    state = search.run()
    assert state.value == state.lower_bound == Fraction(639876)


@pytest.fixture
def alone(monkeypatch):
    """The core without any plug-in."""
    core = {CORE: plugins()[CORE]}
    monkeypatch.setattr("ithaca.files.registry.plugins", lambda: core)


@needs("geometric")
def test_ranges_with_plugins_are_within_those_without(request):
    problem = mm_problem((24, 20, 16), dsp="40")
    narrow = quantity_ranges(problem)
    request.getfixturevalue("alone")
    wide = quantity_ranges(problem)
    assert narrow.keys() == wide.keys()
    for name, (low, high) in narrow.items():
        assert wide[name][0] <= low * (1 + ROUNDED)
        assert high * (1 - ROUNDED) <= wide[name][1]
    assert any(high < 0.9 * wide[name][1] for name, (_, high) in narrow.items())


def test_ranges_of_several_plugins_are_those_of_all(monkeypatch):
    problem = mm_problem((24, 20, 16), dsp="40")
    name, span = next(iter(problem.intervals.items()))
    ranges = {"one": lambda _: {name: (2.0, 9.0)}, "two": lambda _: {name: (1.0, 7.0)}}
    monkeypatch.setattr("ithaca.solver.combination.RANGES", ranges)
    assert span.low <= 2
    assert span.high >= 7
    assert quantity_ranges(problem)[name] == (2.0, 7.0)


@pytest.mark.usefixtures("alone")
def test_without_plugins_exact_search_is_alone_and_proves_the_same():
    problem = mm_problem((12, 10, 8), dsp="40")
    assert solver_start(problem, SolveOptions(), never) == NOTHING
    answer = solve_auto(problem, SolveOptions(time_limit=60))
    assert answer.certificate.method == "exact"
    assert answer.value == answer.certificate.lower_bound == solve_enumeration(problem).value
