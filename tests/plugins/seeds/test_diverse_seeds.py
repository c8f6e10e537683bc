"""Seeds that are chosen: the optimum first, then others that are feasible and far from each other."""

import time
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.unreachable import exceeded
from ithaca.plugins.seeds.exports.diverse import diverse_configurations
from ithaca.plugins.seeds.exports.parameters import (
    parameter_space,
)
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from tests.plugins.seeds.test_seeds import SMALL, conv_problem, legal
from tests.problems import mm_problem

CASES = {
    "small": mm_problem(SMALL),
    "odyssey": mm_problem(SMALL, edition="odyssey"),
    "one dimension": mm_problem((24, 20, 16), ("k",)),
    "unbuildable": mm_problem((12, 20, 16), ("i", "k"), "A"),
    "one PE": mm_problem(SMALL, dsp="5"),
    "one iteration": mm_problem((1, 1, 1)),
    "int8": mm_problem((24, 24, 24), dtype="int8", dsp="20"),
    "two lanes": mm_problem((24, 24, 24), space=SpaceOptions(min_lanes=2)),
    "divisors": mm_problem((24, 36, 48), space=SpaceOptions(divisors_only=True)),
    "traffic": mm_problem((24, 20, 16), objective="off_chip_words", bram18k="60"),
    "negative objective": mm_problem((24, 20, 16), objective="-comp", dsp="120"),
    "layer": conv_problem(("o", "r")),
    "reduction in space": conv_problem(("o", "i")),
}


@pytest.mark.parametrize("case", CASES)
def test_seeds_begin_with_the_optimum_and_are_feasible_distinct_and_sorted(case):
    problem = CASES[case]
    space = parameter_space(problem)
    diverse = diverse_configurations(problem, 4, seed=3)
    assert len(diverse) == 4
    assert len({tuple(space.vector(one)) for one in diverse}) == 4
    values = []
    for configuration in diverse:
        assert space.problem.space.contains(configuration)
        if systolic(problem).array.edition is Edition.EXACT:
            assert legal(problem, configuration)
        assert not exceeded(problem.limits, problem.metrics(configuration))
        assert bool(systolic(problem).costs(configuration).meets_bounds)
        values.append(problem.value(configuration))
    assert values == sorted(values)
    assert values[0] == solve_exact(problem).value


def test_the_seed_of_the_random_numbers_decides():
    problem = mm_problem((12, 10, 8))
    assert diverse_configurations(problem, 6, seed=1) == diverse_configurations(problem, 6, seed=1)
    assert diverse_configurations(problem, 6, seed=1) != diverse_configurations(problem, 6, seed=2)
    assert diverse_configurations(problem, 1) == (solve_exact(problem).configuration,)


def test_seeds_spread(seeds):
    """Seeds leave one corner of the space: several SIMD factors, lane counts, tile sizes."""
    for quantity in ("t2.k", "lanes.i", "t1.i", "lanes.j", "t1.j"):
        assert len({configuration[quantity] for configuration in seeds.configurations}) >= 3


def test_known_configurations_come_first_and_must_be_feasible(seeds):
    problem = seeds.space.problem
    known = (seeds.configurations[5], seeds.configurations[2])
    grown = diverse_configurations(problem, 6, known=known)
    assert grown[:2] == known
    assert len(grown) == 6
    assert diverse_configurations(problem, 1, known=known) == known[:1]
    assert diverse_configurations(problem, 3, known=known[:1] * 2)[:1] == known[:1]
    tight = replace(problem, limits=(Limit("dsp", Fraction(1)),))
    with pytest.raises(InputError, match="not feasible"):
        diverse_configurations(tight, 2, known=known)
    odd = Configuration({**known[0], "pack.A": 64})
    with pytest.raises(InputError, match="not feasible"):
        diverse_configurations(problem, 2, known=(odd,))


def test_a_time_limit_holds_for_all_of_it(seeds, monkeypatch):
    problem, (best, *_) = seeds.space.problem, seeds.configurations
    calls = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(calls)))
    grown = diverse_configurations(problem, 8, options=SolveOptions(time_limit=30), known=(best,))
    assert grown[0] == best
    assert next(calls) < 60
    monkeypatch.undo()
    assert len(diverse_configurations(problem, 8, known=(best,))) == 8


def test_no_feasible_tiling_gives_no_seeds():
    assert diverse_configurations(mm_problem(SMALL, dsp="4"), 5) == ()


def test_all_are_found_where_few_exist():
    """A limit that only a few configurations meet: compare with counting them all."""
    problem = mm_problem((2, 2, 2), dsp="5", bram18k="8")
    optimum = solve_exact(problem).value
    assert optimum is not None
    few = replace(problem, limits=(*problem.limits, Limit("latency", optimum)))
    exist = count_feasible(few)
    diverse = diverse_configurations(few, exist + 10)
    assert 0 < exist <= 200
    assert len(diverse) == exist


def count_feasible(problem):
    """The number of configurations of a tiny problem that meet its limits, among all of them."""
    tables = [axis.table() for axis in problem.space.axes]
    grids = np.meshgrid(*(np.arange(next(iter(t.values())).size) for t in tables), indexing="ij")
    values = {}
    for table, grid in zip(tables, grids, strict=True):
        values |= {name: column[grid.ravel()] for name, column in table.items()}
    costs = systolic(problem).costs(values, NUMPY)
    kept = costs.accumulation >= 0
    for limit in problem.limits:
        kept &= getattr(costs, limit.metric) <= float(limit.bound)
    return int(kept.sum())


def test_a_stopped_search_returns_what_it_has(seeds):
    problem = seeds.space.problem
    stopped = SolveOptions(stop=lambda: True)
    assert (
        diverse_configurations(problem, 4, options=stopped, known=seeds.configurations[:1])
        == seeds.configurations[:1]
    )
    assert diverse_configurations(problem, 4, options=stopped) == ()
