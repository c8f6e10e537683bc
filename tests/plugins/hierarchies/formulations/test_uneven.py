"""Edition `uneven`: its model against AccelForge's, its proofs against all loop orders and storage
nodes."""

import lzma
from csv import DictReader
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf, prod
from random import Random

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.family import LevelMappingDocument, SpatialFamily
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.uneven.separable import Separable
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import (
    DEEP,
    GOLDEN,
    MESHES,
    STATEMENTS,
    Placed,
    model_of,
    placed_models,
    random_case,
)
from tests.reference import DATA
from tests.whole_spaces import some_row, tables_of


def golden_rows():
    text = lzma.decompress((DATA / "accelforge.csv.xz").read_bytes()).decode()
    yield from DictReader(text.splitlines())


def golden_model(row):
    """The model of a mapping that AccelForge has evaluated: ``A.Buffer`` after an @ is a storage
    node, ``m=2`` a loop, and one with ``/PE.x`` lies on a mesh."""
    architecture = {"golden": GOLDEN, "deep": DEEP}[row["architecture"]]
    sizes = {name: int(n) for name, n in (part.split("=") for part in row["sizes"].split())}
    names = [each.name for each in architecture.levels]
    order = []
    temporal = {}
    lanes = {}
    for part in row["mapping"].split():
        if part.startswith("@"):
            tensor, name = part[1:].split(".")
            order.append((names.index(name), tensor))
            continue
        trips, _, where = part.partition("/")
        loop, number = trips.split("=")
        if where:
            mesh, way = where.split(".")
            key = MESHES[architecture.name][mesh], way, loop
            lanes[key] = lanes.get(key, Fraction(1)) * int(number)
        else:
            at = len(order), loop
            temporal[at] = temporal.get(at, Fraction(1)) * int(number)
    nest = nest_of(STATEMENTS[row["workload"]], sizes)
    return model_of(architecture, nest, Placed(tuple(order), temporal, lanes), FRACTION)


def test_costs_are_those_of_accelforge_on_random_mappings():
    rows = list(golden_rows())
    assert len(rows) > 600
    for row in rows:
        model = golden_model(row)
        assert model.energy == Fraction(row["energy"]), row
        assert model.latency == ceil(Fraction(row["latency"])), row


# -- proofs ------------------------------------------------------------------------------


def problem(design, objective, *limits):
    return Problem(design, limits, read_objective(objective, "objective", design.vocabulary))


def solved(nest, architecture, objective="energy", **options):
    design = UnevenDesign(nest, architecture, MappingOptions(**options))
    solution = solve_staged(problem(design, objective))
    assert solution.certificate.status is Status.OPTIMAL
    return solution


def matrix_product(extent):
    return nest_of(STATEMENTS["mm"], dict.fromkeys("mnk", extent))


def test_known_optima():
    nest = matrix_product(256)
    by_level = solved(nest, GOLDEN, divisors_only=True, nodes_by_level=True)
    assert by_level.value == 141_033_472
    assert solved(nest, GOLDEN, divisors_only=True).value == 139_657_216


@pytest.mark.parametrize(
    ("extent", "free", "by_level"),
    [(1000, 7_552_000_000, 7_632_000_000), (1024, 8_459_911_168, 8_587_837_440)],
)
def test_known_optima_of_large_products(extent, free, by_level):
    nest = matrix_product(extent)
    assert solved(nest, GOLDEN, divisors_only=True).value == free
    assert solved(nest, GOLDEN, divisors_only=True, nodes_by_level=True).value == by_level


@pytest.mark.parametrize(
    ("extent", "edp"), [(256, 9_152_575_307_776), (1000, 3.075e16), (1024, 3.548343925e16)]
)
def test_known_optima_of_energy_times_delay(extent, edp):
    value = solved(matrix_product(extent), GOLDEN, "edp", divisors_only=True).value
    assert float(value) == pytest.approx(edp, rel=1e-9)


@pytest.mark.parametrize(("extent", "value"), [(256, 91_029_504), (1000, 4_928_000_000)])
def test_known_optima_where_tensors_may_pass_by(extent, value):
    nest = matrix_product(extent)
    assert solved(nest, GOLDEN, divisors_only=True, free_bypass=True).value == value


def test_known_optimum_of_a_convolution():
    sizes = {"n": 1, "m": 64, "c": 64, "p": 56, "q": 56, "r": 3, "s": 3}
    nest = nest_of(STATEMENTS["conv"], sizes)
    by_level = solved(nest, GOLDEN, divisors_only=True, nodes_by_level=True).value
    assert (solved(nest, GOLDEN, divisors_only=True).value, by_level) == (685_748_224, 691_019_776)


def test_options_are_compared_exactly():
    """Sums at decimal energies are whole multiples of one unit: floats do not tell 0.3 + 0.6 from
    0.9 otherwise."""
    options = Separable.of(0, np.array([1, 2, 3]))
    (term,) = (options * Fraction(1, 10) + options * options * Fraction(1, 5) - 0).terms
    assert term.scale == Fraction(1, 10)
    assert term.factors[0].tolist() == [3, 10, 21]


def test_nothing_to_choose():
    nest = matrix_product(1)
    design = UnevenDesign(nest, GOLDEN)
    assert design.stage(problem(design, "energy")) is None


