"""Proofs of the edition `timeloop`, against enumeration of whole spaces and what the real tool has
evaluated and found.

That spaces hold a best mapping of all tilings and orders is `test_space.py`'s.
"""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca.plugins.hierarchies.formulations.search.box_search as box_search
import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.formulations.problem import Limit
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search.mapping_boxes import MappingBoxes
from ithaca.plugins.hierarchies.formulations.search.stage import TimeloopStage
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.formulations import drawn
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.drawn import (
    check,
    check_with_limit,
    drawn_problem,
    enumerated,
    posed,
    with_blocks,
)


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("seed", range(16))
def test_small_problems_are_solved_as_by_enumeration(monkeypatch, seed, constrained):
    monkeypatch.setattr(extension, "FEW", 0)  # bounds at every chance, from poor first incumbents
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(drawn_problem(seed, constrained=constrained), seed)


@pytest.mark.parametrize("seed", range(100, 400))
def test_many_small_problems_are_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(drawn_problem(seed, constrained=seed % 3 == 0), seed)


#: Work that is no product with a sum: of softmax, gates, norms and scales.
ELEMENTWISE = (
    "O[m][n] += A[m][n]",
    "O[m][n] += A[m][n] * B[m][n]",
    "O[m] += A[m][n]",
    "O[m][n] += A[m][n] * B[m]",
    "O[p] += I[2*p+r]",
)


@pytest.mark.slow(every=6)
@pytest.mark.parametrize("seed", range(60))
def test_elementwise_work_is_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(drawn, "STATEMENTS", ELEMENTWISE)
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(drawn_problem(seed, constrained=seed % 3 == 0), seed)


@pytest.mark.ci(every=32)
@pytest.mark.slow(every=8)
@pytest.mark.parametrize("seed", range(96))
def test_what_pads_differently_is_compared_as_by_enumeration(monkeypatch, seed):
    """Extents that few factors divide, in three levels: what covers less, for no more, replaces
    what leaves as many trips."""
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(extension, "MANY", 4)
    monkeypatch.setattr(search, "BEAMS", (3,))
    few = seed % 3 == 0
    check_with_limit(
        drawn_problem(seed, constrained=few, depths=(3, 2), padded=(1, 5, 7, 9, 11)), seed
    )


#: Work whose tiles do not overlap: a tensor is left alone by no loop, by one or by several.
NO_WINDOWS = (
    "C[i][j] += A[i][k] * B[k][j]",
    "O[n][m] += I[n][k] * W[k]",
    "D[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
    "O[m][n] += A[m][n] * B[m]",
    "O[m] += A[m] * B[m]",
    "C[b][i][j] += A[b][i][k] * B[b][k][j]",
)


@pytest.mark.ci(every=8)
@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(240))
def test_boxes_prove_what_enumeration_finds(monkeypatch, seed):
    """Labels are handed over at once, so boxes of mappings are all that is searched."""
    monkeypatch.setattr(drawn, "STATEMENTS", NO_WINDOWS)
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(search, "BEAMS", ((1,), ())[seed % 3 == 0])
    monkeypatch.setattr(box_search, "TOGETHER", 16)
    depths = ((2,), (3, 2))[seed % 2]
    padded = {"padded": (1, 3, 5, 7, 9)} if seed % 5 < 2 else {}
    check_with_limit(drawn_problem(seed, depths=depths, **padded), seed)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("objective", "value"), [("L2.energy", 70), ("L0.C.reads", None), ("L1.A.fills", None)]
)
def test_boxes_keep_orders_that_a_part_of_the_words_needs(monkeypatch, objective, value):
    """Loops that move nothing that counts have any number of trips in a box: an order that is
    better where they rest alone does not do."""

    def level(name, words, keeps, lanes, read, write, update):
        each = Level(
            name, words=words, keeps=frozenset(keeps), instances=lanes, mesh_x=lanes, mesh_y=1
        )
        costs = {"read_energy": read, "write_energy": write, "update_energy": update}
        return replace(each, **{name: Fraction(cost) for name, cost in costs.items()})

    nest = nest_of("C[i][j] += A[i][k] * B[k][j]", {"i": 2, "j": 2, "k": 2})
    levels = (
        level("L0", None, "ABC", 1, 1, 1, 1),
        level("L1", 4, "ABC", 3, 1, 1, 1),
        level("L2", 4, "A", 9, Fraction(17, 2), Fraction(1, 2), 0),
    )
    architecture = Architecture("a", levels, Compute("mac", 9, 9, 1, Fraction(1)))
    orders = (("L0", ("k",)), ("L1", ("k", "i", "j")))
    rules = Constraints(orders=orders, factors=(FactorRange("L2", "temporal", "i", 1, 2),))
    design = SpatialDesign(nest, architecture, MappingOptions(divisors_only=True))
    design = replace(design, constraints=rules)
    least = enumerated(posed(design, objective))[0]
    assert value in (None, least)
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    for beams in ((), (1,)):
        monkeypatch.setattr(search, "BEAMS", beams)
        assert solve_staged(posed(design, objective)).value == least


