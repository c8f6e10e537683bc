"""Limits that a configuration exceeds, and those on quotients that all do: by terms, without a
search."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression, Product, Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.quotients import Products, quotient_floor
from ithaca.formulations.problem import Limit, Problem, quotient


def exceeded(problem: Problem, configuration: Mapping[str, int]) -> tuple[Limit, ...]:
    """The limits that a configuration exceeds, by the exact reference."""
    metrics = problem.metrics(configuration)
    return tuple(limit for limit in problem.limits if limit.used(metrics) > limit.bound)


def all_exceed(problem: Problem) -> bool:
    """Whether every configuration exceeds some limit on a quotient."""
    # what is met where all is least is met somewhere
    lowest = {name: Fraction(span.low) for name, span in problem.intervals.items()}
    for expression, bound in problem.symbolic().limits:
        if quotient(expression) and expression.evaluate(lowest, FRACTION) > bound:
            floor = _floor(problem, expression)
            if floor is not None and floor > bound:
                return True
    return False


def least_quotient(problem: Problem) -> Fraction | None:
    """A value that the objective is not below in any configuration, where it is a quotient; None
    where it is none, or its terms do not say."""
    objective = problem.symbolic().objective
    return _floor(problem, objective) if quotient(objective) else None


def _floor(problem: Problem, expression: Expression) -> Fraction | None:
    """The floor of a quotient over quantities, those that are products of others written out."""
    ranges = problem.intervals
    products = {
        name: node
        for axis in problem.space.axes
        for name, node in axis.definitions.items()
        if isinstance(node, Product)
        and node.coefficient == 1
        and all(isinstance(base, Symbol) and exponent == 1 for base, exponent in node.factors)
    }
    most: Products = [
        (tuple(node.symbols), Fraction(ranges[name].high)) for name, node in products.items()
    ]
    return quotient_floor(expression.substitute(products), ranges, most)
