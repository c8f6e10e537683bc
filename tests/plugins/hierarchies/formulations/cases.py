"""Cases of memory hierarchies: the tool's own files, and random architectures, nests and
mappings."""

from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path
from tempfile import mkdtemp

from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Slot, slots
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.plugins.hierarchies.exports.timeloop_rules import Lanes, Mapped, Storage, Tensor
from tests.reference import DATA, unpack

#: Statements with windows, strides, holes and none of them.
STATEMENTS = (
    "O[n][m][p][q] += I[n][c][p+r][q+s] * W[m][c][r][s]",
    "O[m][p] += I[c][2*p+r] * W[m][c][r]",
    "O[m][p] += I[c][3*p+2*r] * W[m][c][r]",
    "O[c][p] += I[c][p+r] * W[c][r]",
    "O[i][j] += A[i][k] * B[k][j]",
    "D[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
)


@cache
def golden():
    """The folder with the tool's files and tables."""
    folder = Path(mkdtemp())
    unpack(DATA / "timeloop.tar.xz", folder)
    return folder


def random_nest(rng, sizes=(1, 2, 3, 4, 6)):
    statement = rng.choice(STATEMENTS)
    nest = nest_of(
        statement,
        {loop: rng.choice(sizes) for loop in sorted({c for c in statement if c.islower()})},
    )
    return nest if nest.operations > 1 else random_nest(rng, sizes)


def nest_of(statement, sizes):
    """The nest of a statement; unlike systolic arrays it need not have a loop that vectorises."""
    output, inputs = parse_statement(statement)
    return LoopNest("drawn", tuple(sizes.items()), output, inputs, min(sizes))


def random_architecture(rng, nest, levels=None, *, free=False):
    """Levels with bypasses, meshes, blocks, bandwidths, double-buffering and leaks."""
    tensors = [access.tensor for access in nest.accesses]
    x = y = 1
    found = []
    count = levels or rng.randint(1, 6)
    for place in range(count + 1):
        if place and rng.random() < 0.4:
            x, y = x * rng.choice((1, 2, 3)), y * rng.choice((1, 2))
        mesh = {"instances": x * y, "mesh_x": x, "mesh_y": y}
        if place == count:
            compute = Compute("mac", **mesh, energy=Fraction(rng.randint(0, 4)))
            break
        keeps = (
            frozenset(rng.sample(tensors, rng.randint(0, len(tensors))))
            if place and rng.random() < 0.6
            else None
        )
        rates = [None if rng.random() < 0.4 else Fraction(rng.randint(1, 40), 4) for _ in range(3)]
        energies = {
            name: Fraction(rng.randint(0, 100), 8)
            for name in ("read_energy", "write_energy", "update_energy")
        }
        level = Level(
            f"L{place}",
            words=rng.randint(8, 400) if place else None,
            buffering=Fraction(rng.choice((1, 1, 2))),
            keeps=None if free else keeps,
            read_bandwidth=rates[0],
            write_bandwidth=rates[1],
            shared_bandwidth=rates[2],
            block=rng.choice((1, 1, 4)),
            leak=Fraction(rng.choice((0, 0, 1)), 4),
            **energies,
            **mesh,
        )
        found.append(level)
    return Architecture("random", tuple(found), compute)


def random_mapping(rng, nest, architecture, *, pads=True):
    """Factors, orders and bypasses at random; spatial ones within the mesh."""
    places = slots(architecture)
    factors = {slot: {} for slot in places}
    room = {
        slot: {"x": rng.choice((1, 2, 3)), "y": 2}.get(slot.direction, 1 << 20) for slot in places
    }
    for loop, extent in nest.extents:
        left = extent + (1 if pads and extent > 1 and rng.random() < 0.3 else 0)
        while left > 1:
            slot = rng.choice(places)
            factor = min(f for f in range(2, left + 1) if left % f == 0)
            other = Slot(slot.level, {"x": "y", "y": "x"}.get(slot.direction, ""))
            taken = other != slot and factors.get(other, {}).get(loop, 1) > 1
            if taken or prod(factors[slot].values()) * factor > room[slot]:
                slot = Slot(architecture.levels[rng.randrange(len(architecture.levels))].name)
            factors[slot][loop] = factors[slot].get(loop, 1) * factor
            left //= factor
    orders = {
        level.name: tuple(rng.sample(nest.loops, len(nest.loops))) for level in architecture.levels
    }
    tensors = [access.tensor for access in nest.accesses]
    return LoopMapping(
        factors, orders, {level.name: level.kept(tensors) for level in architecture.levels}
    )


def by_other_rules(nest, architecture, mapping):
    """The mapping in the form of `tests.plugins.hierarchies.exports.timeloop_rules`, which shares no code with the
    model."""
    tensors = tuple(
        Tensor(access.tensor, tuple(subscript.terms for subscript in access), access == nest.output)
        for access in nest.accesses
    )
    nodes = []
    for level in architecture.levels:
        loops = tuple(
            (loop, mapping.factor(Slot(level.name), loop)) for loop in mapping.orders[level.name]
        )
        rates = (level.read_bandwidth, level.write_bandwidth, level.shared_bandwidth)
        capacity = None if level.words is None else level.usable(level.words)
        nodes.append(Storage(level.name, mapping.keeps[level.name], loops, capacity, *rates))
        if Slot(level.name, "x") in mapping.factors:
            along = [Slot(level.name, direction) for direction in "xy"]
            nodes.append(
                Lanes(
                    tuple(
                        (loop, prod(mapping.factor(slot, loop) for slot in along))
                        for loop in nest.loops
                    )
                )
            )
    return Mapped(tensors, tuple(nodes), mapping.padded(nest))


def columns(mapped):
    """Counts of nested mappings by names with dots."""
    return {
        f"{outer}.{inner}": count
        for outer, counts in mapped.items()
        for inner, count in counts.items()
    }
