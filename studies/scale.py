"""The scale of an objective: which values it can take, and how to ask for "at most" and "less
than".

Most objectives lie on a grid: all their values are multiples of a step, so "less than v" is "at
most the grid point below v". A quotient such as power = energy/time has no grid. Where both parts
of A/B have one and B > 0, "A/B < v" is asked without dividing: A − v·B < 0, and A − v·B
lies on a grid again. That is exact, needs no distance between quotients, and solvers bound a
difference faster than a quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import ceil, floor

from ithaca.files.clock import poll
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    ONE,
    ZERO,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.parsing import MAX_DIGITS
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.solver.tables.granularity import common_step, granularity
from ithaca.studies.region import Bound

_NOTHING = Objective("1", ONE)


@dataclass(frozen=True)
class Scale:
    """The values of an objective over a design."""

    objective: Objective
    """The objective."""
    step: Fraction
    """All values are multiples of it; 0 for a quotient."""
    over: Expression
    """The objective is over/under (over metrics), ``under`` positive; ``under`` is 1 where there is
    a step."""
    under: Expression
    over_step: Fraction
    """Steps of both."""
    under_step: Fraction
    over_constant: Fraction | None
    """The value of ``over`` where it is the same for all configurations."""
    under_form: Expression
    """``under`` in the design's quantities, without its constant factor."""

    @property
    def numerator(self) -> Objective:
        """``over`` as an objective."""
        return Objective(wording(self.over), self.over)

    def normal(self, bound: Bound) -> Bound:
        """A bound that the same values meet: on the grid, and not strict, where there is one."""
        if not self.step:
            return bound
        steps = bound.value / self.step
        return Bound((ceil(steps) - 1 if bound.strict else floor(steps)) * self.step, strict=False)

    def limit(self, bound: Bound) -> Limit:
        """A bound as a limit of a problem: met by exactly the same configurations."""
        if self.step:
            # in parentheses it is an expression, whose bound may be negative
            return Limit(f"({self.objective.text})", self.normal(bound).value)
        over, under = bound.value.numerator, bound.value.denominator
        difference = add(multiply(under, self.over), multiply(-over, self.under))
        steps = [step for step in (under * self.over_step, over * self.under_step) if step]
        apart = common_step(steps) if bound.strict else Fraction(0)
        return Limit(wording(difference), -apart)


def find_scale(problem: Problem, objective: Objective) -> Scale:
    """The scale of an objective over a design, whose limits and own objective do not matter.

    Raises `InputError` if it is neither on a grid nor a quotient of what is, by what intervals show
    to be positive.
    """
    poll()
    plain = replace(problem, limits=(), objective=objective)
    _ = plain.guarded  # divisors are refused there

    def step_of(node: Expression) -> Fraction:
        form = in_quantities(problem, node)
        return ONE.value if form == ZERO else granularity(form, problem.space.powers)

    if step := step_of(objective.expression):
        return Scale(objective, step, objective.expression, ONE, step, Fraction(1), None, ONE)
    over, under = _quotient(objective.expression, step_of, tuple(problem.design.vocabulary))
    denominator, span = in_quantities(problem, under), plain.reach(under)
    least = Fraction(0) if span is None else span.low
    over_step, under_step = step_of(over), step_of(under)
    if not over_step or not under_step or least <= 0:
        why = f", as {wording(under)} is not shown to be positive" if least <= 0 else ""
        allowed = (
            "sums and products of metrics, or quotients of these by what is shown to be positive"
        )
        raise InputError(
            f"objective '{objective.text}' has values of no known distance{why}; allowed: {allowed}"
        )
    numerator = in_quantities(problem, over)
    constant = numerator.value if isinstance(numerator, Constant) else None
    form = split_coefficient(denominator)[1]
    return Scale(objective, Fraction(0), over, under, over_step, under_step, constant, form)


def metric_form(problem: Problem, name: str) -> Expression:
    """A metric over tiling quantities, with the extents put in; `InputError` if the problem's
    technology does not know it."""
    return _form(replace(problem, limits=(), objective=_NOTHING), name)


def in_quantities(problem: Problem, expression: Expression) -> Expression:
    """An expression over metrics as one over tiling quantities."""
    return expression.substitute({name: metric_form(problem, name) for name in expression.symbols})


@lru_cache(maxsize=1024)  # a study asks for a few of each of some thirty designs, again and again
def _form(bare: Problem, name: str) -> Expression:
    return replace(bare, objective=Objective(name, Symbol(name))).symbolic().objective


def form_of(problem: Problem, objective: Objective) -> Expression:
    """An objective in the design's quantities, without its constant factor."""
    return split_coefficient(in_quantities(problem, objective.expression))[1]


def _quotient(
    node: Expression, step_of: Callable[[Expression], Fraction], vocabulary: tuple[str, ...]
) -> tuple[Expression, Expression]:
    """Write an expression over metrics as A/B, with a grid for A and for B where there is one."""
    if step_of(node):
        return node, ONE
    if isinstance(node, Symbol):
        return _metric_quotient(node, step_of, vocabulary)
    if isinstance(node, Product):
        over: list[Expression] = [multiply(node.coefficient)]
        under: list[Expression] = []
        for base, exponent in node.factors:
            top, bottom = _quotient(base, step_of, vocabulary)
            (over if exponent > 0 else under).append(power(top, abs(exponent)))
            (under if exponent > 0 else over).append(power(bottom, abs(exponent)))
        return multiply(*over), multiply(*under)
    if isinstance(node, Sum):
        tops, bottom = _over_one_denominator(node.terms, step_of, vocabulary)
        return add(*tops), bottom
    if isinstance(node, Maximum | Minimum):
        tops, bottom = _over_one_denominator(node.arguments, step_of, vocabulary)
        return type(node)(tuple(tops)), bottom
    return node, ONE


