"""Proofs of the edition `timeloop`, against enumeration of whole spaces and what the real tool has
evaluated and found.

That spaces hold a best mapping of all tilings and orders is `test_space.py`'s.
"""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

import ithaca.formulations.spatial.search.extension as extension
import ithaca.formulations.spatial.search.stage as search
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.spatial.architecture import Architecture, Compute, Level
from ithaca.formulations.spatial.architecture_files import read_architecture
from ithaca.formulations.spatial.constraints import NONE, Constraints, FactorRange
from ithaca.formulations.spatial.design import SpatialDesign
from ithaca.formulations.spatial.library import find_architecture, fitted
from ithaca.formulations.spatial.mapping import Slot, order_quantity
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.spatial.search.bounds import Bounds
from ithaca.formulations.spatial.search.hierarchy import Hierarchy
from ithaca.formulations.spatial.search.outer_levels import ROUGH, TILES, Position
from ithaca.formulations.spatial.search.partial_mappings import (
    PartialMappings,
    beginning,
    enter,
    repeat,
    spread,
)
from ithaca.formulations.spatial.search.stage import TimeloopStage
from ithaca.solver.auto import solve_auto
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.cpsat.engine import Search, solve_cpsat
from ithaca.solver.engines import Method
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import not_solved, solve_designs
from ithaca.solver.solution import Solution
from ithaca.solver.staged.engine import solve_staged
from ithaca.solver.verification import verify
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.problem_files import read_problem
from tests.formulations.spatial.cases import golden, nest_of

STATEMENTS = (
    "O[m][n] += A[m][k] * B[n][k]",
    "O[m][p] += W[m][c][r] * I[c][p+r]",
    "O[p][q] += W[r][s] * I[p+r][q+s]",
    "O[c][p] += W[c][r] * I[c][p+r]",
    "O[m][p] += W[m][r] * I[2*p+r]",
    "O[p] += W[r] * I[p+r]",
    "O[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
)
OBJECTIVES = ("energy", "latency", "edp", "energy*latency", "latency*latency + energy")
MOST = 400_000


def posed(design: SpatialDesign, objective: str, limits: Collection[Limit] = ()) -> Problem:
    expression = parse_expression(objective, where="objective", allowed=design.vocabulary)
    return Problem(design, tuple(limits), Objective(objective, expression))


def drawn_nest(rng: random.Random) -> LoopNest:
    statement = rng.choice(STATEMENTS)
    loops = sorted({c for c in statement if c.islower()})
    sizes = (1, 2, 3, 4, 6, 8) if len(loops) < 4 else (1, 2, 2, 3, 4)
    return nest_of(statement, {loop: rng.choice(sizes) for loop in loops})


def drawn_architecture(
    rng: random.Random, nest: LoopNest, depths: Sequence[int] = (2, 2, 3)
) -> Architecture:
    """Two or three levels with bypasses, tight capacities, bandwidths and nested meshes."""
    tensors = [access.tensor for access in nest.accesses]
    x = y = 1
    levels = []
    for place in range(rng.choice(depths)):
        kept = frozenset(t for t in tensors if not place or rng.random() < 0.7) or frozenset(
            tensors[:1]
        )
        costs = [Fraction(rng.randrange(800 if not place else 40), 4) for _ in range(3)]
        rates = [
            rng.choice((None, None, Fraction(1, 2), Fraction(1), Fraction(4))) for _ in range(2)
        ]
        words = rng.choice((None, 4, 6, 10, 20, 40)) if place else None
        level = Level(f"L{place}", words=words, keeps=kept, instances=x * y, mesh_x=x, mesh_y=y)
        level = replace(
            level,
            read_bandwidth=rates[0],
            write_bandwidth=rates[1],
            leak=Fraction(rng.choice((0, 0, 1)), 2),
        )
        levels.append(
            replace(level, read_energy=costs[0], write_energy=costs[1], update_energy=costs[2])
        )
        if rng.random() < 0.55:
            x, y = x * rng.choice((1, 2, 3, 4)), y * rng.choice((1, 2, 2, 4))
    return Architecture("drawn", tuple(levels), Compute("mac", x * y, x, y, Fraction(1)))


