"""Searches of hardware: on budgets, against all accelerators, and the trail of explained search on
a toy, step by step."""

from fractions import Fraction
from importlib.util import find_spec

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.accelerator import Work
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies.codesign import codesign
from ithaca.plugins.codesign.studies.evaluator import HardwareEvaluator, SearchOverError
from ithaca.plugins.codesign.studies.explained import LAYERS
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.methods import HARDWARE_SEARCHES, search_hardware
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.plugins.codesign.studies.toy import brute_force, random_question

#: Methods that know accelerators by what they cost, and what each needs.
BLIND = [
    name
    for name, library in (("random", "numpy"), ("nsga2", "pymoo"), ("tpe", "optuna"))
    if name in HARDWARE_SEARCHES and find_spec(library)
]

#: Four multipliers behind a buffer: words, words a cycle and multipliers are to be chosen within an
#: area.
TOY = """
name: toy
architecture:
  nodes:
    - !Component {name: DRAM, class: DRAM, attributes: {word_bits: 16, read_energy: 100, write_energy: 100, read_bandwidth: 1}}
    - !Component {name: Buffer, class: SRAM, attributes: {word_bits: 16, entries: 8, read_energy: 5, write_energy: 5}}
    - !Container {name: PE, spatial: {meshX: 1, meshY: 1}}
    - !Component {name: mac, class: intmac, attributes: {energy: 1}}
divisors_only: true
quantities: {buffer: {powers_of_two: [8, 64]}, bandwidth: {powers_of_two: [1, 8]}, lanes: {values: [1, 2, 4]}}
figures: {Buffer.words: buffer, DRAM.read_bandwidth: bandwidth, mac.mesh_x: lanes}
costs: {area: {of: buffer + 4*bandwidth + 8*lanes, unit: mm²}}
"""


TRAIL = """
begin with buffer 8, bandwidth 1, lanes 1: latency 1,024; of the limits area 25.0 %, latency 341.3 %
step 1: mm (100.0 %): latency › computation binds: mac.mesh_x 1 → more, lanes = 2
step 1: mm (100.0 %): latency › DRAM reads › DRAM A reads binds: DRAM.read_bandwidth 1 → more, bandwidth = 2
step 1: mm (100.0 %): latency › DRAM reads › DRAM A reads binds: Buffer.words 8 → 26, buffer = 32
step 1: try buffer 32, bandwidth 2, lanes 2: latency 512; of the limits area 70.0 %, latency 170.7 %
step 1: go on with buffer 32, bandwidth 2, lanes 2
step 2: mm (100.0 %): latency › computation binds, 1.33 times the next: mac.mesh_x 2 → 2.6667, lanes = 4
step 2: try lanes 4: latency 256; of the limits area 90.0 %, latency 85.3 %
step 2: go on with buffer 32, bandwidth 2, lanes 4
step 3: mm (100.0 %): latency › DRAM reads › DRAM A reads binds: DRAM.read_bandwidth 2 → more, bandwidth = 4
step 3: mm (100.0 %): latency › DRAM reads › DRAM A reads binds: Buffer.words 32 → 56, buffer = 64
step 3: try bandwidth 4: latency 256; of the limits area 100.0 %, latency 85.3 %
step 3: try buffer 64: too large by itself
step 3: try buffer 64, bandwidth 4: too large by itself
step 3: nothing tried is better; the search ends
"""


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "toy.yaml"
    path.write_text(TOY)
    return find_space(str(path))


def product_of(i, j, k, name="mm"):
    output, inputs = parse_statement("C[i][j] += A[i][k] * B[k][j]")
    return Work(
        name,
        LoopNest(name, (("i", i), ("j", j), ("k", k)), output, inputs, simd="k"),
        workload="toy",
    )


def asked(space, *works, objective="latency", **limits):
    return make_question(
        space, works, [objective], {name: Fraction(bound) for name, bound in limits.items()}
    )


