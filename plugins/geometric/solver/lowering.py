"""Lower an expression to posynomials that never exceed it.

Every node becomes a tuple of *pieces*, posynomials whose maximum is the bound. Three relaxations
are made, and nothing else is lost:

- ``ceil(a/b)`` becomes ``max(1, a/b)``;
- a ceiling (or minimum) that depends on one power of two alone becomes a *curve*, a variable of its
  own that is later bounded by the log-log convex hull of its values;
- ``a·x^e − c`` becomes a curve too: it is concave in log-log, so on an interval it lies above its
  chord.

Where sums or products of maxima would multiply out, a maximum becomes an *epigraph* variable,
which must be at least each of its pieces. That is exact, because nothing decreases in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ithaca.formulations.algebra.expression import (
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
    minimum,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.posynomial import NotPosynomialError, Posynomial, as_product
from ithaca.formulations.algebra.sums import gains_and_losses, summands
from ithaca.formulations.remembered import remembered

Pieces: TypeAlias = tuple[Posynomial, ...]

#: Prefixes of the variables that a lowering introduces.
EPIGRAPH, CURVE = "max.", "curve."
NEW_VARIABLES = (EPIGRAPH, CURVE)

#: Largest product of pieces, or of terms, that is multiplied out.
MULTIPLY_OUT = 12


@dataclass(frozen=True)
class Epigraph:
    """A variable that is at least each of its pieces."""

    name: str
    pieces: Pieces


@dataclass(frozen=True)
class Curve:
    """A variable that stands for a function of one quantity.

    It is never negative; of a power of two any function, otherwise increasing and concave in
    log-log.
    """

    name: str
    symbol: str
    expression: Expression


class Lowering:
    """Lowers expressions and collects the variables this introduces.

    ``powers`` has the largest value of each quantity that is a power of two, ``products`` what to
    put in for symbols.
    """

    def __init__(self, powers: Mapping[str, int], products: Mapping[str, Expression]) -> None:
        self._powers = powers
        self._products = products
        self.epigraphs: list[Epigraph] = []
        self.curves: list[Curve] = []

    @remembered
    def lower(self, node: Expression) -> Pieces:
        """Pieces whose maximum never exceeds the expression.

        Raises `NotPosynomialError` if it subtracts, divides by a sum, or takes a minimum.
        """
        return _undominated(self._lower(node))

    def at_most(self, node: Expression, bound: Fraction) -> Pieces:
        """Posynomials that are all ≤ 1 wherever ``node ≤ bound``; none if there is no such form.

        Subtracted terms move to the other side, where a single product can be divided by.
        """
        gains, losses = gains_and_losses(node - bound)
        if losses == ZERO:
            # nothing on the other side: a sum of positive terms is ≤ 0 never
            return (Posynomial.constant(2),) if is_positive(gains) else ()
        if as_product(losses) is None:
            return ()
        try:
            divisor = self.lower(losses)[0]
            return tuple(piece * divisor**-1 for piece in self.lower(gains))
        except NotPosynomialError:
            return ()

    # -- nodes -------------------------------------------------------------------------

    def _lower(self, node: Expression) -> Pieces:
        if isinstance(node, Constant):
            return (Posynomial.constant(node.value),)
        if isinstance(node, Symbol):
            product = self._products.get(node.name)
            return (Posynomial.quantity(node.name),) if product is None else self.lower(product)
        if isinstance(node, Maximum):
            return self._maximum(node)
        if isinstance(node, Sum):
            return self._sum(node)
        if isinstance(node, Product):
            return self._product(node)
        if isinstance(node, CeilingDivision):
            curve = self._power_curve(node)
            if curve:
                return curve
            ratio = self.lower(multiply(node.numerator, power(node.denominator, -1)))
            return (*ratio, Posynomial.constant(1)) if is_positive(node.numerator) else ratio
        if isinstance(node, Minimum):
            smallest = self._without_idle_caps(node)
            if not isinstance(smallest, Minimum):
                return self.lower(smallest)
            curve = self._power_curve(node)
            if curve:
                return curve
        raise NotPosynomialError(f"'{node}' is not posynomial")

    def _maximum(self, node: Maximum) -> Pieces:
        # a maximum is at least each argument: one that cannot be lowered may be left out
        parts: list[Posynomial] = []
        failure: NotPosynomialError | None = None
        for argument in node.arguments:
            try:
                parts.extend(self.lower(argument))
            except NotPosynomialError as error:
                failure = error
        if failure is not None and not parts:
            raise failure
        return tuple(parts)

    def _sum(self, node: Sum) -> Pieces:
        terms = summands(node)
        if any(split_coefficient(t)[0] < 0 for t in terms):
            return self._difference(add(*terms), terms)
        return self._add([self.lower(t) for t in terms])

    def _add(self, summands: list[Pieces]) -> Pieces:
        if sum(len(s) > 1 for s in summands) > 1:
            summands = [(self._epigraph(s),) if len(s) > 1 else s for s in summands]
        totals: Pieces = (Posynomial({}),)
        for summand in summands:
            totals = tuple(total + piece for total in totals for piece in summand)
        return totals

    def _difference(self, node: Expression, terms: list[Expression]) -> Pieces:
        """A sum with a negative constant. All quantities are at least 1."""
        constant = sum((t.value for t in terms if isinstance(t, Constant)), start=Fraction(0))
        rest = [t for t in terms if not isinstance(t, Constant)]
        coefficients = [split_coefficient(t)[0] for t in rest]
        pieces = self._add([self.lower(t) for t in rest]) if rest and min(coefficients) > 0 else ()
        powers = [(name, e) for p in pieces for exponents in p.terms for name, e in exponents]
        if not pieces or any(e < 0 or name.startswith(NEW_VARIABLES) for name, e in powers):
            raise NotPosynomialError(f"'{node}' is not posynomial: it subtracts")
        least = max(sum(p.terms.values(), start=Fraction(0)) for p in pieces)
        if least + constant < 0:
            raise NotPosynomialError(f"'{node}' is not posynomial: it may be negative")
        if len(rest) == 1 and len(node.symbols) == 1 and as_product(rest[0]) is not None:
            return (self._curve(next(iter(node.symbols)), node),)
        # p − c ≥ p·(1 − c/least) wherever p ≥ least
        share = 1 + constant / least
        return tuple(p.scaled(share) for p in pieces) if share else (Posynomial({}),)

    def _product(self, node: Product) -> Pieces:
        if node.coefficient < 0:
            raise NotPosynomialError(f"'{node}' is not posynomial: its sign is negative")
        factors: list[Pieces] = [(Posynomial.constant(node.coefficient),)]
        for base, exponent in node.factors:
            if exponent < 0:
                factors.append(self._reciprocal(base, -exponent))
            else:
                factors.extend([self.lower(base)] * exponent)
        result: Pieces = (Posynomial.constant(1),)
        # simple factors first, so that what would multiply out is named last
        for factor in sorted(factors, key=_size):
            if (
                _size(result) > 1
                and _size(factor) > 1
                and _size(result) * _size(factor) > MULTIPLY_OUT
            ):
                factor = (self._epigraph(factor),)
            result = tuple(a * b for a in result for b in factor)
        return result

    def _reciprocal(self, base: Expression, exponent: int) -> Pieces:
        if isinstance(base, Minimum):
            base = self._without_idle_caps(base)
        arguments = base.arguments if isinstance(base, Minimum) else (base,)
        powers = []
        for argument in arguments:
            # what is divided by must be lowered exactly: a smaller divisor would be too much
            if as_product(argument) is None:
                raise NotPosynomialError(f"'1/({argument})' is not posynomial")
            powers.append(self.lower(argument)[0] ** -exponent)
        return tuple(powers)

    # -- new variables -----------------------------------------------------------------

    def _epigraph(self, pieces: Pieces) -> Posynomial:
        pieces = _undominated(pieces)
        if len(pieces) == 1 and pieces[0].is_monomial:
            return pieces[0]
        for epigraph in self.epigraphs:
            if epigraph.pieces == pieces:
                return Posynomial.quantity(epigraph.name)
        name = f"{EPIGRAPH}{len(self.epigraphs)}"
        self.epigraphs.append(Epigraph(name, pieces))
        return Posynomial.quantity(name)

    def _curve(self, symbol: str, node: Expression) -> Posynomial:
        for curve in self.curves:
            if curve.expression == node:
                return Posynomial.quantity(curve.name)
        name = f"{CURVE}{len(self.curves)}"
        self.curves.append(Curve(name, symbol, node))
        return Posynomial.quantity(name)

    def _power_curve(self, node: Expression) -> Pieces:
        symbols = node.symbols
        if len(symbols) == 1 and next(iter(symbols)) in self._powers:
            return (self._curve(next(iter(symbols)), node),)
        return ()

    def _without_idle_caps(self, node: Minimum) -> Expression:
        """Drop a constant that the powers of two beside it never exceed."""
        powers = [self._powers.get(a.name) for a in node.arguments if isinstance(a, Symbol)]
        ceiling = max((p for p in powers if p is not None), default=None)
        if ceiling is None or None in powers:
            return node
        return minimum(
            *(a for a in node.arguments if not (isinstance(a, Constant) and a.value >= ceiling))
        )


def is_positive(node: Expression) -> bool:
    """Whether the expression is positive for all positive quantities."""
    if isinstance(node, Constant):
        return node.value > 0
    if isinstance(node, Product):
        return node.coefficient > 0 and all(is_positive(base) for base, _ in node.factors)
    if isinstance(node, Maximum):
        return any(is_positive(a) for a in node.arguments)
    if isinstance(node, CeilingDivision):
        return is_positive(node.numerator) and is_positive(node.denominator)
    return all(is_positive(c) for c in node.children)


def _undominated(pieces: Pieces) -> Pieces:
    """Drop pieces that another contains term by term."""
    kept: list[Posynomial] = []
    for piece in pieces:
        if any(other.dominates(piece) for other in kept):
            continue
        kept = [other for other in kept if not piece.dominates(other)] + [piece]
    return tuple(kept)


def _size(pieces: Pieces) -> int:
    return sum(len(p.terms) for p in pieces)
