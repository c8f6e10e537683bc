"""Tables of problems with wide axes: a good configuration first, then the rows that may beat it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.freed_memory import keep_freed_memory
from ithaca.solver.exact.probing import probe
from ithaca.solver.exact.search import NEAR, Search, SearchState, nearly_proven
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import bound_model
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.tables.table import CandidateTable, without_dominated
from ithaca.solver.tables.tree import build_tree

#: Boxes of rows that waste nothing that are searched at most.
MOST_BOXES = 1 << 21

#: How many times what bounds every value the best may be, for few rows that reach it to be looked
#: at before others.
NEARER = (Fraction(65, 64), Fraction(9, 8), NEAR)


def wide_tables(
    problem: Problem,
    state: SearchState,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> list[CandidateTable] | None:
    """Tables of the rows that may be part of a configuration no worse than the best among those
    that waste nothing; None where no axis is wide, columns prove by themselves which rows will do,
    or nothing is known.

    Parameters
    ----------
    problem : Problem
        The problem.
    state : SearchState
        What is known, to which boxes are added.
    offer : Callable
        Takes a configuration that may be better into it, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.
    """
    levels = LevelSets(problem, checkpoint)
    if problem.space.entangled or not levels.wide:
        return None
    if not nearly_proven(problem, state.value) and levels.proves_lean:
        return None
    keep_freed_memory()
    lowered = levels.bounds.lowered

    def look(rows: LevelSets, top: Fraction | None) -> None:
        """Search rows that waste nothing, of those of at most a value where one is stated."""
        few = rows.few_rows(top)
        few = probe(problem, lowered, few, state.value, offer, checkpoint) if few else few
        if few and all(table.count for table in few):
            trees = tuple(build_tree(table, checkpoint) for table in few)
            _search(bound_model(problem, lowered, trees), state, offer, checkpoint)

    def look_up() -> None:
        checkpoint()  # which may find something better
        if nearly_proven(problem, state.value):
            raise _NearError

    if not nearly_proven(problem, state.value):
        for top in (problem.floor * share for share in NEARER) if problem.floor else ():
            look(levels, top)
            if state.value is not None and state.value <= top:
                break
        else:
            with suppress(_NearError):
                look_up()
                look(replace(levels, checkpoint=look_up), state.value)
    tables = None if state.value is None else levels.tables(state.value)
    return None if tables is None else [without_dominated(table) for table in tables]


def _search(
    model: BoundModel,
    state: SearchState,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> None:
    """Search rows for something better than the incumbent, in a bounded number of boxes."""

    def enough() -> bool:
        checkpoint()
        return search.state.boxes > MOST_BOXES

    search = Search(model, SolveOptions(stop=enough))
    try:
        search.run(state.incumbent)
    finally:
        state.boxes += search.state.boxes
        if search.state.incumbent is not None:
            offer(search.state.incumbent)


class _NearError(Exception):
    """Raised where an incumbent is so good that rows below its value are made instead."""
