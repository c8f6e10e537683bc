"""Tiles that are passed on between layers: all shared loops, storage nodes and mappings of small
chains; known figures; files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count, pairwise, permutations, product
from math import inf, prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import read_objective
from ithaca.formulations.spatial.architecture import Architecture, Compute
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.spatial.uneven.design import UnevenDesign
from ithaca.results.network import load_network_result, network_document
from ithaca.results.network_verification import verify_network
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.network.tiles import TileSearch
from ithaca.workloads.nest import LoopNest
from tests.command_line import ithaca, succeed
from tests.formulations.spatial.cases import nest_of
from tests.formulations.spatial.test_uneven import (
    GOLDEN,
    Placed,
    level,
    model_of,
    primes,
    problem,
)

#: Chains of nests, with the loops that some of them may share: their names by nest.
CHAINS = (
    (("T[m][n] += A[m][k] * B[k][n]", "C[m][p] += T[m][n] * W[n][p]"), ("mm", "nn")),
    (("T[m][n] += A[m][k] * B[k][n]", "C[m] += T[m][n] * W[n]"), ("mm", "nn")),
    (("T[b][m] += A[b][k] * B[b][k][m]", "C[b] += T[b][m] * W[m]"), ("bb", "mm")),
    (("T[m][p] += A[m][p+r] * B[r]", "C[n][p] += T[m][p] * W[m][n]"), ("mm", "pp")),
    (
        (
            "T[m][n] += A[m][k] * B[k][n]",
            "U[m][p] += T[m][n] * W[n][p]",
            "C[m] += U[m][p] * V[p]",
        ),
        ("mmm", "nn-", "-pp"),
    ),
    (
        (
            "T[m] += A[m][k] * B[k]",
            "U[n] += T[m] * V[m][n]",
            "C[p] += U[n] * W[n][p]",
        ),
        ("mm-", "-nn"),
    ),
    (
        (
            "T[m][n] += A[m][k] * B[k][n]",
            "U[m] += T[m][n] * V[n]",
            "X[p] += U[m] * W[m][p]",
            "C[q] += X[p] * Y[p][q]",
        ),
        ("mmm-", "nn--", "--pp"),
    ),
)


@dataclass
class Chain:
    """Nests, each of which reads what the one before writes."""

    nests: tuple[LoopNest, ...]
    architecture: Architecture
    shared: tuple[str, ...]
    options: MappingOptions
    objective: str
    known: dict[Any, Any] = field(default_factory=dict)

    def passed(self, number: int) -> list[str]:
        """The tensors that a nest takes or leaves as tiles."""
        nest = self.nests[number]
        read = [nest.inputs[0].tensor] if number else []
        return read + ([nest.output.tensor] if number + 1 < len(self.nests) else [])

    def designs(self) -> list[UnevenDesign]:
        return [UnevenDesign(nest, self.architecture, self.options) for nest in self.nests]

    def words(self) -> list[int]:
        """Of what is passed on."""
        return [
            prod(nest.sizes[d] for access in [nest.output] for rank in access for d in rank.loops)
            for nest in self.nests[:-1]
        ]


def random_chain(rng: Random) -> Chain:
    """A small chain, on levels whose capacities bind."""
    while True:
        statements, shared = rng.choice(CHAINS)
        loops = sorted({c for text in statements for c in text if c.islower()})
        sizes = {loop: rng.choice((1, 2, 2, 3, 4)) for loop in loops}
        counts = {d: len(primes(n)) for d, n in sizes.items()}
        moving = sum(counts[own.strip("-")[0]] for own in shared)
        own = [{d: n for d, n in sizes.items() if d in text} for text in statements]
        if not all(max(each.values()) > 1 for each in own):
            continue
        if 1 <= moving <= 3 and 3 <= sum(counts.values()) <= 5:
            break
    nests = [nest_of(text, loops) for text, loops in zip(statements, own, strict=True)]
    levels = [
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((4, 5, 6, 8, 10)), rng.randint(1, 9), None),
    ]
    if rng.random() < 0.3:
        made = level("RF", rng.choice((2, 3, 5)), 1, None, rng.choice((1, 2)), 1)
        tensors = sorted({a.tensor for nest in nests for a in nest.accesses})
        keeps = frozenset(rng.sample(tensors, 1))
        levels.append(replace(made, keeps=keeps))
    x = levels[-1].mesh_x * rng.choice((1, 2))
    architecture = Architecture("drawn", tuple(levels), Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)


def three_products(rng: Random) -> Chain:
    """Three small products, of which two often share more loops than all do."""
    statements, shared = CHAINS[4]
    sizes = dict.fromkeys("mnkp", 4)
    while sum(len(primes(n)) for n in sizes.values()) > 6:
        m, n, k, p = (rng.choice(each) for each in ((2, 4, 4), (2, 4), (1, 2), (2, 3, 4)))
        sizes = {"m": m, "n": n, "k": k, "p": p}
    nests = [nest_of(text, {d: n for d, n in sizes.items() if d in text}) for text in statements]
    levels = (
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((6, 8, 9, 10, 12, 14)), rng.randint(1, 4), None),
    )
    x = rng.choice((1, 2))
    architecture = Architecture("drawn", levels, Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)


def fitted_to(nest: LoopNest, architecture: Architecture) -> Architecture:
    """The same without tensors that a nest does not have."""
    own = {access.tensor for access in nest.accesses}
    levels = (
        each if each.keeps is None else replace(each, keeps=each.keeps & own)
        for each in architecture.levels
    )
    return replace(architecture, levels=tuple(levels))


@dataclass
class Rows:
    """All mappings of a nest, given what lies outside of its own loops."""

    values: Any
    """Their objectives."""
    used: Any
    """Words of the level that tiles are passed on at."""


def rows_of(
    chain: Chain,
    number: int,
    between: tuple[tuple[str, tuple[int, ...]], ...],
    trips: Sequence[int],
) -> Rows:
    """All places of all further prime factors in all orders of further nodes, given the trips
    around nodes between shared loops, and those around all others."""
    nest, passed = chain.nests[number], chain.passed(number)
    names = [own[number] for own in chain.shared]
    architecture = fitted_to(nest, chain.architecture).retaining(
        [(t, 1) for t in passed], [a.tensor for a in nest.accesses]
    )
    assert architecture is not None
    design = UnevenDesign(nest, architecture, chain.options)
    between = (*between, *((t, tuple(trips)) for t in passed if t not in dict(between)))
    first = [(1, t) for t, _ in between]
    outer = dict(zip(names, trips, strict=True))
    cells = [(d, p) for d, n in nest.extents for p in primes(n // outer.get(d, 1))]
    meshes = [
        place
        for place in range(len(architecture.levels))
        if architecture.inner_mesh(place) is not None
    ]
    fixed: dict[tuple[int, str], Any] = {}
    before = (1,) * len(names)
    for gap, (_, around) in enumerate([*between, ("", tuple(trips))]):
        for name, now, then in zip(names, before, around, strict=True):
            fixed[gap, name] = then // now
        before = around
    values, used = [], []
    rest = [node for node in design.nodes if node not in first]
    for order in permutations(rest):
        if any(
            one[0] > other[0] and (one[1] == other[1] or chain.options.nodes_by_level)
            for at, one in enumerate(order)
            for other in order[at + 1 :]
        ):
            continue
        nodes, begin = (*first, *order), len(first)
        gaps = range(begin, len(nodes) + 1)
        spots = [*gaps, *(("lane", place) for place in meshes)]
        rows = np.array(list(product(range(len(spots)), repeat=len(cells)))).T
        many = len(spots) ** len(cells)
        rows = rows.reshape(len(cells), many)

        def trips_at(spot: int, loop: str, rows: Any = rows, many: int = many) -> Any:
            own = [
                np.where(row == spot, p, 1)
                for row, (d, p) in zip(rows, cells, strict=True)
                if d == loop
            ]
            return prod(own, start=np.ones(many, int))

        temporal = {(gap, d): trips_at(n, d) for n, gap in enumerate(gaps) for d in nest.loops}
        for (gap, d), n in fixed.items():
            temporal[gap, d] = temporal.get((gap, d), np.ones(many, int)) * n
        lanes = {
            (place, "x", d): trips_at(len(gaps) + n, d)
            for n, place in enumerate(meshes)
            for d in nest.loops
        }
        model = model_of(architecture, nest, Placed(nodes, temporal, lanes), NUMPY)
        fits = np.ones(many, bool)
        for rule in model.rules():
            if rule.level != "Buffer":
                fits &= np.broadcast_to(rule.used <= rule.bound, (many,))
        whole = model.used(1) + sum(model.tile(1, t) - 1 for t in passed)
        expression = read_objective(chain.objective, "objective", None).expression
        metrics = {name: model.metric(name) for name in expression.symbols}
        own = np.broadcast_to(expression.evaluate(metrics, NUMPY), (many,))
        values.append(np.where(fits, own, inf))
        used.append(np.broadcast_to(whole, (many,)))
    return Rows(np.concatenate(values), np.concatenate(used))


#: By nest, tensors whose storage nodes are between shared loops, and the trips around each.
Nodes = Mapping[int, tuple[tuple[str, tuple[int, ...]], ...]]


def tile_of(chain: Chain, number: int, tensor: str, trips: Sequence[int]) -> int:
    """Words of what a tensor has inside of shared loops."""
    nest, outer = (
        chain.nests[number],
        {o[number]: n for o, n in zip(chain.shared, trips, strict=True)},
    )
    access = next(each for each in nest.accesses if each.tensor == tensor)
    return prod(
        1 + sum(rank.coefficient(d) * (nest.sizes[d] // outer.get(d, 1) - 1) for d in rank.loops)
        for rank in access
    )


def least_of(chain: Chain) -> float:
    """The least of all shared loops, storage nodes between these, groups and mappings."""
    numbers = range(len(chain.nests))
    ones = (1,) * len(chain.shared)
    return least_within(chain, numbers, ones, dict.fromkeys(numbers, ()), dict.fromkeys(numbers, 0))


def least_within(
    chain: Chain, numbers: range, outer: tuple[int, ...], nodes: Nodes, beside: Mapping[int, int]
) -> float:
    """That of nests that take turns inside of some loops and nodes, beside other words."""
    first, last = numbers[0], numbers[-1]
    room = chain.architecture.levels[1].words or 0
    if first == last:
        key = first, nodes[first], outer
        if key not in chain.known:
            chain.known[key] = rows_of(chain, *key)
        rows = chain.known[key]
        return float(np.where(rows.used + beside[first] <= room, rows.values, inf).min())
    cells = [
        (number, p)
        for number, own in enumerate(chain.shared)
        if own[first] != "-" != own[last]
        for p in primes(chain.nests[first].sizes[own[first]] // outer[number])
    ]
    able = [
        (number, access.tensor)
        for number in numbers
        for access in chain.nests[number].accesses
        if access.tensor not in (*chain.passed(number), *dict(nodes[number]))
    ]
    best, inner = inf, len(numbers) < len(chain.nests)
    for order in (o for size in range(len(able) + 1) for o in permutations(able, size)):
        last_gap = len(order)
        for places in product(range(last_gap + 2), repeat=len(cells)):
            if last_gap not in places and (order or inner):
                continue  # as if the last node were inside, or the group none

            def around(gap: int, places: Any = places) -> tuple[int, ...]:
                return tuple(
                    n
                    * prod(
                        p
                        for (c, p), at in zip(cells, places, strict=True)
                        if c == own and at <= gap
                    )
                    for own, n in enumerate(outer)
                )

            more = {n: nodes[n] for n in numbers}
            held = {n: beside[n] for n in numbers}
            for gap, (at, tensor) in enumerate(order):
                more[at] = (*more[at], (tensor, around(gap)))
                words = tile_of(chain, at, tensor, around(gap))
                held = {n: own + (0 if n == at else words) for n, own in held.items()}
            if min(room - own for own in held.values()) < 0:
                continue
            for cuts in product((False, True), repeat=len(numbers) - 1):
                if any(cuts):
                    turns = turns_of(numbers, cuts)
                    parts = (
                        turn(chain, own, around(last_gap), more, held, numbers) for own in turns
                    )
                    best = min(best, sum(parts))
    return best


def turns_of(numbers: range, cuts: Sequence[bool]) -> list[range]:
    """Nests that take turns, by after which of them the next ones come."""
    ends = [n + 1 for n, cut in zip(numbers, cuts, strict=False) if cut]
    pairs = zip((numbers[0], *ends), (*ends, numbers[-1] + 1), strict=True)
    return [range(begin, end) for begin, end in pairs]


def turn(
    chain: Chain,
    numbers: range,
    trips: tuple[int, ...],
    nodes: Nodes,
    beside: Mapping[int, int],
    outside: range,
) -> float:
    """The least of some of the nests that take turns."""
    own, held = dict(nodes), dict(beside)
    ends = ((numbers[0], True, outside[0]), (numbers[-1], False, outside[-1]))
    for number, takes, end in ends:
        if number != end:
            nest = chain.nests[number]
            tensor = (nest.inputs[0] if takes else nest.output).tensor
            own[number] = (*own[number], (tensor, trips))
            words = tile_of(chain, number, tensor, trips)
            held = {n: known + (0 if n == number else words) for n, known in held.items()}
    return least_within(chain, numbers, trips, own, held)


def search_of(chain: Chain) -> TileSearch:
    designs = [
        UnevenDesign(nest, fitted_to(nest, chain.architecture), chain.options)
        for nest in chain.nests
    ]
    tiled = designs[0].tiled(designs[1:], chain.words())
    assert tiled is not None
    return TileSearch([problem(d, chain.objective) for d in designs], tiled, SolveOptions(), None)


def check(
    seed: int, objective: str | None = None, draw: Callable[[Random], Chain] = random_chain
) -> Counter[str]:
    """Compare; whether loops are shared, tensors whole beside, and some loops shared inside."""
    chain = draw(Random(seed))
    chain = replace(chain, objective=objective or chain.objective)
    search = search_of(chain)
    proof, best = search.run(), least_of(chain)
    if best == inf:
        assert proof.empty
        return Counter()
    assert proof.status is Status.OPTIMAL
    assert search.value == best, (seed, chain.nests, chain.architecture, chain.objective)
    designs = [solution.problem.design for solution in search.best]
    assert search._tiled.holds(designs)
    return Counter(
        shared=any(design.shared.trips for design in designs),
        whole=any(dict(each.shared.around).get(t) == () for each in designs for t, _ in each.kept),
        nested=any(dict(each.shared.around).get(t) for each in designs for t, _ in each.kept),
    )


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 84])  # in the last one nothing fits
def test_proofs_against_all_shared_loops_and_mappings(seed: int) -> None:
    check(seed)


@pytest.mark.ci
@pytest.mark.parametrize(("seed", "kind"), [(3, "whole"), (4, "nested"), (8, "nested")])
def test_some_keep_a_tensor_whole_beside_tiles_or_share_more_inside(seed: int, kind: str) -> None:
    assert check(seed, draw=three_products)[kind]


@pytest.mark.slow
def test_more_proofs_most_of_them_of_loops_shared_inside() -> None:
    found = sum((check(seed, draw=three_products) for seed in range(100)), Counter())
    assert found["nested"] >= 50


@pytest.mark.parametrize(
    ("seed", "objective"),
    [
        (4, "energy + 3*latency"),
        (6, "sum(edp)"),
        (7, "max(energy, 9*latency)"),
        (8, "sum(edp + 40*pes)"),
    ],
)
def test_all_metrics_of_objectives_are_bounded(seed: int, objective: str) -> None:
    check(seed, objective)


@pytest.mark.slow
def test_more_proofs_most_of_them_of_shared_loops() -> None:
    found = sum((check(seed) for seed in range(4, 304)), Counter())
    assert found["shared"] >= 150
    assert found["whole"] >= 20
    assert found["nested"] >= 5


def products(extent: int, **options: bool) -> Chain:
    """Two products, the first of which passes on what it writes."""
    nests = tuple(nest_of(text, {d: extent for d in text if d.islower()}) for text in CHAINS[0][0])
    return Chain(nests, GOLDEN, ("mm", "nn"), MappingOptions(True, **options), "energy")


@pytest.mark.ci
def test_known_optimum() -> None:
    search = search_of(products(256, nodes_by_level=True))
    assert search.run().status is Status.OPTIMAL
    assert search.value == 257_949_696
    kept = [solution.problem.design.kept for solution in search.best]
    assert kept == [(("T", 32768),), (("T", 32768),)]


@pytest.mark.ci
def test_known_optimum_of_three_products() -> None:
    """AccelForge's mapper: 392,036,352. Two share more loops inside of those of all three."""
    texts = (*CHAINS[0][0][:1], "U[m][p] += T[m][n] * V[n][p]", "C[m][q] += U[m][p] * W[p][q]")
    nests = tuple(nest_of(text, {d: 256 for d in text if d.islower()}) for text in texts)
    search = search_of(replace(products(256, nodes_by_level=True), nests=nests))
    assert search.run().status is Status.OPTIMAL
    assert search.value == 390_201_344
    kept = [solution.problem.design.kept for solution in search.best]
    assert kept == [(("T", 16384),), (("T", 16384), ("U", 32768)), (("U", 32768),)]


