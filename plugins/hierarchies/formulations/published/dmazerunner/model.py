"""The published model: cycles and energy of a mapping onto DRAM, a scratchpad, register files and
PEs, quirks and all.

Plain arithmetic in any number system, from S. Dave, Y. Kim, S. Avancha, K. Lee, A. Shrivastava,
"dMazeRunner: Executing Perfectly Nested Loops on Dataflow Accelerators" (TECS 2019), its thesis and
its release; ``docs/published-models.md`` says where it is wrong about hardware. Words are the
machine's, cycles of the accelerator's clock, energy is in pJ.

Every loop has a factor at DRAM, at the scratchpad (SPM), at the register files (RF) and over PEs. A
tile of the PEs is u = RF · PEs, one of the scratchpad w = u · SPM. No loop may be irrelevant to two
tensors (`StoredLayer`): then at most one tensor is reused at a level, and what the release states
case by case is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.design import MetricsAndParts
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    ORDERED,
    RF,
    SLOTS,
    SPATIAL,
    SPM,
    BurstMachine,
    Capacities,
    Energies,
    StoredLayer,
    constant,
    covered,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    ArrayTile,
    Transfers,
    array_pass,
    operation,
    transfers,
)


@dataclass(frozen=True, slots=True)
class Reuse:
    """Trips in which a level's loops let tensors stay: its trips = reused · times for each."""

    trips: Any
    """Product of the level's loops."""
    reused: NumbersByName
    """By tensor, successive trips that work on one tile."""
    times: NumbersByName
    """By tensor, how often a tile is changed."""


def reuse(
    layer: StoredLayer, trips: NumbersByName, order: Sequence[str], numbers: NumberSystem
) -> Reuse:
    """Reuse by an order of loops: those inside the innermost that indexes a tensor.

    Parameters
    ----------
    layer : StoredLayer
        Says which loops index each tensor.
    trips : Mapping of str to number
        Trips of the level's loops.
    order : Sequence of str
        The loops, outermost first.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    Reuse
        By tensor.
    """
    one = constant(1, numbers)
    reused, times = {}, {}
    for access in layer.nest.accesses:
        stays, changes, moved, own = one, one, 0 * one, layer.indexing[access.tensor]
        for loop in reversed(order):
            n = trips[loop]
            if loop in own:
                changes = changes * n
                moved = numbers.maximum(moved, numbers.minimum(n - 1, one))
            else:
                stays, changes = (
                    stays * (1 + (1 - moved) * (n - 1)),
                    changes * (1 + moved * (n - 1)),
                )
        reused[access.tensor], times[access.tensor] = stays, changes
    return Reuse(layer.product(trips), reused, times)


def chosen(options: Sequence[Reuse], choice: Any, numbers: NumberSystem) -> Reuse:
    """The reuse by the order whose number, from 1, a quantity gives; in any number system.

    Parameters
    ----------
    options : sequence of Reuse
        The reuse by each order that a level offers.
    choice : number
        The number of an order, from 1.
    numbers : NumberSystem
        The number system.
    """
    one = constant(1, numbers)
    picked = [
        one - numbers.minimum(numbers.maximum(choice - k, k - choice), one)
        for k in range(1, len(options) + 1)
    ]
    names = options[0].times
    return Reuse(
        options[0].trips,
        {
            name: sum(p * option.reused[name] for p, option in zip(picked, options, strict=True))
            for name in names
        },
        {
            name: sum(p * option.times[name] for p, option in zip(picked, options, strict=True))
            for name in names
        },
    )


