"""Per-layer and shared-dataflow: totals against brute force, and what is proven about them."""

from collections import Counter
from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.solver import schedule
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.modes import mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.result import Total
from ithaca.studies.network.runner import RunOptions, conditions
from ithaca.studies.network.totals import adds_up, best_total, total
from ithaca.studies.store import Store
from tests.solver.known_optima import brute_force
from tests.studies.network.tiny import tiny_network, tiny_request

#: No padding: few enough points for brute force.
DIVISORS = SpaceOptions(divisors_only=True)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return tiny_network(tmp_path_factory.mktemp("network"))


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Options with a results folder, so that no problem is solved by two tests."""
    return RunOptions(
        store=Store(tmp_path_factory.mktemp("kept"), conditions=conditions(RunOptions()))
    )


@pytest.fixture(scope="module")
def least(network):
    """The optimum of every layer under every design, by enumeration."""
    posed = tiny_request(space=DIVISORS).pose(network)
    return {
        part.layer.name: {
            p.design.name: brute_force(p.with_design(technology=DEFAULT_TECHNOLOGY))
            for p in part.problems
        }
        for part in posed
    }


def test_per_layer_is_the_least_of_every_layer(network, options, least):
    result = mode("per-layer")(network, tiny_request(space=DIVISORS), options)
    best = {
        name: min(v for v in values.values() if v is not None) for name, values in least.items()
    }
    assert {r.layer.name: r.answer.value for r in result.layers} == best
    assert result.total.value == best["wide"] + 3 * best["deep"] + 2 * best["image"]
    assert result.total.certificate.status is Status.OPTIMAL
    assert result.total.certificate.lower_bound == result.total.value
    assert (result.answered, result.proven, result.complete) == (True, 3, True)
    for layer in result.layers:
        assert {s.problem.design.name: s.value for s in layer.designs} == least[layer.layer.name]


def test_shared_dataflow_is_the_least_sum_of_one_design_per_kernel(network, options, least):
    result = mode("shared-dataflow")(network, tiny_request(space=DIVISORS), options)
    products = {name: least["wide"][name] + 3 * least["deep"][name] for name in least["wide"]}
    images = {name: 2 * value for name, value in least["image"].items() if value is not None}
    assert result.total.value == min(products.values()) + min(images.values())
    assert result.total.certificate.status is Status.OPTIMAL
    totals = {
        (c.kernel, c.name): c.total.value for c in result.choices if c.total.value is not None
    }
    assert totals == {("mm", n): v for n, v in products.items()} | {
        ("conv2d", n): v for n, v in images.items()
    }
    chosen = {c.kernel: c for c in result.choices if c.chosen}
    assert chosen["mm"].total.value == min(products.values())
    assert chosen["mm"].layers == ("wide", "deep")
    assert all(c.proven for c in chosen.values())
    designs = {
        r.layer.name: r.answer.configured and r.answer.configured.problem.design.name
        for r in result.layers
    }
    assert designs["wide"] == designs["deep"] == chosen["mm"].name
    for layer in result.layers:
        assert layer.answer.value == least[layer.layer.name][designs[layer.layer.name]]


@pytest.mark.parametrize(
    ("objective", "sums"),
    [
        ("latency", True),
        ("energy", True),
        ("2*latency + off_chip_words/8", True),
        ("max(latency, off_chip_words/2)", True),
        ("ceil(latency/100)", True),
        ("dsp", False),
        ("throughput", False),
        ("latency*latency", False),
        ("latency*dsp", False),
        ("1/latency", False),
        ("latency + dsp", False),
    ],
)
def test_which_objectives_add_up(objective, sums):
    assert adds_up(parse_objective(objective)) is sums


def test_an_objective_that_does_not_add_up_has_no_total(network, options):
    request = tiny_request("dsp", space=DIVISORS)
    result = mode("per-layer")(only_layers(network, ["wide"]), request, options)
    assert result.total is None
    assert result.layers[0].answer.value == 5
    with pytest.raises(
        InputError,
        match="--objective 'dsp' does not add up over layers, which --mode shared-dataflow needs",
    ):
        mode("shared-dataflow")(network, request, options)


def test_energy_is_summed_exactly(network, options):
    only = only_layers(network, ["deep"])
    request = tiny_request("energy/3", dataflow=("i", "k"))
    result = mode("per-layer")(only, request, options)
    solution = result.layers[0].answer.configured
    assert result.total.value == 3 * solution.metrics["energy"] / 3 == solution.metrics["energy"]
    assert result.sum_of("latency") == 3 * solution.metrics["latency"]


def test_an_infeasible_layer_is_explained(network, options):
    result = mode("per-layer")(
        only_layers(network, ["mm"]), tiny_request(dsp=4, space=DIVISORS), options
    )
    assert (result.total.value, result.total.certificate.status) == (None, Status.INFEASIBLE)
    assert "limit dsp = 4 cannot be met" in result.layers[0].answer.explain()
    shared = mode("shared-dataflow")(
        only_layers(network, ["mm"]), tiny_request(dsp=4, space=DIVISORS), options
    )
    assert [r.answer.certificate.status for r in shared.layers] == [Status.INFEASIBLE] * 2
    assert not any(c.chosen for c in shared.choices)


def test_a_failing_problem_is_reported_and_the_rest_finish(network, monkeypatch, least):
    advance = schedule.advance

    def breaks(entry, *rest):
        problem = entry.course.problem
        if systolic(problem).nest.sizes.get("k") == 12 and problem.design.name == "[i,k] C":
            raise RuntimeError("two\nlines")
        return advance(entry, *rest)

    monkeypatch.setattr(schedule, "advance", breaks)
    request = tiny_request(space=DIVISORS)
    result = mode("per-layer")(only_layers(network, ["mm"]), request, RunOptions())
    assert [(f.place, f.reason) for f in result.failures] == [
        ("deep [i,k] C", "RuntimeError: two lines")
    ]
    wide, deep = result.layers
    assert wide.answer.certificate.status is Status.OPTIMAL
    rest = [value for name, value in least["deep"].items() if name != "[i,k] C"]
    assert deep.answer.value == min(rest)
    # the design that failed may be better: nothing is proven
    assert (deep.answer.certificate.status, deep.answer.certificate.lower_bound) == (
        Status.FEASIBLE,
        None,
    )
    assert (result.total.certificate.status, result.total.certificate.lower_bound) == (
        Status.FEASIBLE,
        None,
    )
    shared = mode("shared-dataflow")(only_layers(network, ["mm"]), request, RunOptions())
    chosen = next(c for c in shared.choices if c.chosen)
    assert not chosen.proven
    assert chosen.name != "[i,k] C"
    assert shared.total.certificate.status is Status.FEASIBLE


def test_an_engine_that_refuses_everything_is_bad_input(network):
    request = tiny_request("latency*(latency - 5)")
    with pytest.raises(InputError):
        mode("per-layer")(only_layers(network, ["wide"]), request, RunOptions(method="gp"))


def test_an_interrupted_run_says_so(network):
    ends = 0  # six problems are looked up, two of them solved

    def report(state):
        nonlocal ends
        ends += state.progress is None

    options = RunOptions(search=SolveOptions(stop=lambda: ends >= 8), report=report)
    result = mode("per-layer")(
        only_layers(network, ["wide"]), tiny_request(space=DIVISORS), options
    )
    assert not result.complete
    statuses = [s.certificate.status for s in result.layers[0].designs]
    assert Counter(statuses) == {Status.OPTIMAL: 2, Status.UNKNOWN: 4}
    assert result.layers[0].answer.certificate.status is Status.FEASIBLE
    bound = result.layers[0].answer.certificate.lower_bound
    assert bound <= min(s.value for s in result.layers[0].designs if s.value is not None)


def _part(count, value, bound, status):
    found = None if value is None else Fraction(value)
    proof = Certificate(
        Status(status), None if bound is None else Fraction(bound), None, "exact", 1, 0.5
    )
    return count, Total(found, proof)


def test_totals_add_up_values_and_bounds():
    found = total([_part(2, 10, 10, "optimal"), _part(3, 5, 4, "feasible")], "exact")
    certificate = found.certificate
    assert (found.value, certificate.lower_bound, certificate.status) == (35, 32, Status.FEASIBLE)
    assert (certificate.gap, certificate.nodes, certificate.seconds) == (3 / 35, 2, 1.0)
    unknown = total([_part(1, 10, 10, "optimal"), _part(1, None, 3, "unknown")], "exact")
    assert (unknown.value, unknown.certificate.lower_bound, unknown.certificate.status) == (
        None,
        13,
        Status.UNKNOWN,
    )
    infeasible = total([_part(1, 10, 10, "optimal"), _part(1, None, None, "infeasible")], "exact")
    assert (infeasible.value, infeasible.certificate.status) == (None, Status.INFEASIBLE)


def test_the_best_of_several_totals_is_proven_by_all_their_bounds():
    totals = [part for _, part in (_part(1, 10, 8, "feasible"), _part(1, 12, 9, "feasible"))]
    best = best_total(totals)
    assert (best.value, best.certificate.lower_bound, best.certificate.status) == (
        10,
        8,
        Status.FEASIBLE,
    )
    proven = best_total([_part(1, 10, 10, "optimal")[1], _excluded()])
    assert (proven.value, proven.certificate.status) == (10, Status.OPTIMAL)
    assert best_total([_excluded()]).certificate.status is Status.INFEASIBLE


def _excluded():
    return _part(1, None, None, "infeasible")[1]


def test_layers_are_chosen_by_name_or_kernel(network):
    assert [layer.name for layer in only_layers(network, ["mm"]).layers] == ["wide", "deep"]
    assert [layer.name for layer in only_layers(network, ["i*", "w?de"]).layers] == [
        "wide",
        "image",
    ]
    assert only_layers(network, ["wide, image"]) == only_layers(network, ["i*", "w?de"])
    assert only_layers(network, []) is network
    with pytest.raises(
        InputError,
        match=r"--layers: 'x' is no layer of tiny; allowed: kernels mm, conv2d; layers wide, deep, image",
    ):
        only_layers(network, ["wide", "x"])


def test_wishes_that_no_layer_can_meet_are_refused(network):
    wishes = [
        (tiny_request(dataflow=("i", "j")), "layer image: unknown dataflow 'i,j' of conv2d"),
        (tiny_request(permutation="A"), "layer wide: no buildable design is left"),
        (tiny_request("area"), "metric 'area' is not known"),
    ]
    for request, line in wishes:
        with pytest.raises(InputError, match=line):
            request.pose(network)
    with pytest.raises(InputError, match="--mode is 'x'; allowed: per-layer, shared-dataflow"):
        mode("x")


def test_unbuildable_designs_can_be_considered(network):
    parts = tiny_request(include_unbuildable=True).pose(network)
    assert [len(part.problems) for part in parts] == [18, 18, 30]


def test_results_of_one_mode_serve_the_other(network, tmp_path, monkeypatch):
    request, only = tiny_request(space=DIVISORS), only_layers(network, ["wide"])
    store = Store(tmp_path / "kept", conditions=conditions(RunOptions()))
    mode("per-layer")(only, request, RunOptions(store=store))
    monkeypatch.setattr(schedule, "advance", None)  # whatever is solved again fails
    again = mode("shared-dataflow")(only, request, RunOptions(store=store))
    assert (again.failures, again.proven) == ((), 1)


def test_a_run_that_time_ended_is_not_complete(network):
    options = RunOptions(search=SolveOptions(time_limit=1e-6))
    part = only_layers(network, ["wide"])
    result = mode("per-layer")(part, tiny_request(space=DIVISORS), options)
    assert (result.complete, result.answered) == (False, False)
