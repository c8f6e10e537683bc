"""Several networks on one machine: totals are those of all their runs."""

import json

import pytest

import ithaca
from ithaca.files.errors import InputError
from tests.command_line import refused

LAYERS = {
    "one": [("a", (4, 6, 8), 1), ("b", (6, 2, 12), 3)],
    "two": [("a", (4, 6, 8), 2), ("c", (8, 8, 4), 1)],
}
LIMIT = {"dsp": 100, "bram18k": 100}
ASKED = {"limit": LIMIT, "divisors_only": True, "dataflow": "i,j", "edition": "exact"}


def network_file(folder, name, layers):
    lines = [f"name: {name}", "layers:"]
    for layer, (i, j, k), count in layers:
        sizes = f"{{i: {i}, j: {j}, k: {k}}}"
        lines.append(
            f"  - {{op: kernel, name: {layer}, kernel: mm, sizes: {sizes}, count: {count}}}"
        )
    path = folder / f"{name}.yaml"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def files(tmp_path):
    return {name: network_file(tmp_path, name, layers) for name, layers in LAYERS.items()}


def test_the_total_is_the_sum_of_runs(files, tmp_path):
    alone = {name: ithaca.network(path, **ASKED) for name, path in files.items()}
    both = ithaca.network([f"{files['one']}:3", files["two"]], **ASKED)
    assert both.total.value == 3 * alone["one"].total.value + alone["two"].total.value
    assert both.complete
    for part, (name, runs) in zip(both.network.parts, (("one", 3), ("two", 1)), strict=True):
        assert (part.name, part.runs) == (name, runs)
        assert both.of_part(part).sum_of("latency") == alone[name].sum_of("latency")
    facts = {fact.term: fact.text for fact in both.view if isinstance(fact, tuple)}
    share = 3 * alone["one"].sum_of("time") / both.sum_of("time")
    assert facts["one"].startswith(f"{float(share):.1%} of the time: 3 runs".replace("%", " %"))
    both.save(tmp_path / "both.json")
    assert ithaca.load(tmp_path / "both.json").document == both.document
    checks = ithaca.verify(tmp_path / "both.json").checks
    assert "3 runs of one; 1 run of two" in next(c.line for c in checks if c.place == "as stated")


def test_one_array_serves_all_networks(files, tmp_path):
    """The optimum of the layers of both in one file, as often as all runs have them."""
    (first, second), runs = LAYERS.values(), 2
    together = [(f"x{name}", sizes, runs * count) for name, sizes, count in first]
    whole = network_file(tmp_path, "whole", [*together, *second])
    own = ithaca.network(whole, mode="shared-array", **ASKED)
    both = ithaca.network([f"{files['one']}:2", files["two"]], mode="shared-array", **ASKED)
    assert both.total.value == own.total.value
    assert both.status == own.status == "optimal"
    assert len(both.arrays) == 1


@pytest.mark.ci
def test_weights_are_the_runs_of_networks(files):
    """One number for each network says what each may state itself."""
    paths = [*map(str, files.values())]
    stated = ithaca.network([f"{paths[0]}:3", paths[1]], **ASKED)
    for weights in ("3,1", [3, 1]):
        assert ithaca.network(paths, weights=weights, **ASKED).total.value == stated.total.value
    own = f"{paths[0]}:3"
    for names, weights, line in (
        (paths, "3", "--weights has 1 number, and there are 2 networks; allowed: how often each"),
        (paths, "3,-1", "is '-1'; allowed: an integer from 1 to 999999999"),
        (paths, "3,x", "is 'x'; allowed: an integer from 1"),
        (paths, "3,", "is ''; allowed: an integer from 1"),
        ([own, paths[1]], "3,1", "has its number of runs, and so has --weights; allowed: one"),
    ):
        assert line in refused("network", *names, f"--weights={weights}")


def test_parts_that_no_layer_is_of_are_left_out(files):
    both = ithaca.network([files["one"], files["two"]], layers=["one/*"], **ASKED)
    assert [part.name for part in both.network.parts] == ["one"]


def test_what_contradicts_several_networks_is_refused(files, tmp_path):
    one, two = map(str, files.values())
    assert "is given twice" in refused("network", one, one)
    assert "it is several networks" in refused("network", one, two, "--fuse", "--limit", "dsp=9")
    assert "one has no phases" in refused("network", f"{one}@decode", two)
    with pytest.raises(InputError, match="no network is named"):
        ithaca.network([])
    path = tmp_path / "both.json"
    ithaca.network([f"{one}:3", two], **ASKED).save(path)
    for change, line in (
        ({"runs": 2}, "as often as that runs"),
        ({"name": "other"}, "is not of one of network.parts"),
    ):
        document = json.loads(path.read_text())
        document["network"]["parts"][0] |= change
        (tmp_path / "forged.json").write_text(json.dumps(document))
        assert line in refused("verify", tmp_path / "forged.json")


def test_several_arrays_share_out_the_runs_of_all_networks(files, tmp_path):
    """A layer's runs may be on several arrays, which work side by side: parts have no times."""
    names = [f"{files['one']}:2", f"{files['two']}:3"]
    terms = ASKED | {"mode": "multi-array", "arrays": 2, "objective": "latency"}
    both = ithaca.network(names, **terms)
    runs = {}
    for each in both.layers:
        runs[each.layer.name] = runs.get(each.layer.name, 0) + each.layer.count
    assert runs == {"one/a": 2, "one/b": 6, "two/a": 6, "two/c": 3}
    facts = {fact.term: fact.text for fact in both.view if isinstance(fact, tuple)}
    assert (facts["one"], facts["two"]) == ("2 runs", "3 runs")
    both.save(tmp_path / "both.json")
    assert ithaca.verify(tmp_path / "both.json").confirmed
