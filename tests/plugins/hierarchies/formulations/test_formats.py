"""Formats of tensors on memory hierarchies: bits in capacities, bandwidths and accesses, proven as by
enumeration, and who refuses them."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from math import ceil

import pytest

import ithaca.plugins.hierarchies.formulations.search.box_search as box_search
import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.hardware.accelerator import Work
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.plugins.hierarchies.formulations.variation import with_figure
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.formats import with_formats
from ithaca.workloads.library import workload
from ithaca.workloads.problem_files import read_problem
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.formulations import drawn
from tests.plugins.hierarchies.formulations.drawn import (
    check,
    check_with_limit,
    drawn_problem,
    enumerated,
    posed,
    with_blocks,
)
from tests.plugins.hierarchies.formulations.test_search import NO_WINDOWS

NAMES = ("int4", "int8", "int12", "mxfp4", "mxfp6", "fp32", "int3")

#: Bits of a value by itself, and those that 32 of them share, as the formats' publications say.
BITS = {"int3": 3, "int4": 4, "int8": 8, "int12": 12, "int20": 20, "int32": 32, "fp32": 32}
BLOCKS = {"mxfp4": (4, 8), "mxfp6": (6, 8)}


def held(name, count, word, rows=1):
    """Words, or rows of several, that so many values take: as many lie in a word as fit it."""
    bits, shared = BLOCKS.get(name) or (BITS[name], 0)
    own = Fraction(count, word // bits) if bits <= word else count * Fraction(ceil(bits / word))
    return Fraction(own + Fraction(count * shared, 32 * word)) / rows


def typed(problem, seed, blocks):
    """A problem with formats of some tensors, in words of drawn widths."""
    rng, design = random.Random(seed), problem.design
    nest = design.nest
    formats = {access.tensor: rng.choice(NAMES) for access in nest.inputs if rng.random() < 0.8}
    if rng.random() < 0.5:
        formats[nest.output.tensor] = rng.choice(("int20", "int32", "int8"))
    architecture = with_blocks(design.architecture, rng) if blocks else design.architecture
    levels = (replace(level, word_bits=rng.choice((8, 16, 24))) for level in architecture.levels)
    architecture = replace(architecture, levels=tuple(levels))
    nest = with_formats(nest, formats or {"S": "int32"}, "format")
    design = replace(design, nest=nest, architecture=architecture)
    return posed(design, problem.objective.text)


@pytest.mark.slow(every=30)
@pytest.mark.parametrize("seed", range(120))
def test_formats_are_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(typed(drawn_problem(seed), seed, blocks=seed % 2), seed)


@pytest.mark.slow(every=20)
@pytest.mark.parametrize("seed", range(60))
def test_boxes_prove_formats_as_enumeration_does(monkeypatch, seed):
    monkeypatch.setattr(drawn, "STATEMENTS", NO_WINDOWS)
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(search, "BEAMS", (1,))
    monkeypatch.setattr(box_search, "TOGETHER", 16)
    problem = drawn_problem(seed, depths=((2,), (3, 2))[seed % 2])
    latency = posed(problem.design, "latency")
    check(typed(latency if seed % 3 else problem, seed, blocks=False), seed)


def by_hand(design, values, words):
    """Cycles, energy, and whether tiles fit, from the words of a mapping: bits over bits."""
    own = dict(design.nest.formats)
    tensors = [access.tensor for access in design.nest.accesses]
    cycles, fits, leaks = words["steps"], True, Fraction(0)
    energy = words["computes"] * design.architecture.compute.energy
    for place, level in enumerate(design.architecture.levels):
        kept = [tensor for tensor in tensors if tensor in design.keeps(place)]

        def count(tensor, what, rows=1, level=level):
            values = words[f"{level.name}.{tensor}.{what}"]
            if tensor not in own:
                return values / Fraction(rows)
            return held(own[tensor], values, level.word_bits, rows)

        filled = sum(ceil(count(tensor, "capacity")) for tensor in kept)
        fits &= level.words is None or filled <= level.words
        working = words[f"instances {place}"]
        charged = min(working, level.charged) if level.cluster > 1 else working
        for rate, whats in (
            (level.read_bandwidth, ("reads",)),
            (level.write_bandwidth, ("fills", "updates")),
        ):
            if rate is not None:
                moved = sum(count(tensor, what) for tensor in kept for what in whats)
                cycles = max(cycles, ceil(moved / rate))
        for what, cost in level.prices.items():
            for tensor in kept:
                energy += ceil(count(tensor, what, level.block)) * cost * charged
        leaks += level.leak * working
    return cycles, energy + leaks * cycles, fits


@pytest.mark.parametrize("seed", range(6))
def test_costs_are_those_of_words_that_values_fill(seed):
    problem = typed(drawn_problem(seed), seed, blocks=True)
    design = problem.design
    plain = replace(design, nest=replace(design.nest, formats=()))
    rng = random.Random(seed)
    for _ in range(8):
        values = {}
        for axis in plain.space.axes:
            table = axis.table()
            row = rng.randrange(len(next(iter(table.values()))))
            values |= {name: int(column[row]) for name, column in table.items()}
        model = plain.model(values, FRACTION)
        words = plain.metrics(values, FRACTION) | {"steps": model.steps}
        words |= {
            f"instances {n}": model.instances(n) for n in range(len(plain.architecture.levels))
        }
        mine = design.metrics(values, FRACTION)
        rules = [*design.model(values, FRACTION).room_rules()]
        cycles, energy, fits = by_hand(design, values, words)
        assert (mine["latency"], mine["energy"]) == (cycles, energy)
        assert all(rule.used <= rule.bound for rule in rules) == fits


@pytest.mark.parametrize("seed", [1, 2])
def test_values_as_wide_as_words_change_nothing_and_half_as_wide_are_wider_levels(seed):
    """Costs of tensors of one width are those of levels with words of that width, and as many bits."""
    problem = drawn_problem(seed)
    design = problem.design
    levels = tuple(replace(level, word_bits=16) for level in design.architecture.levels)
    design = replace(design, architecture=replace(design.architecture, levels=levels))
    tensors = [access.tensor for access in design.nest.accesses]
    for name, bits in (("int16", 16), ("int8", 8)):
        nest = with_formats(design.nest, dict.fromkeys(tensors, name), "format")
        narrow = with_figure(design.architecture, "word_bits", Fraction(bits))
        wide = tuple(replace(level, block=level.block * 16 // bits) for level in narrow.levels)
        other = replace(design, architecture=replace(narrow, levels=wide))
        mine, theirs = (
            posed(each, problem.objective.text) for each in (replace(design, nest=nest), other)
        )
        assert (enumerated(mine) is None) is (enumerated(theirs) is None)
        assert solve_staged(mine).value == solve_staged(theirs).value


@pytest.mark.ci
def test_formats_of_layers_are_mapped_and_kept(tmp_path):
    source, answer = tmp_path / "net.yaml", tmp_path / "answer.json"
    source.write_text(
        "name: tiny\nlayers: [{op: kernel, name: a, kernel: mm, sizes: {i: 4, j: 8, k: 32}, "
        "format: {W: int4, A: int8}}]\n"
    )
    first = succeed("network", source, "--arch", "simple", "-o", answer).stdout
    assert "A=int8,B=int4" in first
    assert (
        "int4" not in succeed("network", source, "--arch", "simple", "--format", "W=int16").stdout
    )
    assert "1 design confirmed" in succeed("verify", answer).stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--format", "W=int4", "--edition", "uneven"),
            "format B=int4 does not go with edition uneven",
        ),
        (("--format", "W=int99"), "unknown format of B 'int99'"),
        (("--format", "S=int65"), "unknown format of C 'int65'"),
        (("--format", "Q=int4"), "--format: 'Q' is no tensor"),
    ],
)
def test_formats_that_have_no_meaning_are_refused(words, line):
    assert line in refused("map", "mm", "-s", "i=4,j=4,k=4", "--arch", "simple", *words)


@pytest.mark.ci
def test_tables_of_mappings_keep_formats(tmp_path):
    answer, table = tmp_path / "answer.json", tmp_path / "points.csv"
    sizes = ("-s", "i=4,j=4,k=4", "--divisors-only")
    solved = ("map", "mm", *sizes, "--arch", "simple", "--format", "A=int4,C=int32")
    value = json.loads(succeed(*solved, "-o", answer, "--json").stdout)["objective"]["value"]
    succeed("evaluate", answer, "--table", table)
    rows = succeed("evaluate", "mm", "--arch", "simple", "--points", table, "--json").stdout
    assert json.loads(rows)["points"][0]["metrics"]["edp"] == value


def test_bits_of_problem_files_are_formats(tmp_path):
    """A level of 8-bit words holds two values of 3 bits a word, and one of 8."""
    file = tmp_path / "problem.yaml"
    shape = "{dimensions: [M], data_spaces: [{name: W, projection: [[[M]]]}, {name: O, "
    shape += "projection: [[[M]]], read_write: true}]}"
    file.write_text(f"problem: {{shape: {shape}, instance: {{M: 5, bitwidths: {{W: 3, O: '8'}}}}}}")
    nest = read_problem(file)
    assert dict(nest.formats) == {"W": "int3", "O": "int8"}
    own = units(Level("L", word_bits=8), nest)
    assert (own.words("W", 5), own.words("O", 5)) == (3, 5)
    wide = with_formats(nest, "W=int20", "format")
    assert units(Level("L", word_bits=8), wide).words("W", 5) == 15


def test_spaces_that_vary_the_width_of_words_refuse_formats():
    """Wider words hold more such values, and fewer others: no trend would be true of both."""
    nest = with_formats(workload("mm").with_sizes({"i": 4, "j": 4, "k": 4}), "W=int4", "format")
    accelerator = HierarchyAccelerator(find_architecture("simple"))
    goal = MappingQuestion.minimised("energy")
    assert accelerator.problems(Work("a", nest), {}, goal)
    with pytest.raises(InputError, match=r"figures\.word_bits is beside format B=int4 of a"):
        accelerator.problems(Work("a", nest), {"word_bits": Fraction(8)}, goal)
