"""The geometric program of a problem, as arrays over the logarithms of its variables.

Columns are the logarithms of, in this order: the quantities of the space that are no products of
others; the curves; the epigraph variables, the last of them the objective; and the derived
quantities: products of others, and of every two of the levels that cover an extent. Derived
quantities are whole numbers, which ranges and branching exploit; the constraints of the program
proper are written without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import log

import numpy as np

from ithaca.formulations.algebra.expression import CeilingDivision, Constant, Expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.posynomial import (
    Exponents,
    NotPosynomialError,
    Posynomial,
    as_product,
)
from ithaca.formulations.continuous_rules import (
    continuous_rules,
    definitions,
    is_plain_product,
    products,
    quantity_spans,
    rules,
)
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Relation, Space
from ithaca.plugins.geometric.solver.lowering import Curve, Epigraph, Lowering
from ithaca.plugins.geometric.solver.program import (
    Blocks,
    Indices,
    Matrix,
    Vector,
    compile_posynomials,
    monomials,
    stack,
)

OBJECTIVE = "objective"

#: Most combinations of powers of two that are enumerated.
MOST_CELLS = 32


@dataclass(frozen=True)
class Cover:
    """Levels that together cover an extent: a quotient ``ceil(extent / divisor)``, and the factors
    of the divisor.

    ``levels`` are the columns of the quotient and of the factors, ``divisor`` that of their
    product, the divisor, if it has one, and ``pairs`` those of the product of every two levels.
    """

    extent: Fraction
    levels: tuple[int, ...]
    divisor: int | None
    pairs: Mapping[tuple[int, int], int]

    @property
    def quotient(self) -> int:
        """Column of the quotient."""
        return self.levels[0]

    @property
    def innermost(self) -> int:
        """Column of the quotient's product with the innermost level."""
        return self.pairs[self.levels[0], self.levels[1]]


@dataclass(frozen=True)
class CurveColumn:
    """A curve with its column and that of the quantity it depends on, a power of two or not."""

    column: int
    argument: int
    of_power: bool
    curve: Curve

    def at(self, value: int) -> Fraction:
        """Exact value of the function."""
        return _curve_value(self.curve, value)


@lru_cache(maxsize=1 << 14)
def _curve_value(curve: Curve, value: int) -> Fraction:
    result: Fraction = curve.expression.evaluate({curve.symbol: Fraction(value)}, FRACTION)
    return result


@dataclass(frozen=True)
class GeometricModel:
    """The relaxed geometric program of a problem over its whole design space."""

    problem: Problem
    spans: Mapping[str, Interval]
    """Values of every quantity of the space."""
    names: tuple[str, ...]
    """The names of all columns."""
    base: int
    """Number of columns before the derived ones."""
    derivation: Matrix
    """Derived columns as sums of others, shape (derived, base)."""
    constraints: Blocks
    """Over base columns."""
    propagation: Blocks
    """The constraints with what follows for derived columns; sharpens ranges."""
    whole: Indices
    """Columns of whole numbers that are no powers of two."""
    powers: Indices
    """Columns of powers of two."""
    covers: tuple[Cover, ...]
    curves: tuple[CurveColumn, ...]
    epigraphs: tuple[tuple[int, Blocks], ...]
    """Column and pieces of each such variable, after all that it needs."""
    cells: tuple[Mapping[str, int], ...]
    """Values of some powers of two: a part of the space each, all of it together."""

    @property
    def objective(self) -> int:
        """Column of the objective's logarithm."""
        return self.base - 1

    def values(self, point: Vector) -> dict[str, float]:
        """The quantities of the space at the logarithms of the base columns."""
        full = np.exp(np.concatenate([point, self.derivation @ point]))
        return {
            name: float(value)
            for name, value in zip(self.names, full, strict=True)
            if name in self.spans
        }


