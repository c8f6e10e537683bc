"""``ithaca timeloop-mapper``: Timeloop's files in, its mapper's files out."""

import json
import re
from pathlib import Path

import pytest

import ithaca
from ithaca.commands.api.solving import starts_of
from ithaca.files.errors import InputError
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.exports.timeloop.mapper import mapper_files
from ithaca.plugins.hierarchies.formulations.mapper_files import read_mapper_files
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from tests.command_line import refused, succeed
from tests.reference import DATA
from tests.refusals import refusals

PROBLEM = """
problem:
  version: 0.4
  shape:
    name: conv
    dimensions: [M, C, P, R]
    data_spaces:
    - {name: Weights, projection: [[[M]], [[C]], [[R]]]}
    - {name: Inputs, projection: [[[C]], [[P], [R]]]}
    - {name: Outputs, projection: [[[M]], [[P]]], read_write: true}
  instance: {M: 4, C: 2, P: 6, R: 3}
"""
ARCHITECTURE = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, width: 64}}
  - !Component
    name: buffer
    class: smartbuffer_SRAM
    attributes: {datawidth: 8, depth: 16, width: 32, read_bandwidth: 4}
    constraints: {dataspace: {keep: [Inputs]}}
  - !Component
    name: registers
    class: regfile
    spatial: {meshX: 4}
    attributes: {datawidth: 8, depth: 8, width: 8}
    constraints: {spatial: {factors: [P=1]}}
  - !Component {name: mac, class: intmac}
"""
ENERGIES = """
ERT:
  version: 0.4
  tables:
  - {name: DRAM, actions: [{name: read, energy: 512}, {name: write, energy: 512}]}
  - {name: buffer, actions: [{name: read, energy: 10}, {name: write, energy: 12}]}
  - {name: registers, actions: [{name: read, energy: 0.5}, {name: write, energy: 0.75}]}
  - {name: mac, actions: [{name: compute, energy: 0.25}]}
"""
MAPPER = "mapper: {optimization-metrics: [delay, energy], live-status: false, timeout: 100}\n"
FILES = {"p.yaml": PROBLEM, "m.yaml": MAPPER, "a.yaml": ARCHITECTURE, "e.yaml": ENERGIES}

KEPT = "    constraints: {dataspace: {keep: [Inputs]}}\n"
OPEN = {"bypass": "free", "divisors_only": True}

#: A mapping onto these files, and how timeloop-model (NVlabs) draws it.
MAPPED = """mapping:
- {target: DRAM, type: temporal, factors: M1 C1 P2 R1, permutation: RCMP}
- {target: DRAM, type: bypass, keep: [Weights, Inputs, Outputs], bypass: []}
- {target: buffer, type: bypass, keep: [Inputs, Outputs], bypass: [Weights]}
- {target: buffer, type: temporal, factors: M2 C1 P3 R3, permutation: PRMC}
- {target: buffer, type: spatial, factors: M2 C2 P1 R1, permutation: CMPR, split: 4}
- {target: registers, type: bypass, keep: [Weights, Outputs], bypass: [Inputs]}
- {target: registers, type: temporal, factors: M1 C1 P1 R1, permutation: MCPR}
"""
DRAWN = """
DRAM [ Weights:24 (24) Inputs:16 (16) Outputs:24 (24) ]
-------------------------------------------------------
| for P in [0:2)

buffer [ Inputs:10 (10) Outputs:12 (12) ]
-----------------------------------------
|   for M in [0:2)
|     for R in [0:3)
|       for P in [0:3)
|         for M in [0:2) (Spatial-X)
|           for C in [0:2) (Spatial-X)

registers [ Weights:1 (1) Outputs:1 (1) ]
-----------------------------------------
|             << Compute >>
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def test_files_in_any_order_are_solved_and_its_files_written(folder):
    done = succeed("timeloop-mapper", *FILES, "-o", "out", "--json")
    assert json.loads(done.stdout)["objective"]["expression"] == "latency,energy"
    assert "does not depend on mapper.live_status, mapper.timeout" in " ".join(done.stderr.split())
    Path("one.yaml").write_text(ARCHITECTURE.replace(KEPT, "") + ENERGIES)
    together = folder / "all.yaml"
    together.write_text("".join((*FILES.values(), "compound_components: {version: 0.4}\n")))
    Path("classes.yaml").write_text("compound_components: {version: 0.4}\n")
    result = ithaca.timeloop_mapper([together, "classes.yaml"], output="other")
    assert result.objective.text == "latency,energy"
    for name in ("map.yaml", "map.txt", "stats.txt"):
        paths = [Path(place, f"timeloop-mapper.{name}") for place in ("out", "other")]
        first, second = (path.read_text().partition("\n") for path in paths)
        assert first[2] == second[2] != "", name
    assert result.status == "optimal"
    energy = float(result.best.metrics["energy"])
    text = paths[0].read_text()
    assert f"Cycles: {result.best.metrics['latency']}\n" in text
    assert f"Energy: {energy / 1e6:.2f} uJ\n" in text
    started = ithaca.map(
        "p.yaml", arch="one.yaml", start="out/timeloop-mapper.map.yaml", **OPEN, objective="energy"
    )
    assert result.value == ithaca.map("p.yaml", arch="one.yaml", **OPEN, objective="latency").value
    assert started.value is not None


