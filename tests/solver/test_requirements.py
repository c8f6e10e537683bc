"""Requirements: comparisons of metrics, quantities and named parts, in every engine."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.goals import parse_requirements
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from tests.command_line import ithaca, refused, succeed
from tests.problems import mm_problem
from tests.solver.enumeration import packed, tile_values

#: Requirements with what they mean, in arithmetic of their own, of values and costs.
RULES = {
    "lanes.i == 2*lanes.j": lambda v, _: v["lanes.i"] == 2 * v["lanes.j"],
    "t1.i == 3*t2.j": lambda v, _: v["t1.i"] == 3 * v["t2.j"],
    "tiles.k <= 2": lambda v, _: v["tiles.k"] <= 2,
    "lanes.i*lanes.j >= 7": lambda v, _: v["lanes.i"] * v["lanes.j"] >= 7,
    "pack.A >= pack.B + 1": lambda v, _: v["pack.A"] > v["pack.B"],
    "words.A <= 2*words.B": lambda _, c: c.words["A"] <= 2 * c.words["B"],
    "comm == words.A + words.B + words.C": lambda _, c: c.off_chip_words > 0,
    "dsp/lanes.i <= 20": lambda v, c: c.dsp <= 20 * v["lanes.i"],
    "max(t2.i, t2.j) <= min(lanes.i, lanes.j)": lambda v, _: (
        np.maximum(v["t2.i"], v["t2.j"]) <= np.minimum(v["lanes.i"], v["lanes.j"])
    ),
    "latency >= 100": lambda _, c: c.latency >= 100,
}


def requiring(problem, *texts):
    """A problem with requirements."""
    return replace(problem, limits=(*problem.limits, *(Limit(t, Fraction(0)) for t in texts)))


@cache
def points(sizes):
    """All points of the space, in parts, with their costs and metrics."""
    problem = mm_problem(sizes)
    design = problem.design
    parts = []
    for point in packed(problem, tile_values(problem)):
        costs = evaluate(design.array, point, design.data, NUMPY, design.technology)
        parts.append((point, costs, metric_values(costs, ("latency", "dsp", "bram18k"))))
    return parts


def enumerated(problem, texts):
    """The least latency over the whole space where rules hold, without any of their texts."""
    design, best = problem.design, None
    for point, costs, metrics in points(tuple(problem.design.nest.sizes.values())):
        meets = np.ones(len(point["t1.i"]), bool)
        if design.array.pe.accumulators is not None:
            meets &= costs.accumulation >= 0
        for limit in problem.limits:
            meets &= limit.expression.evaluate(metrics, NUMPY) <= float(limit.bound)
        for text in texts:
            meets &= RULES[text](point, costs)
        if meets.any():
            least = float(np.broadcast_to(metrics["latency"], meets.shape)[meets].min())
            best = least if best is None else min(best, least)
    return best


def check_engine(sizes, texts, method, dsp="500"):
    plain = mm_problem(sizes, dsp=dsp)
    problem = requiring(plain, *texts)
    solution = engine(method)(problem, SolveOptions(seed=1))
    least = enumerated(plain, texts)
    if solution.configuration is not None:
        assert least is not None
        assert solution.value >= least
        assert problem.feasible_value(solution.configuration) == solution.value
    if solution.certificate.status is Status.OPTIMAL:
        assert float(solution.value) == least
    elif method in (Method.EXACT, "cpsat", Method.AUTO):
        assert solution.certificate.status is Status.INFEASIBLE
        assert least is None
    else:
        bound = solution.certificate.lower_bound
        assert least is None or bound is None or float(bound) <= least


@pytest.mark.ci(every=4)
@pytest.mark.parametrize("text", RULES)
@pytest.mark.parametrize("method", [Method.EXACT, "cpsat"])
def test_one_rule(text, method):
    check_engine((5, 4, 6), [text], method)


@pytest.mark.ci(every=3)
@pytest.mark.parametrize("method", ["gp", "nlp", "evolve", Method.AUTO])
def test_other_engines(method):
    check_engine(
        (5, 4, 6), ["lanes.i == 2*lanes.j", "tiles.k <= 2", "words.A <= 2*words.B"], method
    )


@pytest.mark.slow
@given(
    st.tuples(*[st.integers(1, 7)] * 3),
    st.lists(st.sampled_from([*RULES]), min_size=1, max_size=3, unique=True),
    st.sampled_from([Method.EXACT, "cpsat"]),
    st.sampled_from(["20", "60", "400"]),
)
def test_drawn_rules(sizes, texts, method, dsp):
    check_engine(sizes, texts, method, dsp)


MM = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--permutation", "C")


def test_documents_hold_requirements(tmp_path):
    """A file states the requirement, and what it states is proven with it; not with another."""
    path = tmp_path / "r.json"
    rules = ("--require", "lanes.i == 2*lanes.j", "--require", "tiles.k >= 2,words.A <= 100")
    printed = succeed("solve", *MM, *rules, "-o", str(path))
    assert "required   lanes.i == 2*lanes.j" in printed.stdout
    document = json.loads(path.read_text())
    assert document["platform"]["limits"]["tiles.k >= 2"] == 0
    assert "optimal" in succeed("verify", str(path)).stdout
    explained = succeed("explain", str(path), "--quick").stdout
    assert "Requirement lanes.i == 2*lanes.j: it holds" in explained
    path.write_text(path.read_text().replace("tiles.k >= 2", "tiles.k >= 5"))
    assert "breaks tiles.k >= 5, which the file requires" in refused("verify", str(path))
    path.write_text(path.read_text().replace("tiles.k >= 5", "tiles.x >= 5"))
    assert "unknown name 'tiles.x'" in refused("verify", str(path))


def test_infeasible_requirements_are_named(tmp_path):
    path = str(tmp_path / "r.json")
    done = ithaca("solve", *MM, "--require", "lanes.i >= 20", "-o", path)
    assert done.returncode == 1
    assert (
        "requirement lanes.i >= 20 cannot be met: it is missed by 4 at least with the limits as "
        "they are (design [i,j] C)" in done.stderr
    )
    assert "infeasible" in succeed("verify", path).stdout


def test_in_python():
    import ithaca as package

    answer = package.solve("mm", i=8, j=8, k=8, dataflow="i,j", require=["lanes.i == 4"])
    assert {s.configuration["lanes.i"] for s in answer.designs} == {4}


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("lanes.i", "--require is 'lanes.i'; allowed: comparisons by <=, >=, =="),
        ("lanes.i = 4", "'lanes.i = 4' compares by =; allowed: one of <=, >=, =="),
        ("lanes.i != 4", "compares by !=; allowed"),
        ("1 <= lanes.i <= 4", "compares by <= and <=; allowed"),
        ("lanes.i <=", "misses a number or name at its end"),
        ("lanes.x <= 4", "uses the unknown name 'lanes.x'; allowed: "),
        ("lane.i <= 4", "did you mean lanes.i?"),
        ("latenzy <= 4", "did you mean latency?"),
        ("1/(lanes.i - 4) <= 4", "divides by 'lanes.i - 4', which may be 0 or negative"),
    ],
)
def test_refusals(text, refusal):
    error = refused("solve", *MM, "--require", text)
    assert refusal in error
    assert error.count("\n") == 1


def test_several_requirements_in_one_option():
    assert [*parse_requirements(["a <= max(b, c), d == 1", "e >= 2"])] == [
        "a <= max(b, c)",
        "d == 1",
        "e >= 2",
    ]
    with pytest.raises(InputError, match="allowed: 0, as it is a requirement"):
        Limit("a <= b", Fraction(1))


def test_metrics_of_ones_own(tmp_path):
    """Names stand for expressions in the objective, limits and requirements; files state these."""
    path, more = tmp_path / "r.json", ("--edition", "exact", "--limit", "dsp=500")
    own = ("--metric", "pes=lanes.i*lanes.j", "--metric", "each=latency/pes")
    rules = ("--limit", "pes<=6", "--require", "each >= 4")
    sizes = ("mm", "-s", "i=5,j=4,k=6", *MM[3:])
    succeed("solve", *sizes, *more, *own, *rules, "--objective", "latency + 3*pes", "-o", str(path))
    stated = json.loads(path.read_text())
    assert stated["objective"]["expression"] == "latency + 3*(lanes.i*lanes.j)"
    assert stated["platform"]["limits"]["(lanes.i*lanes.j)"] == 6
    assert stated["platform"]["limits"]["(latency/(lanes.i*lanes.j)) >= 4"] == 0
    least = np.inf
    for point, costs, metrics in points((5, 4, 6)):
        pes = point["lanes.i"] * point["lanes.j"]
        meets = (pes <= 6) & (metrics["dsp"] <= 500) & (metrics["latency"] >= 4 * pes)
        meets &= (metrics["bram18k"] <= 3763.2) & (costs.accumulation >= 0)
        meets &= metrics_within_bandwidth(costs)
        value = np.where(meets, metrics["latency"] + 3 * pes, np.inf)
        least = min(least, float(value.min()))
    assert stated["objective"]["value"] == least
    assert "optimal" in succeed("verify", str(path)).stdout


def metrics_within_bandwidth(costs):
    """The points within 77 GB/s at 300 MHz, of words of four bytes."""
    return costs.off_chip_words * 4 * 0.3 <= 77 * costs.latency


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["x"], "--metric is 'x'; allowed: NAME=EXPRESSION such as pes=lanes.i*lanes.j"),
        (["a.b=dsp"], "--metric is 'a.b=dsp'; allowed: NAME=EXPRESSION"),
        (["max=dsp"], "--metric is 'max=dsp'"),
        (["latency=dsp"], "'latency' is a metric already"),
        (["x=dsp", "x=dsp"], "'x' is given twice"),
        (["x=dsp +"], "misses a number or name at its end"),
        (["x=dps"], "uses the unknown name 'dps'"),
        (["x=lanes.q"], "uses the unknown name 'lanes.q'"),
    ],
)
def test_refused_metrics(words, refusal):
    own = [word for each in words for word in ("--metric", each)]
    assert refusal in refused("solve", *MM, *own, "--objective", "x")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("solve", MM),
        ("solve", ("lu", "-s", "n=4")),
        ("map", ("mm", "-s", "i=2,j=2,k=2", "--arch", "simple")),
        ("network", ("alexnet", "--layers", "fc8")),
        ("network", ("alexnet", "--layers", "fc8", "--mode", "shared-array")),
        ("network", ("alexnet", "--layers", "fc8", "--arch", "simple")),
        ("pareto", (*MM, "--objectives", "latency,dsp")),
        ("whatif", ("mm", "-s", "j=2,k=2", "--vary", "i=2,4")),
        ("seed", (*MM, "--to", "csv", "-o", "seeds.csv")),
    ],
)
def test_metrics_that_nothing_uses_are_read(command, options):
    """Every family and study: what they use, and whether their name is new."""
    line = refused(command, *options, "--metric", "x=latency", "--metric", "y=dps")
    assert "--metric 'y': 'dps' uses the unknown name 'dps'" in line
    assert "'latency' is a metric already" in refused(command, *options, "--metric", "latency=2")
