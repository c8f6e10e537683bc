"""Statistics that Timeloop printed of a mapping, beside those of the model."""

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.exports.timeloop.mapper import mapper_files
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.points import (
    evaluate_points,
    load_points,
    model_of,
)
from ithaca.plugins.hierarchies.formulations.statistics_files import Figure, statistics
from ithaca.plugins.hierarchies.formulations.timeloop import LinkedLanesModel
from ithaca.workloads.problem_files import read_problem
from tests.command_line import ithaca as run
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.test_timeloop_mapper import ARCHITECTURE, ENERGIES, MAPPED, PROBLEM
from tests.reference import DATA

#: Fields that the tool prints of levels beside those recorded, and none of which is counted here.
MORE = "    Area (total)            : 340224.00 um^2\n    Technology : SRAM\n"


def printed(recorded, each="fJ/Compute"):
    """Figures as the tool prints them, by level, tensor and field."""
    lines = ["Buffer and Arithmetic Levels", "-" * 28]
    for place, (part, fields) in enumerate(recorded.items()):
        level, _, tensor = part.partition(".")
        if part == "Summary Stats":
            lines += ["", "Networks", "--------", "=== DRAM ===", "    Cycles : 7", "", part, ""]
            whole = [name for name in fields if name not in ("mac", *RECORDED_LEVELS, "Total")]
            lines += [f"{name}: {fields[name]}" for name in whole if "Compute" not in name]
            lines += ["", *(f"{name} = {fields[name]}" for name in whole if "Compute" in name)]
            lines += [
                each,
                *(f"    {n.ljust(9)} = {v}" for n, v in fields.items() if n not in whole),
            ]
            continue
        if not tensor:
            lines += [
                "",
                f"Level {place}",
                "-------",
                f"=== {level} ===",
                "",
                "    STATS",
                "    -----",
            ]
        lines += [f"    {tensor}:"] if tensor else [MORE]
        lines += [f"        {name.ljust(41)}: {value}" for name, value in fields.items()]
    return "\n".join(lines) + "\n"


RECORDED = json.loads((DATA / "timeloop_stats.json").read_text())
RECORDED_LEVELS = ("registers", "buffer", "DRAM")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "p.yaml": PROBLEM,
        "arch.yaml": ARCHITECTURE,
        "m.yaml": MAPPED,
        "s.txt": printed(RECORDED),
    }
    for name, text in (texts | {"timeloop-model.ERT.yaml": ENERGIES}).items():
        Path(name).write_text(text)
    return tmp_path


COMPARED = ("evaluate", "p.yaml", "--arch", ".", "--points", "m.yaml", "--compare")


def test_all_figures_that_the_tool_printed_are_equal(folder):
    """All 147 numbers that were recorded of the real tool; energies stand beside the architecture as the
    tool writes them."""
    done = succeed(*COMPARED, "s.txt")
    assert "none of 147 figures differ from s.txt" in done.stdout
    assert "of the file not compared: Area (total)\n" in done.stdout
    document = json.loads(succeed(*COMPARED, "s.txt", "--json").stdout)["comparison"]
    assert (document["figures"], document["different"], document["first_fills"]) == (147, [], False)


def test_figures_that_differ_are_listed_and_the_status_is_1(folder):
    changed = json.loads(json.dumps(RECORDED))
    changed["buffer.Inputs"]["Scalar reads (per-instance)"] = "1000"
    changed["Summary Stats"]["Cycles"] = "37"
    Path("s.txt").write_text(printed(changed))
    done = run(*COMPARED, "s.txt")
    assert done.returncode == 1
    assert done.stderr.endswith("2 of 147 figures differ from s.txt\n")
    own = RECORDED["buffer.Inputs"]["Scalar reads (per-instance)"]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines()]
    assert ["buffer.Inputs", "Scalar reads (per-instance)", own, "1000"] in rows
    assert ["whole run", "Cycles", "36", "37"] in rows
    points = ithaca.evaluate("p.yaml", arch=".", points="m.yaml", compare="s.txt")
    assert points.failure == "2 of 147 figures differ from s.txt"
    assert len(points.comparison.different) == 2


#: Multipliers side by side, with nothing that keeps words around them.
LANES = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, width: 64}}
  - !Component {name: buffer, class: SRAM, attributes: {datawidth: 8, depth: 512, width: 8}}
  - !Container {name: lanes, spatial: {meshX: 4}}
  - !Component {name: mac, class: intmac}
