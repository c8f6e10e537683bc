"""The document and the table of a network: they agree, and the document reads back."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

import ithaca
from ithaca.files.writing import document_text, write_text_atomically
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.results.network import network_document
from ithaca.studies.network.modes import mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions, conditions
from ithaca.studies.store import Store
from tests.studies.network.tiny import tiny_network, tiny_request


@pytest.fixture(scope="module")
def solve(tmp_path_factory):
    """Solves the network, or some layers of it."""
    folder = tmp_path_factory.mktemp("network")
    store = Store(tmp_path_factory.mktemp("kept"), conditions=conditions(RunOptions()))

    def solve(name, *layers, **request):
        asked = tiny_request(**({"space": SpaceOptions(divisors_only=True)} | request))
        return mode(name)(only_layers(tiny_network(folder), layers), asked, RunOptions(store=store))

    return solve


def written(result, path):
    path.write_text(document_text(network_document(result)))
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", ["per-layer", "shared-dataflow"])
@pytest.mark.parametrize("objective", ["latency", "energy/3"])
def test_a_document_reads_back(solve, name, objective, tmp_path):
    result, path = solve(name, "mm", objective=objective), tmp_path / "r.json"
    document = written(result, path)
    again = ithaca.load(path)
    assert network_document(again) == document
    assert float(again.total.value or 0) == float(result.total.value or 1)
    for one, other in zip(again.layers, result.layers, strict=True):
        assert (one.layer, one.answer.value, one.efficiency) == (
            other.layer,
            other.answer.value,
            other.efficiency,
        )
        assert one.answer.configured.configuration == other.answer.configured.configuration
    assert document["space"] == {"divisors_only": True}
    assert document["network"]["omissions"] == [
        {"operator": "Relu", "count": 2, "kind": "elementwise"},
        *document["network"]["omissions"][1:],
    ]
    assert [each["kind"] for each in document["network"]["omissions"][1:]] == (
        ["deselected"] if document["total"]["share"] < 1 else []
    )


def test_a_document_without_answers_reads_back(solve, tmp_path):
    result, path = solve("per-layer", "wide", dsp=4, space=SpaceOptions()), tmp_path / "r.json"
    document = written(result, path)
    assert document["total"]["value"] is document["layers"][0]["best"] is None
    again = ithaca.load(path)
    assert again.layers[0].answer.explain() == result.layers[0].answer.explain() != ""


def test_a_document_says_nothing_of_the_clock(solve):
    text = document_text(network_document(solve("per-layer")))
    assert "seconds" not in text
    assert "nodes" not in text


def test_the_figures_of_the_whole_network(solve):
    document = network_document(solve("per-layer"))
    layers, total = document["layers"], document["total"]
    sizes = {"wide": 4 * 6 * 8, "deep": 6 * 2 * 12, "image": 2 * 3 * 3 * 2 * 2 * 2}
    assert {layer["name"]: layer["count"] for layer in layers} == {"wide": 1, "deep": 3, "image": 2}
    operations = {layer["name"]: layer["count"] * sizes[layer["name"]] for layer in layers}
    assert total["operations"] == sum(operations.values())
    cycles = {
        layer["name"]: layer["count"] * layer["best"]["metrics"]["latency"] for layer in layers
    }
    assert total["value"] == total["latency"] == sum(cycles.values())
    # a multiplication and an addition per operation, at 300 MHz
    assert total["throughput"] == pytest.approx(2 * total["operations"] / total["latency"] * 0.3)
    macs = {layer["name"]: layer["best"]["metrics"]["dsp"] / 5 for layer in layers}
    for layer in layers:
        name = layer["name"]
        assert layer["dsp_efficiency"] == pytest.approx(
            operations[name] / (cycles[name] * macs[name])
        )
    possible = sum(cycles[name] * macs[name] for name in cycles)
    assert total["dsp_efficiency"] == pytest.approx(total["operations"] / possible)


@pytest.mark.parametrize("name", ["per-layer", "shared-dataflow"])
def test_table_and_document_agree(solve, name):
    result = solve(name)
    layers = network_document(result)["layers"]
    rows = list(csv.DictReader(io.StringIO(result.table)))
    assert [row["layer"] for row in rows] == [layer["name"] for layer in layers]
    for row, layer in zip(rows, layers, strict=True):
        best, metrics, workload = layer["best"], layer["best"]["metrics"], layer["workload"]
        assert (int(row["count"]), row["kernel"]) == (layer["count"], workload["name"])
        assert pairs(row["sizes"]) == workload["sizes"] | workload.get("parameters", {})
        chosen = (",".join(best["dataflow"]), best["permutation"])
        assert (row["dataflow"], row["permutation"]) == chosen
        tiling, simd = best["tiling"], best["tiling"]["simd"]
        assert {n: int(row[f"t1.{n}"]) for n in tiling["array_part"]} == tiling["array_part"]
        hidden = {n: int(row[f"t2.{n}"]) for n in tiling["array_part"]}
        assert hidden == dict.fromkeys(hidden, simd) | tiling["latency_hiding"]
        assert json.loads(row["pack"]) == tiling["pack"]
        proof = layer["certificate"]
        assert (row["status"], float(row["gap"])) == (proof["status"], proof["gap"])
        bounds = layer["value"], proof["lower_bound"]
        assert (float(row["value"]), float(row["lower_bound"])) == bounds
        assert float(row["dsp_efficiency"]) == layer["dsp_efficiency"]
        for metric in ("latency", "throughput", "dsp", "bram18k", "off_chip_words"):
            assert float(row[metric]) == metrics[metric]


def test_a_row_without_an_answer_is_empty(solve):
    result = solve("per-layer", "wide", dsp=4, space=SpaceOptions())
    (row,) = csv.DictReader(io.StringIO(result.table))
    assert row["status"] == "infeasible"
    assert {row[name] for name in ("latency", "dataflow", "value")} == {""}


def pairs(text):
    return {
        name: int(value) for name, value in (part.split("=") for part in re.split("[,;] ", text))
    }


def test_a_platform_with_a_technology_of_its_own_loads_back(tmp_path):
    network = only_layers(tiny_network(tmp_path), ["wide"])
    result = mode("per-layer")(
        network, replace(tiny_request(), platform=load_platform("asic-28nm")), RunOptions()
    )
    path = tmp_path / "asic.json"
    write_text_atomically(path, document_text(network_document(result)))
    assert network_document(ithaca.load(path)) == network_document(result)


@pytest.mark.parametrize(
    ("option", "column"), [({"ports": 4}, "ports"), ({"two_level": True}, "array_part_l2")]
)
def test_what_options_add_to_tilings_has_its_column(option, column, tmp_path):
    (tmp_path / "one.yaml").write_text(
        "name: one\nlayers:\n- {name: a, op: kernel, kernel: mm, sizes: {i: 8, j: 8, k: 8}}\n"
    )
    result = ithaca.network(
        tmp_path / "one.yaml", platform="u280", limit={"dsp": 80}, dataflow=["i,j"], **option
    )
    result.save(tmp_path / "r.json")
    (layer,) = json.loads((tmp_path / "r.json").read_text())["layers"]
    (row,) = csv.DictReader(io.StringIO(result.table))
    assert json.loads(row[column]) == layer["best"]["tiling"][column]
