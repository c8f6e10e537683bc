"""Mappings with storage nodes, drawn at random, and their models."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.counts import Numbers
from ithaca.plugins.hierarchies.formulations.uneven.model import Node, NodeTrips, UnevenModel
from tests.plugins.hierarchies.formulations.cases import nest_of


def level(name, words, energy, rate, x=1, y=1):
    cost = Fraction(energy)
    return Level(
        name,
        words,
        shared_bandwidth=None if rate is None else Fraction(rate),
        read_energy=cost,
        write_energy=cost,
        update_energy=cost,
        instances=x * y,
        mesh_x=x,
        mesh_y=y,
    )


#: The architectures of the golden mappings, with the levels inside of which their meshes are.
GOLDEN = Architecture(
    "golden",
    (
        level("DRAM", None, 200, 16),
        level("Buffer", 65536, 6, None),
        level("RF", 256, 1, None, 16, 16),
    ),
    Compute("MAC", 256, 16, 16, Fraction(1)),
)


DEEP = Architecture(
    "deep",
    (
        level("DRAM", None, 200, 16),
        level("GLB", 16384, 10, 8),
        level("L1", 1024, 3, 2, 4, 1),
        level("RF", 64, 1, None, 4, 8),
    ),
    Compute("MAC", 32, 4, 8, Fraction(1)),
)


MESHES = {"golden": {"PE": 1}, "deep": {"Col": 1, "PE": 2}}


STATEMENTS = {
    "mm": "C[m][n] += A[m][k] * B[k][n]",
    "bmm": "C[b][m][n] += A[b][m][k] * B[b][k][n]",
    "conv": "O[n][m][p][q] += I[n][c][p+r][q+s] * W[m][c][r][s]",
    "dw": "O[n][c][p][q] += I[n][c][p+r][q+s] * W[c][r][s]",
    "mttkrp": "O[i][j] += T[i][k][l] * B[k][j] * D[l][j]",
}


@dataclass
class Placed:
    """A mapping: storage nodes, and trips of loops by where they are, in numbers of a system."""

    order: tuple[Node, ...]
    """The nodes, outermost first."""
    temporal: Mapping[tuple[int, str], Any]
    """Trips by how many nodes are around them, and loop."""
    lanes: Mapping[tuple[int, str, str], Any]
    """Lanes by level, direction and loop."""


def model_of(architecture, nest, placed, numbers):
    """The model of a mapping whose loops may be anywhere."""
    one = numbers.number(Fraction(1))

    def between(begin, end):
        gaps = range(begin, end)
        return {
            loop: prod((placed.temporal.get((gap, loop), one) for gap in gaps), start=one)
            for loop in nest.loops
        }

    last = len(placed.order) + 1
    trips = {
        node: NodeTrips(between(0, place), between(place, last))
        for place, node in enumerate(placed.order, start=1)
    }
    tensors = [access.tensor for access in nest.accesses]
    total, keeps, lanes, mesh = between(0, last), [], [], []
    stays = {tensor for each in architecture.levels for tensor, _ in each.resident}
    for place in range(len(architecture.levels)):
        keeps.append(
            {t: int((place, t) in placed.order or (not place and t not in stays)) for t in tensors}
        )
        along = [
            {loop: placed.lanes.get((place, way, loop), one) for loop in nest.loops} for way in "xy"
        ]
        has_mesh = architecture.inner_mesh(place) is not None
        lanes.append({d: along[0][d] * along[1][d] for d in nest.loops} if has_mesh else {})
        mesh.append((prod(along[0].values(), start=one), prod(along[1].values(), start=one)))
    mapping = Numbers(
        numbers, (total,), tuple(lanes), tuple(mesh), lambda *_: 0, tuple(keeps), lambda *_: 1
    )
    whole = {(0, tensor): NodeTrips({}, total) for tensor in tensors}
    return UnevenModel(architecture, nest, mapping, trips | whole, free_drains=False)


SMALL_STATEMENTS = (
    "C[m][n] += A[m][k] * B[k][n]",
    "C[b][m] += A[b][m][k] * B[b][k]",
    "O[m][p] += I[p+r] * W[m][r]",
    "O[p] += I[2*p+r] * W[r]",
    "O[c][p] += I[c][p+r] * W[c][r]",
    "O[i] += T[i][k][l] * B[k] * D[l]",
)


def random_levels(rng, nest, most):
    """Levels whose capacities bind, of which the one next to DRAM keeps at most so many tensors."""
    tensors = [access.tensor for access in nest.accesses]
    x = y = 1
    levels = [level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3)))]
    for name in ("Buffer", "RF")[: rng.randint(1, 2)]:
        if rng.random() < 0.5:
            x, y = x * rng.choice((1, 2)), y * rng.choice((1, 2, 3))
        made = level(
            name, rng.choice((3, 4, 6, 9, 14)), rng.randint(1, 9), rng.choice((None, 2)), x, y
        )
        kept = frozenset(rng.sample(tensors, rng.randint(1, 2 if len(levels) > 1 else most)))
        levels.append(Level(**{f: getattr(made, f) for f in made.__slots__} | {"keeps": kept}))
    if rng.random() < 0.5:
        x, y = x * rng.choice((2, 3)), y * rng.choice((1, 2))
    return Architecture("drawn", tuple(levels), Compute("mac", x * y, x, y, Fraction(1)))


def random_case(rng):
    """A small nest, and levels whose capacities bind."""
    statement = rng.choice(SMALL_STATEMENTS)
    loops = sorted({c for c in statement if c.islower()})
    sizes = {loop: rng.choice((1, 2, 2, 3, 4)) for loop in loops}
    while not 2 <= sum(map(len, map(primes, sizes.values()))) <= 4:
        sizes = {loop: rng.choice((1, 2, 2, 3, 4)) for loop in loops}
    nest = nest_of(statement, sizes)
    return nest, random_levels(rng, nest, 3)


def primes(number):
    divisor = next((d for d in range(2, number + 1) if number % d == 0), None)
    return [] if divisor is None else [divisor, *primes(number // divisor)]


def placed_models(design):
    """Models of all places of all prime factors, by order of storage nodes, and which of them
    fit."""
    nest, architecture = design.nest, design.architecture
    cells = [(loop, p) for loop, extent in nest.extents for p in primes(extent)]
    meshes = [
        (place, way)
        for place in range(len(architecture.levels))
        if architecture.inner_mesh(place) is not None
        for way in "xy"
    ]
    for order in design.node_orders:
        gaps = len(order) + 1
        places = np.array(list(product(range(gaps + len(meshes)), repeat=len(cells)))).T

        def trips(where, loop, places=places):
            factors = (
                np.where(row == where, p, 1)
                for row, (own, p) in zip(places, cells, strict=True)
                if own == loop
            )
            return prod(factors, start=np.ones(places.shape[1], int))

        temporal = {(gap, loop): trips(gap, loop) for gap in range(gaps) for loop in nest.loops}
        lanes = {
            (*mesh, loop): trips(gaps + number, loop)
            for number, mesh in enumerate(meshes)
            for loop in nest.loops
        }
        model = model_of(architecture, nest, Placed(order, temporal, lanes), NUMPY)
        fits = np.ones(places.shape[1], bool)
        for rule in model.rules():
            fits &= rule.used <= rule.bound
        yield model, fits
