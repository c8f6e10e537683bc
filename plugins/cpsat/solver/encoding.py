"""Arithmetic expressions as CP-SAT constraints, exactly.

CP-SAT takes linear constraints over bounded integers, products, maxima and tables. `Encoder`
translates an `Expression` (``+ − × ÷``, ceiling division, maximum, minimum) over quantities
that are fixed by choosing one row per *axis*. A quantity with a plain finite domain is an axis
of one quantity, whose rows are the domain (`Encoder.over_domains`).

=====================================  =========================================================
expression                             encoding
=====================================  =========================================================
of one axis, however complicated       a *column*: its exact value on every row, scaled to
                                       integers, tied to the choice of the row by a table
sum, constant factor                   a `LinearForm` with rational coefficients; no variable
product over several axes              factors collected per axis into columns, then a chain of
                                       product constraints between bounded variables
``f · (a + b)``, ``f · max(a, b)``     distributed (a maximum only if f ≥ 0), so that the products
                                       regroup by axis
maximum, minimum                       a maximum constraint on the common grid of its arguments
``ceil(a / b)``                        if a/b has an encoding, ``c − 1 < a/b ≤ c`` on its grid;
                                       else ``a ≤ b·c < a + b`` on theirs, for b > 0
``a / b ≤ limit``                      ``a − limit·b ≤ 0``, for b > 0; sums and maxima of quotients
                                       are brought to a common denominator first
``a / b`` to be minimised              one program or several: `ithaca.plugins.cpsat.solver.ratio`
=====================================  =========================================================

Every choice of rows extends to exactly one assignment of the other variables. A division by a
quantity of several axes has no other encoding than those above. It is refused with a
`NotExpressibleError`, and so are variables that could leave the integers that CP-SAT computes with.

Nothing of this knows of loop nests or arrays. Here is a small problem of one's own, with quantities
that are chosen freely; related ones, such as a tile and the number of tiles, share a table of rows
(``Encoder(model, {"loop": {"tile": array, "tiles": array}})``).

>>> from fractions import Fraction
>>> from ortools.sat.python import cp_model
>>> from ithaca.formulations.algebra.expression import Symbol, ceiling_division, maximum
>>> from ithaca.formulations.algebra.number_systems import FRACTION
>>> from ithaca.plugins.cpsat.solver.encoding import Encoder
>>> tile, lanes, pack = Symbol("tile"), Symbol("lanes"), Symbol("pack")
>>> work = ceiling_division(1000, tile) * ceiling_division(tile, lanes)
>>> traffic = 3000 / pack + tile * lanes / 3
>>> cost = maximum(work, traffic)
>>> model = cp_model.CpModel()
>>> domains = {"tile": range(1, 101), "lanes": range(1, 33), "pack": (1, 2, 4, 8)}
>>> encoder = Encoder.over_domains(model, domains)
>>> encoder.require_at_most(lanes * pack, 64)
>>> encoder.require_at_most(traffic / work, Fraction(2, 3))
>>> encoder.minimize(cost)
>>> encoder.finish()
>>> solver = cp_model.CpSolver()
>>> solver.parameters.num_workers = 1
>>> solver.solve(model) == cp_model.OPTIMAL
True
>>> best = encoder.quantities(solver.value)
>>> best
{'tile': 7, 'lanes': 2, 'pack': 8}
>>> cost.evaluate(best, FRACTION)
Fraction(572, 1)

An expression can be read from a Pyomo model too: see `ithaca.plugins.cpsat.solver.from_pyomo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import starmap
from math import floor, gcd, lcm, prod
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from ortools.sat.python import cp_model

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    add,
    as_expression,
    maximum,
    minimum,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.space import Link, Relation
from ithaca.plugins.cpsat.solver.arithmetic import (
    FormArithmetic,
    LinearForm,
    add_forms,
    check_magnitude,
    constant_form,
    grid,
)
from ithaca.plugins.cpsat.solver.quotients import Quotient, as_quotient
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.options import never
from ithaca.solver.tables.axis_groups import AxisGroups

#: Characters of an expression in a message.
LONGEST_TEXT = 60

#: Largest denominator of a column that divides; a quotient with a finer one is cleared of the
#: division.
FINEST = 1024

AxisRows: TypeAlias = Mapping[str, Integers]


class Encoder(FormArithmetic, AxisGroups):
    """Encodes expressions over the rows of axes (equally long integer arrays per quantity) into a
    CP-SAT model.

    Call `finish` once when all expressions are encoded: only then are columns tied to rows. What
    CP-SAT cannot express exactly raises `NotExpressibleError`.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        tables: Mapping[str, AxisRows],
        checkpoint: Callable[[], None] = never,
    ) -> None:
        FormArithmetic.__init__(self, model)
        AxisGroups.__init__(
            self, {symbol: axis for axis, table in tables.items() for symbol in table}
        )
        self._checkpoint = checkpoint  #: Called now and then; what it raises ends the encoding
        #: Per axis the variable of each column by its values on the rows.
        self.columns: dict[str, dict[tuple[int, ...], cp_model.IntVar]] = {
            axis: {} for axis in tables
        }
        #: The encoded products of columns of several axes.
        self.monomials: dict[Expression, LinearForm] = {}
        self._tables = tables
        self._counts = {axis: len(next(iter(table.values()))) for axis, table in tables.items()}
        self._quantities = {
            axis: {name: Rationals(values.astype(object)) for name, values in table.items()}
            for axis, table in tables.items()
        }
        self._forms: dict[Expression, LinearForm] = {}

    @classmethod
    def over_domains(cls, model: cp_model.CpModel, domains: Mapping[str, Iterable[int]]) -> Encoder:
        """An encoder over quantities that are chosen freely, each from a finite set of integers."""
        return cls(
            model,
            {name: {name: np.array(list(values), np.int64)} for name, values in domains.items()},
        )

    # -- public ------------------------------------------------------------------------

    def encode(self, node: Expression) -> LinearForm:
        """A linear form that equals the expression in every assignment of the model."""
        if node not in self._forms:
            self._checkpoint()
            self._forms[node] = self._encode(node)
        return self._forms[node]

    def quotient(self, node: Expression) -> Quotient:
        """The expression over one denominator, such that both parts have an encoding; refused
        unless it is proven positive."""
        quotient = as_quotient(node, self._cleared)
        for divisor in quotient.divisors:
            self.check_divisor(divisor)
        return quotient

    def check_divisor(self, divisor: Expression) -> None:
        """Refuse what is not proven positive."""
        axes = self.axes(divisor)
        if len(axes) == 1:
            (axis,) = axes
            whole, _ = column_values(divisor, self._quantities[axis], self._counts[axis])
            positive = min(whole) > 0
        else:
            positive = self.encode(divisor).low > 0
        if not positive:
            raise NotExpressibleError(
                "CP-SAT: cannot express a division by "
                f"'{brief(divisor)}', which is not proven positive"
            )

    def encode_at_most(self, node: Expression, bound: Fraction) -> LinearForm:
        """Like `encode`, and add ``node ≤ bound``.

        Factors of a product are then bounded by the smallest values of the others, which keeps
        products of large quantities within 64 bits.
        """
        coefficient, monic = split_coefficient(node)
        factors = self._factors(monic) if isinstance(monic, Product) and coefficient > 0 else []
        least, most = prod((f.low for f in factors), start=coefficient), bound
        if len(factors) > 1 and all(f.low > 0 for f in factors) and least <= most:
            form = constant_form(Fraction(1))
            for factor in factors:
                high = factor.low * most / least
                capped = factor if factor.high <= high else self.equal_variable(factor, high)
                form = self.multiply(form, capped, form.low * high)
            self._forms[node] = form.scaled(coefficient)
        form = self.encode(node)
        self.require_form_at_most(form, bound)
        return form

    def minimize(self, node: Expression) -> None:
        """Set the objective; one that divides by several axes is for
        `ithaca.plugins.cpsat.solver.ratio`."""
        free = self.encode(node).without_constant()
        self.model.minimize(self.whole(free, grid(free)))

    def require_at_most(self, node: Expression, bound: Fraction | int) -> None:
        """Add ``node ≤ bound``; the divisors it is cleared of must be positive."""
        if isinstance(node, Maximum):
            for argument in node.arguments:
                self.require_at_most(argument, bound)
            return
        quotient = self.quotient(node)
        if quotient.divisors:
            node, bound = add(quotient.over, multiply(-bound, quotient.under)), 0
        with quotient.explained():
            self.require_form_at_most(self.encode(node), Fraction(bound))

    def require_multiple(self, multiple: Expression, of: Expression) -> None:
        """Add that ``multiple`` is an integer multiple of ``of``; both are positive integers."""
        dividend, divisor = self.encode(multiple), self.encode(of)
        quotient = self.new_form(1, floor(dividend.high / divisor.low), "quotient")
        difference = add_forms(self.multiply(divisor, quotient), dividend.scaled(-1))
        self.require_form_at_most(difference, Fraction(0))
        self.require_form_at_most(difference.scaled(-1), Fraction(0))

    def require(self, link: Link) -> None:
        """Add a rule of a space."""
        if link.relation is Relation.DIVIDES:
            self.require_multiple(link.right, link.left)
            return
        self.require_at_most(link.left - link.right, Fraction(0))
        if link.relation is Relation.EQUAL:
            self.require_at_most(link.right - link.left, Fraction(0))

    def finish(self) -> None:
        """Tie the columns of every axis to the choice of one row."""
        for columns in self.columns.values():
            if columns:
                # rows that agree in all columns are one to CP-SAT
                rows = dict.fromkeys(zip(*columns, strict=True))
                self.model.add_allowed_assignments(list(columns.values()), list(rows))

    def quantities(self, read: Callable[[cp_model.IntVar], int]) -> dict[str, int]:
        """The quantities in a solution (read by `CpSolver.value`): of each axis the first row that
        agrees in all columns."""
        numbers: dict[str, int] = {}
        for axis, columns in self.columns.items():
            chosen = tuple(read(variable) for variable in columns.values())
            row = (
                next(row for row, seen in enumerate(zip(*columns, strict=True)) if seen == chosen)
                if columns
                else 0
            )
            numbers |= {symbol: int(values[row]) for symbol, values in self._tables[axis].items()}
        return numbers

    # -- columns -----------------------------------------------------------------------

    def _column_variable(self, axis: str, whole: tuple[int, ...], name: str) -> cp_model.IntVar:
        known = self.columns[axis]
        if whole not in known:
            reach = max(map(abs, whole))
            check_magnitude(reach, f"the column {name}")
            known[whole] = self.model.new_int_var_from_domain(
                cp_model.Domain.from_values(sorted(set(whole))), name
            )
            self._register(known[whole], reach)
        return known[whole]

    # -- the encodings -----------------------------------------------------------------

    def _encode(self, node: Expression) -> LinearForm:
        axes = self.axes(node)
        if not axes:
            return constant_form(node.evaluate({}, FRACTION))
        coefficient, monic = split_coefficient(node)
        if coefficient != 1:
            return self.encode(monic).scaled(coefficient)
        if len(axes) == 1:
            return self._column(next(iter(axes)), node)
        if isinstance(node, Sum):
            return self._sum(node)
        if isinstance(node, Maximum):
            return self.maximum([self.encode(a) for a in node.arguments])
        if isinstance(node, Minimum):
            return self.maximum([self.encode(a).scaled(-1) for a in node.arguments]).scaled(-1)
        if isinstance(node, CeilingDivision):
            return self._ceiling(node)
        if isinstance(node, Product):
            return self._product(node)
        raise TypeError(f"cannot encode {node}")

    def _column(self, axis: str, node: Expression) -> LinearForm:
        whole, step = column_values(node, self._quantities[axis], self._counts[axis])
        low, high = min(whole), max(whole)
        if low == high:
            return constant_form(low * step)
        variable = self._column_variable(axis, whole, f"{node}")
        return LinearForm({variable.index: step}, Fraction(0), low * step, high * step)

    def _sum(self, node: Sum) -> LinearForm:
        by_axis, others = self.grouped(node.terms, as_expression)
        # one column for all terms of an axis has tighter bounds than one for each
        return add_forms(*map(self.encode, (*others, *(add(*terms) for terms in by_axis.values()))))

    def _ceiling(self, node: CeilingDivision) -> LinearForm:
        quotient = self.quotient(multiply(node.numerator, power(node.denominator, -1)))
        return self.ceiling(self.encode(quotient.over), self.encode(quotient.under))

    def _split(self, node: Product) -> tuple[list[Expression], list[tuple[Expression, int]]]:
        """One column per axis, and the factors that span several axes with their exponents."""
        by_axis, spanning = self.grouped(node.factors, itemgetter(0))
        if base := next((base for base, exponent in spanning if exponent < 0), None):
            raise NotExpressibleError(
                f"CP-SAT: cannot express a division by '{brief(base)}', which spans several loops"
            )
        # in the order of the tables, so that products share their beginnings
        columns = [
            multiply(*starmap(power, by_axis[axis])) for axis in self.columns if axis in by_axis
        ]
        return columns, spanning

    def _product(self, node: Product) -> LinearForm:
        columns, spanning = self._split(node)
        if len(spanning) == 1 and spanning[0][1] == 1:
            distributed = self._distributed(columns, spanning[0][0])
            if distributed is not None:
                return self.encode(distributed)
        form = reduce(self.multiply, self._factors(node))
        if not spanning:
            self.monomials[node] = form
        return form

    def _factors(self, node: Product) -> list[LinearForm]:
        columns, spanning = self._split(node)
        return [self.encode(c) for c in columns] + [
            self.encode(b) for b, e in spanning for _ in range(e)
        ]

    def _distributed(self, columns: Sequence[Expression], base: Expression) -> Expression | None:
        if isinstance(base, Sum):
            return add(*(multiply(*columns, term) for term in base.terms))
        if isinstance(base, Maximum | Minimum) and all(self.encode(c).low >= 0 for c in columns):
            arguments = (multiply(*columns, a) for a in base.arguments)
            return maximum(*arguments) if isinstance(base, Maximum) else minimum(*arguments)
        return None

    def _cleared(self, product: Product) -> frozenset[Expression]:
        """The bases that a product cannot divide by as it stands: of several axes, or making a
        column too fine."""
        by_axis, spanning = self.grouped(product.factors, itemgetter(0))
        bases = {base for base, exponent in spanning if exponent < 0}
        for axis, factors in by_axis.items():
            under = [base for base, exponent in factors if exponent < 0]
            if under and not divides_finely(
                multiply(*starmap(power, factors)), self._quantities[axis], FINEST
            ):
                bases.update(under)
        return frozenset(bases)


