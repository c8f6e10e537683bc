"""A configuration as a loop nest: tiles from DRAM, lanes, and the loops of a PE, with what is loaded and stored where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.shown_numbers import counted, number
from ithaca.formulations.systolic.quantities import extent, lanes, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import Direction, IOGroup, Module, Role, SystolicArray
from ithaca.workloads.nest import LoopNest


def loop_lines(nest: LoopNest, array: SystolicArray, values: Mapping[str, int]) -> tuple[str, ...]:
    """The nest as the array runs it, outermost loop first, a line each with a remark; loops of one iteration are left out.

    Parameters
    ----------
    nest : LoopNest
        The loop nest, with extents.
    array : SystolicArray
        The design.
    values : mapping of str to int
        Its quantities and the extents.
    """
    outer = [x for x in array.order if values[tiles(x).name] > 1]
    moved = [(g, m) for g, m in array.modules if m.dram]
    lines: list[tuple[int, str, str]] = []
    for place in range(len(outer) + 1):
        if place:
            loop = outer[place - 1]
            count, size = values[tiles(loop).name], values[t1(loop).name]
            padded = f"{number(nest.sizes[loop])}, padded to {number(count * size)}" if count * size != nest.sizes[loop] else ""
            lines.append((place - 1, f"for {loop} in {number(count)} tiles of {number(size)}", padded))
        lines += [(place, *_moves(g, m, outer, array, values)) for g, m in moved if _place(m, outer) == place and _loads(m)]
    inside = [
        *((x, "parallel for", lanes(x), "PEs") for x in array.dataflow),
        *((x, "for", lanes(x), "in the PE") for x in array.band if x not in array.dataflow),
        *((x, "for", extent(x), "in the PE, untiled") for x in array.untiled),
        *((x, "for", t2(x), "latency hiding") for x in array.latency_hiding_loops),
        (array.simd_loop, "parallel for", t2(array.simd_loop), "SIMD"),
    ]
    depth = len(outer)
    for loop, word, quantity, remark in inside:
        if (count := values[quantity.name]) > 1:
            lines.append((depth, f"{word} {loop} in {number(count)}", remark))
            depth += 1
    sums = array.pe.accumulators
    lines.append((depth, str(nest), "" if sums is None else f"sums in {counted(_value(sums, values), 'word')} of each PE"))
    for place in range(len(outer), -1, -1):
        lines += [(place, *_moves(g, m, outer, array, values)) for g, m in moved if _place(m, outer) == place and not _loads(m)]
    width = max(2 * depth + len(code) for depth, code, _ in lines)
    return tuple(f"{'  ' * depth + code:<{width}}  {'# ' + remark if remark else ''}".rstrip() for depth, code, remark in lines)


def _loads(module: Module) -> bool:
    return module.direction is Direction.IN


def _place(module: Module, outer: list[str]) -> int:
    """After which of the loops over tiles a module moves its tiles: the last one that changes them."""
    return max((i for i, loop in enumerate(outer, 1) if tiles(loop).name in module.tiles.symbols), default=0)


def _moves(
    group: IOGroup, module: Module, outer: list[str], array: SystolicArray, values: Mapping[str, int]
) -> tuple[str, str]:
    """What a DRAM module moves, and how."""
    what = f"{'load' if _loads(module) else 'store'} {group.tensor}"
    return what, "; ".join(_remarks(group, module, outer, array, values))


def _remarks(
    group: IOGroup, module: Module, outer: list[str], array: SystolicArray, values: Mapping[str, int]
) -> Iterator[str]:
    buffers, words = _value(group.count, values), _value(group.size, values)
    yield f"{counted(buffers, 'buffer')} of {counted(words, 'word')}, {_value(group.pack, values)} at a time"
    carried = [x for x in outer[: _place(module, outer)] if tiles(x).name not in module.tiles.symbols]
    if group.role is Role.FLOW and not (group.locally_reducing and not _loads(module)):
        yield f"partial sums, but {'the first' if _loads(module) else 'the last'} time"
    elif carried:
        yield f"after the last of {' and '.join(carried)}"
    if group.exterior and _value(array.pe.count, values) > buffers:
        yield "handed from PE to PE"


def _value(expression: Expression, values: Mapping[str, int]) -> int:
    return int(expression.evaluate({name: Fraction(n) for name, n in values.items()}, FRACTION))
