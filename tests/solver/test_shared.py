"""One array for several layers, and several arrays for one network, against full enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import ceil
from typing import Any

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import SpaceOptions, fixed, systolic
from ithaca.formulations.systolic.quantities import ACCUMULATORS
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.studies.families.systolic.joint import Joint
from ithaca.studies.families.systolic.layer import buffer_words
from ithaca.studies.families.systolic.pipeline import PipelineSearch
from ithaca.studies.families.systolic.search import SharedSearch
from ithaca.studies.network.problems import common_designs
from ithaca.workloads.library import workload
from ithaca.workloads.networks.folding import fold
from ithaca.workloads.networks.network import Layer, Network
from tests.problems import array_question, mm_problem
from tests.solver.enumeration import packed, subset, tile_values

Hardware = tuple[int, ...]
SIZES = ((6, 4, 8), (4, 9, 4))


@cache
def layers(dsp: str, bram18k: str) -> tuple[Problem, ...]:
    """Small matrix multiplications in int8, on one design, without padding: that keeps enumeration
    short."""
    space = SpaceOptions(divisors_only=True)
    return tuple(mm_problem(s, dsp=dsp, bram18k=bram18k, dtype="int8", space=space) for s in SIZES)


def points(problem: Problem) -> dict[Hardware, list[tuple[Fraction, tuple[int, ...]]]]:
    """Every configuration of a layer by hardware: (latency, words of each buffer), the fastest of
    equal buffers."""
    array, groups = systolic(problem).array, systolic(problem).array.packed_groups
    values = tile_values(problem)
    macs = np.prod([values[name] for name in _units(problem)], axis=0)
    keep = macs * float(systolic(problem).data.dsp(2)) <= float(problem.limits[0].bound)
    found: dict[Hardware, dict[tuple[int, ...], Fraction]] = {}
    for point in packed(problem, subset(values, keep), int(keep.sum())):
        costs = evaluate(array, point, systolic(problem).data, NUMPY)
        assert array.pe.accumulators is not None
        words = {g.name: g.size.evaluate(point, NUMPY) for g in groups} | {
            ACCUMULATORS: array.pe.accumulators.evaluate(point, NUMPY)
        }
        hardware = [point[n] for n in (*_units(problem), *(f"pack.{g.name}" for g in groups))]
        columns = np.stack([*hardware, *(words[name] for name in sorted(words))])[
            :, costs.accumulation >= 0
        ].T
        for column, latency in zip(
            columns.tolist(), costs.latency[costs.accumulation >= 0].tolist(), strict=True
        ):
            own = found.setdefault(tuple(column[: len(hardware)]), {})
            key = tuple(column[len(hardware) :])
            own[key] = min(own.get(key, Fraction(latency)), Fraction(latency))
    return {
        hardware: _not_dominated([(latency, *words) for words, latency in own.items()])
        for hardware, own in found.items()
    }


def _units(problem: Problem) -> tuple[str, ...]:
    """The quantities whose product is the number of MAC units."""
    array = systolic(problem).array
    return (*(f"lanes.{loop}" for loop in array.dataflow), f"t2.{array.simd_loop}")


def _not_dominated(options: list[tuple[Any, ...]]) -> list[tuple[Fraction, tuple[int, ...]]]:
    kept: list[tuple[Any, ...]] = []
    for option in sorted(options):
        if not any(all(x <= y for x, y in zip(k, option, strict=True)) for k in kept):
            kept.append(option)
    return [(latency, words) for latency, *words in kept]  # type: ignore[misc]


def blocks(problem: Problem, hardware: Hardware, words: tuple[int, ...]) -> Fraction:
    """Block RAM of an array with such buffers."""
    names = sorted([ACCUMULATORS, *(g.name for g in systolic(problem).array.packed_groups)])
    array, units = systolic(problem).array, len(_units(problem))
    packs = {g.name: p for g, p in zip(array.packed_groups, hardware[units:], strict=True)}
    loops = dict.fromkeys(array.band, 1) | dict(
        zip((*array.dataflow, array.simd_loop), hardware, strict=False)
    )
    one = Tiling(loops, dict.fromkeys(array.latency_hiding_loops, 1), hardware[units - 1], packs)
    values = one.quantities(systolic(problem).array, systolic(problem).nest.sizes)
    values = {
        **values,
        **{f"buffer.{name}": Fraction(n) for name, n in zip(names, words, strict=True)},
    }
    return evaluate(systolic(problem).array, values, systolic(problem).data, FRACTION).bram18k  # type: ignore[no-any-return]


@pytest.mark.slow
def test_repeated_layers_may_be_cut_apart() -> None:
    problems = [mm_problem(s, dsp="200", bram18k="900") for s in ((48, 32, 32), (16, 40, 24))]
    designs = [[(p, 1) for p in problems]]
    one, two = (
        PipelineSearch(designs, (0, 0, 1), n, Minimise.SLOWEST, SolveOptions()).run()
        for n in (1, 2)
    )
    shared = SharedSearch([[(problems[0], 2), (problems[1], 1)]], SolveOptions()).run()
    assert shared.value is not None
    assert one.value == one.lower_bound == shared.value == shared.lower_bound
    assert two.value is not None
    assert one.value is not None
    assert two.value == two.lower_bound
    assert two.value < one.value


@cache
def arrays(problems: tuple[Problem, ...]) -> dict[Hardware, dict[Fraction, Fraction]]:
    """By hardware the least total latency of the layers for every amount of block RAM."""
    each = [points(problem) for problem in problems]
    found: dict[Hardware, dict[Fraction, Fraction]] = {}
    for hardware in set.intersection(*(set(e) for e in each)):
        for chosen in product(*(e[hardware] for e in each)):
            words = tuple(max(sizes) for sizes in zip(*(w for _, w in chosen), strict=True))
            used = blocks(problems[0], hardware, words)
            total = sum((latency for latency, _ in chosen), start=Fraction(0))
            own = found.setdefault(hardware, {})
            own[used] = min(own.get(used, total), total)
    return found


@cache
def mixed(dsp: str, bram18k: str, dataflow: tuple[str, ...]) -> tuple[Problem, ...]:
    """A small convolution and a matrix product folded into one, on one design; as `layers`."""
    image = Layer(
        "image",
        workload("conv2d", {"o": 4, "r": 4, "c": 2, "i": 4, "p": 2, "q": 2, "s": 1, "d": 1}),
        1,
        ("image",),
    )
    dense = Layer("dense", workload("mm", {"i": 2, "j": 6, "k": 8}), 1, ("dense",))
    limits = (Limit("dsp", Fraction(dsp)), Limit("bram18k", Fraction(bram18k)))
    request = array_question(
        data_type("int8"), limits, dataflow=dataflow, space=SpaceOptions(divisors_only=True)
    )
    (design,) = common_designs(fold(Network("mixed", (image, dense))), request, "shared-array")
    return design


CASES = [
    (layers(*limits), limits[1]) for limits in (("4", "12"), ("3", "30"), ("6", "9"), ("2", "8"))
]
CASES += [
    (mixed("4", bram18k, dataflow), bram18k)
    for dataflow, bram18k in (
        (("o", "r"), "100"),
        (("o", "r"), "9"),
        (("o", "c"), "5"),
        (("r", "c"), "7"),
        (("r", "i"), "11"),
        (("r",), "10"),
    )
]


@pytest.mark.slow(every=3)
@pytest.mark.ci(every=20)
@pytest.mark.parametrize(("problems", "bram18k"), CASES)
def test_a_shared_array_equals_full_enumeration(
    problems: tuple[Problem, ...], bram18k: str
) -> None:
    every = [
        t
        for own in arrays(problems).values()
        for used, t in own.items()
        if used <= Fraction(bram18k)
    ]
    outcome = SharedSearch([[(problem, 1) for problem in problems]], SolveOptions()).run()
    if not every:
        assert outcome.value is None
        assert outcome.lower_bound is None
        return
    assert outcome.value is not None
    assert outcome.lower_bound is not None
    check_joint(outcome.stages[0].joint, problems)
    # the bound allows each layer the whole memory; only where it meets the value is the value
    # proven
    assert outcome.lower_bound <= min(every) <= outcome.value
    assert outcome.value <= min(every) * Fraction(12, 10)


def check_joint(joint: Joint, problems: Sequence[Problem]) -> None:
    """Configurations on one array: each legal on it, within its buffers, with the value it
    claims."""
    values = []
    for problem, configuration in zip(problems, joint.configurations, strict=True):
        shared = problem.with_design(hardware=fixed(joint.hardware))
        assert shared.space.contains(configuration)
        assert not shared.exceeded(configuration)
        assert shared.meets_conditions(configuration)
        assert all(
            words <= joint.hardware[name]
            for name, words in buffer_words(problem, configuration).items()
        )
        values.append(shared.value(configuration))
    assert joint.values == tuple(values)


@pytest.mark.ci
def test_generous_memory_is_proven() -> None:
    problems = layers("4", "200")
    outcome = SharedSearch([[(problem, 2) for problem in problems]], SolveOptions()).run()
    every = [t for own in arrays(problems).values() for used, t in own.items() if used <= 200]
    assert outcome.value is not None
    assert outcome.value == outcome.lower_bound == 2 * min(every)


def test_a_layer_alone_has_its_own_optimum() -> None:
    problem = mm_problem((40, 24, 32), dsp="300", bram18k="100")
    outcome = SharedSearch([[(problem, 1)]], SolveOptions()).run()
    assert outcome.value is not None
    assert outcome.value == outcome.lower_bound == solve_exact(problem).value


@pytest.mark.slow(every=3)
@pytest.mark.ci
@pytest.mark.parametrize("minimise", list(Minimise))
@pytest.mark.parametrize(
    ("dsp", "bram18k"), [("6", "200"), ("5", "26"), ("5", "20"), ("4", "16"), ("6", "34")]
)
def test_a_pipeline_equals_full_enumeration(minimise: Minimise, dsp: str, bram18k: str) -> None:
    problems = layers(dsp, bram18k)
    outcome = PipelineSearch(
        [[(p, 1) for p in problems]], (0, 1), 2, minimise, SolveOptions()
    ).run()
    best = min(enumerate_pipelines(problems, 2, minimise, Fraction(dsp), Fraction(bram18k)))
    assert outcome.value is not None
    assert outcome.lower_bound is not None
    assert outcome.lower_bound == best == outcome.value
    used = [Fraction(0), Fraction(0)]
    for stage in outcome.stages:
        check_joint(stage.joint, problems[stage.first : stage.end])
        shared = problems[stage.first].with_design(hardware=fixed(stage.joint.hardware))
        costs = systolic(shared).costs(stage.joint.configurations[0])
        used = [used[0] + costs.dsp, used[1] + costs.bram18k]
    assert used[0] <= Fraction(dsp)
    assert used[1] <= Fraction(bram18k)
    assert [s.first for s in outcome.stages][1:] == [s.end for s in outcome.stages][:-1]


@pytest.mark.slow(every=3)
@pytest.mark.ci
@pytest.mark.parametrize("minimise", list(Minimise))
@pytest.mark.parametrize("sizes", [("1", "4"), ("5/4", "13/3"), ("1/2", "9")])
def test_whole_shares_equal_full_enumeration(minimise: Minimise, sizes: tuple[str, str]) -> None:
    problems, share = layers("5", "26"), (Fraction(sizes[0]), Fraction(sizes[1]))
    shares = {"dsp": share[0], "bram18k": share[1]}
    designs = [[(p, 1) for p in problems]]
    outcome = PipelineSearch(designs, (0, 1), 2, minimise, SolveOptions(), shares=shares).run()
    every = enumerate_pipelines(problems, 2, minimise, Fraction(5), Fraction(26), share)
    assert outcome.value == outcome.lower_bound == min(every)


def enumerate_pipelines(
    problems: tuple[Problem, ...],
    count: int,
    minimise: Minimise,
    dsp: Fraction,
    bram18k: Fraction,
    share: tuple[Fraction, Fraction] = (Fraction(1, 2), Fraction(1)),
) -> list[Fraction]:
    """Objectives of all pipelines with up to ``count`` arrays (per stage, trade-offs that are not
    dominated)."""
    fronts: dict[tuple[int, int], list[tuple[Fraction, Fraction, Fraction]]] = {}
    for first, end in combinations(range(len(problems) + 1), 2):
        options = []
        for hardware, own in arrays(problems[first:end]).items():
            lanes = Fraction(hardware[0] * hardware[1] * hardware[2]) * systolic(
                problems[0]
            ).data.dsp(2)
            options += [(lanes, used, total) for used, total in own.items()]
        fronts[first, end] = [
            o
            for o in set(options)
            if not any(
                p != o and all(x <= y for x, y in zip(p, o, strict=True)) for p in set(options)
            )
        ]
    found = []
    for stages in range(1, count + 1):
        for cuts in combinations(range(1, len(problems)), stages - 1):
            edges = (0, *cuts, len(problems))
            for chosen in product(*(fronts[a, b] for a, b in pairwise(edges))):
                shares = [sum(ceil(c[n] / share[n]) for c in chosen) for n in range(2)]
                if shares[0] <= dsp // share[0] and shares[1] <= bram18k // share[1]:
                    times = [c[2] for c in chosen]
                    found.append(
                        max(times)
                        if minimise is Minimise.SLOWEST
                        else sum(times, start=Fraction(0))
                    )
    return found


def test_limits_that_layers_decide_are_refused() -> None:
    problem = mm_problem((8, 8, 8), more_limits=(Limit("energy", Fraction(10**9)),))
    with pytest.raises(InputError, match="does not bound an array that layers share"):
        SharedSearch([[(problem, 1)]], SolveOptions())
    with pytest.raises(InputError, match="no other limits"):
        PipelineSearch([[(problem, 1)]], (0,), 2, Minimise.SLOWEST, SolveOptions())
