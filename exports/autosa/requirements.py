"""The reasons why AutoSA cannot build a configuration.

The compiler checks little of this itself: most violations compile and compute wrong results, so a
configuration is exported only if nothing here speaks against it. What restricts nests, designs and
spaces of solves meant for AutoSA is stated in `ithaca.formulations.systolic.target`, the rest here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DRAM_PORT_BYTES
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.target import data_obstacles, nest_obstacles, requirements
from ithaca.formulations.systolic.target import design_obstacles as obstacles_of_design
from ithaca.workloads.nest import LoopNest


def design_obstacles(nest: LoopNest, design: SystolicArray) -> tuple[str, ...]:
    """Every reason why AutoSA cannot build any configuration of a design; see `obstacles`."""
    return (*nest_obstacles(nest), *obstacles_of_design(nest, design))


def obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Every reason, in plain words, why AutoSA cannot build a configuration; empty if it can.

    Raises `InputError` if design, nest and tiling do not belong together.
    """
    _check_belonging(configuration)
    nest, design = configuration.nest, configuration.design
    never = (*data_obstacles(configuration.data, nest), *design_obstacles(nest, design))
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
    for field, (factors, names) in expected.items():
        if set(factors) != set(names):
            raise InputError(
                f"{field} of the configuration names {', '.join(factors)}; "
                f"{design.name} needs {', '.join(names)}"
            )


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
        data = configuration.data
        size = pack * (data.bytes if group.sparse is None else group.package(data).word_bytes)
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
    known = {quantities.extent(loop).name: Fraction(n) for loop, n in sizes.items()}
    ports = configuration.tiling.ports.items()
    known |= {quantities.ports(group).name: Fraction(number) for group, number in ports}
    return known | configuration.tiling.factors(configuration.design, sizes)
