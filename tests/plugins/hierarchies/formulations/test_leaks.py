"""Leakage: counted as the real tool does, and proven as by enumeration where it matters."""

import gzip
import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import ceil

import pytest

import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.editions import EDITIONS, TIMELOOP
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.points import SpatialPoint, evaluate_points
from ithaca.plugins.hierarchies.formulations.variation import MESHES, figures
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.drawn import check_with_limit, drawn_problem, posed
from tests.plugins.hierarchies.formulations.test_search_bounds import bounds_towards, scattered
from tests.reference import DATA


@cache
def evaluated():
    """Random mappings that the real tool evaluated (`tests/data/README.md`)."""
    return json.loads(gzip.decompress((DATA / "timeloop_leaks.json.gz").read_bytes()))["rows"]


def counted(row, *, leaks):
    """The metrics of a row's mapping, with its leaks or without."""
    levels, factors, orders = [], {}, {}
    for stated in row["levels"]:
        rates = [None if rate is None else Fraction(rate) for rate in stated["bandwidths"]]
        x, y = stated["mesh"]
        level = Level(
            stated["name"],
            stated["words"],
            (),
            Fraction(stated["buffering"]),
            None if stated["keeps"] is None else frozenset(stated["keeps"]),
            *rates,
            leak=Fraction(stated["leak"] if leaks else 0),
            instances=x * y,
            mesh_x=x,
            mesh_y=y,
        )
        costs = zip(
            ("read_energy", "write_energy", "update_energy"),
            map(Fraction, stated["energies"]),
            strict=True,
        )
        levels.append(replace(level, **dict(costs)))
        orders[level.name] = tuple(stated["order"])
        factors |= {
            Slot(level.name, {"t": ""}.get(way, way)): trips
            for way, trips in stated["factors"].items()
        }
    x, y = row["compute"]["mesh"]
    architecture = Architecture(
        "tool", tuple(levels), Compute("mac", x * y, x, y, Fraction(row["compute"]["energy"]))
    )
    nest = nest_of(row["statement"], row["sizes"])
    kept = {level.name: level.kept([access.tensor for access in nest.accesses]) for level in levels}
    (found,) = evaluate_points(
        [SpatialPoint(SpatialDesign(nest, architecture), LoopMapping(factors, orders, kept))]
    )
    assert found["valid"]
    return found["metrics"]


def test_leaks_are_those_of_the_real_tool():
    """Leakage of every level, whatever it keeps: per cycle of the whole and instance in use;
    multipliers leak nothing.

    Of 61 mappings the tool counts one cycle more in eight, where it rounds a quotient of floats up,
    and shares some words between steps of different loops in four; all leaks and all other energies
    are equal.
    """
    rows, same_words, same = evaluated(), 0, 0
    for row in rows:
        found, dry, tool = counted(row, leaks=True), counted(row, leaks=False), row["tool"]
        names = [level["name"] for level in row["levels"]]
        for name in names:
            leaked = Fraction(found[f"{name}.energy"]) - Fraction(dry[f"{name}.energy"])
            assert (
                leaked * tool["cycles"] == Fraction(tool["levels"][name][1]) * found["latency"]
            ), (row, name)
        words = [
            Fraction(dry[f"{name}.energy"]) + Fraction(tool["levels"][name][1]) for name in names
        ]
        same_words += words == [Fraction(tool["levels"][name][0]) for name in names]
        total = sum(Fraction(energy) for energy, _ in tool["levels"].values()) + Fraction(
            tool["compute"]
        )
        same += (found["latency"], Fraction(found["energy"])) == (tool["cycles"], total)
    assert (len(rows), same_words, same) == (61, 57, 49)


def in_doubles(row, counts):
    """The cycles of a row's mapping as `BufferLevel::ComputePerformance` computes them, for every
    order in which tensors may be added up."""
    steps = int(counts["computes"]) // int(counts["pes"])
    cycles = set()
    for order in permutations({name.split(".")[1] for name in counts if name.count(".") == 2}):
        slowest = steps
        for level in row["levels"]:
            read = write = 0.0
            for tensor in order:
                reads, fills, updates = (
                    int(counts.get(f"{level['name']}.{tensor}.{what}", 0))
                    for what in ("reads", "fills", "updates")
                )
                read, write = read + reads / steps, write + (fills + updates) / steps
            for rate, words in zip(level["bandwidths"], (read, write, write + read), strict=True):
                if rate is not None and (least := float(Fraction(rate))) < words:
                    slowest = max(slowest, ceil(steps / (least / words)))
        cycles.add(slowest)
    return cycles


