"""The machine of the explainable edition, walked trip by trip, and all of its mappings."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import ceil, prod

from ithaca.plugins.hierarchies.formulations.architecture import OperandNetworks
from ithaca.plugins.hierarchies.formulations.library import find_architecture

MACHINE = find_architecture("explainable-edge")


def small_machine(random):
    """A machine so small that its capacities, links and bandwidths bind."""
    dram, spm, rf = MACHINE.levels
    pes, bank = random.choice((2, 4, 6)), random.choice((2, 8))
    levels = (
        replace(
            dram,
            shared_bandwidth=Fraction(random.choice((1, 3, 16)), random.choice((2, 5))),
            read_energy=Fraction(random.choice((0, 5, 200))),
        ),
        replace(
            spm,
            words=2 * bank * random.choice((4, 8, 20)),
            read_energy=Fraction(random.choice((0, 9, 243)), random.choice((1, 8))),
        ),
        replace(
            rf,
            words=random.choice((4, 9, 30)),
            instances=pes,
            mesh_x=pes,
            mesh_y=1,
            read_energy=Fraction(random.choice((1, 96)), 100),
        ),
    )
    links = {
        f"{name}_links": random.choice((1, 2, 5)) for name in ("input", "weight", "read", "write")
    }
    turns = {
        f"{name}_virtual": random.choice((1, 3, 8)) for name in ("input", "weight", "read", "write")
    }
    network = OperandNetworks(
        width=random.choice((4, 16, 48)),
        bank_words=bank,
        energy=Fraction(random.choice((0, 2, 7)), 3),
        **links,
        **turns,
    )
    energy = Fraction(random.choice((0, 3)), 40)
    compute = replace(MACHINE.compute, instances=pes, mesh_x=pes, mesh_y=1, energy=energy)
    return replace(MACHINE, levels=levels, compute=compute, network=network)


def words(nest, tile):
    """Words of the boxes that a tile of iterations touches."""
    found = {}
    for access in nest.accesses:
        found[access.tensor] = prod(
            1 + sum(c * (tile[loop] - 1) for loop, c in subscript.terms) for subscript in access
        )
    return found


def walked(nest, loops):
    """The number of times that tiles of tensors change when loops run, counted trip by trip."""
    last = {}
    found = dict.fromkeys((access.tensor for access in nest.accesses), 0)
    for trip in product(*(range(n) for _, n in loops)):
        for access in nest.accesses:
            here = tuple(
                at for (loop, _), at in zip(loops, trip, strict=True) if access.indexed_by(loop)
            )
            if last.get(access.tensor) != here:
                last[access.tensor], found[access.tensor] = here, found[access.tensor] + 1
    return found


def cost(
    nest,
    machine,
    factors,
    outer,
    inner,
):
    """Metrics of a mapping, (d, p, r, s) by loop and orders of DRAM's and the scratchpad's loops,
    and whether it fits."""
    network, output = machine.network, nest.output
    dram_level, spm, rf = machine.levels
    d, p, r, s = ({loop: each[slot] for loop, each in factors.items()} for slot in range(4))
    held = words(nest, r)
    tile = words(nest, {loop: p[loop] * r[loop] * s[loop] for loop in d})
    dram = [(loop, d[loop]) for loop in outer]
    changes = walked(nest, [*dram, *((loop, p[loop]) for loop in inner)])
    moves = walked(nest, dram)
    groups = {a.tensor: prod(s[loop] for loop in d if a.indexed_by(loop)) for a in nest.accesses}
    pes, trips = prod(s.values()), prod(p.values()) * prod(d.values())
    first = prod(p[loop] * d[loop] for loop in d if output.indexed_by(loop))
    added = held[output.tensor] * groups[output.tensor] * (pes // groups[output.tensor] - 1)
    compute = prod(r.values()) * trips + added * changes[output.tensor]
    tensors = {
        "input": nest.inputs[0].tensor,
        "weight": nest.inputs[1].tensor,
        "read": output.tensor,
        "write": output.tensor,
    }
    sent, turns_fit = [], True
    for name, tensor in tensors.items():
        links, virtual = getattr(network, f"{name}_links"), getattr(network, f"{name}_virtual")
        turns = ceil(Fraction(groups[tensor], links))
        turns_fit &= groups[tensor] <= links * virtual
        count = changes[tensor] - (first if name == "read" else 0)
        sent.append(ceil(Fraction(turns * held[tensor] * 16 * count, network.width)))
    drained = prod(d[loop] for loop in d if output.indexed_by(loop))
    off_chip = sum(tile[t] * n for t, n in moves.items()) + tile[output.tensor] * (
        moves[output.tensor] - drained
    )
    dma = ceil(off_chip / dram_level.shared_bandwidth)
    banks = sum(ceil(Fraction(each, network.bank_words)) for each in tile.values())
    spread = words(nest, {loop: r[loop] * s[loop] for loop in d})
    mac, register, hop = machine.compute.energy, rf.read_energy, network.energy
    energy = prod(prod(each) for each in factors.values()) * (mac + 4 * register)
    for tensor, times in changes.items():
        takers, sendings = pes, times
        if tensor == output.tensor:  # sums come back, but for the first; PEs add up theirs
            takers, sendings = groups[tensor], 2 * times - first
            energy += times * added * (2 * register + register + hop + mac)
        energy += sendings * held[tensor] * takers * hop
        energy += sendings * spread[tensor] * spm.read_energy
    energy += off_chip * dram_level.read_energy
    whole = ceil(energy - Fraction(1, 2))
    latency = max(compute, max(sent), dma)
    found = {
        "latency": latency,
        "energy": whole,
        "edp": whole * latency,
        "compute_cycles": compute,
        "network_cycles": max(sent),
        "dma_cycles": dma,
        "pes": pes,
        "rf_words": sum(held.values()),
        "spm_banks": banks,
        "dram_words": off_chip,
        "input_groups": groups[tensors["input"]],
        "weight_groups": groups[tensors["weight"]],
        "output_groups": groups[output.tensor],
    }
    fits = (
        banks <= spm.words // 2 // network.bank_words
        and sum(held.values()) <= rf.words
        and pes <= rf.instances
    )
    return found, fits and turns_fit


def mappings(nest, *, exact):
    """All mappings: of loops of one trip, the order does not matter."""
    each = []
    for _, n in nest.extents:
        rows = [
            (ceil(Fraction(n, p * r * s)), p, r, s)
            for p, r, s in product(range(1, n + 1), repeat=3)
            if p * r * s < 2 * n
        ]
        each.append([row for row in rows if not exact or prod(row) == n])
    busy = [loop for loop, n in nest.extents if n > 1]
    rest = tuple(loop for loop in nest.loops if loop not in busy)
    orders = [(*rest, *order) for order in permutations(busy)]
    for rows in product(*each):
        factors = dict(zip(nest.loops, rows, strict=True))
        outers = {tuple(loop for loop in order if factors[loop][0] > 1): order for order in orders}
        inners = {tuple(loop for loop in order if factors[loop][1] > 1): order for order in orders}
        for outer, inner in product(outers.values(), inners.values()):
            yield factors, outer, inner
