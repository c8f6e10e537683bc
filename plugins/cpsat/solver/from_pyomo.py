"""Pyomo models of integer quantities, solved by CP-SAT with a proof under exact arithmetic.

Understood are sums, products, quotients with positive divisors, integer powers, ``ceil``,
``floor``, ``abs``, maxima and minima (`pyomo.core.expr.MaxExpression`, ``MinExpression``) over
variables with finite integer domains; constraints of one or two sides; one objective; blocks of
these; Boolean variables, logical constraints, disjunctions and SOS1. A model with any other active
component, such as a complementarity, is refused: what is not read would be missing in the proof. A
float is read as the simplest fraction that it is the rounding of, for Pyomo itself turns ``x/3``
into ``0.3333333333333333*x``.

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
from math import ceil, floor, isfinite
from operator import attrgetter, neg, truediv
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
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.plugins.cpsat.solver.disjunctions import (
    active_disjuncts,
    disjunctions,
    relaxed_unless,
    without_logic,
)
from ithaca.plugins.cpsat.solver.encoding import Encoder, brief
from ithaca.plugins.cpsat.solver.ratio import (
    RatioBounds,
    RatioObjective,
    encode_ratio,
    minimize_ratio,
)
from ithaca.solver.engines import NotExpressibleError

#: A Pyomo model, variable or expression; Pyomo has no types.
Model: TypeAlias = Any
Variable: TypeAlias = Any

#: Denominators tried for a float.
SIMPLEST = 10**6

#: Kinds of components that are read, or say nothing about solutions.
READ = frozenset(
    {
        *("Var", "Constraint", "Objective", "Expression", "Block"),
        *("Param", "Set", "RangeSet", "SetOf", "Suffix", "BuildAction", "BuildCheck"),
        *("Disjunct", "Disjunction", "BooleanVar"),  # by their binary variables
    }
)


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
        If a variable is not integer or has no bounds, an expression has no exact encoding, or the
        model has an active component of a kind that is not read.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> model = pyo.ConcreteModel()
    >>> model.n = pyo.Var(domain=pyo.Integers, bounds=(1, 9))
    >>> model.cost = pyo.Objective(expr=model.n + 12 / model.n)
    >>> ithaca.solve_pyomo(model).value
    Fraction(7, 1)
    """
    check_model(model)
    plain = without_logic(model)
    variables, encoder, objective, sense = encode_pyomo(plain)
    outcome = minimize_ratio(encoder, objective, seconds, threads)
    for name, number in outcome.quantities.items():
        variables[name].set_value(number)
    if plain is not model and outcome.value is not None:
        _load(model, plain)
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

    check_model(model)
    disjuncts = active_disjuncts(model)
    parts = [model, *disjuncts]
    for part in parts:
        _check_components(part)
    every = (v for part in parts for v in part.component_data_objects(pyo.Var))
    variables = {v.name: v for v in every if not v.fixed}
    domains = {name: _domain(variable) for name, variable in variables.items()}
    ranges = {n: Interval(Fraction(v[0]), Fraction(v[-1])) for n, v in domains.items()}
    encoder = Encoder.over_domains(cp_model.CpModel(), domains)
    reader = _Reader(frozenset(map(id, variables.values())))
    _require(model, reader, encoder.require_at_most)
    for disjunct in disjuncts:
        chosen = reader.expression(disjunct.binary_indicator_var)
        _require(disjunct, reader, relaxed_unless(encoder.require_at_most, chosen, ranges))
    for indicators, exactly in disjunctions(model):
        total = reader.expression(indicators)
        encoder.require_at_most(-total, Fraction(0))
        if exactly:
            encoder.require_at_most(total, Fraction(0))
    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if len(goals) != 1:
        raise NotExpressibleError(
            f"CP-SAT: the Pyomo model has {len(goals)} active objectives; allowed: one"
        )
    sense = 1 if goals[0].sense == pyo.minimize else -1
    objective = encode_ratio(encoder, sense * reader.expression(goals[0].expr))
    for divisor in dict.fromkeys(reader.divisors):
        span = bounds(divisor, ranges)
        if span is None or span.low <= 0 <= span.high:
            encoder.check_divisor(divisor)
    encoder.finish()
    return variables, encoder, objective, sense


def _require(
    block: Model, reader: _Reader, require: Callable[[Expression, Fraction], None]
) -> None:
    """Require the active constraints of a block."""
    import pyomo.environ as pyo

    for constraint in block.component_data_objects(pyo.Constraint, active=True):
        body = reader.expression(constraint.body)
        for side, sign in (("ub", 1), ("lb", -1)):
            bound = _evaluated(constraint, attrgetter(side))
            if bound is not None:
                require(sign * body, sign * _number(bound))


def _load(model: Model, plain: Model) -> None:
    """Give the variables of a model the values of those of its copy."""
    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct

    kinds, within = (pyo.Var, pyo.BooleanVar), (pyo.Block, Disjunct)
    for variable in model.component_data_objects(kinds, descend_into=within):
        twin = pyo.ComponentUID(variable, context=model).find_component_on(plain)
        if variable.ctype is pyo.BooleanVar:
            twin = twin.get_associated_binary()
        if not variable.fixed and twin is not None and twin.value is not None:
            value = twin.value
            variable.set_value(bool(value) if variable.ctype is pyo.BooleanVar else value)