@pytest.mark.ci
def test_boxes_bound_words_that_are_no_products(monkeypatch):
    """No count that the objective reads is a product of factors of the loops."""
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(search, "BEAMS", ())
    monkeypatch.setattr(drawn, "STATEMENTS", ("O[m] += A[m][k][l] * B[l]",))
    design = drawn_problem(1050, depths=(2,), padded=(2, 3, 5, 7)).design
    assert design.architecture.levels[1].keeps == {"A", "B"}
    problem = posed(design, "L0.O.reads")
    assert solve_staged(problem).value == enumerated(problem)[0]


@pytest.mark.parametrize("objective", ["latency", "edp"])
@pytest.mark.parametrize(
    ("statement", "sizes"),
    [
        ("O[m] += A[m] * B[m]", {"m": 8}),
        ("C[b][i][j] += A[b][i][k] * B[b][k][j]", {"b": 8, "i": 3, "j": 3, "k": 3}),
    ],
)
def test_boxes_keep_options_of_more_lanes(monkeypatch, statement, sizes, objective):
    """Four lanes, and tiles of three words: an option of fewer lanes that covers as much has more
    steps, which nothing else shows where a loop moves all tensors."""
    nest = nest_of(statement, sizes)
    keeps, one = frozenset(access.tensor for access in nest.accesses), Fraction(1)
    levels = tuple(
        replace(
            Level(name, words=words, keeps=keeps, instances=lanes, mesh_x=lanes, mesh_y=1),
            read_energy=one,
            write_energy=one,
            update_energy=one,
        )
        for name, words, lanes in (("L0", None, 1), ("L1", 3, 4))
    )
    design = SpatialDesign(
        nest, Architecture("a", levels, Compute("mac", 4, 4, 1, one)), MappingOptions()
    )
    by_labels = solve_staged(posed(design, objective))
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(search, "BEAMS", ())
    assert solve_staged(posed(design, objective)).value == by_labels.value


@pytest.mark.parametrize("extents", [(64, 64, 64), (60, 7, 100)])
def test_boxes_prove_what_labels_do(monkeypatch, extents):
    """Padded products on six levels and two meshes."""
    nest = workload("mm", dict(zip("ijk", extents, strict=True)))
    design = SpatialDesign(nest, fitted(find_architecture("simba-like"), nest), MappingOptions())
    monkeypatch.setattr(extension, "WIDE", 1 << 30)
    by_labels = solve_staged(posed(design, "energy"))
    began, blocks = [], MappingBoxes.blocks

    def counted(boxes, cutoff):
        began.append(boxes)
        yield from blocks(boxes, cutoff)

    monkeypatch.setattr(MappingBoxes, "blocks", counted)
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(search, "BEAMS", (1,))
    by_boxes = solve_staged(posed(design, "energy"))
    assert began
    assert by_boxes.certificate.status is by_labels.certificate.status is Status.OPTIMAL
    assert by_boxes.value == by_labels.value


