"""Proofs of edition `dmazerunner` against enumeration of all tilings and all loop orders, and
published optima."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from random import Random

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture import Bursts
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.published.dmazerunner import tables
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import (
    VOCABULARY,
    DmazerunnerDesign,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
    StoredLayer,
)
from ithaca.plugins.peers.studies.methods import run_peer
from ithaca.plugins.peers.studies.recorder import Ended, SampleBudget
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.layer_files import KINDS
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

MACHINE = find_architecture("dmazerunner-256")

#: The paper's layers: batch, filters, channels, output, filter, stride, input as padded.
RESNET = {
    "conv1": (4, 64, 3, 112, 7, 2, 230),
    "conv2_2": (4, 64, 64, 56, 3, 1, 58),
    "conv3_2": (4, 128, 128, 28, 3, 1, 30),
    "conv4_2": (4, 256, 256, 14, 3, 1, 16),
    "conv5_1": (4, 512, 256, 7, 3, 2, 16),
    "conv5_2": (4, 512, 512, 7, 3, 1, 9),
}


def make_layer(kind, extents, stride=1, surplus=0):
    """A layer, with rows and columns of its input that nothing reads."""
    statement, simd = KINDS[kind]
    output, inputs = parse_statement(statement, {"S": stride} if kind != "gemm" else {})
    nest = LoopNest(kind, tuple(extents.items()), output, inputs, simd=simd)
    stored = {access.tensor: access.sides(extents) for access in nest.accesses}
    if kind != "gemm":
        stored["I"][2:] = [extent + surplus for extent in stored["I"][2:]]
    return StoredLayer(nest, tuple((tensor, tuple(sizes)) for tensor, sizes in stored.items()))


def resnet(name):
    n, m, c, o, f, stride, x = RESNET[name]
    extents = {"N": n, "M": m, "C": c, "Ox": o, "Oy": o, "Fx": f, "Fy": f}
    return make_layer("conv", extents, stride, x - ((o - 1) * stride + f))


def make_problem(design, objective="edp", **limits):
    found = tuple(Limit(name, Fraction(bound)) for name, bound in limits.items())
    return Problem(
        design,
        found,
        Objective(objective, parse_expression(objective, where="objective", allowed=VOCABULARY)),
    )


def small_machine(random):
    """A machine so small that its capacities bind."""
    dram, spm, rf = MACHINE.levels
    pes, words, bank, banks = (
        random.choice((2, 4, 6)),
        random.choice((6, 12, 30)),
        random.choice((4, 16)),
        random.choice((3, 6, 12)),
    )
    levels = (
        dram,
        replace(spm, words=2 * bank * banks),
        replace(rf, words=words, instances=pes, mesh_x=pes, mesh_y=1),
    )
    compute = replace(MACHINE.compute, instances=pes, mesh_x=pes, mesh_y=1)
    bursts = Bursts(
        bank, Fraction(random.choice((0, 5, 45))), Fraction(random.choice((1, 40)), 40), Fraction(2)
    )
    return replace(MACHINE, levels=levels, compute=compute, bursts=bursts)


def random_layer(random, *, surplus, most):
    """A layer of few iterations, most of whose loops have one trip."""
    kind = random.choice(("conv", "conv", "dw", "gemm"))
    loops = {"conv": "N M C Ox Oy Fx Fy", "dw": "N C Ox Oy Fx Fy", "gemm": "X Y K"}[kind].split()
    busy = random.sample(loops, 3)
    extents = {loop: random.randint(2, most) if loop in busy else 1 for loop in loops}
    stride = random.choice((1, 1, 2))
    return make_layer(
        kind, extents, stride, random.choice((0, 1)) if surplus and kind != "gemm" else 0
    )


def tilings(extent, *, exact, least):
    """All (d, p, r, s) of a loop, by trying; ``least``: those where none of s, r, p may be
    lowered."""
    found = []
    for p, r, s in product(range(1, extent + 1), repeat=3):
        q = -(-extent // (r * s))
        d = -(-extent // (p * r * s)) if not least else -(-q // p)
        if exact and d * p * r * s != extent:
            continue
        lower = [(r - 1, s), (r, s - 1)] if least else []
        if any(x * y > 0 and -(-extent // (x * y)) == q for x, y in lower) or (
            least and p > 1 and -(-q // (p - 1)) == d
        ):
            continue
        found.append((d, p, r, s))
    return found


def enumerated(design, *, least):
    """Metrics of all mappings that fit, for every pair of loop orders that changes anything."""
    loops = design.layer.nest.loops
    each = [
        tilings(extent, exact=design.divisors_only, least=least)
        for _, extent in design.layer.nest.extents
    ]
    places = np.meshgrid(*(np.arange(len(rows)) for rows in each), indexing="ij")
    values = {}
    allowed = np.ones(places[0].size, bool)
    for loop, rows, place in zip(loops, each, places, strict=True):
        columns = np.array(rows, dtype=float)[place.ravel()].T
        for slot, column in zip((DRAM, SPM, RF, SPATIAL), columns, strict=True):
            values[f"{loop}.{slot}"] = column
            level, kind = (SPM, "spatial") if slot == SPATIAL else (slot, "temporal")
            asked = [each for each in design.constraints.factors if each.at == (level, kind, loop)]
            allowed &= np.all(
                [column <= (found.high or column) for found in asked] or [True], axis=0
            )
    busy = [loop for loop, extent in design.layer.nest.extents if extent > 1]
    fits = None
    for outer, inner in product(permutations(busy), repeat=2):
        found, _ = design.priced(values, NUMPY, {DRAM: [outer], SPM: [inner]})
        if fits is None:
            fits = np.all(
                [allowed, *(found[name] <= most for name, most in design.machine.limits.items())],
                axis=0,
            )
            fits &= found["pes"] >= design.constraints.least_used * design.machine.pes
            values = {name: column[fits] for name, column in values.items()}
            found = {name: column[fits] for name, column in found.items()}
        yield found


def least_value(problem, *, least):
    """The optimum by enumeration; infinite where nothing fits."""
    best = np.inf
    assert isinstance(problem.design, DmazerunnerDesign)
    for found in enumerated(problem.design, least=least):
        found["edp"] = found["energy"] * found["latency"]
        values = np.asarray(problem.objective.expression.evaluate(found, NUMPY), dtype=float)
        for limit in problem.limits:
            values = np.where(
                limit.expression.evaluate(found, NUMPY) > float(limit.bound), np.inf, values
            )
        best = min(best, values.min(initial=np.inf))
    return float(best)


OBJECTIVES = (
    "latency",
    "energy",
    "edp",
    "edp",
    "latency + energy/100",
    "max(latency, 1000) * rf_words",
    "latency*latency/pes",
)


def some_constraints(random, layer):
    """No constraints, or one on a factor, or on the PEs that work."""
    at, kind = random.choice(
        ((DRAM, "temporal"), (SPM, "temporal"), (RF, "temporal"), (SPM, "spatial"))
    )
    loop = random.choice([loop for loop, extent in layer.nest.extents if extent > 1])
    one = Constraints(factors=(FactorRange(at, kind, loop, 1, random.choice((1, 2))),))
    return random.choice((NONE, NONE, NONE, one, one, Constraints(least_used=Fraction(1, 2))))


def check(seed):
    random = Random(seed)
    exact, surplus = random.random() < 0.6, random.random() < 0.3
    layer = random_layer(random, surplus=surplus, most=6 if exact else 5)
    design = DmazerunnerDesign(small_machine(random), layer, exact, some_constraints(random, layer))
    objective = random.choice(OBJECTIVES)
    limits = random.choice(
        (
            {},
            {},
            {"pes": 3},
            {"dram_words": 60},
            {"energy": 60_000},
            {"spm_banks": 4, "latency": 3000},
        )
    )
    problem = make_problem(design, objective, **limits)
    solution = solve_staged(problem)
    # all paddings, but where surplus rows, or what is asked for, may make more of them pay
    pays = surplus or objective.endswith("/pes") or design.constraints.least_used > 0
    truth = least_value(problem, least=not exact and pays)
    if truth == np.inf:
        assert solution.certificate.empty, seed
        assert (solution.certificate.status is Status.INFEASIBLE) is not bool(
            problem.feasible_among
        ), seed
    else:
        assert solution.certificate.status is Status.OPTIMAL, seed
        assert float(solution.value) == pytest.approx(truth, rel=1e-12), seed
        assert solution.configuration is not None
        assert design.space.contains(solution.configuration)


@pytest.mark.parametrize("seed", range(300))
def test_proofs_are_what_enumeration_finds(seed):
    check(seed)


@pytest.mark.parametrize(
    ("name", "divisors_only", "objective", "optimum"),
    [
        ("conv5_2", True, "latency", 2_457_488),
        ("conv5_2", True, "energy", 2_581_195_121),
        ("conv5_2", True, "edp", 6.844957e15),
        ("conv2_2", True, "edp", 7.041211e15),
        ("conv5_1", True, "latency", 4_198_784),
        ("conv5_1", False, "latency", 1_698_372),
    ],
)
def test_published_layers_are_proven(name, divisors_only, objective, optimum):
    problem = make_problem(DmazerunnerDesign(MACHINE, resnet(name), divisors_only), objective)
    solution = solve_staged(problem, SolveOptions(time_limit=60))
    assert solution.certificate.status is Status.OPTIMAL
    assert float(solution.value) == pytest.approx(optimum, rel=1e-7 if optimum > 1e15 else 0)


def test_configurations_and_mappings_correspond():
    design = DmazerunnerDesign(MACHINE, resnet("conv5_2"), divisors_only=True)
    found = solve_staged(make_problem(design)).configuration
    assert found is not None
    laid = design.mapping(found)
    laid.check(design.nest, design.architecture)
    assert design.configuration(laid) == found
    trips = dict.fromkeys(design.nest.loops, 2)
    between = (
        "N",
        "C",
        "Fx",
        "Fy",
        "Oy",
        "M",
        "Ox",
    )  # Ox stays inside, and M's loop keeps weights from Oy's and N's reuse
    partly = replace(
        laid, factors={**laid.factors, Slot(DRAM): trips}, orders={**laid.orders, DRAM: between}
    )
    with pytest.raises(
        InputError, match="order of DRAM is N C Fx Fy Oy M Ox; allowed: orders that reuse as"
    ):
        design.configuration(partly)


@pytest.mark.parametrize("seed", range(4))
def test_tilings_are_counted_exactly(seed):
    random = Random(seed)
    layer = random_layer(random, surplus=False, most=6)
    design = DmazerunnerDesign(small_machine(random), layer, divisors_only=True)
    assert design.tables.count() == next(enumerated(design, least=False))["latency"].size


def test_the_published_search_finds_what_is_published():
    problem = make_problem(DmazerunnerDesign(MACHINE, resnet("conv2_2"), divisors_only=True))
    trace = run_peer("pruned", problem, SampleBudget(seconds=60))
    assert trace.ended is Ended.EXHAUSTED
    assert float(trace.value or 0) == pytest.approx(7.196508e15, rel=1e-7)


@pytest.mark.parametrize(
    "method", ["output-stationary", "weight-stationary", "row-stationary", "random"]
)
def test_baselines_are_no_better_than_the_optimum(method):
    problem = make_problem(DmazerunnerDesign(MACHINE, resnet("conv5_2"), divisors_only=True))
    trace = run_peer(
        method,
        problem,
        SampleBudget(seconds=60) if method != "random" else SampleBudget(samples=3000),
    )
    assert trace.value > 6.844957e15
    spread = {loop for loop in problem.design.nest.loops if trace.best[f"{loop}.SPM.x"] > 1}
    most = {
        "output-stationary": {"Ox", "Oy"},
        "weight-stationary": {"M", "C"},
        "row-stationary": {"Oy", "Fy"},
    }
    assert spread <= most.get(method, spread)


@pytest.mark.parametrize("most", [0, 1 << 8, 1 << 30])
@pytest.mark.parametrize("exact", [True, False])
def test_transfers_that_no_mapping_is_below(exact, most, monkeypatch):
    """Best first, group by group, and only some at once, they are those of all outer choices, or
    less."""
    monkeypatch.setattr(tables, "MOST_OUTER", most)
    monkeypatch.setattr(tables, "AT_ONCE", 16)
    random = Random(11)
    for _ in range(12):
        layer = random_layer(random, surplus=True, most=12)
        design = DmazerunnerDesign(small_machine(random), layer, exact)
        unchanged = layer if exact else StoredLayer(layer.nest)
        whole = type(design.tables)(
            unchanged, replace(design.machine, pes=1, rf_words=1), exact=exact
        )
        parts = whole.outer_of(np.zeros((len(whole.groups), 1), np.int64)).parts
        least = tuple(
            min(float(column.min(initial=np.inf)) for column in columns)
            for columns in zip(*parts, strict=True)
        )
        found = design.tables.least_outer
        assert all(bound <= cost for bound, cost in zip(found, least, strict=True))
        assert found == least or most < 1 << 30


LARGE = make_layer("conv", {"N": 1, "M": 512, "C": 512, "Ox": 56, "Oy": 56, "Fx": 3, "Fy": 3})


@pytest.mark.parametrize(
    "layer", [LARGE, StoredLayer(workload("ttm", dict.fromkeys("ijkl", 1 << 16)))]
)
def test_transfers_of_large_layers_are_counted_in_parts(layer, monkeypatch):
    """The outer choices of all groups would take gibibytes, and seconds before the first look at
    the clock; of four loops of 65,536 even those of one choice of the first group would."""
    sizes, outer_of = [], tables.Tables.outer_of
    least_words = tables.Tables._least_words

    def least(self, made):
        sizes.append(made.shape[1])
        return least_words(self, made)

    def counted(self, tiles, choices):
        sizes.append(choices.shape[1])
        found = outer_of(self, tiles, choices)
        assert found.tile.size <= choices.shape[1]
        return found

    monkeypatch.setattr(tables.Tables, "_least_words", least)
    monkeypatch.setattr(tables.Tables, "outer_of", counted)
    assert min(DmazerunnerDesign(MACHINE, layer).tables.least_outer) > 0
    assert max(sizes) <= tables.AT_ONCE
    assert sum(sizes) <= 2 * tables.MOST_OUTER


@pytest.mark.slow
@pytest.mark.parametrize("name", RESNET)
def test_all_published_layers_are_proven_with_padding(name):
    for objective in ("latency", "energy", "edp"):
        values = {}
        for divisors_only in (True, False):
            solution = solve_staged(
                make_problem(DmazerunnerDesign(MACHINE, resnet(name), divisors_only), objective)
            )
            assert solution.certificate.status is Status.OPTIMAL
            values[divisors_only] = solution.value
        assert values[False] <= values[True]
