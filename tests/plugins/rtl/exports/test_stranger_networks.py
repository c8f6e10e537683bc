"""Folders of networks from strangers: what Ithaca generates is made again layer by layer, anything
else is named."""

import json
import random
from contextlib import contextmanager
from pathlib import Path

import pytest

import ithaca
from ithaca.exports.layers import ExportedLayer, export_layers
from ithaca.files.writing import write_folder
from ithaca.plugins.rtl.commands import building
from ithaca.plugins.rtl.exports.again import differences, made_again
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.record import RECORD
from ithaca.plugins.rtl.exports.tools import Bench, Run
from tests.command_line import refused, succeed
from tests.plugins.rtl.exports.cases import (
    configuration,
    layers_of,
)
from tests.plugins.rtl.exports.test_strangers import append, link, put, recurrence, same


@pytest.fixture(scope="module")
def layers():
    """Hardware of five layers in three folders, of which one runs two."""
    first, second, third, _ = layers_of("mm", "ij").values()
    other = configuration("mm", "ij", 1)[0]
    exported = [
        ExportedLayer("a", 1, other),
        ExportedLayer("b", 3, third),
        ExportedLayer("like a", 1, other),
        ExportedLayer("c", 1, first, 0),
        ExportedLayer("-d", 2, second, 0),
    ]
    files, remarks = export_layers(rtl_tool(), exported, "all of the network's arithmetic")
    assert remarks == ("array0 runs c, d",)
    return files


@pytest.fixture
def network(layers, folder):
    write_folder(folder, layers)
    return folder


def test_networks_are_made_again_from_their_records(network, layers):
    assert {"README.md", "build_all.sh", "layers.csv", RECORD} < layers.keys()
    assert {name.split("/")[0] for name in layers if "/" in name} == {"a", "b", "array0"}
    same(layers, network)


@pytest.mark.ci(whole=True)
@pytest.mark.usefixtures("_nothing_runs")
def test_every_changed_file_of_a_network_is_named(network, layers):
    read = (RECORD, "layers.csv", "expected.json")
    known = made_again(network)
    # one of each name: folders of layers hold the same
    for name in {Path(name).name: name for name in layers}.values():
        text = layers[name]
        path, draw = network / name, random.Random(name)
        at = draw.randrange(len(text) + 1)
        changes = [
            lambda p=path, t=text, at=at: p.write_text(f"{t[:at]} {t[at:]}"),
            lambda p=path, t=text, at=at: p.write_text(t[:at] + t[at + 1 :] if t[at:] else ""),
            path.unlink,
            lambda p=path: p.symlink_to("/etc/hostname"),
        ]
        for change in changes:
            change()
            if Path(name).name in read:
                refused("build", network)  # it may be none at all
            else:
                (line,) = differences(network, known)
                assert line.startswith(f"{name} is ")
        path.unlink()
        path.write_text(text)
    assert differences(network, known) == ()


PLANTED = {
    "script": (append("build_all.sh", "touch x\n"), "build_all.sh is not as written"),
    "page": (append("README.md", "Proven by NASA.\n"), "README.md is not as written"),
    "row": (append("layers.csv", "z,1,a,[i]\n"), "layers.csv is not as written"),
    "bench": (put("bench.sv"), "bench.sv was not written"),
    "makefile": (put("GNUmakefile"), "GNUmakefile was not written"),
    "module of Python": (put("a/numpy.py"), "a/numpy.py was not written"),
    "further folder": (lambda at: (at / "old").mkdir() or put("old/x.v")(at), "old/x.v was not"),
    "further link": (lambda at: (at / "old").symlink_to("a"), "old was not written"),
    "linked record": (link(RECORD), f"{RECORD} is a link"),
    "linked folder": (link("a"), "folder is 'a'; allowed: a folder beside it"),
    "renamed": (lambda at: (at / "a").rename(at / "z"), "no such file"),
    "exchanged": (
        lambda at: [(at / x).rename(at / y) for x, y in (("a", "z"), ("b", "a"), ("z", "b"))],
        f"a/{RECORD} is not the one that",
    ),
    "no record": (lambda at: (at / RECORD).unlink(), f"{RECORD}: no such file"),
}