def figures(text):
    """The figures of the tool's statistics by level, or level and tensor, and field."""
    rows = {}
    level, tensor = "", ""
    for line in text.splitlines():
        if heading := re.match(r"=== (\S+) ===|(Summary Stats)", line):
            level, tensor = heading[1] or heading[2], ""
        elif heading := re.match(r"    (\w+):$", line):
            tensor = f".{heading[1]}"
        elif level and (figure := re.match(r" *([^:=]+?) *[:=] +(.+)$", line)):
            tensor = tensor if line.startswith("        ") else ""
            rows.setdefault(level + tensor, {})[figure[1]] = figure[2]
    return rows


def test_figures_are_those_of_the_tool(folder):
    """All 157 that it prints of the mapping under these names, and its drawing."""
    Path("map.yaml").write_text(MAPPED)
    mapper = read_mapper_files([*FILES])
    options = HierarchyOptions(arch=mapper.architecture, bypass="free", divisors_only=True)
    problems = MappingQuestion.read(options, mapper.objective).problems(mapper.nest)
    (start,) = starts_of(Path("map.yaml"), problems, mapper.nest, "map.yaml")
    design = problems[0].design
    assert start is not None
    metrics = design.metrics(start, FRACTION)
    mapped = MappedNest(design.nest, design.architecture, design.mapping(start), metrics)
    texts = mapper_files(mapped)
    lines = texts["timeloop-mapper.map.txt"].splitlines()
    assert [line.rstrip() for line in lines] == DRAWN.strip().splitlines()
    expected = json.loads((DATA / "timeloop_stats.json").read_text())
    own = figures(texts["timeloop-mapper.stats.txt"])
    for part, counted in expected.items():
        for field, value in counted.items():
            assert own[part][field] == value, (part, field)


def test_levels_keep_what_they_are_to_keep_and_perhaps_more(folder):
    """Keeping as in the tool: ``keep`` says what a level holds at least; other constraints come
    from files of their own."""
    kept = {}
    for own in ("{keep: [Inputs]}", "{keep: [Inputs], bypass: [Outputs]}", "{keep_only: [Inputs]}"):
        Path("a.yaml").write_text(ARCHITECTURE.replace("{keep: [Inputs]}", own))
        ithaca.timeloop_mapper([*FILES])
        entries = parse_yaml(Path("timeloop-mapper.map.yaml").read_text(), "map")["mapping"]
        kept[own] = {
            tensor
            for entry in entries
            if (entry["target"], entry["type"]) == ("buffer", "bypass")
            for tensor in entry["keep"]
        }
    first, second, third = kept.values()
    assert "Inputs" in first & second
    assert "Outputs" not in second
    assert third == {"Inputs"}
    Path("c.yaml").write_text(
        "mapspace_constraints:\n- {target: buffer, type: temporal, factors: R=3 M=1, permutation: R}\n"
    )
    ithaca.timeloop_mapper([*FILES, "c.yaml"])
    (own,) = [
        entry
        for entry in parse_yaml(Path("timeloop-mapper.map.yaml").read_text(), "map")["mapping"]
        if (entry["target"], entry["type"]) == ("buffer", "temporal")
    ]
    assert "M=1" in own["factors"]
    assert "R=3" in own["factors"]
    assert own["permutation"][0] == "R"


@pytest.mark.parametrize(
    ("names", "text", "line"),
    refusals("timeloop_mapper", "what_is_refused_is_named"),
)
def test_what_is_refused_is_named(folder, names, text, line):
    Path("x.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        ithaca.timeloop_mapper(names)
    assert str(caught.value).startswith(line)
    assert refused("timeloop-mapper", *names).startswith(f"ithaca: {line}")


def test_words_of_the_outermost_level_are_a_metric(folder):
    Path("m.yaml").write_text("mapper: {optimization_metric: last-level-accesses}")
    result = ithaca.timeloop_mapper([*FILES])
    assert result.status == "optimal"
    words = json.loads(json.dumps(result.document))["objective"]["value"]
    assert words == 4 * 2 * 3 + 2 * 8 + 4 * 6


def test_latency_needs_no_energies(folder):
    Path("m.yaml").write_text("mapper: {optimization_metrics: [delay]}")
    ithaca.timeloop_mapper(["a.yaml", "p.yaml", "m.yaml"])
    text = Path("timeloop-mapper.stats.txt").read_text()
    assert "Scalar reads (per-instance)" in text
    assert "pJ" not in text
    assert "Energy" not in text


def test_the_answer_is_written_and_another_objective_taken(folder):
    """The answer loads, and is explained and reported; what the tool printed of its own mapping
    stands beside it, and a chart says where the energy goes."""
    Path("map.yaml").write_text(MAPPED)
    point = ithaca.evaluate("p.yaml", arch="a.yaml", points="map.yaml")
    assert point.rows[0]["metrics"]["latency"] == 36
    ithaca.timeloop_mapper([*FILES], output="first")
    options = ("--objective", "energy", "--plot", "e.svg", "-o", "out")
    theirs = ("--compare", "first/timeloop-mapper.stats.txt")
    done = succeed("timeloop-mapper", *FILES, *options, *theirs)
    result = ithaca.load("out/timeloop-mapper.result.json")
    assert result.objective.text == "energy"
    assert result.status == "optimal"
    own = ithaca.load("first/timeloop-mapper.result.json").best.metrics
    (row,) = [line for line in done.stdout.splitlines() if "whole run: Cycles" in line]
    cells = [cell.strip() for cell in row.split("│")[2:4]]
    assert cells == [str(result.best.metrics["latency"]), str(own["latency"])]
    assert "energy" in Path("e.svg").read_text()
    assert "Energy: " in succeed("explain", "out/timeloop-mapper.result.json", "--quick").stdout
    assert refused("timeloop-mapper", *FILES, "--compare", "p.yaml").startswith(
        "ithaca: p.yaml: has"
    )
