"""Contradictions drawn over commands: what a line says of them holds when it is asked again.

Limits that are named are left out, or raised to what would do, one by one: only then is there an
answer. So the lines of all designs, of layers that share a budget and of accelerators are tested as
they are read.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from random import Random

import pytest

import ithaca
from ithaca.results.network_explanation import network_failure

LIMIT = re.compile(
    r"limit (?P<name>\S+) = [^;]*? cannot be met; (?P<kind>the smallest|no value below|a value that)"
    r"[^;(]*?(?P<value>\d[\d.,]*(?:e[-+]?\d+)?)(?P<rest>[^;(]*)"
)
RULE = re.compile(
    r"requirement (.*?) cannot be met: it is missed by \S+ at least( with the limits)?"
)
TOGETHER = re.compile(r"limits (.*?) (?:contradict each other|together)")


@dataclass(frozen=True)
class Said:
    """The claims of a line."""

    line: str

    @cached_property
    def together(self):
        """Limits that are met by nothing together."""
        named = TOGETHER.search(self.line)
        return named[1].split(" and ") if named else []

    @cached_property
    def raised(self):
        """Limits with a value that would do, all others as they are, and whether it is the least."""
        return {
            each["name"]: (float(each["value"].replace(",", "").rstrip(".")), each["kind"])
            for each in LIMIT.finditer(self.line)
            if "other limits as they are" in each[0]
        }

    @cached_property
    def alone(self):
        """Limits and requirements that nothing meets, whatever the others are."""
        limits = {x["name"] for x in LIMIT.finditer(self.line)} - self.raised.keys()
        return [*limits, *(rule for rule, kept in RULE.findall(self.line) if not kept)]

    @cached_property
    def dropped(self):
        """Requirements without which there is an answer."""
        return [rule for rule, kept in RULE.findall(self.line) if kept]


def check(ask, limits, rules=()):
    """Whether limits and requirements contradict each other; then what is said of them is so.

    ``ask`` takes both, and returns the line that says why there is no answer, or an empty one.
    """

    def line(*left_out, **changed):
        own = {name: changed.get(name, x) for name, x in limits.items() if name not in left_out}
        return ask(own, [rule for rule in rules if rule not in left_out])

    names = {*limits, *rules}
    if not (why := line()):
        return False
    claims = Said(why)
    empty = "space itself is empty" in why or "whatever the limits" in why
    assert claims.together or claims.raised or claims.alone or claims.dropped or empty, why
    assert not empty or line(*names), why
    open_ = "perhaps not all" in why or "is open" in why
    if claims.together:
        others = names - {*claims.together}
        assert line(*others), why
        for name in claims.together:
            assert open_ or not line(*others, name), (name, why)
    for name, (value, kind) in claims.raised.items():
        if kind != "no value below":
            assert not line(**{name: value * (1 + 1e-9)}), (name, why)
        if kind == "the smallest":
            assert line(**{name: value * (1 - 1e-3)}), (name, why)
    for name in claims.alone:
        assert line(*names - {name}), (name, why)
    for rule in claims.dropped:
        assert not line(rule), (rule, why)
    return True


def array(seed, dataflow):
    """A small product with limits and requirements near what is possible, on one design or all."""
    draw = Random(seed)
    extents = {loop: draw.choice((2, 3, 4, 6)) for loop in "ijk"}
    work, (one, other) = draw.choice((1, 2, 4)) * 8, draw.sample("ijk", 2)
    bounds = {
        "dsp": draw.choice((4, 5, 10, 20)),
        "latency": work * draw.choice((2, 4, 8)),
        "power": draw.choice((0.005, 0.02, 0.1)),
        "energy": work / draw.choice((2e3, 2e4)),
        "bandwidth": draw.choice((0.05, 0.2, 1)),
    }
    rules = (
        f"t1.{one} == {draw.randint(1, 4)}",
        f"t1.{other} >= {draw.randint(2, 5)}",
        f"t1.{one} == 2*t1.{other}",
        f"tiles.{one} <= {draw.randint(1, 2)}",
        f"lanes.{one} == 3" if dataflow else f"t1.{one} >= t1.{other}",
    )
    options = {"platform": draw.choice(("u250", "asic-28nm")), "sizes": extents}
    options |= {"dataflow": dataflow} if dataflow else {}

    def ask(limits, own):
        return ithaca.solve("mm", limit=limits, require=own, **options).failure

    limits = {name: bounds[name] for name in draw.sample([*bounds], draw.randint(2, 3))}
    return ask, limits, draw.sample(rules, draw.choice((0, 0, 1, 2)))


@pytest.mark.ci
def test_what_is_said_of_an_array_holds():
    assert check(*array(1, "j"))


@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(100))
def test_what_is_said_of_more_arrays_holds(seed):
    check(*array(seed, "ijk"[seed % 3] if seed % 2 else "i,j"))


@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(30))
def test_what_is_said_of_all_designs_holds(seed):
    check(*array(seed, None))


@pytest.mark.slow(every=4)
@pytest.mark.parametrize("mode", ["shared-dataflow", "shared-array", "multi-array"])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_layers_that_share_a_budget_holds(seed, mode, tmp_path):
    draw = Random(seed)
    sizes = [{loop: draw.randint(2, 6) for loop in "ijk"} for _ in "ab"]
    layers = [
        {"op": "kernel", "name": name, "kernel": "mm", "sizes": own}
        for name, own in zip("ab", sizes, strict=True)
    ]
    (tmp_path / "net.yaml").write_text(json.dumps({"name": "net", "layers": layers}))
    options = {"arrays": 2} if mode == "multi-array" else {}
    if least := draw.choice((0, 2, 3)):
        options["min_lanes"] = least
    bounds = {"dsp": (2, 3, 4, 6), "bram18k": (2, 4, 8, 12), "bandwidth": (0.02, 0.1, 0.3)}
    limits = {name: draw.choice(bounds[name]) for name in draw.sample([*bounds], 2)}

    def ask(own, _):
        answer = ithaca.network(
            tmp_path / "net.yaml", mode=mode, dtype="int16", dataflow="i", limit=own, **options
        )
        return network_failure(answer) if answer.status == "infeasible" else ""

    check(ask, limits)


@pytest.mark.slow(every=4)
@pytest.mark.parametrize("space", ["hasco-gemm", "hasco-conv", "explainable-edge"])
@pytest.mark.parametrize("seed", range(8))
def test_a_contradiction_of_accelerators_is_named(seed, space):
    draw = Random(seed)
    bounds = {"area": (1, 5, 20), "latency": (1e3, 1e4, 1e5), "power": (0.05, 0.3, 1)}
    limits = {name: draw.choice(bounds[name]) for name in draw.sample([*bounds], 2)}
    answer = ithaca.codesign(space, limit=limits)
    assert answer.best or any(f" {name} " in answer.failure for name in limits), answer.failure
