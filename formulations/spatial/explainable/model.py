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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.files.messages import refuse
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.design import MetricsAndParts
from ithaca.formulations.spatial.architecture import NETWORKS, Architecture, OperandNetworks
from ithaca.formulations.spatial.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
    Capacities,
    Energies,
    StoredLayer,
    stated_field,
)
from ithaca.formulations.spatial.dmazerunner.model import (
    Pricing,
    Reuse,
    computing_energy,
    whole_energy,
    words_moved,
)
from ithaca.formulations.spatial.dmazerunner.model import used as capacities_used
from ithaca.formulations.spatial.dmazerunner.passes import array_pass, reducing

#: The metrics of groups, ``input_groups`` and so on, and a network that sends tiles to these.
GROUPS = {"input": "input", "weight": "weight", "output": "write"}


@dataclass(frozen=True, slots=True)
class Machine(Capacities):
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
    def of(cls, architecture: Architecture) -> Machine:
        """The figures of an architecture; `InputError` if it lacks one."""
        network = stated_field(architecture, "explainable", "network", architecture.network)
        dram, spm, rf = architecture.levels
        if spm.words is None or rf.words is None or dram.shared_bandwidth is None:
            no_words = SPM if spm.words is None else RF if rf.words is None else None
            lacks = f"{no_words} has no capacity" if no_words else f"{DRAM} has no shared_bandwidth"
            raise refuse(
                architecture.name,
                f"{lacks}; allowed in edition explainable: entries, and words a cycle of {DRAM}",
            )
        sizes = (
            rf.instances,
            rf.usable(rf.words),
            spm.usable(spm.words) // network.bank_words,
            network.bank_words,
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


@dataclass(frozen=True, slots=True)
class ArrayTile:
    """One tile on the PEs."""

    computing: Any
    """Cycles of the multiply-accumulates."""
    reducing: Any
    """Cycles of the reduction over PEs, whenever outputs leave."""
    bits: NumbersByName
    """By network, bits that a link carries one after the other when the tile changes."""
    energy: NumbersByName
    """By tensor, of sending its tile once, in units of 1 / grain pJ."""
    reduction: Any
    """Of the reduction over PEs, likewise."""


def array_tile(
    layer: StoredLayer,
    machine: Machine,
    trips: Any,
    pes: Any,
    groups: NumbersByName,
    held: NumbersByName,
    sent: NumbersByName,
    numbers: NumberSystem,
) -> ArrayTile:
    """Costs of a tile of the PEs.

    Parameters
    ----------
    layer : StoredLayer
        Its tensors, and which is the output.
    machine : Machine
        Links of each network, and bits of a word.
    trips : number
        The product of the register files' factors.
    pes : number
        The product of the factors over PEs.
    groups : Mapping of str to number
        The same of the loops of each tensor: PEs with tiles of their own.
    held : Mapping of str to number
        Words of a PE's tile, by tensor.
    sent : Mapping of str to number
        Words of the tile of all PEs, by tensor.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    ArrayTile
        Cycles of computing and of every network, and energies.
    """
    bits, output = {}, layer.nest.output.tensor
    for name, tensor in networks(layer).items():
        turns = numbers.ceil_div(
            groups[tensor], numbers.number(Fraction(machine.network.links(name)))
        )
        bits[name] = turns * held[tensor] * machine.word_bits
    one_pass = array_pass(layer, machine.energies, trips, pes, groups[output], held, sent)
    added = reducing(held[output], pes, groups[output])
    return ArrayTile(trips, added, bits, one_pass.energy, one_pass.reducing)


def changes(spm: Reuse, dram: Reuse, tensor: str, numbers: NumberSystem) -> Any:
    """How often PEs get another tile of a tensor: what stays for all of the scratchpad's trips
    changes with DRAM's alone.

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


def costs(
    layer: StoredLayer,
    machine: Machine,
    tile: ArrayTile,
    trips: Any,
    changed: NumbersByName,
    distinct: Any,
    words: Any,
    computed: Any,
    numbers: NumberSystem,
) -> MetricsAndParts:
    """Cycles and energy of the whole run, in whole cycles and pJ.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output.
    machine : Machine
        Bandwidth of DRAM, and widths of the networks.
    tile : ArrayTile
        A tile of the PEs.
    trips : number
        How many tiles the PEs have.
    changed : Mapping of str to number
        How often those of each tensor change.
    distinct : number
        Tiles of the output that come for the first time, and need not be read.
    words : number
        Words that the DMA moves.
    computed : number
        Energy of all multiply-accumulates, in units of 1 / grain pJ.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    tuple of dict
        Cycles of the PEs, the slowest network, the DMA, and the largest of these, and energy; and
        by part.
    """
    output, width = layer.nest.output.tensor, numbers.number(Fraction(machine.network.width))
    counts = {
        name: changed[tensor] - (distinct if name == "read" else 0)
        for name, tensor in networks(layer).items()
    }
    computing = tile.computing * trips + tile.reducing * changed[output]
    each = {
        f"network {name}": numbers.ceil_div(tile.bits[name] * count, width)
        for name, count in counts.items()
    }
    sending = numbers.maximum(*each.values())
    top, bottom = machine.bandwidth.numerator, machine.bandwidth.denominator
    moved = numbers.ceil_div(words * bottom, numbers.number(Fraction(top)))
    latency = numbers.maximum(computing, sending, moved)
    energies = machine.energies
    times = {**changed, output: 2 * changed[output] - distinct}
    scratchpad = {f"{SPM} {tensor}": tile.energy[tensor] * n for tensor, n in times.items()}
    scratchpad[f"{SPM} {output}"] = scratchpad[f"{SPM} {output}"] + tile.reduction * changed[output]
    off_chip = words * energies.units(energies.dram)
    energy = whole_energy(energies, computed, sum(scratchpad.values()) + off_chip, numbers)
    totals = {
        "latency": latency,
        "energy": energy,
        "edp": energy * latency,
        "compute_cycles": computing,
        "network_cycles": sending,
        "dma_cycles": moved,
    }
    parts = {"computing": computing, "DMA": moved, RF: computed, DRAM: off_chip}
    return totals, {**parts, **each, **scratchpad, "latency": latency, "energy": energy}


def used(
    layer: StoredLayer, machine: Machine, at: Mapping[str, NumbersByName], numbers: NumberSystem
) -> dict[str, Any]:
    """Use of capacities by a mapping, by metric; it is given by factors by slot.

    Parameters
    ----------
    layer : StoredLayer
        The tensors.
    machine : Machine
        The capacities.
    at : mapping of str to NumbersByName
        Factors by slot and loop.
    numbers : NumberSystem
        The number system.
    """
    roles = networks(layer)
    tensors = {access.tensor: access for access in layer.nest.accesses}
    groups = {
        role: layer.product(at[SPATIAL], tensors[roles[network]])
        for role, network in GROUPS.items()
    }
    return capacities_used(layer, machine, at, numbers) | {
        f"{role}_groups": count for role, count in groups.items()
    }


def pricing(
    layer: StoredLayer, machine: Machine, at: Mapping[str, NumbersByName], numbers: NumberSystem
) -> Pricing:
    """Costs of mappings with given factors, by slot (see `dmazerunner.model.pricing`).

    Parameters
    ----------
    layer : StoredLayer
        The tensors, and which is the output.
    machine : Machine
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
    nest = layer.nest
    array = {loop: at[RF][loop] * at[SPATIAL][loop] for loop in nest.loops}
    tile = {loop: at[SPM][loop] * array[loop] for loop in nest.loops}
    whole = {loop: at[DRAM][loop] * tile[loop] for loop in nest.loops}
    pes = layer.product(at[SPATIAL])
    groups = {access.tensor: layer.product(at[SPATIAL], access) for access in nest.accesses}
    held = {access.tensor: layer.words(access, at[RF]) for access in nest.accesses}
    sent = {access.tensor: layer.words(access, array) for access in nest.accesses}
    words = {access.tensor: layer.words(access, tile) for access in nest.accesses}
    sums, taken = layer.product(at[DRAM], nest.output), used(layer, machine, at, numbers)
    on_array = array_tile(layer, machine, layer.product(at[RF]), pes, groups, held, sent, numbers)
    distinct = layer.product(at[SPM], nest.output) * sums
    computed = computing_energy(layer, machine.energies, whole)

    def price(spm: Reuse, dram: Reuse) -> MetricsAndParts:
        moved = words_moved(layer, words, dram, sums)
        changed = {tensor: changes(spm, dram, tensor, numbers) for tensor in held}
        off_chip = sum(moved.values())
        totals, parts = costs(
            layer,
            machine,
            on_array,
            spm.trips * dram.trips,
            changed,
            distinct,
            off_chip,
            computed,
            numbers,
        )
        of_words = {f"DMA {tensor}": each for tensor, each in moved.items()}
        return {**totals, "dram_words": off_chip, **taken}, {**parts, **of_words}

    return price
