"""What is allowed, but hardly ever asked: nests of one iteration, totals that are not above 0, odd names, numbers and disks."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import ithaca
from ithaca.formulations.configuration import Configuration
from tests.command_line import ithaca as command

MM = "{op: kernel, name: %s, kernel: mm, sizes: {i: %d, j: %d, k: %d}}"


def network_file(folder: Path, *layers: tuple[str, int, int, int]) -> Path:
    path = folder / "net.yaml"
    path.write_text("name: net\nlayers:\n" + "".join(f"  - {MM % layer}\n" for layer in layers), encoding="utf-8")
    return path


# -- extents of 1 ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "exact", "cpsat", "gp", "nlp", "evolve"])
@pytest.mark.parametrize("workload", ["mm", "conv2d"])
def test_one_iteration_has_one_mapping(workload: str, method: str) -> None:
    """Words of DRAM, 200 pJ each, one of each tensor; with nothing kept further in, a multiply-accumulate of 1 pJ."""
    loops = "ijk" if workload == "mm" else "orcipq"
    sizes = dict.fromkeys(loops, 1)
    result = ithaca.map(workload, arch="simple", objective="energy", method=method, sizes=sizes)
    only = result.best.problem.metrics(Configuration({}))
    assert (result.status, result.value, dict(result.best.configuration)) == ("optimal", only["energy"], {})
    if method == "exact":
        free = ithaca.map(workload, arch="simple", objective="energy", bypass="free", sizes=sizes)
        assert (free.status, free.value) == ("optimal", 3 * 200 + 1)


@pytest.mark.parametrize("arch", ["eyeriss", "nvdla-like", "simba-like", "tpu-like", "dmazerunner-256"])
def test_one_iteration_maps_onto_every_hierarchy(arch: str) -> None:
    result = ithaca.map("mm", arch=arch, objective="latency", i=1, j=1, k=1)
    assert (result.status, result.best.metrics["computes"]) == ("optimal", 1)


def test_a_network_of_layers_of_one_iteration_is_mapped_and_explained(tmp_path: Path) -> None:
    file = network_file(tmp_path, ("a", 1, 1, 1), ("b", 2, 1, 1))
    assert command("network", file, "--arch", "simple", "-o", tmp_path / "n.json").returncode == 0
    explained = command("explain", tmp_path / "n.json")
    assert (explained.returncode, explained.stderr) == (0, "")


# -- totals that are not above 0 ---------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("latency-1e12", "; latency-1e12 is -1,999,999,999,"),
        ("0*latency", "; 0*latency is 0 (proven optimal)"),
        ("latency-57", "; latency-57 is "),
    ],
)
def test_a_network_whose_total_is_not_above_0_is_explained_by_cycles(objective: str, told: str, tmp_path: Path) -> None:
    """Shares are of the latency, which every layer takes some of; the total is stated beside it."""
    file, result, page = network_file(tmp_path, ("a", 4, 4, 4), ("b", 2, 3, 4)), tmp_path / "n.json", tmp_path / "n.html"
    plot = tmp_path / "n.svg"
    asked = ("network", file, "--dataflow", "i,j", "--objective", objective, "-o", result, "--plot", plot)
    assert command(*asked).returncode == 0
    explained = command("explain", result)
    assert (explained.returncode, explained.stderr) == (0, "")
    assert told in explained.stdout
    shares = json.loads(command("explain", result, "--json").stdout)
    assert shares["what"] == "latency"
    assert sum(Fraction(str(layer["share"])) for layer in shares["layers"]) == pytest.approx(1)
    assert all(layer["value"] > 0 for layer in shares["layers"])
    assert command("report", result, "-o", page).returncode == 0
    assert command("network", file, "--dataflow", "i,j", "--objective", objective, "--compare", result).returncode == 0


def test_a_codesign_whose_total_is_not_above_0_is_explained(tmp_path: Path) -> None:
    file, result = network_file(tmp_path, ("a", 4, 4, 4), ("b", 2, 3, 4)), tmp_path / "c.json"
    asked = ("codesign", "dmazerunner-memory", "-w", file, "--objective", "latency-1e12", "-o", result)
    assert command(*asked).returncode == 0
    explained = command("explain", result, "--quick")
    assert (explained.returncode, explained.stderr) == (0, "")
    assert "of the latency." in explained.stdout
