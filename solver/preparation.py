"""The beginning of a search that proves: tables of all rows, or of those that may be part of what
beats a rival; or the rows of a small space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.probing import probe
from ithaca.solver.exact.search import ProvingSearch, Search, SearchState
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions
from ithaca.solver.small import is_dear
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.lowered import LoweredProblem
from ithaca.solver.tables.table import CandidateTable

ENUMERATION, EXACT = "enumeration", "exact"


def begun(
    problem: Problem,
    options: SolveOptions,
    state: SearchState,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
    *,
    small: bool,
) -> tuple[ProvingSearch, str] | None:
    """A search, of what may be better than the incumbent and a rival, with the name of its method;
    None where no configuration is better than that rival.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        The options of the search. By tables it leaves out what is no better than their rival, the
        value of another problem's configuration, or worse than the incumbent.
    state : SearchState
        What is known, to which boxes are added.
    offer : Callable
        Takes a configuration that may be better into it, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.
    small : bool
        Whether small spaces whose bounds are dear are enumerated, all of them.
    """
    if small and is_dear(problem, checkpoint):
        from ithaca.solver.enumeration.search import prepared

        search = prepared(problem, replace(options, rival=None), state.incumbent)
        if search is not None:
            return search, ENUMERATION
    rival, tables = options.rival, None

    def least(value: Fraction | None) -> Fraction | None:
        """The less of a value and the rival's; None of no value, so that one is looked for."""
        return value if value is None or rival is None else min(value, rival)

    def narrowed(bounds: LoweredProblem, rows: list[CandidateTable]) -> list[CandidateTable]:
        return probe(
            problem, bounds, rows, least(state.value), lambda own: least(offer(own)), checkpoint
        )

    levels = LevelSets(problem, checkpoint)
    top = rival if state.value is None else least(state.value)
    if rival is None and levels.wide:
        from ithaca.solver.exact.wide import wide_tables

        tables = wide_tables(problem, state, offer, checkpoint)
    elif top is not None and not problem.space.entangled:
        tables = levels.tables(top)
        if tables is None:
            return None
    return Search(build_model(problem, checkpoint, narrowed, tables), options), EXACT


def cap(state: SearchState, top: Fraction | None) -> None:
    """Lower the claim of a state to a value, from which on nothing was in the tables."""
    if top is not None and (state.value is None or state.value >= top):
        if state.complete or (state.lower_bound is not None and state.lower_bound > top):
            state.lower_bound = top
        state.complete = False


def reaches(top: Fraction | None, state: SearchState, options: SolveOptions) -> bool:
    """Whether tables of what is below a value hold all that a search is to look at.

    Parameters
    ----------
    top : Fraction or None
        The value; None: tables hold everything.
    state : SearchState
        What is known.
    options : SolveOptions
        With the value of a rival, if there is one.
    """
    known = [value for value in (state.value, options.rival) if value is not None]
    return top is None or min(known, default=inf) <= top
