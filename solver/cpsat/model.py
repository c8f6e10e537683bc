"""A problem as an integer program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

import numpy as np
from ortools.sat.python import cp_model

from ithaca.formulations.design_space import tiling_of
from ithaca.formulations.expression import Expression, Product, multiply, power
from ithaca.formulations.number_systems import NUMPY
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.cpsat.encoding import Encoder
from ithaca.solver.cpsat.linear import LinearForm, NotExpressibleError, add_forms, grid
from ithaca.solver.cpsat.packs import require_legal_packs
from ithaca.solver.cpsat.symmetry import Exchange, exchangeable
from ithaca.solver.cpsat.tables import candidate_tables, dominating_row
from ithaca.solver.exact.tables import Table


@dataclass(frozen=True)
class IntegerModel:
    """A problem as CP-SAT takes it: it minimises the integer ``(objective − constant) / step``.

    Attributes
    ----------
    problem : Problem
        What it states.
    model : CpModel
        Variables and constraints.
    tables : tuple of Table
        The rows of every axis; none is empty.
    columns : mapping of str to mapping of tuple of int to IntVar
        Per axis the variable of each column, by its values on the rows.
    objective : LinearForm
        The objective.
    step : Fraction
        The grid of the objective, up to its constant.
    exchanges : tuple of Exchange
        Axes whose rows may be swapped; the model keeps one of the two orders.
    """

    problem: Problem
    model: cp_model.CpModel
    tables: tuple[Table, ...]
    columns: Mapping[str, Mapping[tuple[int, ...], cp_model.IntVar]]
    objective: LinearForm
    step: Fraction
    exchanges: tuple[Exchange, ...]

    def value(self, whole: int) -> Fraction:
        """The objective for one of CP-SAT's integers."""
        return self.objective.constant + whole * self.step

    def on_grid(self, bound: Fraction) -> Fraction:
        """The smallest value of the objective's grid that is not below a bound."""
        return self.value(ceil((bound - self.objective.constant) / self.step))

    def solution(self, read: Callable[[cp_model.IntVar], int]) -> tuple[Tiling, Fraction]:
        """The tiling of a solution, and its objective as CP-SAT sees it."""
        quantities: dict[str, int] = {}
        values = {}
        for table in self.tables:
            columns = self.columns[table.axis.name]
            chosen = tuple(read(variable) for variable in columns.values())
            row = next(row for row, seen in enumerate(zip(*columns, strict=True)) if seen == chosen) if columns else 0
            quantities |= table.row(row)
        for index in self.objective.terms:
            values[index] = read(self.model.get_int_var_from_proto_index(index))
        return tiling_of(self.problem.array, quantities), self.objective.value(values)

    def hint(self, tiling: Tiling) -> None:
        """Propose a configuration of the design space, or the one of the tables that dominates it."""
        exact = tiling.quantities(self.problem.array, self.problem.nest.sizes)
        quantities = {name: int(value) for name, value in exact.items()}
        rows: dict[str, int] = {}
        for table in self.tables:
            row = dominating_row(table, quantities)
            if row is None:
                return
            rows[table.axis.name] = row
        for exchange in self.exchanges:
            rows = exchange.ordered(rows)
        for axis, columns in self.columns.items():
            for values, variable in columns.items():
                self.model.add_hint(variable, values[rows[axis]])


def build_integer_model(
    problem: Problem, lower_bound: Fraction | None = None, cutoff: Fraction | None = None
) -> IntegerModel | None:
    """State a problem to CP-SAT.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    lower_bound : Fraction, optional
        No configuration has a smaller objective.
    cutoff : Fraction, optional
        The objective of a known configuration: larger ones are of no interest.

    Returns
    -------
    IntegerModel or None
        None if an axis has no candidate rows.

    Raises
    ------
    NotExpressibleError
        If CP-SAT cannot express the problem exactly.
    """
    symbolic = problem.symbolic()
    tables = candidate_tables(problem, symbolic)
    if not all(table.count for table in tables):
        return None
    model = cp_model.CpModel()
    encoder = Encoder(model, {table.axis.name: table.rows for table in tables})
    objective = encoder.encode(symbolic.objective) if cutoff is None else encoder.encode_at_most(symbolic.objective, cutoff)
    terms = dict(encoder.monomials)
    for expression, bound in symbolic.constraints:
        encoder.require_at_most(expression, bound)
    require_legal_packs(problem, encoder)
    _add_product_cuts(encoder, symbolic, tables, terms)
    exchanges = exchangeable(symbolic, tables)
    for exchange in exchanges:
        model.add(
            _position(encoder, exchange.first, exchange.first_rows) <= _position(encoder, exchange.second, exchange.second_rows)
        )
    if lower_bound is not None:
        encoder.require_form_at_most(objective.scaled(-1), -lower_bound)
    free = objective.without_constant()
    step = grid(free)
    model.minimize(encoder.whole(free, step))
    encoder.finish()
    complaint = model.validate()
    if complaint:
        raise NotExpressibleError(f"CP-SAT does not take the problem: {complaint.splitlines()[0]}")
    return IntegerModel(problem, model, tables, encoder.columns, objective, step, exchanges)


def _position(encoder: Encoder, axis: str, rows: Sequence[int]) -> cp_model.IntVar:
    """The position of the chosen row in an order of the rows."""
    positions = [0] * len(rows)
    for position, row in enumerate(rows):
        positions[row] = position
    return encoder.numbered(axis, positions)


def _add_product_cuts(
    encoder: Encoder, symbolic: SymbolicProblem, tables: Sequence[Table], terms: Mapping[Expression, LinearForm]
) -> None:
    """Add what limits on products imply for the objective.

    Where g ≤ c is a limit, any term f ≥ 0 obeys f·g ≤ c·f. The product f·g regroups by axis and is
    often nearly constant (PE cycles times PEs are the padded work of the nest), so this linear
    constraint bounds f from below as no constraint on f and g apart does. The term bounded best
    is enough.
    """
    for resource, bound in symbolic.constraints:
        if not isinstance(resource, Product) or bound <= 0:
            continue
        estimates = {
            term: _smallest(multiply(term, resource), encoder, tables) for term, form in terms.items() if form.low >= 0
        }
        if not estimates:
            continue
        term = max(estimates, key=estimates.__getitem__)
        try:
            product = encoder.encode(multiply(term, resource))
        except NotExpressibleError:  # the cut is dispensable
            continue
        encoder.require_form_at_most(add_forms(product, terms[term].scaled(-bound)), Fraction(0))


def _smallest(product: Expression, encoder: Encoder, tables: Sequence[Table]) -> float:
    """About the least value of a product of columns; 0 if a factor is no column."""
    factors = product.factors if isinstance(product, Product) else ((product, 1),)
    if any(len(encoder.axes(base)) > 1 for base, _ in factors):
        return 0.0
    least = []
    for table in tables:
        column = multiply(*(power(base, e) for base, e in factors if encoder.axes(base) == {table.axis.name}))
        least.append(float(np.min(column.evaluate(table.rows, NUMPY))))
    return prod(least)
