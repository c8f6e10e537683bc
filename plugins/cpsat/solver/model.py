"""A problem as an integer program.

CP-SAT is handed the candidate rows of each axis without dominated ones. The columns that dominance
looks at come from the relaxation of the exact engine. What matters here is only that objective and
constraints are monotone in them, as its bounds are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import Expression, Product, Symbol, multiply, power
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.space import Space
from ithaca.plugins.cpsat.solver.arithmetic import LinearForm, add_forms
from ithaca.plugins.cpsat.solver.encoding import Encoder
from ithaca.plugins.cpsat.solver.quotients import as_quotient
from ithaca.plugins.cpsat.solver.ratio import Aim, RatioObjective, encode_ratio
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.options import never
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.frame import relax, used_columns
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.relaxation import Relaxation
from ithaca.solver.tables.table import CandidateTable, build_table

#: More rows than this make a model of gigabytes.
MOST_ROWS = 300_000

#: Rows tried as dominators between two looks at whether that still pays, and the share of rows
#: they must remove for it to go on.
TRIALS = 128
WORTHWHILE = 0.01


def candidate_tables(
    problem: Problem, symbolic: SymbolicProblem, checkpoint: Callable[[], None] = never
) -> tuple[CandidateTable, ...]:
    """The rows of every axis that an optimum may need.

    Parameters
    ----------
    problem : Problem
        The problem.
    symbolic : SymbolicProblem
        The same as expressions.
    checkpoint : Callable, optional
        Called now and then; what it raises ends the preparation.

    Returns
    -------
    tuple of CandidateTable
        One per axis.

    Raises
    ------
    NotExpressibleError
        For objectives and limits that divide by what may be 0, and axes with too many rows.
    """
    space = problem.space
    columns = dominance_columns(space, symbolic, checkpoint)
    tables = []
    for axis in space.axes:
        table = _without_dominated(
            build_table(axis, columns.get(axis.name, ()), checkpoint), checkpoint
        )
        if table.count > MOST_ROWS:
            raise NotExpressibleError(
                f"CP-SAT: axis {axis.name} has {table.count} candidate "
                f"rows; it takes up to {MOST_ROWS}"
            )
        tables.append(table)
    return tuple(tables)


def dominance_columns(
    space: Space, symbolic: SymbolicProblem, checkpoint: Callable[[], None]
) -> dict[str, list[Column]]:
    """The columns that dominance compares, by axis.

    Parameters
    ----------
    space : Space
        The design space.
    symbolic : SymbolicProblem
        Objective and constraints as expressions.
    checkpoint : callable
        Called now and then; what it raises ends the work.

    Returns
    -------
    dict of str to list of Column
        The columns by the name of their axis; an axis with none is left out.
    """
    relaxation = relax(space, checkpoint)
    for expression in (symbolic.objective, *(e for e, _ in symbolic.constraints)):
        relaxation.check_divisors(expression)
    bounds = [
        relaxation.lower(e)
        for e in (*_monotone_parts(symbolic, space, relaxation), *space.inequalities)
    ]
    columns = used_columns(relaxation, frozenset[str]().union(*(b.symbols for b in bounds)))
    # the other rules across axes depend on their quantities either way
    for symbol in sorted(space.entangled):
        (axis,) = relaxation.axes(Symbol(symbol))
        columns.setdefault(axis, []).append(Column(-1, Symbol(symbol), low=True, high=True))
    return columns


def _monotone_parts(
    symbolic: SymbolicProblem, space: Space, relaxation: Relaxation
) -> list[Expression]:
    """Expressions such that what decreases all of them harms neither the objective nor a limit.

    Quotients are taken apart, so that columns have a grid.
    """

    def cleared(product: Product) -> list[Expression]:
        return [
            base
            for base, exponent in product.factors
            if exponent < 0 and not granularity(power(base, exponent), space.powers)
        ]

    objective = as_quotient(symbolic.objective, cleared)
    parts = [objective.over]
    if objective.divisors:
        parts += [] if relaxation.nonnegative(objective.over) else [objective.under]
        parts += [] if relaxation.nonnegative(-objective.over) else [-objective.under]
    for expression, bound in symbolic.constraints:
        limited = as_quotient(expression, cleared)
        parts.append(limited.over - bound * limited.under if limited.divisors else expression)
    return parts


def dominating_row(table: CandidateTable, quantities: Mapping[str, int]) -> int | None:
    """A row that equals the given one, or is at least as good in every column; None if there is
    none."""
    one = {
        symbol: np.array([value]) for symbol, value in quantities.items() if symbol in table.rows
    }
    equal = np.ones(table.count, bool)
    for symbol, value in one.items():
        equal &= table.rows[symbol] == value
    if equal.any():
        return int(equal.argmax())
    better = np.ones(table.count, bool)
    for column, values in zip(table.columns, table.values, strict=True):
        wanted = float(np.asarray(column.expression.evaluate(one, NUMPY)).item())
        if column.low:
            better &= values <= wanted
        if column.high:
            better &= values >= wanted
    return int(better.argmax()) if better.any() else None


def _without_dominated(table: CandidateTable, checkpoint: Callable[[], None]) -> CandidateTable:
    """Drop rows that another row dominates, as long as looking for them pays."""
    costs = (
        Columns(table.columns, table.axis).costs(table.rows, table.values) if table.count else None
    )
    if costs is None:
        return table
    # in random order: neighbours dominate much the same rows
    order = np.random.default_rng(0).permutation(table.count)
    costs = [column[order] for column in costs]
    position, trials, before = 0, 0, order.size
    while position < order.size:
        keep = np.zeros(order.size, bool)
        for column in costs:
            keep |= column < column[position]
        keep[position] = True
        position = int(keep[: position + 1].sum())
        if not keep.all():
            order, costs = order[keep], [column[keep] for column in costs]
        trials += 1
        if trials % TRIALS == 0:
            checkpoint()
            if before - order.size < WORTHWHILE * before:
                break
            before = order.size
    return table.only(np.isin(np.arange(table.count), order))


@dataclass(frozen=True)
class IntegerModel:
    """A problem as CP-SAT takes it."""

    problem: Problem
    """The problem that it states."""
    encoder: Encoder
    """Holds the CP-SAT model, and its columns by their values on the rows."""
    tables: tuple[CandidateTable, ...]
    """The rows of every axis; none is empty."""
    objective: RatioObjective
    """The objective, over 1 if it is no quotient."""

    @property
    def model(self) -> cp_model.CpModel:
        """The model that CP-SAT solves."""
        return self.encoder.model

    def aim(self, ratio: Fraction, *, at_most: bool) -> Aim:
        """Make CP-SAT minimise the excess over a ratio; if ``at_most``, exclude what has a larger
        objective than it."""
        if at_most:
            self.encoder.require_form_at_most(self.objective.excess(ratio), Fraction(0))
        aim = self.objective.aim(self.encoder, ratio)
        complaint = self.model.validate()
        if complaint:
            raise NotExpressibleError(
                "CP-SAT does not take the problem: "
                f"{complaint.splitlines()[0].rstrip('.')}; use another method"
            )
        return aim

    def value(self, read: Callable[[cp_model.IntVar], int]) -> Fraction:
        """The objective of a solution, as CP-SAT sees it."""
        return self.objective.value(self.encoder, read)

    def configuration(self, read: Callable[[cp_model.IntVar], int]) -> Configuration:
        """The configuration of a solution."""
        return Configuration(self.encoder.quantities(read))

    def hint(self, configuration: Configuration) -> None:
        """Propose a configuration of the design space, or the one of the tables that dominates
        it."""
        rows: dict[str, int] = {}
        for table in self.tables:
            row = dominating_row(table, configuration)
            if row is None:
                return
            rows[table.axis.name] = row
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for axis, columns in self.encoder.columns.items():
            for values, variable in columns.items():
                self.model.add_hint(variable, values[rows[axis]])


def build_integer_model(
    problem: Problem,
    lower_bound: Fraction | None = None,
    cutoff: Fraction | None = None,
    checkpoint: Callable[[], None] = never,
) -> IntegerModel | None:
    """State a problem to CP-SAT.

    Parameters
    ----------
    problem : Problem
        The problem.
    lower_bound : Fraction, optional
        What no configuration has an objective below.
    cutoff : Fraction, optional
        An objective that is known: those above are of no interest.
    checkpoint : Callable, optional
        Called now and then; what it raises ends the preparation.

    Returns
    -------
    IntegerModel or None
        The model; None if an axis has no candidate rows.

    Raises
    ------
    NotExpressibleError
        Where CP-SAT cannot express the problem exactly.
    """
    symbolic = problem.symbolic()
    tables = candidate_tables(problem, symbolic, checkpoint)
    if not all(table.count for table in tables):
        return None
    model = cp_model.CpModel()
    encoder = Encoder(model, {table.axis.name: table.rows for table in tables}, checkpoint)
    objective = encode_ratio(encoder, symbolic.objective, cutoff)
    terms = dict(encoder.monomials)
    for expression, bound in symbolic.constraints:
        encoder.require_at_most(expression, bound)
    for link in problem.space.links:
        encoder.require(link)
    _add_product_cuts(encoder, symbolic, tables, terms)
    if lower_bound is not None:
        encoder.require_form_at_most(objective.excess(lower_bound).scaled(-1), Fraction(0))
    encoder.finish()
    return IntegerModel(problem, encoder, tables, objective)


def _add_product_cuts(
    encoder: Encoder,
    symbolic: SymbolicProblem,
    tables: Sequence[CandidateTable],
    terms: Mapping[Expression, LinearForm],
) -> None:
    """Add what limits on products imply for the objective.

    Where g ≤ c is a limit, any term f ≥ 0 obeys f·g ≤ c·f. The product f·g regroups by axis and is
    often nearly constant (PE cycles times PEs are the padded work of the nest), so this linear
    constraint bounds f from below as no constraint on f and g apart does. The term bounded best
    is enough.
    """
    for resource, bound in symbolic.constraints:
        if (
            not isinstance(resource, Product)
            or bound <= 0
            or any(exponent < 0 for _, exponent in resource.factors)
        ):
            continue
        estimates = {
            term: _smallest(multiply(term, resource), encoder, tables)
            for term, form in terms.items()
            if form.low >= 0
        }
        if not estimates:
            continue
        term = max(estimates, key=estimates.__getitem__)
        try:
            product = encoder.encode(multiply(term, resource))
        except NotExpressibleError:  # the cut is dispensable
            continue
        encoder.require_form_at_most(add_forms(product, terms[term].scaled(-bound)), Fraction(0))


def _smallest(product: Expression, encoder: Encoder, tables: Sequence[CandidateTable]) -> float:
    """The approximate least value of a product of columns; 0 if a factor is no column."""
    factors = product.factors if isinstance(product, Product) else ((product, 1),)
    if any(len(encoder.axes(base)) > 1 for base, _ in factors):
        return 0.0
    least = []
    for table in tables:
        column = multiply(
            *(power(base, e) for base, e in factors if encoder.axes(base) == {table.axis.name})
        )
        rows = {name: values.astype(np.float64) for name, values in table.rows.items()}
        least.append(float(np.min(column.evaluate(rows, NUMPY))))
    return prod(least)
