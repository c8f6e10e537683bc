"""The hardware that limits leave room for, before any row is made."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.algebra.expression import Constant, Symbol, as_expression, minimum
from ithaca.formulations.algebra.monotonicity import never_falls
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Axis, Link, QuantityKind, Relation, Role


def needed_axes(problem: Problem, axes: Sequence[Axis], value: Fraction) -> tuple[Axis, ...]:
    """Axes of a problem without values of hardware with which its objective is more than a value.

    Parameters
    ----------
    problem : Problem
        The problem.
    axes : sequence of Axis
        The axes.
    value : Fraction
        The value.
    """
    objective = problem.objective.expression
    least = problem.design.needed(objective.name, value) if isinstance(objective, Symbol) else {}

    def bounded(axis: Axis) -> Axis:
        # of more than there may be nothing follows for the values that there are
        own = {
            q.name: needed
            for q in axis.quantities
            if (needed := least.get(q.name, 0)) > q.low
            and not (isinstance(q.high, int) and needed > q.high)
        }
        changed = (replace(q, low=own.get(q.name, q.low)) for q in axis.quantities)
        # a power of two that is a multiple of another: so is what it divides
        links = [
            Link(Constant(Fraction(own[str(link.left)])), Relation.DIVIDES, link.right)
            for link in axis.links
            if link.relation is Relation.DIVIDES
            and str(link.left) in axis.powers.keys() & own.keys()
        ]
        return replace(axis, quantities=tuple(changed), links=(*axis.links, *links))

    return tuple(bounded(axis) for axis in axes)


def affordable_axes(problem: Problem) -> tuple[Axis, ...]:
    """The axes of a problem without values of hardware that exceed a limit whatever the rest is.

    Looked at are limits that speak of hardware alone and only rise with it, as DSP blocks do.
    """
    space, most = problem.space, dict[str, int]()
    low = {name: Fraction(least) for name, (least, _) in space.ranges.items()}
    free = {
        quantity.name
        for quantity in space.quantities.values()
        if quantity.role is Role.HARDWARE
        and quantity.kind is QuantityKind.INTEGER
        and not quantity.values
    }
    roles = {quantity.name: quantity.role for quantity in space.quantities.values()}
    for expression, bound in problem.symbolic().constraints:
        names = expression.symbols
        hardware = all(roles[name] is Role.HARDWARE for name in names)
        if not (hardware and never_falls(expression, names)):
            continue
        for name in names & free:
            values = range(space.ranges[name][0], most.get(name, space.ranges[name][1]) + 1)
            if not values:  # rules leave none
                continue
            fitting = bisect_right(
                values,
                bound,
                key=lambda value: expression.evaluate({**low, name: Fraction(value)}, FRACTION),
            )
            most[name] = values[max(fitting - 1, 0)]
    return tuple(
        replace(
            axis,
            quantities=tuple(
                replace(q, high=minimum(as_expression(q.high), most[q.name]))
                if q.name in most
                else q
                for q in axis.quantities
            ),
        )
        for axis in space.axes
    )
