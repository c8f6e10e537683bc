"""Tiles that are passed on between layers: all shared loops, storage nodes and mappings of small
chains; known figures; files."""

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import count, pairwise
from math import inf
from pathlib import Path
from random import Random

import pytest

from ithaca.files.clock import StoppedError
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.results.network import load_network_result, network_document
from ithaca.results.network_verification import verify_network
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.network.tiles import TileSearch, search_tiles
from tests.command_line import ithaca, succeed
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
    """Where time ends with the first search of fewer ways, more is known than runs cost at least."""
    chain = inner_buffers(Random(2))
    (problems, tiled), best = posed(chain), least_of(chain)

    def late(self):
        raise StoppedError

    monkeypatch.setattr(TileSearch, "_search", late)
    _, proof = search_tiles(problems, tiled, SolveOptions(time_limit=60), None)
    roofs = zip(problems, TileSearch(problems, tiled, SolveOptions(), None)._roofs, strict=True)
    assert sum(p.objective.value(own) for p, own in roofs) < proof.lower_bound <= best


TWO = """\
name: two
layers:
  - {op: kernel, name: first, kernel: mm, sizes: {i: 8, j: 8, k: 2}}
  - {op: kernel, name: second, kernel: mm, sizes: {i: 8, j: 2, k: 8}, follows: true}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a network, an architecture on which tiles pay, and the answer."""
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


def test_what_is_shared_is_shown_and_read_again(folder):
    shown = (folder / "shown.txt").read_text()
    assert re.search(r"kept +first → second 64 words, [0-9]+ at a time", shown)
    assert "(shared)" in shown
    found = load_network_result(folder / "r.json")
    assert network_document(found) == json.loads((folder / "r.json").read_text())
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


@pytest.mark.parametrize(
    ("rows", "sizes", "kept", "value"),
    [
        (4, (4, 4, 8, 2), "16 words; l1 → l2 32 words, 4 at a time", "24,192"),
        (8, (8, 8, 2, 2), "64 words, 16 at a time; l1 → l2 16 words, 8 at a time", "80,496"),
    ],
)
def test_whole_tensors_beside_tiles_and_loops_shared_inside_are_read_again(
    rows, sizes, kept, value, tmp_path
):
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
    assert f"energy {value} (optimal among plans in which layers pass tiles on" in shown
    found = load_network_result(tmp_path / "r.json")
    assert network_document(found) == json.loads((tmp_path / "r.json").read_text())
    assert all(check.confirmed for check in verify_network(found, SolveOptions()))


@pytest.mark.parametrize(
    ("sizes", "words", "energy", "keeps", "bypass", "value"),
    [
        ((4, 3, 4, 2), 14, (20, 1), "[Inputs, Outputs]", "fixed", "1,460"),
        ((2, 2, 4, 1), 5, (20, 5), "[Inputs, Weights, Outputs]", "free", "844"),
    ],
)
def test_what_passes_by_is_bounded(
    sizes,
    words,
    energy,
    keeps,
    bypass,
    value,
    tmp_path,
):
    """Lanes share weights from DRAM, and may cost less than keeping them; values of all ways, each
    searched with no bound."""
    text = BUFFER.replace("entries: 32", f"entries: {words}")
    for then, now in zip((200, 6), energy, strict=True):
        text = text.replace(f"energy: {then}", f"energy: {now}")
    kept = f"    constraints: {{dataspace: {{keep: {keeps}}}}}\n"
    lanes = f"  - !Container\n    name: PE\n    spatial: {{meshX: {4 if words > 5 else 2}}}\n"
    mac = text.index("  - !Component\n    name: mac")
    (tmp_path / "arch.yaml").write_text(text[:mac] + kept + lanes + text[mac:])
    i, k, j, last = sizes
    (tmp_path / "two.yaml").write_text(
        "name: two\nlayers:\n"
        f"  - {{op: kernel, name: l0, kernel: mm, sizes: {{i: {i}, j: {j}, k: {k}}}}}\n"
        f"  - {{op: kernel, name: l1, kernel: mm, sizes: {{i: {i}, j: {last}, k: {j}}}, "
        "follows: true}\n"
    )
    options = ("--arch", tmp_path / "arch.yaml", tmp_path / "two.yaml", "--bypass", bypass)
    shown = " ".join(succeed(*COMMAND, *options, "--nodes", "free").stdout.split())
    assert f"total energy {value} (optimal among plans" in shown


def level_text(name, kind, words):
    attributes = f"    attributes: {{datawidth: 16, {words}}}\n"
    return f"  - !Component\n    name: {name}\n    class: {kind}\n{attributes}"


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize(
    ("sizes", "buffer", "inner", "value"),
    [
        (
            ("i: 2, j: 1, k: 3", "i: 2, j: 3, k: 1"),
            "read_energy: 6, write_energy: 200, entries: 24",
            "read_energy: 0.5, write_energy: 50, entries: 4",
            8525,
        ),
        (
            ("i: 2, j: 1, k: 2", "i: 2, j: 1, k: 1", "i: 2, j: 2, k: 1"),
            "read_energy: 50, write_energy: 6, entries: 17",
            "read_energy: 0.5, write_energy: 6, entries: 8",
            3455,
        ),
    ],
)
def test_bounds_of_cut_networks_hold_of_all_plans(sizes, buffer, inner, value, tmp_path):
    """The optima are those of all plans and mappings enumerated."""
    levels = level_text("DRAM", "DRAM", "read_energy: 200, write_energy: 200")
    levels += level_text("Buffer", "SRAM", buffer) + level_text("Inner", "SRAM", inner)
    levels += "  - !Component\n    name: mac\n    class: intmac\n    attributes: {energy: 0}\n"
    (tmp_path / "arch.yaml").write_text("architecture:\n  version: 0.4\n  nodes:\n" + levels)
    lines = [
        f"  - {{op: kernel, name: l{n}, kernel: mm, sizes: {{{own}}}"
        f"{', follows: true' if n else ''}}}"
        for n, own in enumerate(sizes)
    ]
    (tmp_path / "net.yaml").write_text("\n".join(["name: c", "layers:", *lines]))
    words = ("--arch", tmp_path / "arch.yaml", tmp_path / "net.yaml", "-o", tmp_path / "r.json")
    for seconds in ("0.0002", "0.005", "0.05"):
        ithaca(*COMMAND, *words, "--time-limit", seconds)
        total = json.loads((tmp_path / "r.json").read_text())["total"]
        assert 0 < total["certificate"]["lower_bound"] <= value
        assert total["value"] is None or value <= total["value"]


def test_products_of_two_sums_are_read_again(folder):
    """EDP of the whole network is searched for as weighted sums, and is no sum itself."""
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "-o", folder / "edp.json")
    options = [word if word != "energy" else "edp" for word in COMMAND]
    assert "at a time" in succeed(*options, *words).stdout
    assert "found again by the same search" in succeed("verify", folder / "edp.json").stdout


def test_several_objectives_in_order_are_refused(folder):
    words = ("--arch", folder / "small.yaml", folder / "two.yaml", "--objective", "energy,latency")
    done = ithaca(*COMMAND, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert (
        "is several in order; allowed with --fuse where tiles may be passed on: one" in done.stderr
    )


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
def test_what_falls_as_a_metric_grows_is_refused(folder, words, falls):
    done = ithaca(*COMMAND, "--arch", folder / "small.yaml", folder / "two.yaml", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert falls in done.stderr
