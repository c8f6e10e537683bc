"""Permutations: orders of the array-partitioning loops that can matter.

Theorem 3.1 of Odyssey (Wang & Cong): for each tensor reference it is enough to consider the
order ⟨loops that index it, loops that reuse it⟩; the order within each part costs nothing.
"""

from __future__ import annotations

from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


def permutations(nest: LoopNest) -> tuple[str, ...]:
    """The permutations of a nest, each named by the tensor whose reuse loops are innermost."""
    return tuple(access.tensor for access in nest.accesses)


def loop_order(nest: LoopNest, permutation: str) -> tuple[str, ...]:
    """The array-partitioning loops in the order of a permutation, outermost first.

    Raises
    ------
    InputError
        If ``permutation`` names no tensor of the nest.
    """
    for access in nest.accesses:
        if access.tensor == permutation:
            indexing = tuple(loop for loop in nest.band if access.indexed_by(loop))
            reusing = tuple(loop for loop in nest.band if not access.indexed_by(loop))
            return indexing + reusing
    raise InputError(f"unknown permutation '{permutation}' of {nest.name}; allowed: {', '.join(permutations(nest))}")
