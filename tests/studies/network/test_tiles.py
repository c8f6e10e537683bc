"""Tiles that are passed on between layers: all shared loops, storage nodes and mappings of small
chains; known figures; files."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import inf
from random import Random

import pytest

from ithaca.files.clock import StoppedError
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.studies.tiles import TileSearch, search_tiles
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import GOLDEN
from tests.plugins.hierarchies.formulations.test_uneven import problem
from tests.studies.network.all_tiles import CHAINS, Chain, fitted_to, least_of
from tests.studies.network.drawn_chains import (
    inner_buffers,
    level,
    random_chain,
    thin_products,
    three_products,
    window_chain,
)


def posed(chain):
    """The problems of a chain, and all ways to pass tiles on."""
    designs = [
        UnevenDesign(nest, fitted_to(nest, chain.architecture), chain.options)
        for nest in chain.nests
    ]
    tiled = designs[0].tiled(designs[1:])
    assert tiled is not None
    return [problem(d, chain.objective) for d in designs], tiled


def search_of(chain):
    return TileSearch(*posed(chain), SolveOptions(), None)


def floors(problems):
    """At least the objective of runs that pass any tiles on, as is known without a search."""
    roofs = [(each, each.design.passing(each.limits)) for each in problems]
    return sum((p.objective.value(own) for p, own in roofs if own is not None), Fraction(0))


def check(seed, objective=None, draw=random_chain):
    """Compare; whether loops are shared, tensors whole beside, and some loops shared inside."""
    chain = draw(Random(seed))
    chain = replace(chain, objective=objective or chain.objective)
    search = search_of(chain)
    proof, best = search.run(), least_of(chain)
    assert floors(posed(chain)[0]) <= best
    if best == inf:
        assert proof.empty
        return Counter()
    assert proof.status is Status.OPTIMAL
    assert search.value == best, (seed, chain.nests, chain.architecture, chain.objective)
    designs = [solution.problem.design for solution in search.best]
    assert search._tiled.holds(designs)
    turns = [turn for design in designs for turn in design.shared.turns]
    return Counter(
        inner=any(design.shared.homes for design in designs),
        again=any(not turn.loop for turn in turns),
        halo=any(turn.loop for turn in turns),
        shared=any(design.shared.trips for design in designs),
        whole=any(dict(each.shared.around).get(t) == () for each in designs for t, _ in each.kept),
        nested=any(dict(each.shared.around).get(t) for each in designs for t, _ in each.kept),
    )


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 84])  # in the last one nothing fits
def test_proofs_against_all_shared_loops_and_mappings(seed):
    check(seed)


@pytest.mark.parametrize(("seed", "kind"), [(3, "whole"), (4, "nested"), (8, "nested")])
def test_some_keep_a_tensor_whole_beside_tiles_or_share_more_inside(seed, kind):
    assert check(seed, draw=three_products)[kind]


def test_more_proofs_most_of_them_of_loops_shared_inside():
    found = sum((check(seed, draw=three_products) for seed in range(100)), Counter())
    assert found["nested"] >= 50


@pytest.mark.parametrize(
    ("seed", "draw", "kind"), [(102, thin_products, "again"), (300, window_chain, "halo")]
)
def test_some_compute_tiles_again_or_their_halos(seed, draw, kind):
    assert check(seed, draw=draw)[kind]


@pytest.mark.parametrize("seeds", [range(n, n + 1) for n in range(170)], ids=str)
def test_proofs_of_tiles_at_inner_levels(seeds):
    for seed in seeds:
        check(seed, draw=inner_buffers)


def test_bounds_hold_of_all_homes():
    """An outer home leaves out the slow level that an inner one is at, with free bypass."""
    sizes = {"m": 2, "n": 2, "k": 1, "p": 1}
    nests = [nest_of(text, {d: n for d, n in sizes.items() if d in text}) for text in CHAINS[0][0]]
    slow = replace(level("Inner", 4, 1, None), read_bandwidth=Fraction(1, 4))
    levels = (level("DRAM", None, 20, None), level("Buffer", 20, 2, None), slow)
    architecture = Architecture("slow", levels, Compute("mac", 1, 1, 1, Fraction(1)))
    options = MappingOptions(True, free_bypass=True, nodes_by_level=True)
    search = search_of(Chain(tuple(nests), architecture, CHAINS[0][1], options, "latency"))
    assert search.run().status is Status.OPTIMAL
    assert not any(solution.problem.design.shared.homes for solution in search.best)
    for roofs, solution in zip(search._roofs, search.best, strict=True):
        assert all(roofs.get(name, 0) <= cost for name, cost in solution.metrics.items())


def test_more_proofs_of_tiles_computed_again():
    thin = sum((check(seed, draw=thin_products) for seed in range(100, 240)), Counter())
    assert thin["again"] >= 30
    wide = sum((check(seed, draw=window_chain) for seed in range(100, 220)), Counter())
    assert wide["halo"] >= 20


@pytest.mark.parametrize(
    ("seed", "objective"),
    [
        (4, "energy + 3*latency"),
        (6, "sum(edp)"),
        (7, "max(energy, 9*latency)"),
        (8, "sum(edp + 40*pes)"),
    ],
)
def test_all_metrics_of_objectives_are_bounded(seed, objective):
    check(seed, objective)


def test_more_proofs_most_of_them_of_shared_loops():
    found = sum((check(seed) for seed in range(4, 304)), Counter())
    assert found["shared"] >= 100
    assert found["whole"] >= 5


def products(extent, **options):
    """Two products, the first of which passes on what it writes."""
    nests = tuple(nest_of(text, {d: extent for d in text if d.islower()}) for text in CHAINS[0][0])
    return Chain(nests, GOLDEN, ("mm", "nn"), MappingOptions(True, **options), "energy")


def test_known_optimum():
    search = search_of(products(256, nodes_by_level=True))
    assert search.run().status is Status.OPTIMAL
    assert search.value == 257_949_696
    kept = [solution.problem.design.kept for solution in search.best]
    assert kept == [(("T", 32768),), (("T", 32768),)]


def test_known_optimum_of_three_products():
    """AccelForge's mapper: 392,036,352. Two share more loops inside of those of all three."""
    texts = (*CHAINS[0][0][:1], "U[m][p] += T[m][n] * V[n][p]", "C[m][q] += U[m][p] * W[p][q]")
    nests = tuple(nest_of(text, {d: 256 for d in text if d.islower()}) for text in texts)
    search = search_of(replace(products(256, nodes_by_level=True), nests=nests))
    assert search.run().status is Status.OPTIMAL
    assert search.value == 390_201_344
    kept = [solution.problem.design.kept for solution in search.best]
    assert kept == [(("T", 16384),), (("T", 16384), ("U", 32768)), (("U", 32768),)]


