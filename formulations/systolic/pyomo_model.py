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

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import asinh, log
from typing import Any, TypeAlias

from ithaca.formulations.algebra.convexity import is_convex_goal, is_convex_limit, is_single_product
from ithaca.formulations.algebra.expression import Expression, Minimum, add, multiply, split_coefficient, summands
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.algebra.polarity import bounds, misplaced, trends
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.workloads.errors import InputError

#: A `pyomo.environ.ConcreteModel`; Pyomo has no types.
Model: TypeAlias = Any

#: Logarithms of everything lie between these; no quantity or metric comes near.
LARGEST_LOGARITHM = 60.0

#: How much of an expression an error message repeats (characters).
SHOWN = 60


def pyomo_numbers(model: Model) -> NumberSystem:
    """The number system that adds what maxima and minima need to a model.

    Parameters
    ----------
    model : ConcreteModel
        Gets a list of variables ``logarithms``, one of constraints ``relations``, and one that says how to compute the value of
        each variable, ``auxiliaries``, unless it has them.
    """
    import pyomo.environ as pyo
    from pyomo.contrib.fbbt.fbbt import compute_bounds_on_expr

    if model.component("logarithms") is None:
        model.logarithms = pyo.VarList()
        model.relations = pyo.ConstraintList()
        model.auxiliaries = []

    def extreme(arguments: tuple[Any, ...], sign: int) -> Any:
        pick = max if sign > 0 else min
        if all(isinstance(a, float) for a in arguments):
            return pick(arguments)
        variable = _new_logarithm(model, lambda: _logarithm(pick(pyo.value(a) for a in arguments)))
        for argument in arguments:
            least, _ = compute_bounds_on_expr(argument)
            if least is not None and least > 0:
                model.relations.add(sign * (pyo.log(argument) - variable) <= 0)
            elif sign > 0:  # what may be 0 has no logarithm
                model.relations.add(argument * pyo.exp(-variable) <= 1)
            else:
                model.relations.add(pyo.exp(variable) - argument <= 0)
        return pyo.exp(variable)

    def ceil_div(a: Any, b: Any) -> Any:
        return extreme((a / b, 1.0), 1)

    return NumberSystem("pyomo", float, ceil_div, lambda *v: extreme(v, 1), lambda *v: extreme(v, -1))


def _new_logarithm(model: Model, value: Callable[[], float]) -> Any:
    variable = model.logarithms.add()
    variable.setlb(-LARGEST_LOGARITHM)
    variable.setub(LARGEST_LOGARITHM)
    variable.set_value(0.0)
    model.auxiliaries.append((variable, value))
    return variable


def _logarithm(value: float) -> float:
    return log(value) if value > 0 else -LARGEST_LOGARITHM


def set_auxiliaries(model: Model) -> None:
    """Give the variables beside the quantities the values that follow from those of the quantities."""
    for variable, value in model.auxiliaries:
        variable.set_value(min(max(value(), -LARGEST_LOGARITHM), LARGEST_LOGARITHM))


def design_model(problem: Problem, ranges: Mapping[str, tuple[float, float]]) -> Model:
    """A design in log space, ceilings relaxed, built from the one cost model.

    What is minimised falls exactly where the objective does: its logarithm; the logarithm of its reciprocal where it is
    always negative; a variable u where it is a difference P - N, with P + exp(-u) ≤ N + exp(u), which is P - N ≤ 2·sinh(u).
    A limit that pushes a maximum up (or a minimum down) would not bind here and is left out.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    ranges : mapping of str to (float, float)
        Smallest and largest value of each quantity ``tiles.x``, ``lanes.x``, ``t2.x`` and ``pack.g``.

    Returns
    -------
    ConcreteModel
        With a variable ``y[name]`` for the logarithm of each quantity, an objective ``goal``, the relaxed objective as an
        expression ``value``, and ``convex``: whether every local optimum is a global one.

    Raises
    ------
    InputError
        If the objective falls with a maximum or a ceiling, grows with a minimum, or may divide by zero.
    """
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.y = pyo.Var(list(ranges), bounds=lambda _, name: tuple(map(log, ranges[name])))
    for name, (low, high) in ranges.items():
        model.y[name].set_value((log(low) + log(high)) / 2)
    values: dict[str, Any] = {name: pyo.exp(model.y[name]) for name in ranges}
    spans = {name: Interval(*ends) for name, ends in ranges.items()}
    for loop in problem.array.band:
        for table in (values, spans):
            table[quantities.t1(loop).name] = table[quantities.lanes(loop).name] * table[quantities.t2(loop).name]
    numbers = pyomo_numbers(model)
    symbolic = problem.symbolic()
    moves = trends(symbolic.objective, spans)
    _refuse_what_is_not_smooth(problem, misplaced(moves))
    model.convex = is_convex_goal(symbolic.objective)
    for expression, bound in symbolic.constraints:
        if misplaced(trends(expression, spans)):
            continue
        _add_limit(model, expression, bound, values, spans)
        model.convex &= is_convex_limit(expression, bound)
    for loop in problem.array.band:
        tiles, lanes, t2 = (model.y[q(loop).name] for q in (quantities.tiles, quantities.lanes, quantities.t2))
        extent = problem.nest.sizes[loop]
        if problem.space.divisors_only:
            model.relations.add(tiles + lanes + t2 == log(extent))
            continue
        model.relations.add(tiles + lanes + t2 >= log(extent))
        if moves.get(quantities.tiles(loop), 1) != 1:
            # ceil(extent/t1) ≤ (extent + t1 - 1)/t1 binds where more tiles would be better
            model.relations.add(tiles + lanes + t2 <= pyo.log(extent - 1 + pyo.exp(lanes + t2)))
            model.convex &= extent == 1
    extents = {quantities.extent(x).name: n for x, n in problem.nest.sizes.items()}
    for group in problem.array.packed_groups:
        last = group.packing.last.substitute(extents)
        model.relations.add(model.y[quantities.pack(group.name).name] <= pyo.log(last.evaluate(values, numbers)))
        model.convex &= is_single_product(last)
    _set_goal(model, problem, symbolic.objective, values, spans)
    return model