def test_the_tool_counts_a_cycle_more_where_its_doubles_round_up():
    """Cycles of 61 mappings: 51 take the same, 8 one more, as the tool's doubles say; two move
    fewer words, as it extrapolates."""
    same = above = 0
    for row in evaluated():
        counts, tool = counted(row, leaks=False), row["tool"]["cycles"]
        if tool < int(counts["latency"]):
            continue
        assert tool in in_doubles(row, counts), row
        same += tool == counts["latency"]
        above += tool == counts["latency"] + 1
    assert (same, above) == (51, 8)


def test_leaks_of_partly_used_levels_by_hand():
    """3 of 4 lanes in a level that keeps nothing, 6 of 16 inside it, 36 cycles, as the tool printed
    them."""
    nest = nest_of("O[m][p] += W[m][c][r] * I[c][2*p+r]", {"m": 4, "p": 6, "c": 3, "r": 3})
    levels = (
        Level("DRAM", leak=Fraction(3)),
        Level("Buffer", leak=Fraction(5)),
        Level("Passed", keeps=frozenset(), instances=4, mesh_x=4, leak=Fraction(11)),
        Level("RF", keeps=frozenset("WI"), instances=16, mesh_x=4, mesh_y=4, leak=Fraction(13)),
    )
    trips = {
        ("DRAM", ""): {"p": 2},
        ("Buffer", ""): {"m": 2},
        ("Buffer", "x"): {"p": 3},
        ("Passed", "y"): {"m": 2},
    }
    factors = {
        Slot(*name): loops for name, loops in (trips | {("RF", ""): {"c": 3, "r": 3}}).items()
    }
    architecture = Architecture("by hand", levels, Compute("mac", 16, 4, 4))
    mapping = LoopMapping(
        factors, dict.fromkeys(("DRAM", "Buffer", "Passed", "RF"), nest.loops), {}
    )
    mapping = replace(mapping, keeps={level.name: level.kept("OWI") for level in levels})
    (found,) = evaluate_points([SpatialPoint(SpatialDesign(nest, architecture), mapping)])
    energies = [found["metrics"][f"{level.name}.energy"] for level in levels]
    assert energies == [3 * 36, 5 * 36, 11 * 36 * 3, 13 * 36 * 6]
    assert found["metrics"]["energy"] == sum(energies)


def leaking(seed):
    """A small problem with lanes whose levels leak, some much."""
    for number in range(seed, seed + 100_000, 1000):
        problem, rng = drawn_problem(number), random.Random(number)
        design = problem.design
        leaks = [Fraction(rng.choice((0, 1, 2, 9, 40)), 4) for _ in design.architecture.levels]
        if design.architecture.compute.instances > 1 and any(leaks):
            levels = tuple(
                replace(level, leak=leak)
                for level, leak in zip(design.architecture.levels, leaks, strict=True)
            )
            if rng.random() < 0.5:  # where nothing else costs energy, what leaks decides
                free = {
                    "read_energy": Fraction(0),
                    "write_energy": Fraction(0),
                    "update_energy": Fraction(0),
                }
                levels = tuple(replace(level, **free) for level in levels)
            own = f"{levels[-1].name}.energy"
            objective = rng.choice(("energy", "energy", "edp", own, f"{own}*latency"))
            return posed(
                replace(design, architecture=replace(design.architecture, levels=levels)), objective
            )
    raise AssertionError("no machine with lanes")


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow) if n > 19 else n for n in range(300)]
)
def test_small_problems_with_leaks_are_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    check_with_limit(leaking(seed), seed)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_with_leaks_never_exceed_what_follows(seed):
    problem, rng = leaking(seed), random.Random(seed)
    stage = problem.design.stage(problem)
    for _ in range(3):
        values = scattered(rng, problem)
        if values is not None:
            assert max(bounds_towards(stage, values)) <= float(problem.value(values)) * (1 + 1e-12)


def test_more_instances_never_hurt_though_they_leak():
    design = leaking(0).design
    trends = EDITIONS[TIMELOOP].trends(design.architecture)
    meshes = [name for name in figures(design.architecture) if name.rpartition(".")[2] in MESHES]
    assert {trends[name] for name in meshes} == {Trend.HELPS}
    assert f"{design.architecture.compute.name}.leak" not in trends
