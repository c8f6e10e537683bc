"""Objectives in order: the second among the optima of the first, against every configuration."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.problem import Problem, read_objective
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.studies.best import over_all, solve_best
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, Network
from tests.command_line import refused, succeed
from tests.studies.network.tiny import tiny_request
from tests.whole_spaces import every_row

SYSTOLIC = ("latency", "dsp", "off_chip_words", "bram18k", "energy")
MAPPED = ("latency", "energy", "pes", "DRAM.A.reads")


@cache
def configurations(bare):
    """All metrics of every configuration."""
    rows = every_row(bare.space)
    return tuple(bare.metrics(each) for each in rows if bare.feasible_value(each) is not None)


def configurations_of(problem):
    """All metrics of every configuration of a problem, whatever it minimises."""
    return configurations(replace(problem, objective=read_objective("latency", "", None)))


def least(problem):
    """The least objectives, compared one after the other."""
    order = problem.objective.order
    found = (tuple(each.value(m) for each in order) for m in configurations_of(problem))
    return min(found, default=(Fraction(10**30),))


def check(found, expected):
    """Whether a solution is the least in all objectives, in order, and proven to be."""
    proof = found.certificate
    assert (found.value, *(then.value for then in proof.further)) == expected
    assert found.configuration is not None
    assert found.problem.values(found.configuration) == expected
    proofs = [proof, *(then.certificate for then in proof.further)]
    assert [p.lower_bound for p in proofs] == [*expected]
    assert {p.status for p in proofs} == {Status.OPTIMAL}


def systolic(text, sizes):
    """The problems of all designs of a small matrix product."""
    nest = workload("mm", dict(zip("ijk", sizes, strict=True)))
    network = Network("one", (Layer("one", nest, 1, ("one",)),))
    request = tiny_request(text, 400, space=SpaceOptions(divisors_only=True))
    return request.pose(network)[0].problems


def mapped(text, sizes):
    """A small matrix product on a small hierarchy."""
    nest = workload("mm", dict(zip("ijk", sizes, strict=True)))
    own = fitted(find_architecture("simple"), nest)
    design = Setting(own, nest, "timeloop", MappingOptions(divisors_only=True)).design
    return Problem(design, (), read_objective(text, "", design.vocabulary))


def ordered(names, seed):
    """Two or three objectives in order."""
    choice = random.Random(seed)
    return ",".join(choice.sample(names, choice.randint(2, 3)))


def check_systolic(seed):
    sizes = random.Random(seed).choice([(2, 3, 4), (4, 2, 2), (3, 3, 2)])
    problems = systolic(ordered(SYSTOLIC, seed), sizes)
    for found in solve_designs(problems):
        if found.value == min(least(p)[0] for p in problems):
            check(found, least(found.problem))
    expected = min(map(least, problems))
    check(solve_best(problems), expected)
    check(over_all(problems[0], solve_designs(problems, method=Method.AUTO)), expected)
    first = next(problem for problem in problems if configurations_of(problem))
    check(engine("cpsat")(first), least(first))


@pytest.mark.parametrize("seed", range(20))
def test_arrays_are_least_in_all_objectives(seed):
    check_systolic(seed)


def check_mapped(seed):
    sizes = random.Random(seed).choice([(2, 3, 3), (3, 2, 2)])
    problem = mapped(ordered(MAPPED, seed), sizes)
    for method in (Method.AUTO, Method.STAGED):
        check(engine(method)(problem), least(problem))
    check(solve_designs([problem], method=Method.AUTO)[0], least(problem))


@pytest.mark.parametrize("seed", range(20))
def test_mappings_are_least_in_all_objectives(seed):
    check_mapped(seed)


def test_the_second_bound_is_honest_where_the_time_is_over():
    problem = mapped("latency,energy", (2, 3, 3))
    expected = least(problem)
    for limit in (0.0, 0.001, 0.05):
        found = engine(Method.AUTO)(problem, SolveOptions(time_limit=limit))
        for then in found.certificate.further:
            bound = then.certificate.lower_bound
            assert bound is None or bound <= expected[1] <= then.value


def test_files_state_and_verify_checks_both(tmp_path):
    path = tmp_path / "ordered.json"
    question = ("--arch", "simple", "-s", "i=4,j=4,k=4", "--objective", "latency,energy")
    told = succeed("map", "--problem", "mm", *question, "-o", str(path)).stdout
    document = json.loads(path.read_text())
    then = document["best"]["certificate"]["then"]
    assert then["objective"] == "energy"
    assert then["value"] == document["best"]["metrics"]["energy"]
    assert then["value"] == then["certificate"]["lower_bound"]
    assert "then energy" in told
    assert "then energy optimal" in succeed("verify", str(path)).stdout
    assert (
        json.loads(succeed("solve", "mm", *question, "--json").stdout)["best"]["metrics"]
        == (document["best"]["metrics"])
    )
    for forge in (
        lambda then: then.update(value=then["value"] * 0.5),
        lambda then: then["certificate"].update(lower_bound=then["value"] * 2),
        lambda then: then.update(objective="pes"),
    ):
        forged = json.loads(path.read_text())
        for part in (forged["best"], *forged["designs"]):
            forge(part["certificate"]["then"])
        other = tmp_path / "forged.json"
        other.write_text(json.dumps(forged))
        assert "certificate.then" in refused("verify", str(other))


def test_networks_are_least_in_order(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_text(
        "name: two\nlayers:\n"
        "  - {op: kernel, name: a, kernel: mm, sizes: {i: 2, j: 3, k: 3}, count: 2}\n"
        "  - {op: kernel, name: b, kernel: mm, sizes: {i: 3, j: 2, k: 2}}\n"
    )
    words = ("--arch", "simple", "--divisors-only", "--objective", "latency,energy")
    document = json.loads(succeed("network", str(path), *words, "--json").stdout)
    a, b = (least(mapped("latency,energy", sizes)) for sizes in ((2, 3, 3), (3, 2, 2)))
    assert document["total"]["value"] == 2 * a[0] + b[0]
    then = document["total"]["certificate"]["then"]
    assert then["value"] == pytest.approx(float(2 * a[1] + b[1]))
    assert then["certificate"]["status"] == "optimal"
    told = refused("network", str(path), "--arch", "simple", "--objective", "edp,energy")
    assert told.count("\n") == 1
    assert "is several in order" in told


@pytest.mark.parametrize("text", ["latency,", "latency,latency", ",energy", "latency,nothing"])
def test_bad_orders_are_refused(text):
    with pytest.raises(InputError):
        read_objective(text, "--objective", SYSTOLIC)
