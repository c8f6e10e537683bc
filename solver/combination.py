"""Bring geometric programs to bear on an exact search: at the root, and on coarse boxes.

Intervals see integrality and are weak where quantities of several loops pull against each other; geometric programs see
those trade-offs and are blind to integrality. The search keeps what either proves.
"""

from __future__ import annotations

from ithaca.formulations.problem import Problem
from ithaca.solver.exact.cells import coarse_cells
from ithaca.solver.exact.search import Search
from ithaca.solver.gp.engine import gp_bound, gp_seeds
from ithaca.solver.gp.search import GpSearch, deadline
from ithaca.solver.options import SolveOptions

#: Geometric programs solved for a bound at the root, and configurations rounded from them.
PROGRAMS, SEEDS = 12, 4

#: Depths of the trees at which cells are tried; cells tried before it must have paid; most cells per depth.
DEPTHS = (2, 3)
TRIAL, MOST_CELLS = 2, 64


def bound_and_seed(problem: Problem, search: Search, options: SolveOptions, programs: int = PROGRAMS) -> None:
    """Give a search the bound and the rounded optima of geometric programs.

    Raises
    ------
    NotPosynomialError
        If the objective has no geometric program.
    """
    bound = gp_bound(problem, max_programs=programs, options=options, value=search.state.value)
    if bound.lower_bound is not None:
        search.raise_floor(bound.lower_bound)
    for tiling in gp_seeds(problem, bound, SEEDS, search.model):
        search.offer(tiling)


def close_coarse_boxes(problem: Problem, search: Search, options: SolveOptions) -> tuple[int, int]:
    """Drop the open boxes of coarse cells in which geometric programs prove that nothing better is.

    A depth at which the most crowded cells stay open is given up at once.

    Returns
    -------
    tried, dropped : int
        Cells bounded, and boxes dropped.

    Raises
    ------
    NotPosynomialError
        If the objective has no geometric program.
    """
    should_stop = deadline(options.time_limit, options.stop)
    cells_tried = dropped = 0
    shared = GpSearch(problem).model
    for depth in DEPTHS:
        cells = coarse_cells(search.model, depth)
        closed: list[int] = []
        for tried, code in enumerate(search.crowded_cells(cells, MOST_CELLS), start=1):
            if should_stop() or (tried > TRIAL and not closed):
                break
            inside = GpSearch(problem, search.state.value, model=shared, within=cells.ranges(code))
            inside.run(0)
            cells_tried += 1
            if inside.complete and inside.incumbent is None:
                closed.append(code)
        dropped += search.close(cells, closed)
    return cells_tried, dropped