def brief(node: object) -> str:
    """The beginning of an expression's text, for a message."""
    text = str(node)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def column_values(
    expression: Expression, quantities: Mapping[str, Rationals], count: int
) -> tuple[tuple[int, ...], Fraction]:
    """Values of an expression on all rows of a table, as integers.

    Parameters
    ----------
    expression : Expression
        The expression.
    quantities : Mapping of str to Rationals
        Columns of the quantities that it is over.
    count : int
        Rows of the table.

    Returns
    -------
    tuple of tuple of int and Fraction
        The integers, and the step that they count.
    """
    try:
        exact: Rationals = expression.evaluate(quantities, RATIONAL_ARRAYS)
    except ZeroDivisionError:
        raise NotExpressibleError(
            "CP-SAT: a quantity is divided by another that can be 0"
        ) from None
    numerators, denominator = exact.over_one_denominator(count)
    values = [int(v) for v in numerators]
    divisor = gcd(*values) or 1
    return tuple(v // divisor for v in values), Fraction(divisor, denominator)


def divides_finely(product: Expression, quantities: Mapping[str, Rationals], most: int) -> bool:
    """Whether a product of powers is a multiple of one ``1/n`` on every row of a table.

    Parameters
    ----------
    product : Expression
        The product.
    quantities : Mapping of str to Rationals
        Columns of the quantities that it is over.
    most : int
        The largest n.

    Returns
    -------
    bool
        Whether it is.
    """
    factors = product.factors if isinstance(product, Product) else ()
    over, under = (
        multiply(
            *(power(base, sign * exponent) for base, exponent in factors if sign * exponent > 0)
        )
        for sign in (1, -1)
    )
    above, below = (
        expression.evaluate(quantities, RATIONAL_ARRAYS) for expression in (over, under)
    )
    values = np.broadcast_arrays(
        *(np.asarray(v, object) for v in (above.over * below.under, below.over * above.under))
    )
    common = 1
    for top, bottom in dict.fromkeys(zip(*(v.ravel().tolist() for v in values), strict=True)):
        common = lcm(common, bottom // gcd(top, bottom)) if bottom else 0
        if not 0 < common <= most:
            return False
    return True
