"""The beginning of a search that proves: its tables, or the rows of a small space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.probing import probe
from ithaca.solver.exact.search import ProvingSearch, Search, SearchState
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions
from ithaca.solver.small import is_dear
from ithaca.solver.tables.frame import build_model

ENUMERATION, EXACT = "enumeration", "exact"


def begun(
    problem: Problem,
    options: SolveOptions,
    state: SearchState,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
    *,
    small: bool,
) -> tuple[ProvingSearch, str]:
    """A search with the name of its method.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        The options of the search.
    state : SearchState
        What is known, to which boxes are added.
    offer : Callable
        Takes a configuration that may be better into it, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.
    small : bool
        Whether small spaces whose bounds are dear are enumerated.
    """
    if small and is_dear(problem, checkpoint):
        from ithaca.solver.enumeration.search import prepared

        search = prepared(problem, replace(options, rival=None), state.incumbent)
        if search is not None:
            return search, ENUMERATION
    wide = None
    if LevelSets(problem, checkpoint).wide:
        from ithaca.solver.exact.wide import wide_tables

        wide = wide_tables(problem, state, offer, checkpoint)
    model = build_model(
        problem,
        checkpoint,
        lambda bounds, own: probe(problem, bounds, own, state.value, offer, checkpoint),
        wide,
    )
    return Search(model, options), EXACT
