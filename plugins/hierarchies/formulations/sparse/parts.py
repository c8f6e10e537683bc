"""The features of an architecture for sparse tensors, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

#: Actions of a level on words, and what else of an energy table prices each, first found first.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    f"{how}{what}{action}": tuple(
        f"{one}{what}{each}"
        for one in ways
        for each in ((action,) if action == "read" else (action, "write"))
    )
    for how, ways in (
        ("", ("random_", "")),
        ("gated_", ("gated_",)),
        ("skipped_", ("skipped_", "gated_")),
    )
    for what in ("", "metadata_")
    for action in ("read", "fill", "update")
} | {name: (name,) for name in ("compression_count", "decompression_count")}

_GATED = ("mac_gated", "mult_gated", "compute_gated", "mac", "mult", "compute")
#: The same of multiplications that are not done.
COMPUTES: Mapping[str, tuple[str, ...]] = {
    "gated": _GATED,
    "skipped": ("mac_skipped", "mult_skipped", "compute_skipped", *_GATED),
}

#: Formats of ranks that leave zeros out.
PACKED = ("CP", "RLE", "B")


@dataclass(frozen=True, slots=True)
class Rank:
    """A rank of a format."""

    format: Literal["UOP", "CP", "RLE", "B", "UB"]
    metadata_bits: int
    """Bits of a coordinate, run or mask."""
    payload_bits: int
    """Bits of an offset."""
    flattens: tuple[tuple[str, ...], ...] = ()
    """Loops that may be flattened into it; none: any one."""

    @property
    def compressed(self) -> bool:
        """Whether zeros are left out."""
        return self.format in PACKED


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how a level stores a tensor."""

    ranks: tuple[Rank, ...]
    """Innermost first."""
    inwards: bool = True
    """Whether loops get ranks from the outermost inwards."""

    @property
    def compressed(self) -> bool:
        """Whether zeros are left out."""
        return any(rank.compressed for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Saving:
    """Words of a tensor that are not read where those that they would meet are zero."""

    kind: Literal["gated", "skipped"]
    """``gated`` (the cycle passes) or ``skipped``."""
    options: tuple[tuple[str, tuple[str, ...]], ...]
    """Tensors, each with those on which it depends, of which the level takes the best."""


@dataclass(frozen=True, slots=True)
class SparseLevel:
    """The handling of sparse tensors by a level."""

    formats: Mapping[str, Format] = field(default_factory=dict)
    """By tensor."""
    savings: tuple[Saving, ...] = ()
    """In the order in which they apply."""
    width: int = 0
    """Bits of a row of metadata; 0: they cost nothing."""
    word_bits: int = 0
    """Bits of a word of metadata."""
    room: int = 0
    """Bits of metadata that an instance holds."""
    compresses: bool = False
    """Whether it compresses what the level around it takes."""
    decompresses: bool = False
    """Whether it decompresses what it takes from there."""
    energies: Mapping[str, float] = field(default_factory=dict)
    """Energies of `ACTIONS` and conversions (pJ); those without cost nothing."""


@dataclass(frozen=True, slots=True)
class Sparsity:
    """The handling of sparse tensors by an architecture."""

    levels: Mapping[str, SparseLevel]
    """By level."""
    gates: bool = False
    """Whether multipliers rest where an operand is zero."""
    skips: bool = False
    """Whether they pass on where one is not stored."""
    energies: Mapping[str, float] = field(default_factory=dict)
    """Energy of a multiplication that rests, ``gated``, and of one passed over, ``skipped``
    (pJ)."""
