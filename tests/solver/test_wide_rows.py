"""Families of rows: none is left out that has a row which may be of a good configuration."""

from fractions import Fraction

import numpy as np
import pytest

import ithaca
from ithaca.formulations.algebra.expression import Symbol, ceiling_division, minimum
from ithaca.formulations.space import Axis, Quantity
from ithaca.solver import level_set
from ithaca.solver.certificate import Status
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.sources import piece_sources
from ithaca.solver.wide_rows import Families


def keys(rows, names):
    """Rows of some quantities, as a set."""
    return set(zip(*(rows[name].tolist() for name in names), strict=True))


def open_rows(families, rows):
    """All extensions of some rows that may be of a good configuration, each bounded by itself."""
    bounds, axis = families.bounds, families.axes[families.number]
    columns = [bounds.columns(each) for each in families.axes]
    for whole in axis.extended(rows):
        count = next(iter(whole.values())).size
        values = Columns(columns[families.number], axis).values(whole, count)
        sources = piece_sources(
            bounds.lowered.bounds, columns, families.ends, families.number, (values, values)
        )
        left = bounds.open(sources, count, families.value)
        yield {name: own[left] for name, own in whole.items()}


@pytest.mark.parametrize(
    ("kernel", "question"),
    [
        ("mm", {"sizes": "i=1,j=12,k=8", "platform": "u280", "dtype": "int8", "ports": 4}),
        pytest.param(
            "mm",
            {"sizes": "i=5,j=9,k=6", "platform": "u250", "limit": "dsp=40"},
            marks=pytest.mark.ci,
        ),
        pytest.param(
            "batched_mm",
            {"sizes": "b=2,i=4,j=8,k=4", "platform": "u280", "dtype": "int8", "ports": 4},
            marks=pytest.mark.ci,
        ),
        pytest.param(
            "conv2d",
            {"sizes": "o=4,i=3,r=4,c=4,p=3,q=3", "platform": "u250", "limit": "dsp=40"},
            marks=pytest.mark.ci,
        ),
    ],
)
def test_families_left_out_have_no_row_that_may_be_good(kernel, question, monkeypatch):
    narrow = ithaca.solve(kernel, dataflow="i,j" if "mm" in kernel else "o,r", **question).best
    monkeypatch.setattr(level_set, "WIDE", 0)
    left, dropped = Families.left, []

    def watched(self, rows):
        kept = left(self, rows)
        names, given = [*rows], next(iter(rows.values())).size
        assert keys(kept, names) <= keys(rows, names)
        for good in open_rows(self, rows):
            assert keys(good, names) <= keys(kept, names)
        dropped.append(given - next(iter(kept.values())).size)
        return kept

    monkeypatch.setattr(Families, "left", watched)
    wide = ithaca.solve(kernel, dataflow="i,j" if "mm" in kernel else "o,r", **question).best
    assert np.sum(dropped) > 0
    assert wide.certificate.status is Status.OPTIMAL
    assert (wide.value, wide.configuration) == (narrow.value, narrow.configuration)


def test_columns_that_round_leave_rows_of_other_axes_open(monkeypatch):
    """Infinite ends of an axis were multiplied to infinite lower bounds, beyond every limit."""
    question = {
        "sizes": "b=2,i=1,j=4,k=2",
        "platform": "u250",
        "dataflow": "i",
        "ports": 2,
        "objective": "comm",
        "require": "dsp == 5",
    }
    narrow = ithaca.solve("batched_mm", **question).best
    monkeypatch.setattr(level_set, "WIDE", 0)
    wide = ithaca.solve("batched_mm", **question).best
    assert wide.certificate.status is Status.OPTIMAL
    assert wide.configuration == narrow.configuration


@pytest.mark.ci
@pytest.mark.parametrize(("most", "rounds"), [(6_000, False), (1 << 27, True)])
def test_columns_with_capped_minima_round_only_where_their_arguments_do(most, rounds):
    """y²·(1 − min(x·y − 1, 1)) is exact as long as y² and x·y are, whatever their product is."""
    x, y = Symbol("x"), Symbol("y")
    axis = Axis("a", (Quantity("x", 1, 130_000), Quantity("y", 1, most)))
    column = Column(0, y * y * (1 - minimum(x * y - 1, 1)), low=True, high=True)
    assert Columns([column], axis).rounds == [rounds]
    ends = np.array([(1, 1), (1, most), (130_000, most)], dtype=np.int64).T
    values = Columns([column], axis).values({"x": ends[0], "y": ends[1]}, 3)
    assert values.tolist() == [[1, 0, 0]]


@pytest.mark.ci
def test_columns_that_divide_by_what_may_be_0_are_looked_at_row_by_row():
    """Rows with a divisor of 0 need not be there: a limit may leave them out."""
    x, y = Symbol("x"), Symbol("y")
    axis = Axis("a", (Quantity("x", 1, 9), Quantity("y", 1, 9)))
    column = Column(0, x / minimum(y - 1, 1), low=True, high=True)
    rows = {"x": np.array([3, 9]), "y": np.array([2, 9])}
    assert Columns([column], axis).values(rows, 2).tolist() == [[3, 9]]


@pytest.mark.ci
@pytest.mark.parametrize("divisor", [5, Fraction(5, 4)])
def test_quotients_are_rounded_up_exactly_where_doubles_are_full(divisor):
    """Doubles hold these numerators, and not what is left of their quotients by 5/4."""
    axis, most = Axis("a", (Quantity("x", 1, 1 << 8),)), 2**52 + 1
    column = Column(0, ceiling_division(Symbol("x") + most, divisor), low=True, high=False)
    rows = {"x": np.arange(1, 1 + (1 << 8))}
    (values,) = Columns([column], axis).values(rows, 1 << 8)
    assert [*map(int, values)] == [-(-(x + most) // divisor) for x in range(1, 1 + (1 << 8))]
