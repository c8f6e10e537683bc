"""Arithmetic expressions as CP-SAT constraints, exactly.

CP-SAT takes linear constraints over bounded integers, products, maxima and tables. `Encoder`
translates an `Expression` (``+ − × ÷``, ceiling division, maximum, minimum) over quantities
that are fixed by choosing one row per *axis*. A quantity with a plain finite domain is an axis
of one quantity, whose rows are the domain.

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
``a / b ≤ limit``                      ``a − limit·b ≤ 0``, for b > 0 of several axes
=====================================  =========================================================

Every choice of rows extends to exactly one assignment of the other variables. A division by a
quantity of several axes has no other encoding than those above. It is refused with a
`NotExpressibleError`, and so is what could leave the integers that CP-SAT computes with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, floor, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from ithaca.formulations.expression import (
    CeilingDivision,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    maximum,
    minimum,
    multiply,
    power,
    split_coefficient,
    walk,
)
from ithaca.formulations.number_systems import FRACTION
from ithaca.solver.cpsat.columns import column_values, row_quantities
from ithaca.solver.cpsat.linear import LinearForm, NotExpressibleError, add_forms, constant_form, grid

#: Largest magnitude handed to CP-SAT, which computes with 64-bit integers.
LARGEST = 2**62

#: Characters of an expression in a message.
LONGEST_TEXT = 60

Table: TypeAlias = Mapping[str, NDArray[np.int64]]


class Encoder:
    """Encodes expressions over the rows of axes into a CP-SAT model.

    Call `finish` once when all expressions are encoded: only then are columns tied to rows.

    Parameters
    ----------
    model : CpModel
        Receives variables and constraints.
    tables : mapping of str to mapping of str to array
        For each axis its rows: an integer array per quantity, all of one length ≥ 1.

    Attributes
    ----------
    columns : mapping of str to mapping of tuple of int to IntVar
        Per axis the variable of each column by its values on the rows.
    monomials : mapping of Expression to LinearForm
        The encoded products of columns of several axes.
    """

    def __init__(self, model: cp_model.CpModel, tables: Mapping[str, Table]) -> None:
        self.model = model
        self.columns: dict[str, dict[tuple[int, ...], cp_model.IntVar]] = {axis: {} for axis in tables}
        self.monomials: dict[Expression, LinearForm] = {}
        self._axis_of = {symbol: axis for axis, table in tables.items() for symbol in table}
        self._counts = {axis: len(next(iter(table.values()))) for axis, table in tables.items()}
        self._quantities = {axis: row_quantities(table) for axis, table in tables.items()}
        self._variables: dict[int, cp_model.IntVar] = {}
        self._reach: dict[int, int] = {}
        self._forms: dict[Expression, LinearForm] = {}
        self._products: dict[tuple[int, int], LinearForm] = {}
        self._axes: dict[Expression, frozenset[str]] = {}

    # -- public ------------------------------------------------------------------------

    def encode(self, node: Expression) -> LinearForm:
        """A linear form that equals the expression in every assignment of the model.

        Raises
        ------
        NotExpressibleError
            If CP-SAT cannot express it exactly.
        """
        if node not in self._forms:
            self._forms[node] = self._encode(node)
        return self._forms[node]

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
                capped = factor if factor.high <= high else self._equal_variable(factor, high)
                form = self._multiply(form, capped, form.low * high)
            self._forms[node] = form.scaled(coefficient)
        form = self.encode(node)
        self.require_form_at_most(form, bound)
        return form

    def axes(self, node: Expression) -> frozenset[str]:
        """The axes an expression depends on."""
        if node not in self._axes:
            if isinstance(node, Symbol):
                self._axes[node] = frozenset({self._axis_of[node.name]})
            else:
                self._axes[node] = frozenset().union(*(self.axes(c) for c in node.children))
        return self._axes[node]

    def require_at_most(self, node: Expression, bound: Fraction) -> None:
        """Add ``node ≤ bound``, multiplied by the divisors of several axes it has, which must be positive."""
        terms = node.terms if isinstance(node, Sum) else (node,)
        divisors: dict[Expression, int] = {}
        for term in terms:
            for base, exponent in term.factors if isinstance(term, Product) else ():
                if exponent < 0 and len(self.axes(base)) > 1:
                    divisors[base] = max(divisors.get(base, 0), -exponent)
        if divisors:
            for base in divisors:
                self._check_positive(base)
            multiplier = multiply(*(power(base, exponent) for base, exponent in divisors.items()))
            node, bound = add(*(multiply(t, multiplier) for t in terms), multiply(-bound, multiplier)), Fraction(0)
        self.require_form_at_most(self.encode(node), bound)

    def require_form_at_most(self, form: LinearForm, bound: Fraction) -> None:
        """Add ``form ≤ bound``; on the form's grid, so the bound need not be a multiple of anything."""
        free = form.without_constant()
        if form.high <= bound:
            return
        if form.is_constant:
            self.model.add_bool_or([])
            return
        step = grid(free)
        self.model.add(self.whole(free, step) <= floor((bound - form.constant) / step))

    def require_multiple(self, multiple: Expression, of: Expression) -> None:
        """Add that ``multiple`` is an integer multiple of ``of``; both are positive integers."""
        dividend, divisor = self.encode(multiple), self.encode(of)
        quotient = self._new_form(1, floor(dividend.high / divisor.low), "quotient")
        difference = add_forms(self._multiply(divisor, quotient), dividend.scaled(-1))
        self.require_form_at_most(difference, Fraction(0))
        self.require_form_at_most(difference.scaled(-1), Fraction(0))

    def numbered(self, axis: str, numbers: Sequence[int]) -> cp_model.IntVar:
        """The variable of a column that holds the given number on each row."""
        return self._column_variable(axis, tuple(numbers), f"number.{axis}")

    def whole(self, form: LinearForm, step: Fraction) -> Any:
        """``form / step`` as an integer expression of CP-SAT; ``step`` divides the form's grid."""
        coefficients = {variable: int(c / step) for variable, c in form.terms.items()}
        constant = int(form.constant / step)
        reach = abs(constant) + sum(abs(c) * self._reach[v] for v, c in coefficients.items())
        _check_magnitude(reach, "a sum")
        return (
            cp_model.LinearExpr.weighted_sum([self._variables[v] for v in coefficients], list(coefficients.values())) + constant
        )

    def finish(self) -> None:
        """Tie the columns of every axis to the choice of one row."""
        for columns in self.columns.values():
            if columns:
                # rows that agree in all columns are one to CP-SAT
                rows = dict.fromkeys(zip(*columns, strict=True))
                self.model.add_allowed_assignments(list(columns.values()), list(rows))

    # -- variables ---------------------------------------------------------------------

    def _register(self, variable: cp_model.IntVar, reach: int) -> None:
        self._variables[variable.index] = variable
        self._reach[variable.index] = reach

    def _new_form(self, low: int, high: int, name: str) -> LinearForm:
        """A new variable between two bounds."""
        reach = max(abs(low), abs(high))
        _check_magnitude(reach, f"a {name}")
        variable = self.model.new_int_var(low, high, f"{name}.{len(self._variables)}")
        self._register(variable, reach)
        return LinearForm({variable.index: Fraction(1)}, Fraction(0), Fraction(low), Fraction(high))

    def _column_variable(self, axis: str, whole: tuple[int, ...], name: str) -> cp_model.IntVar:
        known = self.columns[axis]
        if whole not in known:
            reach = max(map(abs, whole))
            _check_magnitude(reach, f"the column {name}")
            known[whole] = self.model.new_int_var_from_domain(cp_model.Domain.from_values(sorted(set(whole))), name)
            self._register(known[whole], reach)
        return known[whole]

    def _as_variable(self, form: LinearForm) -> tuple[int, Fraction]:
        """A variable and a factor whose product is the (not constant) form."""
        if len(form.terms) == 1 and not form.constant:
            ((variable, factor),) = form.terms.items()
            return variable, factor
        ((variable, factor),) = self._equal_variable(form, form.high).terms.items()
        return variable, factor

    def _equal_variable(self, form: LinearForm, high: Fraction) -> LinearForm:
        """A new variable that equals the form and does not exceed ``high``."""
        step = grid(form)
        new = self._new_form(ceil(form.low / step), floor(high / step), "sum")
        (variable,) = new.terms
        self.model.add(self._variables[variable] == self.whole(form, step))
        return new.scaled(step)

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
            return self._maximum([self.encode(a) for a in node.arguments])
        if isinstance(node, Minimum):
            return self._maximum([self.encode(a).scaled(-1) for a in node.arguments]).scaled(-1)
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
        by_axis: dict[str, list[Expression]] = {}
        forms = []
        for term in node.terms:
            axes = self.axes(term)
            if len(axes) == 1:
                by_axis.setdefault(next(iter(axes)), []).append(term)
            else:
                forms.append(self.encode(term))
        # one column for all terms of an axis has tighter bounds than one for each
        return add_forms(*forms, *(self.encode(add(*terms)) for terms in by_axis.values()))

    def _maximum(self, forms: Sequence[LinearForm]) -> LinearForm:
        low, high = max(f.low for f in forms), max(f.high for f in forms)
        forms = [f for f in forms if f.high > low or f.low == low]
        if low == high or len(forms) == 1:
            return constant_form(low) if low == high else forms[0]
        step = grid(*forms)
        largest = self._new_form(ceil(low / step), floor(high / step), "maximum").scaled(step)
        (variable,) = largest.terms
        self.model.add_max_equality(self._variables[variable], [self.whole(f, step) for f in forms])
        return largest

    def _ceiling(self, node: CeilingDivision) -> LinearForm:
        ratio = multiply(node.numerator, power(node.denominator, -1))
        if not self._divides_across_axes(ratio):
            top, bottom = self.encode(ratio), constant_form(Fraction(1))
        else:
            self._check_positive(node.denominator)
            top, bottom = self.encode(node.numerator), self.encode(node.denominator)
        if bottom == constant_form(Fraction(1)) and grid(top).denominator == 1:
            return top
        ends = [a / b for a in (top.low, top.high) for b in (bottom.low, bottom.high)]
        result = self._new_form(ceil(min(ends)), ceil(max(ends)), "ceiling")
        product = self._multiply(bottom, result)
        step = grid(top, bottom, product)
        excess = add_forms(product, top.scaled(-1))
        self.require_form_at_most(excess.scaled(-1), Fraction(0))
        self.require_form_at_most(add_forms(excess, bottom.scaled(-1)), -step)
        return result

    def _split(self, node: Product) -> tuple[list[Expression], list[tuple[Expression, int]]]:
        """One column per axis, and the factors that span several axes with their exponents."""
        by_axis: dict[str, list[Expression]] = {}
        spanning: list[tuple[Expression, int]] = []
        for base, exponent in node.factors:
            axes = self.axes(base)
            if len(axes) == 1:
                by_axis.setdefault(next(iter(axes)), []).append(power(base, exponent))
            elif exponent < 0:
                raise NotExpressibleError(f"CP-SAT: cannot express a division by '{_brief(base)}', which spans several loops")
            else:
                spanning.append((base, exponent))
        # in the order of the tables, so that products share their beginnings
        columns = [multiply(*by_axis[axis]) for axis in self.columns if axis in by_axis]
        return columns, spanning

    def _product(self, node: Product) -> LinearForm:
        columns, spanning = self._split(node)
        if len(spanning) == 1 and spanning[0][1] == 1:
            distributed = self._distributed(columns, spanning[0][0])
            if distributed is not None:
                return self.encode(distributed)
        form = reduce(self._multiply, self._factors(node))
        if not spanning:
            self.monomials[node] = form
        return form

    def _factors(self, node: Product) -> list[LinearForm]:
        columns, spanning = self._split(node)
        return [self.encode(c) for c in columns] + [self.encode(b) for b, e in spanning for _ in range(e)]

    def _distributed(self, columns: Sequence[Expression], base: Expression) -> Expression | None:
        if isinstance(base, Sum):
            return add(*(multiply(*columns, term) for term in base.terms))
        if isinstance(base, Maximum | Minimum) and all(self.encode(c).low >= 0 for c in columns):
            arguments = (multiply(*columns, a) for a in base.arguments)
            return maximum(*arguments) if isinstance(base, Maximum) else minimum(*arguments)
        return None

    def _multiply(self, a: LinearForm, b: LinearForm, most: Fraction | None = None) -> LinearForm:
        if a.is_constant or b.is_constant:
            return b.scaled(a.constant) if a.is_constant else a.scaled(b.constant)
        (x, x_factor), (y, y_factor) = self._as_variable(a), self._as_variable(b)
        factor, key = x_factor * y_factor, (min(x, y), max(x, y))
        if key not in self._products:
            corners = [p * q for p in (a.low, a.high) for q in (b.low, b.high)]
            ends = min(corners) / factor, (max(corners) if most is None else min(max(corners), most)) / factor
            self._products[key] = self._new_form(ceil(min(ends)), floor(max(ends)), "product")
            (product,) = self._products[key].terms
            self.model.add_multiplication_equality(self._variables[product], [self._variables[x], self._variables[y]])
        return self._products[key].scaled(factor)

    def _divides_across_axes(self, node: Expression) -> bool:
        return any(
            exponent < 0 and len(self.axes(base)) > 1
            for part in walk(node)
            if isinstance(part, Product)
            for base, exponent in part.factors
        )

    def _check_positive(self, divisor: Expression) -> None:
        if self.encode(divisor).low <= 0:
            raise NotExpressibleError(f"CP-SAT: cannot express a division by '{_brief(divisor)}', which is not proven positive")


def _check_magnitude(reach: int, what: str) -> None:
    if reach > LARGEST:
        raise NotExpressibleError(
            f"CP-SAT: {what} may reach {float(reach):.3g}, but its integers end at {float(LARGEST):.3g}; use another method"
        )


def _brief(node: Expression) -> str:
    text = str(node)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
