"""Bounds made closer by constraints: by products that are limited, and by products that rules keep
from being less than others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from ithaca.formulations.algebra.expression import (
    Expression,
    Maximum,
    Product,
    Sum,
    add,
    maximum,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.sums import gains_and_losses
from ithaca.formulations.problem import SymbolicProblem
from ithaca.solver.tables.relaxation import Relaxation


def floors_of(rules: Iterable[Expression]) -> Iterator[tuple[dict[Expression, int], Expression]]:
    """Products that rules n − c·Π f ≤ 0 keep from being less than n/c, with that. Nothing that is a
    factor of such a product is part of what another is no less than."""
    sides = [(needs, *split_coefficient(gains)) for needs, gains in map(gains_and_losses, rules)]
    of = [(n / c, dict(p.factors)) for n, c, p in sides if c > 0 and isinstance(p, Product)]
    parts = frozenset[str]().union(*(base.symbols for _, part in of for base in part))
    for needs, part in of:
        if needs.symbols and not needs.symbols & parts and min(part.values()) > 0:
            yield part, needs


def with_cuts(symbolic: SymbolicProblem, relaxation: Relaxation) -> Expression:
    """The objective's bound, strengthened by product cuts.

    Where a constraint limits a product, g ≤ c, any nonnegative term f of the objective satisfies
    f ≥ lower(f·g)/c. The product f·g regroups by axis and is often nearly constant: PE cycles times
    PEs are the padded work of the nest, which no choice of lanes makes smaller. Products of sums
    (latency · energy) stay as they are: they would be multiplied out once more for every g.
    """
    objective = symbolic.objective
    if isinstance(objective, Product):
        several = [base for base, _ in objective.factors if len(relaxation.axes(base)) > 1]
        if len(several) > 1:
            return relaxation.lower(objective)
    resources = [
        (expression, bound)
        for expression, bound in symbolic.constraints
        if isinstance(expression, Product)
        and bound > 0
        # products with a quotient would only multiply terms
        and all(exponent > 0 for _, exponent in expression.factors)
        and relaxation.nonnegative(expression)
    ]

    @cache
    def bound(node: Expression) -> Expression:
        if isinstance(node, Maximum):
            return maximum(*(bound(a) for a in node.arguments))
        if isinstance(node, Sum):
            return add(*(bound(t) for t in node.terms))
        lower = relaxation.lower(node)
        if not isinstance(node, Product) or len(relaxation.axes(node)) < 2:
            return lower
        if relaxation.nonnegative(node):
            return maximum(
                lower, *(multiply(relaxation.lower(multiply(node, g)), 1 / c) for g, c in resources)
            )
        gain = -node
        if relaxation.nonnegative(gain):
            # what is gained by using a limited resource is limited with it: h = (h/g)·g ≤
            # upper(h/g)·c
            shares = [
                (multiply(gain, power(g, -1)), c) for g, c in resources if relaxation.positive(g)
            ]
            return maximum(lower, *(multiply(relaxation.upper(share), -c) for share, c in shares))
        return lower

    return bound(objective)
