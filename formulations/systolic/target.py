"""The restrictions of compilers: rules that limit designs and spaces to those of the model that a
compiler builds.

The rules of AutoSA (Wang, Guo & Cong, FPGA 2021) that go beyond the model's were found by running
the compiler. Faults of what it writes are no rules: the exported script mends them
(`ithaca.exports.autosa`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd

from ithaca.formulations.algebra.expression import Constant, maximum, minimum
from ithaca.formulations.data_types import DataType
from ithaca.formulations.space import Link, Relation
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.packages import package_bytes
from ithaca.formulations.systolic.quantities import lanes, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import (
    SERIALIZED,
    GroupRole,
    SystolicArray,
)
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.sparsity import BlockSparsity

#: Names that neither C99 nor C++ (the host program) leaves to a program.
_RESERVED = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while xor xor_eq BUFSIZ EOF NULL
"""
KEYWORDS = frozenset(_RESERVED.split())


TWO = Constant(Fraction(2))

#: A rule beside the model's own, and what is to be said of configurations that break it.
Requirement = tuple[Link, str]


def design_obstacles(nest: LoopNest, array: SystolicArray) -> Iterator[str]:
    """Every reason why AutoSA cannot build a design of a nest that it can build others of."""
    if array.dataflow not in dataflows(nest):
        yield f"dataflow {','.join(array.dataflow)} is none that AutoSA derives"
    if array.obstacle is not None:
        yield array.obstacle
    if nest.sparse is not None and array.dram != SERIALIZED:
        yield (
            f"block sparsity {nest.sparse}: AutoSA builds it with one memory port of each tensor, "
            "and data that the host serializes"
        )
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
    """The requirements of AutoSA on configurations of a design, beside packs that divide."""
    for loop in array.dataflow:
        yield (
            Link(TWO, Relation.AT_MOST, lanes(loop)),
            f"space loop {loop} has less than the 2 lanes that AutoSA needs",
        )
    if nest.sizes[nest.simd] == 1:
        broken = f"SIMD loop {nest.simd} has one iteration (padded): AutoSA drops such loops"
        yield Link(TWO, Relation.AT_MOST, t1(nest.simd)), broken
    for group in array.groups:
        if group.sparse is not None and (group.direction is None or group.sparse.values == 1):
            yield (
                Link(Constant(Fraction(2 * group.stored)), Relation.AT_MOST, t2(nest.simd)),
                f"SIMD factor of one block of {group.sparse}: AutoSA does not declare its type; "
                f"allowed: {2 * group.stored} or more",
            )
    if array.dram.two_level:
        from ithaca.formulations.systolic.two_level import outer_requirements

        yield from outer_requirements(array)
    for group in array.split_groups:
        more = minimum(array.spread, maximum(lanes(str(group.split)) - 2, 0))
        yield (
            Link(more + 1, Relation.AT_MOST, group.ports),
            f"{group.name} has one memory port for more than 2 modules, beside tensors of several: "
            "AutoSA splits every chain, or none",
        )
    others = dict(zip(array.dataflow, reversed(array.dataflow), strict=True))
    for group in array.groups if array.split_groups and len(others) > 1 else ():
        if group.role is GroupRole.FLOW and group.direction is not None:
            loop, reduced = others[group.direction], nest.reduction_loops[0]
            more = minimum(array.spread, maximum(lanes(loop) - 2, 0))
            yield (
                Link(more + 1, Relation.AT_MOST, tiles(reduced)),
                f"{group.name} has one memory port for more than 2 modules, beside tensors of "
                f"several, and {reduced} one tile: AutoSA splits such chains, or none",
            )
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


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Every reason why AutoSA cannot build any configuration of a nest."""
    seen = visible(nest)
    blocks = () if nest.sparse is None else _of_blocks(nest, nest.sparse)
    formats = (_of_formats(nest),) if _mixed(nest) else ()
    return (*_of_loops(seen), *_of_accesses(seen), *_of_names(nest), *blocks, *formats)


def data_obstacles(data: DataType, nest: LoopNest) -> Iterator[str]:
    """Reasons why AutoSA cannot build any configuration of a nest in a data type."""
    data = data.of(nest)
    if data.tensors and not _mixed(nest):
        yield _of_formats(nest)
    elif not data.tensors and data.words not in ("fp32", "int16", "int8"):
        yield (
            f"{data.name} is no type of the C programs that AutoSA "
            "reads; it takes fp32, int16 and int8"
        )
    sparse = nest.sparse
    if (
        sparse is not None
        and (size := package_bytes(sparse, data.bytes)) > sparse.block * data.bytes
    ):
        yield (
            f"block sparsity {sparse}: AutoSA divides by zero where packages, of "
            f"{size} bytes, are larger than blocks of {data.name}"
        )


def _mixed(nest: LoopNest) -> bool:
    """Whether a nest itself states several formats of what it reads."""
    read = [access.tensor for access in nest.inputs]
    return len({form for tensor, form in nest.formats if tensor in read}) > 1


def _of_formats(nest: LoopNest) -> str:
    return (
        f"format {nest.labels['format']}: C programs that AutoSA reads have one type of all "
        "tensors; allowed: fp32, int16 or int8"
    )


def _of_loops(nest: LoopNest) -> Iterator[str]:
    if nest.simd not in nest.reduction_loops:
        yield f"SIMD loop {nest.simd} is parallel; the AutoSA export vectorises reductions only"
    elif nest.simd != nest.reduction_loops[0]:
        first = nest.reduction_loops[0]
        yield (
            f"SIMD loop {nest.simd} is not {first}, the first reduction loop "
            "and the only one that AutoSA tiles"
        )
    tiled = set(tiled_loops(nest))
    for loop in nest.loops:
        if loop in nest.band and loop not in tiled:
            reductions = ", ".join(nest.reduction_loops)
            yield (
                f"loop {loop} is tiled; of the reduction loops "
                f"({reductions}) AutoSA tiles the first only"
            )
        if loop in nest.untiled and loop in tiled:
            yield f"loop {loop} is untiled, but AutoSA tiles it"
        elif loop in nest.untiled and nest.sizes[loop] == 2:
            yield (
                f"loop {loop} is untiled and has 2 iterations: AutoSA finds no band of "
                "loops to tile (with 1 or 3 it does)"
            )
    if nest.loops != nest.parallel_loops + nest.reduction_loops:
        order = ", ".join(nest.loops)
        yield (
            f"a reduction loop lies outside a parallel one ({order}): AutoSA "
            "would number the dataflows differently"
        )


def _of_accesses(nest: LoopNest) -> Iterator[str]:
    for access in nest.accesses:
        for subscript in access:
            if subscript.constant < 0 or any(c < 0 for _, c in subscript.terms):
                yield (
                    f"subscript {subscript} of {access} counts downwards: arrays of "
                    "the exported program start at 0"
                )
            yield from _of_windows(nest, access, subscript.without_gaps(nest.once))
        if access.subscripts[-1].coefficient(nest.simd) > 1:
            yield (
                f"SIMD loop {nest.simd} strides over {access}: AutoSA "
                "vectorises neighbours in memory only"
            )
        if any(subscript.coefficient(nest.simd) for subscript in access.subscripts[:-1]):
            yield (
                f"SIMD loop {nest.simd} is not the last subscript of {access}: AutoSA "
                "vectorises neighbours in memory only"
            )


def _of_windows(nest: LoopNest, access: Access, subscript: Affine) -> Iterator[str]:
    """Obstacles in a subscript in which windows move, such as ``2*r+p``."""
    steps = [c for loop, c in subscript.terms if loop not in nest.untiled]
    window = [(c, nest.sizes[loop]) for loop, c in subscript.terms if loop in nest.untiled]
    if not steps or not window:
        return
    if min(steps) > 1 < min(c for c, _ in window):
        yield (
            f"stride and dilation of {access} have no common factor, and neither "
            "is 1: AutoSA stops without a kernel"
        )
    elif min(steps) > 1 + sum(c * (n - 1) for c, n in window):
        yield f"windows of {access} lie apart: AutoSA's buffers hold more than is modelled"


def _of_names(nest: LoopNest) -> Iterator[str]:
    tensors = [access.tensor for access in nest.accesses]
    for name in (*nest.loops, *tensors):
        if not (name.isascii() and name.isidentifier()) or name in KEYWORDS:
            yield f"'{name}' cannot be a name in C"
        elif name in own_identifiers(nest):
            yield f"'{name}' is a name that the exported program uses itself"
    for name in nest.loops:
        if name in tensors:
            yield f"'{name}' names both a loop and a tensor"


def visible(nest: LoopNest, extents: Mapping[str, int] | None = None) -> LoopNest:
    """The nest without loops of one iteration, which the scheduler drops (and reorders for).

    The SIMD loop stays. Without extents padded to tiles, only untiled loops are known to have one
    iteration.
    """
    known = (
        {x: n for x, n in nest.sizes.items() if x in nest.untiled} if extents is None else extents
    )
    once = {x for x, n in known.items() if n == 1 and x != nest.simd}
    if not once:
        return nest
    return replace(
        nest,
        extents=tuple((loop, extent) for loop, extent in nest.extents if loop not in once),
        output=_without(nest.output, once),
        inputs=tuple(_without(access, once) for access in nest.inputs),
        untiled=nest.untiled - once,
        parameters=(),
        template="",
    )


def _without(access: Access, loops: set[str]) -> Access:
    kept = (Affine(tuple((x, c) for x, c in s.terms if x not in loops), s.constant) for s in access)
    return Access(access.tensor, tuple(kept))


def tiled_loops(nest: LoopNest) -> tuple[str, ...]:
    """The loops that AutoSA tiles: its outermost permutable band.

    Between iterations of one reduction loop all of the next one run, so only the first one is
    permutable with the parallel loops.
    """
    return nest.parallel_loops + nest.reduction_loops[:1]


def golden_name(nest: LoopNest) -> str:
    """Name of the array that holds the expected result."""
    return f"golden_{nest.output.tensor}"


def own_identifiers(nest: LoopNest) -> frozenset[str]:
    """Identifiers of the exported program that are not names of the nest."""
    macros = (macro(loop) for loop in nest.loops for macro in (extent_name, padded_name))
    places = (
        place_name(access, at) for access in nest.inputs for at in range(len(access.subscripts))
    )
    blocks = () if nest.sparse is None else (*PACKING, stored_name(nest.sparse))
    return frozenset(
        {"data_t", "main", "printf", "seed", "errors", golden_name(nest), *macros, *places, *blocks}
    )


#: Names of the exported program where it stores blocks.
PACKING = ("at", "dense", "package", "places", "place", "kept")


def stored_name(sparse: BlockSparsity) -> str:
    """Name of the array of packages of a block-sparse tensor, as AutoSA expects it."""
    return f"{sparse.tensor}_s"


def _of_blocks(nest: LoopNest, sparse: BlockSparsity) -> Iterator[str]:
    if len(nest.inputs) > 2:
        yield f"block sparsity {sparse}: AutoSA multiplies a block-sparse tensor by one other only"
    if (sparse.values, sparse.block) == (7, 8):
        yield (
            f"block sparsity {sparse}: AutoSA rounds 8/7 and multiplies 6 of 7 values; "
            "allowed: 1 to 6 of 8"
        )


def extent_name(loop: str) -> str:
    """Name of a loop's extent."""
    return f"EXTENT_{loop}"


def padded_name(loop: str) -> str:
    """Name of its extent where it is padded."""
    return f"PADDED_{loop}"


def place_name(access: Access, at: int) -> str:
    """Name of the variable that runs over a dimension of an input when it is filled."""
    return f"{access.tensor}_{at}"
