"""Repair: against the rule stated anew over whole tables, by ranges as by tables, and of spaces
that no family has."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ithaca.formulations import repair
from ithaca.formulations.algebra.expression import Constant, Symbol, ceiling_division
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.repair import Repair
from ithaca.formulations.space import (
    Axis,
    Link,
    Quantity,
    QuantityKind,
    Relation,
    Role,
    make_space,
)
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.whole_spaces import every_row

RESTRICTIONS = (SpaceOptions(), SpaceOptions(min_lanes=2), SpaceOptions(divisors_only=True))


def nearest(space, names, wanted):
    """The rule, one quantity at a time over the rows that are left, for spaces without rules across
    axes."""
    found = {}
    for axis in space.axes:
        rows = axis.table()
        left = np.ones(next(iter(rows.values())).size, bool)
        for name in [name for name in names if name in axis.symbols]:
            values = np.unique(rows[name][left])
            below = values[values <= wanted[name]]
            left &= rows[name] == (below.max() if below.size else values.min())
        (row,) = np.flatnonzero(left)
        found |= {name: int(column[row]) for name, column in rows.items()}
    return found


def check(space, names, seed):
    fixes = Repair(space, names)
    draw = np.random.default_rng(seed)
    wanted = np.array([draw.integers(0, space.ranges[name][1] + 3, 25) for name in fixes.names])
    values, legal = fixes.nearest(wanted)
    for column in range(wanted.shape[1]):
        found = {name: int(row[column]) for name, row in values.items()}
        assert legal[column] == space.contains(found)
        if not space.links:
            assert legal[column]
            assert found == nearest(
                space, fixes.names, dict(zip(fixes.names, wanted[:, column].tolist(), strict=True))
            )
    return int(legal.sum())


@pytest.mark.parametrize("tabulated", [repair.TABULATED, 0])
@pytest.mark.parametrize("edition", ["exact", "odyssey"])
@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_ranges_and_tables_give_what_the_rule_says(dataflow, edition, tabulated, monkeypatch):
    monkeypatch.setattr(repair, "TABULATED", tabulated)
    for number, options in enumerate(RESTRICTIONS):
        problem = mm_problem((12, 10, 7 + number), dataflow, "ABC"[number], edition, space=options)
        assert check(problem.space, None, number) == 25
        assert (
            check(problem.space, tuple(profile_of(problem.design).parameters.values()), number)
            == 25
        )


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
def test_packs_that_span_loops_are_legal_wherever_they_can_be(edition):
    output, inputs = parse_statement("C[i][j] += A[i][j + k] * B[k]")
    nest = LoopNest("filter", (("i", 6), ("j", 8), ("k", 5)), output, inputs, "k")
    seen = {True: 0, False: 0}
    for number, array in enumerate(designs(nest, edition)):
        space = Problem(
            SystolicDesign(nest, array, DATA_TYPES["fp32"]), (), parse_objective("latency")
        ).space
        if not space.links:
            continue
        packs = [quantity.name for quantity in space.free if quantity.role is Role.PORT]
        fixes = Repair(space)
        draw = np.random.default_rng(number)
        values, legal = fixes.nearest(
            np.array([draw.integers(1, space.ranges[name][1] + 1, 8) for name in fixes.names])
        )
        for column in range(8):
            found = {name: int(row[column]) for name, row in values.items()}
            options = product((1, 2, 4, 8, 16, 32, 64), repeat=len(packs))
            possible = any(
                space.contains({**found, **dict(zip(packs, chosen, strict=True))})
                for chosen in options
            )
            assert space.contains(found) == legal[column] == possible
            seen[possible] += 1
    assert seen[True]
    assert seen[False]


def test_large_axes_are_not_tabulated(monkeypatch):
    def refused(axis):
        pytest.fail(f"the table of {axis.name} was made")

    monkeypatch.setattr(Axis, "table", refused)
    problem = mm_problem((65536, 65536, 65536))
    fixes = Repair(problem.space)
    draw = np.random.default_rng(0)
    wanted = np.array(
        [
            np.exp(draw.random(200) * np.log(2 * problem.space.ranges[name][1]))
            for name in fixes.names
        ]
    )
    values, legal = fixes.nearest(wanted.astype(np.int64))
    assert legal.all()
    for column in range(200):
        assert problem.space.contains({name: int(row[column]) for name, row in values.items()})


def test_any_space_is_repaired():
    """Two factors and a rule of divisibility, a power of two, an integer that stands alone, and a
    rule across all of them."""
    a, b, c, width, trips = map(Symbol, ("a", "b", "c", "width", "trips"))
    loop = Axis(
        "loop",
        (Quantity("a", 1, 9), Quantity("b", 1, ceiling_division(9, a)), Quantity("trips", 1, 20)),
        (
            Link(trips, Relation.EQUAL, ceiling_division(20, a * b)),
            Link(a, Relation.DIVIDES, 20 * b),
        ),
    )
    power = Axis("power", (Quantity("c", 2, 64, QuantityKind.POWER_OF_TWO),))
    alone = Axis("alone", (Quantity("width", 3, 18),))
    space = make_space([loop, power, alone], [Link(width * b, Relation.AT_MOST, a * c + 30)])
    fixes = Repair(space)
    assert fixes.names == ("a", "b", "c", "width")
    assert [fixes.bounds(name) for name in fixes.names] == [(1, 8), (1, 9), (2, 64), (3, 18)]
    wanted = np.array([[8, 7, 0, 1], [9, 9, 9, 3], [7, 100, 3, 0], [18, 0, 99, 18]])
    values, legal = fixes.nearest(wanted)
    found = [
        tuple(int(values[name][column]) for name in ("a", "b", "c", "width", "trips"))
        for column in range(4)
    ]
    # 8 divides 20 · 2, and 7 and 6 no multiple in range; 9 · width ≤ 1 · 2 + 30 leaves a width of
    # 3, 3 · width one of 10
    assert found == [(8, 2, 4, 18, 2), (5, 2, 64, 3, 2), (1, 9, 2, 3, 3), (1, 3, 2, 10, 7)]
    assert legal.all()


def test_what_cannot_be_repaired_is_said():
    low = Axis("low", (Quantity("n", 2, 5),))
    none = Repair(make_space([low], [Link(Symbol("n"), Relation.AT_MOST, Constant(Fraction(1)))]))
    assert none.empty == "low"
    assert not none.nearest(np.array([[3, 4]]))[1].any()
    other = Axis("other", (Quantity("m", 6, 9),))
    across = Repair(make_space([low, other], [Link(Symbol("m"), Relation.AT_MOST, Symbol("n"))]))
    assert across.empty is None
    assert not across.nearest(np.array([[3, 4], [7, 8]]))[1].any()


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64, 10**40, -(2**63), -(2**70)])
def test_numbers_too_large_for_rows_are_in_no_space(number):
    """Values as a kept result states them that somebody edited."""
    space = mm_problem((8, 8, 8), ("i", "j"), "C", "cycle").space
    legal = next(row for row in every_row(space) if space.contains(row))
    assert not any(space.contains({**legal, name: number}) for name in space.quantities)
