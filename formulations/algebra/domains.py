"""Domains of expressions: where they have a value, as what they divide by is positive.

Two operations have a domain: a quotient (every negative power is one) and the ceiling of a
quotient. Both have a value, and engines bound them right, where the divisor is positive throughout;
where it is negative throughout, both sides change their sign. The rule stands here once: an
expression whose divisors are known to keep it is stated such that nobody need ask again, and any
other one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import floor, inf, prod
from operator import eq
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
    split_coefficient,
    walk,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.algebra.rounding import magnitude
from ithaca.formulations.remembered import remembered

#: Products of metrics beyond this, or below its reciprocal, are refused: bounds multiply two of
#: them, and doubles end at 1e308.
LARGEST = 10**150


def divisors(node: Expression) -> tuple[Expression, ...]:
    """The divisors of an operation; nothing where it has a value for all numbers."""
    if isinstance(node, CeilingDivision):
        return (node.denominator,)
    if isinstance(node, Product):
        return tuple(base for base, exponent in node.factors if exponent < 0)
    return ()


def all_divisors(expression: Expression) -> Iterable[Expression]:
    """The divisors of an expression, anywhere in it."""
    return (divisor for node in walk(expression) for divisor in divisors(node))


@lru_cache(maxsize=1 << 13)
def least(node: Expression) -> Fraction | float:
    """A number that an expression of positive whole quantities is not below, whatever their ranges:
    n − 1 ≥ 0, also where n is a product."""
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Symbol):
        return Fraction(1)
    if isinstance(node, CeilingDivision):
        return 1 if min(least(node.numerator), least(node.denominator)) > 0 else -inf
    if isinstance(node, Product):
        powers = [
            (low if exponent % 2 else max(low, Fraction(0)), exponent)
            for low, exponent in ((least(base), exponent) for base, exponent in node.factors)
        ]
        known = node.coefficient > 0 and all(low >= 0 and exponent > 0 for low, exponent in powers)
        return node.coefficient * prod(low**exponent for low, exponent in powers) if known else -inf
    lows = [least(child) for child in node.children]
    return (
        sum(lows)
        if isinstance(node, Sum)
        else max(lows)
        if isinstance(node, Maximum)
        else min(lows)
    )


class Signs:
    """Proves signs of expressions over positive whole quantities by how they are made."""

    @remembered
    def positive(self, node: Expression) -> bool:
        """Whether the expression is proven to be > 0 for all that quantities may be."""
        if isinstance(node, Symbol):
            return True
        if isinstance(node, Constant):
            return node.value > 0
        if isinstance(node, Maximum):
            return any(self.positive(c) for c in node.children)
        if isinstance(node, Sum):
            if any(self.positive(term) for term in node.terms) and all(
                self.nonnegative(term) for term in node.terms
            ):
                return True
        elif not (isinstance(node, Product) and node.coefficient < 0) and all(
            self.positive(c) for c in node.children
        ):
            return True
        return least(node) > 0 or (self._sign(node) or 0) > 0

    @remembered
    def nonnegative(self, node: Expression) -> bool:
        """Whether the expression is proven to be ≥ 0 for all that quantities may be."""
        if isinstance(node, Symbol):
            return True
        if isinstance(node, Constant):
            return node.value >= 0
        every = all(self.nonnegative(c) for c in node.children)
        if not every and (sign := self._sign(node)) is not None:
            return sign >= 0
        if isinstance(node, Product):
            return node.coefficient >= 0 and all(
                exponent % 2 == 0 or self.nonnegative(base) for base, exponent in node.factors
            )
        if isinstance(node, Maximum):
            return any(self.nonnegative(c) for c in node.children)
        return every or least(node) >= 0

    def _sign(self, node: Expression) -> float | None:
        """The sign of an expression's least value, where something knows it."""
        return None


