"""Fronts of networks, against all sums of all configurations of two small layers."""

import json
from itertools import product
from random import Random

import pytest

import ithaca
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.studies.network import front as fronts
from ithaca.studies.region import undominated
from tests.command_line import refused
from tests.solver.enumeration import objectives_of_all
from tests.studies.brute_front import brute_front

PAIR = """\
name: pair
layers:
  - {op: kernel, name: wide, kernel: mm, sizes: {i: 2, j: 3, k: 2}}
  - {op: kernel, name: deep, kernel: mm, sizes: {i: 3, j: 2, k: 4}, count: 3}
"""
LIMIT = {"dsp": 6, "bram18k": 40}
TERMS = {"limit": LIMIT, "dataflow": "i,j", "edition": "exact", "dtype": "int16"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The network as a file."""
    path = tmp_path_factory.mktemp("pair") / "pair.yaml"
    path.write_text(PAIR)
    return path


def total(vectors, counts, added):
    """The totals of a network that runs layers of these objectives."""
    return tuple(
        sum(n * v[place] for n, v in zip(counts, vectors, strict=True))
        if adds
        else max(v[place] for v in vectors)
        for place, adds in enumerate(added)
    )


def at_most(one, other):
    """Whether a vector is at most another, but for errors of doubles."""
    return all(a <= b * (1 + 1e-9) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("texts", "added"),
    [
        (("latency", "energy"), (True, True)),
        (("latency", "dsp"), (True, False)),
        pytest.param(
            ("off_chip_words + latency", "energy", "dsp"),
            (True, True, False),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_fronts_are_those_of_all_pairs(pair, texts, added):
    answer = ithaca.pareto(pair, objectives=list(texts), **TERMS)
    assert answer.complete
    known = [tuple(map(float, point.values)) for point in answer.points]
    counts = [layer.layer.count for layer in answer.layers]
    each = [brute_front(layer.front.problems, texts) for layer in answer.layers]
    sums = {total(vectors, counts, added) for vectors in product(*each)}
    least = [v for v in sums if not any(o != v and at_most(o, v) for o in sums)]
    assert len(known) == len(least) > 2
    for one, other in zip(known, sorted(least), strict=True):
        assert one == pytest.approx(other, rel=1e-9)
    # nor does any pair of configurations, on the fronts or not, undercut the points
    rng, expressions = Random(0), [parse_objective(text).expression for text in texts]
    every = [
        [v for p in layer.front.problems for o in objectives_of_all(p, expressions) for v in o.T]
        for layer in answer.layers
    ]
    for _ in range(300):
        drawn = total([rng.choice(vectors) for vectors in every], counts, added)
        assert any(at_most(point, drawn) for point in known)


def test_points_are_sums_of_what_they_choose(pair):
    answer = ithaca.pareto(pair, objectives="latency,energy", **TERMS)
    for point in answer.points:
        chosen = [
            layer.front.points[n] for layer, n in zip(answer.layers, point.choice, strict=True)
        ]
        for place in range(2):
            parts = zip(answer.layers, chosen, strict=True)
            assert point.values[place] == sum(x.layer.count * p.values[place] for x, p in parts)
    for place, text in enumerate(("latency", "energy")):
        best = ithaca.network(pair, objective=text, **TERMS)
        assert min(point.values[place] for point in answer.points) == best.value


@pytest.mark.parametrize("numbers", [2, 3, 4])
def test_undominated_sums_are_those_by_pairs(numbers):
    rng = Random(numbers)
    for _ in range(50):
        sums = [(tuple(rng.randrange(6) for _ in range(numbers)), (place,)) for place in range(40)]
        kept = [vector for vector, _ in undominated(sums)]
        vectors = {vector for vector, _ in sums}
        alone = {
            v
            for v in vectors
            if not any(o != v and all(a <= b for a, b in zip(o, v, strict=True)) for o in vectors)
        }
        assert set(kept) == alone
        assert len(kept) == len(alone)


def test_sums_are_compared_in_batches_with_the_same_front(pair, monkeypatch):
    whole = ithaca.pareto(pair, objectives="latency,energy", **TERMS)
    for batch in (1, 3):
        monkeypatch.setattr(fronts, "BATCH", batch)
        part = fronts.NetworkFront(whole.network, whole.objectives, whole.layers)
        assert part.points == whole.points


def test_many_sums_are_thinned_and_said_to_be(pair, monkeypatch, tmp_path):
    whole = ithaca.pareto(pair, objectives="latency,energy", **TERMS)
    assert whole.complete
    monkeypatch.setattr(fronts, "MOST_SUMS", 2)
    part = fronts.NetworkFront(whole.network, whole.objectives, whole.layers)
    assert part.thinned
    assert not part.complete
    assert part.status == "feasible"
    assert 1 <= len(part.points) <= 3
    assert "partial (more than 2 sums were thinned)" in part.view[1]


def test_files_say_what_was_computed(pair, tmp_path):
    answer = ithaca.pareto(pair, objectives="latency,dsp", **TERMS)
    answer.save(tmp_path / "f.json")
    read = ithaca.load(tmp_path / "f.json")
    assert read == answer
    assert [point.values for point in read.points] == [point.values for point in answer.points]
    lines = str(ithaca.explain(tmp_path / "f.json"))
    assert f"Least latency: {answer.points[0].values[0]}, with dsp" in lines
    ithaca.report(read, tmp_path / "f.html")
    assert "points-chart" in (tmp_path / "f.html").read_text()
    rows = answer.table.splitlines()
    assert rows[0] == "point,objectives.latency,objectives.dsp,choice.wide,choice.deep"
    assert len(rows) == len(answer.points) + 1
    data = answer.to_xarray()
    assert data.objectives.values.tolist() == [[float(v) for v in p.values] for p in answer.points]
    with pytest.raises(ithaca.InputError, match="is a front; allowed: a result"):
        ithaca.export(read, "autosa", tmp_path / "folder")


def test_fronts_are_verified(pair):
    answer = ithaca.pareto(
        pair, objectives="latency,dsp", layers=["wide"], limit=LIMIT, dataflow="i,j"
    )
    assert answer.status == "optimal"
    assert "counted" in answer.basis
    assert ithaca.verify(answer).confirmed


def test_fronts_on_hierarchies(pair):
    terms = {"arch": "simple", "divisors_only": True, "objectives": "latency,energy"}
    answer = ithaca.pareto(pair, **terms)
    own = [
        ithaca.pareto("mm", i=2, j=3, k=2, **terms),
        ithaca.pareto("mm", i=3, j=2, k=4, **terms),
    ]
    sums = {
        (a.values[0] + 3 * b.values[0], a.values[1] + 3 * b.values[1])
        for a, b in product(*(front.points for front in own))
    }
    best = {s for s in sums if not any(o != s and o[0] <= s[0] and o[1] <= s[1] for o in sums)}
    assert {point.values for point in answer.points} == best


def test_time_ends_with_what_is_known(pair):
    answer = ithaca.pareto(pair, objectives="latency,energy", time_limit=1e-6)
    assert not answer.complete
    assert answer.status == "unknown"
    assert answer.failure.startswith("wide: nothing proven before the search ended")


@pytest.mark.parametrize(
    ("terms", "line"),
    [
        ({"objectives": "latency,edp"}, "'edp' is no sum over layers; allowed with networks: sums"),
        ({"objectives": "latency,latency*energy"}, "'latency\\*energy' is no sum over layers"),
        ({"objectives": "latency"}, "a front needs 2 to 5 objectives"),
        ({"mode": "shared-dataflow"}, "mode does not go with pareto of a network"),
        ({"fuse": True}, "fuse does not go with pareto of a network"),
        ({"max_points": 3}, "max_points does not go with networks"),
    ],
)
def test_refusals(pair, terms, line):
    with pytest.raises(ithaca.InputError, match=line):
        ithaca.pareto(pair, **{"objectives": "latency,dsp", **terms})


def test_a_layer_that_hides_behind_the_name_of_another_is_refused(pair, tmp_path):
    """Parts are verified by name: of two with one name the first was not."""
    answer = ithaca.pareto(pair, objectives=["latency", "dsp"], **TERMS)
    document = answer.document
    document["layers"][0]["name"] = document["layers"][1]["name"]
    (tmp_path / "front.json").write_text(json.dumps(document))
    assert "layer 'deep' occurs twice" in refused("verify", tmp_path / "front.json")


def test_fronts_of_layers_of_several_formats_are_read_back(tmp_path):
    path = tmp_path / "pair.yaml"
    path.write_text(PAIR.replace("k: 2}}", "k: 2}, format: {A: int4}}"))
    terms = {**TERMS, "dtype": "int8", "dataflow": "i"}
    front = ithaca.pareto(path, objectives="latency,dsp", **terms)
    front.save(tmp_path / "front.json")
    assert ithaca.load(tmp_path / "front.json").points == front.points
