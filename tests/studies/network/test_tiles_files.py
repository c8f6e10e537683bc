"""Tiles that are passed on between layers, as commands and files have them."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from ithaca.commands.api.loading import load
from ithaca.results.network import network_document
from ithaca.results.network_verification import verify_network
from ithaca.solver.options import SolveOptions
from tests.command_line import ithaca, succeed

TWO = """\
name: two
layers:
  - {op: kernel, name: first, kernel: mm, sizes: {i: 8, j: 8, k: 2}}
  - {op: kernel, name: second, kernel: mm, sizes: {i: 8, j: 2, k: 8}, follows: true}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a network, an architecture on which tiles pay, and the answer."""
    folder = tmp_path_factory.mktemp("tiles")
    (folder / "two.yaml").write_text(TWO)
    page = (Path(__file__).parents[3] / "docs/uneven-mappings.md").read_text(encoding="utf-8")
    text = page.split('title="arch.yaml"\n')[1].split("```")[0]
    (folder / "small.yaml").write_text(text.replace("4096", "40"))
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "--loops")
    done = succeed(*COMMAND, *words, "-o", folder / "r.json")
    (folder / "shown.txt").write_text(done.stdout)
    return folder


COMMAND = (
    "network",
    "--fuse",
    "--edition",
    "uneven",
    "--objective",
    "energy",
    "--divisors-only",
    "--nodes",
    "levels",
)


def test_what_is_shared_is_shown_and_read_again(folder):
    output = (folder / "shown.txt").read_text()
    assert re.search(r"kept +first → second 64 words, [0-9]+ at a time", output)
    assert "(shared)" in output
    result = load(folder / "r.json")
    assert network_document(result) == json.loads((folder / "r.json").read_text())
    (edge,) = result.fusing.edges
    values = [layer.answer.problem.design for layer in result.layers]
    assert [dict(design.kept) for design in values] == [{"C": edge.tile}, {"A": edge.tile}]


BUFFER = """\
architecture:
  version: 0.4
  nodes:
  - !Component
    name: DRAM
    class: DRAM
    attributes: {datawidth: 16, read_energy: 200, write_energy: 200}
  - !Component
    name: Buffer
    class: SRAM
    attributes: {datawidth: 16, entries: 32, read_energy: 6, write_energy: 6}
  - !Component
    name: mac
    class: intmac
    attributes: {energy: 1}
