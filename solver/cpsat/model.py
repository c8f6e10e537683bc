"""A problem as an integer program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import Expression, Product, multiply, power
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.solver.cpsat.encoding import Encoder
from ithaca.solver.cpsat.linear import LinearForm, add_forms
from ithaca.solver.cpsat.ratio import Aim, RatioObjective, encode_ratio
from ithaca.solver.cpsat.tables import candidate_tables, dominating_row
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.options import never
from ithaca.solver.tables.table import CandidateTable


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
