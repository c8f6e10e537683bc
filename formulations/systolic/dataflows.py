"""The designs of a nest: dataflows, the loops mapped to space, and permutations of the other loops.

Theorem 3.1 of Odyssey (Wang & Cong) on orders of the array-partitioning loops: for each tensor
reference it is enough to consider the order ⟨loops that index it, loops that reuse it⟩; the order
within each part costs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from ithaca.files.errors import InputError
from ithaca.files.messages import among, meant, quoted
from ithaca.workloads.dependences import far_dependences
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.sparsity import BLOCKS

#: Nests that arrays run, and what runs others.
_ALLOWED = "allowed: a product of at least two with a reduction; others with --arch"


def space_loops(nest: LoopNest) -> tuple[str, ...]:
    """Band loops along which data travel at most one PE per step.

    A loop qualifies if the distance of every read and flow dependence along it is at most 1,
    windows inside PEs aside (Wang, Guo & Cong, AutoSA, FPGA 2021, §4.1: neighbour-to-neighbour
    communication).

    Raises `InputError` if the nest is no product with a sum: arrays multiply and accumulate.
    """
    if len(nest.inputs) < 2:
        raise InputError(f"workload {nest.name}: the statement reads 1 array; {_ALLOWED}")
    if not nest.reduction_loops:
        what = f"no reduction loop (every loop indexes {nest.output})"
        raise InputError(f"workload {nest.name}: {what}; {_ALLOWED}")
    far = far_dependences(nest)
    return tuple(loop for loop in nest.band if loop not in far)


def dataflows(nest: LoopNest) -> tuple[tuple[str, ...], ...]:
    """All dataflows: every space loop singly, then every pair, in band order.

    Pairs of two reduction loops are left out: partial sums of such an array would have to be
    handed on along both dimensions.
    """
    loops = space_loops(nest)
    pairs = (pair for pair in combinations(loops, 2) if not set(pair) <= set(nest.reduction_loops))
    return (*((loop,) for loop in loops), *pairs)


def find_dataflow(nest: LoopNest, loops: tuple[str, ...]) -> tuple[str, ...]:
    """The dataflow with these loops, in band order. Raises `InputError` if there is none."""
    for dataflow in dataflows(nest):
        if sorted(dataflow) == sorted(loops):
            return dataflow
    allowed = " ".join(",".join(d) for d in dataflows(nest))
    raise InputError(
        f"unknown dataflow {quoted(','.join(loops))} of "
        f"{nest.name}{_reason(nest, loops)}; allowed: {allowed}"
        f"{meant(','.join(loops), allowed.split())}"
    )


def _reason(nest: LoopNest, loops: tuple[str, ...]) -> str:
    """The reason why the loops of a nest make no dataflow, where more can be said than that they do
    not."""
    far = far_dependences(nest)
    for loop in loops:
        if loop in nest.untiled:
            return f" ({loop} is not tiled: it runs inside the PE)"
        if loop in far:
            return (
                f" ({far[loop].tensor} is reused along {loop} at distance "
                f"{far[loop].distance} of {', '.join(nest.loops)})"
            )
    if len(loops) == 2 and set(loops) <= set(nest.reduction_loops):
        return " (two reduction loops in space are not supported)"
    return ""


def permutations(nest: LoopNest) -> tuple[str, ...]:
    """The permutations of a nest, each named by the tensor whose reuse loops are innermost."""
    return tuple(access.tensor for access in nest.accesses)


def loop_order(nest: LoopNest, permutation: str) -> tuple[str, ...]:
    """The array-partitioning loops in the order of a permutation, outermost first.

    Raises `InputError` if ``permutation`` names no tensor of the nest.
    """
    for access in nest.accesses:
        if access.tensor == permutation:
            indexing = tuple(loop for loop in nest.band if access.indexed_by(loop))
            reusing = tuple(loop for loop in nest.band if not access.indexed_by(loop))
            return indexing + reusing
    known = among(permutation, permutations(nest))
    raise InputError(f"unknown permutation '{permutation}' of {nest.name}{known}")


def any_extents(nest: LoopNest) -> LoopNest:
    """The nest that stands for all which differ in extents alone: they share arrays, and all that
    is known of these."""
    # a window of one iteration is none, and leaves gaps between strided elements; blocks divide
    extents = tuple((loop, 1 if loop in nest.once else BLOCKS[-1]) for loop in nest.loops)
    return nest if nest.extents == extents else replace(nest, extents=extents)
