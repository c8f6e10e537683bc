"""Data packing factors: the words of a group that modules move at once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Constant, maximum, minimum
from ithaca.formulations.data_types import DataType
from ithaca.formulations.space import Link, Quantity, QuantityKind, Relation, Role
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup

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
