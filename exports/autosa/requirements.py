"""The reasons why AutoSA cannot build a configuration.

The compiler checks little of this itself: most violations compile and compute wrong results, so a
configuration is exported only if nothing here speaks against it. What restricts the spaces of
solves meant for AutoSA is stated in `ithaca.formulations.systolic.target`, the rest here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.exports.autosa.program import own_identifiers
from ithaca.exports.autosa.scop import tiled_loops, visible
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DRAM_PORT_BYTES, DataType
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.target import design_obstacles as obstacles_of_design
from ithaca.formulations.systolic.target import requirements
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest

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


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Every reason why AutoSA cannot build any configuration of a nest; see `obstacles`."""
    seen = visible(nest)
    return (*_of_loops(seen), *_of_accesses(seen), *_of_names(nest))


def design_obstacles(nest: LoopNest, design: SystolicArray) -> tuple[str, ...]:
    """Every reason why AutoSA cannot build any configuration of a design; see `obstacles`."""
    return (*nest_obstacles(nest), *obstacles_of_design(nest, design))


def obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Every reason, in plain words, why AutoSA cannot build a configuration; empty if it can.

    Raises `InputError` if design, nest and tiling do not belong together.
    """
    _check_belonging(configuration)
    nest, design = configuration.nest, configuration.design
    never = (*data_obstacles(configuration.data), *design_obstacles(nest, design))
    return tuple(dict.fromkeys((*never, *_of_tiles(configuration), *_of_packs(configuration))))


def _check_belonging(configuration: ArrayConfiguration) -> None:
    nest, design, tiling = configuration.nest, configuration.design, configuration.tiling
    expected = {
        "array_part": (tiling.array_part, design.band),
        "latency_hiding": (tiling.latency_hiding, design.latency_hiding_loops),
        "pack": (tiling.pack, tuple(group.name for group in design.packed_groups)),
    }
    if design.band != nest.band or design.simd_loop != nest.simd:
        raise InputError(
            f"design {design.name} of {design.workload} does not belong to the nest {nest}"
        )
    for field, (given, names) in expected.items():
        if set(given) != set(names):
            raise InputError(
                f"{field} of the configuration names {', '.join(given)}; "
                f"{design.name} needs {', '.join(names)}"
            )


def data_obstacles(data: DataType) -> tuple[str, ...]:
    """Why AutoSA cannot build any configuration of a data type; see `obstacles`."""
    if data.name not in ("fp16", "bf16"):
        return ()
    return (
        f"{data.name} is no type of the C programs that AutoSA "
        "reads; it takes fp32, int16 and int8",
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


def _of_tiles(configuration: ArrayConfiguration) -> Iterator[str]:
    design, data, tiling = configuration.design, configuration.data, configuration.tiling
    for loop in design.band:
        outer, inner = tiling.array_part[loop], configuration.t2(loop)
        if outer % inner:
            what = "SIMD factor" if loop == design.simd_loop else "t2 ="
            yield f"loop {loop}: {what} {inner} does not divide t1 = {outer}"
    for link, broken in requirements(configuration.nest, design):
        if not link.holds(_quantities(configuration), FRACTION):
            yield broken
    if data.port_words % tiling.simd:
        yield (
            f"SIMD factor {tiling.simd} does not divide the {data.port_words} words of {data.name} "
            f"in the {DRAM_PORT_BYTES} bytes of a DRAM port"
        )


def _of_packs(configuration: ArrayConfiguration) -> Iterator[str]:
    nest, tiling, values = configuration.nest, configuration.tiling, _quantities(configuration)
    for access in nest.accesses:
        group = configuration.moved_group(access.tensor)
        pack = tiling.pack[group.name]
        size = pack * configuration.data.bytes
        last = group.packing.last.evaluate(values, FRACTION)
        multiple = group.packing.multiple_of.evaluate(values, FRACTION)
        if pack & (pack - 1):
            yield f"tensor {access.tensor}: pack {pack} is not a power of two"
        if last % pack:
            yield (
                f"tensor {access.tensor}: pack {pack} does not divide the last "
                f"dimension of its buffer, {last} words"
            )
        if pack % multiple:
            yield (
                f"tensor {access.tensor}: pack {pack} is not a multiple "
                f"of the SIMD factor {multiple}"
            )
        if size > DRAM_PORT_BYTES:
            yield (
                f"tensor {access.tensor}: pack {pack} takes {size} bytes, more than "
                f"the {DRAM_PORT_BYTES} of a DRAM port"
            )


def _quantities(configuration: ArrayConfiguration) -> dict[str, Fraction]:
    """The cost model's quantities but for packs, whether or not t2 divides t1."""
    sizes = configuration.nest.sizes
    extents = {quantities.extent(loop).name: Fraction(n) for loop, n in sizes.items()}
    return extents | configuration.tiling.factors(configuration.design, sizes)