"""
MATRICES = """
problem:
  version: 0.4
  shape:
    name: product
    dimensions: [M, N, K]
    data_spaces:
    - {name: Weights, projection: [[[M]], [[K]]]}
    - {name: Inputs, projection: [[[K]], [[N]]]}
    - {name: Outputs, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 16, N: 6, K: 4}
"""


def read_with_neighbours(loops, lanes, indices):
    """Words that lanes read from the buffer, cycle by cycle, where none is read that a neighbour had
    in the cycle before, and what several read at a time is read once."""
    words, before = 0, [None] * lanes
    for place in product(*(range(n) for _, n in loops)):
        at = dict.fromkeys("MNK", 0)
        for (loop, n), index in zip(loops, place, strict=True):
            at[loop] = at[loop] * n + index
        now = [
            tuple(at[loop] * lanes + lane if loop == "M" else at[loop] for loop in indices)
            for lane in range(lanes)
        ]
        near = [{before[k] for k in (n - 1, n + 1) if 0 <= k < lanes} for n in range(lanes)]
        words += len({word for word, known in zip(now, near, strict=True) if word not in known})
        before = now
    return words


@pytest.mark.parametrize("seed", range(6))
def test_words_of_neighbouring_multipliers_are_read_once(tmp_path, seed):
    random = Random(seed)
    outer = random.sample([("M", 2), ("N", 3), ("K", 2)], 3)
    inner = random.sample([("M", 2), ("N", 2), ("K", 2)], 3)
    lines = ["DRAM [ Weights:64 (64) Inputs:24 (24) Outputs:96 (96) ]", "---"]
    lines += [f"| for {loop} in [0:{n})" for loop, n in outer]
    lines += ["", "buffer [ Weights:16 (16) Inputs:4 (4) Outputs:16 (16) ]", "---"]
    lines += [f"| for {loop} in [0:{n})" for loop, n in inner]
    node = random.choice(("lanes", "inter_lanes_spatial"))
    lines += ["", f"{node} [ ]", "---", "|  for M in [0:4) (Spatial-X)", "|    << Compute >>"]
    texts = {"a.yaml": LANES, "p.yaml": MATRICES, "m.map.txt": "\n".join(lines) + "\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    nest = read_problem(tmp_path / "p.yaml")
    (point,) = load_points(tmp_path / "m.map.txt", read_architecture(tmp_path / "a.yaml"), nest)
    model = model_of(point.design, [point.mapping], LinkedLanesModel)
    read = {t: next(iter(model.reads(1, t).entries(1))) for t in ("Inputs", "Weights")}
    assert {tensor: Fraction(*count) for tensor, count in read.items()} == {
        "Inputs": read_with_neighbours([*outer, *inner], 4, "KN"),
        "Weights": read_with_neighbours([*outer, *inner], 4, "MK"),
    }


def of_2020():
    """The recorded figures as Timeloop of 2020 and 2022 prints them: what outputs take first counts
    as fills; other names, energies in pJ, and a share for a per cent."""
    older = json.loads(json.dumps(RECORDED))
    # of 12 words of outputs that the buffer holds in each of 2 rounds none come from outside
    older["buffer.Outputs"]["Scalar fills (per-instance)"] = "24"
    older["registers.Outputs"]["Scalar fills (per-instance)"] = "36"
    assert RECORDED["buffer.Outputs"]["Scalar fills (per-instance)"] == "0"
    for part in ("buffer.Outputs", "registers.Outputs"):
        for name in [n for n in older[part] if "Energy" in n or "Bandwidth" in n]:
            del older[part][name]
    older["mac"]["Energy-per-op"] = older["mac"].pop("Compute energy")
    older["Summary Stats"] = {"Utilization": "1.00", "Cycles": "36", "MACCs": "144", "mac": "0.25"}
    return older


def test_older_versions_count_first_fills_of_outputs(folder):
    Path("s.txt").write_text(printed(of_2020(), "pJ/MACC"))
    done = succeed(*COMPARED, "s.txt", "--json")
    document = json.loads(done.stdout)["comparison"]
    assert document["first_fills"]
    assert document["different"] == []
    line = succeed(*COMPARED, "s.txt").stdout
    assert re.search(
        r"none of \d+ figures, first fills of outputs counted as the file does, diff", line
    )


def test_until_2021_every_access_cost_as_much_as_the_dearest_action(folder):
    """The tool (`topology.cpp`) takes the most expensive action of a component for all."""
    older = of_2020()
    for level, (price, block) in {"registers": (0.75, 1), "buffer": (12, 4)}.items():
        for part in (part for part in older if part.startswith(f"{level}.")):
            own = older[part]
            words = sum(int(n) for name, n in own.items() if name.startswith("Scalar "))
            energy = -(-words // block) * price
            own["Energy (per-instance)"] = f"{energy:.2f} pJ"
            own["Energy (total)"] = f"{energy * int(own['Utilized instances (max)']):.2f} pJ"
            own["Energy (per-scalar-access)"] = f"{energy / words:.2f} pJ"
    Path("s.txt").write_text(printed(older, "pJ/MACC"))
    done = succeed(*COMPARED, "s.txt", "--json")
    document = json.loads(done.stdout)["comparison"]
    assert (document["different"], document["dearest_prices"]) == ([], True)
    line = succeed(*COMPARED, "s.txt").stdout
    assert "first fills of outputs and every access at a level's dearest price counted" in line


#: The loops of the buffer, and none of them.
LOOPS = ("{target: buffer, type: temporal, factors: M2 C1 P3 R3", "M1 C1 P2 R1", "M2 C2 P1 R1")
NO_LOOPS = ("{target: buffer, type: temporal, factors: M1 C1 P1 R1", "M4 C2 P6 R3", "M1 C1 P1 R1")


@pytest.mark.parametrize("loops", [LOOPS, NO_LOOPS])
def test_statistics_have_the_mapping_that_they_are_of(loops, tmp_path):
    """The mapping that the tool draws, and the one that stands level by level in its statistics:
    one level keeps nothing, and has loops or none."""
    machine = ARCHITECTURE.replace("keep: [Inputs]", "keep: [], bypass: [Weights, Inputs, Outputs]")
    mapped = re.sub(r"keep: \[Inputs, Outputs\], bypass: \[Weights\]", "keep: []", MAPPED)
    for before, after in zip(LOOPS, loops, strict=True):
        assert before in mapped
        mapped = mapped.replace(before, after)
    texts = {"p.yaml": PROBLEM, "a.yaml": machine, "m.yaml": mapped}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    nest, read = read_problem(tmp_path / "p.yaml"), read_architecture(tmp_path / "a.yaml")
    (point,) = load_points(tmp_path / "m.yaml", read, nest)
    design, figures = point.design, evaluate_points([point])[0]["metrics"]
    metrics = {name: Fraction(figures[name]) for name in design.vocabulary}

    def files(mapping):
        return mapper_files(MappedNest(nest, design.architecture, mapping, metrics))

    own, drawn = files(point.mapping), "timeloop-mapper.map.txt"
    for name, text in own.items():
        (tmp_path / name).write_text(text)
        (again,) = load_points(tmp_path / name, read, nest)
        assert files(again.mapping)[drawn] == own[drawn], name
        assert evaluate_points([again])[0]["metrics"] == figures
    text = (tmp_path / "timeloop-mapper.stats.txt").read_text()
    (tmp_path / "cut.txt").write_text(text.replace("for R in", "for every R in"))
    with pytest.raises(InputError, match=r"line [0-9]+: 'for every R in.*' is no loop"):
        load_points(tmp_path / "cut.txt", read, nest)
    begin, end = text.index("Level 2"), text.index("Level 3")
    (tmp_path / "cut.txt").write_text(text[:begin] + text[end:])
    with pytest.raises(InputError, match="has no buffer; allowed: a mapping onto all of DRAM"):
        load_points(tmp_path / "cut.txt", read, nest)


@pytest.mark.usefixtures("folder")
def test_the_tool_leaves_out_levels_that_no_word_passes():
    """Energies show it: what has some was cut."""
    keeps = "keep: [], bypass: [Weights, Inputs, Outputs]"
    Path("arch.yaml").write_text(ARCHITECTURE.replace("keep: [Inputs]", keeps))
    mapped = re.sub(r"keep: \[Inputs, Outputs\], bypass: \[Weights\]", "keep: []", MAPPED)
    for before, after in zip(LOOPS, NO_LOOPS, strict=True):
        mapped = mapped.replace(before, after)
    Path("m.yaml").write_text(mapped)
    nest, machine = read_problem(Path("p.yaml")), read_architecture(".")
    (point,) = load_points(Path("m.yaml"), machine, nest)
    figures = evaluate_points([point])[0]["metrics"]
    metrics = {name: Fraction(figures[name]) for name in point.design.vocabulary}
    own = mapper_files(MappedNest(nest, point.design.architecture, point.mapping, metrics))
    text, cut = own["timeloop-mapper.stats.txt"], Path("cut.txt")
    first, second, third = (text.index(f"Level {n}") for n in (1, 2, 3))
    cut.write_text(text[:second] + text[third:])
    (again,) = load_points(cut, machine, nest)
    assert evaluate_points([again])[0]["metrics"] == figures
    cut.write_text(text[:first] + text[second:])
    with pytest.raises(InputError, match="has no registers; allowed: a mapping onto all of DRAM"):
        load_points(cut, machine, nest)


@pytest.mark.parametrize(
    ("points", "text", "told"),
    [
        ("m.yaml", "Cycles: 7\n", "has no figures below 'Summary Stats'"),
        ("m.yaml", "", "has no figures"),
        ("m.yaml", printed(RECORDED).replace("buffer", "GLB"), "of another machine: it has GLB"),
        (
            "two.csv",
            printed(RECORDED),
            "goes with one mapping of edition timeloop, and there are 2",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, points, text, told):
    table = ithaca.evaluate("p.yaml", arch=".", points="m.yaml")
    table.save_table("one.csv")
    header, row = Path("one.csv").read_text().splitlines()
    Path("two.csv").write_text(f"{header}\n{row}\n{row}\n")
    Path("s.txt").write_text(text)
    line = refused(*COMPARED[:4], "--points", points, "--compare", "s.txt")
    assert told in line.replace("\n      ", " ")


def test_points_of_arrays_have_none_to_compare_with(folder):
    ithaca.solve("mm", i=4, j=4, k=4).save("r.json")
    assert "allowed: with a mapping" in refused("evaluate", "r.json", "--compare", "s.txt").replace(
        "\n      ", " "
    )


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (Figure("36"), Figure("36"), True),
        (Figure("36"), Figure("37"), False),
        (Figure("0.25"), Figure("0.26"), True),
        (Figure("0.25"), Figure("0.27"), False),
        (Figure("2.36e-07"), Figure("2.37e-07"), True),
        (Figure("2.36e-07"), Figure("2.38e-07"), False),
        (Figure("61.25", Fraction(1, 100)), Figure("0.61"), True),
        (Figure("61.25", Fraction(1, 100)), Figure("0.63"), False),
    ],
)
def test_numbers_are_alike_as_far_as_they_are_printed(one, other, alike):
    assert one.equals(other) is alike


WAITING = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: SMEM, class: SRAM, attributes: {datawidth: 16, read_bandwidth: 42, read_energy: 1, write_energy: 1}}
  - !Component
    name: LRF
    class: regfile
    spatial: {meshY: 64}
    attributes: {datawidth: 16, depth: 4, read_energy: 1, write_energy: 1, cluster_size: 16}
    constraints: {spatial: {factors: [M=64]}, dataspace: {keep_only: [Z]}}
  - !Component {name: mac, class: intmac, attributes: {energy: 1}}
"""
PRODUCT = """
problem:
  shape: gemm_ABZ
  instance: {M: 64, N: 1, K: 1}
"""


