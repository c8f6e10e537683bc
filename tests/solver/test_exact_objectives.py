"""The exact engine on objectives that divide and subtract, against brute force."""

import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.workloads.library import workload
from tests.problems import mm_problem
from tests.solver.enumeration import objectives_of_all
from tests.solver.test_exact import check_against_brute_force

OBJECTIVES = (
    "-throughput",
    "power",
    "edp/latency",
    "comm/comp",
    "latency/bram18k",
    "-comp",
    "comm - comp",
    "-comp/latency",
    "energy/latency - dsp",
    "-(dsp + bram18k)",
    "latency/(dsp + 1)",
)


def random_problem(seed):
    """A small problem with an objective that divides or subtracts, sometimes with such a limit."""
    draw = random.Random(seed)
    array = draw.choice(designs(workload("mm"), draw.choice([Edition.EXACT, Edition.ODYSSEY])))
    limits = (
        (Limit("power", Fraction(draw.randint(5, 400), 10_000)),) if draw.random() < 0.3 else ()
    )
    return mm_problem(
        (draw.randint(2, 10), draw.randint(2, 10), draw.randint(2, 9)),
        array.dataflow,
        array.permutation,
        array.edition.value,
        dsp=str(draw.randint(10, 400) / 2),
        bram18k=str(draw.randint(2, 100)),
        objective=OBJECTIVES[seed % len(OBJECTIVES)],
        more_limits=limits,
    )


@pytest.mark.parametrize("seed", range(22))
def test_optimum_equals_brute_force(seed):
    check_against_brute_force(random_problem(seed))


@pytest.mark.parametrize("seed", range(22, 220))
def test_optimum_equals_brute_force_on_many_problems(seed):
    check_against_brute_force(random_problem(seed))


#: Quotients of which thousands of configurations may have the least, in edition cycle, whose main
#: phase is a difference.
QUOTIENTS = (
    "latency/main",
    "main/latency",
    "latency/energy",
    "energy/main",
    "latency/(latency - 1)",
    "dsp/(latency/main)",
    "ceil(latency/main)/main",
    "max(latency/main, energy/main)",
    "-main/latency",
    "1/(main/latency)",
    "off_chip_words/main",
    "latency/(energy/main)",
)


def quotient_problem(objective, dataflow):
    """All tiles, packs and padding of a product so small that enumeration holds them."""
    return mm_problem((2, 1, 2), (dataflow,), "C", "cycle", objective=objective)


@cache
def enumerated_quotients(dataflow):
    """The least of every quotient over the whole space, by enumeration."""
    problem = quotient_problem("latency", dataflow)
    wanted = [parse_objective(text).expression for text in QUOTIENTS]
    rows = np.min([part.min(axis=1) for part in objectives_of_all(problem, wanted)], axis=0)
    return dict(zip(QUOTIENTS, rows.tolist(), strict=True))


@pytest.mark.parametrize("objective", QUOTIENTS)
@pytest.mark.parametrize(
    "dataflow", [pytest.param("j", marks=pytest.mark.slow), pytest.param("k", marks=pytest.mark.ci)]
)
def test_quotients_with_positive_divisors_are_those_of_brute_force(objective, dataflow):
    solution = solve_exact(quotient_problem(objective, dataflow), SolveOptions(any_tie=True))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == solution.certificate.lower_bound
    assert float(solution.value) == pytest.approx(enumerated_quotients(dataflow)[objective])


@pytest.mark.ci
def test_configurations_of_a_plateau_are_judged_together(monkeypatch):
    """16,000 configurations have the least latency/main; the reference took a minute for them."""
    judged = []
    reference = Problem.feasible_value

    def counted(problem, configuration):
        judged.append(configuration)
        return reference(problem, configuration)

    monkeypatch.setattr(Problem, "feasible_value", counted)
    problem = mm_problem((2, 2, 2), edition="cycle", objective="latency/main")
    solution = solve_exact(problem, SolveOptions(any_tie=True))
    assert solution.value == solution.certificate.lower_bound == Fraction(2097, 2048)
    assert len(judged) < 500


@pytest.mark.parametrize(("objective", "value"), [("power", "0.00619"), ("-comp", "-1720")])
def test_whole_arrays_are_proven(objective, value):
    """Objectives whose bound, quantity by quantity, stays open: at 1024³, dataflow (i,j)."""
    solution = solve_exact(mm_problem((1024, 1024, 1024), objective=objective))
    assert solution.certificate.status is Status.OPTIMAL
    assert float(solution.value) == pytest.approx(float(value), rel=1e-4)


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        ("1/ceil(latency/1e30)", 1),
        ("min(1/latency, 1e-30)", Fraction(1, 10**30)),
        ("max(latency, 1e30)", 10**30),
        ("max(latency/dsp, 1e6)", 10**6),
        ("0*latency + 1", 1),
        ("0*latency", 0),
    ],
)
def test_a_plateau_ends_with_any_of_its_points(objective, value):
    """No box is better than the bound that the value meets; floats alone cannot tell, and would try
    every configuration."""
    problem = mm_problem((64, 64, 64), objective=objective)
    solution = solve_exact(problem, SolveOptions(time_limit=20, any_tie=True))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == solution.certificate.lower_bound == value
    assert solution.certificate.nodes < 1000


@pytest.mark.parametrize("seed", range(4))
def test_exact_bounds_of_boxes_bound_their_configurations(seed):
    """Along random ways from the root to a single configuration they only grow, up to the
    reference's value."""
    draw = random.Random(seed)
    model = build_model(
        mm_problem(
            (12, 9, 8),
            ("i", "k"),
            objective=draw.choice(["latency/dsp", "comm/comp", "-comp/latency"]),
        )
    )
    for _ in range(20):
        nodes = [0] * len(model.trees)
        before = None
        while any(tree.left[node] for tree, node in zip(model.trees, nodes, strict=True)):
            axis = draw.choice([a for a, tree in enumerate(model.trees) if tree.left[nodes[a]]])
            nodes[axis] = int(model.trees[axis].left[nodes[axis]]) + draw.randint(0, 1)
            bound = model.exact_bound.of([nodes[a] for a in model.exact_bound.axes])
            assert before is None or before <= bound
            before = bound
        configuration = model.configuration(
            [int(tree.row[node]) for tree, node in zip(model.trees, nodes, strict=True)]
        )
        assert before == model.problem.value(configuration)
