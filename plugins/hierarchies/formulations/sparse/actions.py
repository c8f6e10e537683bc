"""The actions of a level on the words of a tensor: words read, filled and updated, those only gated
or skipped, and the metadata that goes with them.

Words are rounded as the tool rounds them (`src/sparse-analysis`), in doubles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, prod

from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.plugins.hierarchies.formulations.sparse.parts import SparseLevel
from ithaca.workloads.densities import Sides

#: What is done with words.
KINDS = ("read", "fill", "update")


def prices_of(level: Level, part: SparseLevel) -> dict[str, float]:
    """Energies of a level's actions (pJ)."""
    stated = {count.removesuffix("s"): float(own) for count, own in level.prices.items()}
    return stated | dict(part.energies)


@dataclass
class Held:
    """A tensor in a level that keeps it."""

    dense: Mapping[str, int]
    """Words read, filled and updated, zeros and all."""
    output: bool
    """Whether it is the output."""
    sides: Sides
    """Sides of a tile."""
    most: int
    """The most words of one that are stored."""
    density: float
    """The share of a tile's words that is not zero."""
    instances: float
    """Instances that hold a tile with words, on average."""
    marked: bool
    """Whether there is metadata."""
    compressed: bool
    """Whether zeros are left out."""
    bits: Sequence[tuple[int, int]] = ()
    """Bits of metadata and payloads of every rank, innermost first."""
    units: Sequence[Sequence[float]] = ()
    """Words of metadata and payloads of every rank of a tile."""
    most_bits: int = 0
    """The most bits of metadata that a tile has."""
    saving: tuple[str, float] | None = None
    """How reads are saved here, and what share of all."""
    words: dict[str, int] = field(default_factory=dict)
    """Words by action, such as ``gated_read``."""
    metadata: dict[str, list[list[int]]] = field(default_factory=dict)
    """Metadata by action, such as ``gated_metadata_read``, as `units`."""

    @property
    def tile(self) -> int:
        """Words of a tile."""
        return prod(self.sides)

    def begin(self) -> None:
        """Begin with the counts of words and metadata where nothing is saved; words that are zero
        are left out where there is metadata."""
        for kind, words in self.dense.items():
            self.words[kind] = words - floor(words * (1 - self.density)) * self.marked
            self.metadata[f"metadata_{kind}"] = [
                [ceil(each * (words / self.tile)) for each in rank] for rank in self.units
            ]

    def pass_on(self, share: float, ranks: int) -> None:
        """Lose what a level around saves; its tiles have some ranks."""
        for kind in KINDS:
            self.words[kind] -= floor(self.words[kind] * share)
            if self.marked and ranks == 1 and kind != "update":
                first = self.metadata[f"metadata_{kind}"][0]
                first[:] = (n - floor(n * share) for n in first)

    def save(self, how: str, share: float, ranks: int) -> None:
        """Gate or skip a share of all; of metadata that of so many ranks.

        Parameters
        ----------
        how : str
            ``gated`` or ``skipped``.
        share : float
            The share of all accesses.
        ranks : int
            Ranks of metadata that it holds of, the innermost first.
        """
        for kind in ("read", "update"):
            saved = self.words[kind] * share
            words = ceil(saved) if self.output and kind == "read" else floor(saved)
            self.words[f"{how}_{kind}"] = words
            self.words[kind] -= words
            done = self.metadata[f"metadata_{kind}"]
            left = [[floor(n * share) * (r < ranks) for n in done[r]] for r in range(len(done))]
            self.metadata[f"{how}_metadata_{kind}"] = left
            self.metadata[f"metadata_{kind}"] = [
                [n - m for n, m in zip(*pair, strict=True)] for pair in zip(done, left, strict=True)
            ]

    def metadata_bits(self, action: str) -> int:
        """Bits of metadata of an action."""
        ranks = zip(self.metadata.get(action, ()), self.bits, strict=False)
        return sum(n * bits for rank in ranks for n, bits in zip(*rank, strict=True))

    def moved(self, kinds: Sequence[str], word_bits: int) -> int:
        """Words that take time: those done or gated, and metadata in words of so many bits."""
        ways = [(how, kind) for how in ("", "gated_") for kind in kinds]
        bits = sum(self.metadata_bits(f"{how}metadata_{kind}") for how, kind in ways)
        return sum(self.words.get(how + kind, 0) for how, kind in ways) + bits // word_bits


def propagate(held: Sequence[Held]) -> float | None:
    """Save words of a tensor in all levels that keep it, outermost first.

    Returns the share of its words that never reach the multipliers; None where nothing is saved.
    """
    share: float | None = None
    for place, own in enumerate(held):
        if own.saving is None:
            continue
        how, effective = own.saving
        for other in held[place + 1 :]:
            other.pass_on(own.saving[1], len(own.units))
            if other.saving is not None:
                break
        if share is not None:  # a level around saves, too: the tool takes updates for reads
            own.metadata["metadata_read"] = own.metadata["metadata_update"]
            effective = max(1 - (1 - effective) / (1 - share), 0.0) if share < 1 else 0.0
        own.save(how, effective, len(held[min(place + 1, len(held) - 1)].units))
        share = own.saving[1]
    return share
