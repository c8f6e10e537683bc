"""What a compiler builds of what the model allows: the rules that restrict designs and spaces to
it.

The rules of AutoSA (Wang, Guo & Cong, FPGA 2021) that go beyond the model's were found by running
the compiler. Faults of what it writes are no rules: the exported script mends them
(`ithaca.exports.autosa`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd

from ithaca.formulations.algebra.expression import Constant
from ithaca.formulations.space import Link, Relation
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.quantities import lanes, t1, t2
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.workloads.nest import LoopNest

TWO = Constant(Fraction(2))

#: A rule beside the model's own, and what is to be said of configurations that break it.
Requirement = tuple[Link, str]


def design_obstacles(nest: LoopNest, array: SystolicArray) -> Iterator[str]:
    """Every reason why AutoSA cannot build a design of a nest that it can build others of."""
    if array.dataflow not in dataflows(nest):
        yield f"dataflow {','.join(array.dataflow)} is none that AutoSA derives"
    if array.obstacle is not None:
        yield array.obstacle
    if array.permutation != nest.output.tensor:
        known = nest.output.tensor
        yield (
            f"permutation {array.permutation}: AutoSA orders the "
            f"array-partitioning loops as in permutation {known}"
        )
    yield from (
        broken for link, broken in requirements(nest, array) if not (link.symbols or link.holds({}))
    )


def requirements(nest: LoopNest, array: SystolicArray) -> Iterator[Requirement]:
    """What configurations of a design must meet for AutoSA, beside packs that divide."""
    for loop in array.dataflow:
        yield (
            Link(TWO, Relation.AT_MOST, lanes(loop)),
            f"space loop {loop} has less than the 2 lanes that AutoSA needs",
        )
    if nest.sizes[nest.simd] == 1:
        broken = f"SIMD loop {nest.simd} has one iteration (padded): AutoSA drops such loops"
        yield Link(TWO, Relation.AT_MOST, t1(nest.simd)), broken
    for access in nest.inputs:
        for subscript in access:
            window = [
                c for loop, c in subscript.without_gaps(nest.once).terms if loop in nest.untiled
            ]
            for loop in set(subscript.loops) - nest.untiled if gcd(*window) > 1 else ():
                covered = t2(loop) if loop in array.dataflow else t1(loop)
                what = (
                    f"a tile covers 1 iteration of {loop}: AutoSA stores nothing "
                    f"between the elements of {access}'s window"
                )
                yield Link(TWO, Relation.AT_MOST, covered), f"{what}, and the model does"
