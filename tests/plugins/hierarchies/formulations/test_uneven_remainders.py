"""Edition `uneven` where last tiles are what is left: against counts of the tiles themselves, for
all places of all factors between all orders of storage nodes."""

import re
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import chain, combinations, pairwise
from math import ceil, prod
from operator import mul
from random import Random

import numpy as np
import pytest

from ithaca.formulations.algebra.expression import SYMBOLIC, Symbol, Symbols
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.bottleneck import bottleneck
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.uneven.model import Node
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.nest import LoopNest
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import GOLDEN, random_levels
from tests.plugins.hierarchies.formulations.test_uneven import problem

STATEMENTS = (
    "C[m][n] += A[m][k] * B[k][n]",
    "C[b][m] += A[b][m][k] * B[b][k]",
    "O[m][p] += I[p+r] * W[m][r]",
    "O[c][p] += I[c][2*p+r] * W[c][r]",
    "O[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
)


@dataclass(frozen=True)
class Walk:
    """The walk of one loop: its tiles at every storage node, one after the other."""

    lengths: dict[Node, list[int]]
    """Lengths of all tiles that an instance takes, as often as it does."""
    most: dict[Node, int]
    """Length of a whole tile."""
    steps: int
    """Trips of all its temporal loops together."""
    lanes: dict[tuple[int, str], int]
    """By mesh and direction."""


@dataclass(frozen=True)
class Cut:
    """A cut of a loop: trips under storage nodes and along meshes; outermost, as many as are
    needed."""

    trips: dict[Node, int]
    lanes: dict[tuple[int, str], int]


def walk(extent, cut, order, mesh):
    """Cut a loop tile by tile. Nodes before the first one inside the lanes see what is left."""
    before = next((n for n, node in enumerate(order) if node[0] > mesh), len(order))
    lanes = prod(cut.lanes.values())
    run = lanes * prod(cut.trips[node] for node in order[before:])
    tiles = [(0, extent)]
    lengths = {}
    most = {}
    for place, node in enumerate(order[:before]):
        size = run * prod(cut.trips[other] for other in order[place:before])
        tiles = [
            (at, min(at + size, stop)) for start, stop in tiles for at in range(start, stop, size)
        ]
        lengths[node], most[node] = [stop - start for start, stop in tiles], size
    runs = sum(ceil((stop - start) / run) for start, stop in tiles)
    for place, node in enumerate(order[before:], start=before):
        times = prod(cut.trips[other] for other in order[before:place])
        own = prod(cut.trips[other] for other in order[place:])
        inside = prod(n for (at, _), n in cut.lanes.items() if at >= node[0])
        lengths[node], most[node] = [own * inside] * (runs * times), own * inside
    steps = runs * prod(cut.trips[node] for node in order[before:])
    return Walk(lengths, most, steps, cut.lanes)


def cuts(extent, order, meshes):
    """All that may be of use: no factors beyond the extent."""
    places = [*order, *meshes]

    def grown(left, rest):
        if not left:
            yield ()
            return
        for n in range(1, rest + 1):
            for others in grown(left - 1, ceil(rest / n)):
                yield (n, *others)

    for row in grown(len(places), extent):
        chosen = dict(zip(places, row, strict=True))
        yield Cut({node: chosen[node] for node in order}, {mesh: chosen[mesh] for mesh in meshes})


@dataclass(frozen=True)
class Walks:
    """All walks of every loop, an axis of arrays each."""

    nest: LoopNest
    every: dict[str, list[Walk]]

    def along(self, loop, value):
        shape = [1] * len(self.every)
        shape[list(self.every).index(loop)] = -1
        return np.array([value(each) for each in self.every[loop]], np.int64).reshape(shape)

    def lanes(self, loop, begin, end, ways="xy"):
        def count(walk):
            own = walk.lanes.items()
            return prod(n for (at, way), n in own if begin <= at < end and way in ways)

        return self.along(loop, count)

    def instances(self, place, ways="xy"):
        return multiplied(self.lanes(d, 0, place, ways) for d in self.every)

    def steps(self, loop):
        return self.along(loop, lambda walk: walk.steps)

    def visits(self, loop, node):
        return self.along(loop, lambda walk: len(walk.lengths[node]))

    def length(self, loop, node):
        return self.along(loop, lambda walk: sum(walk.lengths[node]))

    def width(self, rank, node):
        return sum(c * self.along(d, lambda walk: walk.most[node] - 1) for d, c in rank.terms) + 1

    def boxes(self, rank, node):
        """The sides of all boxes that tiles of a rank's loops span, one after the other."""
        (one, c), (other, e) = rank.terms
        tiles = [[tuple(walk.lengths[node]) for walk in self.every[d]] for d in (one, other)]
        shape = [1] * len(self.every)
        places = [list(self.every).index(d) for d in (one, other)]
        for place, walks in zip(places, tiles, strict=True):
            shape[place] = len(walks)
        if places[0] > places[1]:
            tiles.reverse()
            c, e = e, c
        found = [[spanned(a, c, b, e) for b in tiles[1]] for a in tiles[0]]
        return np.array(found, np.int64).reshape(shape)


