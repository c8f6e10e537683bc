"""The one configuration that is the answer among those of equal objective.

They are in order (`ithaca.solver.ranking`), so an optimum has one answer, whichever engine has
proven it. Rows are made anew, as those of the proof lack what only the objective makes superfluous;
but the optimum leaves few of them, and mostly so few configurations that each is looked at
(`ithaca.solver.level_set`); else they are searched by bounds (`ithaca.solver.plateau`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any

from ithaca.files.clock import StoppedError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.ranking import Ranking
from ithaca.solver.small import is_dear
from ithaca.solver.solution import Solution, make_solution


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
    ranking: Ranking | None = None
    with options.building(), suppress(StoppedError):
        ranking, checkpoint = Ranking(problem, value), options.checkpoint()
        if rival is not None:
            ranking.limit(rival, equal=equal)
        if known is not None:
            ranking.offer(known)
        checkpoint()
        if is_dear(problem, checkpoint):
            from ithaca.solver.enumeration.level import Level

            level = Level(ranking, checkpoint)
            level.choose()
            return Preferred(ranking.incumbent or chosen, True, level.state.boxes)
        levels = LevelSets(problem, checkpoint)
        tables = levels.tables(value)
        first = (None, 0) if tables is None else levels.first(ranking, tables)
        if first is None and tables is not None:
            from ithaca.solver.plateau import PlateauSearch

            search = PlateauSearch(ranking, tables, checkpoint)
            try:
                complete = search.run()
            finally:
                boxes = search.boxes
        elif first is not None:
            complete, boxes = True, first[1]
            if first[0] is not None:
                ranking.offer(first[0])
    return Preferred(chosen if ranking is None else ranking.incumbent or chosen, complete, boxes)


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
