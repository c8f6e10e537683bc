"""Passes over tiles of the PEs, and transfers of the scratchpad's tiles: the parts of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    RF,
    SPATIAL,
    BurstMachine,
    Energies,
    StoredLayer,
    constant,
    covered,
)

#: Register file accesses of a multiply-accumulate: two operands read, the sum read and written.
RF_ACCESSES = 4


@dataclass(frozen=True, slots=True)
class ArrayTile:
    """A tile u on the PEs."""

    trips: Any
    """The product of the register files' factors."""
    pes: Any
    """The product of the factors over PEs."""
    groups: NumbersByName
    """By tensor, the same of its loops: PEs with tiles of their own."""
    held: NumbersByName
    """By tensor, words of a PE's tile."""
    sent: NumbersByName
    """By tensor, words of the tile of all PEs."""

    @classmethod
    def of(cls, layer: StoredLayer, at: Mapping[str, NumbersByName]) -> ArrayTile:
        """The tile of an array, from factors by slot."""
        groups = {
            access.tensor: layer.product(at[SPATIAL], access) for access in layer.nest.accesses
        }
        return cls(
            layer.product(at[RF]),
            layer.product(at[SPATIAL]),
            groups,
            layer.words(at[RF]),
            layer.words(covered(at, RF, SPATIAL)),
        )


@dataclass(frozen=True, slots=True)
class ArrayPass:
    """A pass over a tile of the PEs; energies in units of 1 / grain pJ."""

    computing: Any
    """Cycles of the multiply-accumulates."""
    adding: Any
    """Cycles of the reduction over PEs."""
    sending: NumbersByName
    """Data that networks carry one after the other: words by tensor, or bits by network."""
    energy: NumbersByName
    """By tensor, of one trip between scratchpad and register files."""
    reducing: Any
    """Energy of the reduction over PEs."""

    @property
    def work(self) -> Any:
        """Cycles with the reduction over PEs."""
        return self.computing + self.adding


def operation(energies: Energies) -> int:
    """Energy of a multiply-accumulate with its register file accesses, in units of 1 / grain pJ."""
    return energies.units(energies.mac + RF_ACCESSES * energies.rf)


def sending_energy(
    energies: Energies, copies: NumbersByName, sent: NumbersByName
) -> dict[str, Any]:
    """Energy of a tile's trip to the PEs: each of its words once out of the scratchpad, and every
    copy over the network.

    Parameters
    ----------
    energies : Energies
        Those of network and scratchpad.
    copies : Mapping of str to number
        Words of every tensor that PEs take or give.
    sent : Mapping of str to number
        Words of every tensor of the tile.
    """
    network, scratchpad = energies.units(energies.network), energies.units(energies.spm)
    return {tensor: copies[tensor] * network + words * scratchpad for tensor, words in sent.items()}


def array_pass(layer: StoredLayer, energies: Energies, tile: ArrayTile) -> ArrayPass:
    """Costs of a pass over a tile of the PEs.

    PEs add up the partial sums that each holds one after the other, to those of as many of them as
    loops of the output lie along.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor PEs sum up together.
    energies : Energies
        Those of multiplication, register files, network and scratchpad.
    tile : ArrayTile
        The tile.

    Returns
    -------
    ArrayPass
        Cycles, and energies in units of 1 / grain pJ.
    """
    output = layer.nest.output.tensor
    sums = tile.groups[output]
    reduction = tile.held[output] * (tile.pes - sums)
    copies = {t: held * (sums if t == output else tile.pes) for t, held in tile.held.items()}
    step = energies.units(3 * energies.rf + energies.network + energies.mac)
    energy = sending_energy(energies, copies, tile.sent)
    return ArrayPass(tile.trips, reduction, tile.sent, energy, reduction * step)


@dataclass(frozen=True, slots=True)
class Transfers:
    """Moving tiles w between DRAM and scratchpad, by tensor."""

    words: NumbersByName
    """Words of a tile."""
    cycles: NumbersByName
    """Cycles of its bursts."""


def transfers(
    layer: StoredLayer,
    machine: BurstMachine,
    tile: NumbersByName,
    whole: NumbersByName,
    numbers: NumberSystem,
) -> Transfers:
    """Bursts of tiles between DRAM and scratchpad.

    A burst goes on as long as all inner dimensions are complete, compared with those in memory.

    Parameters
    ----------
    layer : StoredLayer
        Its tensors, with their extents in memory.
    machine : BurstMachine
        Setup cycles of a burst, and cycles of a word.
    tile : Mapping of str to number
        Extents of the scratchpad's tile.
    whole : Mapping of str to number
        Padded extents of all loops.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    Transfers
        Words and cycles, by tensor.
    """
    one = constant(1, numbers)
    divisor = lcm(machine.dma_setup.denominator, machine.dma_word.denominator)
    setup, word = int(machine.dma_setup * divisor), int(machine.dma_word * divisor)
    words, cycles = {}, {}
    for access in layer.nest.accesses:
        length, bursts, broken = one, one, 0 * one
        boxes, tensors = access.sides(tile), layer.kept(access, whole, numbers)
        for extent, full in zip(reversed(boxes), reversed(tensors), strict=True):
            length, bursts = (
                length * (1 + (1 - broken) * (extent - 1)),
                bursts * (1 + broken * (extent - 1)),
            )
            broken = numbers.maximum(broken, numbers.minimum(full - extent, one))
        words[access.tensor] = length * bursts
        cycles[access.tensor] = bursts * numbers.ceil_div(
            setup + word * length, constant(divisor, numbers)
        )
    return Transfers(words, cycles)
