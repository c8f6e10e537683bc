"""A problem as tables and trees of its candidates, and programs that bound them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import ceil, inf

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import (
    Expression,
    Product,
    Symbol,
    add,
    maximum,
    minimum,
    multiply,
    split_coefficient,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds as bounds_of
from ithaca.formulations.algebra.rounding import loosened
from ithaca.formulations.algebra.sums import gains_and_losses
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.remembered import latest
from ithaca.formulations.space import Axis, Relation, Space
from ithaca.solver.options import never
from ithaca.solver.tables.affordable import affordable_axes
from ithaca.solver.tables.column import Column, Columns, Rows
from ithaca.solver.tables.configurations import configurations_of
from ithaca.solver.tables.cuts import floors_of, with_cuts
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.kept import keep, recalled
from ithaca.solver.tables.lowered import LoweredProblem, Signs
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.tables.program import Program
from ithaca.solver.tables.relaxation import Relaxation, statistic
from ithaca.solver.tables.sources import tree_sources
from ithaca.solver.tables.table import CandidateTable, build_table
from ithaca.solver.tables.tree import RowTree, build_tree

#: Axes of so many rows are enumerated once for all the expressions whose least values are asked
#: for, hundreds at times.
KEPT_ROWS = 1 << 19


def build_model(
    problem: Problem,
    checkpoint: Callable[[], None] = never,
    narrow: Callable[[LoweredProblem, list[CandidateTable]], list[CandidateTable]] | None = None,
    tables: Iterable[CandidateTable] | None = None,
) -> BoundModel:
    """Relax a problem, build its tables and trees, and compile its bounds.

    Parameters
    ----------
    problem : Problem
        The problem.
    checkpoint : Callable, optional
        Called now and then; what it raises ends the preparation.
    narrow : Callable, optional
        Leaves rows out before trees are built.
    tables : Iterable of CandidateTable, optional
        The rows of every axis, where they are known; by default all of the space.

    Returns
    -------
    BoundModel
        The model.
    """
    lowered = lower_problem(problem, poll)
    if tables is None:
        space = replace(problem.space, axes=affordable_axes(problem))
        tables = build_tables(space, lowered.columns, checkpoint)
    if narrow is not None:
        tables = narrow(lowered, list(tables))
        if not all(table.count for table in tables):  # no tree is needed to see that nothing fits
            tables = [table.only(np.zeros(table.count, bool)) for table in tables]
    return bound_model(problem, lowered, tuple(build_tree(table, checkpoint) for table in tables))


def build_tables(
    space: Space,
    columns: Mapping[str, Sequence[Column]],
    checkpoint: Callable[[], None] = never,
    alike: Callable[[Axis], Sequence[str]] = lambda axis: (),
) -> Iterator[CandidateTable]:
    """The tables of all axes, one after the other, with the columns that a program of bounds uses.

    See `build_table` for quantities of an axis that must be ``alike``.

    Parameters
    ----------
    space : Space
        The design space; with rules across axes, no row is left out.
    columns : mapping of str to sequence of Column
        The columns that bounds use, by the name of their axis.
    checkpoint : callable, optional
        Called now and then; what it raises ends the work.
    alike : callable, optional
        The quantities of an axis in which rows must agree to be compared; by default none.
    """
    prune = not space.entangled
    return (
        build_table(axis, columns.get(axis.name, ()), checkpoint, prune=prune, alike=alike(axis))
        for axis in space.axes
    )


def bound_model(
    problem: Problem, lowered: LoweredProblem, trees: tuple[RowTree, ...]
) -> BoundModel:
    """The bounds of a problem over the rows of its axes, a tree each, which hold the columns that
    its programs use.

    Parameters
    ----------
    problem : Problem
        The problem.
    lowered : LoweredProblem
        Its bounds as programs.
    trees : tuple of Tree
        The rows of every axis, halved again and again.
    """
    return BoundModel(
        problem,
        trees,
        lowered.bounds,
        tree_sources(lowered.bounds, trees),
        lowered.limits,
        lowered.step,
        configurations_of(
            lowered.values, problem.space, [tree.table for tree in trees], lowered.limits
        ),
        lowered.objective,
    )


#: Problems whose lowered form is kept: more than a nest has designs.
KEPT_PROBLEMS = 64


def lower_problem(
    problem: Problem,
    checkpoint: Callable[[], None] = never,
    instead: SymbolicProblem | None = None,
) -> LoweredProblem:
    """Compile the bounds and the values of a problem.

    Problems that cost the same in symbols, as the layers of a network on one design do, share what
    is compiled, if what it asks about the rows of their spaces has the same answers; so do those
    that were solved before (`ithaca.solver.tables.kept`).

    Parameters
    ----------
    problem : Problem
        The problem.
    checkpoint : callable, optional
        Called now and then; what it raises ends the work.
    instead : SymbolicProblem, optional
        Objective and constraints that are bounded instead of its own.
    """
    space = problem.space
    if checkpoint is poll:  # what a problem of the space has bounded serves the next
        relaxation = latest(space, "relaxation", lambda: relax(space, poll))
    else:
        relaxation = relax(space, checkpoint)
    symbolic = instead or problem.symbolic()
    key = (
        symbolic,
        () if instead else problem.floors,
        tuple(_constraints(symbolic, problem)),
        tuple((symbol, axis.name) for symbol, axis in space.axis_of.items()),
        tuple(space.powers.items()),
    )
    lowered_by = _lowered(*key)

    def fits(signs: Signs) -> bool:
        return all(relaxation.sign(*question) == sign for question, sign in signs.items())

    for signs, lowered in lowered_by:
        if fits(signs):
            return lowered
    limits = _limits(symbolic, problem.space)
    entry = recalled(key, limits)
    if entry is None or not fits(entry[0]):
        entry = relaxation.signs, lower(problem, relaxation, instead=instead)
        keep(key, *entry)
    lowered_by.append(entry)
    return entry[1]


@lru_cache(KEPT_PROBLEMS)
def _lowered(*key: Hashable) -> list[tuple[Signs, LoweredProblem]]:
    """The memo of problems that are the same in symbols, filled by who asks."""
    return []


def lower(
    problem: Problem,
    relaxation: Relaxation,
    others: Sequence[Expression] = (),
    instead: SymbolicProblem | None = None,
) -> LoweredProblem:
    """Compile the bounds of a problem, and those of other expressions as of objectives.

    Parameters
    ----------
    problem : Problem
        The problem.
    relaxation : Relaxation
        What is known of expressions over rows of the axes.
    others : sequence of Expression, optional
        Expressions that are bounded like the objective, under the same constraints.
    instead : SymbolicProblem, optional
        Objective and constraints that are bounded instead of its own.

    Raises
    ------
    InputError
        If objective or limits divide by what may be 0 or negative.
    """
    symbolic = instead or problem.symbolic()
    constraints = [*symbolic.constraints, *_rules(problem.space)]
    for expression in (symbolic.objective, *(e for e, _ in constraints)):
        relaxation.check_divisors(expression)
    rules = floors_of(expression for expression, bound in constraints if bound <= 0)
    relaxation.floors = [each for each in rules if all(map(relaxation.positive, each[0]))]
    floors = () if instead else problem.floors
    objective = maximum(with_cuts(symbolic, relaxation), *map(relaxation.lower, floors))
    bounds = [objective, *map(relaxation.lower, _constraints(symbolic, problem))]
    bounds += [with_cuts(replace(symbolic, objective=other), relaxation) for other in others]
    program = Program([relaxation.outwards(bound, False) for bound in bounds])
    return LoweredProblem(
        program,
        Program([symbolic.objective, *(expression for expression, _ in constraints)]),
        _limits(symbolic, problem.space),
        granularity(symbolic.objective, problem.space.powers),
        bounds[0],
        used_columns(relaxation, frozenset(program.symbols)),
    )


def _limits(symbolic: SymbolicProblem, space: Space) -> Floats:
    """Bounds of the constraints, loosened by the rounding of floats."""
    return np.array([loosened(bound) for _, bound in (*symbolic.constraints, *_rules(space))])


def _rules(space: Space) -> list[tuple[Expression, Fraction]]:
    """The rules ≤ across axes as constraints."""
    return [(expression, Fraction(0)) for expression in space.inequalities]


def _constraints(symbolic: SymbolicProblem, problem: Problem) -> Iterator[Expression]:
    """The constraints of a problem as they are bounded."""
    for expression, limit in (*symbolic.constraints, *_rules(problem.space)):
        yield saturated(expression, limit, problem.intervals)


def saturated(
    constraint: Expression, limit: Fraction, ranges: Mapping[str, Interval]
) -> Expression:
    """An expression that keeps a limit where a constraint does, and takes no notice of factors
    beyond what that needs, so that rows dominate others.

    n - c·Π f ≤ b with f ≥ 1 is the same for f and min(f, k), where c·k + b is no less than n ever
    is: one factor that large will do.

    Parameters
    ----------
    constraint : Expression
        The constraint.
    limit : Fraction
        The limit.
    ranges : mapping of str to Interval
        What all quantities are between.
    """
    needs, gains = gains_and_losses(constraint)
    coefficient, product = split_coefficient(gains)
    factors = product.factors if isinstance(product, Product) else ((product, 1),)
    most = bounds_of(needs, ranges)
    if (
        most is None
        or coefficient <= 0
        or not all(isinstance(base, Symbol) and exponent == 1 for base, exponent in factors)
        or any(ranges[str(base)].low < 1 for base, _ in factors)
    ):
        return constraint
    enough = ceil((Fraction(most.high) - limit) / coefficient)
    if enough < 1:
        return constraint
    capped = (minimum(base, enough) for base, _ in factors)
    return add(needs, multiply(-coefficient, *capped))


def relax(space: Space, checkpoint: Callable[[], None] = never) -> Relaxation:
    """A relaxation over the rows of a space's axes."""
    axis_of = {symbol: axis.name for symbol, axis in space.axis_of.items()}
    by_name = {axis.name: axis for axis in space.axes}

    few: dict[str, list[Rows]] = {}
    kept: dict[str, tuple[list[Rows], bool]] = {}
    ranges = {
        name: Interval(Fraction(low), Fraction(high)) for name, (low, high) in space.ranges.items()
    }

    def chunks(name: str) -> Iterator[Rows]:
        """All rows of an axis, a few first that are likely to have its sign."""
        axis = by_name[name]
        if name not in few:
            few[name] = [rows for corner in _corners(axis) for rows in corner.rows()]
        yield from few[name]
        if name not in kept:
            rows: list[Rows] = list(islice(axis.rows(), 2))
            whole = len(rows) == 1 and next(iter(rows[0].values())).size <= KEPT_ROWS
            kept[name] = (rows if whole else [*_sparse(axis).rows()], whole)
        yield from kept[name][0]
        if not kept[name][1]:
            yield from axis.rows()

    def least(axis: str, expression: Expression) -> float:
        spans = [bounds_of(expression, ranges)]
        for form, whole in _forms(expression, by_name[axis]):
            spans.append(
                bounds_of(form, {**ranges, whole: Interval(Fraction(1), ranges[whole].high)})
            )
        low = max((span.low for span in spans if span is not None), default=-inf)
        if low > 0:
            return 1.0
        column = Columns([Column(0, expression, low=True, high=False)], by_name[axis])
        never_negative, smallest = low >= 0, inf
        for rows in chunks(axis):
            values = column.values(rows, next(iter(rows.values())).size)
            smallest = min(smallest, float(values.min(initial=inf)))
            if smallest < 0 or (smallest == 0 and never_negative):
                break  # no other row changes the sign
        return smallest

    return Relaxation(axis_of, least, checkpoint)


