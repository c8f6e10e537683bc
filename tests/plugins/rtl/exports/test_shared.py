"""One array that runs layers of several sizes: each takes the cycles of an array of its own, every
element is as NumPy says, and a wrong size in a register does not pass; what cannot share, says so."""

import csv
import json
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from ithaca.exports.layers import ExportedLayer, export_layers
from ithaca.files.errors import InputError
from ithaca.files.writing import write_folder
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.buffering import choosable, single_buffered
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.hardware import Hardware, in_exact_edition
from ithaca.plugins.rtl.exports.sizes import disagreements, module_sizes
from ithaca.plugins.rtl.exports.tools import compiled
from ithaca.plugins.rtl.formulations.addresses import AddressNest, merged_alike
from tests.plugins.rtl.exports.cases import MACHINE, configuration, layers_of

#: One array of each kind, with machines that add sums last and first.
KINDS = [
    ("mm", "ij", "int8", MACHINE),
    ("conv2d", "or", "int16", Machine(hop=3)),
    ("mttkrp", "ik", "int8", MACHINE),
    ("mm", "k", "fp16", replace(MACHINE, mac=7)),
]


def write_shared(folder, layers):
    """Write the array that runs layers; what is stated of each."""
    tool = rtl_tool()
    assert tool.shared is not None
    files = tool.shared(layers)
    write_folder(folder, files)
    return json.loads(files["expected.json"])["layers"]


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(("name", "dataflow", "data", "machine"), KINDS)
def test_one_array_runs_every_layer_in_its_cycles(name, dataflow, data, machine, folder):
    check_layers(folder, layers_of(name, dataflow, data, machine))


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("dataflow", ["ij", "k"])
def test_one_array_with_single_buffers_runs_every_layer_in_its_cycles(dataflow, folder):
    layers = layers_of("mm", dataflow)
    array = single_buffered(layers["first"].design, choosable(layers["first"].design))
    check_layers(folder, {name: replace(own, design=array) for name, own in layers.items()})


def check_layers(folder, layers):
    """Run layers, the first again behind the last, and with wrong sizes."""
    layers = {**layers, "again": layers["first"]}
    stated = write_shared(folder, layers)
    with compiled(folder) as bench:
        plain, stalled, twice = (
            bench.run_layers(**options) for options in ({}, {"stalls": 5}, {"runs": 2})
        )
        wrong = wrong_sizes(folder)
        for text in wrong[:5]:
            folder.joinpath("vectors/sizes.hex").write_text(text)
            assert bench.run_layers() != plain
    assert len(wrong) > 2
    for layer, *runs in zip(stated.values(), plain, stalled, twice, strict=True):
        assert runs[0].cycles == layer["simulated"] < runs[1].cycles
        assert [run.right for run in runs] == [layer["elements"] * n for n in (1, 1, 2)]
        assert not any(run.wrong or run.hangs for run in runs)
    assert len({layer["simulated"] for layer in stated.values()}) == len(layers) - 1


def wrong_sizes(folder):
    """The register writes of the bench if, of the second layer, two turns of a buffer's order were
    swapped, or a tile had a pack less."""
    rows = [*csv.DictReader(folder.joinpath("registers.csv").read_text().splitlines())]
    words = folder.joinpath("vectors/sizes.hex").read_text().split()
    texts = []
    for at, (row, following) in enumerate(pairwise(rows)):
        faulty, (module, size, *_) = [*words], row["size"].split(".")
        at += len(rows)
        if module.endswith("_in") and size == "turns" and ".turns." in following["size"]:
            faulty[at], faulty[at + 1] = words[at + 1], words[at]
        elif size == "packs" and row["second"] != "1":
            faulty[at] = f"{int(words[at], 16) - 1:08x}"
        if faulty != words:
            texts.append("\n".join(faulty))
    return texts


@pytest.mark.parametrize(("name", "dataflow"), [("mm", "ij"), ("mttkrp", "ik"), ("conv2d", "or")])
def test_registers_walk_through_the_words_of_every_layer(name, dataflow):
    layers = layers_of(name, dataflow)
    runs = tuple(hardware(layer) for layer in layers.values())
    sizes = module_sizes(Hardware(runs[0].configuration, runs))
    for layer, run in enumerate(runs):
        for group in (*run.reads, run.out):
            rows = {key: values[layer] for key, values in sizes[group.modules[0].name].rows}
            assert rows["packs"] == run.value(group.size) // run.value(group.pack)
            loops = sum(key.startswith("turns") for key in rows)
            nest = [(rows[f"turns.{n}"], rows[f"step.{n}"]) for n in range(loops)]
            words = run.in_tile(group).addresses // run.word(group)
            assert walk(nest, rows["first"]) == words.tolist()


