"""Pyomo expressions as a number system, and a design as a Pyomo model.

Numbers are Pyomo expressions over positive quantities, each the exponential of a variable: in those
logarithms posynomials are convex. The operations that differ are relaxed so that the model stays smooth:

- ``ceil(a/b)`` becomes ``max(1, a/b)`` (quantities are positive);
- a maximum becomes a variable that is at least each argument. That is exact where the model pushes it down:
  minimised, limited from above, or divided into what is maximised;
- a minimum becomes a variable that is at most each argument, exact where the model pushes it up, such as in a divisor.

Pyomo is an optional dependency and imported only when a model is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from ithaca.formulations import quantities
from ithaca.formulations.number_systems import NumberSystem
from ithaca.formulations.problem import Problem

#: A `pyomo.environ.ConcreteModel`; Pyomo has no types.
Model: TypeAlias = Any

#: Logarithms of everything lie between these; no quantity or metric comes near.
LARGEST_LOGARITHM = 60.0


def pyomo_numbers(model: Model) -> NumberSystem:
    """The number system that adds what maxima and minima need to a model.

    Parameters
    ----------
    model : ConcreteModel
        Gets a list of variables ``logarithms`` and one of constraints ``relations``, unless it has them.
    """
    import pyomo.environ as pyo

    if model.component("logarithms") is None:
        model.logarithms = pyo.VarList()
        model.relations = pyo.ConstraintList()

    def extreme(arguments: tuple[Any, ...], sign: int) -> Any:
        if all(isinstance(a, float) for a in arguments):
            return max(arguments) if sign > 0 else min(arguments)
        variable = model.logarithms.add()
        variable.setlb(-LARGEST_LOGARITHM)
        variable.setub(LARGEST_LOGARITHM)
        variable.set_value(0.0)
        for argument in arguments:
            model.relations.add(sign * (pyo.log(argument) - variable) <= 0)
        return pyo.exp(variable)

    def ceil_div(a: Any, b: Any) -> Any:
        return extreme((a / b, 1.0), 1)

    return NumberSystem("pyomo", float, ceil_div, lambda *v: extreme(v, 1), lambda *v: extreme(v, -1))


def design_model(problem: Problem, ranges: Mapping[str, tuple[float, float]]) -> Model:
    """A design in log space, ceilings relaxed, built from the one cost model.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective. The objective must be positive: its logarithm is minimised.
    ranges : mapping of str to (float, float)
        Smallest and largest value of each quantity ``tiles.x``, ``lanes.x``, ``t2.x`` and ``pack.g``.

    Returns
    -------
    ConcreteModel
        With a variable ``y[name]`` for the logarithm of each quantity, and an objective ``goal``.
    """
    from math import log

    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.y = pyo.Var(list(ranges), bounds=lambda _, name: tuple(map(log, ranges[name])))
    for name, (low, high) in ranges.items():
        model.y[name].set_value((log(low) + log(high)) / 2)
    values: dict[str, Any] = {name: pyo.exp(model.y[name]) for name in ranges}
    for loop in problem.array.band:
        values[quantities.t1(loop).name] = values[quantities.lanes(loop).name] * values[quantities.t2(loop).name]
    numbers = pyomo_numbers(model)
    symbolic = problem.symbolic()
    for expression, bound in symbolic.constraints:
        scale = 1 / abs(bound) if bound else Fraction(1)
        model.relations.add(expression.evaluate(values, numbers) * float(scale) <= float(bound * scale))
    for loop in problem.array.band:
        covered = sum(model.y[q(loop).name] for q in (quantities.tiles, quantities.lanes, quantities.t2))
        model.relations.add(covered >= log(problem.nest.sizes[loop]))
    extents = {quantities.extent(x).name: float(n) for x, n in problem.nest.sizes.items()}
    for group in problem.array.packed_groups:
        last = group.packing.last.evaluate({**values, **extents}, numbers)
        model.relations.add(model.y[quantities.pack(group.name).name] <= pyo.log(last))
    model.goal = pyo.Objective(expr=pyo.log(symbolic.objective.evaluate(values, numbers)))
    return model
