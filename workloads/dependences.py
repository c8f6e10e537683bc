"""Dependences of a loop nest, derived from its array accesses.

Two iterations depend on each other when they touch the same element. For an affine access
``F·x + f`` that is the case exactly when their distance lies in the integer null space of
``F``. A basis of that null space therefore carries all dependences of the reference: *read*
dependences (reuse) for the inputs, *flow* dependences for the accumulated output, whose
*output* dependences are the same vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import gcd, lcm

from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


class DependenceKind(Enum):
    """What two dependent iterations do with the element they share."""

    READ = "read"
    """Both read it: data reuse."""
    FLOW = "flow"
    """One writes it and the other reads it."""
    OUTPUT = "output"
    """Both write it."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """A uniform dependence.

    Attributes
    ----------
    kind : DependenceKind
        Read, flow or output.
    array : str
        The array through which the iterations depend on each other.
    distance : tuple of int
        Distance per loop of the nest, outermost first (iterations).
    """

    kind: DependenceKind
    array: str
    distance: tuple[int, ...]


def dependences(nest: LoopNest) -> tuple[Dependence, ...]:
    """Derive the read, flow and output dependences of ``nest``."""
    found: list[Dependence] = []
    for access in nest.inputs:
        found += [Dependence(DependenceKind.READ, access.array, d) for d in null_space(access, nest.loops)]
    for kind in (DependenceKind.FLOW, DependenceKind.OUTPUT):
        found += [Dependence(kind, nest.output.array, d) for d in null_space(nest.output, nest.loops)]
    return tuple(found)


def null_space(access: Access, loops: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Primitive integer basis of the null space of the access matrix.

    Parameters
    ----------
    access : Access
        The array reference.
    loops : tuple of str
        Column order of the access matrix.

    Returns
    -------
    tuple of tuple of int
        One vector per free loop, its first non-zero entry positive.
    """
    rows = [[Fraction(s.coefficient(name)) for name in loops] for s in access.subscripts]
    pivots: list[int] = []
    rank = 0
    for column in range(len(loops)):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        head = rows[rank][column]
        rows[rank] = [value / head for value in rows[rank]]
        for r, row in enumerate(rows):
            if r != rank and row[column]:
                factor = row[column]
                rows[r] = [a - factor * b for a, b in zip(row, rows[rank], strict=True)]
        pivots.append(column)
        rank += 1
    basis = []
    for free in (c for c in range(len(loops)) if c not in pivots):
        vector = [Fraction(0)] * len(loops)
        vector[free] = Fraction(1)
        for r, column in enumerate(pivots):
            vector[column] = -rows[r][free]
        basis.append(_primitive(vector))
    return tuple(basis)


def _primitive(vector: list[Fraction]) -> tuple[int, ...]:
    scale = lcm(*(v.denominator for v in vector))
    whole = [int(v * scale) for v in vector]
    divisor = gcd(*whole)
    sign = 1 if next(v for v in whole if v) > 0 else -1
    return tuple(sign * v // divisor for v in whole)