class Guard:
    """Makes what expressions divide by positive by its looks, or refuses it.

    A divisor d that is never below δ > 0 is stated as max(d, δ), which it equals, so that bounds of
    it stay positive, too; one that is never above −δ as −max(−d, δ).

    Parameters
    ----------
    reach : callable
        All values that an expression, guarded itself, has over the configurations there are; None
        where nothing is known.
    safe : callable, optional
        Whether a divisor stays as it is.
    """

    def __init__(
        self,
        reach: Callable[[Expression], Interval | None],
        safe: Callable[[Expression], bool] = lambda divisor: False,
    ) -> None:
        self._reach, self._safe = reach, safe

    def __call__(self, expression: Expression, what: str) -> Expression:
        """The expression with guarded divisors; ``what`` names it in refusals."""
        if not any(True for _ in all_divisors(expression)):
            return expression
        with _refusals(what):
            return self._guarded(expression)

    def check(self, divisors: Iterable[Expression], what: str) -> None:
        """Refuse divisors that may be 0."""
        with _refusals(what):
            for divisor in divisors:
                self._positive(self._guarded(divisor))

    @remembered
    def _guarded(self, node: Expression) -> Expression:
        if isinstance(node, Product):
            factors = [
                (base, self._guarded(base) if exponent > 0 else self._divisor(base), exponent)
                for base, exponent in node.factors
            ]
            if all(own == base for base, own, _ in factors):
                return node
            return multiply(
                node.coefficient, *(power(own, exponent) for _, own, exponent in factors)
            )
        if isinstance(node, CeilingDivision):
            sign, divisor = self._positive(self._guarded(node.denominator))
            top = self._guarded(node.numerator)
            if sign == 1 and top == node.numerator and divisor == node.denominator:
                return node
            return ceiling_division(multiply(sign, top), divisor)
        make = {Sum: add, Maximum: maximum, Minimum: minimum}.get(type(node))
        parts = [self._guarded(part) for part in node.children] if make else ()
        return node if make is None or all(map(eq, parts, node.children)) else make(*parts)

    def _divisor(self, base: Expression) -> Expression:
        """The stand-in for a divisor in a product."""
        sign, divisor = self._positive(self._guarded(base))
        return divisor if sign == 1 else multiply(sign, divisor)

    def _positive(self, divisor: Expression) -> tuple[int, Expression]:
        """The sign of a divisor, and its size as what is positive by its looks."""
        if isinstance(divisor, Constant) and divisor.value:
            return (1, divisor) if divisor.value > 0 else (-1, multiply(-1, divisor))
        if self._safe(divisor):
            return 1, divisor
        span = self._reach(divisor)
        if span is None or span.low <= 0 <= span.high:
            raise _DivisorError(divisor, span)
        if span.low > 0:
            return 1, maximum(divisor, _below(span.low))
        return -1, maximum(multiply(-1, divisor), _below(-span.high))


@dataclass(frozen=True, slots=True)
class Defined(Expression):
    """An expression that has a value only where nothing that its text divides by is 0; for
    evaluation, not for bounds."""

    expression: Expression
    """The expression."""
    divisors: tuple[Expression, ...]
    """All that its text divides by, also what the expression cancels."""

    __hash__ = Expression.__hash__

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.expression, *self.divisors)

    def _value(self, at: Any) -> Any:
        for divisor in self.divisors:
            if np.any(at(divisor) == 0):
                raise ZeroDivisionError(f"{divisor} is 0")
        return at(self.expression)

    def __str__(self) -> str:
        return str(self.expression)


def parse_defined(text: str, *, where: str, allowed: Collection[str] | None) -> Expression:
    """Parse an expression as `parse_expression` does; where evaluation divides by 0 in any step of
    the text, also in one that the expression cancels or takes the least of, it says so.

    Parameters
    ----------
    text : str
        The expression.
    where : str
        What the text is, for error lines.
    allowed : collection of str, optional
        Names that it may use; None: any.
    """
    under: list[Expression] = []
    expression = parse_expression(text, where=where, allowed=allowed, under=under)
    open_ones = tuple(d for d in under if not isinstance(d, Constant))
    return Defined(expression, open_ones) if open_ones else expression