def check_model(model: Model) -> None:
    """Refuse what is no model, or has no data."""
    from pyomo.core.base.block import BlockData

    if not isinstance(model, BlockData) or (hasattr(model, "is_indexed") and model.is_indexed()):
        raise NotExpressibleError(
            f"CP-SAT: a {type(model).__name__} is no Pyomo model; allowed: a ConcreteModel, or one "
            "block of it"
        )
    if not model.is_constructed():
        raise NotExpressibleError(
            f"CP-SAT: the Pyomo model {model.name} has no data yet; allowed: a ConcreteModel, or "
            "what create_instance() returns"
        )


def _check_components(model: Model) -> None:
    """Refuse every active component that is not read."""
    for component in model.component_objects(active=True):
        kind = component.ctype.__name__
        if kind not in READ and (
            not component.is_indexed() or any(data.active for data in component.values())
        ):
            raise NotExpressibleError(
                f"CP-SAT: {component.name} of the Pyomo model is of type {kind}, which is not "
                "read; allowed: variables, constraints, one objective, expressions, parameters, "
                "sets, and blocks of these"
            )


class _Reader:
    """Reads expressions over some variables (by identity; None: any), and keeps what they divide
    by."""

    def __init__(self, known: frozenset[int] | None) -> None:
        self.divisors: list[Expression] = []
        self._known = known

    def expression(self, node: Any) -> Expression:
        """An expression with a symbol for the name of every free variable."""
        from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

        descend, value = self._leaf(None, node, 0)
        if not descend:
            assert value is not None
            return value
        visitor = StreamBasedExpressionVisitor(beforeChild=self._leaf, exitNode=self._operation)
        read: Expression = visitor.walk_expression(node)
        return read

    def _leaf(self, _: Any, child: Any, __: int) -> tuple[bool, Expression | None]:
        from pyomo.core.expr.numvalue import native_numeric_types, value

        if type(child) in native_numeric_types:
            return False, Constant(_number(child))
        if not hasattr(child, "is_potentially_variable"):
            raise _unreadable(child)
        fixed = child.is_fixed()
        if fixed and child.is_expression_type() and value(child, exception=False) is None:
            return True, None  # 0 times a variable without a value
        if not child.is_potentially_variable() or fixed:
            return False, Constant(_number(_evaluated(child, value)))
        if child.is_variable_type():
            if self._known is not None and id(child) not in self._known:
                raise NotExpressibleError(
                    f"CP-SAT: variable {child.name} is in no block of the Pyomo model that is "
                    "read; allowed: its own variables, and fixed ones"
                )
            return False, Symbol(child.name)
        return True, None

    def _operation(self, node: Any, operands: Sequence[Expression]) -> Expression:
        from pyomo.core.expr import numeric_expr

        if isinstance(node, numeric_expr.DivisionExpression):
            self.divisors.append(operands[1])
        elif isinstance(node, numeric_expr.PowExpression):
            exponent = operands[1]
            if isinstance(exponent, Constant) and exponent.value < 0:
                self.divisors.append(operands[0])
        try:
            return _operation(node, operands)
        except ZeroDivisionError:
            raise NotExpressibleError(
                f"CP-SAT: '{brief(node)}' of the Pyomo model divides by 0; allowed: positive "
                "divisors"
            ) from None


def _evaluated(node: Any, evaluate: Callable[[Any], Any]) -> Any:
    """Pyomo's value of a node, refused in one line where it has no number."""
    try:
        value = evaluate(node)
        if value is not None and not isfinite(value):
            raise ValueError(value)
    except (ValueError, TypeError, ArithmeticError) as error:
        why = " ".join(str(error).split())
        raise NotExpressibleError(
            f"CP-SAT: {brief(node)} of the Pyomo model has no number ({why}); allowed: "
            "finite numbers"
        ) from None
    return value


def _unreadable(node: Any) -> NotExpressibleError:
    return NotExpressibleError(
        f"CP-SAT: cannot express '{brief(node)}' of the Pyomo model; allowed: + - * /, "
        "integer powers, ceil, floor, abs, max, min"
    )


def _operation(node: Any, operands: Sequence[Expression]) -> Expression:
    """The expression that a node of Pyomo makes of its operands."""
    from pyomo.core.base.expression import NamedExpressionData
    from pyomo.core.expr import numeric_expr

    if not isinstance(node, numeric_expr.NumericExpression | NamedExpressionData):
        raise _unreadable(node)
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
    raise _unreadable(node)


def _domain(variable: Variable) -> list[int]:
    """The values a variable may take."""
    low, high = (_evaluated(variable, attrgetter(end)) for end in ("lb", "ub"))
    if low is None or high is None or not _is_whole(variable.domain, low, high):
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


def _is_whole(domain: Any, low: float, high: float) -> bool:
    """Whether a domain has whole numbers alone between two ends."""
    if not domain.isdiscrete():
        return False
    if domain.isfinite():
        return all(v == int(v) for v in domain if low <= v <= high)
    start, _, step = domain.get_interval()
    return step is not None and step == int(step) and (start is None or start == int(start))


def _number(value: float) -> Fraction:
    """The simplest fraction that a float is the rounding of."""
    exact = Fraction(int(value)) if int(value) == value else Fraction(float(value))
    simple = exact.limit_denominator(SIMPLEST)
    return simple if float(simple) == value else exact
