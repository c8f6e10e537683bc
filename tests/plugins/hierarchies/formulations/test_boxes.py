"""Boxes of mappings: no bound is above a mapping of its box, as the reference evaluates it."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search.box_search import BoxSearch
from ithaca.plugins.hierarchies.formulations.search.dual_bounds import Monomials, multipliers
from ithaca.plugins.hierarchies.formulations.search.mapping_boxes import MappingBoxes
from ithaca.plugins.hierarchies.formulations.search.option_table import OptionTable
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.formulations import drawn, placed
from tests.plugins.hierarchies.formulations.drawn import drawn_problem
from tests.plugins.hierarchies.formulations.test_search import NO_WINDOWS
from tests.plugins.hierarchies.formulations.test_uneven import problem

#: Walks from the first boxes of a problem to a mapping.
WALKS = 8


def reference(case, configuration):
    """The objective of a mapping in Fractions."""
    metrics = case.design.metrics(configuration, FRACTION, case.used_metrics)
    return case.objective.expression.evaluate(metrics, FRACTION)


def kinds_of(search, row):
    """The kind of every loop's option."""
    return [
        [next(kind for kind in range(forest.kinds) if n in forest.options(kind))]
        for forest, n in zip(search._forests, row, strict=True)
    ]


def dual_bounds(search, variant, row):
    """The dual bound of all mappings with as many trips as one in the same levels, if there is
    one."""
    duals = getattr(search, "_duals", None)
    if duals is None:
        return []
    kinds = np.array(kinds_of(search, row))
    return [*duals.least(variant, kinds, np.full(1, -np.inf), np.inf)]


def walk(search, case, variant, rng):
    """Halve boxes, at random a half, until a mapping is left: the number of bounds that were
    compared with its value."""
    open_ = search.begun(variant, None)
    trees, bounds = search.trees(variant), []
    while open_.count:
        open_ = open_.take(np.array([rng.randrange(open_.count)]))
        bounds.append(open_.bounds[0])
        if trees.leaves(open_.nodes).all():
            for row in search.mappings(open_)[0]:
                configuration = search.configured(variant, row)
                # lanes of both directions that lie along one may be more than a loop needs there
                if configuration is None or not case.design.space.contains(configuration):
                    continue
                value = reference(case, configuration)
                bounds += dual_bounds(search, variant, row)
                assert max(bounds) <= value * (1 + 1e-12)
                return len(bounds)
            return 0
        open_ = search.bounded(variant, trees.halves(open_.nodes, open_.axes), None)
    return 0


def compared(search, case, rng):
    """The number of bounds that were compared on some walks."""
    variants = range(search.variants)
    return sum(walk(search, case, rng.choice(variants), rng) for _ in range(WALKS))


@pytest.mark.ci(every=10)
@pytest.mark.slow(every=5)
@pytest.mark.parametrize("seed", range(60))
def test_no_mapping_is_below_the_bounds_of_its_boxes(monkeypatch, seed):
    monkeypatch.setattr(drawn, "STATEMENTS", NO_WINDOWS)
    known = 0
    for each in range(10 * seed, 10 * seed + 10):
        case = drawn_problem(each, depths=((2,), (3, 2))[each % 2], constrained=each % 3 == 0)
        boxes = MappingBoxes.of(stage := case.design.stage(case), stage.mapped)
        if boxes is not None:
            known += compared(boxes, case, Random(each))
    assert known > 20


@pytest.mark.ci
def test_orders_that_boxes_leave_out_are_no_better_than_those_they_keep():
    """Single mappings in all orders of six levels; most are left out, and not all cost the same."""
    nest, rng = workload("mm", {"i": 16, "j": 16, "k": 16}), Random(1)
    design = SpatialDesign(nest, fitted(find_architecture("simba-like"), nest), MappingOptions())
    stage = (case := drawn.posed(design, "energy")).design.stage(case)
    boxes, differ = MappingBoxes.of(stage, stage.mapped), 0
    for _ in range(20):
        row = [rng.randrange(options.count) for options in boxes.options]
        kinds = kinds_of(boxes, row)
        chosen = tuple(
            OptionTable(options.take(np.array([n])))
            for options, n in zip(boxes.options, row, strict=True)
        )
        alone, values = MappingBoxes(stage, chosen, stage.mapped), {True: [], False: []}
        for variant, orders in enumerate(boxes.orders):
            vector, _, _ = alone._evaluated(variant, np.zeros((3, 1), int), alone._forests)
            needed = bool(boxes._needed.mask(orders, np.array(kinds))[0])
            values[needed].append(boxes.goal.exact(vector[:, 0]))
        assert min(values[True]) == min(values[True] + values[False])
        assert len(values[True]) < 20
        differ += len({*values[True], *values[False]}) > 1
    assert differ > 5


@pytest.mark.ci
@pytest.mark.parametrize(("outermost", "share"), [(False, 1 / 2), (True, 100 / 101)])
def test_multipliers_leave_steps_alone_that_have_no_trips(outermost, share):
    """100 trips in two steps, which cost what they are: 10 + 10, or 100 + 1."""
    trips = Monomials(np.zeros((1, 2)), np.eye(2)[None])
    fixed = np.array([[[False, outermost]]])
    guides = multipliers(trips, [], np.log([100.0]), fixed)
    assert guides.shares[0, 0] == pytest.approx(share, abs=0.01)


@pytest.mark.ci
def test_dual_bounds_leave_no_box_of_a_wide_product_where_another_choice_of_levels_is_better():
    """Hundreds are left by the least of each factor."""
    nest = workload("mm", {"i": 3072, "j": 768, "k": 2048})
    design = SpatialDesign(nest, fitted(find_architecture("eyeriss"), nest), MappingOptions())
    stage = design.stage(drawn.posed(design, "energy"))
    boxes, left = MappingBoxes.of(stage, stage.mapped), []
    for duals in (boxes._duals, None):
        boxes._duals = duals
        own = (boxes.begun(variant, Fraction(24309091206)) for variant in range(boxes.variants))
        left.append(sum(open_.count for open_ in own))
    assert left[0] == 0 < 100 < left[1]


@pytest.mark.ci(every=10)
@pytest.mark.slow(every=5)
@pytest.mark.parametrize("seed", range(60))
def test_no_uneven_mapping_is_below_the_bounds_of_its_boxes(seed):
    known = 0
    for each in range(10 * seed, 10 * seed + 10):
        rng = Random(each)
        nest, architecture = placed.random_case(rng)
        design = UnevenDesign(nest, architecture, MappingOptions(rng.random() < 0.5))
        case = problem(design, rng.choice(("energy", "latency", "edp", "Buffer.energy")))
        stage = design.stage(case)
        assert isinstance(stage, BoxSearch)
        if stage.variants:
            known += compared(stage, case, rng)
    assert known > 20
