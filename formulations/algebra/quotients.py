"""Values that no quotient is below, by its terms: what stands above and below its line cancels
before ranges are put in, so that they need not be searched to know that power is never so little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

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
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.algebra.sums import summands

#: Most terms that a top is multiplied out into, and most that one bound looks at.
TERMS = 200
STEPS = 20_000


#: Names of symbols, and numbers that their product is not below and does not exceed.
Products = Sequence[tuple[tuple[str, ...], Fraction, Fraction]]


class _TooLongError(Exception):
    """More terms than a bound is worth."""


def quotient_floor(
    expression: Expression, ranges: Mapping[str, Interval], products: Products = ()
) -> Fraction | None:
    """A value that a quotient is not below where its symbols are positive and within ranges; None
    where terms do not say.

    What has tops ``t`` and a bottom ``b`` is at least 1 / Σ max(b' / t): of every part ``b'`` of
    the bottom the largest share in a top, from which equal factors are gone.

    Parameters
    ----------
    expression : Expression
        The quotient, whose bottom is positive.
    ranges : mapping of str to Interval
        Ranges of its symbols.
    products : sequence of tuples, optional
        Symbols with what their product is not below and does not exceed.
    """
    if any(ranges[name].low <= 0 for name in expression.symbols):
        return None
    coefficient, monic = split_coefficient(expression)
    factors = _factors(monic)
    bottom = multiply(*(power(base, -exponent) for base, exponent in factors if exponent < 0))
    top = multiply(*(power(base, exponent) for base, exponent in factors if exponent > 0))
    if coefficient <= 0 or bottom == ONE:
        return None
    try:
        tops = tuple(_expanded(top, ranges))
        most = _Most(tops, ranges, products)(bottom) if tops else None
    except (_TooLongError, ZeroDivisionError):
        return None
    return None if most is None or most <= 0 else coefficient / most


def _may_fall(node: Expression, ranges: Mapping[str, Interval]) -> bool:
    """Whether an expression may be negative for all that ranges say."""
    span = bounds(node, ranges)
    return span is None or span.low < 0


def _expanded(node: Expression, ranges: Mapping[str, Interval]) -> Iterator[Expression]:
    """Terms of symbols alone that are not negative, and together no more than an expression."""
    number = 0
    left = [node]
    while left:
        term = left.pop()
        coefficient, monic = split_coefficient(term)
        factors = _factors(monic)
        if signed := [b for b, _ in factors if _negative(b)]:
            if coefficient < 0 or any(_may_fall(b, ranges) for b in signed):
                raise _TooLongError
            continue  # it is not negative, but for its looks
        if coefficient < 0:
            raise _TooLongError
        base = next((b for b, e in factors if not isinstance(b, Symbol) and e > 0), None)
        if base is None:
            if all(isinstance(b, Symbol) for b, _ in factors):
                number += 1
                yield term
            continue
        if number + len(left) > TERMS:
            raise _TooLongError
        match base:
            case Sum():
                parts: tuple[Expression, ...] = tuple(summands(base))
            case Maximum():
                parts = base.arguments[:1]
            case CeilingDivision():
                parts = (base.numerator / base.denominator,)
            case _:
                continue
        left += (multiply(term, power(base, -1), part) for part in parts)


def _factors(monic: Expression) -> tuple[tuple[Expression, int], ...]:
    """Bases and exponents of an expression without its coefficient."""
    if isinstance(monic, Product):
        return monic.factors
    return () if isinstance(monic, Constant) else ((monic, 1),)


class _Most:
    """The most that terms over a sum of others may be."""

    def __init__(
        self, tops: tuple[Expression, ...], ranges: Mapping[str, Interval], products: Products
    ) -> None:
        self._ranges, self._products = ranges, products
        self._tops = [(c, _powers(_factors(monic))) for c, monic in map(split_coefficient, tops)]
        self._signs: dict[Expression, bool] = {}
        self._spans: dict[Expression, Interval | None] = {}
        self._known: dict[Expression, Fraction | None] = {}

    def __call__(self, term: Expression) -> Fraction | None:
        """A value that ``term`` over the tops does not exceed; None where none is known."""
        if term not in self._known:
            if len(self._known) > STEPS:
                raise _TooLongError
            self._known[term] = self._most(term)
        return self._known[term]

    def _most(self, term: Expression) -> Fraction | None:
        coefficient, monic = split_coefficient(term)
        factors = _factors(monic)
        if any(exponent < 0 and not self._positive(base) for base, exponent in factors):
            return None
        over = {base: exponent for base, exponent in factors if exponent > 0}
        signed = [base for base in over if self._signed(base)]
        for base in signed:
            if isinstance(base, Sum):  # whatever the sign of the rest is
                return self._above(base, multiply(term, power(base, -1)))
        # of a power the sign of the rest is open, too, and extrema of products need it
        if signed[1:] or (signed and (coefficient < 0 or over[signed[0]] > 1)):
            return None
        if coefficient <= 0:
            return Fraction(0)
        if signed:
            return self._above(signed[0], multiply(term, power(signed[0], -1)))
        for base, exponent in factors:
            if exponent < 0 and isinstance(base, Sum) and not any(map(self._signed, base.terms)):
                for part in over:  # no part of a sum is more than the sum
                    if part in base.terms:
                        return self(multiply(term, base, power(part, -1)))
        # ceilings first: what they divide by may cancel as long as it is whole
        for base, exponent in sorted(factors, key=lambda each: isinstance(each[0], Sum)):
            if not isinstance(base, Symbol):
                way = self._above if exponent > 0 else self._below
                return way(base, multiply(term, power(base, -1 if exponent > 0 else 1)))
        return coefficient * self._share(factors)

    def _signed(self, base: Expression) -> bool:
        """Whether a base may be negative, for all that is known."""
        if base not in self._signs:
            self._signs[base] = _negative(base) and _may_fall(base, self._ranges)
        return self._signs[base]

    def _positive(self, base: Expression) -> bool:
        """Whether a base is positive by its looks or its range; others may be 0 or negative."""
        span = self._span(base) if _negative(base) else None
        return not _negative(base) or (span is not None and span.low > 0)

    def _above(self, base: Expression, rest: Expression) -> Fraction | None:
        """The most of a product with a base."""
        match base:
            case Sum():
                return _total(self(multiply(rest, part)) for part in base.terms)
            case Maximum():
                return _largest(self(multiply(rest, each)) for each in base.arguments)
            case Minimum():
                return _smallest(self(multiply(rest, each)) for each in base.arguments)
            case CeilingDivision():
                above = self(multiply(rest, base.numerator, power(base.denominator, -1)))
                return _total((above, self(rest)))
        return None

    def _below(self, base: Expression, rest: Expression) -> Fraction | None:
        """The most of a quotient by a base that is positive."""
        if any(map(self._signed, base.children)):
            return None
        if isinstance(base, Minimum):
            return _largest(self(rest / each) for each in base.arguments)
        parts = [base.numerator / base.denominator] if isinstance(base, CeilingDivision) else []
        if isinstance(base, Sum | Maximum):
            parts = [each for each in base.children if each != ZERO]
        span = self._span(base)
        if span is not None and span.low > 0:
            parts.append(Constant(Fraction(span.low)))
        return _smallest(self(rest / each) for each in parts)

    def _span(self, base: Expression) -> Interval | None:
        """All values of a base by its ranges, and perhaps more."""
        if base not in self._spans:
            self._spans[base] = bounds(base, self._ranges)
        return self._spans[base]

    def _share(self, factors: tuple[tuple[Expression, int], ...]) -> Fraction:
        """The most of powers of symbols over the sum of the tops: of no top the share in them is
        below its least."""
        own = _powers(factors)
        shares = (coefficient / self._most_of(own, top) for coefficient, top in self._tops)
        return 1 / sum(shares, start=Fraction(0))

    def _most_of(self, own: Mapping[str, int], below: Mapping[str, int]) -> Fraction:
        """The most of powers of symbols over others, each by its range."""
        left = {name: own.get(name, 0) - below.get(name, 0) for name in own.keys() | below}
        most = Fraction(1)
        for names, low, high in self._products:
            powers = [left.get(name, 0) for name in names]
            times = max(min(powers), 0) or min(max(powers), 0)
            if times:
                left |= {name: left[name] - times for name in names}
                most *= (high if times > 0 else low) ** times
        for name, exponent in left.items():
            if exponent:
                span = self._ranges[name]
                most *= (span.high if exponent > 0 else span.low) ** exponent
        return most


def _powers(factors: tuple[tuple[Expression, int], ...]) -> dict[str, int]:
    """The exponents of symbols, by name."""
    return {base.name: exponent for base, exponent in factors if isinstance(base, Symbol)}


def _negative(node: Expression) -> bool:
    """Whether an expression over positive symbols may be negative, by its looks."""
    if isinstance(node, Constant):
        return node.value < 0
    if isinstance(node, Product) and node.coefficient < 0:
        return True
    if isinstance(node, Maximum):
        return all(map(_negative, node.arguments))
    return any(map(_negative, node.children))


def _total(values: Iterator[Fraction | None] | tuple[Fraction | None, ...]) -> Fraction | None:
    known = [*values]
    return None if None in known else sum((x for x in known if x), start=Fraction(0))


def _largest(values: Iterator[Fraction | None]) -> Fraction | None:
    known = [*values]
    return None if None in known else max(x for x in known if x is not None)


def _smallest(values: Iterator[Fraction | None]) -> Fraction | None:
    return min((x for x in values if x is not None), default=None)
