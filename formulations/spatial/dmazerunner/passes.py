"""Passes over tiles of the PEs, and transfers of the scratchpad's tiles: the parts of a run."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.spatial.dmazerunner.machine import (
    Energies,
    Machine,
    StoredLayer,
    constant,
)

#: Register file accesses of a multiply-accumulate: two operands read, the sum read and written.
RF_ACCESSES = 4


@dataclass(frozen=True, slots=True)
class ArrayPass:
    """One tile u on the PEs; energies in units of 1 / grain pJ."""

    computing: Any
    """Cycles of the multiply-accumulates."""
    work: Any
    """Cycles with the reduction over PEs."""
    sending: NumbersByName
    """By tensor, cycles of its network: one word a cycle."""
    energy: NumbersByName
    """By tensor, of one trip between scratchpad and register files."""
    reducing: Any
    """Energy of the reduction over PEs."""


def reducing(held: Any, pes: Any, sums: Any) -> Any:
    """Cycles in which PEs add up ``held`` partial sums each, one after the other, to those of
    ``sums`` of them.

    Parameters
    ----------
    held : number
        Words of the output that a PE holds.
    pes : number
        PEs at work.
    sums : number
        The part of them that loops of the output lie along.
    """
    return held * (pes - sums)


def operation(energies: Energies) -> int:
    """Energy of a multiply-accumulate with its register file accesses, in units of 1 / grain pJ."""
    return energies.units(energies.mac + RF_ACCESSES * energies.rf)


def array_pass(
    layer: StoredLayer,
    energies: Energies,
    trips: Any,
    pes: Any,
    sums: Any,
    held: NumbersByName,
    sending: NumbersByName,
) -> ArrayPass:
    """Costs of a pass over a tile of the PEs.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor PEs sum up together.
    energies : Energies
        Those of multiplication, register files, network and scratchpad.
    trips : number
        The product of the register files' factors.
    pes : number
        The product of the factors over PEs.
    sums : number
        The product of those of the output's loops.
    held : Mapping of str to number
        Words of every tensor of a PE.
    sending : Mapping of str to number
        Words of every tensor of the tile.

    Returns
    -------
    ArrayPass
        Cycles, and energies in units of 1 / grain pJ.
    """
    output = layer.nest.output.tensor
    reduction = reducing(held[output], pes, sums)
    network, scratchpad = energies.units(energies.network), energies.units(energies.spm)
    energy = {
        tensor: held[tensor] * (sums if tensor == output else pes) * network + words * scratchpad
        for tensor, words in sending.items()
    }
    step = energies.units(3 * energies.rf + energies.network + energies.mac)
    return ArrayPass(trips, trips + reduction, sending, energy, reduction * step)


@dataclass(frozen=True, slots=True)
class Transfers:
    """Moving tiles w between DRAM and scratchpad, by tensor."""

    words: NumbersByName
    """Words of a tile."""
    cycles: NumbersByName
    """Cycles of its bursts."""


def transfers(
    layer: StoredLayer,
    machine: Machine,
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
    machine : Machine
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
        boxes, tensors = layer.extents_of(access, tile), layer.kept(access, whole, numbers)
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
