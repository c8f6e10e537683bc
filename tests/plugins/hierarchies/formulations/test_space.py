"""The space of mappings, against all tilings, paddings, orders, directions and bypasses."""

import random
from dataclasses import replace
from itertools import permutations, product
from math import prod

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping import slots
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search import extension, stage
from ithaca.plugins.hierarchies.formulations.search.mapping_boxes import MappingBoxes
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.hierarchies.formulations.cases import nest_of, random_architecture
from tests.whole_spaces import crossed, tables_of

METRICS = ("energy", "latency", "edp")
SMALL = (
    "O[i][j] += A[i][k] * B[k][j]",
    "O[m][p] += I[p+r] * W[m][r]",
    "O[c][p] += I[c][2*p+r] * W[c][r]",
)


def least(design, columns):
    """The least metrics of those points that fit; infinite where none does."""
    model = design.model(columns, NUMPY)
    fits = np.ones(len(next(iter(columns.values()))), bool)
    for rule in model.rules(design.options.within_parent):
        fits &= np.broadcast_to(rule.used <= rule.bound, fits.shape)
    found = design.metrics(columns, NUMPY, METRICS)
    return {name: np.where(fits, found[name], np.inf).min(initial=np.inf) for name in METRICS}


def every_tiling(nest, architecture, *, pads):
    """All factors up to the extent that multiply to it, or to more; along one direction of each
    mesh."""
    places, tables = slots(architecture), []
    for loop, extent in nest.extents:
        rows = [
            row
            for row in product(range(1, extent + 1), repeat=len(places))
            if (prod(row) == extent or (pads and prod(row) > extent))
            and not any(
                row[n] > 1 and row[n + 1] > 1
                for n, slot in enumerate(places)
                if slot.direction == "x"
            )
        ]
        tables.append(
            dict(zip((slot.quantity(loop) for slot in places), np.array(rows).T, strict=True))
        )
    return crossed(tables)


@pytest.mark.parametrize("seed", range(24))
def test_nothing_beside_the_space_is_better(seed):
    rng = random.Random(seed)
    statement = SMALL[seed % 3]
    nest = nest_of(
        statement,
        {loop: rng.choice((2, 3, 4)) for loop in sorted({c for c in statement if c.islower()})},
    )
    architecture = random_architecture(rng, nest, rng.choice((2, 2, 3)))
    levels = tuple(
        replace(level, words=level.words and rng.randint(6, 30)) for level in architecture.levels
    )
    architecture = replace(architecture, levels=levels)
    pads = len(slots(architecture)) < 5 and bool(seed % 2)
    options = MappingOptions(divisors_only=not pads, within_parent=bool(seed % 5 == 0))
    tilings = every_tiling(nest, architecture, pads=pads)
    everything = dict.fromkeys(METRICS, np.inf)
    for orders in product(permutations(nest.loops), repeat=len(levels) - 1):
        fixed = tuple((level.name, order) for level, order in zip(levels, orders, strict=False))
        lowest = least(SpatialDesign(nest, architecture, options, fixed_orders=fixed), tilings)
        everything = {name: min(everything[name], value) for name, value in lowest.items()}
    design = SpatialDesign(nest, architecture, options)
    assert least(design, crossed(tables_of(design.space))) == pytest.approx(everything)


def test_bypasses_are_choices_where_they_are_left_open():
    rng = random.Random(3)
    nest = nest_of("O[i][j] += A[i][k] * B[k][j]", {"i": 2, "j": 2, "k": 2})
    architecture = random_architecture(rng, nest, 3, free=True)
    tensors = ("A", "B", "O")
    everything = dict.fromkeys(METRICS, np.inf)
    kept = [
        frozenset(t for t, keep in zip(tensors, bits, strict=True) if keep)
        for bits in product((0, 1), repeat=3)
    ]
    for one, two in product(kept, repeat=2):
        fixed = SpatialDesign(
            nest, architecture.keeping({"L1": one, "L2": two}), MappingOptions(divisors_only=True)
        )
        lowest = least(fixed, crossed(tables_of(fixed.space)))
        everything = {name: min(everything[name], value) for name, value in lowest.items()}
    free = SpatialDesign(nest, architecture, MappingOptions(divisors_only=True, free_bypass=True))
    assert sum(name.startswith("keep.") for name in free.space.quantities) == 6
    assert least(free, crossed(tables_of(free.space))) == pytest.approx(everything)
    closed = SpatialDesign(nest, architecture, MappingOptions(divisors_only=True))
    assert least(closed, crossed(tables_of(closed.space)))["energy"] > everything["energy"]


@pytest.mark.parametrize("objective", ["energy", "edp"])
@pytest.mark.parametrize(
    ("statement", "sizes", "divisors", "seed"),
    [
        ("O[m][p] += I[p+r] * W[m][r]", {"m": 4, "p": 4, "r": 3}, True, 8),
        ("O[i][j] += A[i][k] * B[k][j]", {"i": 3, "j": 2, "k": 2}, False, 3),
    ],
)
def test_free_bypasses_are_proven_in_stages(
    monkeypatch, statement, sizes, divisors, seed, objective
):
    """Windows are proven by labels, padded products by boxes."""
    began, blocks = [], MappingBoxes.blocks

    def counted(boxes, cutoff):
        began.append(boxes)
        yield from blocks(boxes, cutoff)

    monkeypatch.setattr(MappingBoxes, "blocks", counted)
    monkeypatch.setattr(extension, "MANY", -1)
    monkeypatch.setattr(extension, "WIDE", -1)
    monkeypatch.setattr(stage, "BEAMS", ())
    rng = random.Random(seed)
    nest = nest_of(statement, sizes)
    architecture = random_architecture(rng, nest, 3, free=True)
    levels = tuple(
        replace(level, words=level.words and 12, block=1) for level in architecture.levels
    )
    design = SpatialDesign(
        nest,
        replace(architecture, levels=levels),
        MappingOptions(divisors_only=divisors, free_bypass=True),
    )
    expression = parse_expression(objective, where="objective", allowed=design.vocabulary)
    found = solve_staged(Problem(design, (), Objective(objective, expression)))
    assert bool(began) is not divisors
    assert found.certificate.status is Status.OPTIMAL
    best = least(design, crossed(tables_of(design.space)))[objective]
    assert float(found.value or 0) == pytest.approx(best)
    kept = SpatialDesign(nest, design.architecture, MappingOptions(divisors_only=divisors))
    assert best < least(kept, crossed(tables_of(kept.space)))[objective]
