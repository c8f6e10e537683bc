"""Claims of files that no figure of an answer contradicts: each is proven again, or said to be repeated as stated."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

import ithaca
from ithaca.files.errors import InputError
from tests.results.test_forged_files import (
    LIMITS,
    MM,
    _network,
    confirmed,
    document_of,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("claims")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("value", "is said to be possible"),
        ("designs", r"unrestricted\.designs\[0\]\.dataflow: recorded"),
    ],
)
def test_what_a_compiler_costs_a_workload_is_proven_again(folder, change, place):
    path = folder / "autosa.json"
    asked: dict[str, Any] = {
        "i": 16,
        "j": 16,
        "k": 16,
        "limit": LIMITS,
        "dataflow": "i,j",
        "target": "autosa",
    }
    ithaca.solve("mm", **asked).save(path)
    document = json.loads(path.read_text())
    free = document["unrestricted"]
    assert free["value"] < document["objective"]["value"]
    assert confirmed(document, path)
    if change == "value":
        free["value"] -= 1
        free["certificate"]["lower_bound"] = free["value"]
    else:
        own = document["designs"][0]  # earlier versions stated them
        names = ("dataflow", "permutation", "buildable")
        free["designs"] = [{name: own[name] for name in names} | {"dataflow": ["i"]}]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=place):
        ithaca.verify(path)


@pytest.mark.ci
@pytest.mark.parametrize("dataflow", [None, "i,j"])
def test_no_design_of_those_asked_is_left_out(folder, dataflow):
    """The best of the designs that are left is not that of all that were asked for."""
    path = folder / "designs.json"
    ithaca.solve("mm", **MM, limit=LIMITS, divisors_only=True, dataflow=dataflow).save(path)
    document = json.loads(path.read_text())
    if dataflow is not None:  # as if all had been asked for
        document["restriction"] = {}
    else:
        best = document["best"]
        left = [design for design in document["designs"] if design != best]
        document["designs"], document["best"] = left, min(left, key=_objective)
        document["objective"]["value"] = _objective(document["best"])
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="restriction"):
        ithaca.verify(path)
    if dataflow is None:  # as a file of an earlier version, which proves of its designs alone
        del document["restriction"]
        path.write_text(json.dumps(document))
        unnamed, *others = ithaca.verify(path).checks
        assert unnamed.line.startswith("which were asked for is not stated")
        assert [check.place for check in others] == [
            f"[{','.join(design['dataflow'])}] {design['permutation']}"
            for design in document["designs"]
        ]


def _objective(design):
    return design["certificate"]["lower_bound"]


@pytest.mark.ci
def test_no_design_of_a_layer_is_left_out(folder):
    path, document = folder / "layer.json", document_of("layers")
    layer = document["layers"][0]
    worst = max(layer["designs"], key=_objective)
    layer["designs"].remove(worst)
    path.write_text(json.dumps(document))
    with pytest.raises(
        InputError, match=r"layers\[0\]\.designs are .*; allowed: those of the question"
    ):
        ithaca.verify(path)


@pytest.mark.ci
def test_no_design_of_a_front_is_left_out(folder):
    path = folder / "front_designs.json"
    ithaca.pareto(
        "mm", i=2, j=2, k=2, limit=LIMITS, divisors_only=True, objectives="latency,dsp"
    ).save(path)
    document = json.loads(path.read_text())
    assert document["question"]["restriction"] == {}
    document["question"]["designs"].pop()
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"question\.restriction") as error:
        ithaca.verify(path)
    assert str(error.value).count(str(path)) == 1


@pytest.mark.ci
@pytest.mark.parametrize("change", ["parameters", "omissions", "sources"])
def test_words_of_a_network_are_repeated_as_not_checked(folder, change):
    path, document = folder / "words.json", document_of("layers")
    network, layer = document["network"], document["layers"][0]
    if change == "parameters":
        network["parameters"]["batch"], words = 7, "batch=7"
    elif change == "omissions":
        network["omissions"].append({"operator": "Relu", "count": 9, "kind": "elementwise"})
        words = "Relu × 9 (elementwise)"
    else:
        layer["sources"], words = ["other"], f"{layer['name']} stands for other"
    path.write_text(json.dumps(document))
    lines = [c.line for c in ithaca.verify(path).checks if c.place == "as stated"]
    (line,) = [line for line in lines if words in line]
    assert line.endswith(": no figure depends on it, it is not checked")


def test_units_of_a_space_are_repeated_as_not_checked(folder):
    path, document = folder / "units.json", document_of("no accelerator")
    assert not {"description", "source", "workloads", "objective", "limits"} & {*document["space"]}
    document["space"]["costs"]["area"]["unit"] = "acres"
    path.write_text(json.dumps(document))
    assert "area in acres" in str(ithaca.verify(path))


@pytest.mark.ci
def test_units_of_axes_are_those_of_what_varies(folder):
    path = folder / "axes.json"
    vary = {"dsp": [40], "i": [4, 2]}
    sizes = {"j": 2, "k": 2}
    ithaca.whatif("mm", **sizes, divisors_only=True, dataflow="i,j", vary=vary).save(path)  # type: ignore[arg-type]
    document = json.loads(path.read_text())
    assert confirmed(document, path)
    for place in (0, 1):
        forged = copy.deepcopy(document)
        forged["axes"][place]["unit"] = "kB"
        path.write_text(json.dumps(forged))
        with pytest.raises(InputError, match=r"axes\[\d\]\.unit: recorded 'kB'"):
            ithaca.verify(path)


@pytest.mark.ci
def test_nothing_is_proven_of_one_layer_of_several_arrays(folder):
    path, document = folder / "arrays.json", document_of("layers on two arrays")
    layer = document["layers"][0]
    proof = {"lower_bound": layer["value"], "gap": 0.0, "status": "optimal"}
    layer["certificate"] |= proof
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"layers\[0\]\.certificate is not 'feasible'"):
        ithaca.load(path)


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["lanes", "packs", "buffers"])
def test_an_array_has_no_other_hardware(folder, kind):
    path, document = folder / "hardware.json", document_of("layers on two arrays")
    document["layers"][0]["best"]["physical"][kind]["other"] = 1
    path.write_text(json.dumps(document))
    name = f"{kind.removesuffix('s') if kind != 'lanes' else kind}.other"
    with pytest.raises(InputError, match=rf"layers\[0\]: best.physical has '{name}'; allowed: "):
        ithaca.load(path)


def test_the_order_of_fused_layers_is_that_of_the_layers(folder):
    path, document = folder / "order.json", document_of("layers mapped and fused")
    for run in document["network"]["order"]:
        run.pop("follows", None)
    document["fusing"]["edges"] = []
    for layer in document["layers"]:
        layer.pop("kept", None)
    document["network"]["order"].reverse()
    path.write_text(json.dumps(document))
    with pytest.raises(InputError):
        ithaca.load(path)


@pytest.mark.slow(every=2)
@pytest.mark.parametrize("fuse", [False, True])
def test_what_a_compiler_costs_a_network_is_proven_again(folder, fuse):
    """Fused layers are fused without the restriction, too; a value without a bound is a claim."""
    path = folder / "network.json"
    asked = {"objective": "off_chip_words", "edition": "exact", "target": "autosa", "fuse": fuse}
    _network(folder, **asked).save(path)
    document = json.loads(path.read_text())
    assert document["unrestricted"] is not None
    assert confirmed(document, path)
    document["unrestricted"] = {"value": 1, "certificate": document["unrestricted"]["certificate"]}
    document["unrestricted"]["certificate"] |= {
        "status": "feasible",
        "lower_bound": None,
        "gap": None,
    }
    assert not confirmed(document, path)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("axis", "label", "place"),
    [
        (0, "u280", "at.platform: recorded 'u280'"),
        (1, "40%", "at.dsp_limit: recorded '40%'"),
        (None, "mm on u280", "title: "),
    ],
)
def test_labels_and_titles_of_studies_follow_from_the_questions(folder, axis, label, place):
    path = folder / "labels.json"
    vary = {"platform": ["u250", "vu9p"], "dsp": ["50%"]}
    ithaca.whatif("mm", **MM, divisors_only=True, dataflow="i,j", vary=vary).save(path)  # type: ignore[arg-type]
    document = json.loads(path.read_text())
    assert confirmed(document, path)
    if axis is None:
        document["title"] = label
    else:
        name, values = document["axes"][axis]["name"], document["axes"][axis]["values"]
        for point in document["points"]:
            point["at"][name] = label if point["at"][name] == values[0] else point["at"][name]
        values[0] = label
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=re.escape(place)):
        ithaca.verify(path)
