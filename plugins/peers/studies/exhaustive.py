"""Pruned exhaustive search: the whole design space, in the order of the published prunings, without
what cannot fit.

The released Odyssey prunes matrix multiplication by windows chosen by hand (``tuners.py``: even t1
from 200 to 270, 200 to 240 PEs, the widest SIMD factor, 95 to 100 % of the DSPs; its pruned random
search asks for 60 to 100 %). Its idea, to look where the array is nearly as large as it may be,
orders this enumeration instead of cutting it, so that it still ends with the optimum:

1. without padding (every tile divides its extent), then the rest;
2. in each, the shapes of the array (lanes of space loops and SIMD factor) by the resource they use,
   largest first, and square ones first among equals;
3. for each shape, all other factors: little padding first, then large tiles.

A shape that exceeds the limit by itself is dropped whole. A configuration that exceeds a limit is
passed over: resources are formulas of few factors, checked before anything is scored, as released;
it costs time and no sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.rounding import loosened
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.space import Axis, Role, Rows, Values
from ithaca.plugins.peers.studies.evaluator import Evaluator
from ithaca.plugins.peers.studies.recorder import Ended
from ithaca.refine.evolution.genome import Genes, Genome
from ithaca.solver.tables.program import Program

#: Shapes of the array that are tabulated at most; where a resource depends on more, there is one
#: group only.
MOST_SHAPES = 1 << 25

#: Configurations checked against limits at once.
CHUNK = 1 << 14


@dataclass(frozen=True)
class _Rows:
    """The rows of one axis, in the order they are tried.

    ``shapes`` holds the values that decide the resource, one column per shape; ``shape`` says which
    each row has, and ``padded`` whether its levels cover more than the extent.
    """

    columns: Rows
    names: tuple[str, ...]
    shapes: Values
    shape: Values
    padded: Mask


def search(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Enumerate until the budget is used up or nothing is left. Starts are scored first; chance
    plays no part.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    evaluator.starts(starts)
    enumeration = _Enumeration(evaluator)
    for padded in (False, True):
        for shape in enumeration.shapes(padded):
            for genes in enumeration.configurations(shape, padded):
                evaluator.genes(genes, remember=False)
    return Ended.EXHAUSTED


class _Enumeration:
    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.recorder = evaluator, evaluator.recorder
        self.problem = evaluator.problem
        self.genome: Genome = evaluator.coordinates.genome
        self.limits = self.problem.symbolic().limits
        self.rows, self.resource = self._by_resource([expression for expression, _ in self.limits])

    def _by_resource(self, expressions: Sequence[Expression]) -> tuple[list[_Rows], int | None]:
        """The rows grouped by the limit with the fewest shapes, and its index; one group if there
        is none.

        The design's own conditions are no limits: nearly all shapes meet them, and those that just
        do are not better.
        """
        best: tuple[int, list[_Rows], int | None] | None = None
        for index, expression in enumerate(expressions):
            rows = [
                _ordered_rows(self.genome, axis, expression.symbols)
                for axis in self.problem.space.axes
            ]
            count = prod(r.shapes.shape[1] for r in rows)
            if 1 < count <= MOST_SHAPES and (best is None or count < best[0]):
                best = count, rows, index
        if best is None:
            return [
                _ordered_rows(self.genome, axis, frozenset()) for axis in self.problem.space.axes
            ], None
        return best[1], best[2]

    def shapes(self, padded: bool) -> Iterator[tuple[int, ...]]:
        """Shapes of the array within the limit, the largest first: an index for every axis."""
        allowed = [
            np.arange(r.shapes.shape[1]) if padded else np.unique(r.shape[~r.padded])
            for r in self.rows
        ]
        if self.resource is None:
            if all(a.size for a in allowed):
                yield (0,) * len(self.rows)
            return
        expression, bound = self.limits[self.resource]
        program = Program([expression])
        fitting: list[tuple[Floats, Floats, Values]] = []
        for first in allowed[0]:
            self.recorder.check_seconds()
            grid = np.meshgrid([first], *allowed[1:], indexing="ij")
            values: dict[str, Floats] = {}
            spread = np.zeros(grid[0].shape)
            for rows, index in zip(self.rows, grid, strict=True):
                for name, column in zip(rows.names, rows.shapes, strict=True):
                    values[name] = column[index].astype(np.float64)
                    spread += values[name]
            (use,) = program.run([values[name] for name in program.symbols])
            fits = np.broadcast_to(use, spread.shape) <= loosened(bound)
            fitting.append((use[fits], spread[fits], np.stack([index[fits] for index in grid])))
        if not fitting:
            return
        use, spread = (np.concatenate([part[k] for part in fitting]) for k in (0, 1))
        indices: Values = np.concatenate([part[2] for part in fitting], axis=1)
        for place in np.lexsort((spread, -use)):
            yield tuple(indices[:, place].tolist())

    def configurations(self, shape: tuple[int, ...], padded: bool) -> Iterator[Genes]:
        """Genes of all configurations of a shape within limits, in chunks."""
        mine = [
            np.flatnonzero((r.shape == s) & (padded | ~r.padded))
            for r, s in zip(self.rows, shape, strict=True)
        ]
        lengths = [m.size for m in mine]
        total = prod(lengths)
        for begin in range(0, total, CHUNK):
            self.recorder.check_seconds()
            places = np.unravel_index(np.arange(begin, min(begin + CHUNK, total)), lengths)
            rows = [m[place] for m, place in zip(mine, places, strict=True)]
            if padded:  # those without padding came before
                new = reduce(
                    np.logical_or,
                    [r.padded[index] for r, index in zip(self.rows, rows, strict=True)],
                )
                rows = [index[new] for index in rows]
            genes = self._within_limits(rows)
            if genes.shape[1]:
                yield genes

    def _within_limits(self, rows: Sequence[Values]) -> Genes:
        values: dict[str, Values] = {}
        for table, index in zip(self.rows, rows, strict=True):
            values |= {name: column[index] for name, column in table.columns.items()}
        legal = np.ones(rows[0].size, bool)
        for link in self.problem.space.links:
            legal &= link.holds(values)
        genes = np.array([values[name] for name in self.genome.names], dtype=np.int64).reshape(
            -1, rows[0].size
        )[:, legal]
        _, excess = self.evaluator.score(genes, np.ones(genes.shape[1], bool))
        kept: Genes = genes[:, excess == 0]
        return kept


def _ordered_rows(genome: Genome, axis: Axis, deciding: frozenset[str]) -> _Rows:
    """The rows of an axis: little padding first, then large tiles, then wide ports."""
    columns = axis.table()
    count = next(iter(columns.values())).size
    ports = [-columns[q.name] for q in axis.quantities if q.role is Role.PORT]
    padded, order = np.zeros(count, bool), ports
    for split in genome.splits:
        if split.trips in axis.symbols:
            trips = columns[split.trips]
            tile = split.fixed * np.prod(
                [columns[genome.names[row]] for row in split.factors], axis=0
            )
            padded |= tile * trips != split.extent
            order = [*order, -tile, tile * trips]
    ranks = np.lexsort(order) if order else np.arange(count)
    names = tuple(name for name in columns if name in deciding)
    columns = {name: column[ranks] for name, column in columns.items()}
    if names:
        shapes, shape = np.unique(
            np.stack([columns[name] for name in names]), axis=1, return_inverse=True
        )
    else:
        shapes, shape = np.empty((0, 1), dtype=np.int64), np.zeros(count, dtype=np.int64)
    return _Rows(columns, names, shapes, shape.reshape(-1), padded[ranks])
