"""The objective's bound of single boxes in Fractions: what floats cannot tell from an
improvement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.files.fraction import Fraction
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.rounding import near_extreme
from ithaca.formulations.remembered import remembered
from ithaca.solver.tables.column import Column
from ithaca.solver.tables.relaxation import statistic
from ithaca.solver.tables.tree import RowTree

#: Different rows with nearly the smallest (or largest) value that are evaluated exactly; with more
#: the value is rounded outwards.
MOST_NEAR = 64


class ExactBound:
    """Bounds boxes one by one, from the objective's bound over column statistics; keeps what it has
    computed."""

    def __init__(self, bound: Expression, trees: Sequence[RowTree]) -> None:
        self._bound = bound
        self._trees = trees
        self._columns: dict[str, tuple[int, int, Column]] = {}
        for axis, tree in enumerate(trees):
            for position, column in enumerate(tree.table.columns):
                for high in (False, True):
                    self._columns[statistic(column.index, high).name] = axis, position, column
        self._bounds: dict[tuple[int, ...], Fraction | None] = {}
        #: Numbers of the axes that the bound depends on.
        self.axes = sorted({self._columns[name][0] for name in bound.symbols})

    def of(self, nodes: Sequence[int]) -> Fraction | None:
        """No configuration in a box (nodes of the trees of `axes`) has a smaller objective; None if
        nothing is known."""
        key = tuple(nodes)
        if key not in self._bounds:
            self._bounds[key] = self._evaluate(dict(zip(self.axes, key, strict=True)))
        return self._bounds[key]

    def _evaluate(self, node_of: dict[int, int]) -> Fraction | None:
        values = {}
        for name in self._bound.symbols:
            value = self._statistic(name, node_of[self._columns[name][0]])
            if value is None:
                return None
            values[name] = value
        try:
            return Fraction(self._bound.evaluate(values, FRACTION))
        except ZeroDivisionError:  # the bound divides by a bound that is 0
            return None

    @remembered
    def _statistic(self, name: str, node: int) -> Fraction | None:
        axis, position, column = self._columns[name]
        high = name == statistic(column.index, True).name
        table, rows = self._trees[axis].table, self._trees[axis].rows_under(node)
        values = table.values[position, rows]
        beyond, holds = near_extreme(values, high=high)
        if not np.isfinite(beyond):
            return None
        near = rows[holds]
        symbols = sorted(column.expression.symbols)
        different = np.unique(np.stack([table.rows[symbol][near] for symbol in symbols]), axis=1)
        if different.shape[1] > MOST_NEAR:
            return Fraction(beyond)
        exact = (
            Fraction(
                column.expression.evaluate(
                    dict(zip(symbols, map(Fraction, row), strict=True)), FRACTION
                )
            )
            for row in different.T.tolist()
        )
        return max(exact) if high else min(exact)