@pytest.mark.ci
def test_few_labels_are_open_before_the_lanes_of_the_outermost_mesh(monkeypatch):
    """Tensors that pass by a buffer are taken again with every tile of it, whatever lanes are added: a
    bound that waits for them leaves ten thousand labels of a wide product open."""
    counts, with_step = [], TimeloopStage.with_step

    def counted(stage, labels, number, cutoff, most=None):
        made = yield from with_step(stage, labels, number, cutoff, most)
        if most is None:
            counts.append(made.count)
        return made

    monkeypatch.setattr(TimeloopStage, "with_step", counted)
    nest = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
    hardware = fitted(find_architecture("simba-like"), nest)
    design = SpatialDesign(nest, hardware, MappingOptions(divisors_only=True))
    solution = solve_staged(posed(design, "energy"))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == Fraction("1955678126.08")  # as before this bound was known
    assert sum(counts) < 3000


def retained(seed):
    """A small problem, and the same with an input, the output or both of them on chip; None where
    they have no place."""
    problem, rng = drawn_problem(seed), random.Random(seed)
    design = problem.design
    names = rng.choice(
        (
            [design.nest.inputs[0].tensor],
            [design.nest.output.tensor],
            list(design.tensors[:: len(design.tensors) - 1]),
        )
    )
    keeping = design.keeping(tuple((name, rng.choice((1, 2, 4, 8))) for name in names))
    return None if keeping is None else (problem, replace(problem, design=keeping))


def check_retained(seeds):
    """Tensors that stay on chip: the search proves what enumeration finds."""
    pairs = [(seed, pair[1]) for seed in seeds if (pair := retained(seed)) is not None]
    assert len(pairs) > len(seeds) / 4
    for seed, problem in pairs:
        check(problem, seed)


def test_problems_with_tensors_on_chip_are_solved_as_by_enumeration(
    monkeypatch,
):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_retained(range(24))


def test_many_problems_with_tensors_on_chip_are_solved_as_by_enumeration(
    monkeypatch,
):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_retained(range(400, 700))


def test_what_stays_on_chip_saves_what_is_moved_off_chip_and_nothing_else():
    """One mapping: no words off chip, none from there, all of it held; the others as they were."""
    nest = workload("conv2d", {"o": 4, "i": 4, "r": 6, "c": 6})
    design = SpatialDesign(nest, fitted(find_architecture("simple"), nest))
    solution = solve_staged(posed(design, "energy"))
    assert solution.configuration is not None
    keeping = design.keeping((("cin", 100), ("cout", 200)))
    assert keeping.kept == (("cin", 100), ("cout", 200))
    mapping = design.mapping(solution.configuration)
    inside = {
        name: kept - {"cin", "cout"} if name == "DRAM" else kept
        for name, kept in mapping.keeps.items()
    }
    same = keeping.configuration(replace(mapping, keeps=inside))
    before, after = solution.metrics, posed(keeping, "energy").metrics(same)
    home = next(level for level in keeping.architecture.levels if level.resident).name
    expected = {
        f"{home}.cin.capacity": 100,
        f"{home}.cout.capacity": 200,
        f"{home}.cin.fills": 0,
        f"{home}.cout.fills": 0,
    }
    for name, value in after.items():
        if name.count(".") == 2:
            assert value == expected.get(name, before[name]), name
    assert not any(name.startswith(("DRAM.cin", "DRAM.cout")) for name in after)
    moved = {
        name: before[f"DRAM.{name}.reads"] + before[f"DRAM.{name}.updates"]
        for name in ("cin", "cout")
    }
    dram, own = (
        next(level for level in design.architecture.levels if level.name == name)
        for name in ("DRAM", home)
    )
    filled = before[f"{home}.cin.fills"] + before[f"{home}.cout.fills"]
    saved = moved["cin"] * dram.read_energy + before["DRAM.cout.reads"] * dram.read_energy
    saved += before["DRAM.cout.updates"] * dram.update_energy + filled * own.write_energy
    assert before["energy"] - after["energy"] == saved


