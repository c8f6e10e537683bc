"""The one configuration that is the answer among those of equal objective.

A design states what it prefers among them (`Design.preferences`): numbers, smaller ones better, one
after the other. What they leave equal the space decides: the smallest values of its free
quantities, the first of them first. So an optimum has one answer, whichever engine has proven it.

It is found by branch and bound over the level set {objective ≤ optimum}, in boxes as exact search
has them: each is bounded in all these numbers at once, the most promising come first, and a box is
dropped if its bounds, compared one after the other, are not before what is known. Tables are made
anew, as those of the proof lack what only the objective makes superfluous; but the optimum leaves
few of their rows (`ithaca.solver.level_set`), at times so few that each configuration is valued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    Constant,
    Expression,
    Symbols,
    add,
    multiply,
)
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY, exactly
from ithaca.formulations.algebra.rounding import cutoff, finer_than_floats, loosened
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Relation, Space
from ithaca.solver.best_first import TreeSearch
from ithaca.solver.certificate import Status
from ithaca.solver.level_set import LevelSet
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.tables.configurations import configuration_of
from ithaca.solver.tables.frame import lower, relax, row_sources, tree_sources
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.model import Nodes, Source
from ithaca.solver.tables.table import with_columns
from ithaca.solver.tables.tree import build_tree

#: Boxes split at once, and examined at most: where a plateau is that large its answer is not worth
#: more.
BATCH, MOST_BOXES = 4096, 1 << 22

#: Values of a part of the order stay below this, so that floats tell neighbours apart (`cutoff`).
MOST_CODES = 1 << 30


@dataclass(frozen=True)
class Preferred:
    """The outcome of a search among ties."""

    configuration: Configuration | None
    """The configuration; None where none is preferred to what was known."""
    complete: bool
    """Whether no other is preferred to it."""
    boxes: int
    """Boxes examined."""


def preferred(
    problem: Problem,
    value: Fraction,
    known: Configuration | None,
    options: SolveOptions,
    rival: tuple[Any, ...] | None = None,
    *,
    equal: bool = False,
) -> Preferred:
    """The configuration that is the answer of a problem with a proven optimum.

    Parameters
    ----------
    problem : Problem
        The problem.
    value : Fraction
        Its optimum, or that of a rival, which it may reach.
    known : Configuration or None
        A configuration of that value.
    options : SolveOptions
        Time limit and interruption.
    rival : tuple, optional
        Preferences of another design's configuration of that value: only what is preferred to it is
        asked for.
    equal : bool
        Whether what equals the rival is, too.
    """
    chosen, complete, boxes = None if rival is not None else known, False, 0
    search: _TieSearch | None = None
    with options.building(), suppress(StoppedError):
        search = _TieSearch(problem, value, options)
        if rival is not None:
            search.limit(rival, equal=equal)
        if known is not None:
            search.offer(known)
        complete = search.run()
    if search is not None:
        chosen, boxes = search.incumbent or chosen, search.boxes
    return Preferred(chosen, complete, boxes)


def breaking_ties(solve: Callable[..., Solution]) -> Callable[..., Solution]:
    """An engine, with options by default, that goes on, once it has proven an optimum, to the one
    answer of that value."""

    @wraps(solve)
    def solve_and_choose(
        problem: Problem, options: SolveOptions | None = None, *rest: Any, **named: Any
    ) -> Solution:
        budget = Budget(options or SolveOptions())
        solution = solve(problem, budget.options, *rest, **named)
        if budget.options.any_tie or solution.certificate.ties_broken:
            return solution
        return chosen_among_optima(solution, budget.share(), solve_and_choose)

    return solve_and_choose


def chosen_among_optima(
    solution: Solution, options: SolveOptions, solve: Callable[..., Solution]
) -> Solution:
    """The one answer among the configurations of an optimum.

    Parameters
    ----------
    solution : Solution
        What is known; what is not optimal is returned as it is.
    options : SolveOptions
        Time limit and interruption.
    solve : Callable
        The engine that solves for the next objective: by problem, options, report and start.
    """
    problem, proof, budget = solution.problem, solution.certificate, Budget(options)
    if proof.status is not Status.OPTIMAL or solution.value is None:
        return solution
    further = problem.among_optima(solution.value)
    if further is not None:
        least = solve(further, budget.share(), None, solution.configuration)
        return solution.chosen_by(least, proof.seconds + budget.spent)
    if solution.configuration is None or problem.preferences(solution.configuration) is None:
        return solution
    chosen = preferred(problem, solution.value, solution.configuration, options)
    nodes, seconds = proof.nodes + chosen.boxes, proof.seconds + budget.spent
    proof = replace(proof, ties_broken=chosen.complete, nodes=nodes, seconds=seconds)
    return make_solution(problem, chosen.configuration, proof)


class _TieSearch(TreeSearch):
    """Branch and bound over a level set, by bounds that are compared one after the other."""

    batch = BATCH

    def __init__(self, problem: Problem, value: Fraction, options: SolveOptions) -> None:
        super().__init__(())
        self.incumbent: Configuration | None = None
        self.boxes = 0
        self._problem, self._value, self._options = problem, value, options
        self._symbolic = problem.symbolic()
        self._preferences = problem.design.preferences(Symbols(), SYMBOLIC) or ()
        #: The numbers to compare by, over quantities: what equals the objective tells nothing
        #: apart.
        self._keys: list[Expression] = [
            key for key in self._preferences if key is not None and self._tells(key)
        ]
        self._keys += order(problem.space)
        self._steps = [granularity(key, problem.space.powers) for key in self._keys]
        #: What must be undercut, one number after the other.
        self._best: tuple[Any, ...] = (inf,) * len(self._keys)
        self._sources: tuple[Source, ...] = ()

    def _tells(self, key: Expression) -> bool:
        return key != self._symbolic.objective

    # -- what is known -----------------------------------------------------------------

    def offer(self, configuration: Configuration) -> None:
        """Take a configuration as incumbent if the reference confirms that it is preferred."""
        if self._problem.feasible_value(configuration) == self._value:
            values = exactly(configuration)
            keys = tuple(Fraction(key.evaluate(values, FRACTION)) for key in self._keys)
            if keys < self._best:
                self.incumbent, self._best = configuration, keys

    def limit(self, rival: tuple[Any, ...], *, equal: bool) -> None:
        """Ask only for what is preferred to a rival; what one of both does not say is the worst."""
        best: list[Any] = []
        for own, other in zip(self._preferences, rival, strict=True):
            if (own is None) != (other is None):
                equal = other is None
                break
            if own is not None and self._tells(own):
                best.append(other)
        self._best = (*best, *(inf,) * (len(self._keys) - len(best))) if equal else tuple(best)

    # -- the search --------------------------------------------------------------------

    def run(self) -> bool:
        """Search until nothing is preferred to what is known; whether that was reached."""
        checkpoint = self._options.checkpoint()
        checkpoint()
        if not self._prepare(checkpoint):
            return True
        most = self.boxes + MOST_BOXES
        self._begin()
        while self._parts:
            checkpoint()
            if self.boxes >= most:
                return False
            nodes, _ = self._open(*self._parts.pop()[1])
            if nodes.shape[1]:
                self._split(nodes)
        return True

    def _prepare(self, checkpoint: Callable[[], None]) -> bool:
        """Build trees of the rows that the level set may have; false if it has none."""
        problem = self._problem
        level = LevelSet(problem, self._value, checkpoint)
        first = level.first(self._keys)
        if first is not None:
            self.boxes += first[1]
            if first[0] is not None:
                self.offer(first[0])
            return False
        assert level.tables is not None
        lowered = lower(problem, relax(problem.space), self._keys)
        self._program = lowered.bounds
        self._limits = [loosened(self._value), *lowered.limits]
        tables = [
            with_columns(t, lowered.columns, prune=not problem.space.entangled)
            for t in level.tables
        ]
        for axis in range(len(tables)):
            checkpoint()
            count = tables[axis].count
            nodes = np.stack([np.arange(count), np.zeros(count, np.int64)])
            sources = row_sources(self._program, tables, axis)
            tables[axis] = tables[axis].only(self._bound_by(sources, nodes)[1])
            if not tables[axis].count:
                return False
        self._trees = tuple(build_tree(table, checkpoint) for table in tables)
        self._sources = tree_sources(self._program, self._trees)
        return True

    def _bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        return self._bound_by(self._sources, nodes)

    def _bound_by(
        self, sources: Sequence[Source], nodes: NDArray[np.signedinteger]
    ) -> tuple[Floats, Mask]:
        """Lower bounds of the numbers to compare by, and which boxes may hold something
        preferred."""
        self.boxes += nodes.shape[1]
        outputs = self._program.gather(sources, nodes)
        feasible = np.ones(nodes.shape[1], bool)
        for used, limit in zip(outputs, self._limits, strict=False):
            feasible &= ~(used > limit)
        keys = np.empty((len(self._keys), nodes.shape[1]))
        for own, bound in zip(keys, outputs[len(self._limits) :], strict=True):
            own[:] = np.where(np.isnan(bound), -inf, bound)
        return keys, feasible & self._improving(keys)

    def _improving(self, bounds: Floats) -> Mask:
        undecided = np.ones(bounds.shape[1], bool)
        open_ = np.zeros(bounds.shape[1], bool)
        for own, best, step in zip(bounds, self._best, self._steps, strict=False):
            above = cutoff(best)
            # no smaller for sure: on the grid, where floats tell its values apart
            even = (
                cutoff(best - step) if step and not finer_than_floats(step, best - step) else above
            )
            open_ |= undecided & (own <= even)
            undecided &= (own > even) & (own <= above)
        return open_

    def _take(self, nodes: Nodes, bounds: Floats) -> None:
        tables = [tree.table for tree in self._trees]
        for place in np.flatnonzero(self._legal(nodes)):
            if self._improving(bounds[:, place : place + 1])[0]:
                rows = self._rows(nodes[:, place])
                self.offer(configuration_of(self._problem.space, tables, rows))

    def _legal(self, nodes: Nodes) -> Mask:
        """A mask of the single configurations that keep the rules across axes that bounds do not
        show."""
        space, values = self._problem.space, dict[str, Integers]()
        legal = np.ones(nodes.shape[1], bool)
        if not space.entangled:
            return legal
        for tree, node in zip(self._trees, nodes, strict=True):
            rows = tree.row.take(node)
            values |= {name: column.take(rows) for name, column in tree.table.rows.items()}
        for name, expression in space.definitions.items():
            values[name] = expression.evaluate(values, NUMPY)
        for link in space.links:
            if link.relation is not Relation.AT_MOST:
                legal &= link.holds(values)
        return legal


def order(space: Space) -> Iterator[Expression]:
    """The order of a space's configurations as numbers to compare one after the other: digits are
    the free quantities.

    Each number is of one axis, and positive: it is far from 0, so that trees are split by what
    decides first.
    """
    free = {quantity.name for quantity in space.free}
    for axis in space.axes:
        digits: list[tuple[Expression, int]] = []
        for quantity in (*(q for q in axis.quantities if q.name in free), None):
            radix = 1 if quantity is None else axis.ranges[quantity.name][1] + 1
            if digits and (quantity is None or prod(r for _, r in digits) * radix > MOST_CODES):
                yield _code(digits)
                digits = []
            if quantity is not None:
                digits.append((quantity.symbol, radix))


def _code(digits: Sequence[tuple[Expression, int]]) -> Expression:
    weight, terms = 1, list[Expression]()
    for digit, radix in reversed(digits):
        terms.append(multiply(weight, digit))
        weight *= radix
    return add(*terms, Constant(Fraction(16 * weight)))