def _forms(expression: Expression, axis: Axis) -> Iterator[tuple[Expression, str]]:
    """Forms of an expression in which a quantity that another one divides is so many times that:
    its name stands for how many times."""
    for link in axis.links:
        left, right = link.left, link.right
        divides = link.relation is Relation.DIVIDES and isinstance(left, Symbol)
        if divides and isinstance(right, Symbol) and link.symbols <= expression.symbols:
            yield expression.substitute({right.name: left * right}), right.name


def _sparse(axis: Axis) -> Axis:
    """The axis with the least value of every choice but that among most."""
    widest = max(axis.free, key=lambda q: axis.ranges[q.name][1])
    return _with_least(axis, widest.name)


def _corners(axis: Axis) -> Iterator[Axis]:
    """The axis with the least value of every choice, and with the greatest of one each."""
    least = _with_least(axis)
    yield least
    for chosen in axis.free:
        most = int(axis.options(chosen.name).max(initial=chosen.low))
        if most > chosen.low:
            greatest = replace(chosen, low=most, high=most)
            yield replace(
                least,
                quantities=tuple(
                    greatest if q.name == chosen.name else q for q in least.quantities
                ),
            )


def _with_least(axis: Axis, but: str | None = None) -> Axis:
    """The axis with the least value of every choice, perhaps but one."""
    return replace(
        axis,
        quantities=tuple(
            replace(q, high=q.low) if q in axis.free and q.name != but else q
            for q in axis.quantities
        ),
    )


def used_columns(relaxation: Relaxation, statistics: frozenset[str]) -> dict[str, list[Column]]:
    """The columns whose statistics are used, by axis."""
    columns: dict[str, list[Column]] = {}
    for (axis, expression), index in relaxation.columns.items():
        column = Column(
            index,
            expression,
            statistic(index, False).name in statistics,
            statistic(index, True).name in statistics,
            statistic(index, True).name in relaxation.signed,
        )
        if column.low or column.high:
            columns.setdefault(axis, []).append(column)
    return columns
