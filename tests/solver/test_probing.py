"""Probing drops rows that are in no improvement, and no others."""

from fractions import Fraction

import numpy as np
import pytest

from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.probing import probe
from ithaca.solver.tables.configurations import configuration_of
from ithaca.solver.tables.frame import build_model
from tests.problems import MM_DATAFLOWS, mm_problem


def probed(problem, value):
    """The model after probing for improvements on a value, whatever is found on the way."""

    def keep(found):
        assert problem.feasible_value(found) is not None
        return value

    return build_model(
        problem,
        narrow=lambda known, tables: probe(problem, known, tables, value, keep, lambda: None),
    )


def better(model, value):
    """All feasible configurations of a model that improve on a value (which is so small that
    doubles are exact)."""
    rows = np.indices(model.counts).reshape(len(model.counts), -1).astype(np.int32)
    values, excess = model.configurations.rows(rows)
    rows = rows[:, (excess == 0) & (values < (np.inf if value is None else value))]
    tables = [tree.table for tree in model.trees]
    return {configuration_of(model.problem.space, tables, column) for column in rows.T.tolist()}


@pytest.mark.parametrize("edition", ["exact", "cycle"])
@pytest.mark.parametrize("dataflow", MM_DATAFLOWS, ids=",".join)
def test_every_improvement_stays(dataflow, edition):
    problem = mm_problem((4, 5, 4), dataflow, "C", edition, dsp="60", bram18k="30", dtype="int16")
    whole, optimum = build_model(problem), solve_exact(problem).value
    for value in (optimum * Fraction(6, 5), optimum):
        found = probed(problem, value)
        assert better(found, value) == better(whole, value)
    assert sum(found.counts) < sum(whole.counts)  # at the optimum, much is gone


def test_what_cannot_meet_the_limits_leaves_nothing():
    assert not all(probed(mm_problem((64, 64, 64), dsp="1"), None).counts)
