"""The objective's bound of single boxes in Fractions: what floats cannot tell from an
improvement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from ithaca.formulations.algebra.expression import Evaluation, Expression, Symbol
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
        names = defaultdict[int, list[str]](list)
        for name in sorted(bound.symbols):
            names[self._columns[name][0]].append(name)
        self._names = dict(names)
        #: Numbers of the axes that the bound depends on.
        self.axes = sorted(self._names)
        self._values: dict[str, Fraction] = {}
        self._evaluation = Evaluation(self._values, FRACTION)
        self._evaluated: dict[int, int] = {}

    def of(self, nodes: Sequence[int]) -> Fraction | None:
        """No configuration in a box (nodes of the trees of `axes`) has a smaller objective; None if
        nothing is known."""
        key = tuple(nodes)
        if key not in self._bounds:
            self._bounds[key] = self._evaluate(dict(zip(self.axes, key, strict=True)))
        return self._bounds[key]

    def _evaluate(self, node_of: dict[int, int]) -> Fraction | None:
        # boxes that are asked for one after the other mostly differ in few axes
        for axis, node in node_of.items():
            if self._evaluated.get(axis) == node:
                continue
            self._evaluated.pop(axis, None)
            self._evaluation.forget(self._depending.get(axis, ()))
            for name in self._names[axis]:
                value = self._statistic(name, node)
                if value is None:
                    return None
                self._values[name] = value
            self._evaluated[axis] = node
        try:
            return Fraction(self._evaluation(self._bound))
        except ZeroDivisionError:  # the bound divides by a bound that is 0
            return None

    @cached_property
    def _depending(self) -> dict[int, list[Expression]]:
        """The parts of the bound that depend on an axis, by its number."""
        axes: dict[int, frozenset[int]] = {}
        depending = defaultdict[int, list[Expression]](list)
        for node in _children_first(self._bound):
            if isinstance(node, Symbol):
                own = frozenset({self._columns[node.name][0]})
            else:
                own = frozenset[int]().union(*(axes[id(child)] for child in node.children))
            axes[id(node)] = own
            for axis in own:
                depending[axis].append(node)
        return depending

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


def _children_first(node: Expression) -> Iterator[Expression]:
    """All nodes of a tree, each distinct object once and after its children."""
    done: set[int] = set()
    stack = [(node, False)]
    while stack:
        current, expanded = stack.pop()
        if id(current) in done:
            continue
        if expanded:
            done.add(id(current))
            yield current
        else:
            stack.append((current, True))
            stack.extend((child, False) for child in current.children)