def walk(nest, place):
    """The places of a walk by turns and steps, as `ithaca_walk` goes."""
    turns, places = [0] * len(nest), [place]
    while True:
        for axis in reversed(range(len(nest))):
            if turns[axis] + 1 < nest[axis][0]:
                turns[axis] += 1
                places.append(places[-1] + nest[axis][1])
                break
            turns[axis] = 0
        else:
            return places


def test_nests_become_alike():
    draw = random.Random(3)
    for _ in range(200):
        nests = [
            AddressNest(tuple((draw.randint(1, 3), draw.choice([0, 1, 2, 6])) for _ in range(5)))
            for _ in range(draw.randint(1, 3))
        ]
        alike = merged_alike(nests)
        assert len({len(nest.axes) for nest in alike}) == 1
        for one, other in zip(nests, alike, strict=True):
            assert one.addresses.tolist() == other.addresses.tolist()
    nests = [AddressNest(((3, 4), (4, 1))), AddressNest(((2, 8), (2, 1)))]
    assert merged_alike(nests) == nests
    assert merged_alike([nests[0], AddressNest(((2, 2), (2, 1)))])[1].axes == ((4, 1),)


def hardware(chosen):
    exact = in_exact_edition(chosen)
    assert exact is not None
    return Hardware(exact)


# -- what keeps layers from sharing ------------------------------------------------------


def changed(chosen, field):
    """A layer that differs in a field."""
    tiling = chosen.tiling
    if field == "pack":
        return replace(chosen, tiling=replace(tiling, pack={**tiling.pack, "A": 8}))
    if field == "lanes":
        parts = {**tiling.array_part, "i": 2 * tiling.array_part["i"]}
        return replace(chosen, tiling=replace(tiling, array_part=parts))
    if field == "machine":
        return replace(chosen, technology=replace(chosen.technology, machine=Machine(mac=9)))
    if field == "dtype":
        return replace(chosen, data=data_type("int16"))
    return layers_of("mm", "ik")["first"]


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("pack", "pack.A is 4 in first, 8 in other"),
        ("lanes", "lanes.i is 2 in first, 4 in other"),
        ("dtype", "dtype is int8/32 in first, int16/32 in other"),
        ("machine", "machine.mac is 4 in first, 9 in other"),
        ("design", "design is [i,j] C in first, [i,k] C in other"),
    ],
)
def test_what_keeps_layers_from_sharing_is_one_line(field, line):
    first = layers_of("mm", "ij")["first"]
    runs = {"first": hardware(first), "other": hardware(changed(first, field))}
    assert [*disagreements(runs)] == [line]
    layers = [
        ExportedLayer("first", 1, first, 0),
        ExportedLayer("other", 2, changed(first, field), 0),
    ]
    files, remarks = export_layers(rtl_tool(), layers, "")
    assert remarks == (f"array 0 is written as an array each for first, other: {line}",)
    assert {"first/array.sv", "other/array.sv"} <= files.keys()


def test_masters_and_arrays_that_hang_are_not_shared():
    layers = layers_of("mm", "ij")
    exported = [ExportedLayer(name, 1, layer, 0) for name, layer in layers.items()]
    _, remarks = export_layers(rtl_tool(memory="axi4"), exported, "")
    assert remarks == (
        "array 0 is written as an array each for first, second, third, last: with --memory axi4 masters "
        "read the tensors of one layer",
    )
    shared = rtl_tool().shared
    assert shared is not None
    hangs, _ = configuration("mttkrp", "jk", 1, machine=Machine())
    runs = {"first": hangs, "second": replace(hangs, bandwidth=None, proven=True)}
    with pytest.raises(
        InputError, match=r"^first hangs, as simulated; second hangs, as simulated$"
    ):
        shared(runs)


def test_layers_of_one_array_have_one_folder():
    layers = layers_of("mm", "ij")
    exported = [ExportedLayer(name, 1, layer, 1) for name, layer in layers.items()]
    exported += [
        ExportedLayer("alone", 1, layers["first"], 0),
        ExportedLayer("like it", 4, layers["first"], 1),
    ]
    files, remarks = export_layers(rtl_tool(), exported, "")
    assert remarks == ("array1 runs first, second, third, last",)
    assert {name.split("/")[0] for name in files if "/" in name} == {"array1", "alone"}
    rows = [*csv.DictReader(files["layers.csv"].splitlines())]
    assert [row["folder"] for row in rows] == ["array1"] * 4 + ["alone", "array1"]
    assert "array1 alone" in files["build_all.sh"]
