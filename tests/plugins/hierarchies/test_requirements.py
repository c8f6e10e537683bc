"""Requirements of mappings: stages, which know metrics alone, are not used for what speaks of
quantities."""

import json

import numpy as np
import pytest

from ithaca.commands.api.loading import load
from ithaca.formulations.algebra.number_systems import NUMPY
from tests.command_line import refused, succeed
from tests.whole_spaces import crossed, linked, tables_of

QUESTION = ("mm", "-s", "i=2,j=2,k=4", "--arch", "eyeriss", "--divisors-only")


@pytest.mark.ci(every=3)
@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("i.DRAM == k.GLB", lambda v, m: v["i.DRAM"] == v["k.GLB"]),
        ("pes >= 4", lambda v, m: m["pes"] >= 4),
        (
            "DRAM.A.reads + i.GLB >= DRAM.B.reads + 2",
            lambda v, m: m["DRAM.A.reads"] + v["i.GLB"] >= m["DRAM.B.reads"] + 2,
        ),
    ],
)
def test_requirements_against_all_mappings(rule, holds, tmp_path):
    path = tmp_path / "r.json"
    printed = succeed("map", *QUESTION, "--objective", "energy", "--require", rule, "-o", str(path))
    assert f"required   {rule}" in printed.stdout
    best = load(path).best
    design = best.problem.design
    every = linked(design.space, crossed(tables_of(design.space)))
    metrics = design.metrics({n: v.astype(float) for n, v in every.items()}, NUMPY)
    meets = holds(every, metrics)
    for used, bound in design.conditions(every, NUMPY):
        meets = meets & (used <= float(bound))
    assert float(best.value) == pytest.approx(np.min(metrics["energy"][meets]), rel=1e-12)
    assert not np.all(meets)
    assert json.loads(path.read_text())["platform"]["limits"] == {rule: 0}
    assert "optimal" in succeed("verify", str(path)).stdout


def test_stages_refuse_quantities():
    refusal = refused("map", *QUESTION, "--require", "i.DRAM == 2", "--method", "staged")
    assert "has no stages" in refusal