@pytest.mark.slow
def test_more_known_optima() -> None:
    for extent, by_level, value in ((256, False, 255_262_720), (512, True, 2_143_813_632)):
        search = search_of(products(extent, nodes_by_level=by_level))
        assert search.run().status is Status.OPTIMAL
        assert search.value == value


def test_interrupted_searches_say_what_they_know() -> None:
    chain = random_chain(Random(3))
    best = search_of(chain)
    best.run()
    steps = count()
    search = search_of(chain)
    search._budget = Budget(SolveOptions(stop=lambda: next(steps) > 40))
    proof = search.run()
    assert proof.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert best.value is not None
    assert 0 < (proof.lower_bound or 0) <= best.value


TWO = """\
name: two
layers:
  - {op: kernel, name: first, kernel: mm, sizes: {i: 8, j: 8, k: 2}}
  - {op: kernel, name: second, kernel: mm, sizes: {i: 8, j: 2, k: 8}, follows: true}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a network, an architecture on which tiles pay, and the answer."""
    folder = tmp_path_factory.mktemp("tiles")
    (folder / "two.yaml").write_text(TWO)
    page = (Path(__file__).parents[3] / "docs/uneven-mappings.md").read_text(encoding="utf-8")
    text = page.split('title="arch.yaml"\n')[1].split("```")[0]
    (folder / "small.yaml").write_text(text.replace("4096", "40"))
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "--loops")
    done = succeed(*COMMAND, *words, "-o", folder / "r.json")
    (folder / "shown.txt").write_text(done.stdout)
    return folder