"""


@pytest.mark.parametrize(
    ("rows", "sizes", "kept", "value"),
    [
        (4, (4, 4, 8, 2), "16 words; l1 → l2 32 words, 4 at a time", "24,192"),
        (8, (8, 8, 2, 2), "64 words, 16 at a time; l1 → l2 16 words, 8 at a time", "80,496"),
    ],
)
def test_whole_tensors_beside_tiles_and_loops_shared_inside_are_read_again(
    rows, sizes, kept, value, tmp_path
):
    (tmp_path / "buffer.yaml").write_text(BUFFER)
    lines = ["name: three", "layers:"]
    for n, (k, j) in enumerate(pairwise(sizes)):
        follows = ", follows: true" if n else ""
        shape = f"{{i: {rows}, j: {j}, k: {k}}}"
        lines.append(f"  - {{op: kernel, name: l{n}, kernel: mm, sizes: {shape}{follows}}}")
    (tmp_path / "three.yaml").write_text("\n".join(lines))
    words = ("--arch", tmp_path / "buffer.yaml", tmp_path / "three.yaml", "--loops")
    output = " ".join(succeed(*COMMAND, *words, "-o", tmp_path / "r.json").stdout.split())
    assert f"kept l0 → l1 {kept}" in output
    assert f"energy {value} (optimal among plans in which layers pass tiles on" in output
    result = load(tmp_path / "r.json")
    assert network_document(result) == json.loads((tmp_path / "r.json").read_text())
    assert all(check.confirmed for check in verify_network(result, SolveOptions()))


@pytest.mark.parametrize(
    ("sizes", "words", "energy", "keeps", "bypass", "value"),
    [
        ((4, 3, 4, 2), 14, (20, 1), "[Inputs, Outputs]", "fixed", "1,460"),
        ((2, 2, 4, 1), 5, (20, 5), "[Inputs, Weights, Outputs]", "free", "844"),
    ],
)
def test_what_passes_by_is_bounded(
    sizes,
    words,
    energy,
    keeps,
    bypass,
    value,
    tmp_path,
):
    """Lanes share weights from DRAM, and may cost less than keeping them; values of all ways, each
    searched with no bound."""
    text = BUFFER.replace("entries: 32", f"entries: {words}")
    for then, now in zip((200, 6), energy, strict=True):
        text = text.replace(f"energy: {then}", f"energy: {now}")
    kept = f"    constraints: {{dataspace: {{keep: {keeps}}}}}\n"
    lanes = f"  - !Container\n    name: PE\n    spatial: {{meshX: {4 if words > 5 else 2}}}\n"
    mac = text.index("  - !Component\n    name: mac")
    (tmp_path / "arch.yaml").write_text(text[:mac] + kept + lanes + text[mac:])
    i, k, j, last = sizes
    (tmp_path / "two.yaml").write_text(
        "name: two\nlayers:\n"
        f"  - {{op: kernel, name: l0, kernel: mm, sizes: {{i: {i}, j: {j}, k: {k}}}}}\n"
        f"  - {{op: kernel, name: l1, kernel: mm, sizes: {{i: {i}, j: {last}, k: {j}}}, "
        "follows: true}\n"
    )
    options = ("--arch", tmp_path / "arch.yaml", tmp_path / "two.yaml", "--bypass", bypass)
    output = " ".join(succeed(*COMMAND, *options, "--nodes", "free").stdout.split())
    assert f"total energy {value} (optimal among plans" in output


def level_text(name, kind, words):
    attributes = f"    attributes: {{datawidth: 16, {words}}}\n"
    return f"  - !Component\n    name: {name}\n    class: {kind}\n{attributes}"


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize(
    ("sizes", "buffer", "inner", "value"),
    [
        (
            ("i: 2, j: 1, k: 3", "i: 2, j: 3, k: 1"),
            "read_energy: 6, write_energy: 200, entries: 24",
            "read_energy: 0.5, write_energy: 50, entries: 4",
            8525,
        ),
        (
            ("i: 2, j: 1, k: 2", "i: 2, j: 1, k: 1", "i: 2, j: 2, k: 1"),
            "read_energy: 50, write_energy: 6, entries: 17",
            "read_energy: 0.5, write_energy: 6, entries: 8",
            3455,
        ),
    ],
)
def test_bounds_of_cut_networks_hold_of_all_plans(sizes, buffer, inner, value, tmp_path):
    """The optima are those of all plans and mappings enumerated."""
    levels = level_text("DRAM", "DRAM", "read_energy: 200, write_energy: 200")
    levels += level_text("Buffer", "SRAM", buffer) + level_text("Inner", "SRAM", inner)
    levels += "  - !Component\n    name: mac\n    class: intmac\n    attributes: {energy: 0}\n"
    (tmp_path / "arch.yaml").write_text("architecture:\n  version: 0.4\n  nodes:\n" + levels)
    lines = [
        f"  - {{op: kernel, name: l{n}, kernel: mm, sizes: {{{own}}}"
        f"{', follows: true' if n else ''}}}"
        for n, own in enumerate(sizes)
    ]
    (tmp_path / "net.yaml").write_text("\n".join(["name: c", "layers:", *lines]))
    words = ("--arch", tmp_path / "arch.yaml", tmp_path / "net.yaml", "-o", tmp_path / "r.json")
    for seconds in ("0.0002", "0.005", "0.05"):
        ithaca(*COMMAND, *words, "--time-limit", seconds)
        total = json.loads((tmp_path / "r.json").read_text())["total"]
        assert 0 < total["certificate"]["lower_bound"] <= value
        assert total["value"] is None or value <= total["value"]


def test_products_of_two_sums_are_read_again(folder):
    """EDP of the whole network is searched for as weighted sums, and is no sum itself."""
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "-o", folder / "edp.json")
    options = [word if word != "energy" else "edp" for word in COMMAND]
    assert "at a time" in succeed(*options, *words).stdout
    assert "found again by the same search" in succeed("verify", folder / "edp.json").stdout


def test_several_objectives_in_order_are_refused(folder):
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "--objective", "energy,latency")
    done = ithaca(*COMMAND, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert (
        "is several in order; allowed with --fuse where tiles may be passed on: one" in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "falls"),
    [
        (
            ("--objective", "energy - latency"),
            "'energy - latency' or a limit may fall with latency",
        ),
        (("--objective", "sum(energy/latency)"), "may fall with latency; allowed with --fuse"),
        (("--limit", "0-latency=-100"), "'energy' or a limit may fall with latency; allowed"),
    ],
)
def test_what_falls_as_a_metric_grows_is_refused(folder, words, falls):
    done = ithaca(*COMMAND, "--arch", folder / "small.yaml", folder / "two.yaml", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert falls in done.stderr
