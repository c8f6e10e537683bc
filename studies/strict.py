"""The largest value an objective can take below another one.

Solvers take limits of the form ``expression ≤ bound``. "Strictly better than v" becomes such a
limit exactly, without an arbitrary ε, because the values of an objective lie on a grid: the
bound is the next grid point below v. Where the objective is a quotient, A/B, there is no grid,
but two different values still differ by a computable distance: if A and B are multiples of a
and b, and B is at most M, then v = p/q and A/B < v differ by (p·B − q·A)/(q·B), whose numerator
is a multiple of gcd(p·b, q·a) and whose denominator is at most q·M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd, lcm

from ithaca.formulations import quantities
from ithaca.formulations.design_space import largest_t1
from ithaca.formulations.expression import ONE, Expression, Maximum, Minimum, Product, Sum, add, multiply, power
from ithaca.formulations.interval import Interval, as_interval
from ithaca.formulations.number_systems import INTERVAL
from ithaca.formulations.packing import pack_options
from ithaca.formulations.problem import Objective, Problem
from ithaca.solver.exact.granularity import granularity
from ithaca.workloads.errors import InputError

#: Maps a value to a bound: every smaller value of the objective is at most the bound, and the bound is smaller.
Below = Callable[[Fraction], Fraction]


def largest_below(problem: Problem, objective: Objective) -> Below:
    """How to turn "strictly less" into "at most" for an objective of a design.

    Parameters
    ----------
    problem : Problem
        The design; its limits and its own objective do not matter.
    objective : Objective
        The objective.

    Returns
    -------
    callable
        Maps any value v to a bound b < v such that no configuration's objective lies strictly between.

    Raises
    ------
    InputError
        If the values of the objective have no known distance.
    """
    expression = replace(problem, limits=(), objective=objective).symbolic().objective
    step = granularity(expression, problem.data)
    if step:
        return lambda value: (ceil(value / step) - 1) * step
    over, under = _quotient(expression, problem)
    over_step, under_step = granularity(over, problem.data), granularity(under, problem.data)
    range_ = as_interval(under.evaluate(_ranges(problem), INTERVAL))
    if not over_step or not under_step or range_.low <= 0:
        raise InputError(
            f"objective '{objective.text}' has values of no known distance; allowed: quotients of sums and products of metrics"
        )

    most: Fraction = range_.high

    def below(value: Fraction) -> Fraction:
        apart = _common(value.numerator * under_step, value.denominator * over_step)
        return value - apart / (value.denominator * most)

    return below


def _quotient(node: Expression, problem: Problem) -> tuple[Expression, Expression]:
    """Write an expression as A/B, with a grid for A and for B where there is one."""
    if granularity(node, problem.data):
        return node, ONE
    if isinstance(node, Product):
        over: list[Expression] = [multiply(node.coefficient)]
        under: list[Expression] = []
        for base, exponent in node.factors:
            if granularity(power(base, exponent), problem.data):
                over.append(power(base, exponent))
                continue
            top, bottom = _quotient(base, problem)
            (over if exponent > 0 else under).append(power(top, abs(exponent)))
            (under if exponent > 0 else over).append(power(bottom, abs(exponent)))
        return multiply(*over), multiply(*under)
    if isinstance(node, Sum):
        tops, under_all = _over_one_denominator(node.terms, problem)
        return add(*tops), under_all
    if isinstance(node, Maximum | Minimum):
        tops, under_all = _over_one_denominator(node.arguments, problem)
        return type(node)(tuple(tops)), under_all
    return node, ONE


def _over_one_denominator(nodes: Sequence[Expression], problem: Problem) -> tuple[list[Expression], Expression]:
    parts = [_quotient(node, problem) for node in nodes]
    denominators = list(dict.fromkeys(bottom for _, bottom in parts))
    tops = [multiply(top, *(d for d in denominators if d != bottom)) for top, bottom in parts]
    return tops, multiply(*denominators)


def _ranges(problem: Problem) -> dict[str, Interval]:
    """Every quantity's range over the whole design space (or a little more)."""
    ranges = {}
    for loop in problem.array.band:
        extent = problem.nest.sizes[loop]
        ranges[quantities.tiles(loop).name] = Interval(Fraction(1), Fraction(extent))
        for quantity in (quantities.t1, quantities.t2, quantities.lanes):
            ranges[quantity(loop).name] = Interval(Fraction(1), Fraction(largest_t1(extent)))
    for group in problem.array.packed_groups:
        widest = max(int(pack_options(group.packing, problem.data)[-1]), problem.data.port_words, largest_last(problem))
        ranges[quantities.pack(group.name).name] = Interval(Fraction(1), Fraction(widest))
    return ranges


def largest_last(problem: Problem) -> int:
    """More than any dimension of a data tile can have (words): what an inferred pack may be."""
    return sum(largest_t1(extent) for extent in problem.nest.sizes.values())


def _common(first: Fraction, second: Fraction) -> Fraction:
    """Greatest common divisor of two rationals; the other one if one is 0."""
    bottom = lcm(first.denominator, second.denominator)
    return Fraction(gcd(int(first * bottom), int(second * bottom)), bottom)