def _refuse_what_is_not_smooth(problem: Problem, found: tuple[Expression, ...]) -> None:
    if found:
        shown = str(found[0])
        shown = shown if len(shown) < SHOWN else shown[: SHOWN - 3] + "…"
        how = f"grow with '{shown}'" if isinstance(found[0], Minimum) else f"fall as '{shown}' grows"
        raise InputError(
            f"objective '{problem.objective.text}' has no smooth program: it may {how}; allowed: objectives that grow with "
            "every maximum and ceiling in their metrics and fall with every minimum, such as latency, -comp or comm - comp"
        )


def _sides(expression: Expression, spans: Mapping[str, Interval]) -> tuple[Expression, Expression, bool]:
    """Positive terms of a sum, the negative ones with their sign changed, and whether neither part is ever negative."""
    terms = summands(expression)
    gains = add(*(t for t in terms if split_coefficient(t)[0] >= 0))
    losses = multiply(-1, add(*(t for t in terms if split_coefficient(t)[0] < 0)))
    found = [bounds(side, spans) for side in (gains, losses)]
    return gains, losses, all(side is not None and side.low >= 0 for side in found)


def _add_limit(
    model: Model, expression: Expression, bound: Fraction, values: Mapping[str, Any], spans: Mapping[str, Interval]
) -> None:
    """``expression ≤ bound``, in logarithms where what stands on either side is positive."""
    import pyomo.environ as pyo

    numbers = pyomo_numbers(model)
    gains, losses, signs_known = _sides(add(expression, -bound), spans)
    below, above = bounds(gains, spans), bounds(losses, spans)
    if signs_known and below is not None and above is not None and below.low > 0 and above.low > 0:
        model.relations.add(pyo.log(gains.evaluate(values, numbers)) <= pyo.log(losses.evaluate(values, numbers)))
    else:
        scale = float(1 / abs(bound)) if bound else 1.0
        model.relations.add(expression.evaluate(values, numbers) * scale <= float(bound) * scale)


def _set_goal(
    model: Model, problem: Problem, objective: Expression, values: Mapping[str, Any], spans: Mapping[str, Interval]
) -> None:
    """What is minimised: something smooth that falls exactly where the objective does, and is of the size of a logarithm."""
    import pyomo.environ as pyo

    numbers = pyomo_numbers(model)
    span = bounds(objective, spans)
    if span is None:
        raise InputError(f"objective '{problem.objective.text}' may divide by 0; allowed: divisors that are always positive")
    gains, losses, signs_known = _sides(objective, spans)
    if span.low <= 0 <= span.high and signs_known:
        more, less = gains.evaluate(values, numbers), losses.evaluate(values, numbers)
        model.value = pyo.Expression(expr=more - less)
        u = _new_logarithm(model, lambda: asinh(pyo.value(model.value) / 2))
        model.relations.add(pyo.log(more + pyo.exp(-u)) <= pyo.log(less + pyo.exp(u)))
        model.goal = pyo.Objective(expr=u)
        return
    model.value = pyo.Expression(expr=objective.evaluate(values, numbers))
    if span.low > 0:
        goal = pyo.log(model.value)
    elif span.high < 0:
        goal = -pyo.log(-model.value)
    else:
        # no certain sign, no difference of positive parts: twice the least value keeps clear of where there is no logarithm
        goal = pyo.log(model.value - 2 * float(span.low) + 1)
    model.goal = pyo.Objective(expr=goal)
