"""Mappings onto memory hierarchies as files for ``timeloop-model``: they say what the real tool
counted of a mapping."""

import csv
from dataclasses import replace
from fractions import Fraction

import pytest
import yaml

from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import (
    MappedNest,
    architecture_text,
    files,
    obstacles,
)
from ithaca.plugins.hierarchies.formulations.architecture import (
    Architecture,
    Bursts,
    Compute,
    Level,
)
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.library import (
    architecture_names,
    find_architecture,
    fitted,
)
from ithaca.plugins.hierarchies.formulations.mapping import Mapping, Slot
from ithaca.workloads.library import workload
from ithaca.workloads.problem_files import read_problem
from tests.plugins.hierarchies.exports.test_timeloop_rules import published
from tests.plugins.hierarchies.exports.timeloop_rules import count, read_hierarchy


def factors(text):
    return {part.partition("=")[0]: int(part.partition("=")[2]) for part in text.split()}


def published_mapping(folder, row):
    """A row of the real tool's as a mapping of Ithaca's."""
    nest = read_problem(folder / f"problem_{row['workload']}.yaml")
    architecture = fitted(find_architecture(folder.name), nest)
    trips, orders, keeps = {}, {}, {}
    for level in architecture.levels:
        trips[Slot(level.name)] = factors(row[f"T:{level.name}.factors"])
        orders[level.name] = tuple(reversed(row[f"T:{level.name}.permutation_innermost_first"]))
        keeps[level.name] = level.kept([access.tensor for access in nest.accesses])
        if f"S:{level.name}.factors" in row:
            lanes = factors(row[f"S:{level.name}.factors"])
            for axis in "xy":
                along = row[f"S:{level.name}.{axis.upper()}"]
                trips[Slot(level.name, axis)] = {
                    loop: n for loop, n in lanes.items() if loop in along
                }
    return MappedNest(
        nest, architecture, Mapping(trips, orders, keeps), {"energy": Fraction(row["energy_pJ"])}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The real tool's input files."""
    found = tmp_path_factory.mktemp("published")
    for name, text in published().items():
        path = found / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return found


@pytest.mark.parametrize("machine", ["simple", "eyeriss"])
def test_what_is_written_counts_what_the_tool_did(machine, folder):
    table = [
        row
        for row in csv.DictReader(published()[f"{machine}.csv"].splitlines())
        if row["valid"] == "1"
    ]
    for row in table[::7]:
        mapped = published_mapping(folder / machine, row)
        assert list(obstacles(mapped)) == []
        found = count(read_hierarchy(files(mapped)))
        for level, counted in found.levels.items():
            for what in ("reads", "fills", "updates", "capacity"):
                for tensor, words in getattr(counted, what).items():
                    assert words == int(row[f"{level}.{tensor}.{what}"])
        assert found.macs == int(row["computes"])
        assert int(row["cycles"]) - found.cycles in (0, 1)


def test_architectures_are_read_back_as_they_were(tmp_path):
    """Architectures stay as they were but for what they keep, which the mapping says."""
    nest = workload("conv2d")
    for name in ("eyeriss", "simba-like", "tpu-like", "nvdla-like"):
        architecture = fitted(find_architecture(name), nest)
        slots = {level.name: tuple(nest.loops) for level in architecture.levels}
        kept = {
            level.name: level.kept([access.tensor for access in nest.accesses])
            for level in architecture.levels
        }
        whole = Mapping({Slot(architecture.levels[0].name): nest.sizes}, slots, kept)
        out = tmp_path / name
        out.mkdir()
        for file, text in files(MappedNest(nest, architecture, whole, {})).items():
            (out / file).write_text(text)
        again = read_architecture(out)
        levels = tuple(replace(level, keeps=None) for level in architecture.levels)
        assert again == replace(architecture, levels=levels, description="", source="")
        assert read_problem(out / "problem.yaml").sizes == nest.sizes


def test_what_the_parser_demands(folder):
    """Every level has all loops once, space only inside which instances multiply, and factors make
    up the extents."""
    (row,) = [
        r for r in csv.DictReader(published()["eyeriss.csv"].splitlines()) if r["valid"] == "1"
    ][:1]
    mapped = published_mapping(folder / "eyeriss", row)
    written = files(mapped)
    sizes = yaml.safe_load(written["problem.yaml"])["problem"]["instance"]
    made = dict.fromkeys(sizes, 1)
    for entry in yaml.safe_load(written["mapping.yaml"])["mapping"]:
        if entry["type"] == "bypass":
            assert sorted(entry["keep"] + entry["bypass"]) == ["Inputs", "Outputs", "Weights"]
            continue
        assert sorted(entry["permutation"]) == sorted(sizes)
        for loop, trips in factors(entry["factors"]).items():
            made[loop] *= trips
        assert (entry["type"] == "spatial") == ("split" in entry)
        if "split" in entry:
            assert entry["target"] == "GLB"
            assert set(entry["permutation"][: entry["split"]]) == set(row["S:GLB.X"])
    assert made == sizes


def test_a_loop_along_both_directions_is_refused(folder):
    row = next(
        r for r in csv.DictReader(published()["simple.csv"].splitlines()) if r["valid"] == "1"
    )
    mapped = published_mapping(folder / "simple", row)
    both = dict(mapped.mapping.factors) | {Slot("Buffer", axis): {"M": 2} for axis in "xy"}
    (reason,) = obstacles(replace(mapped, mapping=replace(mapped.mapping, factors=both)))
    assert reason == "Buffer: loop M runs along X and Y, and the tool takes it along one of them"


@pytest.mark.parametrize("name", architecture_names())
def test_architectures_are_read_back_as_they_are(name, tmp_path):
    architecture = find_architecture(name)
    path = tmp_path / f"{name}.yaml"
    path.write_text(architecture_text(architecture))
    assert read_architecture(path) == architecture


def test_all_that_an_architecture_may_have_is_read_back(tmp_path):
    dram, buffer = (
        Level("DRAM", read_energy=Fraction(2)),
        Level("B", tensor_words=(("A", 8), ("C", 9)), buffering=Fraction(2)),
    )
    lanes = {"instances": 6, "mesh_x": 2, "mesh_y": 3}
    rates = {
        "read_bandwidth": Fraction(1, 4),
        "write_bandwidth": Fraction(1, 8),
        "leak": Fraction(1, 2),
    }
    inner = Level("R", 4, keeps=frozenset({"A"}), word_bits=8, block=2, cluster=2, **rates, **lanes)
    bursts = Bursts(
        16,
        Fraction(5, 2),
        Fraction(1, 4),
        Fraction(3),
        (("B", ((8, Fraction(1)), (16, Fraction(3, 2)))),),
    )
    compute = Compute("mac", 12, 4, 3, Fraction(1, 8))
    levels = (dram, replace(buffer, shared_bandwidth=Fraction(3)), inner)
    architecture = Architecture("chosen", levels, compute, "a: 1", "b", bursts)
    path = tmp_path / "chosen.yaml"
    path.write_text(architecture_text(architecture))
    assert read_architecture(path) == architecture
