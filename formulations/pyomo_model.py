"""Pyomo expressions as a number system, and a design as a Pyomo model.

Numbers are Pyomo expressions over positive quantities, each the exponential of a variable: in those
logarithms posynomials are convex. The operations that differ are relaxed so that the model stays
smooth:

- ``ceil(a/b)`` becomes ``max(1, a/b)`` (quantities are positive);
- a maximum becomes a variable that is at least each argument. That is exact where the model pushes
  it down: minimised, limited from above, or divided into what is maximised;
- a minimum becomes a variable that is at most each argument, exact where the model pushes it up,
  such as in a divisor.

Pyomo is an optional dependency and imported only when a model is built.

A design's nonlinear program is convex in the logarithms of its quantities if everything in it is
posynomial: the one cost model is evaluated in the number system of posynomials, where a maximum is
a quantity of its own. What is refused there (subtraction, division by a sum) is not convex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import count
from math import asinh, log
from typing import Any, TypeAlias

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    ZERO,
    Expression,
    Minimum,
    Product,
    Symbol,
    multiply,
    power,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds, misplaced, trends
from ithaca.formulations.algebra.number_systems import INTERVAL, NumberSystem
from ithaca.formulations.algebra.posynomial import NotPosynomialError, Posynomial
from ithaca.formulations.algebra.sums import gains_and_losses
from ithaca.formulations.continuous_rules import continuous_rules, definitions, products
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Relation


def posynomial_numbers() -> NumberSystem:
    """The number system of posynomials; what is none raises `NotPosynomialError`."""
    names = count()

    def maximum(*arguments: Posynomial) -> Posynomial:
        return Posynomial.quantity(f"max.{next(names)}")

    def minimum(*arguments: Posynomial) -> Posynomial:
        for argument in arguments:
            # m ≤ a is m/a ≤ 1, which is posynomial where a can be divided by
            argument**-1
        return Posynomial.quantity(f"min.{next(names)}")

    def ceil_div(a: Posynomial, b: Posynomial) -> Posynomial:
        return maximum(a * b**-1, Posynomial.constant(1))

    return NumberSystem("posynomial", Posynomial.constant, ceil_div, maximum, minimum)


def is_posynomial(expression: Expression) -> bool:
    """Whether an expression is posynomial once its maxima are quantities of their own."""
    # a quantity that is the product of others is a single term, too
    values = {name: Posynomial.quantity(name) for name in expression.symbols}
    try:
        expression.evaluate(values, posynomial_numbers())
    except NotPosynomialError:
        return False
    return True


def is_convex_goal(objective: Expression) -> bool:
    """Whether minimising is convex: a posynomial, or minus one over such an expression."""
    return is_posynomial(objective) or is_posynomial(power(multiply(-1, objective), -1))


def is_convex_limit(expression: Expression, bound: Fraction) -> bool:
    """Whether ``expression ≤ bound`` holds on a convex set, its losses moved to the right.

    There it must be a single product, by which the rest can be divided.
    """
    kept, moved = gains_and_losses(expression - bound)
    if moved == ZERO:
        return is_posynomial(kept)
    return is_posynomial(multiply(kept, power(moved, -1))) and is_posynomial(power(moved, -1))


#: A `pyomo.environ.ConcreteModel`; Pyomo has no types.
Model: TypeAlias = Any

#: Logarithms of everything lie between these; no quantity or metric comes near.
LARGEST_LOGARITHM = 60.0

#: How much of an expression an error message repeats (characters).
SHOWN = 60


def pyomo_numbers(model: Model) -> NumberSystem:
    """The number system that adds what maxima and minima need to a model.

    The model gets a list of variables ``logarithms``, one of constraints ``relations``, and one
    that says how to compute the value of each variable, ``auxiliaries``, unless it has them.
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

    return NumberSystem(
        "pyomo", float, ceil_div, lambda *v: extreme(v, 1), lambda *v: extreme(v, -1)
    )


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
    """Give the variables beside the quantities the values that follow from those of the
    quantities."""
    for variable, value in model.auxiliaries:
        variable.set_value(min(max(value(), -LARGEST_LOGARITHM), LARGEST_LOGARITHM))


def design_model(problem: Problem, ranges: Mapping[str, tuple[float, float]]) -> Model:
    """A design in log space, ceilings relaxed, built from the one cost model.

    What is minimised falls exactly where the objective does: its logarithm; the logarithm of its
    reciprocal where it is always negative; a variable u where it is a difference P - N, with P +
    exp(-u) ≤ N + exp(u), which is P - N ≤ 2·sinh(u). A limit that pushes a maximum up (or a minimum
    down) would not bind here and is left out.

    ``ranges`` are the smallest and largest value of each quantity that is no product of others; the
    model has a variable ``y[name]`` for the logarithm of each, an objective ``goal``, the relaxed
    objective as an expression ``value``, and ``convex``: whether every local optimum is a global
    one. Raises `InputError` if the objective falls with a maximum or a ceiling, grows with a
    minimum, or may divide by zero.
    """
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.y = pyo.Var(list(ranges), bounds=lambda _, name: tuple(map(log, ranges[name])))
    for name, (low, high) in ranges.items():
        model.y[name].set_value((log(low) + log(high)) / 2)
    point = _Point(
        model, {name: Interval(*ends) for name, ends in ranges.items()}, products(problem.space)
    )
    symbolic = problem.symbolic()
    moves = trends(symbolic.objective, point.spans)
    _refuse_what_is_not_smooth(problem, misplaced(moves))
    model.convex = is_convex_goal(symbolic.objective)
    for expression, bound in symbolic.constraints:
        if not misplaced(trends(expression, point.spans)):
            _add_limit(point, expression, bound)
            model.convex &= is_convex_limit(expression, bound)
    defined = definitions(problem.space)
    for rule in continuous_rules(problem.space, point.spans):
        difference, equal = rule.left - rule.right, rule.relation is Relation.EQUAL
        convex = is_convex_limit(difference, Fraction(0)) and (
            not equal or is_convex_limit(-difference, Fraction(0))
        )
        # where more of what is defined is worse, nothing has to keep it down
        idle = not convex and str(rule.left) in defined and moves.get(rule.left, 1) == 1
        if not idle and not misplaced(trends(difference, point.spans)):
            _add_limit(point, difference, Fraction(0), equal=equal)
            model.convex &= convex
    _set_goal(point, problem, symbolic.objective)
    return model


