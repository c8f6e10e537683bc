"""Find configurations worth starting from: feasible, good, and far from each other.

Three sources, in this order. The optimum, proven or as good as the time allowed. Local optima:
coordinate descents from random boxes, under the limits and under limits tightened to part of what
the optimum uses, so that smaller arrays and smaller buffers are represented. And where these are
too few (tight limits, tiny loops), whatever feasible is reached by changing one axis at a time of
what was found. The seeds are then chosen among the best of them, each as far as possible from those
chosen before. Every candidate is verified by the Fraction reference; the seed of the random numbers
decides everything else (but what a time limit cuts short depends on the machine).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np

from ithaca.files.clock import StoppedError, poll
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.space import Axis, Role
from ithaca.plugins.seeds.exports.parameters import (
    ParameterSpace,
    parameter_space,
    score_configuration,
)
from ithaca.refine.evolution.population import Scorer
from ithaca.solver.exact.descent import descend
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.tables.frame import build_model, lower_problem
from ithaca.solver.tables.table import build_table

#: Share of a time limit that the search for the optimum may take; the rest is for others.
SEARCHED = 0.75

#: Candidates per seed that the choice is made among: more is more spread, fewer is better quality.
CANDIDATES = 2

#: Descents per seed, and at least.
DESCENTS, LEAST_DESCENTS = 6, 24

#: Descents in a row that lead nowhere new, after which there is probably nothing new.
FRUITLESS = 30

#: To which part of the optimum's use a limit is tightened to get other kinds of local optima, and
#: how many limits are.
TIGHTENED, MOST_TIGHTENED = Fraction(1, 2), 2

_Key = tuple[int, ...]


def diverse_configurations(
    problem: Problem,
    count: int,
    seed: int = 0,
    options: SolveOptions | None = None,
    known: Sequence[Configuration] = (),
) -> tuple[Configuration, ...]:
    """Distinct feasible configurations of a design, of good quality and spread.

    Parameters
    ----------
    problem : Problem
        The design, its objective and limits.
    count : int
        How many configurations to return at most.
    seed : int, optional
        Seed of the random numbers.
    options : SolveOptions, optional
        How far to search: most of the time for the optimum, where no configuration is known.
    known : sequence of Configuration, optional
        Configurations to begin with, in this order. They must be feasible.

    Returns
    -------
    tuple of Configuration
        The known ones, or else the optimum, then others by objective, best first; fewer than
        ``count`` where no more were found, none only where no feasible one was.

    Raises
    ------
    InputError
        If a known configuration is not feasible, or the design space is empty.
    """
    budget = Budget(options or SolveOptions())
    pool = _Pool(parameter_space(problem))
    if not known:
        best = solve_exact(problem, budget.part(SEARCHED)).configuration
        if best is None:
            return ()
        known = (best,)
    first = []
    for configuration in known:
        if not pool.offer(configuration):
            raise InputError(
                f"a configuration to begin with is not feasible for {problem.design.name}"
            )
        key = pool.key(configuration)
        if key not in first:
            first.append(key)
    if count > len(first):
        with budget.share().building(), suppress(StoppedError):
            _add_local_optima(pool, first[0], count, seed)
            _add_neighbours(pool, count)
    return tuple(pool.configurations[key] for key in _chosen(pool, first, count))


class _Pool:
    """Feasible configurations met so far, by their parameters."""

    def __init__(self, space: ParameterSpace) -> None:
        self.space = space
        self.scorer = Scorer(space.problem)
        self.configurations: dict[_Key, Configuration] = {}
        self.values: dict[_Key, Fraction] = {}

    def key(self, configuration: Configuration) -> _Key:
        """The values by which configurations are told apart."""
        return tuple(self.space.vector(configuration))

    def offer(self, configuration: Configuration) -> bool:
        """Take a configuration if the reference confirms that it is feasible."""
        key = self.key(configuration)
        if key not in self.configurations:
            value, violation = score_configuration(self.space.problem, configuration)
            if violation:
                return False
            self.configurations[key], self.values[key] = configuration, value
        return True

    def place(self, key: _Key) -> Floats:
        """The logarithms of a configuration's factors, ports aside: a doubling is one step."""
        quantities = self.space.problem.space.quantities
        pairs = zip(self.space.parameters, key, strict=True)
        factors = [(p, value) for p, value in pairs if quantities[p.quantity].role is not Role.PORT]
        return np.array([float(value) if p.exponent else log2(value) for p, value in factors])

    def best_first(self) -> list[_Key]:
        """All configurations by objective; equals by their parameters."""
        return sorted(self.configurations, key=lambda key: (self.values[key], key))


