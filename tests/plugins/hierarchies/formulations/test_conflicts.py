"""Contradictions that are named before a search, against enumeration of the spaces."""

import random
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.families import profile_of
from ithaca.plugins.hierarchies.formulations.conflicts import conflict
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.mapping import slots
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from tests.plugins.hierarchies.formulations.drawn import drawn_problem, enumerated, posed


def constrained(design, entries):
    return replace(design, constraints=Constraints(factors=tuple(entries)))


def drawn_entries(rng, design):
    """Ranges of many factors, each told by its place."""
    places = {(slot.level, slot.kind) for slot in slots(design.architecture)}
    entries = []
    for level, kind in sorted(places):
        for loop, extent in design.nest.extents:
            if rng.random() < 0.7:
                n = rng.choice((1, 1, 1, 2, min(extent, 3)))
                low, high = rng.choice(((n, n), (n, n), (1, n), (n, None)))
                entries.append(FactorRange(level, kind, loop, low, high, f"e{len(entries)}"))
    return entries


@pytest.mark.ci(every=24)
@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(240))
def test_a_conflict_leaves_no_mapping_and_names_no_entry_too_many(seed):
    rng, problem = random.Random(seed), drawn_problem(seed)
    while True:  # until one contradicts, as most do
        entries = drawn_entries(rng, problem.design)
        try:
            design = constrained(problem.design, entries)
        except InputError:  # more than the extents, which needs no space
            continue
        if line := conflict(design):
            break
    if design.space.axes:
        assert enumerated(posed(design, "latency")) is None
    named = [entry for entry in entries if f"({entry.where})" in line]
    assert len(named) == len(set(re.findall(r"\(e\d+\)", line)))
    assert conflict(constrained(design, named)) == line
    for entry in named:
        assert not conflict(constrained(design, [each for each in named if each is not entry]))


@pytest.mark.ci(every=24)
@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(200))
def test_lanes_too_few_for_a_utilization_are_named_with_no_entry_too_many(seed):
    """Spatial factors that are bounded, and a share of the multipliers that they cannot reach."""
    rng, seeds = random.Random(seed), iter(range(seed, 10**6, 200))
    while True:
        design = drawn_problem(next(seeds)).design
        places = {slot.level for slot in slots(design.architecture) if slot.kind == "spatial"}
        entries = [
            FactorRange(level, "spatial", loop, 1, rng.choice((1, 1, 2)), f"e{level}{loop}")
            for level in sorted(places)
            for loop, _ in design.nest.extents
            if rng.random() < 0.8
        ]
        share = Fraction(rng.choice((5, 8, 10)), 10)

        def posing(entries, share=share, design=design):
            own = Constraints(factors=tuple(entries), least_used=share)
            return replace(design, constraints=own)

        line = conflict(posing(entries))
        if line.startswith("a utilization"):
            break
    design = posing(entries)
    if design.space.axes:
        assert enumerated(posed(design, "latency")) is None
    named = [entry for entry in entries if f"({entry.where})" in line]
    assert conflict(posing(named)) == line
    for entry in named:
        assert not conflict(posing([each for each in named if each is not entry]))


@pytest.mark.ci(every=24)
@pytest.mark.slow(every=4)
@pytest.mark.parametrize("seed", range(200))
def test_every_space_without_a_mapping_has_a_conflict(seed):
    """Several bounds may be at fault together: fixed factors leave too much for the others."""
    rng, problem = random.Random(seed + 10**6), drawn_problem(seed)
    while True:
        try:
            design = constrained(problem.design, drawn_entries(rng, problem.design))
            break
        except InputError:  # more than the extents, which needs no space
            continue
    empty = bool(design.space.axes) and enumerated(posed(design, "latency")) is None
    assert bool(conflict(design)) == empty or not design.space.axes


ARCHITECTURE = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8}}
  - !Component {name: GLB, class: SRAM, attributes: {datawidth: 8, width: 8, depth: 4096}}
  - !Container {name: PE, spatial: {meshX: 4, meshY: 4}}
  - !Component {name: RF, class: regfile, attributes: {datawidth: 8, width: 8, depth: 64}}
  - !Component {name: mac, class: intmac}
