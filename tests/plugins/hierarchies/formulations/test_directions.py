"""Objectives and limits that fall as a metric grows: what is claimed, against all orders, tilings
and paddings."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping import slots
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import DmazerunnerDesign
from ithaca.plugins.hierarchies.formulations.published.explainable.design import ExplainableDesign
from ithaca.results.studies import front_document
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design
from ithaca.studies.front import pareto_front
from tests.command_line import ithaca
from tests.plugins.hierarchies.formulations import test_dmazerunner_proofs, test_explainable
from tests.plugins.hierarchies.formulations.cases import nest_of, random_architecture
from tests.plugins.hierarchies.formulations.test_space import every_tiling
from tests.whole_spaces import crossed, tables_of

SMALL = (
    "O[i][j] += A[i][k] * B[k][j]",
    "O[m][p] += I[p+r] * W[m][r]",
    "O[c][p] += I[c][2*p+r] * W[c][r]",
)
OBJECTIVES = (
    "latency",
    "energy",
    "energy/latency",
    "0 - latency",
    "latency - energy",
    "energy/pes",
    "edp",
    "energy - 3*latency",
)
LIMITS = (
    "0 - latency",
    "energy",
    "energy/latency",
    "energy - 3*latency",
    "latency",
    "0 - pes",
    "0 - energy",
    "computes/latency",
)

#: Of edition `explainable`.
WORDS = (
    "latency",
    "energy",
    "latency - energy",
    "energy/latency",
    "dram_words",
    "dram_words/latency",
    "0 - latency",
    "latency - dram_words",
    "latency/pes",
    "0 - dram_words",
)


def value_of(text, columns):
    """An expression at all points."""
    return np.asarray(
        parse_expression(text, where="test", allowed=None).evaluate(columns, NUMPY), float
    )


def least_of(problem, points, without=""):
    """The least objective of points within the limits, but for one; infinite where none is."""
    best, text = np.inf, without or problem.objective.text
    for columns in points:
        kept = np.ones(len(columns["latency"]), bool)
        for limit in problem.limits:
            if limit.metric != without:
                kept &= value_of(limit.metric, columns) <= float(limit.bound)
        best = min(
            best, np.broadcast_to(value_of(text, columns), kept.shape)[kept].min(initial=np.inf)
        )
    return float(best)


def drawn(design, rng, points, objectives, limits):
    """A problem whose limits are what some point takes, or a little less than any."""
    found = []
    for text in rng.sample(limits, rng.choice((0, 1, 2, 2))):
        columns = rng.choice(points)
        values = np.sort(value_of(text, columns))
        value = Fraction(float(values[rng.randrange(values.size)])) if values.size else Fraction(1)
        bound = value + abs(value) / 10**6  # apart from what floats round
        if rng.random() < 0.3 and values.size:
            bound = Fraction(float(min(value_of(text, each).min() for each in points))) - Fraction(
                1, 2
            )
        if bound >= 0 or "-" in text:
            found.append(Limit(text, bound))
    text = rng.choice(objectives)
    return Problem(
        design, tuple(found), Objective(text, parse_expression(text, where="test", allowed=None))
    )


def check(problem, everything, offered, seed):
    """Hold what is claimed of a problem to all points, and what is claimed of those that its space
    offers to these."""
    solution, truth = (
        solve_design(problem, SolveOptions(time_limit=60), method=Method.AUTO),
        least_of(problem, everything),
    )
    proof, value = solution.certificate, None if solution.value is None else float(solution.value)
    about = np.inf if offered is None else least_of(problem, offered)
    if proof.status is Status.OPTIMAL:
        if not proof.among:
            assert value == pytest.approx(truth, rel=1e-9, abs=1e-9), seed
        else:
            assert value >= truth - 1e-9 * abs(truth), seed
            assert offered is None or value == pytest.approx(about, rel=1e-9, abs=1e-9), seed
    elif proof.status is Status.INFEASIBLE:
        assert truth == np.inf, seed
        for fall in solution.shortfalls:
            if fall.proven and fall.others_kept:
                assert float(fall.smallest or 0) == pytest.approx(
                    least_of(problem, everything, fall.metric), rel=1e-9
                ), seed
    else:
        assert proof.empty, (seed, proof)
        assert proof.among, seed
        assert not solution.shortfalls
        assert offered is None or about == np.inf, seed
    if not problem.falling:
        assert not proof.among, seed
    return solution


def of_timeloop(seed):
    rng = random.Random(seed)
    statement = SMALL[seed % 3]
    nest = nest_of(
        statement,
        {loop: rng.choice((2, 3, 4)) for loop in sorted({c for c in statement if c.islower()})},
    )
    architecture = random_architecture(rng, nest, 2)
    levels = tuple(
        replace(level, words=level.words and rng.randint(6, 30), block=1)
        for level in architecture.levels
    )
    architecture = replace(architecture, levels=levels)
    pads = len(slots(architecture)) < 4 and rng.random() < 0.5
    options = MappingOptions(divisors_only=not pads)
    design, tilings = (
        SpatialDesign(nest, architecture, options),
        every_tiling(nest, architecture, pads=pads),
    )
    names = ("latency", "energy", "edp", "pes", "computes")

    def fitting(own, columns):
        fits = np.ones(len(next(iter(columns.values()))), bool)
        for rule in own.model(columns, NUMPY).rules():
            fits &= np.broadcast_to(rule.used <= rule.bound, fits.shape)
        found = own.metrics(columns, NUMPY, names)
        return {
            name: np.broadcast_to(column, fits.shape)[fits].astype(float)
            for name, column in found.items()
        }

    orders = ((levels[0].name, order) for order in permutations(nest.loops))
    everything = [
        fitting(SpatialDesign(nest, architecture, options, fixed_orders=(each,)), tilings)
        for each in orders
    ]
    offered = [fitting(design, crossed(tables_of(design.space)))]
    if not offered[0]["latency"].size:
        return of_timeloop(seed + 10_000)
    return check(
        drawn(design, rng, everything, OBJECTIVES, LIMITS), everything, offered, seed
    ).certificate


def tiled(seed, kind):
    rng = random.Random(seed)
    exact = rng.random() < 0.6
    layer = test_dmazerunner_proofs.random_layer(rng, surplus=rng.random() < 0.2, most=4)
    machine = test_dmazerunner_proofs if kind is DmazerunnerDesign else test_explainable
    try:
        design = kind(machine.small_machine(rng), layer, exact)
    except InputError:  # a layer that the edition does not take
        return tiled(seed + 10_000, kind)
    everything = list(all_points(design))
    if not everything[0]["latency"].size:
        return tiled(seed + 10_000, kind)
    objectives = (*OBJECTIVES, "0 - dram_words") if kind is DmazerunnerDesign else WORDS
    problem = drawn(
        design,
        rng,
        everything,
        objectives,
        [*(text for text in objectives if text != "edp"), "0 - pes"],
    )
    return check_tiled(problem, everything, seed)


def check_tiled(problem, everything, seed):
    solution = solve_design(problem, SolveOptions(time_limit=60), method=Method.AUTO)
    if problem.design.among(
        frozenset()
    ):  # rows that nothing reads: claims are of least paddings in any case
        assert solution.certificate.among
        assert solution.certificate.status is not Status.INFEASIBLE
        return solution.certificate
    return check(problem, everything, None, seed).certificate


def all_points(design):
    """Metrics of all mappings that fit, with all orders and paddings."""
    loops = design.layer.nest.loops
    each = [
        test_dmazerunner_proofs.tilings(n, exact=design.divisors_only, least=False)
        for _, n in design.layer.nest.extents
    ]
    places = np.meshgrid(*(np.arange(len(rows)) for rows in each), indexing="ij")
    values = {}
    for loop, rows, place in zip(loops, each, places, strict=True):
        columns = np.array(rows, dtype=float)[place.ravel()].T
        values |= {
            f"{loop}.{slot}": c
            for slot, c in zip(("DRAM", "SPM", "RF", "SPM.x"), columns, strict=True)
        }
    busy = [loop for loop, extent in design.layer.nest.extents if extent > 1]
    fits = None
    for outer, inner in product(permutations(busy), repeat=2):
        found, _ = design.priced(values, NUMPY, {"DRAM": [outer], "SPM": [inner]})
        if fits is None:
            fits = np.all(
                [found[name] <= most for name, most in design.machine.limits.items()], axis=0
            )
        yield {
            name: np.broadcast_to(column, fits.shape)[fits].astype(float)
            for name, column in found.items()
        }


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 300))]
)
def test_no_claim_about_mappings_is_beyond_what_was_searched(seed):
    of_timeloop(seed)


@pytest.mark.parametrize("kind", [DmazerunnerDesign, ExplainableDesign])
@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 200))]
)
def test_no_claim_about_tiles_is_beyond_what_was_searched(kind, seed):
    tiled(seed, kind)


#: Two levels, on which a convolution has few mappings.
TWO = """
architecture:
  version: '0.4'
  nodes:
    - !Component
      name: DRAM
      class: DRAM
      attributes: {word_bits: 16, read_energy: 200, write_energy: 200}
    - !Component
      name: RF
      class: regfile
      attributes: {word_bits: 16, entries: 12, read_bandwidth: 1, read_energy: 1, write_energy: 1}
    - !Component
      name: mac
      class: intmac
      attributes: {word_bits: 16, energy: 1}
