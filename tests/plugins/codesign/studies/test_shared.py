"""One array for several layers, and several arrays for one network, against full enumeration."""

from fractions import Fraction
from functools import partial

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.design import SpaceOptions, fixed, systolic
from ithaca.plugins.codesign.studies.arrays.common import common_designs
from ithaca.plugins.codesign.studies.arrays.layer import buffer_words
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.plugins.codesign.workloads.folding import fold
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, Network
from tests.plugins.codesign.studies.several_arrays import least, pipelines
from tests.problems import array_question, mm_problem

SIZES = ((6, 4, 8), (4, 9, 4))


def layers(dsp, bram18k):
    """Small matrix multiplications in int8, on one design, without padding: that keeps enumeration
    short."""
    space = SpaceOptions(divisors_only=True)
    return tuple(mm_problem(s, dsp=dsp, bram18k=bram18k, dtype="int8", space=space) for s in SIZES)


def test_repeated_layers_may_be_cut_apart():
    problems = [mm_problem(s, dsp="200", bram18k="900") for s in ((48, 32, 32), (16, 40, 24))]
    designs = [[(p, 1) for p in problems]]
    one, two = (
        PipelineSearch(designs, (0, 0, 1), n, Minimise.SLOWEST, SolveOptions()).run()
        for n in (1, 2)
    )
    shared = SharedSearch([[(problems[0], 2), (problems[1], 1)]], SolveOptions()).run()
    assert shared.value is not None
    assert one.value == one.lower_bound == shared.value == shared.lower_bound
    assert two.value == two.lower_bound
    assert two.value < one.value


def total(problems, bram18k):
    """The least total latency of layers on one array, of all within some block RAM."""
    rows = pipelines([problems], range(len(problems)), 1, slowest=False)
    return least(rows, float(bram18k))


def mixed(dsp, bram18k, *, dataflow):
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


CASES = [(layers, *limits) for limits in (("4", "12"), ("3", "30"), ("6", "9"), ("2", "8"))]
CASES += [
    (partial(mixed, dataflow=tuple(dataflow)), "4", bram18k)
    for dataflow, bram18k in (
        ("or", "100"),
        ("or", "9"),
        ("oc", "5"),
        ("rc", "7"),
        ("ri", "11"),
        ("r", "10"),
    )
]


@pytest.mark.parametrize(("posed", "dsp", "bram18k"), CASES)
def test_a_shared_array_equals_full_enumeration(posed, dsp, bram18k):
    problems = posed(dsp, bram18k)
    truth = total(problems, bram18k)
    outcome = SharedSearch([[(problem, 1) for problem in problems]], SolveOptions()).run()
    if truth is None:
        assert outcome.value is None
        assert outcome.lower_bound is None
        return
    check_joint(outcome.stages[0].joint, problems)
    # the bound allows each layer the whole memory; only where it meets the value is the value
    # proven
    assert outcome.lower_bound <= truth <= outcome.value
    assert outcome.value <= truth * Fraction(12, 10)


def check_joint(joint, problems):
    """Configurations on one array: each legal on it, within its buffers, with the value it
    claims."""
    values = []
    for problem, configuration in zip(problems, joint.configurations, strict=True):
        shared = problem.with_design(hardware=fixed(joint.hardware))
        assert shared.space.contains(configuration)
        assert shared.feasible_value(configuration) is not None
        assert all(
            words <= joint.hardware[name]
            for name, words in buffer_words(problem, configuration).items()
        )
        values.append(shared.value(configuration))
    assert joint.values == tuple(values)


def test_generous_memory_is_proven():
    problems = layers("4", "200")
    outcome = SharedSearch([[(problem, 2) for problem in problems]], SolveOptions()).run()
    assert outcome.value is not None
    assert outcome.value == outcome.lower_bound == 2 * (total(problems, "200") or 0)


def test_a_layer_alone_has_its_own_optimum():
    problem = mm_problem((40, 24, 32), dsp="300", bram18k="100")
    outcome = SharedSearch([[(problem, 1)]], SolveOptions()).run()
    assert outcome.value is not None
    assert outcome.value == outcome.lower_bound == solve_exact(problem).value


@pytest.mark.parametrize("minimise", list(Minimise))
@pytest.mark.parametrize(
    ("dsp", "bram18k"), [("6", "200"), ("5", "26"), ("5", "20"), ("4", "16"), ("6", "34")]
)
def test_a_pipeline_equals_full_enumeration(minimise, dsp, bram18k):
    problems = layers(dsp, bram18k)
    outcome = PipelineSearch(
        [[(p, 1) for p in problems]], (0, 1), 2, minimise, SolveOptions()
    ).run()
    rows = pipelines([problems], (0, 1), 2, slowest=minimise is Minimise.SLOWEST)
    assert outcome.value is not None
    assert outcome.lower_bound is not None
    assert outcome.lower_bound == outcome.value == least(rows, float(bram18k))
    used = [Fraction(0), Fraction(0)]
    for stage in outcome.stages:
        check_joint(stage.joint, problems[stage.first : stage.end])
        shared = problems[stage.first].with_design(hardware=fixed(stage.joint.hardware))
        costs = systolic(shared).costs(stage.joint.configurations[0])
        used = [used[0] + costs.dsp, used[1] + costs.bram18k]
    assert used[0] <= Fraction(dsp)
    assert used[1] <= Fraction(bram18k)
    assert [s.first for s in outcome.stages][1:] == [s.end for s in outcome.stages][:-1]


def test_limits_that_layers_decide_are_refused():
    problem = mm_problem((8, 8, 8), more_limits=(Limit("energy", Fraction(10**9)),))
    with pytest.raises(InputError, match="does not bound an array that layers share"):
        SharedSearch([[(problem, 1)]], SolveOptions())
    with pytest.raises(InputError, match="no other limits"):
        PipelineSearch([[(problem, 1)]], (0,), 2, Minimise.SLOWEST, SolveOptions())
