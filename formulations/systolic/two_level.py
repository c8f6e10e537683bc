"""Two-level tiling: tiles are tiled again, and the modules beside DRAM have buffers of their own.

What AutoSA builds of ``array_part_L2`` and ``--two-level-buffer``: the parallel loops over tiles
become loops over outer tiles and, inside of all of these, loops over the tiles of one. The module
beside DRAM fills its buffer with all words that the tiles of a reduction need, and sends them tile
by tile; it keeps them in inner loops that do not index its tensor. A drain's takes a tile, and then
writes it row by row. Such a buffer is not doubled, and no data lie serialised in DRAM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    ONE,
    Constant,
    Expression,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
)
from ithaca.formulations.space import Link, Quantity, Relation
from ithaca.formulations.systolic.dataflows import loop_order
from ithaca.formulations.systolic.quantities import extent, inner, outer, t1, tiles
from ithaca.formulations.systolic.systolic_array import (
    Edition,
    GroupRole,
    IOGroup,
    OuterBuffer,
    SystolicArray,
)
from ithaca.formulations.systolic.tiling import outer_loops
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


def checked(two_level: bool, edition: Edition, ports: object) -> bool:
    """Whether tiles are tiled again. Raises `InputError` if that does not go with other options.

    Parameters
    ----------
    two_level : bool
        Whether tiles are to be tiled again.
    edition : Edition
        The edition of the cost model.
    ports : object
        Memory ports of tensors; None: one of each.
    """
    if two_level and edition is Edition.ODYSSEY:
        raise InputError(
            "--two-level does not go with --edition odyssey, which publishes one level of tiles; "
            "allowed: --edition cycle or exact"
        )
    if two_level and ports is not None:
        raise InputError(
            "--two-level does not go with --ports: one module beside DRAM holds the buffer; "
            "allowed: one of them"
        )
    return two_level


def two_level_obstacle(
    nest: LoopNest, dataflow: tuple[str, ...], order: tuple[str, ...]
) -> str | None:
    """The reason why an array has no second level of tiles; None where it may have one.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    dataflow : tuple of str
        Its space loops.
    order : tuple of str
        The array-partitioning loops, outermost first.
    """
    if nest.sparse is not None:
        return f"{nest.sparse.tensor} is stored in blocks of a few values"
    if len(dataflow) < 2:
        return "the module beside DRAM of a 1-D array holds the only buffer"
    if set(dataflow) & set(nest.reduction_loops):
        return "sums are handed on along a reduction"
    parallel = [loop for loop in order if loop not in nest.reduction_loops]
    if list(order[: len(parallel)]) != parallel:
        return "partial sums leave between tiles of a reduction"
    spared = next((a.tensor for a in nest.inputs if not a.indexed_by(order[-1])), None)
    if len(parallel) == len(order) or spared is not None:
        return f"{spared or nest.output.tensor} stays in its buffers along the innermost loop"
    return None


def with_two_levels(
    nest: LoopNest, designs: Sequence[tuple[tuple[str, ...], str]]
) -> list[tuple[tuple[str, ...], str]]:
    """The designs, dataflow and permutation, of a nest that may have a second level of tiles.

    Raises `InputError` if none has.
    """
    obstacles = {
        (dataflow, permutation): two_level_obstacle(nest, dataflow, loop_order(nest, permutation))
        for dataflow, permutation in designs
    }
    kept = [names for names, why in obstacles.items() if why is None]
    if not kept:
        # of the designs that come closest: the most space loops, the output's permutation
        (dataflow, permutation), why = max(
            obstacles.items(),
            key=lambda entry: (len(entry[0][0]), entry[0][1] == nest.output.tensor),
        )
        raise InputError(
            f"--two-level: no design has two levels of tiles ([{','.join(dataflow)}] "
            f"{permutation}: {why}); allowed: designs of two parallel space loops"
        )
    return kept


def with_outer_buffers(
    groups: Sequence[IOGroup], nest: LoopNest, dataflow: tuple[str, ...], order: tuple[str, ...]
) -> list[IOGroup]:
    """Groups whose modules beside DRAM have buffers of their own.

    Raises `InputError` if the array has no second level of tiles.

    Parameters
    ----------
    groups : sequence of IOGroup
        The groups of an array with one level of tiles.
    nest : LoopNest
        The nest.
    dataflow : tuple of str
        The loops mapped to space.
    order : tuple of str
        The order of the loops between tiles, outermost first.
    """
    if (why := two_level_obstacle(nest, dataflow, order)) is not None:
        raise InputError(
            f"--two-level: dataflow {','.join(dataflow)} has one level of tiles: {why}"
        )
    return [_with_outer_buffer(group, nest, order) for group in groups]


def _with_outer_buffer(group: IOGroup, nest: LoopNest, order: Sequence[str]) -> IOGroup:
    if not group.modules:
        return group
    access = next(access for access in nest.accesses if access.tensor == group.tensor)
    dimensions = []
    for subscript in access:
        reach = {loop: abs(c) for loop, c in subscript.without_gaps(nest.once).terms}
        terms = (c * (covered(nest, loop) - 1) for loop, c in reach.items())
        dimensions.append(add(*terms, 1))
    reads = group.role is GroupRole.READ
    fills = _fills(access, [x for x in order if x not in nest.reduction_loops])
    buffer = OuterBuffer(
        multiply(*dimensions), dimensions[-1], fills if reads else group.modules[-1].tiles
    )
    return replace(group, outer=buffer)


def covered(nest: LoopNest, loop: str) -> Expression:
    """Iterations of a loop that an outer buffer covers."""
    if loop in nest.untiled:
        return extent(loop)
    return tiles(loop) * t1(loop) if loop in nest.reduction_loops else t1(loop)


def _fills(access: Access, parallel: Sequence[str]) -> Expression:
    """The number of times that a tensor's outer buffer is filled: in every turn of the loops that
    index it, and of others around one of these that has several turns."""
    turns = [*((x, outer(x)) for x in parallel), *((x, inner(x)) for x in parallel)]
    factors: list[Expression] = [tiles(x) for x in parallel if access.indexed_by(x)]
    for place, (loop, count) in enumerate(turns):
        later = [n - 1 for x, n in turns[place + 1 :] if access.indexed_by(x)]
        if later and not access.indexed_by(loop):
            # at least once, which bounds see where they make nothing of the rest
            factors.append(maximum(1 + (count - 1) * minimum(add(*later), ONE), ONE))
    return multiply(*factors)


def add_outer_tiles(
    array: SystolicArray, axes: Mapping[str, list[Quantity]], nest: LoopNest
) -> list[Link]:
    """Add to the quantities of each loop the tiles of an outer tile, and the outer tiles.

    Parameters
    ----------
    array : SystolicArray
        The array.
    axes : mapping of str to list of Quantity
        The quantities by loop.
    nest : LoopNest
        The nest, with extents.

    Returns
    -------
    list of Link
        Their rules: every outer tile has as many tiles.
    """
    links = []
    for loop in outer_loops(array):
        axes[loop] += [
            Quantity(inner(loop).name, 1, tiles(loop)),
            Quantity(outer(loop).name, 1, nest.sizes[loop]),
        ]
        links += [
            Link(inner(loop), Relation.DIVIDES, tiles(loop)),
            Link(outer(loop), Relation.EQUAL, ceiling_division(tiles(loop), inner(loop))),
        ]
    return links


def outer_requirements(array: SystolicArray) -> list[tuple[Link, str]]:
    """The requirement of AutoSA on two levels of buffers, as a link with a message: it hoists the
    buffer beside DRAM out of a loop of one tile, and the array starves."""
    loop = array.order[-1]
    broken = f"loop {loop} is one tile: AutoSA's two-level buffers need 2 or more"
    return [(Link(Constant(Fraction(2)), Relation.AT_MOST, tiles(loop)), broken)]
