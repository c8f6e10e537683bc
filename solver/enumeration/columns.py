"""Columns: parts of costs that one axis alone contributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.space import Axis, Rows, Space
from ithaca.solver.enumeration.spans import Compiler, Program, Reach


class Regrouped:
    """Expressions over *columns*, each what one axis alone contributes."""

    def __init__(self, space: Space) -> None:
        self._axis_of = {name: n for n, axis in enumerate(space.axes) for name in axis.symbols}
        self.columns: list[dict[Expression, Symbol]] = [{} for _ in space.axes]
        self._known: dict[Expression, Expression] = {}
        self._axes: dict[Expression, frozenset[int]] = {}

    def __call__(self, node: Expression) -> Expression:
        """An expression over columns that equals one over quantities."""
        if node not in self._known:
            self._known[node] = self._of(node)
        return self._known[node]

    def axes(self, node: Expression) -> frozenset[int]:
        """The axes that an expression depends on."""
        if node not in self._axes:
            self._axes[node] = (
                frozenset((self._axis_of[node.name],))
                if isinstance(node, Symbol)
                else frozenset().union(*map(self.axes, node.children))
            )
        return self._axes[node]

    def _of(self, node: Expression) -> Expression:
        axes = self.axes(node)
        if not axes:
            return node
        if len(axes) == 1:
            coefficient, monic = split_coefficient(node)
            (axis,) = axes
            own = self.columns[axis]
            if monic not in own:
                own[monic] = Symbol(f"{axis}.{len(own)}")
            return own[monic] if coefficient == 1 else Product(coefficient, ((own[monic], 1),))
        if isinstance(node, Sum):
            groups, rest = self._grouped(node.terms)
            parts = [self(add(*(node.terms[n] for n in places))) for places in groups]
            return Sum((*parts, *(self(node.terms[n]) for n in rest)))
        if isinstance(node, Product):
            bases = [base for base, _ in node.factors]
            groups, rest = self._grouped(bases)
            powers = [power(*factor) for factor in node.factors]
            singles = [(self(multiply(*(powers[n] for n in places))), 1) for places in groups]
            others = [(self(node.factors[n][0]), node.factors[n][1]) for n in rest]
            return Product(node.coefficient, (*singles, *others))
        if isinstance(node, CeilingDivision):
            return CeilingDivision(self(node.numerator), self(node.denominator))
        assert isinstance(node, Maximum | Minimum)
        return type(node)(tuple(map(self, node.arguments)))

    def _grouped(self, parts: Sequence[Expression]) -> tuple[list[list[int]], list[int]]:
        """The places of parts by the one axis that they depend on, and of all others."""
        single: dict[frozenset[int], list[int]] = {}
        rest = []
        for place, part in enumerate(parts):
            axes = self.axes(part)
            if len(axes) == 1:
                single.setdefault(axes, []).append(place)
            else:
                rest.append(place)
        return list(single.values()), rest


@dataclass(frozen=True)
class Columns:
    """The columns of an axis: how they are computed, and what they may be."""

    axis: Axis
    """The axis."""
    reaches: Mapping[str, Reach]
    """The range of each, by its symbol."""
    program: Program
    """Computes both ends of each from both ends of quantities."""

    @staticmethod
    def of(axis: Axis, columns: Mapping[Expression, Symbol]) -> Columns:
        """The columns of an axis, from expressions over its quantities with their symbols."""
        compiler = Compiler(
            {
                name: Reach(float(low), float(high), 1, name in axis.powers)
                for name, (low, high) in axis.ranges.items()
            }
        )
        program = compiler.program(*((column, end) for column in columns for end in (False, True)))
        reaches = {symbol.name: compiler.reach(column) for column, symbol in columns.items()}
        return Columns(axis, reaches, program)

    def values(self, rows: Rows) -> Floats:
        """Both ends of every column, one after the other, on rows: shape (2·columns, rows)."""
        ends = [v for name in self.axis.ranges for v in [rows[name].astype(np.float64)] * 2]
        values = np.empty((2 * len(self.reaches), next(iter(rows.values())).size))
        for own, value in zip(values, self.program.run(ends), strict=True):
            own[:] = value
        return values