@pytest.mark.parametrize(("read", "shared"), [("abc", True), ("cba", False)])
def test_elements_that_another_order_reads_are_not_shared(read, shared):
    """S[3][2][4] is of as many words as S[4][2][3], whose first rank is not its own."""
    texts = ("S[i][b][j] += A[i][b][k] * B[b][k][j]", "C[i][b][p] += S[i][b][j] * W[j][p]")
    sizes = dict(zip("abc", (3, 2, 4), strict=True))
    one = {"i": 3, "b": 2, "j": 4, "k": 2}
    other = {**dict(zip("ibj", (sizes[d] for d in read), strict=True)), "p": 2}
    nests = [nest_of(text, own) for text, own in zip(texts, (one, other), strict=True)]
    first, second = (UnevenDesign(nest, GOLDEN, MappingOptions()) for nest in nests)
    assert (first.tiled([second]) is not None) == shared


def test_more_known_optima():
    for extent, by_level, value in ((256, False, 255_262_720), (512, True, 2_143_813_632)):
        search = search_of(products(extent, nodes_by_level=by_level))
        assert search.run().status is Status.OPTIMAL
        assert search.value == value


def test_interrupted_searches_say_what_they_know():
    chain = random_chain(Random(3))
    best = search_of(chain)
    best.run()
    steps = count()
    search = search_of(chain)
    search._budget = Budget(SolveOptions(stop=lambda: next(steps) > 40))
    proof = search.run()
    assert proof.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert 0 < (proof.lower_bound or 0) <= best.value


def check_cuts(seed, draw):
    """Compare a search of ever more ways, cut short after ever more looks at the clock, with all of
    them enumerated; how many cuts there were."""
    chain = draw(Random(seed))
    (problems, tiled), best = posed(chain), least_of(chain)
    for cuts in count(1):
        limit = SolveOptions(time_limit=2e-4 * 1.6**cuts)
        solutions, proof = search_tiles(problems, tiled, limit, None)
        value = sum(float(each.value or 0) for each in solutions) if solutions else inf
        assert float(proof.lower_bound or 0) <= best <= value, (seed, cuts, proof, best)
        assert not proof.empty or best == inf, (seed, cuts)
        if proof.settled:
            return cuts
    return 0


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize(("seed", "draw"), [(2, inner_buffers), (8, inner_buffers)])
def test_bounds_of_cut_searches_hold_of_all_ways(seed, draw):
    assert check_cuts(seed, draw) > 4


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize(
    ("first", "draw"),
    [(n, each) for n in (1000, 1005) for each in (inner_buffers, thin_products, random_chain)],
)
def test_bounds_of_many_cut_searches_hold_of_all_ways(first, draw):
    assert sum(check_cuts(seed, draw) for seed in range(first, first + 5)) > 20


def test_all_ways_are_bounded_before_fewer_are_searched(monkeypatch):
    """Time ends with the first search of fewer ways, more is known than runs cost at least."""
    chain = inner_buffers(Random(2))
    (problems, tiled), best = posed(chain), least_of(chain)

    def late(self):
        raise StoppedError

    monkeypatch.setattr(TileSearch, "_search", late)
    _, proof = search_tiles(problems, tiled, SolveOptions(time_limit=60), None)
    roofs = zip(problems, TileSearch(problems, tiled, SolveOptions(), None)._roofs, strict=True)
    assert sum(p.objective.value(own) for p, own in roofs) < proof.lower_bound <= best
