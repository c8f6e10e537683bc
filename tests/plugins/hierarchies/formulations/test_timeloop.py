"""The model against the real tool's tables, against rules written anew, and in every number
system."""

import csv
import random
from fractions import Fraction
from math import ceil, prod

import numpy as np
import pytest

from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.points import (
    SpatialPoint,
    evaluate_points,
    load_points,
)
from tests.plugins.hierarchies.exports.timeloop_rules import count
from tests.plugins.hierarchies.formulations.cases import (
    by_other_rules,
    golden,
    random_architecture,
    random_mapping,
    random_nest,
)
from tests.whole_spaces import some_row, tables_of


@pytest.mark.parametrize(("machine", "counts"), [("simple", 2952), ("eyeriss", 2624)])
def test_points_are_the_tools(machine, counts):
    table = golden() / f"{machine}.csv"
    found = evaluate_points(
        load_points(table, read_architecture(golden() / machine), golden() / machine)
    )
    compared = 0
    for row, point in zip(csv.DictReader(table.read_text().splitlines()), found, strict=True):
        assert point["valid"] is (row["valid"] == "1"), (row["reject_reason"], point["reason"])
        if not point["valid"]:
            # of lanes the tool counts the sum of both directions first
            assert (
                point["reason"] in row["reject_reason"]
                or "Arithmetic instances" in row["reject_reason"]
            )
            continue
        metrics = point["metrics"]
        for column, text in row.items():
            if column.endswith((".reads", ".fills", ".updates", ".capacity")):
                assert metrics[column] == int(text), (row["workload"], column)
                compared += 1
            elif column.endswith("energy_pJ"):
                assert metrics[column] == pytest.approx(float(text), rel=1e-9)
            elif column.endswith("cycles"):
                assert int(text) - metrics[column] in (0, 1), (
                    column
                )  # the tool divides in doubles before it rounds up
            elif column in ("computes", "mac_instances"):
                assert metrics[column] == int(text)
        assert metrics["latency"] == metrics["cycles"]
        assert metrics["energy"] == metrics["energy_pJ"]
        assert metrics["utilization_pct"] == pytest.approx(
            float(row["utilization_pct"]), abs=0.0051
        )
    assert compared == counts


def drawn(seed, *, pads=True):
    rng = random.Random(seed)
    nest = random_nest(rng)
    architecture = random_architecture(rng, nest)
    return nest, architecture, random_mapping(rng, nest, architecture, pads=pads)


def expected(nest, architecture, mapping):
    """Metrics by the other rules, and energy as a sum."""
    mapped = by_other_rules(nest, architecture, mapping)
    counted = count(mapped)
    metrics = {
        "latency": Fraction(counted.cycles),
        "computes": Fraction(counted.macs),
    }
    metrics["pes"] = Fraction(counted.multipliers)
    energy, working = Fraction(0), 1
    for level in architecture.levels:
        found, costs = (
            counted.levels[level.name],
            (level.read_energy, level.write_energy, level.update_energy),
        )
        own = Fraction(0)
        for name, cost in zip(("reads", "fills", "updates"), costs, strict=True):
            for tensor, words in getattr(found, name).items():
                metrics[f"{level.name}.{tensor}.{name}"] = Fraction(words)
                own += working * ceil(Fraction(words, level.block)) * cost
        for tensor, words in found.capacity.items():
            metrics[f"{level.name}.{tensor}.capacity"] = Fraction(words)
        own += level.leak * working * counted.cycles
        metrics[f"{level.name}.energy"] = own
        energy += own
        working *= prod(
            mapping.factors[s][d]
            for s in mapping.factors
            if s.level == level.name and s.direction
            for d in mapping.factors[s]
        )
    compute = architecture.compute
    metrics["energy"] = energy + counted.macs * compute.energy
    metrics["edp"] = metrics["energy"] * counted.cycles
    return metrics, counted


def test_random_hierarchies_are_counted_as_by_rules_written_anew():
    shapes = set()
    for seed in range(400):
        nest, architecture, mapping = drawn(seed)
        (point,) = evaluate_points([SpatialPoint(SpatialDesign(nest, architecture), mapping)])
        metrics, counted = expected(nest, architecture, mapping)
        for name, value in metrics.items():
            updates_of_input = name not in point["metrics"] and name.endswith(".updates")
            assert updates_of_input or point["metrics"][name] == pytest.approx(
                float(value), rel=1e-12
            ), (seed, name)
        exceeds = "expansion" in (point["reason"] or "")
        assert point["valid"] or exceeds or counted.overfull, (seed, point["reason"])
        assert not (point["valid"] and counted.overfull), seed
        shapes.add(
            (len(architecture.levels), sum(slot.direction == "x" for slot in mapping.factors))
        )
    assert (6, 2) in shapes
    assert len(shapes) > 15


def configurations(seed):
    """A small design, and points of its axes, whether they fit or not."""
    rng = random.Random(seed)
    nest = random_nest(rng, (1, 2, 3, 4))
    architecture = random_architecture(rng, nest, rng.randint(1, 4), free=bool(seed % 2))
    design = SpatialDesign(
        nest, architecture, MappingOptions(divisors_only=bool(seed % 3), free_bypass=bool(seed % 2))
    )
    tables = tables_of(design.space)
    return design, [some_row(tables, rng.randrange) for _ in range(4)]


@pytest.mark.parametrize("seed", range(24))
def test_number_systems_agree(seed):
    design, drawn = configurations(seed)
    names = (
        "latency",
        "energy",
        "computes",
        "pes",
        f"{design.architecture.levels[0].name}.{design.tensors[0]}.reads",
    )
    exact = [
        design.metrics({n: Fraction(v) for n, v in values.items()}, FRACTION) for values in drawn
    ]
    symbolic = design.metrics(Symbols(), SYMBOLIC, names)
    columns = {n: np.array([values[n] for values in drawn]) for n in drawn[0]}
    numpy = design.metrics(columns, NUMPY)
    arrays = design.metrics(
        {n: Rationals.of(map(int, column)) for n, column in columns.items()}, RATIONAL_ARRAYS
    )
    whole = {
        n: Interval(Fraction(int(column.min())), Fraction(int(column.max())))
        for n, column in columns.items()
    }
    hull = design.metrics(whole, INTERVAL, names)
    for place, values in enumerate(drawn):
        fractions = {n: Fraction(v) for n, v in values.items()}
        for name, value in exact[place].items():
            assert np.broadcast_to(numpy[name], (4,))[place] == pytest.approx(
                float(value), rel=1e-12
            )
            assert Fraction(*arrays[name].entries(4)[place]) == value
        points = design.metrics({n: as_interval(v) for n, v in fractions.items()}, INTERVAL, names)
        for name in names:
            assert symbolic[name].evaluate(fractions, FRACTION) == exact[place][name]
            assert as_interval(points[name]) == as_interval(exact[place][name])
            assert exact[place][name] in as_interval(hull[name])
    for place, values in enumerate(drawn):
        mapping = design.mapping(values)
        fixed = SpatialDesign(design.nest, design.architecture.keeping(dict(mapping.keeps)))
        (row,) = evaluate_points([SpatialPoint(fixed, mapping)])
        assert row["metrics"]["energy"] == pytest.approx(float(exact[place]["energy"]))
        assert row["valid"] is design.space.contains(values)
        again = design.configuration(mapping)
        assert again.keys() == values.keys()
        assert design.metrics({n: Fraction(v) for n, v in again.items()}, FRACTION) == exact[place]
