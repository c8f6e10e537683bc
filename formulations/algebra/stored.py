"""Expressions as plain data, each part once: for JSON, and nothing in it can run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.expression import (
    UNIT,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)

_KINDS: dict[type[Expression], str] = {
    Symbol: "symbol",
    Constant: "constant",
    Sum: "sum",
    Product: "product",
    CeilingDivision: "ceil",
    Maximum: "max",
    Minimum: "min",
}


class Encoder:
    """Expressions by numbers: each part of them once, after its own parts."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self._numbers: dict[Expression, int] = {}

    def number(self, node: Expression) -> int:
        """The number of an expression among `nodes`, where it stands from now on."""
        if node not in self._numbers:
            content = self._content(node)
            self._numbers[node] = len(self.nodes)
            self.nodes.append([_KINDS[type(node)], *content])
        return self._numbers[node]

    def _content(self, node: Expression) -> list[Any]:
        if isinstance(node, Symbol):
            return [node.name]
        if isinstance(node, Constant):
            return [str(node.value)]
        if isinstance(node, Product):
            own = [number for base, e in node.factors for number in (self.number(base), e)]
            return [str(node.coefficient), *own]
        return [self.number(child) for child in node.children]


def decoded(nodes: Sequence[Sequence[Any]]) -> list[Expression]:
    """The expressions of an `Encoder`, by number.

    Raises `ValueError`, `KeyError`, `IndexError` or `TypeError` for what no encoder made.
    """
    known: list[Expression] = []
    for kind, *content in nodes:
        if kind == "symbol":
            node: Expression = Symbol(content[0])
        elif kind == "constant":
            node = Constant(Fraction(content[0]))
        elif kind == "product":
            bases, exponents = content[1::2], content[2::2]
            factors = [(known[base], e) for base, e in zip(bases, exponents, strict=True)]
            coefficient = Fraction(content[0])
            node = Product(UNIT if coefficient == 1 else coefficient, tuple(factors))
        elif kind == "ceil":
            top, bottom = content
            node = CeilingDivision(known[top], known[bottom])
        else:
            make = {"sum": Sum, "max": Maximum, "min": Minimum}[kind]
            node = make(tuple(known[child] for child in content))
        known.append(node)
    return known
