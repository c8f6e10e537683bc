"""Bottleneck trees: contributions add up to what the model says, and remedies follow the published
formulas."""

from fractions import Fraction

import pytest

import ithaca
from benchmarks.paper.dmazerunner import layer_problem
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.bottleneck import (
    TRACED,
    Binding,
    How,
    Part,
    bindings,
    bottleneck,
    contenders,
    traced,
    traced_values,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.hardware.remedies import Remedy, amdahl
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from tests.families.fir import fir_problem
from tests.plugins.hierarchies.test_map import PROBLEM, TINY


class Stub:
    """A design for bottleneck trees: passes that compute 30 cycles, send 20, or fetch 12 + 6; a
    drain of 5."""

    def parts(self, values, numbers):
        computing, sending, drain = values["c"] * 10, values["s"] + 0, values["d"] * 1
        first, second = values["a"] * 2, values["b"] * 1
        fetching = first + second
        latency = 4 * TRACED.maximum(computing, TRACED.maximum(sending, fetching)) + drain
        names = {
            "computing": computing,
            "sending": sending,
            "fetching": fetching,
            "fetching A": first,
            "fetching B": second,
        }
        return {"latency": latency}, {**names, "drain": drain}


POINT = Configuration({"c": 3, "s": 20, "a": 6, "b": 6, "d": 5})


def tree(**changes):
    stub = Stub()
    return bottleneck(stub, {**POINT, **changes}, Symbol("latency"), "latency")


def test_a_tree_of_sums_and_maxima_states_what_each_part_contributes():
    whole = tree()
    assert (whole.name, whole.how, whole.value, whole.share) == ("latency", How.SUM, 125, 1)
    passes, drain = whole.parts
    assert (passes.name, passes.how, passes.value, drain) == (
        "",
        How.MAX,
        120,
        Part("drain", How.GIVEN, Fraction(5), Fraction(1, 25)),
    )
    assert [(part.name, part.value) for part in passes.parts] == [
        ("computing", 120),
        ("sending", 80),
        ("fetching", 72),
    ]
    assert contenders(whole) == passes.parts
    fetching = passes.parts[2]
    assert [(part.name, part.within("fetching"), part.share) for part in fetching.parts] == [
        ("fetching A", "A", Fraction(48, 125)),
        ("fetching B", "B", Fraction(24, 125)),
    ]
    assert whole.document["sum"][0] == {
        "name": "",
        "value": 120,
        "share": 0.96,
        "max": [p.document for p in passes.parts],
    }


def test_what_is_counted_twice_is_one_part_of_a_sum():
    class Twice(Stub):
        def parts(self, values, numbers):
            calls = values["c"] * 10
            return {"latency": calls * 2 + values["d"] + calls + values["s"]}, {"calls": calls}

    stub = Twice()
    whole = bottleneck(stub, POINT, Symbol("latency"), "latency")
    assert [(part.name, part.value) for part in whole.parts] == [("calls", 90), ("", 25)]


def test_what_binds_is_followed_at_a_maximum_and_measured_against_the_next():
    assert bindings(tree()) == (Binding(("latency", "computing"), Fraction(3, 2), Fraction(1)),)
    # bursts take longest, 40 of them A's: s = 46 / 30, f = 40 / 46
    assert bindings(tree(a=20)) == (
        Binding(("latency", "fetching", "fetching A"), Fraction(46, 30), Fraction(40, 46)),
    )


def test_sums_may_pass_over_what_nothing_can_be_done_about_and_maxima_not():
    assert bindings(tree(a=20), {"fetching B"}.__contains__)[0].names == (
        "latency",
        "fetching",
        "fetching B",
    )
    assert bindings(tree(), {"sending"}.__contains__)[0].names == ("latency", "computing")
    assert bindings(tree(), {"drain"}.__contains__)[0].names == ("latency", "drain")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.yaml").write_text(TINY.replace("read_bandwidth: 2", "read_bandwidth: 1"))
    (folder / "problem.yaml").write_text(PROBLEM)
    return folder


def checked(part):
    """All parts of a tree, whose own parts make it up exactly."""
    yield part
    if part.how is How.SUM and part.parts:
        assert sum(each.value for each in part.parts) == part.value
    if part.how is How.MAX and part.parts:
        assert max(each.value for each in part.parts) == part.value
    if part.how is How.PRODUCT:
        assert all(each.value == part.value for each in part.parts)
    for each in part.parts:
        yield from checked(each)


def test_parts_of_mappings_are_the_metrics_that_the_model_states(tiny):
    found = ithaca.map(
        tiny / "problem.yaml",
        arch=tiny / "tiny.yaml",
        divisors_only=True,
        objective="edp",
        limit="pes=2",
    )
    (solution,) = found.solutions
    assert solution.configuration is not None
    design = solution.problem.design
    whole = bottleneck(design, solution.configuration, solution.problem.objective.expression, "edp")
    parts = {part.name: part for part in checked(whole)}
    metrics = solution.metrics
    assert (whole.value, whole.how) == (metrics["energy"] * metrics["latency"], How.PRODUCT)
    for level in ("DRAM", "Buffer"):
        assert parts[level].share == metrics[f"{level}.energy"] / metrics["energy"]
    reads = metrics["DRAM.Weights.reads"] + metrics["DRAM.Inputs.reads"]
    assert parts["DRAM reads"].share == reads / metrics["latency"]
    assert parts["computation"].value <= parts["DRAM reads"].value


def test_numbers_that_remember_are_the_numbers_of_the_reference():
    layer = layer_problem("conv5_1", "edp", divisors_only=True)
    proven = solve_staged(layer, SolveOptions()).configuration
    assert proven is not None
    filter_ = fir_problem(8, 32)
    low = Configuration({name: span[0] for name, span in filter_.space.ranges.items()})
    for problem, point in ((layer, proven), (filter_, low)):
        metrics, _ = problem.design.parts(traced_values(point), TRACED)
        assert {name: traced(number).value for name, number in metrics.items()} == problem.metrics(
            point
        )
        whole = bottleneck(problem.design, point, problem.objective.expression, "all")
        assert whole.value == problem.value(point)
        assert list(checked(whole))


def test_remedies_follow_the_published_formulas():
    s, f = Fraction(3, 2), Fraction(3, 4)
    assert Remedy("PEs").predicted(Fraction(64), s, f) == 96
    assert Remedy("width", most=Fraction(80)).predicted(Fraction(64), s, f) == 80
    assert Remedy("links", most=Fraction(200)).predicted(Fraction(64), s, f) == 96
    # RF = data(o) · target/target + data(others) · target/1, target = min(largest reuse, s)
    room = Remedy("words", stays=Fraction(10), grows=Fraction(20), reuse=Fraction(5))
    assert room.predicted(Fraction(32), s, Fraction(1)) == 40
    assert room.predicted(Fraction(32), Fraction(9), Fraction(1)) == 110
    # a tensor that is a share f only: 1 / s = (1 − f) + f / A
    assert amdahl(s, f) == Fraction(9, 5)
    assert Fraction(2, 3) == (1 - f) + f / Fraction(9, 5)
    assert room.predicted(Fraction(32), s, f) == 46
    # the rest alone is more than a fourth: A diverges, and all reuse is asked for
    assert amdahl(Fraction(4), f) is None
    assert room.predicted(Fraction(32), Fraction(4), f) == 110
    assert Remedy("bandwidth").predicted(Fraction(64), None, f) is None


def test_a_mapping_asks_for_room_where_words_bind(tiny):
    """DRAM's words bind; of the four Weights are most. The buffer holds them and what it needs of
    the others."""
    found = ithaca.map(
        tiny / "problem.yaml", arch=tiny / "tiny.yaml", divisors_only=True, objective="latency"
    )
    (solution,) = found.solutions
    design, configuration = solution.problem.design, solution.configuration
    assert configuration is not None
    remedies = profile_of(design).remedies(configuration)
    assert remedies["DRAM reads"] == (Remedy("DRAM.read_bandwidth"),)
    (room,) = remedies["DRAM Weights reads"]
    held = {
        tensor: solution.metrics[f"Buffer.{tensor}.capacity"]
        for tensor in ("Weights", "Inputs", "Outputs")
    }
    assert room.figure == "Buffer.words"
    assert (room.stays, room.grows) == (held["Weights"], held["Inputs"] + held["Outputs"])
    fetched = solution.metrics["Buffer.Weights.fills"]
    assert (
        fetched / room.reuse <= 24
    )  # with all reuse that is left, they are fetched once: they are 4 · 6 words
