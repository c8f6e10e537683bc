"""Results of networks are proven again, and refused where what they say does not follow."""

from __future__ import annotations

import pytest

from ithaca.results.network import load_network_result
from ithaca.solver import verification
from ithaca.solver.engines import engine
from tests.command_line import ithaca, succeed
from tests.studies.network.tiny import MODES


@pytest.mark.slow(every=3)
@pytest.mark.ci
@pytest.mark.parametrize("words", MODES, ids=["per-layer", "shared-dataflow", "shared-array"])
def test_what_was_solved_is_confirmed(solved, words):
    path = solved(*words)
    done = succeed("verify", path)
    result = load_network_result(path)
    *layers, stated, total = done.stdout.splitlines()
    assert stated.startswith("as stated left out Relu × 2 (elementwise): no figure depends on it")
    assert result.total is not None
    assert total.startswith(f"total optimal: value {result.total.value}")
    for line, layer in zip(layers, result.layers, strict=True):
        assert line.split()[0] == layer.layer.name
        assert f"value {layer.answer.value} re-evaluated" in line
        if layer.designs:
            assert f"; {len(layer.designs)} designs confirmed in " in line


@pytest.mark.ci
def test_what_there_was_no_time_for_is_called_unchecked(solved):
    done = ithaca("verify", solved(), "--time-limit", "1e-9")
    assert done.returncode == 1
    assert "all values hold" in done.stderr
    assert "--time-limit gives more time (a bound has 60 s unless given)" in done.stderr
    assert "wide  optimal: value" in done.stdout
    assert "6 of 6 designs: bound not checked" in done.stdout
    assert "not all of which are confirmed" in done.stdout.splitlines()[-1]
    done = ithaca("verify", solved(*MODES[2]), "--time-limit", "1e-9")
    assert done.returncode == 1
    assert "bound not checked" in done.stdout.splitlines()[-1]


def _other_design(claim):
    """Let the worst design of the first layer claim to be so many times as good."""

    def edit(document):
        worst = max(document["layers"][0]["designs"], key=lambda design: design["value"])
        worst["value"] = worst["certificate"]["lower_bound"] = round(worst["value"] * claim)

    return edit


FEW = ("--limit", "dsp=20,bram18k=400")


def _more_dsp(document):
    document["platform"]["limits"]["dsp"] = 400_000


@pytest.mark.ci(every=5)
@pytest.mark.slow(every=2)
@pytest.mark.parametrize(
    ("words", "edit", "line"),
    [
        ((), _other_design(0.9), r"layers[0].designs["),
        ((), _other_design(0.9), r"].certificate: value "),
        ((), _other_design(1.1), r"].certificate: nothing below "),
        (FEW, _more_dsp, r"].certificate: nothing below "),
        ((*FEW, *MODES[2]), _more_dsp, "yet there is a configuration with "),
    ],
)
def test_a_false_claim_is_found_out(solved, words, edit, line):
    done = ithaca("verify", path := solved(*words, edit=edit))
    assert done.returncode == 2
    assert done.stderr.startswith(f"ithaca: {path}: ")
    assert line in done.stderr
    assert "the file was edited" in done.stderr
    assert done.stderr.count("\n") == 1


def test_engines_that_disagree_are_told_from_an_edited_file(solved, monkeypatch):
    path = solved(edit=_other_design(0.9))

    def broken(method):  # repeats what the file says
        record = next(
            d for r in load_network_result(path).layers for d in r.designs if d.value == value
        )
        exact = engine(method)
        return (lambda problem, *_, **__: record) if method.value == "exact" else exact

    value = max(design.value or 0 for design in load_network_result(path).layers[0].designs)
    monkeypatch.setattr(verification, "engine", broken)
    done = ithaca("verify", path)
    assert done.returncode == 2
    assert "DISAGREEMENT: " in done.stderr


def _set(*path, value):
    def edit(document):
        *steps, last = path
        for step in steps:
            document = document[step]
        document[last] = value

    return edit


def _without_best(document):
    """Leave out the design that a layer's answer is of."""
    layer = document["layers"][0]
    layer["designs"] = [design for design in layer["designs"] if design["value"] != layer["value"]]


def _other_total(document):
    """Let a design fail, so that choices cannot be compared with those of layers, and the one that
    was chosen and the total take a cycle less."""
    document["failures"] = [{"place": "wide [i] A", "reason": "out of memory"}]
    for part in (next(c for c in document["choices"] if c["chosen"]), document["total"]):
        part["value"] -= 1
        part["certificate"]["lower_bound"] -= 1


def _unproven_layer(document):
    """Let a design of a layer be open below the layer's answer, which still claims to be
    optimal."""
    design = document["layers"][0]["designs"][0]
    design["certificate"] |= {
        "status": "feasible",
        "lower_bound": 1,
        "gap": (design["value"] - 1) / design["value"],
    }


@pytest.mark.ci
@pytest.mark.parametrize(
    ("words", "edit", "line"),
    [
        ((), _unproven_layer, "layers[0].certificate.lower_bound is "),
        ((), _set("layers", 0, "designs", value=[]), "layers[0].value is "),
        ((), _without_best, "layers[0].best is of none of its designs"),
        (
            (),
            _set("failures", value=[{"place": "zz", "reason": "x"}]),
            "failures[0].place is 'zz'; allowed: a layer and",
        ),
        (MODES[1], _other_total, ", yet the layers take "),
        ((), _set("objective", value="dsp"), "not the model's"),
        ((), _set("mode", value="best"), "mode is 'best'; allowed: per-layer"),
        (
            MODES[1],
            _set("choices", 0, "proven", value=False),
            "choices[0]: not all follows from the designs",
        ),
        (MODES[2], _set("arrays", 0, "value", value=1), "arrays[0].value: recorded "),
        (
            MODES[2],
            _set("arrays", 0, "parameters", "simd", value=16),
            "arrays[0].parameters.simd: recorded ",
        ),
        (
            MODES[2],
            _set("arrays", 0, "resources", "dsp", value=1),
            "arrays[0].resources.dsp: recorded ",
        ),
        (MODES[2], _set("arrays", 0, "layers", value=["wide"]), "arrays[0].layers: recorded "),
    ],
)
def test_what_does_not_follow_is_refused(solved, words, edit, line):
    done = ithaca("explain", solved(*words, edit=edit))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert line in done.stderr
