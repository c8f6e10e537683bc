"""Operations on linear forms as constraints of a CP-SAT model, exactly.

CP-SAT computes with 64-bit integers. Every variable and every sum is checked to fit when it is
stated; what does not is refused with a `NotExpressibleError`. A linear constraint whose
coefficients are too large is stated in digits instead (`FormArithmetic.leading`), so that only
variables have to fit, never their coefficients.

The cost model computes with rationals. A `LinearForm` keeps every
coefficient as a Fraction; only when a constraint is written is the whole form multiplied by a
common denominator of its coefficients. So nothing is ever rounded, least of all to zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from ortools.sat.python import cp_model

from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.tables.granularity import common_divisor


@dataclass(frozen=True, slots=True)
class LinearForm:
    """``constant + Σ coefficient · variable``, with bounds on its value."""

    terms: Mapping[int, Fraction]
    """Coefficient, never 0, by the variable's index in the CP-SAT model."""
    constant: Fraction
    """The constant that is added."""
    low: Fraction
    """The value lies between them in every assignment the model allows."""
    high: Fraction

    @property
    def is_constant(self) -> bool:
        """Whether the form has no variables."""
        return not self.terms

    def scaled(self, factor: Fraction | int) -> LinearForm:
        """The form times a number."""
        if not factor:
            return constant_form(Fraction(0))
        low, high = sorted((self.low * factor, self.high * factor))
        return LinearForm(
            {v: c * factor for v, c in self.terms.items()}, self.constant * factor, low, high
        )

    def without_constant(self) -> LinearForm:
        """The form minus its constant."""
        return LinearForm(
            self.terms, Fraction(0), self.low - self.constant, self.high - self.constant
        )

    def value(self, values: Mapping[int, int]) -> Fraction:
        """The form's value for values of its variables, by index."""
        return sum((c * values[v] for v, c in self.terms.items()), start=self.constant)


def constant_form(value: Fraction) -> LinearForm:
    """The form without variables."""
    return LinearForm({}, value, value, value)


def add_forms(*forms: LinearForm) -> LinearForm:
    """Sum of forms; its bounds add up theirs."""
    terms: dict[int, Fraction] = {}
    for form in forms:
        for variable, coefficient in form.terms.items():
            terms[variable] = terms.get(variable, Fraction(0)) + coefficient
    terms = {variable: coefficient for variable, coefficient in terms.items() if coefficient}
    constant = sum((form.constant for form in forms), start=Fraction(0))
    if not terms:
        return constant_form(constant)
    low = sum((form.low for form in forms), start=Fraction(0))
    high = sum((form.high for form in forms), start=Fraction(0))
    return LinearForm(terms, constant, low, high)


def grid(*forms: LinearForm) -> Fraction:
    """Largest step of which the values of all forms are integer multiples; 1 if all are 0."""
    return common_divisor(
        n for form in forms for n in (*form.terms.values(), form.constant)
    ) or Fraction(1)


#: Largest magnitude handed to CP-SAT, which computes with 64-bit integers.
LARGEST = 2**62

#: Characters of the names of what a variable is of, in its own.
LONGEST_NAME = 60