def test_mappings_with_bypass_are_read_as_they_are_written():
    """Nodes that are not kept have no loops: documents would lose them."""
    options = MappingOptions(divisors_only=True, free_bypass=True)
    design, chance = UnevenDesign(matrix_product(4), GOLDEN, options), Random(5)
    posed, family, read = problem(design, "energy"), SpatialFamily(), 0
    tables = tables_of(design.space)
    for _ in range(400):
        values = some_row(tables, chance.randrange)
        chosen = Configuration({name: values[name] for name in design.space.quantities})
        if posed.feasible_value(chosen) is not None:
            parts = [LevelMappingDocument(**part) for part in family.tiling_fields(design, chosen)]
            assert family.configuration(design, parts) == chosen
            read += 1
    assert read > 50


def test_symbols_say_what_fractions_say():
    """Engines, fronts and the rules of the space go by symbols."""
    design, chance = UnevenDesign(matrix_product(64), GOLDEN), Random(3)
    symbols = design.metrics(Symbols(), SYMBOLIC, ["energy", "latency"])
    room, fitting = {"Buffer": 65536, "RF": 256}, []
    for _ in range(60):
        chosen = {name: chance.choice((1, 2, 4, 16)) for name in design.space.quantities}
        metrics = design.metrics(chosen, FRACTION)
        for name, symbol in symbols.items():
            assert symbol.evaluate(chosen, FRACTION) == metrics[name]
        fits = all(
            sum(metrics[f"{level}.{tensor}.capacity"] for tensor in design.tensors) <= words
            for level, words in room.items()
        )
        broken = [x for x in design.space.inequalities if x.evaluate(chosen, FRACTION) > 0]
        lanes = [prod(chosen[f"{d}.Buffer.{xy}"] for d in "mnk") for xy in "xy"]
        assert bool(broken) == (not fits or max(lanes) > 16)
        fitting.append(fits)
    assert 0 < sum(fitting) < 60


@pytest.mark.parametrize("edition", ["timeloop", "uneven"])
def test_options_of_another_edition_are_refused(edition):
    wrong = {"timeloop": {"nodes_by_level": True}, "uneven": {"within_parent": True}}[edition]
    setting = Setting(GOLDEN, matrix_product(4), edition, MappingOptions(**wrong))
    with pytest.raises(InputError, match=f"does not go with edition {edition}; allowed: edition"):
        _ = setting.design


def enumerated(design, objective, limits):
    """The least objective of all places of all prime factors between all orders of storage
    nodes."""
    best = inf
    for model, fits in placed_models(design):
        for limit in limits:
            fits &= model.metric(limit.metric) <= int(limit.bound)
        values = np.broadcast_to(model.metric(objective), fits.shape)
        best = min(best, np.where(fits, values, inf).min())
    return best


def check_proof(seed):
    rng = Random(seed)
    nest, architecture = random_case(rng)
    by_level = rng.random() < 0.3
    design = UnevenDesign(nest, architecture, MappingOptions(True, nodes_by_level=by_level))
    objective = rng.choice(("energy", "energy", "latency", "edp", "Buffer.energy"))
    limits = (Limit("pes", Fraction(2)),) if rng.random() < 0.2 else ()
    solution = solve_staged(problem(design, objective, *limits))
    best = enumerated(design, objective, limits)
    if best == inf:
        assert solution.certificate.status is Status.INFEASIBLE
        return
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == best, (seed, nest, architecture, objective)


@pytest.mark.parametrize("seed", range(306))
def test_proofs_against_all_mappings(seed):
    check_proof(seed)


@pytest.mark.slow
def test_bounds_of_interrupted_searches(monkeypatch):
    """Step by step the bound rises, rows lie above what it was before, and from the first step on
    it means more than what every mapping costs."""
    monkeypatch.setattr("ithaca.plugins.hierarchies.formulations.search.box_search.TOGETHER", 200)
    design = UnevenDesign(matrix_product(256), GOLDEN, MappingOptions(divisors_only=True))
    optimum = Fraction(139_657_216)
    stage = design.stage(problem(design, "energy"))
    assert stage is not None
    blocks = [each for each in stage.blocks(lambda: optimum + 1) if each.rest > -inf]
    rests = [each.rest for each in blocks]
    assert rests == sorted(rests)
    assert len(set(rests)) > 5
    assert float(design.least(())["energy"]) < rests[0] <= optimum
    assert all((each.bounds >= before.rest).all() for before, each in pairwise(blocks))
    assert rests[-1] == inf


def test_proofs_where_memory_is_short(monkeypatch):
    """Many boxes are open, so the last ones come first: the proof is the same."""
    best = solved(matrix_product(64), GOLDEN)
    monkeypatch.setattr("ithaca.plugins.hierarchies.formulations.search.box_search.CROWDED", 0)
    monkeypatch.setattr("ithaca.plugins.hierarchies.formulations.search.box_search.BEAM", 1)
    monkeypatch.setattr("ithaca.plugins.hierarchies.formulations.search.box_search.TOGETHER", 16)
    again = solved(matrix_product(64), GOLDEN)
    assert again.certificate.status is Status.OPTIMAL
    assert again.value == best.value
