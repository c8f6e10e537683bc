"""Result files of networks as inputs: explained, verified, and false ones found out."""

import csv
import io
import json
from dataclasses import replace

import pytest

import ithaca as ithaca_python
from ithaca.commands.api.loading import load
from ithaca.commands.api.opening import one_result
from ithaca.exports.charts.network import network_chart
from ithaca.results.network_explanation import explain_network
from tests.command_line import ithaca, succeed
from tests.studies.network.tiny import MODES, QUICK, tiny_file


def test_designs_left_out_are_remembered(solved):
    result = load(solved("--dataflow", "i,j", "--layers", "mm", "--mode", "shared-array"))
    assert result.request.dataflow == ("i", "j")
    assert load(solved()).request.dataflow is None


def test_an_explanation_names_the_layers_that_dominate(solved):
    path = solved()
    result = load(path)
    takes = {r.layer.name: float(r.layer.count * (r.answer.value or 0)) for r in result.layers}
    ranked = sorted(takes, key=lambda name: -takes[name])
    explained = explain_network(result)
    assert [part.result.layer.name for part in explained.parts] == ranked
    assert sum(part.share or 0 for part in explained.parts) == 1
    before = 0.0
    for part in explained.parts:
        assert (part.explanation is not None) == (before < float(result.total.value or 0) / 2)
        before += takes[part.result.layer.name]
    done = succeed("explain", path)
    first = explained.parts[0]
    assert (
        f"{ranked[0]} × {first.result.layer.count}: latency {takes[ranked[0]]:g}, " in done.stdout
    )
    binding = next(
        text for text in first.explanation.remarks.statements if text.startswith("Binding: ")
    )
    assert binding.removeprefix("Binding: ") in done.stdout
    document = json.loads(ithaca("explain", path, "--json").stdout)
    assert [layer["name"] for layer in document["layers"]] == ranked
    assert document["value"] == sum(takes.values())


def test_a_layer_is_a_result_of_its_own(solved, tmp_path):
    path, alone = solved("--all-designs"), tmp_path / "alone.json"
    found = one_result(path, "wide")
    done = succeed("solve", "mm", "-s", "i=4,j=6,k=8", *QUICK, "-o", alone)
    solo = one_result(alone)
    assert (found.best.value, found.best.configuration) == (
        solo.best.value,
        solo.best.configuration,
    )
    assert [(s.design, s.value) for s in found.designs] == [
        (s.design, s.value) for s in solo.designs
    ]
    words = ("explain", "--time-limit", "600")
    of_network, of_itself = (
        ithaca(*words, path, "--layer", "wide").stdout,
        ithaca(*words, alone).stdout,
    )
    assert of_network.replace(str(path), str(alone)) == of_itself
    done = ithaca("explain", path, "--layer", "wid")
    assert (done.returncode, done.stderr) == (
        2,
        "ithaca: --layer is 'wid'; allowed: wide, deep, image; did you mean wide?\n",
    )
    done = ithaca("explain", alone, "--layer", "wide")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    done = ithaca("explain", path, "--quick")
    assert "--quick does not go with the result of a whole network" in done.stderr


