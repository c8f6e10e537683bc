"""Fusing on several arrays against every choice of what stays on chip, every cut and every array of
random small chains."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.plugins.codesign.studies.arrays.arrays import on_arrays, several
from ithaca.plugins.codesign.studies.arrays.common import common_designs
from ithaca.plugins.codesign.studies.arrays.fused import solve_fused_multi_array
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, LayerRun, Network, merge
from tests.plugins.codesign.studies.several_arrays import least, pipelines
from tests.problems import array_question

OBJECTIVES = "off_chip_words", "latency", "off_chip_words + latency"


def drawn(seed):
    """A chain of products, and what is asked of arrays for it."""
    pick = random.Random(seed)
    runs = []
    for number in range(pick.choice([2, 2, 3])):
        sizes = {loop: pick.choice([2, 3, 4, 6]) for loop in "ijk"}
        count = pick.choice([1, 1, 1, 1, 2])
        follows = number > 0 and pick.random() < 0.8
        runs.append(LayerRun(f"l{number}", workload("mm", sizes), count, follows))
    data, macs = data_type(pick.choice(["fp32", "int8"])), pick.choice([2, 3, 4])
    limits = [
        Limit("dsp", macs * data.dsp(2)),
        Limit("bram18k", Fraction(pick.choice([25, 40, 60, 80, 120]))),
        Limit("bandwidth", Fraction(pick.choice([1, 2, 4, 100]))),
    ]
    request = array_question(
        data,
        limits,
        pick.choice(OBJECTIVES),
        dataflow=tuple(pick.choice(["i", "i,j", "j"]).split(",")),
        space=SpaceOptions(divisors_only=True),
        arrays=pick.choice([1, 2, 2]),
        minimise=pick.choice(list(Minimise)),
    )
    return tuple(runs), request


def every_choice(runs, request):
    """The least over all choices of what stays on chip, all cuts and all arrays."""
    layers = tuple(Layer(run.source, run.nest, 1, (run.source,)) for run in runs)
    designs = common_designs(Network("every", layers), request, "multi-array")
    sequence = [number for number, run in enumerate(runs) for _ in range(run.count)]
    bounds, found = {limit.metric: float(limit.bound) for limit in request.limits}, []
    for choice in product(*((False, True) if run.follows else (False,) for run in runs)):
        kept = []
        for number, run in enumerate(runs):
            own = []
            if choice[number]:
                before = runs[number - 1]
                words = before.count * before.nest.sizes["i"] * before.nest.sizes["j"]
                own.append(("A", words))
            if choice[number + 1 : number + 2] == (True,):
                own.append(("C", run.count * run.nest.sizes["i"] * run.nest.sizes["j"]))
            kept.append(tuple(own))
        each = [
            [p.with_design(kept=own) for p, own in zip(design, kept, strict=True)]
            for design in designs
        ]
        slowest = request.minimise is Minimise.SLOWEST
        rows = pipelines(each, sequence, request.arrays, slowest=slowest)
        best = least(rows, bounds["bram18k"], bounds["bandwidth"] if slowest else inf)
        found += [] if best is None else [best]
    return min(found, default=None)


def solved(runs, request):
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in runs)
    network = Network("chain", layers, order=runs, unordered="")
    return solve_fused_multi_array(network, request, RunOptions())


def check(seed):
    """Compare a random chain with enumeration; whether its optimum is proven."""
    runs, request = drawn(seed)
    truth, result = every_choice(runs, request), solved(runs, request)
    value, proof = result.total.value, result.total.certificate
    case = (seed, truth, value, proof)
    if truth is None:
        assert value is None, case
        return proof.status is Status.INFEASIBLE
    assert proof.lower_bound is not None, case
    assert proof.lower_bound <= truth, case
    assert value is None or truth <= value, case
    without = result.fusing.without.value
    assert value is None or without is None or value <= without, case
    return proof.status is Status.OPTIMAL


#: Seeds of chains for which there are arrays, of which the optimum keeps something but in three.
FEW = (4, 6, 12, 13, 14, 18, 28, 40)


@pytest.mark.parametrize("seed", FEW)
def test_the_total_is_the_least_of_all_choices_cuts_and_arrays(seed):
    assert check(seed)


@pytest.mark.parametrize("begin", range(100, 160, 10))
def test_the_total_is_the_least_on_many_chains(begin):
    assert sum(check(seed) for seed in range(begin, begin + 10)) >= 9


def test_a_rival_between_steps_hides_nothing():
    runs, request = drawn(14)
    layers = tuple(Layer(run.source, run.nest, 1, (run.source,)) for run in runs)
    designs, sequence = on_arrays(Network("rivals", layers), request, "multi-array")
    best = several((designs, sequence), request, SolveOptions(), RunOptions()).value
    for more in (Fraction(1, 7), Fraction(0)):
        search = several((designs, sequence), request, SolveOptions(), RunOptions(), best + more)
        assert search.value == best
        assert bool(search.stages) == (more > 0)
        assert search.lower_bound == best


def test_an_edge_without_room_is_said_so():
    runs = tuple(
        LayerRun(f"l{n}", workload("mm", {"i": 64, "j": 64, "k": 64}), 1, n > 0) for n in range(2)
    )
    _, request = drawn(4)
    limits = {**request.bounds, "bram18k": Fraction(14)}  # 64 bytes take 15 blocks
    result = solved(runs, replace(request, bounds=limits))
    assert [edge.fits for edge in result.fusing.edges] == [False]


@pytest.mark.parametrize("objective", ["off_chip_words - latency", "latency - off_chip_words"])
def test_objectives_that_more_traffic_may_be_good_for_are_refused(objective):
    runs, request = drawn(4)
    with pytest.raises(InputError, match="on several arrays; allowed: what grows with"):
        solved(runs, replace(request, objective=parse_objective(objective)))