class _Point:
    """The quantities of a model with a variable ``y[name]`` for the logarithm of each: their
    logarithms, values and spans.

    ``known`` are further quantities, as products of these.
    """

    def __init__(
        self, model: Model, spans: Mapping[str, Interval], known: Mapping[str, Expression]
    ) -> None:
        import pyomo.environ as pyo

        self.model = model
        self.numbers = pyomo_numbers(model)
        self.spans = {
            **spans,
            **{name: product.evaluate(spans, INTERVAL) for name, product in known.items()},
        }
        self.logarithms = {name: model.y[name] for name in spans}
        self.logarithms |= {name: self.logarithm(product) for name, product in known.items()}
        self.values = {name: pyo.exp(logarithm) for name, logarithm in self.logarithms.items()}

    def value(self, node: Expression) -> Any:
        """An expression in Pyomo."""
        return node.evaluate(self.values, self.numbers)

    def logarithm(self, node: Expression) -> Any:
        """The logarithm of a positive expression: affine for a product of quantities."""
        import pyomo.environ as pyo

        if isinstance(node, Symbol):
            return self.logarithms[node.name]
        if isinstance(node, Product) and all(self.is_positive(base) for base, _ in node.factors):
            return sum(
                (e * self.logarithm(base) for base, e in node.factors), start=log(node.coefficient)
            )
        return pyo.log(self.value(node))

    def is_positive(self, node: Expression) -> bool:
        """Whether an expression is known to be positive."""
        span = bounds(node, self.spans)
        return span is not None and span.low > 0


def _refuse_what_is_not_smooth(problem: Problem, nodes: tuple[Expression, ...]) -> None:
    if nodes:
        text = str(nodes[0])
        text = text if len(text) < SHOWN else text[: SHOWN - 3] + "…"
        how = f"grow with '{text}'" if isinstance(nodes[0], Minimum) else f"fall as '{text}' grows"
        raise InputError(
            f"objective '{problem.objective.text}' has no smooth program: it may "
            f"{how}; allowed: objectives that grow with "
            "every maximum and ceiling in their metrics and fall with every minimum, "
            "such as latency, -comp or comm - comp"
        )


def _add_limit(
    point: _Point, expression: Expression, bound: Fraction, *, equal: bool = False
) -> None:
    """``expression ≤ bound``, or both equal; in logarithms where what stands on either side is
    positive."""
    gains, losses = gains_and_losses(expression - bound)
    if point.is_positive(gains) and point.is_positive(losses):
        left, right = point.logarithm(gains), point.logarithm(losses)
    else:
        scale = float(1 / abs(bound)) if bound else 1.0
        left, right = point.value(expression) * scale, float(bound) * scale
    relation = left == right if equal else left <= right
    if relation is not True:  # nothing is left to choose in it
        point.model.relations.add(relation)


def _set_goal(point: _Point, problem: Problem, objective: Expression) -> None:
    """Set the goal: something smooth that falls exactly where the objective does, and is of the
    size of a logarithm."""
    import pyomo.environ as pyo

    model, span = point.model, bounds(objective, point.spans)
    if span is None:
        raise InputError(
            f"objective '{problem.objective.text}' may divide by 0; allowed: "
            "divisors that are always positive"
        )
    gains, losses = gains_and_losses(objective)
    sides = [bounds(side, point.spans) for side in (gains, losses)]
    signs_known = all(side is not None and side.low >= 0 for side in sides)
    if span.low <= 0 <= span.high and signs_known:
        more, less = point.value(gains), point.value(losses)
        model.value = pyo.Expression(expr=more - less)
        u = _new_logarithm(model, lambda: asinh(pyo.value(model.value) / 2))
        model.relations.add(pyo.log(more + pyo.exp(-u)) <= pyo.log(less + pyo.exp(u)))
        model.goal = pyo.Objective(expr=u)
        return
    model.value = pyo.Expression(expr=point.value(objective))
    if span.low > 0:
        goal = pyo.log(model.value)
    elif span.high < 0:
        goal = -pyo.log(-model.value)
    else:
        # no certain sign, no difference of positive parts: twice the least value keeps clear of
        # where there is no logarithm
        goal = pyo.log(model.value - 2 * float(span.low) + 1)
    model.goal = pyo.Objective(expr=goal)