COMMAND = (
    "network",
    "--fuse",
    "--edition",
    "uneven",
    "--objective",
    "energy",
    "--divisors-only",
    "--nodes",
    "levels",
)


@pytest.mark.ci
def test_what_is_shared_is_shown_and_read_again(folder: Path) -> None:
    shown = (folder / "shown.txt").read_text()
    assert re.search(r"kept +first → second 64 words, [0-9]+ at a time", shown)
    assert "(shared)" in shown
    found = load_network_result(folder / "r.json")
    assert network_document(found) == json.loads((folder / "r.json").read_text())
    assert all(check.confirmed for check in verify_network(found, SolveOptions()))
    assert found.fusing is not None
    (edge,) = found.fusing.edges
    values = [layer.answer.problem.design for layer in found.layers]
    assert [dict(design.kept) for design in values] == [{"C": edge.tile}, {"A": edge.tile}]


BUFFER = """\
architecture:
  version: 0.4
  nodes:
  - !Component
    name: DRAM
    class: DRAM
    attributes: {datawidth: 16, read_energy: 200, write_energy: 200}
  - !Component
    name: Buffer
    class: SRAM
    attributes: {datawidth: 16, entries: 32, read_energy: 6, write_energy: 6}
  - !Component
    name: mac
    class: intmac
    attributes: {energy: 1}
"""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("rows", "sizes", "kept", "value"),
    [
        (4, (4, 4, 8, 2), "16 words; l1 → l2 32 words, 4 at a time", "24,192"),
        (8, (8, 8, 2, 2), "64 words, 16 at a time; l1 → l2 16 words, 8 at a time", "80,496"),
    ],
)
def test_whole_tensors_beside_tiles_and_loops_shared_inside_are_read_again(
    rows: int, sizes: Sequence[int], kept: str, value: str, tmp_path: Path
) -> None:
    (tmp_path / "buffer.yaml").write_text(BUFFER)
    lines = ["name: three", "layers:"]
    for n, (k, j) in enumerate(pairwise(sizes)):
        follows = ", follows: true" if n else ""
        shape = f"{{i: {rows}, j: {j}, k: {k}}}"
        lines.append(f"  - {{op: kernel, name: l{n}, kernel: mm, sizes: {shape}{follows}}}")
    (tmp_path / "three.yaml").write_text("\n".join(lines))
    words = ("--arch", tmp_path / "buffer.yaml", tmp_path / "three.yaml", "--loops")
    shown = " ".join(succeed(*COMMAND, *words, "-o", tmp_path / "r.json").stdout.split())
    assert f"kept l0 → l1 {kept}" in shown
    assert f"energy {value} (optimal among plans in which trips of shared loops" in shown
    found = load_network_result(tmp_path / "r.json")
    assert network_document(found) == json.loads((tmp_path / "r.json").read_text())
    assert all(check.confirmed for check in verify_network(found, SolveOptions()))


