"""Under limits that count steps: a space loses to none of its parts, and of several problems none
is left without an answer."""

import json

import pytest

import ithaca
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.proof_state import ProofState
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.formulations.drawn import posed, published
from tests.plugins.hierarchies.formulations.test_map_layers import ASKED, tensors, write


@pytest.mark.usefixtures("counted_time")
def test_padding_loses_to_no_factors_that_divide():
    """The first beams of padding would be worse."""
    limit = 4e-4  # seconds: forty looks at the clock
    exact, padded = (
        solve_staged(
            published("simple", "gemm", "energy", divisors=divisors),
            SolveOptions(time_limit=seconds),
        )
        for divisors, seconds in ((True, limit), (False, 2 * limit))
    )
    assert padded.value <= exact.value
    assert (
        padded.certificate.lower_bound <= solve_staged(published("simple", "gemm", "energy")).value
    )


@pytest.mark.usefixtures("counted_time")
def test_padded_tiles_lose_to_no_tiles_that_divide():
    exact, padded = (
        ithaca.map(
            "conv2d",
            arch=ASKED[1],
            edition=ASKED[3],
            divisors_only=divisors,
            time_limit=seconds,
            o=128,
            r=28,
            c=28,
            i=128,
        )
        for divisors, seconds in ((True, 1e-3), (False, 2e-3))
    )
    assert padded.value <= exact.value


def problem(extents, *, divisors, free):
    nest = workload("mm", dict(zip("ijk", map(int, extents.split()), strict=True)))
    options = MappingOptions(divisors_only=divisors, free_bypass=free)
    return posed(SpatialDesign(nest, fitted(find_architecture("simple"), nest), options), "edp")


@pytest.mark.parametrize("extents", ["5 7 3"])
def test_the_best_of_each_part_is_as_good_in_the_whole(extents):
    whole = problem(extents, divisors=False, free=True)
    parts = [
        problem(extents, divisors=divisors, free=free)
        for divisors, free in ((True, False), (True, True), (False, False))
    ]
    assert list(whole.design.narrower) == [part.design for part in parts]
    assert list(parts[1].design.narrower) == list(parts[2].design.narrower) == [parts[0].design]
    assert not parts[0].design.narrower
    found = solve_staged(whole)
    assert found.certificate.status is Status.OPTIMAL
    for part in parts:
        solution = solve_staged(part)
        assert solution.configuration is not None
        own = whole.design.translated(part.design, solution.configuration)
        assert own is not None
        assert found.value <= solution.value == whole.feasible_value(own)
    course = ProofState(whole, widens=False)
    course.finish(SolveOptions())
    assert course.state.value == found.value  # the same where nothing is searched before


@pytest.mark.usefixtures("counted_time")
def test_every_layer_of_a_network_has_a_mapping_before_any_is_proven():
    found = ithaca.network(
        "resnet18",
        arch="simple",
        layers=["conv4_1.*", "conv5_*"],
        objective="sum(edp)",
        time_limit=2e-3,
    )
    assert len(found.layers) == 6
    assert all(layer.answer.value is not None for layer in found.layers)
    again = ithaca.network(
        "resnet18",
        arch="simple",
        layers=["conv4_1.*", "conv5_*"],
        objective="sum(edp)",
        time_limit=2e-3,
    )
    assert [layer.answer.configuration for layer in found.layers] == [
        layer.answer.configuration for layer in again.layers
    ]


@pytest.mark.usefixtures("counted_time")
def test_every_layer_of_a_file_has_a_mapping_before_any_is_proven(tmp_path):
    rows = []
    for m in (64, 96, 128, 60):
        sizes = {"N": 1, "M": m, "C": 64, "Ox": 28, "Oy": 28, "Fx": 3, "Fy": 3}
        rows.append(("conv", json.dumps(sizes), 1, json.dumps(tensors("conv", sizes, 1))))
    file = write(tmp_path / "layers.csv", ("kind", "extents", "stride", "tensors"), rows)
    found = ithaca.map(problems=file, arch=ASKED[1], edition=ASKED[3], time_limit=4e-3)
    assert [each.value is not None for each in found.results] == [True] * 4


def test_rivals_of_several_keys_are_all_solved():
    problems = [problem(extents, divisors=True, free=False) for extents in ("8 8 8", "4 4 4")]
    both = solve_designs(problems, SolveOptions(time_limit=60.0), method=Method.AUTO, rivals=[0, 1])
    assert [s.value for s in both] == [solve_staged(p).value for p in problems]


def test_narrower_spaces_are_searched_for_what_beats_the_rival_alone():
    """Tiles that divide come first, and need not be solved where they do not beat another design."""
    words = {"dtype": "int8", "platform": "u280", "limit": "dsp=40", "dataflow": "j"}
    best = ithaca.solve("mm", i=2, j=12, k=8, ports=2, **words)
    course = ProofState(best.best.problem, others=False)
    assert best.value is not None
    rival = best.value * 4 / 5
    course.finish(SolveOptions(rival=rival))
    assert course.state.incumbent is None
    assert course.state.lower_bound == rival