def within(ranges: Mapping[str, Interval]) -> Guard:
    """The gate where names have ranges; divisors that these keep positive stay as they are."""
    return Guard(lambda divisor: bounds(divisor, ranges), partial(positive_within, ranges))


def positive_within(ranges: Mapping[str, Interval], divisor: Expression) -> bool:
    """Whether ranges of names alone keep a divisor positive, in every part of them, too."""
    span = bounds(divisor, ranges)
    return span is not None and span.low > 0


def guarded_form(
    expression: Expression,
    metrics: Mapping[str, Expression],
    reach: Callable[[Expression], Interval | None],
    ranges: Mapping[str, Interval],
    what: str,
) -> Expression:
    """An expression over metrics as one over positive whole quantities, with guarded divisors; a
    model's own stay as they are where nothing is known of them.

    Parameters
    ----------
    expression : Expression
        The expression; its divisors are known not to be 0.
    metrics : mapping of str to Expression
        The metrics over quantities.
    reach : callable
        All values of an expression over metrics.
    ranges : mapping of str to Interval
        The ranges of quantities.
    what : str
        What error lines call it.
    """
    known, signs = dict[Expression, Interval](), Signs()
    for divisor in all_divisors(expression):
        scale, form = split_coefficient(divisor.substitute(metrics))
        if scale and (span := reach(divisor)) is not None:
            known[form] = span * (1 / scale)

    def spans(form: Expression) -> Interval | None:
        scale, own = split_coefficient(form)  # divisors of ceilings keep theirs
        return known[own] * scale if own in known else bounds(form, ranges)

    def stays(form: Expression) -> bool:
        if signs.positive(form):
            return True
        span = spans(form)
        return span is None or span.low <= 0 <= span.high

    return Guard(spans, stays)(expression.substitute(metrics), what)


#: The divisors that are allowed.
ALLOWED = "divisors that are proven positive, or negative, for every configuration"


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    try:
        yield
    except _DivisorError as refused:
        raise InputError(f"{what} divides by {refused}; allowed: {ALLOWED}") from None


class _DivisorError(Exception):
    """A divisor may be 0."""

    def __init__(self, divisor: Expression, span: Interval | None) -> None:
        if span is None:
            why = "may be 0 for all that is known"
        elif span.low == span.high:
            why = "is always 0"
        elif span.low == 0:
            why = "may be 0"
        else:
            why = "may be 0 or negative" if span.high > 0 else "may be 0"
        super().__init__(f"{quoted(str(divisor))}, which {why}")


def _below(least_value: Fraction) -> Fraction:
    """A number above 0 and not above another, with few digits: it joins the grid of most values."""
    if least_value >= 1:
        return Fraction(floor(least_value))
    return Fraction(1, 1 << (-floor(-1 / least_value) - 1).bit_length())


def check_sizes(
    expression: Expression, what: str, reach: Callable[[Expression], Interval | None]
) -> None:
    """Refuse products of metrics that are too large for doubles, or too small.

    Parameters
    ----------
    expression : Expression
        An objective or a limit over metrics.
    what : str
        What error lines call it.
    reach : callable
        All values of an expression over metrics; None if unknown.

    Raises
    ------
    InputError
        If a product may be beyond `LARGEST`, or below its reciprocal.
    """
    for node in walk(expression):
        for product in (node, power(node, -1)) if isinstance(node, Product) else ():
            values = reach(magnitude(product))
            if values is not None and values.high > LARGEST:
                size = "large" if product is node else "small"
                raise InputError(
                    f"{what} computes a number that is too {size}; allowed: products between "
                    "1e-150 and 1e150"
                )
