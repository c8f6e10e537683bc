"""The legality of packs that have an axis of their own, as constraints (DESIGN.md §5.5).

A pack whose legality depends on one loop alone is part of that loop's rows. One that spans
several loops (of an array indexed by ``i + k``) is chosen by itself; which values are legal then
depends on the chosen rows, as `ithaca.formulations.systolic.packing` states for numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from ithaca.formulations.algebra.expression import Expression, maximum, minimum
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design_space import axes
from ithaca.formulations.systolic.packing import PUBLISHED_WORD_BYTES
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup


class Constrained(Protocol):
    """A model that takes constraints on expressions, such as `ithaca.solver.cpsat.encoding.Encoder`."""

    def require_at_most(self, node: Expression, bound: Fraction) -> None:
        """Add ``node ≤ bound``."""

    def require_multiple(self, multiple: Expression, of: Expression) -> None:
        """Add that ``multiple`` is an integer multiple of ``of``; both are positive integers."""


def require_legal_packs(problem: Problem, encoder: Constrained) -> None:
    """Add that every pack with an axis of its own is legal; its rows are powers of two already."""
    for axis in axes(problem.array):
        if axis.loop is None:
            require_legal_pack(problem, axis.packs[0], encoder)


def require_legal_pack(problem: Problem, group: IOGroup, encoder: Constrained) -> None:
    """Add that the pack of a group, a power of two, is legal."""
    extents = {f"extent.{loop}": n for loop, n in problem.nest.sizes.items()}
    last, multiple = (e.substitute(extents) for e in (group.packing.last, group.packing.multiple_of))
    pack, zero = group.pack, Fraction(0)
    if problem.array.edition is Edition.ODYSSEY:
        inferred = maximum(minimum(last, group.packing.max_bytes // PUBLISHED_WORD_BYTES), multiple)
        encoder.require_at_most(pack - inferred, zero)
        encoder.require_at_most(inferred - pack, zero)
        encoder.require_multiple(inferred, multiple)
        if problem.space.dividing_packs:
            encoder.require_multiple(last, pack)
        return
    encoder.require_multiple(pack, multiple)
    encoder.require_multiple(last, pack)
    encoder.require_at_most(pack - maximum(group.packing.max_bytes // problem.data.bytes, multiple), zero)
