"""Whatever is asked of a small space is proven, and no more is than holds.

Questions are drawn: nested expressions with quotients, signs and zeros, whose divisors are positive.
All points of the space, in NumPy, say what is right.
"""

import random
from functools import cache

import numpy as np
import pytest

import ithaca
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import read_objective
from ithaca.solver.certificate import Status
from ithaca.solver.enumeration import search
from ithaca.solver.small import MOST_CONFIGURATIONS
from tests.solver.test_dumb_prover import points

DATAFLOWS = ("i", "j", "k", "i,j", "i,k", "j,k")

#: Metrics that are never 0, and others.
POSITIVE = ("latency", "main", "energy", "dsp", "off_chip_words", "power", "comp")
OTHER = (*POSITIVE, "prologue", "bram18k", "epilogue", "bandwidth")


def positive(draw, depth):
    """A random expression that is positive by its looks."""
    if not depth or draw.random() < 0.2:
        return draw.choice(POSITIVE)
    one, other = positive(draw, depth - 1), positive(draw, depth - 1)
    shapes = (
        f"({one} + {other})",
        f"({one} * {other})",
        f"max({one}, {other})",
        f"({one} + {draw.randint(0, 9)})",
        f"({one} / {other})",
        f"min({one}, {draw.randint(1, 300)})",
    )
    return draw.choice(shapes)


def signed(draw, depth):
    """A random expression of any sign."""
    if not depth or draw.random() < 0.1:
        return draw.choice(OTHER)
    one, other = signed(draw, depth - 1), signed(draw, depth - 1)
    shapes = (
        f"({one} + {other})",
        f"({one} - {other})",
        f"({one} / {positive(draw, depth - 1)})",
        f"({one} / {positive(draw, depth - 1)} + {other})",
        f"max({one}, {other} - {one})",
        f"min({one}, {other})",
        f"ceil({one} / {positive(draw, 1)})",
        f"({one} * {positive(draw, 1)} - {draw.randint(0, 50)})",
        f"({one} - {one})",
    )
    return draw.choice(shapes)


@cache
def metrics_of(dataflow, sizes):
    """Metrics of every point of a space that meets the platform's limits."""
    problem = question(dataflow, sizes, "latency", limit="dsp=0").problem
    columns = {name: [] for name in OTHER}
    for _, feasible, metrics in points(problem):
        for name, column in columns.items():
            own = np.broadcast_to(np.asarray(metrics[name], float), feasible.shape)
            column.append(own[feasible])
    return {name: np.concatenate(column) for name, column in columns.items()}


def question(dataflow, sizes, objective, **more):
    return ithaca.solve(
        "mm", **dict(zip("ijk", sizes, strict=True)), dataflow=dataflow, objective=objective, **more
    )


def least_of(objective, dataflow, sizes):
    """The least value of an objective over all points."""
    read = read_objective(objective, "objective", None).expression
    return float(np.min(read.evaluate(metrics_of(dataflow, sizes), NUMPY)))


def drawn(seed):
    draw = random.Random(seed)
    return next(o for o in iter(lambda: signed(draw, 3), None) if "/" in o)


@pytest.mark.slow(every=3)
@pytest.mark.parametrize("seed", range(30))
def test_expressions_drawn_are_proven(seed):
    objective, dataflow = drawn(seed), DATAFLOWS[seed % 6]
    sizes = (2, 2, 2) if seed % 3 else (3, 2, 2)
    answer = question(dataflow, sizes, objective, time_limit=60 if seed % 2 else None)
    assert answer.status == "optimal", objective
    least = least_of(objective, dataflow, sizes)
    assert float(answer.value) == pytest.approx(least, rel=1e-9, abs=1e-9), objective
    assert answer.lower_bound == answer.value, objective


@pytest.mark.slow(every=3)
@pytest.mark.parametrize(
    "objective", ["ceil(dsp/(main*dsp))", "ceil(energy/(main/dsp))", "ceil(energy/(-main*dsp))"]
)
def test_products_of_what_is_positive_are_divisors(objective):
    answer = question("i", (2, 2, 2), objective)
    assert answer.status == "optimal"
    assert float(answer.value) == least_of(objective, "i", (2, 2, 2))


@pytest.mark.slow(every=2)
@pytest.mark.parametrize("objective", ["latency/main+energy/latency", "(latency*dsp)/(main+dsp)"])
def test_every_design_is_proven_though_another_beats_it(objective):
    answer = question(None, (2, 2, 2), objective, time_limit=60)
    assert len(answer.designs) == 6
    for design in answer.designs:
        name = design.problem.design.name
        assert design.certificate.status is Status.OPTIMAL, name
        least = least_of(objective, name[1:].partition("]")[0], (2, 2, 2))
        assert float(design.value) == pytest.approx(least, rel=1e-9), name


@pytest.mark.ci
def test_the_answer_among_equals_is_that_of_exact_search():
    answers = [
        question("j,k", (2, 2, 2), "bandwidth", method=method) for method in ("auto", "exact")
    ]
    assert [answer.best.certificate.method for answer in answers] == ["enumeration", "exact"]
    assert answers[0].best.configuration == answers[1].best.configuration


def test_all_of_a_small_space_may_be_evaluated(monkeypatch):
    """Nobody takes over where an enumeration gives up in the middle of a search."""
    most = []
    begin = search.Enumeration.__init__

    def noted(self, problem, options, report=None, most_of=search.MOST, **words):
        begin(self, problem, options, report, words.get("most", most_of))
        most.append(self._most.evaluated)

    monkeypatch.setattr(search.Enumeration, "__init__", noted)
    answer = ithaca.solve("mm", i=2, j=2, k=2, objective="latency/main+energy/latency")
    assert answer.best.certificate.status is Status.OPTIMAL
    # of searches; rankings, which judge whole plateaus, end by themselves
    assert MOST_CONFIGURATIONS in most
