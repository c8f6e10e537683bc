"""A tiling: one point of a design's space; and its data packing factors, the words of a group that
modules move at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import among
from ithaca.formulations.algebra.expression import Constant, maximum, minimum
from ithaca.formulations.algebra.number_systems import exactly
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DataType
from ithaca.formulations.space import Link, Quantity, QuantityKind, Relation, Role
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import Edition, GroupRole, IOGroup, SystolicArray


@dataclass(frozen=True)
class Tiling:
    """Tile factors and packs of a design."""

    array_part: Mapping[str, int]
    """Array partitioning factor t1 of every band loop (iterations)."""
    latency_hiding: Mapping[str, int]
    """Latency hiding factor t2 of every band loop that has one (iterations): the parallel loops but
    the SIMD loop."""
    simd: int
    """SIMD factor (words)."""
    pack: Mapping[str, int]
    """Data packing factor of every I/O group that moves data (words), by group name."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Memory ports of every I/O group that may have several, by group name."""
    array_part_l2: Mapping[str, int] = field(default_factory=dict)
    """Tiles of an outer tile of every parallel band loop, where tiles are tiled again."""

    def __post_init__(self) -> None:
        for kind in ("array_part", "latency_hiding", "pack", "ports", "array_part_l2"):
            for name, factor in getattr(self, kind).items():
                _check_factor(f"{kind}.{name}", factor)
        _check_factor("simd", self.simd)

    def t2(self, array: SystolicArray, loop: str) -> int:
        """Inner factor of a band loop: latency hiding, SIMD for the SIMD loop, 1 where neither is
        possible."""
        if loop == array.simd_loop:
            return self.simd
        return 1 if loop in array.sequential else self.latency_hiding[loop]

    def configuration(self, array: SystolicArray, sizes: Mapping[str, int]) -> Configuration:
        """The quantities of a design with these factors.

        Raises `InputError` if a factor of the design is missing, is not one of it, or t2 does not
        divide t1.
        """
        _check_names("array_part", self.array_part, array.band)
        _check_names("latency_hiding", self.latency_hiding, array.latency_hiding_loops)
        _check_names("pack", self.pack, tuple(g.name for g in array.packed_groups))
        _check_names("ports", self.ports, tuple(g.name for g in array.split_groups))
        for group in array.groups:
            if self.simd % group.stored:
                raise InputError(
                    f"simd is {self.simd}; allowed: multiples of {group.stored}, as {group.tensor} "
                    f"is stored in blocks ({group.sparse})"
                )
        for loop in array.band:
            outer, inner = self.array_part[loop], self.t2(array, loop)
            if outer % inner:
                raise InputError(f"loop '{loop}': t2 = {inner} does not divide t1 = {outer}")
        _check_names("array_part_l2", self.array_part_l2, outer_loops(array))
        values = {name: int(factor) for name, factor in self.factors(array, sizes).items()}
        for loop, inner in self.array_part_l2.items():
            if (tiles := values[quantities.tiles(loop).name]) % inner:
                raise InputError(
                    f"array_part_l2.{loop} is {inner}; allowed: a divisor of the {tiles} tiles"
                )
        packs = {quantities.pack(group).name: factor for group, factor in self.pack.items()}
        ports = {quantities.ports(group).name: number for group, number in self.ports.items()}
        return Configuration(values | packs | ports)

    def factors(self, array: SystolicArray, sizes: Mapping[str, int]) -> dict[str, Fraction]:
        """The quantities of band loops, whether or not t2 divides t1."""
        values = {}
        for loop in array.band:
            outer, inner = self.array_part[loop], self.t2(array, loop)
            values[quantities.tiles(loop).name] = Fraction(-(-sizes[loop] // outer))
            values[quantities.t1(loop).name] = Fraction(outer)
            values[quantities.t2(loop).name] = Fraction(inner)
            values[quantities.lanes(loop).name] = Fraction(outer, inner)
        for loop, inner in self.array_part_l2.items():
            values[quantities.inner(loop).name] = Fraction(inner)
            values[quantities.outer(loop).name] = values[quantities.tiles(loop).name] / inner
        return values

    def quantities(self, array: SystolicArray, sizes: Mapping[str, int]) -> dict[str, Fraction]:
        """The quantities as exact numbers, with the extents: what the array's expressions are
        over."""
        values = {quantities.extent(loop).name: n for loop, n in sizes.items()} | dict(
            self.configuration(array, sizes)
        )
        return exactly(values)

    def module_packs(self, array: SystolicArray) -> dict[str, int]:
        """Packing factor by buffer module name, as results and point files state it."""
        return {
            module.name: self.pack[group.name]
            for group in array.packed_groups
            for module in group.buffers
        }


def group_packs(array: SystolicArray, module_packs: Mapping[str, int]) -> dict[str, int]:
    """Turn packs by buffer module name into packs by group.

    Raises `InputError` if a buffer module has no pack, a name is no buffer module of the design, or
    the modules of one group disagree.
    """
    owner = {module.name: group.name for group in array.packed_groups for module in group.buffers}
    packs: dict[str, int] = {}
    for module, factor in module_packs.items():
        if module not in owner:
            if _merged_away(array, module):
                _check_factor(f"pack.{module}", factor)
                continue
            raise InputError(
                f"pack: unknown buffer module '{module}' of {array.name}{among(module, owner)}"
            )
        _check_factor(f"pack.{module}", factor)
        if packs.setdefault(owner[module], factor) != factor:
            raise InputError(
                f"pack.{module}: {factor} differs from {packs[owner[module]]} of the same I/O group"
            )
    missing = [module for module, group in owner.items() if group not in packs]
    if missing:
        raise InputError(f"pack: no pack for buffer module {', '.join(missing)} of {array.name}")
    return packs


def _merged_away(array: SystolicArray, module: str) -> bool:
    """Whether a module is the drain's buffer, which the odyssey model edition may merge into the
    copy-out."""
    if array.edition is not Edition.ODYSSEY:
        return False
    return any(
        module == f"{group.tensor}_drain_IO_L1_out"
        for group in array.groups
        if group.role is GroupRole.FLOW
    )


def _check_names(field: str, values: Mapping[str, int], expected: tuple[str, ...]) -> None:
    missing = [name for name in expected if name not in values]
    unknown = [name for name in values if name not in expected]
    if missing or unknown:
        what = f"misses '{missing[0]}'" if missing else f"has unknown '{unknown[0]}'"
        raise InputError(f"{field} {what}; allowed: exactly {', '.join(expected) or 'none'}")


def _check_factor(field: str, factor: int) -> None:
    if isinstance(factor, bool) or not isinstance(factor, int) or not 1 <= factor <= 2**31:
        raise InputError(f"{field} is {factor!r}; allowed: an integer from 1 to 2147483648")


def inner_tiles(array: SystolicArray, configuration: Mapping[str, int]) -> dict[str, int]:
    """The tiles of an outer tile, by loop; none where there is one level of tiles."""
    return {loop: configuration[quantities.inner(loop).name] for loop in outer_loops(array)}


def outer_loops(array: SystolicArray) -> tuple[str, ...]:
    """The loops over outer tiles, outermost first: the parallel ones; none where there is one level
    of tiles."""
    if not array.dram.two_level:
        return ()
    moved = next(g for g in array.packed_groups if g.role is not GroupRole.READ).modules[0].tiles
    return tuple(loop for loop in array.order if quantities.tiles(loop).name in moved.symbols)


#: The published estimator caps packs in words of its only data type, fp32.
PUBLISHED_WORD_BYTES = 4


def pack_quantity(group: IOGroup, data: DataType) -> Quantity:
    """The data packing factor of a group: any power of two that is legal for some tile."""
    package = group.package(data)
    widest = max(int(group.packing.max_bytes // package.word_bytes), data.max_simd, package.words)
    return Quantity(
        quantities.pack(group.name).name, 1, widest, QuantityKind.POWER_OF_TWO, Role.PORT
    )


def pack_links(
    group: IOGroup,
    data: DataType,
    extents: Mapping[str, int],
    edition: Edition,
    *,
    divides: bool,
) -> list[Link]:
    """The rules of a data packing factor (`docs/cost-model.md`), inferred in edition odyssey.

    Parameters
    ----------
    group : IOGroup
        The group.
    data : DataType
        The data type.
    extents : mapping of str to int
        Extents of loops, by the names that expressions give them.
    edition : Edition
        The edition of the cost model.
    divides : bool
        Whether an inferred factor must divide the last dimension, too.
    """
    packing = group.packing
    package, last = group.package(data), packing.last.substitute(extents)
    multiple = packing.multiple_of
    if package.words > 1 and group.sparse is None:  # both are powers of two
        multiple = maximum(multiple, package.words)
        if isinstance(last, Constant) and last.value % package.words:
            raise InputError(
                f"format {data.format_of(group.tensor).name} of {group.tensor}: rows of "
                f"{last.value} words are no whole bytes; allowed: multiples of {package.words}"
            )
    pack = quantities.pack(group.name)
    if edition is Edition.ODYSSEY:
        cap = Constant(Fraction(packing.max_bytes // PUBLISHED_WORD_BYTES))
        inferred = maximum(minimum(last, cap), multiple)
        links = [Link(pack, Relation.EQUAL, inferred), Link(multiple, Relation.DIVIDES, pack)]
        return [*links, Link(pack, Relation.DIVIDES, last)] if divides else links
    cap = Constant(Fraction(int(packing.max_bytes // package.word_bytes)))
    return [
        Link(multiple, Relation.DIVIDES, pack),
        Link(pack, Relation.DIVIDES, last),
        Link(pack, Relation.AT_MOST, maximum(cap, multiple)),
    ]
