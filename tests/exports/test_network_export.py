"""``ithaca export`` of a network's result: a folder for every layer that is run in its own way."""

import csv
import os
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import ithaca
from ithaca.exports.autosa.requirements import obstacles
from ithaca.exports.configuration import TARGETS, ArrayConfiguration
from ithaca.exports.layers import ExportedLayer, export_layers
from ithaca.exports.programs.folder import Program
from ithaca.files.errors import InputError
from ithaca.files.writing import write_folder
from ithaca.formulations.systolic.design import systolic

NETWORK = """
name: small
layers:
  - {op: kernel, name: first, kernel: conv2d, sizes: {o: 8, r: 6, c: 6, i: 8, p: 3, q: 3, s: 1, d: 1}, count: 2}
  - {op: kernel, name: last, kernel: conv2d, sizes: {o: 16, r: 6, c: 6, i: 4, p: 1, q: 1, s: 1, d: 1}}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "small.yaml"
    path.write_text(NETWORK)
    return path


def configuration(layer):
    solution = layer.answer
    design = systolic(solution.problem)
    return ArrayConfiguration(
        design.nest, design.array, design.data, solution.tiling, design.technology
    )


@pytest.mark.parametrize("target", [n for n, tool in TARGETS.items() if tool.family == "systolic"])
def test_every_target_gets_a_folder_per_layer(target, network, tmp_path):
    own = {"dtype": "int8", "platform": "rtl-open"} if target == "rtl" else {}
    found = ithaca.network(network, dataflow="o,i", target="autosa", **own)
    said = ithaca.export(found, target, tmp_path / "out")
    with (tmp_path / "out" / "layers.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert [(row["layer"], row["runs"]) for row in rows] == [
        (r.layer.name, str(r.layer.count)) for r in found.layers
    ]
    folders = {row["folder"] for row in rows}
    assert folders == {entry.name for entry in (tmp_path / "out").iterdir() if entry.is_dir()}
    assert f"{len(rows)} layers in {len(folders)} folder" in said
    alone = ithaca.export(found, target, tmp_path / "alone", layer="last")
    whole = TARGETS[target].configured is Program
    assert ("the program of design [o,i]" if whole else "the result's best configuration") in alone
    for file in filter(Path.is_file, (tmp_path / "alone").rglob("*")):
        same = tmp_path / "out" / "last" / file.relative_to(tmp_path / "alone")
        assert file.read_text() == same.read_text()


@pytest.mark.parametrize("mode", ["per-layer", "shared-dataflow", "shared-array"])
def test_layers_for_autosa_are_taken_by_it(mode, network, tmp_path):
    found = ithaca.network(network, mode=mode, dtype="int8", dataflow="o,r", target="autosa")
    assert found.value >= found.unrestricted.value
    for layer in found.layers:
        assert obstacles(configuration(layer)) == ()
        assert layer.answer.configuration is not None
        assert layer.answer.problem.space.contains(layer.answer.configuration)
    found.save(tmp_path / "network.json")
    assert ithaca.load(tmp_path / "network.json").document == found.document
    ithaca.export(tmp_path / "network.json", "autosa", tmp_path / "out")


def test_a_readme_states_the_figures_of_every_layer_and_a_script_builds_all(network, tmp_path):
    found = ithaca.network(network, dataflow="o,i", target="autosa")
    ithaca.export(found, "autosa", tmp_path / "out")
    lines = (tmp_path / "out" / "README.md").read_text().splitlines()
    headings, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    for row, layer in zip(rows, found.layers, strict=True):
        known = dict(zip(headings, row, strict=True))
        metrics = layer.answer.metrics
        assert (known["layer"], known["runs"]) == (layer.layer.name, str(layer.layer.count))
        assert Fraction(known["latency (cycles)"].replace(",", "")) == metrics["latency"]
        assert float(known["energy (pJ)"].replace(",", "")) == pytest.approx(
            float(metrics["energy"]), abs=1e-4
        )
    # without a compiler every folder's script is run, and fails
    known = {"PATH": os.environ["PATH"], "AUTOSA": "/nowhere"}
    done = subprocess.run(
        ["sh", str(tmp_path / "out" / "build_all.sh")],
        env=known,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"== {row[headings.index('folder')]}" for row in rows]
    assert done.stderr.splitlines()[-1].endswith("build_all.sh: failed: first last")
    ithaca.export(found, "timeloop", tmp_path / "other")
    assert not (tmp_path / "other" / "build_all.sh").exists()
    assert "build_all" not in (tmp_path / "other" / "README.md").read_text()


def test_all_layers_are_exported_or_none(network, tmp_path):
    found = ithaca.network(network, dtype="int8", dataflow="i", include_unbuildable=False)
    with pytest.raises(
        InputError,
        match=r"AutoSA cannot build some layers: .*less than the 2 lanes.*solve again: ithaca network NETWORK --",
    ):
        ithaca.export(found, "autosa", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "the nearest that can be taken" in ithaca.export(
        found, "autosa", tmp_path / "out", nearest=True
    )
    shared = ithaca.network(network, mode="shared-array", dtype="int8", dataflow="o,r")
    with pytest.raises(
        InputError, match=r"nearest does not go with mode shared-array|--nearest does not go with"
    ):
        ithaca.export(shared, "autosa", tmp_path / "out", nearest=True)


def test_layers_that_run_alike_share_a_folder_whatever_their_names(network, tmp_path):
    found = ithaca.network(network, dataflow="o,i", target="autosa")
    one, other = configuration(found.layers[0]), configuration(found.layers[-1])
    names = ("/model/conv.1", "/model/conv.1", "layers.csv", "../..", "=x")
    layers = [ExportedLayer(name, 1, one) for name in names] + [
        ExportedLayer(name, 2, replace(other, bandwidth=number))
        for number, name in enumerate(names)
    ]
    files, _ = export_layers(TARGETS["autosa"], layers, "")
    folders = {name.split("/")[0] for name in files if "/" in name}
    assert len(folders) == 1 + len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][\w.-]*", folder) for folder in folders)
    write_folder(tmp_path / "out", files)
    (tmp_path / "out" / "mine").write_text("mine")
    write_folder(tmp_path / "out", {**files, "layers.csv": "new"})
    assert (tmp_path / "out" / "layers.csv").read_text() == "new"
    known = {*folders, "layers.csv", "mine", "README.md", "build_all.sh"}
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == known
    assert (tmp_path / "out" / "model_conv.1" / "autosa_command.sh").stat().st_mode & 0o100