"""


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        (
            "[{target: DRAM, type: temporal, factors: k=1}, {target: GLB, type: temporal, factors: "
            "k=1}, {target: GLB, type: spatial, factors: k<=2}, {target: RF, type: temporal, "
            "factors: k=1 i<=2}]",
            "loop k cannot run to its extent 8: its factors come to at most 4, 1 × 1 × 1 to 4 × 1: "
            "k=1 of DRAM (c.yaml: constraints[0]), k=1 of GLB (c.yaml: constraints[1]), k=1 of RF "
            "(c.yaml: constraints[3])",
        ),
        (
            "[{target: GLB, type: spatial, factors: k=8 i=8 j=1}]",
            "loop k of extent 8 has no spatial factor of GLB of 8 that divides it; its mesh of 4 × "
            "4 has room for 4: spatial k=8 of GLB (c.yaml: constraints[0])",
        ),
        (
            "[{target: GLB, type: spatial, factors: k=4 i=2 j=4}]",
            "GLB has 4 × 4 instances inside, not 32: spatial k=4 of GLB (c.yaml: constraints[0]), "
            "spatial i=2 of GLB (c.yaml: constraints[0]), spatial j=4 of GLB",
        ),
        (
            "[{target: GLB, type: spatial, factors: k=8, permutation: ki, split: 1}]",
            "GLB has 4 instances along X inside, not 8: spatial k=8 of GLB",
        ),
        (
            "[{target: RF, type: temporal, factors: k=8 i=8 j=1}]",
            "RF has room for 64 words, not for the 80 of the tiles that it keeps, 64 of A + 8 of B "
            "+ 8 of C: k=8 of RF (c.yaml: constraints[0]), i=8 of RF (c.yaml: constraints[0])",
        ),
        (
            "[{target: GLB, type: spatial, factors: k<=2 i<=2 j=1}, {type: utilization, min: 0.9}]",
            "a utilization of 0.9 asks for 15 of 16 multipliers, which no factors keep busy: "
            "spatial k<=2 of GLB (c.yaml: constraints[0]), spatial j=1 of GLB",
        ),
        (
            "[{target: RF, type: temporal, factors: k=3}]",
            "k=3 of RF (c.yaml: constraints[0]) is no",
        ),
        (
            "[{target: DRAM, type: temporal, factors: k=1 i=1 j=1}, {target: GLB, type: temporal, "
            "factors: k=1 i=1}, {target: GLB, type: spatial, factors: k=1 i=1 j<=4}]",
            "RF has room for 64 words, and tiles take 80 or more: k=1 of DRAM (c.yaml: "
            "constraints[0]), i=1 of DRAM",
        ),
    ],
)
def test_what_contradicts_is_named_with_its_arithmetic(tmp_path, targets, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arch.yaml").write_text(ARCHITECTURE)
    (tmp_path / "c.yaml").write_text(f"constraints: {targets}\n")
    options = {"arch": "arch.yaml", "constraints": "c.yaml", "divisors_only": True}
    with pytest.raises(InputError) as error:
        ithaca.map("mm", i=8, j=8, k=8, objective="latency", **options)
    assert told.replace("(c.yaml: ", "(c.yaml line 1: ") in str(error.value)


def test_lines_are_those_of_the_entries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arch.yaml").write_text(ARCHITECTURE)
    text = "constraints:\n  targets:\n  # bounds\n{}  - target: RF\n    type: temporal\n    factors: [k=8, i=8, j=1]\n"
    options = {"arch": "arch.yaml", "constraints": "c.yaml", "divisors_only": True}
    for before, place in (
        ("", "c.yaml line 4: constraints.targets[0]"),
        ("  - {target: GLB, type: temporal}\n", "c.yaml line 5: constraints.targets[1]"),
        ("{% set x = 1 %}  - {target: GLB, type: temporal}\n", "c.yaml: constraints.targets[1]"),
    ):
        Path("c.yaml").write_text(text.replace("{}", before))
        with pytest.raises(InputError) as error:
            ithaca.map("mm", i=8, j=8, k=8, objective="latency", **options)
        assert f"k=8 of RF ({place})" in str(error.value)


def test_what_was_not_asked_for_is_no_remedy(tmp_path, monkeypatch):
    """Only restrictions that are given are named to be relaxed."""
    monkeypatch.chdir(tmp_path)
    Path("arch.yaml").write_text(ARCHITECTURE)
    design = MappingQuestion.read(HierarchyOptions(arch="arch.yaml"), "latency").designs(
        ithaca.nest("ik,kj->ij", i=8, j=8, k=8)
    )[0]
    assert profile_of(design).relaxable == ""
    divisors = replace(design, options=replace(design.options, divisors_only=True))
    assert profile_of(divisors).relaxable == "--divisors-only"
    both = constrained(divisors, [FactorRange("RF", "temporal", "k", 1, 2)])
    assert profile_of(both).relaxable == "--constraints or --divisors-only"
