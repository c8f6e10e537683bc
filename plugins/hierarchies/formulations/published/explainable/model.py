"""Cycles and energy of a mapping onto an edge accelerator whose operands have networks of their
own, in any number system.

After S. Dave, T. Nowatzki, A. Shrivastava, "Explainable-DSE" (ASPLOS 2023). Latency is the largest
of three: what PEs compute, what networks send to them and back, what the DMA moves. All of it goes
on at once, over every pass (a trip of DRAM's loops); passes are alike: what only some of them move
is counted evenly. Levels, tiles, what fits, what loops let stay, and cycles of PEs are those of
edition `dmazerunner`.

The networks of inputs, weights, partial sums to the PEs, and outputs from them have links of one
width. PEs that hold the same tile are a group; one link sends a tile to a whole group, and of more
groups than links several share a link, taking turns.

Energy is dMazeRunner's, which the paper asks for it, with the counts above: every multiply-
accumulate with its register file accesses; a tile that is sent, once out of the scratchpad and at
every PE; reductions; words of DRAM. In whole pJ, like there. Nothing leaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ithaca.files.messages import refuse
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.design import MetricsAndParts
from ithaca.plugins.hierarchies.formulations.architecture import (
    NETWORKS,
    Architecture,
    OperandNetworks,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SLOTS,
    SPATIAL,
    SPM,
    Capacities,
    Energies,
    StoredLayer,
    covered,
    stated_field,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import (
    Pricing,
    Reuse,
    computing_energy,
    whole_energy,
    words_moved,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import (
    used as capacities_used,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    ArrayTile,
    array_pass,
)


@dataclass(frozen=True, slots=True)
class NetworkMachine(Capacities):
    """The figures of an accelerator that the model reads."""

    network: OperandNetworks
    """Its networks."""
    word_bits: int
    """Bits of a word."""
    bandwidth: Fraction
    """Words that the DMA moves a cycle, either way."""
    energies: Energies
    """Energies of accesses and operations."""

    @classmethod
    def of(cls, architecture: Architecture) -> NetworkMachine:
        """The figures of an architecture; `InputError` if it lacks one."""
        network = stated_field(architecture, "explainable", "network", architecture.network)
        sizes = cls.sizes(architecture, "explainable", network.bank_words)
        dram, spm, rf = architecture.levels
        if dram.shared_bandwidth is None:
            raise refuse(
                architecture.name,
                f"{DRAM} has no shared_bandwidth; allowed in edition explainable: words a cycle",
            )
        energies = Energies(
            architecture.compute.energy,
            rf.read_energy,
            network.energy,
            spm.read_energy,
            dram.read_energy,
        )
        return cls(*sizes, network, rf.word_bits, dram.shared_bandwidth, energies)

    @property
    def limits(self) -> dict[str, int]:
        """The most that mappings may use, by metric."""
        network, most = self.network, Capacities.limits.__get__(self)
        groups = {name: network.links(name) * network.virtual(name) for name in NETWORKS}
        outputs = min(groups.pop("read"), groups.pop("write"))
        return {
            **most,
            **{f"{name}_groups": count for name, count in groups.items()},
            "output_groups": outputs,
        }


def networks(layer: StoredLayer) -> dict[str, str]:
    """The tensor that each network carries: the nest's first operand is the input, its second the
    weight."""
    output, (first, second) = layer.nest.output.tensor, layer.nest.inputs
    return {"input": first.tensor, "weight": second.tensor, "read": output, "write": output}


def grouped(layer: StoredLayer) -> dict[str, str]:
    """The tensor of which the metrics of groups, ``input_groups`` and so on, count PEs."""
    carried = networks(layer)
    return {"input": carried["input"], "weight": carried["weight"], "output": carried["write"]}


def carrying(
    layer: StoredLayer, machine: NetworkMachine, tile: ArrayTile, numbers: NumberSystem
) -> ArrayPass:
    """Costs of a pass over a tile of the PEs, which networks carry in bits.

    Parameters
    ----------
    layer : StoredLayer
        Its tensors, and which is the output.
    machine : NetworkMachine
        Links of each network, and bits of a word.
    tile : ArrayTile
        The tile.
    numbers : NumberSystem
        The number system.
    """
    bits = {}
    for name, tensor in networks(layer).items():
        links = numbers.number(Fraction(machine.network.links(name)))
        turns = numbers.ceil_div(tile.groups[tensor], links)
        bits[name] = turns * tile.held[tensor] * machine.word_bits
    return replace(array_pass(layer, machine.energies, tile), sending=bits)


def changes(spm: Reuse, dram: Reuse, tensor: str, numbers: NumberSystem) -> Any:
    """The number of times that PEs get another tile of a tensor: what stays for all of the
    scratchpad's trips changes with DRAM's alone.

    Parameters
    ----------
    spm, dram : Reuse
        Reuse by the orders of the scratchpad and of DRAM.
    tensor : str
        The name of the tensor.
    numbers : NumberSystem
        The number system.
    """
    moves = numbers.minimum(spm.times[tensor] - 1, numbers.number(Fraction(1)))
    return (1 - moves) * dram.times[tensor] + moves * spm.times[tensor] * dram.trips


def cycles(
    layer: StoredLayer,
    machine: NetworkMachine,
    tile: ArrayPass,
    trips: Any,
    changed: NumbersByName,
    distinct: Any,
    words: Any,
    numbers: NumberSystem,
) -> MetricsAndParts:
    """Whole cycles of the whole run: of the PEs, the slowest network, the DMA, and the largest of
    these; and by part.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output.
    machine : NetworkMachine
        Bandwidth of DRAM, and widths of the networks.
    tile : ArrayPass
        A pass over a tile of the PEs.
    trips : number
        How many tiles the PEs have.
    changed : Mapping of str to number
        How often those of each tensor change.
    distinct : number
        Tiles of the output that come for the first time, and need not be read.
    words : number
        Words that the DMA moves.
    numbers : NumberSystem
        The number system.
    """
    output, width = layer.nest.output.tensor, numbers.number(Fraction(machine.network.width))
    counts = {
        name: changed[tensor] - (distinct if name == "read" else 0)
        for name, tensor in networks(layer).items()
    }
    computing = tile.computing * trips + tile.adding * changed[output]
    each = {
        f"network {name}": numbers.ceil_div(tile.sending[name] * count, width)
        for name, count in counts.items()
    }
    sending = numbers.maximum(*each.values())
    top, bottom = machine.bandwidth.numerator, machine.bandwidth.denominator
    moved = numbers.ceil_div(words * bottom, numbers.number(Fraction(top)))
    latency = numbers.maximum(computing, sending, moved)
    totals = {
        "latency": latency,
        "compute_cycles": computing,
        "network_cycles": sending,
        "dma_cycles": moved,
    }
    return totals, {"computing": computing, "DMA": moved, **each, "latency": latency}


def energy(
    layer: StoredLayer,
    machine: NetworkMachine,
    tile: ArrayPass,
    changed: NumbersByName,
    distinct: Any,
    words: Any,
    computed: Any,
    numbers: NumberSystem,
) -> NumbersByName:
    """Energy of the whole run, in whole pJ, and its parts in units of 1 / grain pJ.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output.
    machine : NetworkMachine
        Energies of accesses.
    tile : ArrayPass
        A pass over a tile of the PEs.
    changed : Mapping of str to number
        How often tiles of each tensor change.
    distinct : number
        Tiles of the output that come for the first time, and need not be read.
    words : number
        Words that the DMA moves.
    computed : number
        Energy of all multiply-accumulates, in units of 1 / grain pJ.
    numbers : NumberSystem
        The number system.
    """
    output, energies = layer.nest.output.tensor, machine.energies
    times = {**changed, output: 2 * changed[output] - distinct}
    scratchpad = {f"{SPM} {tensor}": tile.energy[tensor] * n for tensor, n in times.items()}
    scratchpad[f"{SPM} {output}"] = scratchpad[f"{SPM} {output}"] + tile.reducing * changed[output]
    off_chip = words * energies.units(energies.dram)
    whole = whole_energy(energies, computed, sum(scratchpad.values()) + off_chip, numbers)
    return {RF: computed, DRAM: off_chip, **scratchpad, "energy": whole}


def used(
    layer: StoredLayer,
    machine: NetworkMachine,
    at: Mapping[str, NumbersByName],
    numbers: NumberSystem,
) -> dict[str, Any]:
    """Use of capacities by a mapping, by metric; it is given by factors by slot.

    Parameters
    ----------
    layer : StoredLayer
        The tensors.
    machine : NetworkMachine
        The capacities.
    at : mapping of str to NumbersByName
        Factors by slot and loop.
    numbers : NumberSystem
        The number system.
    """
    held = ArrayTile.of(layer, at).groups
    groups = {f"{role}_groups": held[tensor] for role, tensor in grouped(layer).items()}
    return capacities_used(layer, machine, at, numbers) | groups


def pricing(
    layer: StoredLayer,
    machine: NetworkMachine,
    at: Mapping[str, NumbersByName],
    numbers: NumberSystem,
) -> Pricing:
    """Costs of mappings with given factors, by slot (see `dmazerunner.model.pricing`).

    Parameters
    ----------
    layer : StoredLayer
        The tensors, and which is the output.
    machine : NetworkMachine
        Capacities, bandwidths and latencies.
    at : mapping of str to NumbersByName
        Factors by slot and loop.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    Pricing
        From reuse by the orders of scratchpad and DRAM, metrics and their parts.
    """
    output, on_pes = layer.nest.output, ArrayTile.of(layer, at)
    words = layer.words(covered(at, SPM, RF, SPATIAL))
    sums, taken = layer.product(at[DRAM], output), used(layer, machine, at, numbers)
    on_array = carrying(layer, machine, on_pes, numbers)
    distinct = layer.product(at[SPM], output) * sums
    computed = computing_energy(layer, machine.energies, covered(at, *SLOTS))

    def price(spm: Reuse, dram: Reuse) -> MetricsAndParts:
        moved = words_moved(layer, words, dram, sums)
        changed = {tensor: changes(spm, dram, tensor, numbers) for tensor in words}
        off_chip = sum(moved.values())
        run = layer, machine, on_array
        totals, parts = cycles(*run, spm.trips * dram.trips, changed, distinct, off_chip, numbers)
        spent = energy(*run, changed, distinct, off_chip, computed, numbers)
        totals = {**totals, "energy": spent["energy"], "edp": spent["energy"] * totals["latency"]}
        of_words = {f"DMA {tensor}": each for tensor, each in moved.items()}
        return {**totals, "dram_words": off_chip, **taken}, {**parts, **spent, **of_words}

    return price
