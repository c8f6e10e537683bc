"""Every directed rounding that a proof rests on, each with the argument why it is safe; those of
logarithms stand in `ithaca.formulations.algebra.logarithms`.

A float operation errs by at most 2**-53 of its result. What is computed here takes at most a few
thousand of them (a bound some dozen, a sum over layers one for each), hence errs by less than
2**-41 relative to its largest intermediate result. Margins are at least twice that, and each goes
in the direction that keeps a region open, a configuration in, a bound too weak.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, copysign, floor, inf, isfinite, nextafter

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask
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
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
)
from ithaca.formulations.algebra.sums import gains_and_losses
from ithaca.formulations.remembered import remembered

#: The least normal double.
LEAST = 2.0**-1022

#: Relative rounding of a bound: a few dozen operations of 2**-53 each, with a wide margin.
ROUNDING = 2.0**-40

#: Doubles hold all integers up to this, and sums, products and maxima of integers that stay below
#: it do not round.
EXACT = 2.0**53

#: Quotients a/b and c/d of integers differ by 1/(b·d) at least, 1/(a·d) of either: more than a
#: double's rounding where a·d stays below this, so that different ones are different doubles.
DISTINCT = 2.0**51

#: Shares and probabilities of words that are not zero (relative); one less such a share (absolute,
#: after a few operations); logarithms of factorials, which `lgamma` holds to a few 2**-52.
SHARES, COMPLEMENTS, LOG_FACTORIALS = 2.0**-30, 2.0**-50, 2.0**-48

# -- values and bounds ---------------------------------------------------------------------


def below(value: float | Fraction) -> float:
    """A float that is not above an exact value, or above the exact value of what was computed in
    floats.

    Nothing in the computation was larger than its result, or what was has been subtracted
    (`Margins.outwards`); so its error is less than `ROUNDING` of the result. Infinities stay.
    """
    return float(value) * (1 - copysign(ROUNDING, value))


def all_below(bounds: Floats) -> Floats:
    """`below`, entry by entry."""
    lowered: Floats = bounds * (1 - np.copysign(ROUNDING, bounds))
    return lowered


def sum_below(terms: Floats) -> Floats:
    """A float that the exact sum of each column is not below, if its terms are lower bounds,
    infinite where there is nothing.

    Terms have been lowered by `ROUNDING` already, each by more than it needs. Adding n of equal
    sign errs by n·2**-53 of the sum; 2**-45 covers 256 distinct layers. Infinity means that a term
    has no configuration: then neither has the sum, also where another term is bounded by nothing
    (inf − inf is no number).
    """
    with np.errstate(invalid="ignore"):
        sums = terms.sum(axis=0)
    lowered: Floats = np.where(np.isnan(sums), inf, sums * (1 - np.copysign(2.0**-45, sums)))
    return lowered


def cutoff(target: Fraction) -> float:
    """A float such that what is bounded by more is worse than the target.

    A bound in floats exceeds the exact one by less than `ROUNDING`, and so does the target's float
    the target: a bound above the target by twice that is above it in truth.
    """
    nearest = float(target)
    return nearest + 2 * ROUNDING * abs(nearest)


def may_be_tied(bounds: Floats, target: Fraction) -> Mask:
    """Bounds that floats cannot tell from the target; others are below it, or above `cutoff`."""
    nearest = float(target)
    tied: Mask = bounds >= nearest - 2 * ROUNDING * abs(nearest)
    return tied


def finer_than_floats(step: Fraction, target: Fraction) -> bool:
    """Whether bounds on either side of a grid's step may be the same to floats: the reach of
    `cutoff` and `may_be_tied`."""
    return step <= 4 * Fraction(ROUNDING) * abs(target)


def loosened(bound: Fraction) -> float:
    """An upper limit in floats that excludes nothing which meets the exact one: values err by less
    than `ROUNDING`."""
    return float(bound) + ROUNDING * max(1.0, float(abs(bound)))


def largest_double(bound: Fraction) -> float:
    """The largest double that is not above a bound, so that doubles compare with it as exactly as
    Fractions."""
    nearest = float(bound)
    return nearest if Fraction(nearest) <= bound else nextafter(nearest, -inf)


def next_below(value: float) -> float:
    """The largest double below a value: what is at most that is less than the value."""
    return nextafter(value, -inf)


def beyond(values: Floats, *, up: bool) -> Floats:
    """A double above each value (or below it), nearly always by no more than two: in a tenth of the
    time of NumPy's `nextafter`.

    v·2**-52 is one to two units in the last place of v; the least normal double is more than the
    rounding of what is smaller still, 0 among it, and lost beside anything else.
    """
    moved: Floats = values * (1 + np.copysign(2.0**-52, values if up else -values))
    return moved + (LEAST if up else -LEAST)


def least_double(bound: Fraction | None) -> float:
    """The smallest double that is not below a bound, so that doubles compare with it as exactly as
    Fractions; inf for None."""
    if bound is None:
        return inf
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else nextafter(nearest, inf)


def near_extreme(values: Floats, *, high: bool) -> tuple[float, Mask]:
    """A number beyond the smallest (or largest) exact value, and which entries may hold that value.

    Entries err by less than `ROUNDING`: one that is further than twice that from the extreme in
    floats is not extreme.
    """
    extreme = float(values.max() if high else values.min())
    margin = 2 * ROUNDING * abs(extreme)
    sign = 1 if high else -1
    return extreme + sign * margin, sign * values >= sign * extreme - margin


# -- expressions ---------------------------------------------------------------------------


class Margins:
    """Moves bounds outwards by the rounding of what they subtract.

    Rounding is relative to intermediate results. Where terms of opposite sign cancel, those are
    larger than the final one. Bounds share most of their parts: each is looked at once.
    """

    def __init__(self, *, capped: bool = False) -> None:
        #: Symbols that may be negative, each since before it was part of any bound; others are
        #: positive.
        self.signed: set[str] = set()
        self._capped = capped

    @remembered
    def subtracts(self, node: Expression) -> bool:
        """Whether evaluating the expression may cancel digits: whether anything in it is negative,
        or a signed symbol."""
        return self._is_negative(node) or any(map(self.subtracts, node.children))

    def _is_negative(self, node: Expression) -> bool:
        """Whether an operation by itself makes an expression one that `subtracts`."""
        if isinstance(node, Product):
            return node.coefficient < 0
        if isinstance(node, Constant):
            return node.value < 0
        return isinstance(node, Symbol) and node.name in self.signed

    @remembered
    def magnitude(self, node: Expression) -> Expression:
        """An expression no smaller than any intermediate result of evaluating this one: the sum of
        absolute values."""
        if self._capped and (top := cap(node)) is not None:
            return top
        if isinstance(node, Constant):
            return Constant(abs(node.value))
        if isinstance(node, Symbol | CeilingDivision) and self.subtracts(node):
            return maximum(node, -node)
        if isinstance(node, Sum):
            return add(*map(self.magnitude, node.terms))
        if isinstance(node, Maximum | Minimum):
            return maximum(*map(self.magnitude, node.arguments))
        if isinstance(node, Product):
            # a divisor that cancels would need its own analysis: bounds divide by what is positive,
            # and moved (`of_divisor`)
            factors = (power(self.magnitude(b) if e > 0 else b, e) for b, e in node.factors)
            return multiply(abs(node.coefficient), *factors)
        return node

    @remembered
    def outwards(self, bound: Expression, upper: bool) -> Expression:
        """A bound moved outwards by the rounding of what it subtracts, so that its error is
        relative.

        The error of an extremum is that of an argument; sums and products of what is not negative
        are no smaller than their terms, and their errors relative to themselves where those of
        terms and factors are: only these are moved.

        Parameters
        ----------
        bound : Expression
            The bound.
        upper : bool
            Whether it is an upper bound.

        Returns
        -------
        Expression
            The bound, moved.
        """
        if not self.subtracts(bound):
            return bound
        if isinstance(bound, Maximum | Minimum):
            parts = [self.outwards(argument, upper) for argument in bound.arguments]
            return maximum(*parts) if isinstance(bound, Maximum) else minimum(*parts)
        if isinstance(bound, Sum) and all(map(self._not_negative, bound.terms)):
            return add(*(self.outwards(term, upper) for term in bound.terms))
        if (
            isinstance(bound, Product)
            and self._not_negative(bound)
            and all(e > 0 for _, e in bound.factors)
        ):
            factors = (power(self.outwards(b, upper), e) for b, e in bound.factors)
            return multiply(bound.coefficient, *factors)
        return bound + (1 if upper else -1) * Fraction(ROUNDING) * self.magnitude(bound)

    @remembered
    def _not_negative(self, node: Expression) -> bool:
        """Whether a bound is ≥ 0 at a glance, also after what it consists of is moved down."""
        if isinstance(node, Constant):
            return node.value >= 0
        if isinstance(node, Symbol):
            return node.name not in self.signed
        if isinstance(node, Product) and node.coefficient <= 0:
            return False
        return (any if isinstance(node, Maximum) else all)(map(self._not_negative, node.children))

    def of_divisor(self, bound: Expression, upper: bool) -> Expression:
        """A bound of what is positive, moved by the rounding of what it subtracts, to divide by.

        Differences within extrema are moved by themselves: they may be much larger than the
        extremum. Ceilings are whole, and moved already.

        Parameters
        ----------
        bound : Expression
            The bound.
        upper : bool
            Whether it is an upper bound.

        Returns
        -------
        Expression
            The bound, moved.
        """
        if not self.subtracts(bound) or isinstance(bound, CeilingDivision):
            return bound
        if isinstance(bound, Maximum | Minimum):
            parts = (self.of_divisor(argument, upper) for argument in bound.arguments)
            return (maximum if isinstance(bound, Maximum) else minimum)(*parts)
        whole = (Maximum, Minimum, CeilingDivision)
        if isinstance(bound, Sum) and all(
            isinstance(term, whole) or not self.subtracts(term) for term in bound.terms
        ):
            return add(*(self.of_divisor(term, upper) for term in bound.terms))
        return self.outwards(bound, upper)

    def ceiling(self, bound: Expression, upper: bool, *, nonnegative: bool) -> Expression:
        """The ceiling of a bound, evaluated in floats.

        A float just above a whole number must not be taken for the next one (below it, for an upper
        bound): the bound is moved by 2**-40 first, away from zero for an upper bound that is not
        negative and towards it for such a lower one. For negative numbers the directions change
        places; where the sign is not known, the further of both is taken. What the bound subtracts
        may cancel: it is moved before by the rounding of its largest intermediate result
        (`outwards`).

        Parameters
        ----------
        bound : Expression
            The bound.
        upper : bool
            Whether it is an upper bound.
        nonnegative : bool
            Whether the bound is known not to be negative.

        Returns
        -------
        Expression
            Its ceiling.
        """
        bound = self.outwards(bound, upper)
        towards_zero = 1 - Fraction(1, 2**40)
        inwards, outwards = bound * towards_zero, bound * (1 / towards_zero)
        if not nonnegative:
            return ceiling_division((maximum if upper else minimum)(inwards, outwards), 1)
        return ceiling_division(outwards if upper else inwards, 1)


def subtracts(node: Expression) -> bool:
    """Whether evaluating an expression of positive symbols may cancel digits."""
    return Margins().subtracts(node)


def magnitude(node: Expression, *, capped: bool = False) -> Expression:
    """An expression of positive symbols no smaller than any intermediate result of evaluating
    ``node``; where ``capped``, minima that a number caps (`cap`) count as that alone."""
    return Margins(capped=capped).magnitude(node)


def cap(node: Expression) -> Expression | None:
    """An expression no smaller than the magnitude of a minimum that a number caps; None of anything
    else."""
    parts = node.children if isinstance(node, Minimum) else ()
    tops = [part for part in parts if isinstance(part, Constant)]
    sums = [
        gains_and_losses(part)
        for part in parts  # a maximum of 0 and something is not negative, whatever that is
        if not (isinstance(part, Maximum) and ZERO in part.arguments)
    ]
    if not tops or any(subtracts(gains) for gains, _ in sums):
        return None
    return maximum(*(magnitude(own) for own in (*tops, *(loss for _, loss in sums))))


def duality_below(bound: float, magnitude: float) -> float:
    """A bound from weak duality less its rounding: of a few hundred products each errs by 2**-53,
    logarithms by a few times that, relative to the sum of magnitudes."""
    return bound - 2.0**-42 * magnitude


# -- whole numbers in floats: CP-SAT --------------------------------------------------------


def integer_bound(bound: float, reach: int) -> int | None:
    """The lower bound of an integer objective that a solver reports in floats; None if it says
    nothing.

    Where the objective cannot reach 2**52, a float holds it exactly, and what the solver adds in
    its own floats is far below 1e-3: a bound less than that above an integer is not taken for the
    next one. Beyond, the solver has added an offset to what it bounds, either as large as the
    objective's reach, and a few roundings of 2**-53 of that may be all that is left.
    """
    exact = 2**52
    if not isfinite(bound):
        return None
    return ceil(bound - 1e-3) if reach < exact else floor(bound) - 8 * ceil(Fraction(reach, exact))


def on_grid(bound: float | Fraction, step: Fraction) -> Fraction:
    """The least multiple of a step, if there is one, that a bound allows."""
    return ceil(Fraction(bound) / step) * step if step else Fraction(bound)
