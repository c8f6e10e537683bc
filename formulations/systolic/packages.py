"""Packages: words of a tensor that are stored as one.

Words of less than a byte, and such that share bits, are so many as fill whole bytes. Blocks of a
sparse tensor are stored as AutoSA does: the values of a block that are not zero, in whole bytes,
and a byte with a bit for each place of the block. In DRAM these are padded to a power of two of at
least 4 bytes; between modules and in buffers they are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from ithaca.files.numbers import counted
from ithaca.formulations.data_types import DataType
from ithaca.workloads.sparsity import BlockSparsity

#: Fewest bytes of a package in DRAM.
LEAST_BYTES = 4


@dataclass(frozen=True, slots=True)
class Package:
    """Words of a tensor that are stored as one; packs hold whole packages."""

    words: int
    """How many words."""
    held: int
    """Their bytes in buffers and between modules."""
    moved: int
    """Their bytes in DRAM."""
    dense: int | Fraction
    """Bytes of a word by itself."""
    share: Fraction
    """Bits of a word over those of the data type's, in proportion to which moving it costs; sums
    count as words of the type."""

    @property
    def word_bytes(self) -> int | Fraction:
        """Bytes of DRAM for each word."""
        return self.moved if self.words == 1 else Fraction(self.moved, self.words)

    @property
    def moved_words(self) -> Fraction:
        """Words that are counted off chip for each: fewer where packages are smaller than their
        blocks."""
        return self.moved / (self.words * Fraction(self.dense))

    @property
    def held_words(self) -> Fraction:
        """Words that are counted on chip for each, where packages are not padded."""
        return self.held / (self.words * Fraction(self.dense))


def whole_bytes(size: int | Fraction, share: Fraction) -> Package:
    """The package of words of so many bytes: the fewest that are whole bytes."""
    each = Fraction(size)
    return Package(each.denominator, each.numerator, each.numerator, size, share)


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
    size = data.format_of(sparse.tensor).word_bytes
    return (
        f"{counted(words // sparse.block, 'package')} of {counted(sparse.values, 'value')} and "
        f"their places: {held_bytes(sparse, size)} bytes each, {package_bytes(sparse, size)} off "
        "chip"
    )


def held_bytes(sparse: BlockSparsity, size: int | Fraction) -> int:
    """Bytes of a package in buffers, of values of so many bytes."""
    return ceil(sparse.values * size) + 1


def package_bytes(sparse: BlockSparsity, size: int | Fraction) -> int:
    """Bytes of a package in DRAM, of values of so many bytes."""
    return max(LEAST_BYTES, 1 << (held_bytes(sparse, size) - 1).bit_length())
