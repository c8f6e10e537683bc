"""The best design of each layer alone: the same answers as of all designs, and honest words on those
that lost."""

import json
from dataclasses import replace

import pytest

from ithaca import load
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.results.network import network_document
from ithaca.solver.certificate import Termination
from ithaca.studies.network.layers import solve_per_layer
from ithaca.studies.network.runner import RunOptions, conditions
from ithaca.studies.store import Store
from tests.command_line import ithaca, refused, succeed
from tests.studies.network.tiny import QUICK, tiny_file, tiny_network, tiny_request

BEST = RunOptions(best_only=True)
ASKED = tiny_request(space=SpaceOptions(divisors_only=True))


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return tiny_network(tmp_path_factory.mktemp("network"))


@pytest.fixture(scope="module")
def proven(network):
    """All designs, each proven."""
    return solve_per_layer(network, ASKED, RunOptions())


@pytest.fixture(scope="module")
def best(network):
    return solve_per_layer(network, ASKED, BEST)


def test_bests_are_those_of_all_designs(best, proven):
    assert (best.value, best.lower_bound, best.status) == (proven.value, proven.value, "optimal")
    for layer, other in zip(best.layers, proven.layers, strict=True):
        assert layer.answer.design == other.answer.design
        assert layer.answer.configuration == other.answer.configuration


def test_bounds_of_what_lost_are_no_more_than_its_optimum(best, proven):
    assert not any(layer.lost for layer in proven.layers)
    assert any(layer.lost for layer in best.layers)
    for layer, other in zip(best.layers, proven.layers, strict=True):
        for design, optimal in zip(layer.designs, other.designs, strict=True):
            if design in layer.lost:
                assert layer.answer.value <= design.certificate.lower_bound <= optimal.value
                assert not design.settled
            else:
                assert design.value == optimal.value
                assert design.settled


@pytest.mark.ci
def test_what_comes_of_designs_does_not_depend_on_how_many_are_solved_at_a_time(network, best):
    other = solve_per_layer(network, ASKED, replace(BEST, threads=2))
    assert network_document(other) == network_document(best)


def test_what_is_kept_of_what_lost_serves_where_its_rivals_are_known(
    network, best, proven, tmp_path
):
    store = Store(tmp_path, conditions=conditions(BEST))
    options = replace(BEST, store=store)
    assert network_document(solve_per_layer(network, ASKED, options)) == network_document(best)
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    again = solve_per_layer(network, ASKED, options)
    assert network_document(again) == network_document(best)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == kept
    # nothing is known of a winner any more
    for path, text in kept.items():
        if b'"optimal"' in text:
            path.unlink()
    assert network_document(solve_per_layer(network, ASKED, options)) == network_document(best)
    every = solve_per_layer(network, ASKED, replace(options, best_only=False))
    assert network_document(every) == network_document(proven)


@pytest.fixture
def file(tmp_path):
    """A document of the network, and how to change the bound of a design that lost."""
    path = tmp_path / "r.json"
    # a product of whose six designs five lose: floors alone prove designs of smaller layers
    sizes = {"i": 36, "j": 60, "k": 24}
    nest = {"op": "kernel", "name": "product", "kernel": "mm", "sizes": sizes}
    network = tmp_path / "n.yaml"
    network.write_text(json.dumps({"name": "n", "layers": [nest]}))
    done = succeed("network", network, "--divisors-only", "--limit", "dsp=100", "-o", path)

    def changed(bound):
        document = json.loads(path.read_text())
        (layer,) = document["layers"]
        lost = next(d for d in layer["designs"] if "termination" in d["certificate"])
        lost["value"] = None
        lost["certificate"] |= {"status": "unknown", "gap": None, "lower_bound": bound}
        path.write_text(json.dumps(document))

    return path, done.stdout, changed


def test_what_lost_is_said_to_have_lost(file):
    path, output, _ = file
    words = "designs are proven to be no better than the best of their layer, and no more"
    assert words in " ".join(output.split())
    assert words in succeed("explain", path).stdout
    assert (
        "are proven to be no better, and no more: ["
        in succeed("explain", path, "--layer", "product", "--quick").stdout
    )
    assert "that they are not better in" in succeed("verify", path).stdout
    succeed("report", path, "--layer", "product", "--quick", "-o", path.with_suffix(".html"))
    assert "not better (no less than" in path.with_suffix(".html").read_text()
    designs = json.loads(path.read_text())["layers"][0]["designs"]
    terms = [design["certificate"].get("termination") for design in designs]
    assert set(terms) == {None, Termination.BEATEN.value}


def test_what_ended_within_a_gap_is_not_said_to_have_lost(tmp_path):
    """Only what is proven to be no better than the best is; the file is read again. The layer that
    makes most of the gap is named first."""
    path = tmp_path / "r.json"
    nests = [
        {"op": "kernel", "name": name, "kernel": "mm", "sizes": {"i": i, "j": 4, "k": 4}}
        for name, i in (("small", 4), ("large", 16))
    ]
    file = tmp_path / "n.yaml"
    file.write_text(json.dumps({"name": "n", "layers": nests}))
    words = ("--divisors-only", "--limit", "dsp=20", "--gap", "50%", "-o", path)
    printed = succeed("network", file, *words).stdout
    layers = load(path).layers
    for layer in layers:
        assert any(d.certificate.lower_bound < layer.answer.value for d in layer.designs)
        assert all(d.certificate.lower_bound >= layer.answer.value for d in layer.lost)
    small, large = (each.answer.value - each.answer.certificate.lower_bound for each in layers)
    share = float(100 * large / (small + large))
    assert 50 < share < 100
    assert f"open       large {share:.1f} %, small {100 - share:.1f} % of the gap" in printed


def test_all_designs_are_proven_where_that_is_asked_for(tmp_path):
    path = tmp_path / "r.json"
    done = succeed(
        "network", tiny_file(tmp_path), *QUICK, "--layers", "image", "--all-designs", "-o", path
    )
    assert "no more is proven" not in done.stdout
    for design in json.loads(path.read_text())["layers"][0]["designs"]:
        assert design["certificate"]["status"] == "optimal"


def test_a_design_that_could_be_better_has_not_lost(file):
    path, _, changed = file
    changed(1)
    assert "termination is 'not better', yet its lower_bound is 1; allowed" in refused(
        "verify", path
    )


def test_a_bound_that_is_not_proven_again_is_false(file):
    path, _, changed = file
    changed(10**9)
    done = ithaca("verify", path)
    assert done.returncode == 2
    assert "is said to be possible, yet there is a configuration with" in done.stderr


@pytest.mark.parametrize(
    "options", [("--mode", "shared-dataflow"), ("--fuse",), ("--mode", "shared-array")]
)
def test_modes_that_compare_all_designs_have_no_such_option(options, tmp_path):
    line = refused("network", tiny_file(tmp_path), "--all-designs", *options)
    assert "--all-designs does not go with --" in line
    assert "allowed: --mode per-layer" in line