def _metric_quotient(
    metric: Symbol, step_of: Callable[[Expression], Fraction], vocabulary: tuple[str, ...]
) -> tuple[Expression, Expression]:
    """A metric without a grid as (metric · B)/B, for the first B of one or two metrics that has
    one, as has the product."""
    names = [name for name in vocabulary if name != metric.name]
    for count in (1, 2):
        for chosen in combinations_with_replacement(names, count):
            under = multiply(*(Symbol(name) for name in chosen))
            over = multiply(metric, under)
            if step_of(under) and step_of(over):
                return over, under
    return metric, ONE


def _over_one_denominator(
    nodes: tuple[Expression, ...],
    step_of: Callable[[Expression], Fraction],
    vocabulary: tuple[str, ...],
) -> tuple[list[Expression], Expression]:
    parts = [_quotient(node, step_of, vocabulary) for node in nodes]
    denominators = list(dict.fromkeys(bottom for _, bottom in parts))
    tops = [multiply(top, *(d for d in denominators if d != bottom)) for top, bottom in parts]
    return tops, multiply(*denominators)


@dataclass(frozen=True)
class EquivalentObjective:
    """An objective that is minimised in place of another one, as it orders configurations in the
    same way.

    A constant over B, such as throughput, has no grid, and solvers must then follow up every tie.
    But −c/B grows with B, and c/B with −B, which have one: minimising those instead finds the same
    configurations and proves the same.
    """

    objective: Objective
    """The objective that is minimised in its place."""
    constant: Fraction | None = None
    """C, where it is B in place of −c/B (c then given as negative) or −B in place of c/B; None
    where it is the other objective itself."""

    def original(self, value: Fraction) -> Fraction | None:
        """The other objective's value at a value of this one; None where that is unbounded."""
        if self.constant is None:
            return value
        under = value if self.constant < 0 else -value
        return self.constant / under if under > 0 else None

    def original_bound(self, bound: Bound | None) -> Bound | None:
        """The other objective's upper bound at one of this objective; None where there is none."""
        value = None if bound is None else self.original(bound.value)
        return None if bound is None or value is None else Bound(value, bound.strict)

    def gap(self, gap: float) -> float:
        """A relative gap of this objective that implies one of the other's."""
        return gap if self.constant is None else gap / (1 + gap)


def equivalent_objective(problems: Sequence[Problem], objective: Objective) -> EquivalentObjective:
    """An objective that can be minimised in place of another over several designs: often itself."""
    try:
        scales = [find_scale(problem, objective) for problem in problems]
    except InputError:  # it has no scale, and solvers take it as it is
        return EquivalentObjective(objective)
    forms = {(s.over_constant, s.under) for s in scales}
    if len(forms) > 1 or not scales:
        return EquivalentObjective(objective)
    (constant, under) = forms.pop()
    if not constant:
        return EquivalentObjective(objective)
    other = under if constant < 0 else multiply(-1, under)
    return EquivalentObjective(Objective(wording(other), other), constant)


def wording(node: Expression) -> str:
    """The text of an expression over metrics, as `ithaca.formulations.algebra.parsing` reads it
    back.

    It is in parentheses wherever it is not a single name. Studies make limits and objectives of
    their own; like a user's they are stated as text, which result and store files show.
    """
    match node:
        case Symbol():
            return node.name
        case Constant():
            return f"({_number(node.value)})"
        case Sum():
            return f"({' + '.join(wording(t) for t in node.terms)})"
        case Product():
            over = [wording(b) for b, e in node.factors for _ in range(e)]
            under = "".join(f"/{wording(b)}" for b, e in node.factors for _ in range(-e))
            if node.coefficient != 1 or not over:
                over.insert(0, wording(Constant(node.coefficient)))
            return f"({'*'.join(over)}{under})"
        case CeilingDivision():
            return f"ceil({wording(node.numerator)}/{wording(node.denominator)})"
        case Maximum() | Minimum():
            name = "max" if isinstance(node, Maximum) else "min"
            return f"{name}({', '.join(wording(a) for a in node.arguments)})"
    raise TypeError(f"no text of {type(node).__name__}")


def _number(value: Fraction) -> str:
    over = ("-" if value < 0 else "") + _integer(abs(value.numerator))
    return over if value.denominator == 1 else f"{over}/{_integer(value.denominator)}"


def _integer(value: int) -> str:
    """Digits, in pieces where they are more than a text may hold at once."""
    digits = str(value)
    if len(digits) <= MAX_DIGITS:
        return digits
    low = MAX_DIGITS // 2
    return f"({_integer(int(digits[:-low]))}*1e{low} + {_integer(int(digits[-low:]))})"


def check_distinct(objectives: Sequence[Objective]) -> None:
    """Refuse objectives that are repeated."""
    for position, objective in enumerate(objectives):
        if objective.expression in [o.expression for o in objectives[:position]]:
            raise InputError(
                f"objective '{objective.text}' is given twice; allowed: every objective once"
            )
