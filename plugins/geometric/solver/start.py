"""The start of evolution: the bound of geometric programs, and configurations rounded from their
optima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.posynomial import NotPosynomialError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.repair import Repair
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.plugins.geometric.solver.seeds import round_points
from ithaca.solver.combination import NOTHING, STAGES, Start
from ithaca.solver.options import SolveOptions, deadline
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel

#: Most seeds per stage, fractional optima rounded for them, and fractional optima that evolution
#: starts next to.
SEEDS, ROUNDED, OPTIMA = 12, 8, 4

#: Rounding combines the candidate rows of all axes. Beyond so many (packs aside), evolution starts
#: next to the fractional optima instead.
MOST_ROWS = 2_700_000


def geometric_start(
    problem: Problem,
    options: SolveOptions,
    checkpoint: Callable[[], None],
    *,
    stages: Sequence[int] = STAGES,
    model: BoundModel | None = None,
    rounding: bool = True,
) -> Start:
    """Bound and seeds of a problem by geometric programs.

    Where the objective is not posynomial there is no bound, and the seeds are those of the family's
    first metric: they meet the same limits.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit and interruption.
    checkpoint : Callable
        Called now and then; when it raises `StoppedError` there are no rounded configurations.
    stages : Sequence of int, optional
        Programs solved before each rounding.
    model : BoundModel, optional
        The exact engine's model, by which is rounded; built unless it is given.
    rounding : bool, optional
        Whether to round.

    Returns
    -------
    Start
        What they found.
    """
    should_stop = deadline(options.time_limit, options.stop)
    bounded, search = problem, _search(problem, options)
    if search is None:
        first = next(iter(problem.design.vocabulary))
        bounded = replace(problem, objective=Objective(first, Symbol(first)))
        search = _search(bounded, options)
        if search is None:
            return NOTHING
    rounding = rounding and (model is not None or Repair(problem.space).size <= MOST_ROWS)
    points: list[Mapping[str, float]] = []
    seeds: list[Configuration] = []
    for programs in stages:
        search.run(programs, should_stop)
        if search.complete or should_stop():
            break
        points += search.points[:OPTIMA]
        if rounding:
            try:
                with options.building():
                    model = model or build_model(bounded, checkpoint)
                checkpoint()
                seeds += round_points(bounded, search.points, SEEDS, model, ROUNDED)
            except StoppedError:
                break
    if search.complete and search.value is None:
        return Start(None, True, (), ())
    if search.incumbent is not None:
        seeds.append(search.incumbent)
    # a bound on that metric is none on another objective
    bound = search.lower_bound if bounded is problem else None
    return Start(bound, False, tuple(seeds), tuple(points))


def _search(problem: Problem, options: SolveOptions) -> GpSearch | None:
    try:
        with options.building():
            return GpSearch(problem)
    except (NotPosynomialError, StoppedError):
        return None
