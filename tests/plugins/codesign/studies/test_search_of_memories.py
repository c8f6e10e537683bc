"""The best accelerators of spaces of memories, against solving every layer on each of them."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies.codesign import codesign
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.codesign.studies.test_search import points

SMALL_SPACES = {
    "explainable": """name: small
architecture: explainable-edge
edition: explainable
quantities: {pes: [2, 4, 8], rf_bytes: [8, 16], spm_kb: [8, 16], links: [1, 2]}
figures:
  RF.mesh_x: pes
  RF.words: rf_bytes / 2
  RF.read_energy: {of: rf_bytes, table: {8: 0.015, 16: 3}}
  SPM.words: 512 * spm_kb
  SPM.read_energy: {of: spm_kb, table: {8: 3, 16: 4}}
  network.energy: links
  network.input_links: links
costs: {area: pes * rf_bytes + spm_kb + links}
""",
    "intrinsic": """name: small
architecture: hasco-gemm
edition: intrinsic
quantities: {side: [2, 3, 4], words: [40, 80, 200], banks: [1, 2]}
figures:
  mac.mesh_x: side
  mac.mesh_y: side
  Scratchpad.words: words
  Scratchpad.read_energy: {of: words, table: {40: 2, 80: 3, 200: 6}}
  DRAM.read_energy: words + 20 * banks
  tensorized.banks: banks
costs: {area: side * side + words / 10 + banks}
""",
}


@pytest.mark.parametrize("edition", SMALL_SPACES)
@pytest.mark.parametrize(
    ("objectives", "limits"),
    [
        (["energy"], {}),
        (["energy"], {"latency": 60}),
        (["edp"], {"area": 30}),
        (["latency"], {"energy": 9000}),
        (["energy", "area"], {}),
    ],
)
def test_energies_over_spaces_are_those_of_each_accelerator(edition, objectives, limits, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL_SPACES[edition])
    bounds = {name: Fraction(bound) for name, bound in limits.items()}
    works = find_workloads(["mm"], sizes={"i": 6, "j": 5, "k": 4})
    question = make_question(find_space(str(path)), works, objectives, bounds)
    space, found = question.space, set[tuple[Fraction, ...]]()
    for values in product(*(quantity.values for quantity in space.quantities)):
        point = Configuration(dict(zip((q.name for q in space.quantities), values, strict=True)))
        area = space.cost(point)["area"]
        if area > bounds.get("area", area):
            continue
        of_layers = tuple(limit for limit in question.limits if limit.metric != "area")
        for posed in space.accelerator.problems(works[0], space.at(point), question.objectives[0]):
            value = solve_staged(replace(posed, limits=of_layers)).value
            if value is not None:
                found.add((value, area)[: len(objectives)])
    front = sorted(
        a for a in found if not any(b != a and b[0] <= a[0] and b[-1] <= a[-1] for b in found)
    )
    result = codesign(question)
    assert result.certificate.status is (Status.OPTIMAL if front else Status.INFEASIBLE)
    assert [point.values for point in result.front] == front
    assert front or limits


@pytest.mark.slow
def test_the_best_memories_are_those_of_solving_every_layer_on_all():
    whole = find_space("dmazerunner-memory")
    small = tuple(replace(quantity, values=quantity.values[2:6:2]) for quantity in whole.quantities)
    space = replace(whole, quantities=small)
    works = tuple(
        replace(work, nest=work.nest.with_sizes({"N": 1}))
        for work in find_workloads(["resnet-dmazerunner"])
    )[3:]
    works = tuple(replace(work, stored=()) for work in works)
    for objective in ("sum(edp)", "latency", "energy"):
        question = make_question(space, works, [objective])
        expected = {}
        for point in points(question):
            problems = [
                space.accelerator.problems(work, space.at(point), question.objectives[0])[0]
                for work in works
            ]
            expected[point] = sum(solve_staged(problem).value or 0 for problem in problems)
        result = codesign(question)
        assert result.best is not None
        assert result.best.values == (min(expected.values()),) == (expected[result.best.point],)
        assert result.certificate.status is Status.OPTIMAL
