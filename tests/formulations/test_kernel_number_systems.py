"""One model, many number systems, on every kernel of the library."""

import random

import numpy as np
import pytest

from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.library import workload, workload_names
from tests.formulations.test_number_systems import agrees, everything, reference
from tests.whole_spaces import some_row, tables_of


def random_point(name, draw):
    """A random design of a small kernel with a random configuration of its space."""
    kernel = workload(name)
    sizes = {x: draw.randint(1, 3 if x in kernel.untiled else 9) for x in kernel.loops}
    nest = workload(name, sizes | {x: draw.randint(1, 3) for x, _ in kernel.parameters})
    array = draw.choice(designs(nest, draw.choice([Edition.EXACT, Edition.ODYSSEY])))
    problem = Problem(
        SystolicDesign(nest, array, DATA_TYPES[draw.choice(["fp32", "int16", "int8"])]),
        (),
        parse_objective("latency"),
    )
    tables = tables_of(problem.space)
    while True:
        values = some_row(tables, draw.randrange)
        if problem.space.contains(values):  # packs with an axis of their own are checked per point
            return problem, Configuration(values)


@pytest.mark.parametrize("name", workload_names())
def test_all_number_systems_agree_with_the_reference(name):
    draw = random.Random(name)
    for _ in range(6):
        point = random_point(name, draw)
        array, data = systolic(point[0]).array, systolic(point[0]).data
        values, expected = reference(point)
        floats = everything(
            evaluate(array, {q: np.array([float(v)] * 2) for q, v in values.items()}, data, NUMPY)
        )
        integers = everything(
            evaluate(array, {q: np.array([int(v)]) for q, v in values.items()}, data, NUMPY)
        )
        symbols = {
            metric: e.evaluate(values, FRACTION)
            for metric, e in everything(evaluate(array, Symbols(), data, SYMBOLIC)).items()
        }
        wide = {q: Interval(v, 2 * v) for q, v in values.items()}
        bounds = everything(evaluate(array, wide, data, INTERVAL))
        assert symbols == expected
        for metric, exact in expected.items():
            assert agrees(metric, floats[metric], exact), metric
            assert agrees(metric, integers[metric], exact), metric
            assert exact in bounds[metric], metric