def test_a_result_is_evaluated_with_its_own_workload_data_type_and_platform(solved, tmp_path):
    path, table = tmp_path / "r.json", tmp_path / "r.csv"
    done = succeed("solve", "mm", "-s", "i=16,j=8,k=32", "--dtype", "int8", "--platform", "asic-28nm", "--dataflow", "i,j",
                  "--limit", "dsp=64", "-o", path)  # fmt: skip
    metrics = json.loads(path.read_text())["best"]["metrics"]
    done = succeed("evaluate", path, "--json", "--table", table)
    assert json.loads(done.stdout)["points"][0]["metrics"] == metrics
    (row,) = csv.DictReader(io.StringIO(table.read_text()))
    assert float(row["throughput"]) == metrics["throughput"]
    same = ithaca("evaluate", "mm", "--points", path, "--json").stdout
    assert same == done.stdout
    for words in (
        ("evaluate", path, "--dtype", "int8"),
        ("evaluate", path, "--points", path),
        ("evaluate", "mm"),
    ):
        done = ithaca(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    layers = json.loads((network := solved()).read_text())["layers"]
    points = json.loads(ithaca("evaluate", network, "--json").stdout)["points"]
    assert [point["metrics"] for point in points] == [layer["best"]["metrics"] for layer in layers]
    assert " deep " in ithaca("evaluate", network).stdout
    (point,) = json.loads(ithaca("evaluate", network, "--layer", "deep", "--json").stdout)["points"]
    assert point["metrics"] == next(
        layer["best"]["metrics"] for layer in layers if layer["name"] == "deep"
    )
    done = ithaca("evaluate", "mm", "--points", path, "--layer", "deep")
    assert (done.returncode, done.stderr) == (
        2,
        "ithaca: --layer is 'deep'; allowed with a network's result\n",
    )


def test_what_is_loaded_equals_what_was_saved(tmp_path):
    found = ithaca_python.network(
        tiny_file(tmp_path), limit={"dsp": 400, "bram18k": 400}, divisors_only=True
    )
    found.save(tmp_path / "n.json")
    assert ithaca_python.load(tmp_path / "n.json") == found
    assert ithaca_python.load(tmp_path / "n.json") != replace(found, finished=False)


def test_bars_show_what_layers_take_and_how_much_of_them_works(solved):
    result = load(solved())
    chart = network_chart(result)
    assert [bar.name for bar in chart.bars] == ["wide × 1", "deep × 3", "image × 2"]
    for bar, layer in zip(chart.bars, result.layers, strict=True):
        metrics = layer.answer.metrics
        # a MAC takes five DSP blocks in fp32
        busy = layer.layer.nest.operations / (metrics["dsp"] / 5 * metrics["latency"])
        assert bar.value == layer.layer.count * metrics["latency"]
        assert bar.part == pytest.approx(bar.value * float(busy))
    assert chart.also.factor == pytest.approx(1 / 300_000)  # ms at 300 MHz


def test_modes_are_compared_layer_by_layer(solved, tmp_path):
    alone, shared = (load(solved(*words, "--layers", "mm")) for words in ((), MODES[1]))
    chart = network_chart(alone, shared)
    for series, result in zip(chart.series, (alone, shared), strict=True):
        assert series.x == ("wide", "deep")
        assert series.y == tuple(
            float(r.layer.count * r.answer.metrics["latency"]) for r in result.layers
        )
        assert series.name == f"{result.mode} ({result.total.value}{result.share.words})"
    kept = tmp_path / "alone.json"
    kept.write_text(solved("--layers", "mm").read_text())
    words = ("network", tiny_file(tmp_path), *QUICK, "--mode", "shared-dataflow", "--compare", kept)
    done = succeed(*words, "--layers", "mm", "--plot", tmp_path / "modes.svg", "--dataflow", "i")
    total = float(
        next(line for line in done.stdout.splitlines() if line.startswith("total"))
        .split()[2]
        .replace(",", "")
    )
    less = 1 - float(alone.total.value or 0) / total
    assert less > 0
    assert (
        f"compared   per-layer: latency {alone.total.value}, {less * 100:.1f} % less  (optimal{alone.share.words}, as stated in"
        in done.stdout
    )
    assert "shared-dataflow" in (tmp_path / "modes.svg").read_text()
    done = ithaca(*words)
    assert (done.returncode, done.stderr) == (
        2,
        "ithaca: --compare: layer 'image' is in one result only; allowed: the same layers\n",
    )


def test_every_layer_gets_a_folder_of_seeds(solved, tmp_path):
    path, folder = solved(), tmp_path / "seeds"
    done = succeed("seed", path, "--for", "csv", "--count", "4", "-o", folder)
    layers = json.loads(path.read_text())["layers"]
    assert sorted(each.name for each in folder.iterdir()) == sorted(
        layer["name"] for layer in layers
    )
    for layer in layers:
        rows = list(csv.DictReader((folder / layer["name"] / "seeds.csv").open()))
        assert len(rows) == 4
        assert float(rows[0]["latency"]) == layer["best"]["metrics"]["latency"]
        assert all(float(row["dsp"]) <= 400 and float(row["bram18k"]) <= 400 for row in rows)
        kept = one_result(folder / layer["name"] / "result.json")
        assert kept.best.value == layer["value"]
        alone = tmp_path / f"{layer['name']}.csv"
        succeed("seed", path, "--layer", layer["name"], "--for", "csv", "--count", "4", "-o", alone)
        assert alone.read_text() == (folder / layer["name"] / "seeds.csv").read_text()
    for words in (
        ("--for", "csv", "-o", path),
        ("--for", "csv", "-o", folder, "--platform", "u250"),
    ):
        done = ithaca("seed", path, *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("tool", ["timeloop", "scalesim"])
def test_every_layer_is_exported(solved, tmp_path, tool):
    path, folder = solved("--dataflow", "i,j", "--layers", "mm"), tmp_path / tool
    succeed("export", path, "--to", tool, "-o", folder)
    rows = {row["layer"]: row for row in csv.DictReader((folder / "layers.csv").open())}
    assert {name: row["runs"] for name, row in rows.items()} == {"wide": "1", "deep": "3"}
    for name, row in rows.items():
        alone = tmp_path / f"{tool}-{name}"
        succeed("export", path, "--layer", name, "--to", tool, "-o", alone)
        files = {each.name: each.read_text() for each in alone.iterdir()}
        assert files == {each.name: each.read_text() for each in (folder / row["folder"]).iterdir()}


def test_a_start_gives_the_data_type_unless_one_is_given(tmp_path):
    mm, path = (
        ("solve", "mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--json"),
        tmp_path / "r.json",
    )
    succeed(*mm, "--dtype", "int8", "-o", path)
    for words, dtype in (((), "int8/32"), (("--dtype", "fp32"), "fp32")):
        done = succeed(*mm, "--start", path, *words)
        assert json.loads(done.stdout)["workload"]["dtype"] == dtype


def test_a_layer_is_saved_refined_and_run_like_any_result(solved, tmp_path):
    network, alone = solved(), tmp_path / "wide.json"
    layer = ithaca_python.load(network, layer="wide")
    layer.save(alone)
    again = ithaca_python.load(alone)
    assert again.value == layer.value
    # of the other designs the network's file has no tiling, but what is proven
    assert {s.certificate.lower_bound for s in again.designs} == {
        s.certificate.lower_bound for s in layer.designs
    }
    done = succeed("verify", alone)
    for words in (("grid", "--around", "1"), ("refine", "--samples", "100"), ("simulate",)):
        command, *more = words
        done = succeed(command, network, "--layer", "wide", *more)
        assert ithaca(command, network, *more).returncode == 2
    done = ithaca("report", network, "-o", tmp_path / "page.html", "--quick")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