@pytest.mark.parametrize("change", PLANTED)
@pytest.mark.usefixtures("_nothing_runs")
def test_what_is_planted_in_a_networks_folder_is_named(change, network):
    make, line = PLANTED[change]
    make(network)
    assert line in refused("build", network)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("folder", "..", "folder is '..'; allowed: a folder beside it"),
        ("folder", "b", f"a/{RECORD} is not the one that"),
        ("of", "c", "a is of 'c'; allowed: ''"),
        ("design", "c", "design of a is 'c'; allowed: "),
        ("figures", {"latency": "1"}, "README.md is not as written"),
        ("runs", 0, "runs is 0"),
        ("runs", 7, "README.md is not as written"),
        ("layer", "x", "README.md is not as written"),
    ],
)
@pytest.mark.usefixtures("_nothing_runs")
def test_a_networks_record_is_held_against_its_folders(field, value, said, network):
    document = json.loads((network / RECORD).read_text())
    document["layers"] = [
        row | ({field: value} if row["folder"] == "a" else {}) for row in document["layers"]
    ]
    (network / RECORD).write_text(json.dumps(document, indent=2) + "\n")
    assert said in refused("build", network)


def test_a_network_of_the_cycle_edition_is_as_written(tmp_path, monkeypatch):
    """Records of folders state hardware, not the edition that its figures are of."""
    monkeypatch.chdir(tmp_path)
    layers = [
        {"op": "kernel", "name": n, "kernel": "mm", "sizes": dict.fromkeys("ijk", int(n[1]))}
        for n in ("a4", "a6")
    ]
    Path("net.json").write_text(json.dumps({"name": "net", "layers": layers}))
    board = "--platform rtl-open --dtype int8 --dataflow i,j --limit dsp=8"
    succeed("network", "net.json", *board.split(), "-o", "answer.json")
    succeed("export", "answer.json", "--to", "rtl", "-o", "out")
    assert "(cycle edition)" in Path("out/README.md").read_text()
    assert differences(Path("out"), made_again(Path("out"))) == ()


@pytest.mark.usefixtures("_nothing_runs")
def test_recurrences_are_no_layers_of_a_network(network):
    write_folder(network / "a", recurrence())
    assert "a is one of recurrences; allowed: layers of a network" in refused("build", network)


def test_of_a_trusted_network_each_layer_says_what_differs(network, monkeypatch):
    seen = []

    @contextmanager
    def compiled(folder, **_):
        seen.append(folder)
        yield Bench("Verilator", (), folder)

    monkeypatch.setattr(building, "compiled", compiled)
    monkeypatch.setattr(Bench, "run_layers", lambda *_, **__: (Run("Verilator", 7, False, 195, 0),))
    assert {*ithaca.build(network).builds} == {"a", "b", "array0"}
    assert not any(path.is_relative_to(network) for path in seen)
    append("a/bench.sv", "//")(network)
    append("build_all.sh", "#")(network)
    seen.clear()
    builds = ithaca.build(network, trust=True).builds
    assert seen == [network / name for name in builds]
    assert builds["a"].differs == ("a/bench.sv is not as written", "build_all.sh is not as written")
    assert builds["b"].differs == ("build_all.sh is not as written",)


@pytest.mark.usefixtures("_nothing_runs")
def test_a_networks_table_names_folders_beside_it(hardware, tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "link").symlink_to(hardware)
    for name in ("../rtl", str(hardware), "link", ".", "..", 300 * "a"):
        (tmp_path / "net" / "layers.csv").write_text(f"layer,runs,folder,design\na,1,{name},x\n")
        assert "allowed: a folder beside it" in refused("build", tmp_path / "net")


def test_networks_are_made_again_folder_by_folder(tmp_path):
    (tmp_path / "net.yaml").write_text(
        "name: n\nlayers:\n"
        "  - {op: kernel, name: a, kernel: mm, sizes: {i: 4, j: 4, k: 8}}\n"
        "  - {op: kernel, name: b, kernel: mm, sizes: {i: 8, j: 4, k: 8}}\n"
    )
    words = ("--dtype", "int8", "--platform", "rtl-open", "--dataflow", "i", "--limit", "dsp=4")
    for mode in ("per-layer", "shared-array"):
        free = (",lut=none,ff=none",) if mode == "shared-array" else ("",)
        choice = (*words[:-1], f"{words[-1]}{free[0]}", "--mode", mode)
        succeed("network", tmp_path / "net.yaml", *choice, "-o", tmp_path / "r.json")
        succeed("export", tmp_path / "r.json", "--to", "rtl", "-o", tmp_path / mode)
        folders = [path.parent for path in (tmp_path / mode).glob(f"*/{RECORD}")]
        assert len(folders) == (1 if mode == "shared-array" else 2)
        for each in folders:
            assert differences(each, made_again(each)) == ()
