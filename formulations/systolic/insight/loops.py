"""A configuration as a loop nest: tiles from DRAM, lanes, and the loops of a PE, with what is
loaded and stored where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ithaca.files.numbers import counted, number
from ithaca.formulations.algebra.expression import ONE, Expression
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.systolic.quantities import extent, inner, lanes, outer, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import (
    Direction,
    GroupRole,
    IOGroup,
    Module,
    SystolicArray,
)
from ithaca.formulations.systolic.tiling import outer_loops
from ithaca.workloads.nest import LoopNest


def loop_lines(nest: LoopNest, array: SystolicArray, values: Mapping[str, int]) -> tuple[str, ...]:
    """The nest as the array runs it, outermost loop first, a line each with a remark; loops of one
    iteration are left out.

    ``values`` are the design's quantities and the extents.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    array : SystolicArray
        Its array.
    values : mapping of str to int
        Values of the quantities, and the extents, by name.
    """
    exact = exactly(values)

    def whole(expression: Expression) -> int:
        return int(expression.evaluate(exact, FRACTION))

    again = outer_loops(array)
    levels = [(x, whole(outer(x)), whole(inner(x) * t1(x)), "outer tiles") for x in again]
    levels += [
        (x, whole(inner(x) if x in again else tiles(x)), whole(t1(x)), "tiles") for x in array.order
    ]
    levels = [level for level in levels if level[1] > 1]
    around = [level[0] for level in levels]
    moves: dict[tuple[Direction, int], list[tuple[int, str, str]]] = defaultdict(list)
    for group, module in array.modules:
        if module.dram:
            beside = group.outer
            moved = (module.tiles if beside is None else beside.fills).symbols
            changes = [at for at, x in enumerate(around, 1) if tiles(x).name in moved]
            place = changes[-1] if changes else 0
            buffers, words = (group.count, group.size) if beside is None else (ONE, beside.size)
            held = f"{counted(whole(buffers), 'buffer')} of {counted(whole(words), 'word')}"
            remarks = [f"{held}, {whole(group.pack)} at a time"]
            if group.role is not GroupRole.READ or beside is None:
                others = [x for at, x in enumerate(around[:place], 1) if at not in changes]
                remarks += _times(group, module, others)
            if group.exterior and whole(array.pe.count) > whole(group.count):
                remarks.append("handed from PE to PE")
            word = "load" if module.direction is Direction.IN else "store"
            moves[module.direction, place].append(
                (place, f"{word} {group.tensor}", "; ".join(remarks))
            )

    lines = [*moves[Direction.IN, 0]]
    for depth, (loop, count, size, name) in enumerate(levels):
        wanted, whole_loop = nest.sizes[loop], values[tiles(loop).name] * values[t1(loop).name]
        first = around.index(loop) == depth
        padded = f"{number(wanted)}, padded to {number(whole_loop)}"
        lines += [
            (
                depth,
                f"for {loop} in {number(count)} {name} of {number(size)}",
                padded if first and whole_loop != wanted else "",
            ),
            *moves[Direction.IN, depth + 1],
        ]
    inside = [
        *((x, "parallel for", lanes(x), "PEs") for x in array.dataflow),
        *((x, "for", lanes(x), "in the PE") for x in array.band if x not in array.dataflow),
        *((x, "for", extent(x), "in the PE, untiled") for x in array.untiled),
        *((x, "for", t2(x), "latency hiding") for x in array.latency_hiding_loops),
        (array.simd_loop, "parallel for", t2(array.simd_loop), "SIMD"),
    ]
    running = [
        (f"{word} {x} in {number(values[n.name])}", remark)
        for x, word, n, remark in inside
        if values[n.name] > 1
    ]
    sums = array.pe.accumulators
    running.append(
        (str(nest), "" if sums is None else f"sums in {counted(whole(sums), 'word')} of each PE")
    )
    lines += [(depth, code, remark) for depth, (code, remark) in enumerate(running, len(levels))]
    for place in range(len(levels), -1, -1):
        lines += moves[Direction.OUT, place]
    width = max(2 * depth + len(code) for depth, code, _ in lines)
    return tuple(
        f"{'  ' * depth + code:<{width}}  {'# ' + remark if remark else ''}".rstrip()
        for depth, code, remark in lines
    )


def _times(group: IOGroup, module: Module, carried: list[str]) -> list[str]:
    """The number of times that a module moves tiles, where that is not in every trip of the loops
    around it."""
    if group.role is GroupRole.FLOW and not (
        group.locally_reducing and module.direction is Direction.OUT
    ):
        return [
            "partial sums, but "
            f"{'the first' if module.direction is Direction.IN else 'the last'} time"
        ]
    return [f"after the last of {' and '.join(carried)}"] if carried else []