@pytest.mark.parametrize("name", BLIND)
@pytest.mark.parametrize("seed", range(4))
def test_what_methods_find_is_what_enumeration_says(name, seed):
    question = random_question(seed)
    if sum(bool(amount.shares) for amount in question.minimised) > 1:
        with pytest.raises(
            InputError, match="allowed with a search method: one that depends on mappings"
        ):
            search_hardware(name, question, LayerCache(question.space.accelerator), 5)
        return
    bank, best = LayerCache(question.space.accelerator), sorted(brute_force(question))
    short, long = (search_hardware(name, question, bank, trials, seed=3) for trials in (4, 80))
    assert len(short.evaluations) <= 4
    assert [e.point for e in short.evaluations] == [
        e.point for e in long.evaluations[: len(short.evaluations)]
    ]
    points = [each.point for each in long.evaluations]
    assert len(set(points)) == len(points) <= question.space.box.count
    assert all(
        any(all(a <= b for a, b in zip(x, y, strict=True)) for x in best) for y in long.front()
    )
    if (
        name == "random"
        and question.space.box.count <= 80
        and not any(amount.shares and amount.bound is not None for amount in question.limited)
    ):
        assert long.front() == best


def test_explained_search_relieves_what_binds_step_by_step(space):
    """1,024 multiplications at one a cycle, and 1,024 words at one a cycle: both bind, so that no
    single change helps.

    Then multipliers take 512 cycles, 4/3 of what 768 words take at two a cycle: 8/3 lanes, which
    the space rounds up to 4.
    """
    question, bank = (
        asked(space, product_of(8, 8, 16), area=80, latency=300),
        LayerCache(space.accelerator),
    )
    trace = search_hardware("explained", question, bank, 40)
    assert list(trace.trail) == TRAIL.strip().splitlines()
    assert len(trace.evaluations) == 6
    proven = codesign(question, bank=bank)
    assert trace.best() is not None
    assert (trace.best().value, trace.best().point) == (
        proven.best.values[0],
        {"buffer": 32, "bandwidth": 2, "lanes": 4},
    )


def test_the_incumbent_weighs_the_objective_with_the_use_of_budgets(space):
    """Half the latency for more than twice the mean share of the budgets is no progress; without
    budgets it is."""
    work, bank = product_of(8, 8, 16), LayerCache(space.accelerator)
    bounded = search_hardware("explained", asked(space, work, area=80), bank, 40)
    assert bounded.trail[-1] == "step 1: nothing tried is better; the search ends"
    assert bounded.evaluations[-1].value == 512
    free = search_hardware("explained", asked(space, work), bank, 40).best()
    assert free.value == 256


def test_only_the_layers_that_count_are_relieved(space):
    """Five of the six large layers are relieved; the small one is below half a seventh."""
    works = [product_of(8, 8, 16, f"large{n}") for n in range(6)] + [product_of(2, 2, 2, "small")]
    trace = search_hardware("explained", asked(space, *works), LayerCache(space.accelerator), 3)
    named = {line.split(": ")[1].split(" ")[0] for line in trace.trail if " binds" in line}
    assert named == {f"large{n}" for n in range(LAYERS)}


def test_the_trials_are_never_exceeded(space):
    question = asked(space, product_of(4, 4, 4))
    evaluator = HardwareEvaluator(question, LayerCache(space.accelerator), 2)
    first, second, third = (
        Configuration({"buffer": 8, "bandwidth": b, "lanes": 1}) for b in (1, 2, 4)
    )
    assert evaluator.evaluate(first) is evaluator.evaluate(first)
    evaluator.evaluate(second)
    with pytest.raises(SearchOverError):
        evaluator.evaluate(third)


@pytest.mark.parametrize(
    ("name", "trials", "line"),
    [
        ("luck", 5, "--method is 'luck'; allowed: random, explained, nsga2, tpe, gp"),
        ("random", 0, "--trials is 0; allowed: at least 1"),
    ],
)
def test_what_is_no_search_is_refused(space, name, trials, line):
    with pytest.raises(InputError) as refused:
        search_hardware(
            name, asked(space, product_of(4, 4, 4)), LayerCache(space.accelerator), trials
        )
    assert str(refused.value) == line