def test_bandwidths_are_of_the_pace_that_is_kept(tmp_path, monkeypatch):
    """65 words at 42 a cycle for one step: the tool prints 0.65 and 41.35 words a cycle for 64 of
    them (`sparse_tensor_core_like` of its exercises), though cycles are whole. Energies of an
    instance are those that all pay, by instance."""
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(WAITING)
    Path("p.yaml").write_text(PRODUCT)
    Path("m.yaml").write_text("mapper: {optimization_metrics: [delay]}")
    ithaca.timeloop_mapper(["a.yaml", "p.yaml", "m.yaml"])
    figures = statistics(Path("timeloop-mapper.stats.txt").read_text())
    assert figures["SMEM", "Cycles"].text == "2"
    assert figures["SMEM", "Bandwidth throttling"].text == "0.65"
    assert figures["SMEM.A", "Read Bandwidth (per-instance)"].text == "41.35"
    assert figures["SMEM.B", "Read Bandwidth (per-instance)"].text == "0.65"
    (tensor,) = {part for part, _ in figures if part.startswith("LRF.")}
    assert figures[tensor, "Utilized instances (max)"].text == "64"
    total, own = (figures[tensor, f"Energy ({what})"].value for what in ("total", "per-instance"))
    assert total > 0
    assert own == Fraction(round(100 * total / 64), 100)