def build_geometric_model(problem: Problem) -> GeometricModel:
    """Relax a problem to a geometric program; raises `NotPosynomialError` if the objective is not
    posynomial."""
    space, symbolic = problem.space, problem.symbolic()
    spans, known = quantity_spans(space), products(space)
    lowering = Lowering(space.powers, known)
    try:
        objective = lowering.lower(symbolic.objective)
    except NotPosynomialError as error:
        raise NotPosynomialError(
            f"objective '{problem.objective.text}' is not posynomial: {error}"
        ) from None
    for floor in problem.floors:
        with suppress(NotPosynomialError):
            objective = (*objective, *lowering.lower(floor))
    limits = [
        p for expression, bound in symbolic.constraints for p in lowering.at_most(expression, bound)
    ]
    for rule in continuous_rules(space, spans):
        limits += lowering.at_most(rule.left - rule.right, Fraction(0))
        if rule.relation is Relation.EQUAL:
            limits += lowering.at_most(rule.right - rule.left, Fraction(0))

    epigraphs = [*lowering.epigraphs, Epigraph(OBJECTIVE, objective)]
    base = [name for name in space.quantities if name not in known]
    base += [*(c.name for c in lowering.curves), *(e.name for e in epigraphs)]
    extents = dict(_covered_extents(space, known))
    derived = {name: _exponents(*_factors(expression)) for name, expression in known.items()}
    for levels in extents:
        for pair in combinations(levels, 2):
            if _exponents(*pair) not in derived.values():
                derived["·".join(pair)] = _exponents(*pair)
    names = (*base, *derived)
    column = {name: i for i, name in enumerate(names)}
    of_product = {exponents: column[name] for name, exponents in reversed(derived.items())}
    of_product |= {_exponents(name): column[name] for name in base}
    derivation = np.zeros((len(derived), len(base)))
    for row, exponents in zip(derivation, derived.values(), strict=True):
        for name, exponent in exponents:
            row[column[name]] = exponent
    covers = tuple(
        Cover(
            extent,
            tuple(column[level] for level in levels),
            of_product.get(_exponents(*levels[1:])),
            {
                (column[a], column[b]): of_product[_exponents(a, b)]
                for a, b in combinations(levels, 2)
            },
        )
        for levels, extent in extents.items()
    )
    pieces = [p * Posynomial.quantity(e.name, -1) for e in epigraphs for p in e.pieces]
    constraints = compile_posynomials((*pieces, *limits), column, len(base))
    powers = [column[name] for name in space.powers]
    whole = [
        column[name]
        for name in dict.fromkeys((*space.quantities, *derived))
        if name not in space.powers
    ]
    return GeometricModel(
        problem=problem,
        spans=spans,
        names=names,
        base=len(base),
        derivation=derivation,
        constraints=constraints,
        propagation=stack(constraints, _implied(covers, derivation)),
        whole=np.array(whole, dtype=np.int64),
        powers=np.array(powers, dtype=np.int64),
        covers=covers,
        curves=tuple(
            CurveColumn(column[c.name], column[c.symbol], c.symbol in space.powers, c)
            for c in lowering.curves
        ),
        epigraphs=tuple(
            (column[e.name], compile_posynomials(e.pieces, column, len(names))) for e in epigraphs
        ),
        cells=enumerated_cells(space),
    )


def _factors(expression: Expression) -> list[str]:
    """The quantities that a plain product multiplies."""
    product = as_product(expression)
    assert product is not None
    return [
        name for exponents in product.terms for name, exponent in exponents for _ in range(exponent)
    ]


def _exponents(*factors: str) -> Exponents:
    return tuple(sorted(Counter(factors).items()))


def _covered_extents(
    space: Space, known: Mapping[str, Expression]
) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """The levels of every cover, the quotient first and the others in the order of the space; and
    the extent."""
    order = list(space.quantities)
    for rule in rules(space):
        expression = rule.right
        if (
            rule.defined is None
            or not isinstance(expression, CeilingDivision)
            or not isinstance(expression.numerator, Constant)
        ):
            continue
        divisor = expression.denominator.substitute(known)
        if is_plain_product(divisor):
            levels = sorted(_factors(divisor), key=order.index)
            if len({rule.defined, *levels}) == len(levels) + 1:
                yield (rule.defined, *levels), expression.numerator.value


def _implied(covers: Sequence[Cover], derivation: Matrix) -> Blocks:
    """Definitions of derived columns, and in terms of them that the levels of a cover multiply to
    its extent at least."""
    count, base = derivation.shape
    definitions = np.hstack([-derivation, np.eye(count)])
    rows, offsets = [*definitions, *-definitions], [0.0] * (2 * count)
    for cover in covers:
        for pair, together in cover.pairs.items():
            row = np.zeros(base + count)
            row[[together, *(level for level in cover.levels if level not in pair)]] = -1
            rows.append(row)
            offsets.append(log(cover.extent))
    return monomials(np.array(rows).reshape(-1, base + count), np.array(offsets))


def enumerated_cells(space: Space) -> tuple[Mapping[str, int], ...]:
    """Combinations of values of the powers of two on which rules of later quantities depend."""
    order, spans, defined = list(space.quantities), quantity_spans(space), definitions(space)
    named = {
        name
        for rule in rules(space)
        for name in rule.symbols - {max(rule.symbols, key=order.index, default="")}
    }
    cells: list[dict[str, int]] = [{}]
    for name in space.powers:
        options = [v for v in space.axis_of[name].options(name).tolist() if v in spans[name]]
        if name in named and name not in defined and len(cells) * len(options) <= MOST_CELLS:
            cells = [{**cell, name: value} for cell in cells for value in options]
    return tuple(cells)
