"""Tables of problems with wide axes: a good configuration first, then the rows that may beat it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Rows
from ithaca.solver.exact.freed_memory import keep_freed_memory
from ithaca.solver.exact.probing import probe
from ithaca.solver.exact.search import NEAR, Search, SearchState, nearly_proven
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import bound_model
from ithaca.solver.tables.table import CandidateTable, build_table, without_dominated
from ithaca.solver.tables.tree import build_tree
from ithaca.solver.wide_rows import rows_of

#: Boxes that are searched at most for a good configuration: of rows that a guess leaves, and of
#: those that waste nothing.
FEW_BOXES, MOST_BOXES = 1 << 18, 1 << 21

#: Bytes of rows that waste nothing, and of their columns, which are made at most.
MOST_BYTES = 1 << 31

#: How many times what bounds every value an optimum is guessed to be at most: where it is, rows of
#: worse configurations are not even looked at. Rows, of all axes, beyond which none is guessed.
GOOD = Fraction(17, 16)
GUESSES = (Fraction(129, 128), GOOD, NEAR, *(Fraction(1 << n) for n in range(1, 7)))
MOST_GUESSED = 1 << 17


def wide_tables(
    problem: Problem,
    state: SearchState,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> list[CandidateTable] | None:
    """Tables of the rows that may be part of a configuration no worse than a good one, which is
    found by a guess or among rows that waste nothing; None where no axis is wide, columns prove by
    themselves which rows will do, or nothing is known.

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
    keep_freed_memory()

    def improve(rows: list[CandidateTable], boxes: int, top: Fraction | None = None) -> bool:
        """Look among rows for what is better than is known, and no more than a value; whether it
        is known that there is nothing."""
        lowered, known = levels.bounds.lowered, least(state.value, top)
        few = probe(problem, lowered, rows, known, lambda x: least(offer(x), top), checkpoint)
        if not all(table.count for table in few):
            return True
        trees = tuple(build_tree(table, checkpoint) for table in few)

        def enough() -> bool:
            checkpoint()
            return search.state.boxes > boxes

        search = Search(bound_model(problem, lowered, trees), SolveOptions(rival=top, stop=enough))
        try:
            search.run(state.incumbent)
        finally:
            state.boxes += search.state.boxes
            if search.state.incumbent is not None:
                offer(search.state.incumbent)
        return search.state.complete

    floor = problem.floor or Fraction(0)
    for top in [guess * floor for guess in GUESSES] if floor > 0 else ():
        # a good configuration, as of a narrower space, leaves hardly more rows than a guess below
        good = state.value is not None and top < state.value <= GOOD * floor
        if good or top <= (state.lower_bound or 0):
            continue
        rows = levels.tables(least(state.value, top) or top)
        none = rows is None
        if rows is not None:
            rows = [without_dominated(table) for table in rows]
            if state.value is None or state.value > top:
                none = improve(rows, FEW_BOXES, top)
            if state.value is not None and state.value <= top:
                return rows
        if none:
            state.lower_bound = top
        if rows and sum(table.count for table in rows) > MOST_GUESSED:
            break
    if not nearly_proven(state) and levels.rising is levels.bounds:
        return None

    def look_up() -> None:
        checkpoint()  # which may find something better
        if nearly_proven(state):
            raise _NearError

    with suppress(_NearError):
        look_up()
        rows = few_rows(replace(levels, checkpoint=look_up))
        if rows is not None:
            improve(rows, MOST_BOXES)
    tables = None if state.value is None else levels.tables(state.value)
    return tables and [without_dominated(table) for table in tables]


def few_rows(levels: LevelSets) -> list[CandidateTable] | None:
    """Tables of rows that waste nothing, among which there are good configurations; None where
    making them might take more than `MOST_BYTES`.

    Parameters
    ----------
    levels : LevelSets
        The configurations of a problem.
    """
    columns, made, tables = levels.bounds.lowered.columns, 0, []

    def counted(chunks: Iterable[Rows], width: int) -> Iterator[Rows]:
        nonlocal made
        for rows in chunks:
            own = [values.nbytes for values in rows.values()]
            made += sum(own) + width * max(own)  # columns are doubles, quantities no wider
            if made > MOST_BYTES:
                raise _ManyError
            yield rows

    with suppress(_ManyError):
        for axis, lean in zip(levels.axes, levels.rising.lean(levels.axes), strict=True):
            own = columns.get(axis.name, ())
            chunks = counted(rows_of(axis, lean)(), len(own))
            tables.append(build_table(axis, own, levels.checkpoint, chunks=chunks))
        return tables
    return None


def least(*values: Fraction | None) -> Fraction | None:
    """The least of values that are known; None where none is."""
    return min((value for value in values if value is not None), default=None)


class _NearError(Exception):
    """Raised where an incumbent is so good that rows below its value are made instead."""


class _ManyError(Exception):
    """Raised where rows are too many for memory."""
