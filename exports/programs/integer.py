"""A design as an integer program in Pyomo, exact: a feasible point is a legal configuration, and
every named expression has the value of the one cost model there.

A quantity ``kind.owner`` is the variable ``model.kind["owner"]``: tile factors ``t1`` and ``t2``,
``lanes``, trips ``tiles``, and ``pack``. Metrics are expressions (``model.latency``), limits the
constraints ``model.limit``, rules of the space ``model.rule``. What has no formula of a polynomial
gets variables and constraints of its own: ceilings, maxima, minima, divisors, and where a program
is to be linear, products, by the bits of one of their factors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Any

from ithaca.exports.programs.pieces import number, set_field, sides, spans_of
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    Symbols,
    multiply,
    power,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.problem import Problem
from ithaca.formulations.pyomo_model import Model
from ithaca.formulations.space import Link, Quantity, QuantityKind, Relation
from ithaca.solver.tables.granularity import common_step, granularity

#: How far below a whole number a quotient may end, where nothing says in which steps it moves.
SLACK = Fraction(1, 10**6)

#: How much of a quotient floats may have wrong.
TINY = 1e-9

#: The most bits of a factor of a product in linear programs.
MOST_BITS = 30


def integer_model(
    problem: Problem, *, linear: bool = False, metrics: Iterable[str] | None = None
) -> Model:
    """A problem as a Pyomo model of integer variables.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    linear : bool, optional
        Whether products are stated linearly, so that MILP solvers take it.
    metrics : iterable of str, optional
        Metrics to name, and parts of them; by default all metrics, and all parts that limits
        speak of.

    Returns
    -------
    ConcreteModel
        The model; ``model.problem`` is the problem.

    Raises
    ------
    InputError
        If a product has no linear form, or a divisor may be 0.
    """
    every = (*problem.design.vocabulary, *sorted(problem.beside - problem.space.quantities.keys()))
    return _Builder(problem, linear).build(every if metrics is None else metrics)


def set_configuration(model: Model, configuration: Mapping[str, int]) -> None:
    """Give all variables of an integer model the values that a configuration has there."""
    for name, value in configuration.items():
        family, _, owner = name.partition(".")
        component = model.component(family)
        (component[owner] if component.is_indexed() else component).set_value(value)
    for variable, value in model.auxiliaries:
        number = value()
        variable.set_value(round(number) if variable.is_integer() else number)


class _Builder:
    """A model that grows; expressions that are equal are stated once."""

    def __init__(self, problem: Problem, linear: bool) -> None:
        import pyomo.environ as pyo

        self.pyo, self.problem, self.linear = pyo, problem, linear
        self.model = pyo.ConcreteModel(name=problem.design.name)
        self.known: dict[Expression, Any] = {}
        self.bits: dict[Expression, list[tuple[Any, Any]]] = {}
        self.spans = spans_of(problem)
        self.counts: dict[str, int] = defaultdict(int)

    def build(self, metrics: Iterable[str]) -> Model:
        problem, model, pyo = self.problem, self.model, self.pyo
        model.problem, model.auxiliaries = problem, []
        quantities = problem.space.quantities
        self._named(pyo.Var, {name: self._domain(q) for name, q in quantities.items()})
        model.rule = pyo.ConstraintList(doc="rules of the space, and of auxiliary variables")
        for name, quantity in quantities.items():
            self.known[quantity.symbol] = self._component(name)
            self._choose(quantity)
        links = [link for axis in problem.space.axes for link in axis.links]
        for link in (*links, *problem.space.links):
            self._link(link)
        for quantity in quantities.values():
            if isinstance(quantity.high, Expression):
                self.model.rule.add(self.known[quantity.symbol] <= self.value(quantity.high))
        symbolic = problem.symbolic()
        names = dict.fromkeys(metrics)
        forms = problem.design.lookup(Symbols(), SYMBOLIC, names)
        self._named(pyo.Expression, {name: {"expr": self.value(forms[name])} for name in names})
        model.limit = pyo.Constraint(pyo.Any, doc="limits, and requirements")
        for limit in problem.open_limits:
            form = next(iter(self._forms(limit.expression)))
            for place, (left, right) in enumerate(sides(form, limit.bound, self.spans)):
                key = limit.metric if not place else (limit.metric, place)
                self._add(model.limit, key, left, right)
        model.condition = pyo.Constraint(pyo.Any, doc="conditions of the design")
        for place, (used, bound) in enumerate(symbolic.conditions):
            self._add(model.condition, place, used, Constant(bound))
        model.objective = pyo.Objective(expr=self.value(symbolic.objective))
        return model

    def _forms(self, expression: Expression) -> Iterable[Expression]:
        forms = self.problem.design.lookup(Symbols(), SYMBOLIC, expression.symbols)
        yield expression.substitute(forms)

    def _add(self, constraint: Any, key: Any, left: Expression, right: Expression) -> None:
        relation = self.value(left) <= self.value(right)
        if relation is not True and relation is not False:
            constraint.add(key, relation)
        elif not relation:
            constraint.add(key, self.pyo.Constraint.Infeasible)

    # -- names -------------------------------------------------------------------------

    def _named(self, kind: Any, each: Mapping[str, Mapping[str, Any]]) -> None:
        """Components by their names: those of one kind are one, indexed by owner."""
        owners: dict[str, list[str]] = defaultdict(list)
        for name in each:
            owners[name.partition(".")[0]].append(name.partition(".")[2])
        for family, members in owners.items():
            if members == [""]:
                self.model.add_component(family, kind(**each[family]))
                continue
            component = kind(members)
            self.model.add_component(family, component)
            for owner in members:
                for field, value in each[f"{family}.{owner}" if owner else family].items():
                    set_field(component[owner], field, value)

    def _component(self, name: str) -> Any:
        family, _, owner = name.partition(".")
        component = self.model.component(family)
        return component[owner] if component.is_indexed() else component

    def _new(self, what: str, span: Interval | None, *, whole: bool = False) -> Any:
        """A variable of the model's own, between the ends of a span."""
        self.counts[what] += 1
        domain = self.pyo.Integers if whole else self.pyo.Reals
        low, high = (None, None) if span is None else (float(span.low), float(span.high))
        variable = self.pyo.Var(domain=domain, bounds=(low, high))
        self.model.add_component(f"{what}_{self.counts[what]}", variable)
        return variable

    # -- quantities --------------------------------------------------------------------

    def _domain(self, quantity: Quantity) -> Mapping[str, Any]:
        span = self.spans[quantity.name]
        return {"domain": self.pyo.Integers, "bounds": (int(span.low), int(span.high))}

    def _choose(self, quantity: Quantity) -> None:
        """One of the listed values, or powers of two, by a binary variable each."""
        values = quantity.values
        if quantity.kind is QuantityKind.POWER_OF_TWO:
            span = self.spans[quantity.name]
            values = tuple(1 << n for n in range(int(span.high).bit_length()) if 1 << n >= span.low)
        if values:
            self._pick(quantity.symbol, values)

    def _pick(self, node: Expression, values: Iterable[Any]) -> list[tuple[Any, Any]]:
        chosen = [(value, self._binary()) for value in values]
        for each, pick in chosen:
            self._follows(pick, partial(self._equals, node, each))
        self.model.rule.add(sum(pick for _, pick in chosen) == 1)
        self.model.rule.add(sum(value * pick for value, pick in chosen) == self.known[node])
        self.bits[node] = chosen
        return chosen

    def _follows(self, variable: Any, value: Callable[[], Any]) -> None:
        """A variable follows from those before it."""
        self.model.auxiliaries.append((variable, value))

    def _at(self, node: Expression) -> float:
        """The value of an expression where variables have values."""
        return float(self.pyo.value(self.value(node)))

    def _equals(self, node: Expression, value: float) -> bool:
        return self._at(node) == value

    def _product_of(self, one: Any, other: Any) -> float:
        return float(self.pyo.value(one) * self.pyo.value(other))

    def _bit_of(self, node: Expression, step: float, low: int, place: int) -> int:
        return round(self._at(node) / step) - low >> place & 1

    def _binary(self) -> Any:
        return self._new("pick", Interval(Fraction(0), Fraction(1)), whole=True)

    def _link(self, link: Link) -> None:
        left, right, rule = link.left, link.right, self.model.rule
        if link.relation is Relation.DIVIDES:
            span = self.span(multiply(right, power(left, -1)))
            self.value(left)  # first what the number follows from
            whole = self.value(right)
            times = self._new("times", span, whole=True)
            self._follows(times, lambda: self._at(right) / self._at(left))
            self._product_is(left, times, span, whole)
            return
        if link.relation is Relation.AT_MOST:
            relation = self.value(left) <= self.value(right)
        elif isinstance(left, Symbol) and isinstance(right, CeilingDivision):
            self._ceiling(right, self.known[left])  # which is that ceiling
            return
        else:
            relation = self.value(left) == self.value(right)
        if relation is not True:
            rule.add(relation)

    # -- expressions -------------------------------------------------------------------

    def span(self, node: Expression) -> Interval:
        """All values of an expression, and perhaps more."""
        span = bounds(node, self.spans)
        if span is None:
            raise InputError(
                f"{quoted(str(node))} may divide by 0; allowed: divisors that are positive"
            )
        return span

    def value(self, node: Expression) -> Any:
        """An expression in Pyomo."""
        if node not in self.known:
            self.known[node] = self._stated(node)
        return self.known[node]

    def _stated(self, node: Expression) -> Any:
        match node:
            case Constant():
                return number(node.value)
            case Sum():
                return sum(map(self.value, node.terms))
            case Product():
                return self._product(node)
            case CeilingDivision():
                return self._ceiling(node, self._new("ceil", self.span(node), whole=True))
        assert isinstance(node, Maximum | Minimum)
        return self._extreme(node, 1 if isinstance(node, Maximum) else -1)

    def _extreme(self, node: Maximum | Minimum, sign: int) -> Any:
        spans = {each: self.span(each) * sign for each in node.arguments}
        least = max(span.low for span in spans.values())
        able = [each for each, span in spans.items() if span.high > least]
        able = able or [max(spans, key=lambda each: spans[each].low)]
        if len(able) < len(spans) and all(spans[each].low < least for each in able):
            able.append(max(spans, key=lambda each: spans[each].low))
        values = [self.value(each) for each in able]
        if len(able) == 1:
            return values[0]
        most = max(span.high for span in spans.values())
        step = granularity(node, self.problem.space.powers)
        unit = step or Fraction(1)  # whole steps, where there are any
        span = self.span(node) * (1 / unit)
        counted = self._new("max" if sign > 0 else "min", span, whole=bool(step))
        variable, size = number(unit) * counted, float(unit)
        picks = [self._binary() for _ in able]
        self._follows(counted, lambda: sign * max(sign * self.pyo.value(v) for v in values) / size)
        for place, pick in enumerate(picks):
            self._follows(pick, partial(self._is_first, values, sign, place))
        self.model.rule.add(sum(picks) == 1)
        for each, value, pick in zip(able, values, picks, strict=True):
            room = number(Fraction(most - spans[each].low))
            self.model.rule.add(sign * (value - variable) <= 0)
            self.model.rule.add(sign * (variable - value) <= room * (1 - pick))
        return variable

    def _is_first(self, values: list[Any], sign: int, place: int) -> bool:
        """Whether the value at a place is the first of the largest, or of the smallest with -1."""
        numbers = [sign * self.pyo.value(value) for value in values]
        return numbers.index(max(numbers)) == place

    def _ceiling(self, node: CeilingDivision, variable: Any) -> Any:
        """A variable that is the ceiling of a quotient: c·b ≥ a > (c − 1)·b."""
        over, under = node.numerator, node.denominator
        self.known[node] = variable
        powers = self.problem.space.powers
        steps = [granularity(over, powers), granularity(under, powers)]
        step = common_step(steps) if all(steps) else SLACK
        a, b = self.value(over), self.value(under)
        self._follows(variable, lambda: ceil(self._at(over) / self._at(under) - TINY))
        product = self._times(under, node)
        self.model.rule.add(product >= a)
        self.model.rule.add(product - b <= a - number(step))
        return variable

    def _product(self, node: Product) -> Any:
        over = [base for base, n in node.factors for _ in range(n)]
        under = [base for base, n in node.factors for _ in range(-n)]
        for base in under:
            if self.span(base).low <= 0 <= self.span(base).high:
                raise InputError(
                    f"{quoted(str(base))} may be 0; allowed: divisors that are positive"
                )
        if not self.linear:
            value = number(node.coefficient)
            for base in over:
                value = value * self.value(base)
            for base in under:
                value = value / self.value(base)
            return value
        over.sort(key=lambda base: self.span(base).high)
        whole: Expression = Constant(Fraction(1))
        for base in over:
            self.known.setdefault(multiply(whole, base), self._times(whole, base))
            whole = multiply(whole, base)
        for base in under:
            whole = self._over(whole, base)
        return number(node.coefficient) * self.value(whole)

    def _over(self, whole: Expression, under: Expression) -> Expression:
        """A quotient as a variable whose product with the divisor is the dividend."""
        quotient = multiply(whole, power(under, -1))
        if quotient not in self.known:
            span = self.span(quotient)
            self.value(whole)  # first what the quotient follows from
            self.value(under)
            variable = self._new("ratio", span)
            self.known[quotient] = variable
            self._follows(variable, lambda: self._at(whole) / self._at(under))
            self._product_is(under, variable, span, self.value(whole))
        return quotient

    def _product_is(self, factor: Expression, other: Any, span: Interval, result: Any) -> None:
        """A product with a variable that is something."""
        self.model.rule.add(self._by_bits(factor, other, span) == result)

    def _times(self, one: Expression, other: Expression) -> Any:
        """The product of two expressions; of linear programs by the bits of one of them."""
        for constant, factor in ((one, other), (other, one)):
            if isinstance(constant, Constant):
                return number(constant.value) * self.value(factor)
        if not self.linear:
            return self.value(one) * self.value(other)
        able = [each for each in (one, other) if self._whole(each)]
        if not able:
            raise InputError(
                f"{quoted(str(one))} times {quoted(str(other))} has no linear form, as neither is "
                "known to be whole; "
                "allowed: --to nl, gams or bar"
            )
        able.sort(key=lambda each: (each not in self.bits, float(self.span(each).high)))
        factor, rest = able[0], other if able[0] is one else one
        return self._by_bits(factor, self.value(rest), self.span(rest))

    def _whole(self, node: Expression) -> bool:
        return bool(granularity(node, self.problem.space.powers))

    def _by_bits(self, factor: Expression, other: Any, span: Interval) -> Any:
        """A product of an expression with something in Pyomo that lies in a span."""
        if isinstance(factor, Constant):
            return number(factor.value) * other
        if not self.linear:
            return self.value(factor) * other
        total: Any = 0
        low, high = number(Fraction(span.low)), number(Fraction(span.high))
        for weight, bit in self._bits(factor):
            if isinstance(bit, int):
                total = total + weight * other
                continue
            zero = Fraction(0)
            part = self._new("part", Interval(min(span.low, zero), max(span.high, zero)))
            self._follows(part, partial(self._product_of, bit, other))
            self.model.rule.add(part <= high * bit)
            self.model.rule.add(part >= low * bit)
            self.model.rule.add(part <= other - low * (1 - bit))
            self.model.rule.add(part >= other - high * (1 - bit))
            total = total + weight * part
        return total

    def _bits(self, node: Expression) -> list[tuple[Any, Any]]:
        """Weights and binary variables that add up to a whole expression; 1 is no variable."""
        if node in self.bits:
            return self.bits[node]
        value, span = self.value(node), self.span(node)
        step = granularity(node, self.problem.space.powers)
        low = ceil(span.low / step)
        count = max(floor(span.high / step) - low, 0).bit_length()
        if count > MOST_BITS:
            raise InputError(
                f"{quoted(str(node))} may be as large as {float(span.high):.3g}, too large for a "
                "linear program; "
                "allowed: --to nl, gams or bar"
            )
        bits = [(number(step * (1 << n)), self._binary()) for n in range(count)]
        for n, (_, bit) in enumerate(bits):
            self._follows(bit, partial(self._bit_of, node, float(step), low, n))
        chosen: list[tuple[Any, Any]] = [(number(step * low), 1), *bits]
        if bits or not isinstance(value, int | float):  # else it is what it is
            self.model.rule.add(sum(weight * bit for weight, bit in chosen) == value)
        self.bits[node] = chosen
        return chosen
