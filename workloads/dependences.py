"""Dependences of a loop nest, derived from its tensor accesses.

Two iterations depend on each other when they touch the same element. For an affine access
``F·x + f`` that is the case exactly when their distance is an integer vector that ``F`` maps to 0.
A basis of these vectors therefore carries all dependences of the reference: *read*
dependences (reuse) for the inputs, *flow* dependences for the accumulated output, whose
*output* dependences are the same vectors. All of them are uniform: none depends on where in the
nest an iteration lies. A strided access ``x[2*r+p]`` has the distance ``(1, -2)``: its next
window begins where this one has its third element.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import permutations

from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


class DependenceKind(Enum):
    """The use that two dependent iterations make of the element they share."""

    READ = "read"
    """Both read it: data reuse."""
    FLOW = "flow"
    """One writes it and the other reads it."""
    OUTPUT = "output"
    """Both write it."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """A dependence between iterations at a constant distance."""

    kind: DependenceKind
    tensor: str
    """Through which the iterations depend on each other."""
    distance: tuple[int, ...]
    """Per loop of the nest, outermost first (iterations)."""


def dependences(nest: LoopNest) -> tuple[Dependence, ...]:
    """Derive the read, flow and output dependences of ``nest``."""
    derived: list[Dependence] = []
    for access in nest.inputs:
        derived += [
            Dependence(DependenceKind.READ, access.tensor, d)
            for d in null_space(access, nest.loops)
        ]
    for kind in (DependenceKind.FLOW, DependenceKind.OUTPUT):
        derived += [
            Dependence(kind, nest.output.tensor, d) for d in null_space(nest.output, nest.loops)
        ]
    return tuple(derived)


def far_dependences(nest: LoopNest) -> dict[str, Dependence]:
    """The band loops along which data would have to skip a PE, each with a dependence that says so.

    Those are the loops with a read or flow dependence whose distance exceeds 1. They cannot be
    mapped to space, where data travel between neighbours only (Wang, Guo & Cong, AutoSA, FPGA 2021,
    §4.1). Output dependences count as little as they move data, and neither do reads that an
    untiled loop repeats: it runs inside the PE, which holds its whole window, whatever its
    dilation.
    """
    far: dict[str, Dependence] = {}
    for dependence in dependences(nest):
        distances = dict(zip(nest.loops, dependence.distance, strict=True))
        window = dependence.kind is DependenceKind.READ and any(
            distances[loop] for loop in nest.untiled
        )
        if window or dependence.kind is DependenceKind.OUTPUT:
            continue
        for loop in nest.band:
            if abs(distances[loop]) > 1:
                far.setdefault(loop, dependence)
    return far


def null_space(access: Access, loops: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Basis of short vectors of all integer vectors that the access matrix maps to 0.

    It is a basis of the lattice: every distance between iterations that touch the same element is
    an integer combination of it. (Vectors that merely span the null space are not enough: those of
    ``x[2*i+j+k]`` that leave out j and k in turn do not generate ``(0, 1, -1)``.) The columns of
    the matrix are in the order of ``loops``. One vector per free dimension, its first non-zero
    entry positive.
    """
    vectors = [[int(column == row) for column in range(len(loops))] for row in range(len(loops))]
    for subscript in access.subscripts:
        vectors = _kernel([subscript.coefficient(loop) for loop in loops], vectors)
    return tuple(_with_positive_head(vector) for vector in _shortened(vectors))


def _kernel(form: list[int], vectors: list[list[int]]) -> list[list[int]]:
    """Basis of those integer combinations of ``vectors`` that a linear form maps to 0.

    Euclid's algorithm on the vectors' values: steps that can be undone leave one vector with
    their greatest common divisor, which is dropped, and the others at 0.
    """
    vectors = list(vectors)
    while True:
        values = [_dot(form, vector) for vector in vectors]
        live = [index for index, value in enumerate(values) if value]
        if not live:
            return vectors
        pivot = min(live, key=lambda index: abs(values[index]))
        if len(live) == 1:
            return vectors[:pivot] + vectors[pivot + 1 :]
        for index in live:
            if index != pivot:
                vectors[index] = _minus(
                    vectors[index], values[index] // values[pivot], vectors[pivot]
                )


def _shortened(vectors: list[list[int]]) -> list[list[int]]:
    """A basis of the same lattice: vectors reduced by each other until none gets shorter."""
    vectors = list(vectors)
    shorter = True
    while shorter:
        shorter = False
        for index, other in permutations(range(len(vectors)), 2):
            one, two = vectors[index], vectors[other]
            reduced = _minus(one, round(Fraction(_dot(one, two), _dot(two, two))), two)
            if _dot(reduced, reduced) < _dot(one, one):
                vectors[index], shorter = reduced, True
    return vectors


def _dot(one: list[int], two: list[int]) -> int:
    return sum(a * b for a, b in zip(one, two, strict=True))


def _minus(one: list[int], factor: int, two: list[int]) -> list[int]:
    return [a - factor * b for a, b in zip(one, two, strict=True)]


def _with_positive_head(vector: list[int]) -> tuple[int, ...]:
    sign = 1 if next(v for v in vector if v) > 0 else -1
    return tuple(sign * v for v in vector)