@pytest.mark.ci
def test_products_of_two_sums_are_read_again(folder: Path) -> None:
    """EDP of the whole network is searched for as weighted sums, and is no sum itself."""
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "-o", folder / "edp.json")
    options = [word if word != "energy" else "edp" for word in COMMAND]
    assert "at a time" in succeed(*options, *words).stdout
    assert "found again by the same search" in succeed("verify", folder / "edp.json").stdout


@pytest.mark.ci
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("fusing", "edges", 0, "tile"), "does not share its loops with those that it passes"),
        (("layers", 0, "kept", "C"), ""),
        (("layers", 1, "shared", "trips", "i"), ""),
        (("layers", 1, "shared", "around"), "shared.around has 'nobody'; allowed: A, B, C"),
    ],
)
def test_edited_files_are_refused(folder: Path, change: Sequence[Any], line: str) -> None:
    edited = json.loads((folder / "r.json").read_text())
    part = edited
    for key in change[:-1]:
        part = part[key]
    part[change[-1]] = {"nobody": {}} if change[-1] == "around" else part[change[-1]] * 2
    (folder / "edited.json").write_text(json.dumps(edited))
    done = ithaca("explain", folder / "edited.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert line in done.stderr


@pytest.mark.ci
def test_several_objectives_in_order_are_refused(folder: Path) -> None:
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "--objective", "energy,latency")
    done = ithaca(*COMMAND, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert (
        "is several in order; allowed with --fuse where tiles may be passed on: one" in done.stderr
    )


@pytest.mark.ci
@pytest.mark.parametrize(
    ("words", "falls"),
    [
        (
            ("--objective", "energy - latency"),
            "'energy - latency' or a limit may fall with latency",
        ),
        (("--objective", "sum(energy/latency)"), "may fall with latency; allowed with --fuse"),
        (("--limit", "0-latency=-100"), "'energy' or a limit may fall with latency; allowed"),
    ],
)
def test_what_falls_as_a_metric_grows_is_refused(
    folder: Path, words: Sequence[str], falls: str
) -> None:
    done = ithaca(*COMMAND, "--arch", folder / "small.yaml", folder / "two.yaml", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert falls in done.stderr
