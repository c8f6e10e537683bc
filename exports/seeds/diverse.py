"""Find configurations worth starting from: feasible, good, and far from each other.

Three sources, in this order. The optimum, proven or as good as the time allowed. Local optima:
coordinate descents from random boxes, under the limits and under limits tightened to part of what
the optimum uses, so that smaller arrays and smaller buffers are represented. And where these are
too few (tight limits, tiny loops), whatever feasible is reached by changing one axis at a time of
what was found. The seeds are then chosen among the best of them, each as far as possible from those
chosen before. Every candidate is verified by the Fraction reference; the seed of the random numbers
decides everything else (but an optimum cut short by a time limit depends on the machine).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray

from ithaca.exports.seeds.parameters import ParameterSpace, Rows, parameter_space
from ithaca.exports.seeds.scoring import score_tiling
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design_space import tiling_of
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.exact.descent import descend
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.workloads.errors import InputError

#: Candidates per seed that the choice is made among: more is more spread, fewer is better quality.
CANDIDATES = 2

#: Descents per seed, and at least.
DESCENTS, LEAST_DESCENTS = 6, 24

#: Descents in a row that lead nowhere new, after which there is probably nothing new.
FRUITLESS = 30

#: Metrics tightened to get other kinds of local optima, and to which parts of the optimum's use.
TIGHTENED = (("dsp", Fraction(1, 2)), ("bram18k", Fraction(1, 2)))

_Key = tuple[int, ...]


def diverse_tilings(
    problem: Problem,
    count: int,
    seed: int = 0,
    options: SolveOptions | None = None,
    known: Sequence[Tiling] = (),
) -> tuple[Tiling, ...]:
    """Distinct feasible tilings of a design, of good quality and spread.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    count : int
        How many.
    seed : int
        Seed of the random numbers.
    options : SolveOptions, optional
        How long to search for the optimum, and when to stop altogether.
    known : sequence of Tiling, optional
        Feasible tilings to begin with; then the optimum is not searched for.

    Returns
    -------
    tuple of Tiling
        First ``known`` as given, or the optimum; the others by objective, best first. Fewer than
        ``count`` where no more were found; none only where the search found no feasible tiling.

    Raises
    ------
    InputError
        If a known tiling is not feasible, or the design space is empty.
    """
    options = options or SolveOptions()
    pool = _Pool(parameter_space(problem))
    if not known:
        found = solve_exact(problem, options).tiling
        if found is None:
            return ()
        known = (found,)
    first = []
    for tiling in known:
        if not pool.space.is_legal(tiling) or not pool.offer(tiling):
            raise InputError(f"a configuration to begin with is not feasible for {problem.array.name}")
        key = pool.key(tiling)
        if key not in first:
            first.append(key)
    stopped = options.stop or (lambda: False)
    if count > len(first):
        _add_local_optima(pool, first[0], count, seed, stopped)
        _add_neighbours(pool, count, stopped)
    return tuple(pool.tilings[key] for key in _chosen(pool, first, count))


class _Pool:
    """Feasible tilings met so far, by their parameters."""

    def __init__(self, space: ParameterSpace) -> None:
        self.space = space
        self.tilings: dict[_Key, Tiling] = {}
        self.values: dict[_Key, Fraction] = {}

    def key(self, tiling: Tiling) -> _Key:
        """What tells tilings apart."""
        return tuple(self.space.vector(tiling))

    def offer(self, tiling: Tiling) -> bool:
        """Take a tiling if the reference confirms that it is feasible."""
        key = self.key(tiling)
        if key not in self.tilings:
            value, violation = score_tiling(self.space.problem, tiling)
            if violation:
                return False
            self.tilings[key], self.values[key] = tiling, value
        return True

    def place(self, key: _Key) -> NDArray[np.float64]:
        """Where a tiling lies: the logarithms of its factors (a doubling is a step anywhere), packs aside."""
        factors = [(p, value) for p, value in zip(self.space.parameters, key, strict=True) if not p.name.startswith("pack_")]
        return np.array([float(value) if p.exponent else log2(value) for p, value in factors])

    def best_first(self) -> list[_Key]:
        """All tilings by objective; equals by their parameters."""
        return sorted(self.tilings, key=lambda key: (self.values[key], key))


def _add_local_optima(pool: _Pool, optimum: _Key, count: int, seed: int, stopped: Callable[[], bool]) -> None:
    draw = np.random.default_rng(seed)
    problem = pool.space.problem
    variants = _variants(problem, pool.tilings[optimum])
    # a variant's descents come in one go, so that one model at a time is in memory
    tries = max(DESCENTS * count, LEAST_DESCENTS) // len(variants) + 1
    for variant in variants:
        if stopped():
            return
        model = build_model(variant)
        if not all(tree.table.count for tree in model.trees):
            continue
        fruitless = 0
        for _ in range(tries):
            found = descend(model, [int(draw.integers(tree.table.count)) for tree in model.trees])
            known = len(pool.tilings)
            if found is not None:
                pool.offer(model.tiling(found[0]))
            fruitless = 0 if len(pool.tilings) > known else fruitless + 1
            if stopped():
                return
            if fruitless == FRUITLESS:
                break


def _variants(problem: Problem, optimum: Tiling) -> list[Problem]:
    """The problem, and the problem with a metric limited to part of what its optimum uses."""
    metrics = metric_values(problem.costs(optimum), [name for name, _ in TIGHTENED])
    tighter = [Limit(name, metrics[name] * part) for name, part in TIGHTENED if metrics[name] > 0]
    return [problem, *(replace(problem, limits=(*problem.limits, limit)) for limit in tighter)]


def _add_neighbours(pool: _Pool, count: int, stopped: Callable[[], bool]) -> None:
    """While too few are known, add tilings that differ from one of them in one axis, best ones first."""
    queue = [(pool.values[key], key) for key in pool.best_first()]
    expanded = set()
    while queue and len(pool.tilings) < count and not stopped():
        _, key = heapq.heappop(queue)
        if key in expanded:
            continue
        expanded.add(key)
        before = set(pool.tilings)
        for rows in pool.space.rows:
            for tiling in _line(pool.space.problem, pool.tilings[key], rows, count):
                pool.offer(tiling)
        for new in sorted(pool.tilings.keys() - before):
            heapq.heappush(queue, (pool.values[new], new))


def _line(problem: Problem, tiling: Tiling, rows: Rows, count: int) -> Iterator[Tiling]:
    """The best ``count`` tilings that agree with one in all axes but ``rows``' own."""
    fixed = {name: float(v) for name, v in tiling.quantities(problem.array, problem.nest.sizes).items()}
    varied = {name: column.astype(np.float64) for name, column in rows.columns.items()}
    costs = evaluate(problem.array, {**fixed, **varied}, problem.data, NUMPY, problem.technology)
    names = problem.objective.expression.symbols.union(*(limit.expression.symbols for limit in problem.limits))
    metrics = metric_values(costs, names)
    size = next(iter(varied.values())).size
    objective = np.broadcast_to(np.asarray(problem.objective.expression.evaluate(metrics, NUMPY), np.float64), (size,))
    # floats only rank and sort out here: what is offered is verified by the reference
    feasible = np.ones(size, bool)
    for limit in problem.limits:
        bound = float(limit.bound)
        feasible &= limit.expression.evaluate(metrics, NUMPY) <= bound + 1e-9 * max(1.0, abs(bound))
    if problem.array.pe.accumulators is not None:
        feasible &= costs.accumulation >= 0
    places = np.flatnonzero(feasible)
    for index in places[np.argsort(objective[places], kind="stable")][: count + 1]:
        row = {name: int(column[index]) for name, column in rows.columns.items()}
        yield tiling_of(problem.array, {name: int(v) for name, v in fixed.items()} | row)


def _chosen(pool: _Pool, first: list[_Key], count: int) -> list[_Key]:
    """Of the best candidates, ``count`` chosen one at a time, each farthest from those before."""
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