def with_blocks(architecture: Architecture, rng: random.Random) -> Architecture:
    """The same with accesses of several words, which some instances share."""
    levels = (
        replace(level, block=rng.choice((1, 2, 4)), cluster=rng.choice((1, 1, 2)))
        for level in architecture.levels
    )
    return replace(architecture, levels=tuple(levels))


def enumerated(problem: Problem) -> tuple[float, dict[str, int]] | None:
    """The least objective of all configurations, and one that has it; None where none is
    feasible."""
    design = problem.design
    assert isinstance(design, SpatialDesign)
    tables = [axis.table() for axis in design.space.axes]
    sizes = [len(next(iter(table.values()))) for table in tables]
    places = np.unravel_index(np.arange(prod(sizes)), sizes)
    values = {
        name: column[at]
        for table, at in zip(tables, places, strict=True)
        for name, column in table.items()
    }
    legal = np.ones(prod(sizes), bool)
    for link in design.space.links:
        legal &= np.broadcast_to(link.holds(values), legal.shape)
    values = {name: column[legal].astype(float) for name, column in values.items()}
    if not legal.any():
        return None
    metrics = design.metrics(values, NUMPY, problem.used_metrics)
    found = np.broadcast_to(
        problem.objective.expression.evaluate(metrics, NUMPY), (legal.sum(),)
    ).astype(float)
    for limit in problem.limits:
        found = np.where(
            limit.expression.evaluate(metrics, NUMPY) > float(limit.bound) * (1 + 1e-12),
            np.inf,
            found,
        )
    best = int(found.argmin())
    return (
        None
        if found[best] == np.inf
        else (float(found[best]), {name: int(column[best]) for name, column in values.items()})
    )


def drawn_problem(
    seed: int, *, constrained: bool = False, depths: Sequence[int] = (2, 2, 3)
) -> Problem:
    """A small problem of which everything can be enumerated."""
    rng = random.Random(seed)
    while True:
        nest = drawn_nest(rng)
        architecture = drawn_architecture(rng, nest, depths)
        options = MappingOptions(divisors_only=rng.random() < 0.5, within_parent=rng.random() < 0.3)
        design = SpatialDesign(nest, architecture, options)
        if constrained:
            loop, level = rng.choice(nest.loops), architecture.levels[-1].name
            most = min(nest.sizes[loop], 2)
            asked = Constraints(
                factors=(
                    FactorRange(
                        level, "temporal", loop, *rng.choice(((1, 1), (1, 2), (most, None)))
                    ),
                ),
                orders=(
                    (
                        architecture.levels[0].name,
                        tuple(rng.sample(nest.loops, min(2, len(nest.loops)))),
                    ),
                ),
                directions=tuple(
                    (level.name, loop, rng.choice("xy")) for level in architecture.levels
                ),
                least_used=Fraction(rng.choice((0, 1)), 4),
            )
            design = replace(design, constraints=asked)
        if (
            len(design.slots) > 1
            and design.space.axes
            and (prod(len(next(iter(axis.table().values()))) for axis in design.space.axes) <= MOST)
        ):
            return posed(design, rng.choice(OBJECTIVES))


def check(problem: Problem, seed: int) -> None:
    """The search proves what enumeration finds."""
    expected, solution = enumerated(problem), solve_staged(problem)
    assert solution.certificate.method == "staged"
    if expected is None:
        assert solution.certificate.empty, seed
        assert (solution.certificate.status is Status.INFEASIBLE) is not bool(
            problem.feasible_among
        ), seed
    else:
        assert solution.certificate.status is Status.OPTIMAL, seed
        assert solution.value is not None
        assert float(solution.value) == pytest.approx(expected[0], rel=1e-9), seed


def check_with_limit(problem: Problem, seed: int) -> None:
    """The same without a limit, and with one around what the best mapping has of a metric."""
    check(problem, seed)
    expected = enumerated(problem)
    if expected is not None:
        output = problem.design.nest.output.tensor  # type: ignore[attr-defined]
        metric = random.Random(seed).choice(
            ("energy", "latency", "pes", f"L0.{output}.reads", "L0.energy")
        )
        used = problem.metrics(expected[1])[metric]
        for share in (Fraction(9, 10), Fraction(1)):
            check(Problem(problem.design, (Limit(metric, used * share),), problem.objective), seed)


