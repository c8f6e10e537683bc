"""A coarse grid over the boxes of a search: cells that another prover may close at a blow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ithaca.formulations.algebra.array_types import Integers
from ithaca.solver.tables.model import BoundModel, Nodes
from ithaca.solver.tables.tree import Tree

Codes = Integers


@dataclass(frozen=True)
class Cells:
    """The cells made of every axis' nodes down to some depth."""

    trees: tuple[Tree, ...]
    """The trees of the axes."""
    ancestors: tuple[Integers, ...]
    """For each node of each tree the cell's node above it (or itself)."""
    strides: tuple[int, ...]
    """A cell's code is the sum of its nodes times these."""

    def codes(self, nodes: Nodes) -> Codes:
        """The cell of every box."""
        parts = (
            a.take(n) * stride
            for a, n, stride in zip(self.ancestors, nodes, self.strides, strict=True)
        )
        cells: Codes = np.sum(np.stack(list(parts)), axis=0)
        return cells

    def ranges(self, code: int) -> dict[str, tuple[int, int]]:
        """Smallest and largest value of every quantity in a cell."""
        spans = {}
        for tree, stride in reversed(list(zip(self.trees, self.strides, strict=True))):
            node, code = divmod(code, stride)
            rows = tree.rows_under(node)
            for name, values in tree.table.rows.items():
                spans[name] = int(values[rows].min()), int(values[rows].max())
        return spans


def coarse_cells(model: BoundModel, depth: int) -> Cells:
    """The cells of a model's trees cut at a depth (0: one cell, everything)."""
    ancestors = tuple(_ancestors(tree, depth) for tree in model.trees)
    sizes = [tree.row.size for tree in model.trees]
    strides = tuple(int(np.prod(sizes[:axis], dtype=np.int64)) for axis in range(len(sizes)))
    return Cells(model.trees, ancestors, strides)


def most_crowded(parts: Sequence[Codes], count: int) -> list[int]:
    """The cells that hold most boxes, the most crowded first."""
    codes, boxes = np.unique(np.concatenate(list(parts)), return_counts=True)
    return [int(code) for code in codes[np.argsort(-boxes, kind="stable")[:count]]]


def _ancestors(tree: Tree, depth: int) -> Integers:
    parents = np.zeros(tree.left.size, np.int64)
    inner = np.flatnonzero(tree.left)
    parents[tree.left[inner]] = inner
    parents[tree.left[inner] + 1] = inner
    level = np.zeros(1, np.int64)
    kept = [level]
    for _ in range(depth):
        level = tree.left[level[tree.left[level] > 0]].astype(np.int64)
        level = np.concatenate([level, level + 1])
        kept.append(level)
    keep = np.zeros(tree.left.size, bool)
    keep[np.concatenate(kept)] = True
    ancestors = np.arange(tree.left.size)
    while not keep[ancestors].all():
        ancestors = np.where(keep[ancestors], ancestors, parents[ancestors])
    return ancestors
