"""Bounds on the way to mappings: none is above what follows."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping import Slot, order_quantity
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search.bounds import Bounds
from ithaca.plugins.hierarchies.formulations.search.outer_levels import ROUGH, TILES, Position
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    beginning,
    enter,
    repeat,
    spread,
)
from ithaca.plugins.hierarchies.formulations.search.stage import TimeloopStage
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.drawn import (
    check,
    drawn_architecture,
    drawn_nest,
    drawn_problem,
    posed,
    published,
    solved,
)
from tests.whole_spaces import lengths, linked, row_of, tables_of


def bounds_towards(stage, values):
    """The bounds of the labels that a configuration passes."""
    return [
        float(stage.bound(found, at)[0]) for found, at in passed(stage, values) if at.level >= 0
    ]


def passed(stage, values):
    """The labels that a configuration passes, and how far they are decided; the last one is of all
    its loops."""
    hierarchy, found = stage.hierarchy, beginning(stage.hierarchy)
    for number, step in enumerate(stage.steps):
        name = hierarchy.levels[step.level].name
        order = tuple(range(len(hierarchy.loops)))
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


def scattered(rng, problem):
    """A feasible configuration at random: prime factors of loops in random slots."""
    design = problem.design
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


@pytest.mark.parametrize("architecture", ["simple", "eyeriss", "simba-like"])
@pytest.mark.parametrize("layer", ["resnet18_l3s2", "depthwise", "gemm"])
def test_bounds_never_exceed_what_follows(architecture, layer):
    """Lanes along output and filter that want overlapping tiles, in particular: these multiply less
    than either."""
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


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_bounds_never_exceed_what_follows_on_nested_meshes_and_padded(seed):
    """Any mapping of small problems, after each of its loops and each of its lanes."""
    check_bounds(drawn_problem(seed), seed)


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_bounds_of_tensors_that_pass_by_levels(monkeypatch, seed):
    """Tensors that are taken again outside a level, with the tiles of the level: proofs and any
    mapping."""
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    problem = drawn_problem(seed, depths=(3, 3, 4))
    check(problem, seed)
    check_bounds(problem, seed)


def check_bounds(problem, seed):
    """No bound on the way to a mapping is above its value; a dozen at random."""
    rng = np.random.default_rng(seed)
    design, stage = problem.design, problem.design.stage(problem)
    assert isinstance(stage, TimeloopStage)
    tables = tables_of(design.space)
    places = [rng.integers(count, size=3000) for count in lengths(tables)]
    pairs = zip(tables, places, strict=True)
    drawn = {name: column[at] for table, at in pairs for name, column in table.items()}
    legal = linked(design.space, drawn)
    for place in range(min(12, *lengths([legal]))):
        values = row_of([legal], [place])
        if (value := problem.feasible_value(values)) is not None:
            assert max(bounds_towards(stage, values)) <= float(value) * (1 + 1e-12)


def test_rounding_of_words_that_cancel_is_no_word():
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


def test_lanes_that_share_inputs_are_bounded():
    """Proven of a layer with 42 lanes that want 16 different rows: a bound by all 42 would exclude
    it."""
    assert solved("eyeriss", "depthwise", "energy").value == 209_248_560


@pytest.mark.parametrize("divisors", [True, False])
def test_tiles_that_stand_for_others_bound_them_all(divisors):
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


def test_tables_of_large_extents_are_small_and_made_in_pauses():
    nest = workload("mm", {"i": 65536, "j": 65536, "k": 65536})
    design = SpatialDesign(nest, fitted(find_architecture("eyeriss"), nest))
    stage = design.stage(posed(design, "edp"))
    assert prod(stage.bounds.outer.shape) <= ROUGH
    assert prod(stage._proving.outer.shape) <= TILES
    assert next(stage._proving.outer.made()) is None
    macs = Fraction(nest.operations)
    assert stage.least >= macs * macs / 168  # all multipliers work, at 1 pJ each
