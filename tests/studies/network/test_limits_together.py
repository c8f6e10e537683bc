"""Limits that each layer alone meets and all together do not: which, and the least that would do."""

import json

import pytest

import ithaca
from ithaca.results import network_verification
from ithaca.results.network_explanation import network_failure
from ithaca.results.network_verification import as_stated
from tests.command_line import ithaca as command
from tests.command_line import succeed

#: Layers by their extents i, j and k, and the question of each mode. On [i] the first pair has 3
#: lanes, and 2 or 4: two arrays take 5 DSP blocks of int16, and no array runs both. The second pair
#: has 5 and 7 lanes on [i], 7 and 5 on [j]: a design for both takes 7.
CASES = {
    "multi-array": ([(3, 1, 4), (4, 1, 4)], {"arrays": 2, "dataflow": "i", "min_lanes": 2}, 5),
    "shared-dataflow": ([(5, 7, 4), (7, 5, 4)], {"min_lanes": 5}, 7),
}


def network(folder, mode, **limits):
    """The answer of two layers in a mode within limits."""
    layers, options, _ = CASES[mode]
    sizes = [dict(zip("ijk", each, strict=True)) for each in layers]
    rows = [
        {"op": "kernel", "name": name, "kernel": "mm", "sizes": own}
        for name, own in zip("ab", sizes, strict=True)
    ]
    (folder / "net.yaml").write_text(json.dumps({"name": "net", "layers": rows}))
    words = {"dtype": "int16", "divisors_only": True, "edition": "exact", **options}
    return ithaca.network(folder / "net.yaml", mode=mode, limit=limits, **words)


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("mode", CASES)
def test_the_least_that_would_do_together_is_stated(mode, tmp_path):
    *_, least = CASES[mode]
    assert network(tmp_path, mode, dsp=least).status == "optimal"
    none = network(tmp_path, mode, dsp=least - 1)
    assert none.status == "infeasible"
    line = (
        f"infeasible: a, b: limit dsp = {least - 1} cannot be met; the smallest that could be met "
        f"with the other limits as they are is {least} (design "
    )
    assert network_failure(none).startswith(line)
    none.save(tmp_path / "none.json")
    assert network_failure(ithaca.load(tmp_path / "none.json")) == network_failure(none)


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize(("mode", "alone"), [("multi-array", 3), ("shared-dataflow", 5)])
def test_it_is_stated_beside_what_layers_need_alone(mode, alone, tmp_path):
    least = CASES[mode][-1]
    none = network(tmp_path, mode, dsp=alone - 1)
    words = network_failure(none)
    assert f"dsp = {alone - 1} cannot be met; the smallest that could be met " in words
    assert f" is {alone} (design [" in words
    together = words.partition("; a, b: ")[2]
    assert together.startswith(f"limit dsp = {alone - 1} cannot be met; the smallest that could be")
    assert f" is {least} (design of all layers together)" in together
    none.save(tmp_path / "none.json")
    assert network_failure(ithaca.load(tmp_path / "none.json")) == words


@pytest.mark.slow
def test_it_is_proven_again_and_held_against_another(tmp_path):
    none = network(tmp_path, "multi-array", dsp=3)
    none.save(tmp_path / "none.json")
    assert "is 5 (design of all layers together)" in network_failure(none)
    assert "proven by another argument" in succeed("verify", tmp_path / "none.json").stdout
    document = json.loads((tmp_path / "none.json").read_text())
    for layer in document["layers"]:
        layer["shortfalls"][0]["smallest"] = 4
    for more in ([], [layer["shortfalls"][0] | {"smallest": None, "proven": False}]):
        for layer in document["layers"]:
            layer["shortfalls"] = [layer["shortfalls"][0], *more]
        (tmp_path / "forged.json").write_text(json.dumps(document))
        done = command("verify", tmp_path / "forged.json")
        assert done.returncode
        assert "shortfalls are not those" in done.stderr


@pytest.mark.ci(whole=True)
def test_what_keeps_layers_from_a_common_design_is_proven_again(tmp_path, monkeypatch):
    """The file names limits of the answer alone; that others have none was taken for a claim, and
    a file of ours refused."""
    path = tmp_path / "none.json"
    network(tmp_path, "shared-dataflow", dsp=6).save(path)
    assert "limits searched again" in " ".join(succeed("verify", path).stdout.split())
    document = json.loads(path.read_text())
    for layer in document["layers"]:
        (fall,) = layer["shortfalls"]
        assert fall["smallest"] == 7
        fall["smallest"] = 8
    path.write_text(json.dumps(document))
    done = command("verify", path)
    assert done.returncode == 2
    assert (
        "nothing below 8 is said to be possible, yet there is a configuration with 7" in done.stderr
    )
    # nothing else that reads or verifies the file would refuse it
    monkeypatch.setattr(network_verification, "_limits_again", lambda *_: as_stated("limits"))
    succeed("verify", path)


@pytest.mark.ci(whole=True)
def test_no_single_limit_helps_layers_without_a_common_array(tmp_path):
    network(tmp_path, "multi-array", dsp=5)
    words = ("--dataflow", "i", "--min-lanes", "2", "--divisors-only", "--dtype", "int16")
    limits = ("--limit", "dsp=16")
    done = command("network", tmp_path / "net.yaml", "--mode", "shared-array", *words, *limits)
    assert done.returncode == 1
    assert "no arrays within the limits" in done.stderr
