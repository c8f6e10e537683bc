"""Packages: blocks of a sparse tensor as AutoSA stores them.

A package is the values of a block that are not zero, and a byte with a bit for each place of the
block. In DRAM it is padded to a power of two of at least 4 bytes; between modules and in buffers it
is not.
"""

from __future__ import annotations

from ithaca.files.numbers import counted
from ithaca.formulations.data_types import DataType
from ithaca.workloads.sparsity import BlockSparsity

#: Fewest bytes of a package in DRAM.
LEAST_BYTES = 4


def packages_text(sparse: BlockSparsity, data: DataType, words: int) -> str:
    """The contents of a pack of so many words of the tensor, in words.

    Parameters
    ----------
    sparse : BlockSparsity
        How the tensor is stored.
    data : DataType
        The type of its values.
    words : int
        Words of a pack, those that are zero among them.
    """
    return (
        f"{counted(words // sparse.block, 'package')} of {counted(sparse.values, 'value')} and "
        f"their places: {held_bytes(sparse, data)} bytes each, {package_bytes(sparse, data)} off "
        "chip"
    )


def held_bytes(sparse: BlockSparsity, data: DataType) -> int:
    """Bytes of a package in buffers."""
    return sparse.values * data.bytes + 1


def package_bytes(sparse: BlockSparsity, data: DataType) -> int:
    """Bytes of a package in DRAM."""
    return max(LEAST_BYTES, 1 << (held_bytes(sparse, data) - 1).bit_length())
