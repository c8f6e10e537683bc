"""The cost model against published and measured points, and against itself by symmetry."""

import pickle
from fractions import Fraction
from numbers import Rational

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import METRICS, metric_values
from ithaca.formulations.systolic.tiling import Tiling
from tests.problems import MM_DATAFLOWS, costs_at, mm_points, mm_problem, mm_tiling
from tests.whole_spaces import some_row, tables_of


@pytest.mark.parametrize(
    ("t1", "t2", "simd", "drain_pack", "latency"),
    [
        ((64, 128, 128), (16, 4), 8, 4, "1052673"),
        ((129, 130, 64), (3, 13), 4, 4, "644713.5"),
        ((129, 205, 64), (3, 41), 8, 4, "637832.25"),
    ],
)
def test_published_points(t1, t2, simd, drain_pack, latency):
    problem = mm_problem((1024, 1024, 1024), edition="odyssey")
    costs = costs_at(
        problem, mm_tiling(systolic(problem).array, t1, t2, simd, A=16, B=16, C_drain=drain_pack)
    )
    assert costs.latency == Fraction(latency)


def test_a_measured_board():
    problem = mm_problem((1040, 1024, 1024))
    costs = costs_at(
        problem,
        mm_tiling(systolic(problem).array, (260, 256, 512), (20, 16), 8, A=16, B=16, C_drain=4),
    )
    assert costs.latency == 680353  # measured: 697,071


@pytest.mark.parametrize("edition", ["exact", "odyssey"])
@pytest.mark.parametrize(
    ("dataflow", "twin"), [("j", "i"), ("j,k", "i,k"), ("k", "k"), ("i,j", "i,j")]
)
@pytest.mark.parametrize(("permutation", "other"), [("A", "B"), ("B", "A"), ("C", "C")])
@settings(max_examples=10)
@given(
    extents=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    lanes=st.integers(1, 4),
    hidden=st.integers(1, 4),
    simd=st.sampled_from([1, 2, 4]),
    lanes_k=st.integers(1, 6),
    pack=st.sampled_from([1, 2, 4]),
)
def test_exchanging_rows_and_columns_of_the_result_changes_nothing(
    edition,
    dataflow,
    twin,
    permutation,
    other,
    extents,
    lanes,
    hidden,
    simd,
    lanes_k,
    pack,
):
    """C = A·Bᵀ and Cᵀ = B·Aᵀ are the same work: i and j, A and B change places.

    It carries the golden designs over to [j] and [j,k], which `golden/` does not hold. Only one
    thing may differ: C is laid out by rows, so bursts to an unserialized C are as long as the
    tile's last dimension.
    """
    n, k = extents
    factors = ((hidden * lanes, hidden * lanes, simd * lanes_k), (hidden, hidden), simd)
    packs = {"A": simd, "B": simd, "C": pack, "C_drain": pack}

    def costs(dataflow, permutation):
        problem = mm_problem((n, n, k), tuple(dataflow.split(",")), permutation, edition)
        return systolic(problem).array, costs_at(
            problem, mm_tiling(systolic(problem).array, *factors, **packs)
        )

    array, here = costs(dataflow, permutation)
    _, there = costs(twin, other)
    assert (here.dsp, here.bram18k, here.pe) == (there.dsp, there.bram18k, there.pe)
    swap = {"A": "B", "B": "A", "C": "C"}
    assert here.words == {swap[name]: words for name, words in there.words.items()}
    bursts = {m.name for g, m in array.modules if g.tensor == "C" and m.dram and not m.serialized}
    for name, cost in here.modules.items():
        if name not in bursts:
            assert cost == there.modules[swap[name[0]] + name[1:]]
    if not bursts:
        assert metric_values(here) == metric_values(there)


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_a_run_moves_at_least_every_word_once(dataflow):
    problem = mm_problem((64, 32, 16), dataflow)
    tiling = Tiling(
        {"i": 64, "j": 32, "k": 16},
        {"i": 8, "j": 8},
        1,
        {g.name: 1 for g in systolic(problem).array.packed_groups},
    )
    costs = costs_at(problem, tiling)
    assert costs.words == {"A": 64 * 16, "B": 32 * 16, "C": 64 * 32}


@given(mm_points())
def test_latency_is_its_three_parts(point):
    problem, configuration = point
    metrics = problem.metrics(configuration)
    assert set(metrics) == set(METRICS) - {"area", "uram", "lut", "lutram", "ff"}  # known elsewhere
    assert metrics["latency"] == metrics["prologue"] + metrics["main"] + metrics["epilogue"]
    assert all(isinstance(v, Rational) and v > 0 for v in metrics.values())


def test_costs_of_a_configuration_are_evaluated_once_in_a_process(monkeypatch):
    problem = mm_problem((8, 8, 8))
    configuration = Configuration(some_row(tables_of(problem.space), lambda count: 0))
    evaluations = []
    monkeypatch.setattr(
        "ithaca.formulations.systolic.design.evaluate",
        lambda *at: evaluations.append(at) or evaluate(*at),
    )
    design = problem.design
    again = [design.costs(configuration), design.costs(dict(configuration))]
    assert again[0] is again[1]
    assert problem.metrics(configuration)["latency"] == again[0].latency
    assert len(evaluations) == 1
    pickle.loads(pickle.dumps(design)).costs(configuration)  # a copy is no larger for it
    assert len(evaluations) == 2