def _add_local_optima(pool: _Pool, optimum: _Key, count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    problem = pool.space.problem
    variants = _variants(problem, pool.configurations[optimum])
    # a variant's descents come in one go, so that one model at a time is in memory
    tries = max(DESCENTS * count, LEAST_DESCENTS) // len(variants) + 1
    for variant in variants:
        columns = lower_problem(variant, poll).columns
        # of rows that the search has no use for some are good to begin with
        tables = [
            build_table(
                axis,
                columns.get(axis.name, ()),
                poll,
                prune=not variant.space.entangled,
                chunks=axis.rows(),
            )
            for axis in variant.space.axes
        ]
        model = build_model(variant, poll, tables=tables)
        if not all(model.counts):
            continue
        fruitless = 0
        for _ in range(tries):
            poll()
            optimum_near = descend(
                model.configurations,
                model.counts,
                [int(draw.integers(count)) for count in model.counts],
            )
            known = len(pool.configurations)
            if optimum_near is not None:
                pool.offer(model.configuration(optimum_near[0]))
            fruitless = 0 if len(pool.configurations) > known else fruitless + 1
            if fruitless == FRUITLESS:
                break


def _variants(problem: Problem, optimum: Configuration) -> list[Problem]:
    """The problem, and ones with a limit tightened to part of what the optimum uses."""
    metrics = problem.metrics(optimum)
    used = [
        (limit.metric, limit.used(metrics))
        for limit in problem.limits
        if isinstance(limit.expression, Symbol)
    ]
    tighter = [Limit(name, use * TIGHTENED) for name, use in used if use > 0][:MOST_TIGHTENED]
    return [problem, *(replace(problem, limits=(*problem.limits, limit)) for limit in tighter)]


def _add_neighbours(pool: _Pool, count: int) -> None:
    """Fill up with configurations that differ from known ones in one axis, best ones first."""
    queue = [(pool.values[key], key) for key in pool.best_first()]
    expanded = set()
    while queue and len(pool.configurations) < count:
        _, key = heapq.heappop(queue)
        if key in expanded:
            continue
        expanded.add(key)
        before = set(pool.configurations)
        for axis in pool.space.problem.space.axes:
            poll()
            for neighbour in _line(pool, pool.configurations[key], axis, count):
                pool.offer(neighbour)
        for new in sorted(pool.configurations.keys() - before):
            heapq.heappush(queue, (pool.values[new], new))


def _line(
    pool: _Pool, configuration: Configuration, axis: Axis, count: int
) -> Iterator[Configuration]:
    """The best ``count`` configurations that agree with one in all axes but one."""
    rows = axis.table()
    size = next(iter(rows.values())).size
    # floats only rank and sort out here: what is offered is verified by the reference
    objective, excess = pool.scorer.score({**configuration, **rows}, np.ones(size, bool))
    places = np.flatnonzero(excess == 0)
    for index in places[np.argsort(objective[places], kind="stable")][: count + 1]:
        row = {name: int(column[index]) for name, column in rows.items()}
        yield Configuration({**configuration, **row})


def _chosen(pool: _Pool, first: list[_Key], count: int) -> list[_Key]:
    """Choose ``count`` of the best candidates one at a time, each farthest from those before."""
    chosen = first[:count]
    ranked = [key for key in pool.best_first() if key not in set(first)]
    candidates = ranked[: CANDIDATES * count]
    missing = min(count - len(chosen), len(candidates))
    picked: list[_Key] = []
    if missing > 0:
        places = np.array([pool.place(key) for key in candidates])
        nearest = np.full(len(candidates), np.inf)
        for key in chosen:
            nearest = np.minimum(nearest, np.linalg.norm(places - pool.place(key), axis=1))
        for _ in range(missing):
            # the first of equally far ones is the better one
            farthest = int(nearest.argmax())
            picked.append(candidates[farthest])
            nearest = np.minimum(nearest, np.linalg.norm(places - places[farthest], axis=1))
            nearest[farthest] = -1.0
    return chosen + sorted(picked, key=lambda key: (pool.values[key], key))
