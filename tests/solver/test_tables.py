"""Candidate tables: what they cost, and that taking them in pieces loses nothing."""

import tracemalloc

import numpy as np
import pytest

from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.tables import frame
from ithaca.solver.tables import table as tables
from ithaca.solver.tables.table import _order
from ithaca.solver.tables.tree import build_tree
from tests.problems import mm_problem


def test_the_largest_tables_keep_the_memory_that_is_promised(
    monkeypatch,
):
    """`ithaca.workloads.nest.MAX_EXTENT` promises less than 2 GiB for a whole solve."""
    counts = []

    def small_tree(table, checkpoint):  # trees of so many rows take longer than their tables
        counts.append(table.count)
        return build_tree(table.only(np.arange(table.count) < 8), checkpoint)

    monkeypatch.setattr(frame, "build_tree", small_tree)
    tracemalloc.start()
    try:
        frame.build_model(mm_problem((64, 65_536, 64), ("i", "j"), "C"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(counts) > 100_000  # it is the case that costs most
    assert peak < 1 << 29


@pytest.mark.parametrize("permutation", ["A", "C"])
def test_tables_taken_in_pieces_hold_the_same_optimum(monkeypatch, permutation):
    problem = mm_problem((48, 60, 33), ("i", "k"), permutation)
    whole = solve_exact(problem)
    monkeypatch.setattr(tables, "PIECE_ROWS", 7)
    monkeypatch.setattr(tables, "GATHERED_ROWS", 23)
    pieces = solve_exact(problem)
    assert pieces.certificate.lower_bound == whole.certificate.lower_bound == pieces.value


@pytest.mark.parametrize("most", [7, 2**40])
def test_rows_are_ordered_as_by_one_key_after_the_other(most):
    """By one number of all keys, or where there is none by each of them."""
    keys = np.random.default_rng(most).integers(0, most, (4, 500))
    keys[:, 100:200] = keys[:, :100]
    assert (_order(*keys) == np.lexsort(keys[::-1])).all()
