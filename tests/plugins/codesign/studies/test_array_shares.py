"""Limits at, below, above and between multiples of what arrays take whole shares of, against every
way to share out a device."""

import random
from fractions import Fraction
from math import inf

import pytest

from ithaca.formulations.question import Minimise
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.proof import Proof
from ithaca.plugins.codesign.studies.arrays.stages import AtBest, ResourceRange, Stages
from ithaca.solver.options import SolveOptions
from tests.plugins.codesign.studies.several_arrays import least, pipelines
from tests.plugins.codesign.studies.test_several_arrays import drawn

#: Where limits lie, in shares from a whole number of them.
PLACES = Fraction(-1, 1000), Fraction(0), Fraction(1, 1000), Fraction(1, 2)

#: With time for any of these the search begins another way than without a limit.
HOW = SolveOptions(), SolveOptions(time_limit=3600.0)


def check_limits(seed, metric, parts, tried):
    """Compare arrays that take whole shares of DSP blocks and of another resource, within limits
    on that, with enumeration; how many different answers there were."""
    designs, sequence, count, minimise = drawn(seed)
    free = designs(1e6, Fraction(10**6) if metric == "bandwidth" else None)
    each, slowest = [[p for p, _ in own] for own in free], minimise is Minimise.SLOWEST
    rows = pipelines(each, sequence, count, slowest=slowest)
    if not len(rows):
        return 0
    column = {"dsp": 0, "bram18k": 1, "bandwidth": 3}
    sizes = {
        n: Fraction(round(float(rows[:, column[n]].max()), 3)) / parts for n in ("dsp", metric)
    }
    floats = {name: float(size) for name, size in sizes.items()}
    rows = pipelines(each, sequence, count, slowest=slowest, shares=floats)
    places = [sizes[metric] * (n + place) for n in range(parts + 1) for place in PLACES]
    values = set()
    for limit in random.Random(seed).sample([n for n in places if n >= 0], tried):
        most = dict.fromkeys(column, inf) | {metric: float(limit) * (1 + 1e-9)}
        truth = least(rows, most["bram18k"], most["bandwidth"], most["dsp"])
        values.add(truth)
        within = [[(problem.within({metric: limit}), n) for problem, n in own] for own in free]
        for options in HOW:
            setting = (within, sequence, count, minimise, options)
            outcome = PipelineSearch(*setting, shares=sizes).run()
            case = seed, metric, parts, limit, options.time_limit, truth
            assert (outcome.value, outcome.infeasible) == (truth, truth is None), case
            assert outcome.lower_bound == truth, case
        assert Proof(*setting, sizes).holds(truth), case
    return len(values)


@pytest.mark.parametrize(("seed", "metric"), [(1, "dsp"), (10, "bram18k")])
def test_limits_around_shares_equal_enumeration(seed, metric):
    assert check_limits(seed, metric, 3, 4) > 1


@pytest.mark.parametrize("metric", ["dsp", "bram18k"])
def test_limits_around_many_shares_equal_enumeration(metric):
    seeds = range(4000, 4012)
    assert sum(check_limits(seed, metric, 2 + seed % 4, 5) for seed in seeds) > 20


def test_bandwidth_around_shares_equals_enumeration():
    assert sum(check_limits(seed, "bandwidth", 3, 4) for seed in (1, 2, 3)) > 4


def test_stages_have_all_that_is_left_of_what_suffices():
    # a part of it by needs would be nothing for one that needs none, again and again
    search = object.__new__(Stages)
    search._most = (20, 1000)
    one = ResourceRange(0, (6, 279), (10, 1000), 161.0, AtBest(Fraction(161), (9, 5), ()))
    other = ResourceRange(1, (12, 0), (14, 1000), 133.0, AtBest(Fraction(133), (14, 17), ()))
    assert search._shared_out([one, other]) == [(7, 1000), (12, 721)]
