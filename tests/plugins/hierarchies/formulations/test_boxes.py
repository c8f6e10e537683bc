"""Boxes of mappings: no bound is above a mapping of its box, as the reference evaluates it."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search.box_search import BoxSearch
from ithaca.plugins.hierarchies.formulations.search.mapping_boxes import MappingBoxes
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
        row = [rng.randrange(options.count) for options in boxes._options]
        kinds = [[own._kind[n]] for own, n in zip(boxes._forests, row, strict=True)]
        chosen = tuple(
            replace(options, factors=options.factors[:, [n]])
            for options, n in zip(boxes._options, row, strict=True)
        )
        alone, values = MappingBoxes(stage, chosen, stage.mapped), {True: [], False: []}
        for variant, orders in enumerate(boxes._orders):
            vector, _, _ = alone._evaluated(variant, np.zeros((3, 1), int), alone._forests)
            needed = bool(boxes._needed.mask(orders, np.array(kinds))[0])
            values[needed].append(boxes._goal.exact(vector[:, 0]))
        assert min(values[True]) == min(values[True] + values[False])
        assert len(values[True]) < 20
        differ += len({*values[True], *values[False]}) > 1
    assert differ > 5


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
