"""Tables of exact search: of all rows, or of those that may be part of what beats a rival."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.probing import probe
from ithaca.solver.exact.search import SearchState
from ithaca.solver.exact.wide import wide_tables
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.lowered import LoweredProblem
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.tables.table import CandidateTable


def model_below(
    problem: Problem,
    state: SearchState,
    rival: Fraction | None,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> BoundModel | None:
    """The bounds of a problem over the rows that may be part of a configuration better than the
    incumbent and a rival; None where no configuration is better than that rival.

    Parameters
    ----------
    problem : Problem
        The problem.
    state : SearchState
        What is known of it.
    rival : Fraction or None
        The value of another problem's configuration; what is no better is left out.
    offer : Callable
        Takes a configuration that may be better into the state, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.
    """

    def least(value: Fraction | None) -> Fraction | None:
        """The less of a value and the rival's; None of no value, so that one is looked for."""
        return value if value is None or rival is None else min(value, rival)

    def narrowed(bounds: LoweredProblem, rows: list[CandidateTable]) -> list[CandidateTable]:
        return probe(
            problem, bounds, rows, least(state.value), lambda own: least(offer(own)), checkpoint
        )

    if rival is None or problem.space.entangled:
        tables = wide_tables(problem, state, offer, checkpoint)
    else:
        tables = LevelSets(problem, checkpoint).tables(rival)
        if tables is None:
            return None
    return build_model(problem, checkpoint, narrowed, tables)


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
