"""Normalised objectives: every part over its own optimum, by enumeration."""

import json

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.metrics import metric_values
from tests.command_line import ithaca, refused, succeed
from tests.problems import mm_problem
from tests.solver.enumeration import packed, tile_values

MM = ("mm", "-s", "i=3,j=4,k=4", "--dataflow", "i,j", "--permutation", "C", "--edition", "exact")


def feasible():
    """Metrics of all configurations within 200 DSP blocks."""
    problem, rows = mm_problem((3, 4, 4), dsp="200"), []
    for point in packed(problem, tile_values(problem)):
        costs = evaluate(problem.design.array, point, problem.design.data, NUMPY)
        values = metric_values(costs, ("comm", "comp", "latency", "dsp", "bram18k", "bandwidth"))
        keep = (values["dsp"] <= 200) & (values["bram18k"] <= 3763.2) & (costs.accumulation >= 0)
        keep &= values["bandwidth"] <= 77
        rows.append({name: np.broadcast_to(v, keep.shape)[keep] for name, v in values.items()})
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


@pytest.mark.ci
def test_parts_are_over_their_own_optima(tmp_path):
    path, known = tmp_path / "r.json", feasible()
    for text, least in (
        (
            "norm(comm) - norm(comp)",
            known["comm"] / min(known["comm"]) - known["comp"] / max(known["comp"]),
        ),
        (
            "2*norm(x) + norm(latency)/3",
            2 * (known["dsp"] + 7) / (min(known["dsp"]) + 7)
            + known["latency"] / min(known["latency"]) / 3,
        ),
    ):
        own = ("--metric", "x=dsp + 7", "--limit", "dsp=200", "--objective", text)
        succeed("solve", *MM, *own, "-o", str(path))
        value = json.loads(path.read_text())["objective"]["value"]
        assert value == pytest.approx(float(min(least)), rel=1e-12)
        assert "optimal" in succeed("verify", str(path)).stdout


def test_infeasible_questions_say_why():
    done = ithaca(
        "solve", *MM, "--require", "lanes.i >= 99", "--objective", "norm(comm) - norm(dsp)"
    )
    assert done.returncode == 1
    assert "requirement lanes.i >= 99 cannot be met" in done.stderr


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("norm(latency) - norm(latency)", "neither grows nor falls with norm(latency)"),
        ("norm(latency", "is not closed, empty, inside another, or of several"),
        ("norm(norm(latency))", "is not closed, empty, inside another, or of several"),
        ("norm(latency,dsp)", "is not closed, empty, inside another, or of several"),
        ("norm(x)", "uses the unknown name 'x'"),
        ("norm(latency*0)", "the optimum of norm(latency*0) is 0"),
    ],
)
def test_refusals(text, refusal):
    assert refusal in refused("solve", *MM, "--objective", text)