@pytest.mark.ci(every=11)
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("seed", range(16))
def test_small_problems_are_solved_as_by_enumeration(
    monkeypatch: pytest.MonkeyPatch, seed: int, constrained: bool
) -> None:
    monkeypatch.setattr(extension, "FEW", 0)  # bounds at every chance, from poor first incumbents
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(drawn_problem(seed, constrained=constrained), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_small_problems_are_solved_as_by_enumeration(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(drawn_problem(seed, constrained=seed % 3 == 0), seed)


def retained(seed: int) -> tuple[Problem, Problem] | None:
    """A small problem, and the same with an input, the output or both of them on chip; None where
    they have no place."""
    problem, rng = drawn_problem(seed), random.Random(seed)
    design = problem.design
    assert isinstance(design, SpatialDesign)
    names = rng.choice(
        (
            [design.nest.inputs[0].tensor],
            [design.nest.output.tensor],
            list(design.tensors[:: len(design.tensors) - 1]),
        )
    )
    keeping = design.keeping(tuple((name, rng.choice((1, 2, 4, 8))) for name in names))
    return None if keeping is None else (problem, replace(problem, design=keeping))


def check_retained(seeds: range) -> None:
    """What stays on chip: the search proves what enumeration finds."""
    pairs = [(seed, pair[1]) for seed in seeds if (pair := retained(seed)) is not None]
    assert len(pairs) > len(seeds) / 4
    for seed, problem in pairs:
        check(problem, seed)


def test_problems_with_tensors_on_chip_are_solved_as_by_enumeration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_retained(range(24))


@pytest.mark.slow
def test_many_problems_with_tensors_on_chip_are_solved_as_by_enumeration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_retained(range(400, 700))


def test_what_stays_on_chip_saves_what_is_moved_off_chip_and_nothing_else() -> None:
    """Of one mapping: no words off chip, none from there, all of it held; the others as they
    were."""
    nest = workload("conv2d", {"o": 4, "i": 4, "r": 6, "c": 6})
    design = SpatialDesign(nest, fitted(find_architecture("simple"), nest))
    solution = solve_staged(posed(design, "energy"))
    assert solution.configuration is not None
    keeping = design.keeping((("cin", 100), ("cout", 200)))
    assert keeping is not None
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


@pytest.mark.ci(every=2)
@pytest.mark.parametrize("seed", range(20))
def test_what_memory_does_not_hold_keeps_its_bound(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
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


def with_shared_accesses(seed: int) -> Problem:
    """A small problem whose accesses are of several words, or of several instances."""
    problem, rng = drawn_problem(seed, constrained=seed % 3 == 0), random.Random(seed)
    design = problem.design
    assert isinstance(design, SpatialDesign)
    while True:
        architecture = with_blocks(design.architecture, rng)
        if any(level.share < 1 for level in architecture.levels):
            break
    inner = f"{architecture.levels[-1].name}.energy"
    objective = rng.choice(("energy", "energy", "edp", f"energy + 3*{inner}", "L0.energy*latency"))
    return posed(replace(design, architecture=architecture), objective)


@pytest.mark.ci(every=9)
@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow) if n > 24 else n for n in range(300)]
)
def test_small_problems_with_shared_accesses_are_solved_as_by_enumeration(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(with_shared_accesses(seed), seed)


@pytest.mark.parametrize("x", [3, 1])
@pytest.mark.parametrize("energy", ["RF.energy", "energy"])
def test_instances_that_make_no_whole_clusters_share_accesses(energy: str, x: int) -> None:
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
    assert expected is not None
    assert solution.certificate.status is Status.OPTIMAL
    assert float(solution.value or 0) == pytest.approx(expected[0])
    least = design.least(())[energy]
    assert 0 < least <= expected[0]


def shared_accesses(block: int) -> SpatialDesign:
    """A small design whose words and instances share accesses."""
    nest = nest_of("O[p] += I[p+r] * W[r]", {"p": 4, "r": 3})
    costs = {"read_energy": Fraction(3), "write_energy": Fraction(5), "update_energy": Fraction(7)}
    levels = (
        Level("DRAM", cluster=2, block=block),
        Level("RF", cluster=2, block=block, instances=3, mesh_x=3, **costs),
    )
    return SpatialDesign(
        nest,
        Architecture("shared", levels, Compute("mac", 3, 3)),
        MappingOptions(divisors_only=True),
    )


@pytest.mark.ci
@pytest.mark.parametrize("block", [1, 3])
def test_what_stages_leave_open_is_proven_by_cpsat(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Without memory for labels the search in stages ends with a gap: it used to be the answer,
    after a fraction of the time."""
    monkeypatch.setattr(extension, "MEMORY", 0)
    design = shared_accesses(block)
    problem = posed(design, "RF.energy")
    assert solve_staged(problem).certificate.status is Status.FEASIBLE
    best, expected = solve_auto(problem), enumerated(problem)
    assert (best.certificate.status, best.certificate.method) == (Status.OPTIMAL, "staged+cpsat")
    assert best.value is not None
    assert expected is not None
    assert float(best.value) == pytest.approx(expected[0])
    for limit in (None, 60.0):
        rivals = solve_designs(
            [problem, problem], SolveOptions(time_limit=limit), method=Method.AUTO
        )
        assert [(r.value, r.certificate.status) for r in rivals] == [
            (best.value, Status.OPTIMAL)
        ] * 2
    line, sure = verify(best, SolveOptions(), "designs[0]")
    assert sure
    assert "confirmed by auto, the same search, in" in line
    less = Limit("RF.energy", best.value - Fraction(1, 1000))
    assert solve_staged(posed(design, "latency", [less])).certificate.status is Status.UNKNOWN
    assert solve_auto(posed(design, "latency", [less])).certificate.status is Status.INFEASIBLE


@pytest.mark.parametrize(("limit", "granted"), [(None, [60.0]), (1000.0, [60.0]), (40.0, [40.0])])
def test_cpsat_has_a_minute_for_what_stages_leave_open(
    limit: float | None, granted: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap may never close: then the search ends with what it has."""
    monkeypatch.setattr(extension, "MEMORY", 0)
    seconds: list[float] = []

    def proves_nothing(problem: Problem, options: SolveOptions, *_: object) -> Solution:
        assert options.time_limit is not None
        seconds.append(options.time_limit)
        return not_solved(problem)

    monkeypatch.setattr(time, "perf_counter", lambda: sum(seconds))  # which only CP-SAT takes
    monkeypatch.setattr("ithaca.solver.cpsat.engine.solve_cpsat", proves_nothing)
    problem = posed(shared_accesses(1), "RF.energy")
    solution = solve_auto(problem, SolveOptions(time_limit=limit))
    assert seconds == granted
    assert solution.value == solve_staged(problem).value
    assert solution.certificate.status is Status.FEASIBLE


@pytest.mark.parametrize(
    ("module", "name"), [("ithaca.solver.cpsat.engine", "build_integer_model"), ("", "_solve")]
)
def test_what_stages_know_stays_known_where_cpsat_lacks_memory(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stating the problem takes memory, and so does solving it; several designs without a time
    limit end, too."""

    def lacking(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(extension, "MEMORY", 0)
    problem = posed(shared_accesses(1), "RF.energy")
    known = solve_staged(problem)
    if module:
        monkeypatch.setattr(f"{module}.{name}", lacking)
    else:
        monkeypatch.setattr(Search, name, lacking)
    for answer in (
        solve_auto(problem),
        *solve_designs([problem, problem], SolveOptions(), method=Method.AUTO),
    ):
        bounds = known.certificate.lower_bound, answer.certificate.lower_bound
        assert answer.value == known.value
        assert None not in bounds
        assert bounds[0] <= bounds[1] < answer.value  # type: ignore[operator]
        assert answer.certificate.termination is Termination.EXHAUSTED


@pytest.mark.parametrize(
    ("energy", "status"),
    [("1.234567891234567", Status.OPTIMAL), ("1.23456789123456789123", Status.FEASIBLE)],
)
def test_energies_of_many_digits(energy: str, status: Status) -> None:
    """Proven as long as floats hold all numbers; beyond, the bound is as near as floats are."""
    nest = nest_of("O[m][n] += A[m][k] * B[n][k]", {"m": 16, "n": 12, "k": 8})
    levels = (
        Level("DRAM", read_energy=Fraction(energy), write_energy=Fraction(2)),
        Level("RF", words=12, read_energy=Fraction("0.3")),
    )
    problem = posed(
        SpatialDesign(
            nest, Architecture("digits", levels, Compute("mac")), MappingOptions(divisors_only=True)
        ),
        "energy",
    )
    expected, solution = enumerated(problem), solve_staged(problem)
    assert expected is not None
    assert solution.value is not None
    assert float(solution.value) == pytest.approx(expected[0], rel=1e-12)
    assert solution.certificate.status is status
    assert solution.certificate.gap is not None
    assert solution.certificate.gap < 1e-11


@pytest.mark.ci(every=8)
@pytest.mark.parametrize("seed", range(16))
def test_numbers_of_mappings_that_are_too_bad_may_round(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Energies so large that doubles hold those of good mappings alone."""
    monkeypatch.setattr(Hierarchy, "dtype", np.float64)
    monkeypatch.setattr(extension, "FEW", 0)
    design = drawn_problem(seed).design
    assert isinstance(design, SpatialDesign)
    objective = ("energy", "edp")[seed % 2]
    stage = design.stage(posed(design, objective))
    assert isinstance(stage, TimeloopStage)
    times = 1 + int(2**54 / stage.hierarchy.largest)
    levels = tuple(
        replace(
            level,
            read_energy=times * level.read_energy,
            write_energy=times * level.write_energy,
            update_energy=times * level.update_energy,
            leak=times * level.leak,
        )
        for level in design.architecture.levels
    )
    compute = design.architecture.compute
    compute = replace(compute, energy=times * compute.energy)
    machine = replace(design.architecture, levels=levels, compute=compute)
    problem = posed(replace(design, architecture=machine), objective)
    expected, solution = enumerated(problem), solve_staged(problem)
    assert (expected is None) == (solution.value is None)
    if expected is not None and solution.value is not None:
        assert solution.value <= problem.metrics(expected[1])[objective]
        assert float(solution.value) == pytest.approx(expected[0], rel=1e-12)
        stage = problem.design.stage(problem)
        assert isinstance(stage, TimeloopStage)
        near = stage.goal.within(2 * solution.value) < 2**53  # of incumbents less than twice as bad
        assert not near or solution.certificate.status is Status.OPTIMAL


# -- bounds on the way to mappings ------------------------------------------------------


def bounds_towards(stage: TimeloopStage, values: Mapping[str, int]) -> list[float]:
    """The bounds of the labels that a configuration passes."""
    return [
        float(stage.bound(found, at)[0]) for found, at in passed(stage, values) if at.level >= 0
    ]


def passed(
    stage: TimeloopStage, values: Mapping[str, int]
) -> Iterator[tuple[PartialMappings, Position]]:
    """The labels that a configuration passes, and how far they are decided; the last one is of all
    its loops."""
    hierarchy, found = stage.hierarchy, beginning(stage.hierarchy)
    for number, step in enumerate(stage.steps):
        name = hierarchy.levels[step.level].name
        order: tuple[int, ...] = tuple(range(len(hierarchy.loops)))
        slots = [Slot(name, "x"), Slot(name, "y")] if step.lanes else [Slot(name)]
        if step.lanes:
            found.row("mesh")[:] = stage.layouts.open(found.row("mesh"))
        else:
            order = hierarchy.orders[step.level][values.get(order_quantity(name), 1) - 1]
        inner, one = found.rows("extent").copy(), np.zeros(1, np.intp)
        for done, loop in enumerate(order, start=1):
            trips = np.array(
                [float(prod(values[slot.quantity(hierarchy.loops[loop])] for slot in slots))]
            )
            if step.lanes:
                state = stage.layouts.add(found.row("mesh"), trips, "xy")
                found = spread(found, loop, one, trips, inner)
                found.row("mesh")[:] = state
            else:
                found = repeat(found, loop, one, trips)
            yield found, Position(step.level, step.lanes, frozenset(order[done:]))
        found = replace(found, meshes=found.meshes + 1) if step.lanes else enter(found, step.level)
        yield found, stage.after(number)


def scattered(rng: random.Random, problem: Problem) -> dict[str, int] | None:
    """A feasible configuration at random: prime factors of loops in random slots."""
    design = problem.design
    assert isinstance(design, SpatialDesign)
    for _ in range(3000):
        values = {slot.quantity(loop): 1 for slot in design.slots for loop in design.moving}
        weights = [
            rng.random() ** 2 * (3 if not place else 1) for place, _ in enumerate(design.slots)
        ]
        for loop in design.moving:
            left = design.nest.sizes[loop]
            while left > 1:
                factor = next(f for f in range(2, left + 1) if left % f == 0)
                values[rng.choices(design.slots, weights)[0].quantity(loop)] *= factor
                left //= factor
        for name, orders in design.orders.items():
            if len(orders) > 1:
                values[order_quantity(name)] = rng.randint(1, len(orders))
        if problem.feasible_value(values) is not None:
            return values
    return None


@pytest.mark.ci(every=9)
@pytest.mark.parametrize("architecture", ["simple", "eyeriss", "simba-like"])
@pytest.mark.parametrize("layer", ["resnet18_l3s2", "depthwise", "gemm"])
def test_bounds_never_exceed_what_follows(architecture: str, layer: str) -> None:
    """In particular where lanes along output and filter want tiles that overlap, which multiplies
    less than either."""
    rng, checked = random.Random(1), 0
    for objective in ("energy", "latency", "edp"):
        problem = published(architecture, layer, objective)
        stage = problem.design.stage(problem)
        assert isinstance(stage, TimeloopStage)
        for _ in range(6):
            values = scattered(rng, problem)
            if values is not None:
                checked += 1
                assert max(bounds_towards(stage, values)) <= float(problem.value(values)) * (
                    1 + 1e-12
                )
    assert checked > 6


@pytest.mark.ci(every=10)
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_bounds_never_exceed_what_follows_on_nested_meshes_and_padded(seed: int) -> None:
    """Any mapping of small problems, after each of its loops and each of its lanes."""
    check_bounds(drawn_problem(seed), seed)


@pytest.mark.ci(every=20)
@pytest.mark.parametrize("seed", range(2000, 2040))
def test_bounds_of_tensors_that_pass_by_levels(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """What is taken again outside a level, with the tiles of the level: proofs and any mapping."""
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    problem = drawn_problem(seed, depths=(3, 3, 4))
    check(problem, seed)
    check_bounds(problem, seed)


def check_bounds(problem: Problem, seed: int) -> None:
    """No bound on the way to a mapping is above its value; a dozen at random."""
    rng = np.random.default_rng(seed)
    design, stage = problem.design, problem.design.stage(problem)
    assert isinstance(stage, TimeloopStage)
    tables = [axis.table() for axis in design.space.axes]
    columns = [rng.integers(len(next(iter(table.values()))), size=3000) for table in tables]
    drawn = {
        name: column[places]
        for table, places in zip(tables, columns, strict=True)
        for name, column in table.items()
    }
    legal = np.ones(3000, bool)
    for link in design.space.links:
        legal &= np.broadcast_to(link.holds(drawn), legal.shape)
    for place in np.flatnonzero(legal)[:12]:
        values = {name: int(column[place]) for name, column in drawn.items()}
        if (value := problem.feasible_value(values)) is not None:
            assert max(bounds_towards(stage, values)) <= float(value) * (1 + 1e-12)


def test_rounding_of_words_that_cancel_is_no_word() -> None:
    """An output that is filled only for the first time: floats left 1e-13 of a word, which was
    rounded up to one."""
    nest = nest_of("O[m][n] += A[m][k] * B[n][k]", {"k": 77, "m": 169, "n": 49})
    levels = (
        Level("L0"),
        Level("L1", keeps=frozenset("B"), instances=21, mesh_x=7, mesh_y=3),
        Level("L2", keeps=frozenset("BO"), instances=63, mesh_x=21, mesh_y=3),
    )
    for divisors in (True, False):
        design = SpatialDesign(
            nest,
            Architecture("nested", levels, Compute("mac", 63, 21, 3)),
            MappingOptions(divisors),
        )
        problem, chosen = (
            posed(design, "L2.O.fills"),
            {"m.L1": 169, "n.L1.x": 7, "k.L2": 77, "n.L2": 7, "order.L0": 2},
        )
        values = dict.fromkeys(design.space.quantities, 1) | chosen
        stage = problem.design.stage(problem)
        assert isinstance(stage, TimeloopStage)
        assert problem.value(values) == 0
        assert max(bounds_towards(stage, values)) == 0


def test_lanes_that_share_inputs_are_bounded() -> None:
    """Proven of a layer with 42 lanes that want 16 different rows: a bound by all 42 would exclude
    it."""
    assert solved("eyeriss", "depthwise", "energy").value == 209_248_560


# -- the tool's files --------------------------------------------------------------------


def published(architecture: str, layer: str, objective: str, *, divisors: bool = True) -> Problem:
    """A problem of the tool's files on an architecture of them, or of the library."""
    nest = read_problem(golden() / "simple" / f"problem_{layer}.yaml")
    library = architecture != "simple"
    hardware = (
        fitted(find_architecture(architecture), nest)
        if library
        else read_architecture(golden() / "simple")
    )
    return posed(SpatialDesign(nest, hardware, MappingOptions(divisors_only=divisors)), objective)


def solved(architecture: str, layer: str, objective: str, *, divisors: bool = True) -> Solution:
    solution = solve_staged(published(architecture, layer, objective, divisors=divisors))
    assert solution.certificate.status is Status.OPTIMAL
    return solution


@pytest.mark.ci
def test_the_padded_energy_of_a_product_is_proven() -> None:
    """Weights pass by Eyeriss's buffer: taken again for all that its tile leaves. Earlier bounds
    left 18 % after 79 s, with 411,475 labels."""
    solution = solved("eyeriss", "gemm", "energy", divisors=False)
    assert solution.value == Fraction("6830557286.4")
    assert solution.certificate.nodes < 20_000


@pytest.mark.ci
@pytest.mark.parametrize(
    ("layer", "value"),
    [
        ("vgg_conv5", "5651736512639795.2"),
        ("resnet18_l3s2", "97825016355225.6"),
        ("resnet18_l1", "339002032075571.2"),
    ],
)
def test_levels_that_choose_what_they_keep_are_proven(layer: str, value: str) -> None:
    """The optima of earlier bounds, which took twice to three times as long."""
    problem = published("eyeriss", layer, "edp")
    options = replace(problem.design.options, free_bypass=True)  # type: ignore[attr-defined]
    problem = posed(replace(problem.design, options=options), "edp")  # type: ignore[arg-type]
    solution = solve_staged(problem)
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == Fraction(value)


@pytest.mark.ci(every=6)
@pytest.mark.parametrize(
    ("architecture", "layer", "objective", "value"),
    [
        ("simple", "gemm", "edp", 4.269706e16),
        ("eyeriss", "resnet18_l1", "edp", 3.746823e14),
        ("simple", "resnet18_l1", "energy", 683_058_240),
        ("simple", "resnet18_l1", "latency", 451_584),
        ("eyeriss", "conv1x1", "energy", 396_075_418),
        ("eyeriss", "conv1x1", "latency", 458_752),
    ],
)
def test_optima_that_the_tool_has_confirmed(
    architecture: str, layer: str, objective: str, value: float
) -> None:
    found = solved(architecture, layer, objective).value
    assert found is not None
    assert float(found) == pytest.approx(value, rel=5e-7)


@pytest.mark.ci(every=6)
@pytest.mark.parametrize(
    ("architecture", "layer", "objective", "value"),
    [
        ("simple", "gemm", "edp", 5.581955964233318e16),
        ("simple", "gemm", "energy", 10055417856),
        ("simple", "gemm", "latency", 4718592),
        ("eyeriss", "resnet18_l1", "edp", 1320054508276940.8),
        ("eyeriss", "resnet18_l1", "energy", 625745971.2),
        ("eyeriss", "resnet18_l1", "latency", 1275904),
    ],
)
def test_optima_are_no_worse_than_what_the_mapper_found(
    architecture: str, layer: str, objective: str, value: float
) -> None:
    """In two minutes on two threads."""
    found = solved(architecture, layer, objective).value
    assert found is not None
    assert float(found) <= value


LAYERS = ("depthwise", "gemm", "conv1x1", "vgg_conv5", "resnet18_l3s2", "resnet18_l1")


def least_evaluated(architecture: str, layer: str) -> dict[str, float]:
    """The least energy, cycles and product of both of all mappings that the tool evaluated."""
    with (golden() / f"{architecture}.csv").open(newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["workload"] == layer and row["valid"] == "1"
        ]
    pairs = [(float(row["energy_pJ"]), float(row["cycles"])) for row in rows]
    return {
        "energy": min(e for e, _ in pairs),
        "latency": min(c for _, c in pairs),
        "edp": min(e * c for e, c in pairs),
    }


@pytest.mark.ci
@pytest.mark.parametrize(
    "layer", [pytest.param(x, marks=pytest.mark.slow) if n > 2 else x for n, x in enumerate(LAYERS)]
)
@pytest.mark.parametrize("architecture", ["simple", "eyeriss"])
def test_no_mapping_that_the_tool_evaluated_is_better(architecture: str, layer: str) -> None:
    for objective, least in least_evaluated(architecture, layer).items():
        found = solved(architecture, layer, objective).value
        assert found is not None
        assert float(found) <= least * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_padding_never_costs(layer: str) -> None:
    for objective in ("energy", "latency", "edp"):
        padded, found = (
            solved("simple", layer, objective, divisors=divisors).value
            for divisors in (False, True)
        )
        assert padded is not None
        assert found is not None
        assert padded <= found


@pytest.mark.ci
def test_a_time_limit_leaves_a_bound() -> None:
    solution = solve_staged(
        published("simple", "resnet18_l1", "edp", divisors=False), SolveOptions(time_limit=0.0)
    )
    assert solution.certificate.termination is Termination.TIME_LIMIT
    asked = iter(range(1000))  # the first looks are at tables being made
    problem = published("simple", "resnet18_l1", "edp", divisors=False)
    stopped = solve_staged(
        problem, SolveOptions(stop=lambda: next(asked) > 100)
    ).certificate.lower_bound
    assert stopped is not None
    assert 2e14 < stopped <= solved("simple", "resnet18_l1", "edp").value  # type: ignore[operator]


def test_objectives_that_gain_from_more_energy_have_no_stage() -> None:
    problem = published("simple", "gemm", "latency/energy")
    assert problem.design.stage(problem) is None
    assert NONE.least_used == 0


@pytest.mark.ci(every=4)
@pytest.mark.parametrize(
    "held",
    [
        "Buffer.A.capacity=3,Buffer.A.capacity=9,RF.C.capacity=1",
        "RF.A.capacity=2",
        "DRAM.A.capacity=15",
        "RF.B.capacity=0.5",
    ],
)
def test_limits_on_what_levels_hold_are_capacities(held: str) -> None:
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


@pytest.mark.parametrize("divisors", [True, False])
def test_tiles_that_stand_for_others_bound_them_all(divisors: bool) -> None:
    rng, rougher = random.Random(7), 0
    for _ in range(12):
        nest = drawn_nest(rng)
        design = SpatialDesign(
            nest, drawn_architecture(rng, nest), MappingOptions(divisors_only=divisors)
        )
        stage = design.stage(posed(design, "edp"))
        if not isinstance(stage, TimeloopStage) or not design.moving:
            continue
        hierarchy = stage.hierarchy
        values = [stage._values(extent) for extent in hierarchy.extents]
        grid = np.array([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")])
        full = Bounds(hierarchy, stage.layouts, values, divisors=divisors, tiles=10**6).outer
        for tiles in (1, 3, 9):
            rough = Bounds(hierarchy, stage.layouts, values, divisors=divisors, tiles=tiles).outer
            assert prod(rough.shape) <= tiles
            for level, undecided in product(
                range(len(hierarchy.levels)), (None, frozenset[int](), frozenset({0}))
            ):
                at, counts = Position(level, undecided=undecided), hierarchy.bounded
                for most, least in zip(
                    full.least(full.places(grid), at, counts),
                    rough.least(rough.places(grid), at, counts),
                    strict=True,
                ):
                    assert np.all(np.asarray(least) <= np.asarray(most) * (1 + 1e-9))
                    rougher += int(np.count_nonzero(np.asarray(least) < np.asarray(most)))
    assert rougher > 100


def test_tables_of_large_extents_are_small_and_made_in_pauses() -> None:
    nest = workload("mm", {"i": 65536, "j": 65536, "k": 65536})
    design = SpatialDesign(nest, fitted(find_architecture("eyeriss"), nest))
    stage = design.stage(posed(design, "edp"))
    assert isinstance(stage, TimeloopStage)
    assert prod(stage.bounds.outer.shape) <= ROUGH
    assert prod(stage._proving.outer.shape) <= TILES
    assert next(stage._proving.outer.made()) is None
    macs = Fraction(nest.operations)
    assert stage.least >= macs * macs / 168  # all multipliers work, at 1 pJ each