def run(
    layer: StoredLayer,
    machine: BurstMachine,
    one_pass: ArrayPass,
    moved: Transfers,
    spm: Reuse,
    dram: Reuse,
    sums: Any,
    numbers: NumberSystem,
) -> MetricsAndParts:
    """The run of a mapping: cycles, energy without the multiply-accumulates in units of 1 / grain
    pJ, and words between DRAM and scratchpad; and what they are made of, by name.

    A tensor that stays for all trips of the scratchpad's loops and for several of DRAM's is
    *skipped*: it moves on only with DRAM's loops. What is not reused moves in every trip, and
    computing waits for it (quirk 1).

    Parameters
    ----------
    layer : StoredLayer
        Its tensors; the output comes back where its sums go on.
    machine : BurstMachine
        The energy of a word of DRAM, and the grain of energies.
    one_pass : ArrayPass
        What one tile takes on the PEs, with words already in the scratchpad.
    moved : Transfers
        Transfers of tiles.
    spm, dram : Reuse
        Reuse by the orders of the scratchpad and of DRAM.
    sums : number
        The product of the DRAM factors of the output's loops.
    numbers : NumberSystem
        The number system.
    """
    zero, one = constant(0, numbers), constant(1, numbers)
    output = layer.nest.output.tensor
    tensors = [access.tensor for access in layer.nest.accesses]
    held = {t: numbers.minimum(dram.reused[t] - 1, one) for t in tensors}
    skipped = {t: (1 - numbers.minimum(spm.times[t] - 1, one)) * held[t] for t in tensors}
    fresh = {t: (1 - skipped[t]) * (1 - numbers.minimum(spm.reused[t] - 1, one)) for t in tensors}
    staying = {t: 1 - skipped[t] - fresh[t] for t in tensors}

    # a pass over the scratchpad's tiles
    sent = numbers.maximum(*(fresh[t] * one_pass.sending[t] for t in tensors))
    current = numbers.maximum((1 - fresh[output]) * one_pass.computing, sent)
    cycles = spm.trips * (current + fresh[output] * one_pass.work)
    for t in tensors:
        late = numbers.maximum(one_pass.sending[t] - current, zero) + (
            one_pass.work if t == output else 0
        )
        cycles = cycles + staying[t] * spm.times[t] * late

    # the bursts beside it
    bursts = {t: (1 - held[t]) * moved.cycles[t] * (2 if t == output else 1) for t in tensors}
    first = sum(bursts.values())
    base = numbers.maximum(first, cycles)
    latency, waiting = dram.trips * base, {}
    for t in tensors:
        drain = skipped[t] * one_pass.work if t == output else 0
        fill = skipped[t] * numbers.maximum(one_pass.sending[t] - sent, zero)
        load = numbers.maximum(first + moved.cycles[t], cycles + drain, base) - base
        store = (
            numbers.maximum(first + (moved.cycles[t] if t == output else 0), cycles + fill, base)
            - base
        )
        waiting[t] = held[t] * dram.times[t] * (load + store)
        latency = latency + waiting[t]

    energy = zero
    for t in tensors:
        reduced = one_pass.reducing if t == output else 0
        passes = (1 - skipped[t]) * spm.times[t] * dram.trips
        energy = energy + passes * (one_pass.energy[t] * (2 if t == output else 1) + reduced)
        energy = energy + skipped[t] * dram.times[t] * (one_pass.energy[t] + reduced)
    words = sum(words_moved(layer, moved.words, dram, sums).values())
    off_chip = words * machine.energies.units(machine.energies.dram)
    parts = {
        "DMA": first,
        "array": cycles,
        DRAM: off_chip,
        SPM: energy,
        "computing": one_pass.computing,
    }
    parts |= {f"network {t}": one_pass.sending[t] for t in tensors} | {
        f"DMA {t}": bursts[t] for t in tensors
    }
    parts |= {f"waiting for {t}": waiting[t] for t in tensors}
    parts |= {f"{DRAM} {t}": moved.words[t] for t in tensors} | {
        f"{SPM} {t}": one_pass.energy[t] for t in tensors
    }
    return {"latency": latency, "energy": energy + off_chip, "dram_words": words}, parts


def words_moved(layer: StoredLayer, words: NumbersByName, dram: Reuse, sums: Any) -> dict[str, Any]:
    """Words between DRAM and scratchpad; outputs leave when they change, and come back later.

    Parameters
    ----------
    layer : StoredLayer
        Says which tensor is the output.
    words : Mapping of str to number
        Words of tiles, by tensor.
    dram : Reuse
        Reuse by DRAM's order.
    sums : number
        The product of the DRAM factors of the output's loops.

    Returns
    -------
    dict
        Words by tensor.
    """
    output = layer.nest.output.tensor
    return {
        t: each * (2 * dram.times[t] - sums if t == output else dram.times[t])
        for t, each in words.items()
    }


