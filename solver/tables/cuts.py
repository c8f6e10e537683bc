"""Bounds made closer by products that are limited."""

from __future__ import annotations

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
)
from ithaca.formulations.problem import SymbolicProblem
from ithaca.solver.tables.relaxation import Relaxation


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