@pytest.mark.parametrize("seed", range(20))
def test_what_memory_does_not_hold_keeps_its_bound(monkeypatch, seed):
    for name, value in (
        ("MEMORY", 1 << 13),
        ("SLICE", 64),
        ("CHUNK", 40),
        ("COMPLETED", 16),
        ("MANY", 8),
        ("BEAMS", (2,)),
    ):
        monkeypatch.setattr(extension if hasattr(extension, name) else search, name, value)
    problem = drawn_problem(seed)
    expected, solution = enumerated(problem), solve_staged(problem)
    proof = solution.certificate
    if proof.status is Status.INFEASIBLE:
        assert expected is None
    elif expected is not None and proof.lower_bound is not None:
        assert float(proof.lower_bound) <= expected[0] * (1 + 1e-9)
        assert solution.value is None or float(solution.value) >= expected[0] * (1 - 1e-9)
        assert proof.status.proven or proof.termination is Termination.EXHAUSTED


def with_shared_accesses(seed):
    """A small problem whose accesses are of several words, or of several instances."""
    problem, rng = drawn_problem(seed, constrained=seed % 3 == 0), random.Random(seed)
    design = problem.design
    while True:
        architecture = with_blocks(design.architecture, rng)
        if any(level.share < 1 for level in architecture.levels):
            break
    inner = f"{architecture.levels[-1].name}.energy"
    objective = rng.choice(("energy", "energy", "edp", f"energy + 3*{inner}", "L0.energy*latency"))
    return posed(replace(design, architecture=architecture), objective)


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow) if n > 12 else n for n in range(300)]
)
def test_small_problems_with_shared_accesses_are_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(with_shared_accesses(seed), seed)


@pytest.mark.parametrize("x", [3, 1])
@pytest.mark.parametrize("energy", ["RF.energy", "energy"])
def test_instances_that_make_no_whole_clusters_share_accesses(energy, x):
    """Three instances make one cluster of two: its accesses are charged once for all three. One
    instance shares with none."""
    nest = nest_of("O[p] += I[3*p+2*r] * W[r]", {"p": 3, "r": 5})
    costs = {
        "read_energy": Fraction(3, 8),
        "write_energy": Fraction(5, 4),
        "update_energy": Fraction(45, 8),
    }
    levels = (Level("DRAM", cluster=2), Level("RF", cluster=2, instances=x, mesh_x=x, **costs))
    design = SpatialDesign(
        nest, Architecture("three", levels, Compute("mac", x, x)), MappingOptions()
    )
    problem = posed(design, energy)
    expected, solution = enumerated(problem), solve_staged(problem)
    assert solution.certificate.status is Status.OPTIMAL
    assert float(solution.value or 0) == pytest.approx(expected[0])
    least = design.least(())[energy]
    assert 0 < least <= expected[0]


# -- bounds on the way to mappings ------------------------------------------------------


# -- the tool's files --------------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        "Buffer.A.capacity=3,Buffer.A.capacity=9,RF.C.capacity=1",
        "RF.A.capacity=2",
        "DRAM.A.capacity=15",
        "RF.B.capacity=0.5",
    ],
)
def test_limits_on_what_levels_hold_are_capacities(held):
    limits = [
        Limit(name, Fraction(bound))
        for name, bound in (part.split("=") for part in held.split(","))
    ]
    nest = workload("mm", dict.fromkeys("ijk", 4))
    design = SpatialDesign(
        nest, fitted(find_architecture("simple"), nest), MappingOptions(divisors_only=True)
    )
    problem = posed(design, "edp", limits)
    found, again = solve_exact(problem), solve_cpsat(problem)
    assert found.certificate.status is again.certificate.status
    assert found.value == again.value
