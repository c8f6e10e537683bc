"""Block sparsity of a tensor: of so many neighbours along its last dimension, a few are not zero.

Which ones is data: a block is stored as its values with a bit for each of its places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted

#: Lengths of a block: a bit for each of its places is at most a byte.
BLOCKS = (2, 4, 8)

_FORM = re.compile(r"([A-Za-z_]\w*)=([0-9]{1,4})/([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class BlockSparsity:
    """A tensor whose blocks have a few values that are not zero."""

    tensor: str
    """The tensor, which is read."""
    values: int
    """Values that are stored of a block."""
    block: int
    """Neighbours along the last dimension that are a block."""

    def __str__(self) -> str:
        return f"{self.tensor}={self.values}/{self.block}"

    @property
    def share(self) -> Fraction:
        """Values that are stored, over all."""
        return Fraction(self.values, self.block)


def parse_sparsity(text: object, where: str) -> BlockSparsity | None:
    """Read block sparsity such as ``A=2/4``; None where all values of a block are stored.

    Raises `InputError` if it is none.
    """
    if (match := _FORM.fullmatch(str(text).replace(" ", ""))) is None:
        raise InputError(
            f"{where} is {quoted(text)}; allowed: a tensor, values that are not zero and places "
            "of a block, such as A=2/4"
        )
    tensor, values, block = match[1], int(match[2]), int(match[3])
    if block not in BLOCKS:
        raise InputError(f"{where}: a block of {tensor} has {block} places; allowed: 2, 4 or 8")
    if not 1 <= values <= block:
        raise InputError(
            f"{where}: {values} of the {block} places of a block of {tensor} are not zero; "
            f"allowed: 1 to {block}"
        )
    return None if values == block else BlockSparsity(tensor, values, block)
