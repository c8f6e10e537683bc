"""Networks on memory hierarchies: every layer proven, identical ones merged, sums; written, read
back, resumed."""

import json
import os
import re
import subprocess

import pytest

import ithaca
from ithaca.files.numbers import number
from tests.command_line import ithaca as command
from tests.command_line import succeed

NETWORK = """
name: small
source: nowhere
parameters: {batch: 2}
input: {batch: batch, channels: 2, height: 4, width: 4}
layers:
  - {op: conv, name: first, channels: 4, kernel: 1, groups: 2}
  - {op: conv, name: second, channels: 4, kernel: 1}
  - {op: conv, name: third, channels: 4, kernel: 1}
  - {op: depthwise, name: fourth, kernel: 2}
  - {op: linear, name: last, features: 3}
"""
ASKED = ("--arch", "simple", "--divisors-only", "--objective", "energy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a network, its result, and the results kept of its layers."""
    found = tmp_path_factory.mktemp("mapped")
    (found / "small.yaml").write_text(NETWORK)
    words = ("network", "small.yaml", *ASKED, "--results", "kept", "-o", "r.json")
    succeed(*words, cwd=found)
    return found


def test_every_layer_is_what_solving_it_alone_proves(folder):
    found = ithaca.load(folder / "r.json")
    assert found.status == "optimal"
    assert {layer.layer.name: layer.layer.count for layer in found.layers} == {
        "first": 4,
        "second": 4,
        "fourth": 2,
        "last": 1,
    }
    total = 0
    for layer in found.layers:
        alone = ithaca.solve(
            layer.layer.nest, arch="simple", divisors_only=True, objective="energy"
        )
        assert alone.status == "optimal"
        assert layer.answer.value == alone.value == layer.answer.metrics["energy"]
        total += layer.layer.count * alone.value
    assert found.value == total == found.lower_bound


def test_what_is_kept_is_not_solved_again(folder):
    kept = sorted((folder / "kept").iterdir())
    assert len(kept) == 4
    succeed("network", "small.yaml", *ASKED, "--results", "kept", "-o", "again.json", cwd=folder)
    assert (folder / "again.json").read_text() == (folder / "r.json").read_text()
    assert sorted((folder / "kept").iterdir()) == kept


def test_files_are_verified_explained_reported_and_refused_where_edited(folder):
    done = succeed("verify", "r.json", cwd=folder)
    assert "total" in done.stdout
    assert "Dominant:" in command("explain", "r.json", cwd=folder).stdout
    succeed("report", "r.json", "-o", "r.html", cwd=folder)
    assert "The mapping as a loop nest" in (folder / "r.html").read_text()
    succeed("export", "r.json", "--layer", "second", "--to", "timeloop", "-o", "out", cwd=folder)
    succeed("export", "r.json", "--to", "timeloop", "-o", "all", cwd=folder)
    layers = {"first", "second", "fourth", "last"}
    assert {path.name for path in (folder / "all").iterdir()} == {
        *layers,
        "layers.csv",
        "README.md",
        "build_all.sh",
    }
    readme = (folder / "all" / "README.md").read_text()
    for layer in ithaca.load(folder / "r.json").layers:
        energy = number(layer.answer.metrics["energy"])
        assert re.search(
            rf"\| {layer.layer.name} \| {layer.layer.count} \| {layer.layer.name} \| .*\| {energy} \|",
            readme,
        )
    tool = (
        folder / "timeloop-model"
    )  # prints what it is called with, where; fails where a word says so
    tool.write_text(
        '#!/bin/sh\nls problem.yaml && echo "$@"\ncase "$PWD" in *second) exit 3 ;; esac\n'
    )
    tool.chmod(0o755)
    script, known = (
        ["sh", str(folder / "all" / "build_all.sh"), "more"],
        {"PATH": f"{folder}:{os.environ['PATH']}"},
    )
    run = subprocess.run(script, env=known, cwd="/", capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout.count(
        "problem.yaml\narch.yaml ert.yaml problem.yaml mapping.yaml more\n"
    ) == len(layers)
    assert run.stderr.endswith("build_all.sh: failed: second\n")
    assert (folder / "all" / "second" / "mapping.yaml").read_text() == (
        folder / "out" / "mapping.yaml"
    ).read_text()
    document = json.loads((folder / "r.json").read_text())
    document["layers"][0]["best"]["metrics"]["energy"] += 1
    (folder / "edited.json").write_text(json.dumps(document))
    with pytest.raises(ithaca.InputError, match="is not the model's"):
        ithaca.load(folder / "edited.json")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mode", "shared-array"), "--mode does not go with --arch"),
        (("--dtype", "int8"), "--dtype does not go with --arch"),
        (("--limit", "dsp=3"), "layer first: --limit: 'dsp' uses the unknown name"),
    ],
)
def test_what_does_not_fit_is_one_line(words, told, folder):
    done = command("network", "small.yaml", "--arch", "simple", *words, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
