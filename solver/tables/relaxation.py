"""Bound an expression over a region, symbolically.

A region assigns each axis a set of rows. The bound of an expression over a region is again an
expression, over *column statistics*: the smallest (``low``) or largest (``high``) value that a
single-axis subexpression, a *column*, takes on the axis' rows. Because whole per-loop factors
such as tiles·t1 become columns, the bound is much tighter than one from the ranges of tiles and
t1 apart: it is interval evaluation of the one cost model, with every product regrouped by axis.

All quantities are positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import starmap
from operator import itemgetter

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.algebra.domains import Signs, all_divisors, least
from ithaca.formulations.algebra.expression import (
    ONE,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    as_expression,
    maximum,
    minimum,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.rounding import Margins
from ithaca.formulations.algebra.sums import summands
from ithaca.formulations.remembered import remembered
from ithaca.solver.options import never
from ithaca.solver.tables.axis_groups import AxisGroups
from ithaca.solver.tables.granularity import common_divisor


class Relaxation(AxisGroups, Signs, Margins):
    """Rewrites expressions into bounds over column statistics, and keeps the columns.

    ``least`` gives a number of the sign of the smallest value of a single-axis expression over all
    rows of its axis. What ``checkpoint``, called now and then, raises ends the rewriting.
    """

    def __init__(
        self,
        axis_of: Mapping[str, str],
        least: Callable[[str, Expression], float],
        checkpoint: Callable[[], None] = never,
    ) -> None:
        AxisGroups.__init__(self, axis_of)
        Margins.__init__(self)
        self._checkpoint = checkpoint
        self._least = least
        self.columns: dict[tuple[str, Expression], int] = {}
        #: Products, as their factors, all positive, and what each is no less than wherever a rule
        #: is met.
        self.floors: list[tuple[dict[Expression, int], Expression]] = []
        #: What bounds depend on beside the expressions: signs of the least values over axes' rows.
        self.signs: dict[tuple[str, Expression], float] = {}

    # -- public ------------------------------------------------------------------------

    @remembered
    def lower(self, node: Expression) -> Expression:
        """Expression over statistics that never exceeds ``node`` on the region."""
        bound = self._bound(node, upper=False)
        # n − 1, which is known not to be negative, says so in its bound, too: then it loses no more
        # than its own rounding
        whole = isinstance(node, Sum) and len(self.axes(node)) > 1 and self.nonnegative(node)
        unseen = whole and not all(map(self.nonnegative, node.children))
        return maximum(bound, 0) if unseen else bound

    @remembered
    def upper(self, node: Expression) -> Expression:
        """Expression over statistics that ``node`` never exceeds on the region."""
        return self._bound(node, upper=True)

    def check_divisors(self, node: Expression) -> None:
        """Refuse an expression whose divisors it cannot bound: those that a model has of its own
        and does not show to be positive; quantities, their sums and products are."""
        for divisor in all_divisors(node):
            if not self.positive(divisor):
                raise InputError(
                    f"objective or limit divides by {quoted(str(divisor))}, which may be 0 or "
                    "negative; allowed: divisors that are positive for every configuration"
                )

    def sign(self, axis: str, node: Expression) -> float:
        """The sign of the least value of an expression over the rows of its axis."""
        if (axis, node) not in self.signs:
            self.signs[axis, node] = float(np.sign(self._least(axis, node)))
        return self.signs[axis, node]

    # -- the rewriting -----------------------------------------------------------------

    def _bound(self, node: Expression, upper: bool) -> Expression:
        self._checkpoint()
        axes = self.axes(node)
        if not axes:
            return node
        if len(axes) == 1:
            return self._column(next(iter(axes)), node, upper)
        if isinstance(node, Sum):
            return self._sum(node, upper)
        if isinstance(node, Maximum):
            return maximum(*(self._either(a, upper) for a in node.arguments))
        if isinstance(node, Minimum):
            return minimum(*(self._either(a, upper) for a in node.arguments))
        if isinstance(node, CeilingDivision):
            ratio = multiply(
                node.numerator, power(self._saturated(node.denominator, node.numerator), -1)
            )
            bound = self._either(ratio, upper)
            return self.ceiling(bound, upper, nonnegative=self.nonnegative(ratio))
        if isinstance(node, Product):
            return self._product(node, upper)
        raise TypeError(f"cannot bound {node}")

    def _either(self, node: Expression, upper: bool) -> Expression:
        return self.upper(node) if upper else self.lower(node)

    def _saturated(self, divisor: Expression, dividend: Expression) -> Expression:
        """A divisor for the same ceiling, that takes no notice of factors beyond the dividend, so
        that rows dominate others.

        ⌈c / Π f⌉ = ⌈c / Π min(f, c)⌉ for f ≥ 1: where a factor is c or more, both are 1.
        """
        if not (
            isinstance(dividend, Constant) and isinstance(divisor, Product) and dividend.value >= 1
        ):
            return divisor
        simple, compound = self._regroup(divisor)
        if compound or divisor.coefficient != 1 or any(least(factor) < 1 for factor, _ in simple):
            return divisor
        return multiply(*(minimum(factor, dividend) for factor, _ in simple))

    def _column(self, axis: str, node: Expression, upper: bool) -> Expression:
        coefficient, monic = split_coefficient(node)
        if (axis, monic) not in self.columns and not self.nonnegative(monic):
            self.signed |= {statistic(len(self.columns), high).name for high in (False, True)}
        index = self.columns.setdefault((axis, monic), len(self.columns))
        return multiply(coefficient, statistic(index, upper == (coefficient > 0)))

    def _sum(self, node: Sum, upper: bool) -> Expression:
        single, others = self.grouped(node.terms, as_expression)
        return add(
            *(
                self._either(term, upper)
                for term in (*self._joined(others), *(add(*terms) for terms in single.values()))
            )
        )

    def _joined(self, terms: Sequence[Expression]) -> Sequence[Expression]:
        """Terms of a sum, as one where what one axis contributes is all that they differ in.

        a·f(i)·g(j) + b·h(i)·g(j) is (a·f + b·h)(i)·g(j): fewer products to bound, and of one axis
        the sum itself is bounded. Terms that may be negative stay apart: their sum may have any
        sign.
        """
        able = [isinstance(t, Product) and t.coefficient > 0 and self.nonnegative(t) for t in terms]
        if sum(able) < 2:
            return terms
        parts = [
            self._by_axis(term)
            for term, can in zip(terms, able, strict=True)
            if can and isinstance(term, Product)
        ]
        for axis in sorted({axis for _, part in parts for axis in part} - {""}):
            alike: dict[frozenset[tuple[str, Expression]], list[tuple[Fraction, Expression]]] = {}
            for coefficient, part in parts:
                own = part.pop(axis, ONE)
                alike.setdefault(frozenset(part.items()), []).append((coefficient, own))
            parts = []
            for others, summed in alike.items():
                scale, own = summed[0]
                if len(summed) > 1:
                    # whole coefficients are exact in doubles
                    scale = common_divisor(coefficient for coefficient, _ in summed)
                    own = add(*(multiply(c / scale, factor) for c, factor in summed))
                parts.append((scale, {**dict(others), axis: own}))
        alone = (term for term, can in zip(terms, able, strict=True) if not can)
        return [*alone, *(multiply(scale, *part.values()) for scale, part in parts)]

    def _by_axis(self, node: Product) -> tuple[Fraction, dict[str, Expression]]:
        """The coefficient of a product, and its factors: one of each axis, those that span several
        under no name."""
        by_axis, by_axis[""] = self.grouped(node.factors, itemgetter(0))
        parts = {axis: multiply(*starmap(power, own)) for axis, own in by_axis.items() if own}
        return node.coefficient, parts

    def _product(self, node: Product, upper: bool) -> Expression:
        if node.coefficient < 0:
            return multiply(
                node.coefficient, self._either(multiply(1 / node.coefficient, node), not upper)
            )
        simple, compound = self._regroup(node)
        if not all(self.nonnegative(base) for base, _ in (*simple, *compound)):
            return self._general_product(node, upper)
        rest = multiply(node.coefficient, *(power(b, e) for b, e in simple))
        for index, (base, exponent) in enumerate(compound):
            if exponent == 1 and self._distributes(base):
                # a nonnegative factor may enter a sum or an extremum, where it regroups by axis
                outer = multiply(
                    rest, *(power(b, e) for i, (b, e) in enumerate(compound) if i != index)
                )
                join = {Sum: add, Maximum: maximum, Minimum: minimum}[type(base)]
                parts = self._joined(summands(base)) if isinstance(base, Sum) else base.children
                return self._either(join(*(multiply(outer, c) for c in parts)), upper)
        factors = [self._bound_power(b, e, upper) for b, e in compound]
        bounds = [
            multiply(
                node.coefficient, *(self._either(power(b, e), upper) for b, e in simple), *factors
            )
        ]
        bounds += self._inverted(node, compound, upper)
        if not upper:
            bounds += self._without_ceilings(node, compound)
            bounds += [self.lower(other) for other in self._no_less(node)]
        return (minimum if upper else maximum)(*bounds)

    def _distributes(self, base: Expression) -> bool:
        """Whether a nonnegative factor of a base is one of all that it consists of."""
        return isinstance(base, Sum | Maximum | Minimum) and all(
            map(self.nonnegative, base.children)
        )

    def _inverted(
        self, node: Product, compound: list[tuple[Expression, int]], upper: bool
    ) -> list[Expression]:
        """Bound a quotient by its reciprocal.

        t / (a + b) is 1 / (a/t + b/t), and likewise for a maximum: in the reciprocal every quotient
        regroups by axis. Only what is distributed there is worth it, and makes an end: what is
        inverted once more has fewer sums and extrema.
        """
        if not any(e == -1 and self._distributes(b) for b, e in compound):
            return []
        if not all(self.positive(b) for b, _ in node.factors):
            return []
        reciprocal = self.of_divisor(self._either(power(node, -1), not upper), not upper)
        return [power(reciprocal, -1)]

    def _without_ceilings(
        self, node: Product, compound: list[tuple[Expression, int]]
    ) -> list[Expression]:
        """Bounds with a ceiling dropped: looser by itself, but its factors regroup by axis."""
        looser = []
        for base, exponent in compound:
            if isinstance(base, CeilingDivision) and exponent == 1:
                looser.append(
                    self.lower(
                        multiply(node, power(base, -1), base.numerator, power(base.denominator, -1))
                    )
                )
        return looser

    def _no_less(self, node: Product) -> Iterator[Expression]:
        """Products that one is not less than: a part of it is stated by what a rule wants of it.

        A product that is not negative leaves nothing negative without its positive factors.
        """
        factors = dict(node.factors)
        for part, least_part in self.floors:
            if all(factors.get(base, 0) >= exponent for base, exponent in part.items()):
                rest = ((base, e - part.get(base, 0)) for base, e in node.factors)
                yield multiply(node.coefficient, least_part, *starmap(power, rest))

    def _regroup(
        self, node: Product
    ) -> tuple[list[tuple[Expression, int]], list[tuple[Expression, int]]]:
        """Factors collected per axis, and factors that span several axes."""
        by_axis, compound = self.grouped(node.factors, itemgetter(0))
        return [(multiply(*starmap(power, factors)), 1) for factors in by_axis.values()], compound

    def _bound_power(self, base: Expression, exponent: int, upper: bool) -> Expression:
        if exponent > 0:
            return power(self._either(base, upper), exponent)
        bound = self.of_divisor(self._either(base, not upper), not upper)
        low = least(base)
        if upper and low > 0 and self.subtracts(bound):
            # where more cancels than is left, rounding may have moved it below 0
            bound = maximum(bound, Fraction(low))
        return power(bound, exponent)

    def _general_product(self, node: Product, upper: bool) -> Expression:
        """Interval product of factors of unknown sign."""
        simple, compound = self._regroup(node)
        low: Expression = Constant(node.coefficient)
        high: Expression = low
        for base, exponent in (*simple, *compound):
            sign = 1 if exponent > 0 else -1
            ends = (
                self._bound_power(base, sign, upper=False),
                self._bound_power(base, sign, upper=True),
            )
            for _ in range(abs(exponent)):
                corners = [multiply(a, b) for a in (low, high) for b in ends]
                low, high = minimum(*corners), maximum(*corners)
        return high if upper else low

    def _sign(self, node: Expression) -> float | None:
        axes = self.axes(node)
        return self.sign(next(iter(axes)), node) if len(axes) == 1 else None


@cache
def statistic(column: int, high: bool) -> Symbol:
    """The symbol of a column's smallest or largest value over a region."""
    return Symbol(f"{'high' if high else 'low'}.{column}")