@cache
def spanned(tiles, c, others, e):
    """Elements of the boxes of all pairs of tiles."""
    return sum(c * (a - 1) + e * (b - 1) + 1 for a in tiles for b in others)


def multiplied(factors):
    return reduce(mul, factors, 1)


def taken(walks, access, node):
    """Words that an instance takes at a node: the tiles, one after the other."""
    parts = [walks.visits(d, node) for d in walks.nest.loops if not access.indexed_by(d)]
    for rank in access:
        several = len(rank.loops) > 1
        parts.append(walks.boxes(rank, node) if several else walks.length(rank.loops[0], node))
    return multiplied(parts)


def costs(walks, architecture, order):
    """Energy, cycles, and whether it fits, of every combination of walks."""
    nest, levels, last = walks.nest, architecture.levels, len(architecture.levels)
    steps = multiplied(walks.steps(d) for d in nest.loops)
    energy = architecture.compute.energy.numerator * steps * walks.instances(last)
    words = dict.fromkeys(range(last), 0)
    held = dict.fromkeys(range(last), 0)
    for access in nest.accesses:
        node_of = {node[0]: node for node in order if node[1] == access.tensor}
        indexed = [d for d in nest.loops if access.indexed_by(d)]
        for parent, child in pairwise([0, *sorted(node_of), last]):
            each = taken(walks, access, node_of[child]) if child < last else steps
            moved = {
                parent: each * multiplied(walks.lanes(d, parent, child) for d in indexed),
                child: each,
            }
            if access.tensor == nest.output.tensor:  # down and up, but for what is not there yet
                whole = child < last and node_outside(order, node_of[child], architecture)
                for place in (parent, child):
                    begun = multiplied(
                        nest.sizes[d] if whole else walks.steps(d) * walks.lanes(d, place, last)
                        for d in indexed
                    )
                    moved[place] = 2 * moved[place] - begun
            if child < last:
                sides = (walks.width(rank, node_of[child]) for rank in access)
                held[child] = held[child] + multiplied(sides)
            for place in {parent, child} - {last}:
                rate = levels[place].read_energy.numerator
                energy = energy + rate * moved[place] * walks.instances(place)
                words[place] = words[place] + moved[place]
    latency = steps
    for place, each in enumerate(levels):
        if each.shared_bandwidth is not None:
            latency = np.maximum(latency, -(-words[place] // each.shared_bandwidth.numerator))
    fits = np.ones(energy.shape, bool)
    for place, each in enumerate(levels):
        if each.words is not None:
            fits = fits & (held[place] <= each.words)
    for place, part in enumerate(architecture.parts):
        fits = fits & (walks.instances(place, "x") <= part.mesh_x)
        fits = fits & (walks.instances(place, "y") <= part.mesh_y)
    return {"energy": energy, "latency": latency, "edp": energy * latency, "fits": fits}


def node_outside(order, node, architecture):
    """Whether no node inside the lanes is around it."""
    mesh = outermost_mesh(architecture)
    return all(other[0] <= mesh for other in order[: order.index(node) + 1])


def outermost_mesh(architecture):
    levels = range(len(architecture.levels))
    return next((k for k in levels if architecture.inner_mesh(k) is not None), len(levels))


def drawn(rng):
    statement = rng.choice(STATEMENTS)
    loops = sorted({c for c in statement if c.islower()})
    sizes = {loop: rng.choice((1, 3, 3, 5, 5, 7)) for loop in loops}
    while not 5 <= prod(sizes.values()) <= 45:
        sizes = {loop: rng.choice((1, 3, 3, 5, 5, 7)) for loop in loops}
    nest = nest_of(statement, sizes)
    return nest, random_levels(rng, nest, 2)


def orders(design):
    """The orders of all storage nodes that there may be."""
    free = [node for node in design.nodes if node[1] in design.may_bypass(node[0])]
    gone = chain.from_iterable(combinations(free, count) for count in range(len(free) + 1))
    return {
        tuple(node for node in order if node not in left)
        for left in gone
        for order in design.node_orders
    }


def least(design, objective):
    """The least objective of all mappings that fit."""
    architecture, best = design.architecture, None
    levels = range(len(architecture.levels))
    meshes = [(k, way) for k in levels if architecture.inner_mesh(k) is not None for way in "xy"]
    for order in orders(design):
        every = {
            d: [
                walk(extent, cut, order, outermost_mesh(architecture))
                for cut in cuts(extent, order, meshes)
            ]
            for d, extent in design.nest.extents
        }
        found = costs(Walks(design.nest, every), architecture, order)
        values = found[objective][found["fits"]]
        if values.size:
            best = int(values.min()) if best is None else min(best, int(values.min()))
    return best


def check(seed):
    """Compare with all mappings; whether remainders pay."""
    rng = Random(seed)
    nest, architecture = drawn(rng)
    objective = rng.choice(("energy", "energy", "latency", "edp"))
    passing, by_level = rng.random() < 0.2, rng.random() < 0.4
    options = MappingOptions(False, passing, False, passing or by_level, remainders=True)
    design = UnevenDesign(nest, architecture, options)
    padded = UnevenDesign(nest, architecture, replace(options, remainders=False))
    solution, best = solve_staged(problem(design, objective)), least(design, objective)
    if best is None:
        assert solution.certificate.status is Status.INFEASIBLE
        return False
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == best, (seed, nest, architecture, objective, options)
    above = solve_staged(problem(padded, objective)).value
    assert best <= above
    return best < above


def test_proofs_against_all_tiles():
    assert all(check(seed) for seed in (5, 7, 11, 14, 19, 24))


@pytest.mark.parametrize("begin", range(4, 504, 20))
def test_more_proofs_against_all_tiles(begin):
    assert sum(check(seed) for seed in range(begin, begin + 20)) > 0


def test_symbols_say_what_fractions_say():
    """Symbols agree where an order of nodes decides which of them lie outside all lanes, too."""
    nest, chance = nest_of(STATEMENTS[0], {"m": 7, "n": 5, "k": 11}), Random(3)
    design = UnevenDesign(nest, GOLDEN, MappingOptions(free_bypass=True, remainders=True))
    symbols = design.metrics(Symbols(), SYMBOLIC, ["energy", "latency", "Buffer.C.reads"])
    for _ in range(40):
        chosen = {
            name: chance.choice(
                (1, 2) if "keep" in name else (1, 9) if "order" in name else (1, 2, 3)
            )
            for name in design.space.quantities
        }
        metrics = design.metrics(chosen, FRACTION)
        for name, symbol in symbols.items():
            assert symbol.evaluate(chosen, FRACTION) == metrics[name]


def test_remainders_in_files(tmp_path):
    """Last trips are written, and read again as what the factors make them; so are those of
    loops that two of several tensors lack, and of windows."""
    out = tmp_path / "mapping.json"
    sizes = ("-s", "i=23,j=19,k=31", "--arch", "simple", "--edition", "uneven", "--nodes", "levels")
    printed = succeed("map", "mm", *sizes, "--remainders", "-o", str(out), "--loops")
    trips = re.findall(r"for \w in \[0:(\d+,\d+)\)", printed.stdout)
    assert trips
    assert "optimal" in succeed("verify", str(out)).stdout
    text = out.read_text()
    assert f"={trips[0]}" in text
    wrong = trips[0].split(",")[0]
    out.write_text(text.replace(f"={trips[0]}", f"={wrong},{wrong}", 1))
    assert f"={trips[0]}" in refused("explain", str(out))
    assert "remainders do not go with divisors only" in refused(
        "map", "mm", *sizes, "--remainders", "--divisors-only"
    )


def test_parts_in_hundreds_of_orders():
    """Numbers are not traced through all orders that there may be."""
    nest = nest_of(STATEMENTS[4], {"i": 1, "j": 2, "k": 3, "l": 1})
    design = UnevenDesign(nest, GOLDEN, MappingOptions(nodes_by_level=True))
    assert len(design.node_orders) == 576
    chosen = dict.fromkeys(design.space.quantities, 1) | {"j.DRAM": 2, "k.C.Buffer": 3}
    whole = bottleneck(design, chosen, Symbol("latency"), "latency")
    assert whole.value == design.metrics(chosen, FRACTION)["latency"]