"""

CONV = "O[m][p] += I[c][p+r] * W[m][c][r]"
AMONG = "orders of most reuse"


def map_two(folder, *options):
    """A mapping of a small convolution by the command line."""
    (folder / "two.yaml").write_text(TWO)
    sizes = ("--problem", CONV, "-s", "m=2,p=3,c=2,r=3")
    return ithaca("map", *sizes, "--arch", folder / "two.yaml", "--divisors-only", *options)


def test_the_command_line_says_among_what_it_is_proven(tmp_path):
    done = map_two(tmp_path, "--objective", "energy/latency", "-o", str(tmp_path / "r.json"))
    assert f"optimal among {AMONG}: no other of these is better" in done.stdout
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["best"]["certificate"]["among"] == AMONG
    assert f"proven optimal among {AMONG}" in ithaca("explain", tmp_path / "r.json").stdout
    for part in ("best", "designs"):
        own = document[part] if part == "best" else document[part][0]
        del own["certificate"]["among"]
    (tmp_path / "edited.json").write_text(json.dumps(document))
    refused = ithaca("explain", tmp_path / "edited.json")
    assert refused.returncode == 2
    assert "best.certificate.among is missing" in refused.stderr
    done = map_two(tmp_path, "--objective", "energy", "--limit", "0-latency<=-100000")
    assert "infeasible" not in done.stdout + done.stderr
    assert (
        f"nothing that meets the limits is among {AMONG}; others, which might, were not searched"
        in done.stderr
    )
    done = map_two(tmp_path, "--objective", "energy", "--limit", "0-pes<=-2")
    assert (
        "infeasible: limit 0-pes = -2 cannot be met; the smallest that could be met" in done.stderr
    )


def test_fronts_say_among_what_they_are_proven():
    nest, rng = nest_of(CONV, {"m": 2, "p": 2, "c": 2, "r": 2}), random.Random(4)
    architecture = random_architecture(rng, nest, 2)
    levels = tuple(replace(level, block=1) for level in architecture.levels)
    design = SpatialDesign(
        nest, replace(architecture, levels=levels), MappingOptions(divisors_only=True)
    )
    problem = Problem(
        design, (), Objective("energy", parse_expression("energy", where="", allowed=None))
    )
    assert not pareto_front([problem], ["energy", "latency"]).among
    front = pareto_front([problem], ["energy", "energy/latency"])
    assert front.complete
    assert front.among == front_document(front)["among"] == AMONG
