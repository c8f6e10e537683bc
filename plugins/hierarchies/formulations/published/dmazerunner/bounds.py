"""Lower bounds of the parts of a run: what moves between scratchpad and PEs, and what moves between
DRAM and scratchpad.

Inner part. In every mapping at most one tensor a is reused at the scratchpad's loops
(`StoredLayer`); of the others every trip of the loops outside the PEs moves a tile. a's moves at
least once for every combination of its own loops' trips q = ceil(extent / u): the product of p and
d is at least q. A skipped output moves once, any other twice. Cycles: with the output not reused,
communication and computing are added; otherwise the larger counts, and computing waits for
write-backs. Whether a is skipped makes no difference to the bound: then it moves beside DRAM's
loops, as often at least. All of it grows with a tile's words, trips and cycles: lower bounds of
these give one of the cost. Work that all PEs share evenly is another.

Outer part. With b reused at DRAM's loops, latency is at least the cycles of all bursts: it is Σ d ·
base + (times of b) · (max(first + g, …, base) − base + …) and does not fall with base, which is at
least the bursts of the other tensors.
"""

from __future__ import annotations

from typing import Any

from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    BurstMachine,
    StoredLayer,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    Transfers,
    operation,
)


def inner_parts(
    layer: StoredLayer,
    machine: BurstMachine,
    one_pass: ArrayPass,
    trips: Any,
    whole: Any,
    own: NumbersByName,
) -> list[tuple[Any, Any]]:
    """Energy and cycles, for each tensor that may be reused.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output, whose sums come back.
    machine : BurstMachine
        Energies of accesses, and PEs that share the work.
    one_pass : ArrayPass
        Its cycles, and its energies by tensor.
    trips : number
        The product of the trips outside the PEs.
    whole : number
        Multiply-accumulates.
    own : Mapping of str to number
        The product of the trips of the loops of each tensor.

    Returns
    -------
    list of tuple
        Energy (pJ, less half a pJ for rounding) and cycles.
    """
    output = layer.nest.output.tensor
    fixed = whole * operation(machine.energies)
    moving = {
        t: energy * 2 + one_pass.reducing if t == output else energy
        for t, energy in one_pass.energy.items()
    }
    always = {t: trips * energy for t, energy in moving.items()}
    shared = whole / machine.pes
    parts = []
    for a in own:
        once = one_pass.energy[a] + (one_pass.reducing if a == output else 0)
        energy = fixed + sum(always[t] for t in own if t != a) + own[a] * once
        sending = NUMPY.maximum(*(one_pass.sending[t] for t in own if t != a))
        current = NUMPY.maximum(sending, one_pass.computing) if a == output else sending
        late = NUMPY.maximum(one_pass.sending[a] - current, 0.0)
        if a == output:
            cycles = NUMPY.maximum(trips * current + own[a] * (one_pass.work + late), shared)
        else:
            cycles = trips * sending + NUMPY.maximum(trips * one_pass.work, shared) + own[a] * late
        parts.append((energy / machine.energies.grain - 0.5, cycles))
    return parts


def outer_parts(
    layer: StoredLayer, machine: BurstMachine, moved: Transfers, trips: Any, own: NumbersByName
) -> list[tuple[Any, Any, Any]]:
    """Energy, cycles and words of transfers, for each tensor that may be reused.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output, which is moved twice.
    machine : BurstMachine
        The energy of a word of DRAM (pJ).
    moved : Transfers
        Transfers of tiles.
    trips : number
        The product of DRAM's trips.
    own : Mapping of str to number
        The product of DRAM's trips of the loops of each tensor.

    Returns
    -------
    list of tuple
        Energy (pJ), cycles and words.
    """
    output = layer.nest.output.tensor
    parts = []
    for b in own:
        times = {t: own[t] if t == b else trips for t in own}
        words = sum(
            moved.words[t] * (2 * times[t] - own[t] if t == output else times[t]) for t in own
        )
        cycles = sum(moved.cycles[t] * times[t] * (2 if t == output else 1) for t in own)
        parts.append((words * float(machine.energies.dram), cycles, words))
    return parts
