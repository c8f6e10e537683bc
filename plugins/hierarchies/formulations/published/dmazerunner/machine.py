"""The inputs of the published model: the figures of an accelerator, and a layer with its tensors in
memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any, TypeVar

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest, Stored, check_stored

#: A field of architectures that one edition reads.
F = TypeVar("F")

#: The levels whose loops have an order, and all slots of a loop, as quantities name them.
DRAM, SPM, RF, SPATIAL = "DRAM", "SPM", "RF", "SPM.x"


ORDERED = (DRAM, SPM)


SLOTS = (DRAM, SPM, RF, SPATIAL)


@dataclass(frozen=True, slots=True)
class Capacities:
    """The capacities of an accelerator, by which mappings fit."""

    pes: int
    """Processing elements."""
    rf_words: int
    """Words of a register file."""
    banks: int
    """Scratchpad banks that hold the current tiles: half of all, the others are being filled."""
    bank_words: int
    """Words of a bank."""

    @property
    def limits(self) -> dict[str, int]:
        """The most that mappings may use, by metric."""
        return {"pes": self.pes, "rf_words": self.rf_words, "spm_banks": self.banks}

    @staticmethod
    def sizes(
        architecture: Architecture, edition: str, bank_words: int
    ) -> tuple[int, int, int, int]:
        """The capacities of an architecture; an `InputError` names a level without one.

        Parameters
        ----------
        architecture : Architecture
            Three levels: DRAM, scratchpad, register files.
        edition : str
            Name of the edition, as errors state it.
        bank_words : int
            Words of a scratchpad bank.
        """
        _, spm, rf = architecture.levels
        if spm.words is None or rf.words is None:
            raise refuse(
                architecture.name,
                f"{SPM if spm.words is None else RF} has no capacity; "
                f"allowed in edition {edition}: entries",
            )
        banks = spm.usable(spm.words) // bank_words
        return rf.instances, rf.usable(rf.words), banks, bank_words


@dataclass(frozen=True, slots=True)
class Energies:
    """Energies of an accelerator (pJ)."""

    mac: Fraction
    """Energy of a multiply-accumulate."""
    rf: Fraction
    """Energy of a register file access, a word."""
    network: Fraction
    """Energy of a word over the network."""
    spm: Fraction
    """Energy of a scratchpad access, a word."""
    dram: Fraction
    """Energy of a DRAM access, a word."""

    @property
    def grain(self) -> int:
        """All energies are multiples of 1 / grain pJ: in such units they are whole."""
        return lcm(*(e.denominator for e in (self.mac, self.rf, self.network, self.spm, self.dram)))

    def units(self, energy: Fraction) -> int:
        """An energy, or a sum of some, in units of 1 / grain pJ."""
        return int(energy * self.grain)


def stated_field(architecture: Architecture, edition: str, name: str, value: F | None) -> F:
    """A field that an architecture of three levels states for one edition alone.

    Parameters
    ----------
    architecture : Architecture
        The architecture.
    edition : str
        The edition.
    name : str
        How files call the field.
    value : object, optional
        Its value; None where it is not stated.

    Raises
    ------
    InputError
        If the levels are others, or it is not stated.
    """
    names = [level.name for level in architecture.levels]
    if names == [DRAM, SPM, RF] and value is not None:
        return value
    lacks = f"no field {name}" if names == [DRAM, SPM, RF] else f"the levels {', '.join(names)}"
    raise refuse(
        architecture.name,
        f"has {lacks}; allowed in edition {edition}: {DRAM}, {SPM}, {RF}, and the field {name}",
    )


@dataclass(frozen=True, slots=True)
class BurstMachine(Capacities):
    """The figures of an accelerator that the model reads."""

    dma_setup: Fraction
    """Cycles to begin a burst."""
    dma_word: Fraction
    """Cycles of a word of a burst."""
    energies: Energies
    """Energies of accesses and operations."""

    @classmethod
    def of(cls, architecture: Architecture) -> BurstMachine:
        """The figures of an architecture; `InputError` if it has other levels, or lacks bursts."""
        bursts = stated_field(architecture, "dmazerunner", "dmazerunner", architecture.bursts)
        sizes = cls.sizes(architecture, "dmazerunner", bursts.bank_words)
        tables: dict[str, dict[int | None, Fraction]] = {
            name: dict(sizes) for name, sizes in bursts.energies
        }
        energies = {}
        for level in architecture.levels:
            table = tables.get(level.name, {level.words: level.read_energy})
            if level.words not in table:
                known = f"dmazerunner.energies: {', '.join(map(str, table))}"
                raise refuse(
                    architecture.name, f"{level.name} has {level.words} words; allowed by {known}"
                )
            energies[level.name] = table[level.words]
        return cls(
            *sizes,
            bursts.setup,
            bursts.word,
            Energies(
                architecture.compute.energy,
                energies[RF],
                bursts.network_energy,
                energies[SPM],
                energies[DRAM],
            ),
        )


@dataclass(frozen=True)
class StoredLayer:
    """A nest with the extents of its tensors as they lie in memory: an input may have rows that no
    iteration reads."""

    nest: LoopNest
    stored: Stored = ()
    """Tensors and their extents, outermost first; others as needed."""

    def __post_init__(self) -> None:
        for loop in self.nest.loops:
            free = [access.tensor for access in self.nest.accesses if not access.indexed_by(loop)]
            if len(free) > 1:
                raise InputError(
                    f"workload {self.nest.name}: loop '{loop}' indexes "
                    f"neither {' nor '.join(free)}; "
                    "allowed in edition dmazerunner: loops that all tensors but one depend on"
                )
        check_stored(self.nest, self.stored)

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """The loop orders of a level, outermost first, that suffice: one for each tensor that may
        be stationary.

        All loops irrelevant to that tensor are innermost, so its reuse is the largest possible, and
        cycles and energy do not rise with it (as long as it is above 1: quirk 1). A last group, of
        loops that index every tensor, lets none be reused. The other groups follow one by one:
        where the innermost ones have a single trip, the next one's tensor is stationary.
        """
        groups = [
            tuple(loop for loop in self.nest.loops if not a.indexed_by(loop))
            for a in self.nest.accesses
        ]
        groups.append(
            tuple(
                loop
                for loop in self.nest.loops
                if all(a.indexed_by(loop) for a in self.nest.accesses)
            )
        )
        groups = [group for group in groups if group]
        return tuple(
            tuple(
                loop
                for group in (*groups[:place], *groups[place + 1 :], groups[place])
                for loop in group
            )
            for place in range(len(groups))
        )

    def words(self, tile: NumbersByName) -> dict[str, Any]:
        """Words of every tensor that a tile of iterations touches, in boxes."""
        return {access.tensor: access.box(tile) for access in self.nest.accesses}

    def kept(self, access: Access, whole: NumbersByName, numbers: NumberSystem) -> list[Any]:
        """Extents of a tensor in memory, for loops of (padded) extents ``whole``.

        Parameters
        ----------
        access : Access
            The access of the tensor.
        whole : NumbersByName
            Extents of all loops, padded (iterations).
        numbers : NumberSystem
            The number system.

        Returns
        -------
        list
            One extent a dimension, outermost first (words); no less than what the layer states.
        """
        needed, stored = access.sides(whole), dict(self.stored).get(access.tensor)
        return (
            needed
            if stored is None
            else [
                numbers.maximum(n, constant(s, numbers))
                for n, s in zip(needed, stored, strict=True)
            ]
        )

    @property
    def surplus(self) -> bool:
        """Whether tensors have rows in memory that no iteration reads."""
        stored = dict(self.stored)
        needed = {access.tensor: access.sides(self.nest.sizes) for access in self.nest.accesses}
        return any(
            have > need
            for name, sizes in stored.items()
            for have, need in zip(sizes, needed[name], strict=True)
        )

    def product(self, factors: NumbersByName, access: Access | None = None) -> Any:
        """Product of factors of all loops, or of those that index a tensor."""
        loops = self.nest.loops if access is None else self.indexing[access.tensor]
        return prod([factors[loop] for loop in loops])

    @cached_property
    def indexing(self) -> Mapping[str, tuple[str, ...]]:
        """The loops that index each tensor, in the order of the nest."""
        nest = self.nest
        return {a.tensor: tuple(filter(a.indexed_by, nest.loops)) for a in nest.accesses}


def factors(layer: StoredLayer, values: NumbersByName) -> dict[str, dict[str, Any]]:
    """The factors of loops, by slot."""
    return {slot: {loop: values[f"{loop}.{slot}"] for loop in layer.nest.loops} for slot in SLOTS}


def covered(at: Mapping[str, NumbersByName], *slots: str) -> dict[str, Any]:
    """Iterations of every loop that its factors in some slots cover."""
    return {loop: prod([at[slot][loop] for slot in slots]) for loop in at[slots[0]]}


def constant(value: int, numbers: NumberSystem) -> Any:
    return numbers.number(Fraction(value))