class FormArithmetic:
    """Adds variables and constraints to a model so that forms can be multiplied, maximised and
    rounded."""

    def __init__(self, model: cp_model.CpModel) -> None:
        self.model = model
        #: Whether some sum is stated in digits: the presolve of OR-Tools 9.15 loses solutions of
        #: such models, and is left out.
        self.in_digits = False
        self._variables: dict[int, cp_model.IntVar] = {}
        self._reach: dict[int, int] = {}
        self._products: dict[tuple[int, int], LinearForm] = {}
        #: Sums that equal a variable, by their terms, their constant and the most that they may be.
        self._sums: dict[
            tuple[frozenset[tuple[int, Fraction]], Fraction, Fraction], LinearForm
        ] = {}

    # -- forms as CP-SAT takes them ----------------------------------------------------

    def whole(self, form: LinearForm, step: Fraction) -> Any:
        """``form / step``, as an expression of CP-SAT; refused if it may leave the integers."""
        coefficients, constant = _integers(form, step)
        check_magnitude(self._reach_of(coefficients, constant), "a sum")
        return self._weighted(coefficients, constant)

    def fits(self, form: LinearForm, step: Fraction) -> bool:
        """Whether `whole` is possible."""
        return self._reach_of(*_integers(form, step)) <= LARGEST

    def leading(self, form: LinearForm, step: Fraction) -> tuple[Any, int, int]:
        """The leading digits of ``form / step``, a step that divides the form's grid: ``floor(form
        / (step · scale))``.

        The sign of a sum of large coefficients is that of its leading digits. They are found as on
        paper: the low digits of all coefficients make a sum of their own, which is divided by the
        base with a remainder; the quotient is carried to the sum of the next digits. Digits have
        signs, so that small negative coefficients have one digit: propagation creeps where they
        have many. Returned are the floor less a constant, that constant (CP-SAT leaves the one of
        an objective out of its bounds) and the scale, a power of two: 1 where the form fits as it
        is. Refused if the variables alone are too large.
        """
        coefficients, constant = _integers(form, step)
        spread = self._spread(form)
        carried: list[cp_model.IntVar] = []
        scale, reach, most = 1, self._reach_of(coefficients, constant), 0
        if reach > LARGEST:
            self.check_room(form)
            self.in_digits = True
        while reach > LARGEST:
            # neither a digit sum nor its base times what is carried exceeds 3/4 of the largest
            shift = min((LARGEST // spread).bit_length() - 3, (reach // LARGEST).bit_length() + 1)
            base = 1 << shift
            high = (
                {v: (c + base // 2) // base for v, c in coefficients.items()},
                (constant + base // 2) // base,
            )
            low = (
                {v: c - high[0][v] * base for v, c in coefficients.items()},
                constant - high[1] * base,
            )
            digits, most = (
                self._weighted(*low) + sum(carried),
                (self._reach_of(*low) + most) // base + 1,
            )
            quotient = self.model.new_int_var(-most, most, f"carry.{scale}")
            rest = self.model.new_int_var(0, base - 1, f"rest.{scale}")
            self.model.add(digits == base * quotient + rest)
            (coefficients, constant), carried, scale = high, [quotient], scale * base
            reach = self._reach_of(coefficients, constant) + most
        return self._weighted(coefficients, 0) + sum(carried), constant, scale

    def objective_reach(self) -> int:
        """The largest magnitude that what the model minimises, or any part of its sum, may have."""
        proto = self.model.proto
        terms = zip(proto.objective.vars, proto.objective.coeffs, strict=True)
        return sum(abs(c) * max(map(abs, proto.variables[v].domain)) for v, c in terms)

    def check_room(self, *forms: LinearForm) -> None:
        """Refuse variables too large for `leading` of a sum of them with any coefficients."""
        check_magnitude(8 * self._spread(*forms), "a sum in digits")

    def require_form_at_most(self, form: LinearForm, bound: Fraction) -> None:
        """Add ``form ≤ bound``; on the form's grid, so the bound need not be a multiple of
        anything."""
        if form.high <= bound:
            return
        if form.low > bound:
            self.model.add_bool_or([])
            return
        free = form.without_constant()
        step = grid(free)
        most = floor((bound - form.constant) / step)
        if self.fits(free, step) and abs(most) <= LARGEST:
            self.model.add(self.whole(free, step) <= most)
            return
        excess = add_forms(free, constant_form(-(most + 1) * step))
        digits, constant, _ = self.leading(excess, step)
        self.model.add(digits <= -1 - constant)

    # -- operations --------------------------------------------------------------------

    def new_form(self, low: int, high: int, name: str, of: Sequence[int] = ()) -> LinearForm:
        """A new variable between two bounds.

        Parameters
        ----------
        low : int
            The least value of the variable.
        high : int
            Its largest value.
        name : str
            What it stands for, in messages and in the name of the variable.
        of : Sequence of int, optional
            The variables that it is of, by index, for its name.

        Raises
        ------
        NotExpressibleError
            If it may be larger than what the solver can hold.
        """
        reach = max(abs(low), abs(high))
        check_magnitude(reach, f"a {name}")
        owners = ",".join(self._variables[index].name for index in of)
        owners = owners if len(owners) <= LONGEST_NAME else f"{owners[:LONGEST_NAME]}…"
        text = f"{name}({owners}).{len(self._variables)}"
        variable = self.model.new_int_var(low, high, text)
        self._register(variable, reach)
        return LinearForm({variable.index: Fraction(1)}, Fraction(0), Fraction(low), Fraction(high))

    def equal_variable(self, form: LinearForm, high: Fraction) -> LinearForm:
        """A new variable that equals the form and does not exceed ``high``."""
        step = grid(form)
        key = frozenset(form.terms.items()), form.constant, high
        if key not in self._sums:
            new = self.new_form(ceil(form.low / step), floor(high / step), "sum", [*form.terms])
            (variable,) = new.terms
            self.model.add(self._variables[variable] == self.whole(form, step))
            self._sums[key] = new.scaled(step)
        return self._sums[key]

    def multiply(self, a: LinearForm, b: LinearForm, most: Fraction | None = None) -> LinearForm:
        """The product of two forms, which is known not to exceed ``most``.

        Parameters
        ----------
        a, b : LinearForm
            The factors.
        most : Fraction, optional
            A value that the product is known not to exceed; None: none is known.
        """
        if a.is_constant or b.is_constant:
            return b.scaled(a.constant) if a.is_constant else a.scaled(b.constant)
        (x, x_factor), (y, y_factor) = self._as_variable(a), self._as_variable(b)
        factor, key = x_factor * y_factor, (min(x, y), max(x, y))
        if key not in self._products:
            corners = [p * q for p in (a.low, a.high) for q in (b.low, b.high)]
            ends = (
                min(corners) / factor,
                (max(corners) if most is None else min(max(corners), most)) / factor,
            )
            self._products[key] = self.new_form(ceil(min(ends)), floor(max(ends)), "product", key)
            (product,) = self._products[key].terms
            self.model.add_multiplication_equality(
                self._variables[product], [self._variables[x], self._variables[y]]
            )
        return self._products[key].scaled(factor)

    def maximum(self, forms: Sequence[LinearForm]) -> LinearForm:
        """The largest of several forms."""
        low, high = max(f.low for f in forms), max(f.high for f in forms)
        forms = [f for f in forms if f.high > low or f.low == low]
        if low == high or len(forms) == 1:
            return constant_form(low) if low == high else forms[0]
        # CP-SAT would add up the domains of a sum within a maximum value by value, and run out of
        # memory
        forms = [self.equal_variable(f, f.high) if len(f.terms) > 1 else f for f in forms]
        step = grid(*forms)
        of = [*dict.fromkeys(v for form in forms for v in form.terms)]
        largest = self.new_form(ceil(low / step), floor(high / step), "maximum", of).scaled(step)
        (variable,) = largest.terms
        self.model.add_max_equality(self._variables[variable], [self.whole(f, step) for f in forms])
        return largest

    def ceiling(self, top: LinearForm, bottom: LinearForm) -> LinearForm:
        """``ceil(top / bottom)``; the divisor is positive."""
        if bottom == constant_form(Fraction(1)) and grid(top).denominator == 1:
            return top
        ends = [a / b for a in (top.low, top.high) for b in (bottom.low, bottom.high)]
        result = self.new_form(
            ceil(min(ends)), ceil(max(ends)), "ceiling", [*top.terms, *bottom.terms]
        )
        product = self.multiply(bottom, result)
        step = grid(top, bottom, product)
        excess = add_forms(product, top.scaled(-1))
        self.require_form_at_most(excess.scaled(-1), Fraction(0))
        self.require_form_at_most(add_forms(excess, bottom.scaled(-1)), -step)
        return result

    # -- variables ---------------------------------------------------------------------

    def _register(self, variable: cp_model.IntVar, reach: int) -> None:
        self._variables[variable.index] = variable
        self._reach[variable.index] = reach

    def _as_variable(self, form: LinearForm) -> tuple[int, Fraction]:
        """A variable and a factor whose product is the (not constant) form."""
        if len(form.terms) == 1 and not form.constant:
            ((variable, factor),) = form.terms.items()
            return variable, factor
        ((variable, factor),) = self.equal_variable(form, form.high).terms.items()
        return variable, factor

    def _spread(self, *forms: LinearForm) -> int:
        return 1 + sum(self._reach[v] for v in {v for form in forms for v in form.terms})

    def _reach_of(self, coefficients: dict[int, int], constant: int) -> int:
        return abs(constant) + sum(abs(c) * self._reach[v] for v, c in coefficients.items())

    def _weighted(self, coefficients: dict[int, int], constant: int) -> Any:
        variables = [self._variables[v] for v in coefficients]
        return cp_model.LinearExpr.weighted_sum(variables, list(coefficients.values())) + constant


def check_magnitude(reach: int, what: str) -> None:
    """Refuse what CP-SAT's integers may not hold."""
    if reach > LARGEST:
        raise NotExpressibleError(
            f"CP-SAT: {what} may reach {float(reach):.3g}, but its integers end at "
            f"{float(LARGEST):.3g}; use another method"
        )


def _integers(form: LinearForm, step: Fraction) -> tuple[dict[int, int], int]:
    return {variable: int(c / step) for variable, c in form.terms.items()}, int(
        form.constant / step
    )
