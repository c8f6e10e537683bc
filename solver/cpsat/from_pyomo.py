"""Pyomo models of integer quantities, solved by CP-SAT with a proof under exact arithmetic.

Understood are sums, products, quotients with positive divisors, integer powers, ``ceil``,
``floor``, ``abs``, maxima and minima (`pyomo.core.expr.MaxExpression`, ``MinExpression``) over
variables with finite integer domains; constraints of one or two sides; one objective. A float is
read as the simplest fraction that it is the rounding of, for Pyomo itself turns ``x/3`` into
``0.3333333333333333*x``.

>>> import pyomo.environ as pyo
>>> model = pyo.ConcreteModel()
>>> model.tile = pyo.Var(domain=pyo.PositiveIntegers, bounds=(1, 100))
>>> model.lanes = pyo.Var(domain=pyo.PositiveIntegers, bounds=(1, 32))
>>> model.pack = pyo.Var(domain=pyo.Set(initialize=[1, 2, 4, 8]))
>>> cycles = pyo.ceil(1000 / model.tile) * pyo.ceil(model.tile / model.lanes)
>>> model.ports = pyo.Constraint(expr=model.lanes * model.pack <= 64)
>>> buffer = model.tile * model.lanes + 800 / model.pack
>>> model.goal = pyo.Objective(expr=(cycles + buffer) / (model.pack + model.lanes))
>>> answer = solve_pyomo(model)
>>> answer.value, answer.bound
(Fraction(289, 16), Fraction(289, 16))
>>> model.tile.value, model.lanes.value, model.pack.value
(8, 8, 8)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from operator import neg, truediv
from typing import Any, TypeAlias

from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Symbol,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
)
from ithaca.solver.cpsat.encoding import Encoder
from ithaca.solver.cpsat.linear import NotExpressibleError
from ithaca.solver.cpsat.ratio import RatioBounds, RatioObjective, encode_ratio, minimize_ratio

#: A Pyomo model, variable or expression; Pyomo has no types.
Model: TypeAlias = Any
Variable: TypeAlias = Any

#: Denominators tried for a float.
SIMPLEST = 10**6


def solve_pyomo(model: Model, seconds: float | None = None, threads: int = 1) -> RatioBounds:
    """Solve a Pyomo model, and load its best solution into it.

    Parameters
    ----------
    model : ConcreteModel
        Integer variables with finite domains, constraints, one objective.
    seconds : float, optional
        When to end without a proof.
    threads : int
        Workers of CP-SAT.

    Raises
    ------
    NotExpressibleError
        If a variable is not integer or has no bounds, or an expression has no exact encoding.
    """
    variables, encoder, objective, sense = encode_pyomo(model)
    outcome = minimize_ratio(encoder, objective, seconds, threads)
    for name, number in outcome.quantities.items():
        variables[name].set_value(number)
    value, bound = (
        None if number is None else sense * number for number in (outcome.value, outcome.bound)
    )
    return replace(outcome, value=value, bound=bound)


def encode_pyomo(model: Model) -> tuple[dict[str, Variable], Encoder, RatioObjective, int]:
    """State a Pyomo model to CP-SAT.

    Returned are its free variables by name (the encoder's quantities), the finished encoder, the
    objective to be minimised, and -1 if the model maximises, so that this is its objective times
    -1; else 1.
    """
    import pyomo.environ as pyo

    variables = {v.name: v for v in model.component_data_objects(pyo.Var) if not v.fixed}
    encoder = Encoder.over_domains(
        cp_model.CpModel(), {name: _domain(v) for name, v in variables.items()}
    )
    for constraint in model.component_data_objects(pyo.Constraint, active=True):
        body = read_expression(constraint.body)
        for bound, sign in ((constraint.upper, 1), (constraint.lower, -1)):
            if bound is not None:
                encoder.require_at_most(sign * body, sign * _number(pyo.value(bound)))
    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if len(goals) != 1:
        raise NotExpressibleError(
            f"CP-SAT: the Pyomo model has {len(goals)} active objectives; allowed: one"
        )
    sense = 1 if goals[0].sense == pyo.minimize else -1
    objective = encode_ratio(encoder, sense * read_expression(goals[0].expr))
    encoder.finish()
    return variables, encoder, objective, sense


def read_expression(node: Any) -> Expression:
    """A Pyomo expression, with a symbol for the name of every free variable; refused where CP-SAT
    has no exact encoding."""
    from pyomo.core.expr.numvalue import native_numeric_types
    from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

    def leaf(_: Any, child: Any, __: int) -> tuple[bool, Expression | None]:
        if type(child) in native_numeric_types:
            return False, Constant(_number(child))
        if not child.is_potentially_variable() or child.is_fixed():
            return False, Constant(_number(child()))
        if child.is_variable_type():
            return False, Symbol(child.name)
        return True, None

    descend, value = leaf(None, node, 0)
    if not descend:
        assert value is not None
        return value
    visitor = StreamBasedExpressionVisitor(beforeChild=leaf, exitNode=_operation)
    read: Expression = visitor.walk_expression(node)
    return read


def _operation(node: Any, operands: Sequence[Expression]) -> Expression:
    """The expression that a node of Pyomo makes of its operands."""
    from pyomo.core.expr import numeric_expr

    if node.is_named_expression_type():
        return operands[0]
    made_by: dict[type, Callable[..., Expression]] = {
        numeric_expr.SumExpression: add,
        numeric_expr.ProductExpression: multiply,
        numeric_expr.DivisionExpression: truediv,
        numeric_expr.NegationExpression: neg,
        numeric_expr.MaxExpression: maximum,
        numeric_expr.MinExpression: minimum,
        numeric_expr.AbsExpression: lambda operand: maximum(operand, -operand),
    }
    for kind, make in made_by.items():
        if isinstance(node, kind):
            return make(*operands)
    if isinstance(node, numeric_expr.PowExpression):
        base, exponent = operands
        if isinstance(exponent, Constant) and exponent.value.denominator == 1:
            return power(base, int(exponent.value)) if exponent.value else Constant(Fraction(1))
    elif node.getname() in ("ceil", "floor"):
        sign = 1 if node.getname() == "ceil" else -1
        return sign * ceiling_division(sign * operands[0], 1)
    raise NotExpressibleError(
        f"CP-SAT: cannot express '{node}' of the Pyomo model; allowed: + - * /, "
        "integer powers, ceil, floor, abs, max, min"
    )


def _domain(variable: Variable) -> list[int]:
    """The values a variable may take."""
    low, high = variable.bounds
    if low is None or high is None or not variable.domain.isdiscrete():
        raise NotExpressibleError(
            f"CP-SAT: variable {variable.name} of the Pyomo model ranges over "
            f"{variable.domain} from {low} to {high}; "
            "allowed: integers between finite bounds"
        )
    values = [value for value in range(ceil(low), floor(high) + 1) if value in variable.domain]
    if not values:
        raise NotExpressibleError(
            f"CP-SAT: variable {variable.name} of the Pyomo model has no "
            f"integer between {low} and {high}"
        )
    return values


def _number(value: float) -> Fraction:
    """The simplest fraction that a float is the rounding of."""
    exact = Fraction(int(value)) if int(value) == value else Fraction(float(value))
    simple = exact.limit_denominator(SIMPLEST)
    return simple if float(simple) == value else exact
