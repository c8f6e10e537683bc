"""A nest as AutoSA's front end sees it: the loops it tiles, reuses data along, may vectorise.

AutoSA takes factors and choices by position, so the positions have to be known. The rules follow
its source (github.com/UCLA-VAST/AutoSA: ``src/ppcg.c`` for reuse, ``src/autosa_trans.cpp`` for the
rest). They give the options of its published examples, and agree with kernels that it generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.target import tiled_loops
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest

#: References of ``out = 0; out = out + in * in``, numbered as AutoSA's front end does: those of the
#: output come first.
FIRST_INPUT_REFERENCE = 3


def numbered_dataflows(nest: LoopNest) -> tuple[tuple[str, ...], ...]:
    """AutoSA's dataflows in its numbering: every tiled loop singly, then every pair.

    It maps any of them to space, since it knows reuse along single loops only, at distance 1.
    """
    loops = tiled_loops(nest)
    return (*((loop,) for loop in loops), *combinations(loops, 2))


def listed_loops(nest: LoopNest, design: SystolicArray) -> tuple[str, ...]:
    """The tiled loops in the order in which AutoSA takes their factors: space loops first."""
    return design.dataflow + tuple(
        loop for loop in tiled_loops(nest) if loop not in design.dataflow
    )


# -- reuse -------------------------------------------------------------------------------


def reuse_loops(nest: LoopNest, access: Access) -> tuple[str, ...]:
    """Loops along which AutoSA can reuse an input, in its numbering.

    They are the loops that do not index it, as columns of the right kernel of the access matrix
    that isl's Hermite form (``isl_mat_left_hermite``) leaves; those with several entries do not
    count.
    """
    rows = [[subscript.coefficient(loop) for loop in nest.loops] for subscript in access]
    columns = _right_kernel(rows, len(nest.loops))
    single = [
        [loop for loop, entry in zip(nest.loops, column, strict=True) if entry]
        for column in columns
    ]
    return tuple(loops[0] for loops in single if len(loops) == 1)


def handed_along(design: SystolicArray, access: Access) -> str | None:
    """The space loop along which PEs hand an input to their neighbours; None where they do not."""
    return next((loop for loop in design.dataflow if not access.indexed_by(loop)), None)


def reuse_choices(nest: LoopNest, design: SystolicArray) -> dict[str, int]:
    """The number of the reuse to choose, by reference, where AutoSA would choose another.

    Its own is the outermost loop.
    """
    choices = {}
    for number, access in enumerate(nest.inputs):
        wanted, reused = handed_along(design, access), reuse_loops(nest, access)
        if wanted is not None and wanted != min(reused, key=nest.loops.index):
            choices[f"__pet_ref_{FIRST_INPUT_REFERENCE + number}"] = reused.index(wanted)
    return choices


def _right_kernel(rows: list[list[int]], width: int) -> list[list[int]]:
    """Columns that the rows map to 0, by the column operations of isl, in its order."""
    columns = [
        [row[at] for row in rows] + [int(at == unit) for unit in range(width)]
        for at in range(width)
    ]
    rank = 0
    for row in range(len(rows)):
        live = [at for at in range(rank, width) if columns[at][row]]
        if not live:
            continue
        _swap(columns, min(live, key=lambda at: abs(columns[at][row])), rank)
        if columns[rank][row] < 0:
            columns[rank] = [-entry for entry in columns[rank]]
        at = rank + 1
        while (at := next((x for x in range(at, width) if columns[x][row]), width)) < width:
            times = columns[at][row] // columns[rank][row]
            columns[at] = [
                one - times * two for one, two in zip(columns[at], columns[rank], strict=True)
            ]
            if columns[at][row]:
                _swap(columns, at, rank)
        rank += 1
    return [column[len(rows) :] for column in columns[rank:]]


def _swap(columns: list[list[int]], one: int, two: int) -> None:
    columns[one], columns[two] = columns[two], columns[one]


# -- SIMD --------------------------------------------------------------------------------


def simd_factors(nest: LoopNest, configuration: ArrayConfiguration) -> list[int]:
    """A factor per loop that AutoSA could vectorise, in its order: innermost bands first.

    It considers the reduction loops inside the tiled ones, and what latency hiding leaves of those
    in time (with a reduction in space, of all). Only the SIMD loop gets more than 1. AutoSA ignores
    surplus factors at the end, and stops without an error where there are too few.
    """
    design = configuration.design
    inner = [loop for loop in reversed(nest.loops) if loop not in tiled_loops(nest)]
    tiled = [
        x
        for x in listed_loops(nest, design)
        if touches_space(nest, design) or x not in design.dataflow
    ]
    candidates = [loop for loop in inner + tiled if _vectorisable(nest, configuration, loop)]
    return [configuration.tiling.simd if loop == nest.simd else 1 for loop in candidates]


def touches_space(nest: LoopNest, design: SystolicArray) -> bool:
    """Whether SIMD must consider space loops too: the SIMD loop is one."""
    return bool(set(design.dataflow) & set(nest.reduction_loops))


def _vectorisable(nest: LoopNest, configuration: ArrayConfiguration, loop: str) -> bool:
    """Whether each step of a loop moves every tensor by 0, or by 1 in one dimension.

    So AutoSA takes a dimension, too, in which no two accessed elements lie side by side: nothing
    there is not one step on.
    """
    step, trips, parts = 1, nest.sizes[loop], configuration.tiling.array_part
    if loop in parts:
        step = 1 if loop == nest.simd else configuration.t2(loop)
        trips = parts[loop] // step
    if trips == 1:  # no step, so nothing moves
        return True
    for access in nest.accesses:
        move = sorted(step * subscript.coefficient(loop) for subscript in access)
        coalesced = not any(move) or move[-1] == sum(map(abs, move)) == 1
        if not coalesced and all(
            _side_by_side(access, at, configuration.padded) for at in range(len(access.subscripts))
        ):
            return False
    return True


def _side_by_side(access: Access, dimension: int, extents: Mapping[str, int]) -> bool:
    """Whether two accessed elements are neighbours in a dimension, and equal in all others."""
    loops = set(access.subscripts[dimension].loops)
    while (
        more := {x for subscript in access if loops & {*subscript.loops} for x in subscript.loops}
        - loops
    ):
        loops |= more
    apart = {tuple(0 for _ in access)}
    for loop in loops:
        moves = [subscript.coefficient(loop) for subscript in access]
        steps = range(1 - extents[loop], extents[loop])
        apart = {
            tuple(d + n * c for d, c in zip(each, moves, strict=True))
            for each in apart
            for n in steps
        }
    return tuple(int(at == dimension) for at in range(len(access.subscripts))) in apart