def computing_energy(layer: StoredLayer, energies: Energies, whole: NumbersByName) -> Any:
    """Energy of multiply-accumulates and of their register file accesses, of the padded problem.

    Parameters
    ----------
    layer : StoredLayer
        Its loops.
    energies : Energies
        Those of a multiply-accumulate and of a register file access.
    whole : Mapping of str to number
        Padded extents of all loops.

    Returns
    -------
    number
        In units of 1 / grain pJ.
    """
    return layer.product(whole) * operation(energies)


def whole_energy(energies: Energies, computing: Any, moving: Any, numbers: NumberSystem) -> Any:
    """Energy of computing and moving, as the release rounds it.

    Parameters
    ----------
    energies : Energies
        The grain: energies are whole numbers of 1 / grain pJ.
    computing, moving : number
        Energies in units of 1 / grain pJ.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    number
        Whole pJ.
    """
    return numbers.ceil_div(
        2 * (computing + moving) - energies.grain, constant(2 * energies.grain, numbers)
    )


def reuses(
    layer: StoredLayer,
    at: Mapping[str, NumbersByName],
    values: NumbersByName,
    numbers: NumberSystem,
    orders: Mapping[str, Sequence[Sequence[str]]],
) -> dict[str, Reuse]:
    """Reuse at every level.

    Parameters
    ----------
    layer : StoredLayer
        Says which loops index each tensor.
    at : Mapping of str to Mapping
        Factors of loops, by slot.
    values : Mapping of str to number
        Quantities, of which some say which of several orders a level has.
    numbers : NumberSystem
        The number system.
    orders : Mapping of str to Sequence
        The orders that each level offers.

    Returns
    -------
    dict
        Reuse by level.
    """
    by_level = {}
    for level in ORDERED:
        choice = 1 if len(orders[level]) == 1 else values[f"order.{level}"]
        if isinstance(choice, int | Fraction):
            by_level[level] = reuse(layer, at[level], orders[level][int(choice) - 1], numbers)
        else:
            options = [reuse(layer, at[level], order, numbers) for order in orders[level]]
            by_level[level] = chosen(options, choice, numbers)
    return by_level


def used(
    layer: StoredLayer, machine: Capacities, at: Mapping[str, NumbersByName], numbers: NumberSystem
) -> dict[str, Any]:
    """Use of capacities by a mapping.

    Parameters
    ----------
    layer : StoredLayer
        Its tensors, whose tiles take words.
    machine : Capacities
        The capacities.
    at : Mapping of str to Mapping
        Factors of loops, by slot.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    dict
        Use by metric.
    """
    bank, tile = constant(machine.bank_words, numbers), covered(at, SPM, RF, SPATIAL)
    return {
        "pes": layer.product(at[SPATIAL]),
        "rf_words": sum(layer.words(at[RF]).values()),
        "spm_banks": sum(numbers.ceil_div(n, bank) for n in layer.words(tile).values()),
    }


#: What mappings cost where the scratchpad's and DRAM's loops let so much stay: every metric, and
#: the parts of these by name.
Pricing = Callable[[Reuse, Reuse], MetricsAndParts]


def pricing(
    layer: StoredLayer,
    machine: BurstMachine,
    at: Mapping[str, NumbersByName],
    numbers: NumberSystem,
) -> Pricing:
    """Prepare the costs of mappings with given factors.

    Parameters
    ----------
    layer : StoredLayer
        Its loops and tensors, with their extents in memory.
    machine : BurstMachine
        PEs, capacities, rates and energies.
    at : Mapping of str to Mapping
        Factors of loops, by slot.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    Pricing
        The metrics, and their parts by name, for reuse at both levels.
    """
    whole = covered(at, *SLOTS)
    one_pass = array_pass(layer, machine.energies, ArrayTile.of(layer, at))
    moved = transfers(layer, machine, covered(at, SPM, RF, SPATIAL), whole, numbers)
    sums, taken = layer.product(at[DRAM], layer.nest.output), used(layer, machine, at, numbers)
    computing = computing_energy(layer, machine.energies, whole)

    def price(spm: Reuse, dram: Reuse) -> MetricsAndParts:
        totals, parts = run(layer, machine, one_pass, moved, spm, dram, sums, numbers)
        energy = whole_energy(machine.energies, computing, totals["energy"], numbers)
        totals |= {"energy": energy, "edp": energy * totals["latency"]}
        return totals | taken, {
            **parts,
            "latency": totals["latency"],
            "energy": energy,
            RF: computing,
        }

    return price
