"""What a compiler builds of what the model allows: the rules that restrict designs and spaces to it.

The rules of AutoSA (Wang, Guo & Cong, FPGA 2021) that go beyond the model's were found by running the compiler on 77
configurations. Every one that failed met one of four *conditions*, H, B, M or D; the compiler itself checks none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction

from ithaca.formulations.algebra.expression import ONE, Constant, Expression, maximum, minimum
from ithaca.formulations.space import Link, Relation
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.quantities import lanes, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import Role, SystolicArray
from ithaca.workloads.nest import LoopNest


class Target(Enum):
    """A compiler that configurations are meant for."""

    AUTOSA = "autosa"
    """The systolic array compiler AutoSA."""

    @property
    def title(self) -> str:
        """Its name as it is written."""
        return "AutoSA"


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
        yield f"permutation {array.permutation}: AutoSA orders the array-partitioning loops as in permutation {known}"
    yield from (broken for link, broken in requirements(nest, array) if not (link.symbols or link.holds({})))


def requirements(nest: LoopNest, array: SystolicArray) -> Iterator[Requirement]:
    """What configurations of a design must meet for AutoSA, beside packs that divide."""
    for loop in array.dataflow:
        yield Link(TWO, Relation.AT_MOST, lanes(loop)), f"space loop {loop} has less than the 2 lanes that AutoSA needs"
    if nest.sizes[nest.simd] == 1:
        broken = f"SIMD loop {nest.simd} has one iteration (padded): AutoSA drops such loops"
        yield Link(TWO, Relation.AT_MOST, t1(nest.simd)), broken
    yield from (*_h(nest, array), *_b(nest, array), *_m_and_d(nest, array))


def _h(nest: LoopNest, array: SystolicArray) -> Iterator[Requirement]:
    """Of the band loops after the first, the innermost one with several tiles indexes every input that is hoisted.

    That is: a loop which does not index it has one tile, or a loop inside of it that does has several.
    """
    for group in array.groups:
        # the buffer must be exactly one level below a DRAM module, and data serialized
        if group.role is not Role.READ or group.exterior != (len(array.dataflow) == 2) or not group.modules[-1].serialized:
            continue
        access = next(a for a in nest.inputs if a.tensor == group.tensor)
        what = f"of {', '.join(array.order[1:])} the innermost loop with several tiles does not index {group.tensor}"
        why = "AutoSA hoists its load over that loop; host and serializer still send every copy"
        for place, loop in enumerate(array.order):
            first, inner = array.order[:place], array.order[place + 1 :]
            if place and nest.sizes[loop] > 1 and not access.indexed_by(loop):
                several = [_up_to_two(tiles(x)) for x in inner if access.indexed_by(x) and nest.sizes[x] > 1]
                hoisted = minimum(tiles(loop), TWO, *_seen(nest, array, first))
                link = Link(hoisted, Relation.AT_MOST, maximum(ONE, *several))
                yield link, f"condition H (wrong results, or a hang): {what}, so {why}"


def _seen(nest: LoopNest, array: SystolicArray, loops: tuple[str, ...]) -> tuple[Expression, ...]:
    """What is above 1 if one of some loops is a loop to AutoSA, that is, has more than one iteration (padded); nothing if one
    always has."""
    if any(nest.sizes[x] > 1 or x in array.dataflow or x == nest.simd for x in loops):
        return ()
    return (maximum(*(t1(x) for x in loops)),)


def _b(nest: LoopNest, array: SystolicArray) -> Iterator[Requirement]:
    """Latency is hidden, or nothing is left to run in a PE, or no data are passed on to a dummy module."""
    if not array.dummies:
        return
    untiled = any(nest.sizes[x] > 1 for x in array.untiled)
    inside = [_up_to_two(lanes(x)) for x in array.band if x not in array.dataflow]
    hidden = [_up_to_two(t2(x)) for x in array.latency_hiding_loops]
    if untiled or inside:
        what = "every latency hiding factor is 1, a time loop remains inside the PE, and data are passed on"
        link = Link(TWO if untiled else maximum(ONE, *inside), Relation.AT_MOST, maximum(ONE, *hidden))
        yield link, f"condition B (does not compile): {what} ({', '.join(array.dummies)})"


def _m_and_d(nest: LoopNest, array: SystolicArray) -> Iterator[Requirement]:
    """A reduction loop in space has several tiles."""
    for loop in array.dataflow:
        if loop not in nest.reduction_loops:
            continue
        link = Link(TWO, Relation.AT_MOST, tiles(loop))
        what = f"the reduction loop {loop} is in space and has one tile"
        yield link, f"condition M (the host program crashes by luck): {what}"
        if not any(nest.sizes[x] > 1 for x in array.untiled if x in nest.reduction_loops):
            also = "no untiled reduction loop is longer than 1"
            yield link, f"condition D (hangs after the right result): {what}, and {also}"


def _up_to_two(quantity: Expression) -> Expression:
    """1 or 2: all that counts is whether there are several."""
    return minimum(quantity, TWO)
