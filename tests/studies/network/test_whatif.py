"""What-ifs of networks, against answers of `ithaca.network` to each question by itself."""

import json
from fractions import Fraction

import pytest

import ithaca
from ithaca.studies.network import runner
from ithaca.workloads.networks.find import is_network
from tests.command_line import ithaca as command
from tests.command_line import refused
from tests.plugins.onnx.graphs import Graph

QUICK = {"divisors_only": True, "dataflow": "i,j", "edition": "exact"}
PAIR = """\
name: pair
layers:
  - {op: kernel, name: wide, kernel: mm, sizes: {i: 4, j: 6, k: 8}}
  - {op: kernel, name: deep, kernel: mm, sizes: {i: 6, j: 2, k: 12}, count: 3}
"""
LIMIT = {"bram18k": 100}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A network of two layers as a file."""
    path = tmp_path_factory.mktemp("tiny") / "pair.yaml"
    path.write_text(PAIR)
    return path


@pytest.fixture(scope="module")
def study(tiny):
    """A study of two budgets with the worth of every limit."""
    return ithaca.whatif(tiny, **QUICK, limit=LIMIT, vary={"dsp": [10, 60]}, marginal=100)


def one(tiny, **terms):
    """The network's answer to one question."""
    return ithaca.network(tiny, **QUICK, **terms)


def test_points_are_answers_of_network(study, tiny):
    for dsp, point in zip((10, 60), study.points.values(), strict=True):
        alone = one(tiny, limit={**LIMIT, "dsp": dsp})
        assert point.answer.value == alone.value
        assert point.answer.lower_bound == alone.lower_bound == alone.value
        assert point.answer.sum_of("latency") == alone.value


def test_marginal_values_are_answers_of_network(study, tiny):
    for dsp, point in zip((10, 60), study.points.values(), strict=True):
        raised = {m.limit.metric: m for m in point.marginals}
        assert raised
        for metric, marginal in raised.items():
            limits = {**LIMIT, "dsp": dsp}
            limits[metric] = limits[metric] * 2
            alone = one(tiny, limit=limits)
            assert marginal.after.value == alone.value, metric
            before = point.answer.value
            assert marginal.change == pytest.approx(float(alone.value / before - 1))
            assert marginal.proven
    first = study.points[0,].marginals
    assert any(m.change for m in first), "nothing binds"


def test_platforms_formats_and_objectives_vary(tiny):
    vary = {"platform": ["u250", "zcu102"], "dtype": ["fp32", "int16"]}
    study = ithaca.whatif(tiny, **QUICK, vary=vary, objective="energy")
    for index, point in study.points.items():
        terms = study.labels(index)
        alone = one(tiny, objective="energy", **terms)
        assert point.answer.value == alone.value, terms
        assert point.answer.request.place == terms["platform"]
    assert len({p.answer.value for p in study.points.values()}) > 1


@pytest.mark.parametrize(
    "vary",
    [
        {"phase": ["decode", "prefill"], "mode": ["per-layer", "shared-dataflow"]},
        {"context": [16, 64]},
    ],
)
def test_phases_modes_and_sizes_vary(tmp_path, vary):
    terms = {"layers": ["*scores"], "dataflow": "b,j", "divisors_only": True}
    study = ithaca.whatif("llama3.2-1b", **terms, vary=vary)
    for index, point in study.points.items():
        own = study.labels(index)
        alone = ithaca.network("llama3.2-1b", **terms, **own)
        assert point.answer.value == alone.value
        assert point.answer.network == alone.network
        assert point.answer.mode == alone.mode
    assert len({point.answer.value for point in study.points.values()}) > 1
    study.save(tmp_path / "s.json")
    assert ithaca.load(tmp_path / "s.json") == study


def test_figures_of_hierarchies_vary(tiny, tmp_path):
    terms = {"layers": ["wide"], "arch": "simple", "divisors_only": True, "objective": "energy"}
    vary = {"Buffer.words": [16, 4096]}
    study = ithaca.whatif(tiny, **terms, vary=vary)
    values = [point.answer.value for point in study.points.values()]
    mapped = ithaca.whatif(
        "mm", i=4, j=6, k=8, arch="simple", divisors_only=True, objective="energy", vary=vary
    )
    assert values == [point.answer.value for point in mapped.points.values()]
    assert values[0] > values[1]
    study.save(tmp_path / "s.json")
    assert ithaca.load(tmp_path / "s.json") == study


def test_layers_of_several_points_are_solved_once(tiny, monkeypatch):
    """Layers that a batch does not change are the same problems at both points."""
    searched = []
    solve = runner.solve_together

    def counting(problems, *rest, **more):
        searched.append(len(problems))
        return solve(problems, *rest, **more)

    monkeypatch.setattr(runner, "solve_together", counting)
    ithaca.whatif(tiny, **QUICK, limit=LIMIT, vary={"mode": ["per-layer", "shared-dataflow"]})
    assert searched[0] > 0
    assert searched[1] == 0


def test_answers_are_kept(tiny, tmp_path, monkeypatch):
    terms = {**QUICK, "limit": LIMIT, "vary": {"dsp": [20, 60]}, "results": tmp_path / "kept"}
    first = ithaca.whatif(tiny, **terms)
    searched = []
    monkeypatch.setattr(
        runner, "solve_together", lambda problems, *_, **__: searched.extend(problems) or ()
    )
    assert ithaca.whatif(tiny, **terms) == first
    assert not searched


def test_files_say_what_was_answered(study, tmp_path):
    study.save(tmp_path / "s.json")
    read = ithaca.load(tmp_path / "s.json")
    assert read == study
    assert ithaca.verify(tmp_path / "s.json").confirmed
    lines = str(ithaca.explain(tmp_path / "s.json"))
    assert "Along dsp_limit: latency is 10: " in lines
    ithaca.report(read, tmp_path / "s.html")
    assert "bound by" in (tmp_path / "s.html").read_text()
    with pytest.raises(ithaca.InputError, match="is a what-if study; allowed: a result"):
        ithaca.export(read, "autosa", tmp_path / "folder")


def test_prices_say_what_speed_costs(tiny):
    prices = {"u250": 9000, "zcu102": 2500.5}
    study = ithaca.whatif(tiny, **QUICK, vary={"platform": ["u250", "zcu102"]}, price=prices)
    table = study.view[1]
    costs = {}
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        name = cells["platform"]
        alone = one(tiny, platform=name)
        costs[name] = Fraction(str(prices[name])) * alone.sum_of("time") / 1000
        assert cells["price"] == f"{prices[name]:,}"
        assert float(cells["price of 1 run/s"].replace(",", "")) == pytest.approx(
            float(costs[name]), rel=1e-3
        )
    cheapest = min(costs, key=lambda name: costs[name])
    assert any(
        line.startswith(f"Cheapest for its speed: platform {cheapest},")
        for line in study.statements
    )


def test_time_ends_with_what_is_known(tiny):
    study = ithaca.whatif(tiny, vary={"platform": ["u250", "zcu102"]}, time_limit=1e-6)
    assert study.status == "unknown"
    assert study.failure.startswith("nothing found")
    (table,) = (block for block in study.view if hasattr(block, "columns"))
    assert "–" not in set(table.columns) - {"–/s"}


def test_points_without_an_answer_say_why(tiny):
    words = ("--dataflow", "i,j", "--divisors-only", "--vary", "dsp=1,2")
    done = command("whatif", tiny, *words)
    assert done.returncode == 1
    assert "limit dsp = 1 cannot be met" in done.stderr
    assert "dsp_limit 2: infeasible" in done.stdout


@pytest.mark.parametrize(
    ("terms", "line"),
    [
        ({}, "nothing to study"),
        ({"vary": "phase=decode"}, "vary 'phase' is unknown; allowed: mode; limits latency"),
        ({"vary": "mode=shared"}, "'shared' is no mode; allowed: per-layer, shared-dataflow"),
        ({"vary": "objective=dsp"}, "'dsp' does not add up over layers"),
        ({"vary": "dsp=20", "price": "u250=3"}, "names 'u250'; allowed: with vary platform"),
        ({"vary": "platform=u250", "price": "u25=3"}, "price names 'u25'; allowed: u250"),
        ({"vary": "platform=u250", "price": "u250=0"}, "price u250 is '0'"),
        (
            {"vary": "platform=u250", "platform": "u250"},
            "'platform' is fixed by another option, too",
        ),
        ({"vary": "mode=per-layer", "arrays": 2}, "arrays does not go with mode per-layer"),
    ],
)
def test_refusals(tiny, terms, line):
    with pytest.raises(ithaca.InputError, match=line):
        ithaca.whatif(tiny, **terms)


def test_models_in_files_are_networks(tmp_path):
    graph = Graph(words=[4, 8])
    graph.add("MatMul", "words", graph.weight(8, 6))
    graph.network(tmp_path)
    terms = {"dtype": "int16", **QUICK}
    study = ithaca.whatif(tmp_path / "model.onnx", **terms, vary={"dsp": [2, 8]})
    alone = ithaca.network(tmp_path / "model.onnx", limit={"dsp": 8}, **terms)
    assert study.points[1,].answer.value == alone.value
    assert study.points[0,].answer.value > alone.value


@pytest.mark.parametrize(
    ("source", "network"),
    [("vgg16", True), ("mm", False), ("llama3-8b", True), ("net.onnx", True), ("nest.yaml", False)],
)
def test_what_a_network_is(source, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nest.yaml").write_text("statement: C[i] += A[i]\nextents: {i: 4}\n")
    assert is_network(source) == network


def test_labels_that_cannot_be_compared_are_said_to_be(tiny, tmp_path):
    """A share of a device that is a file elsewhere."""
    study = ithaca.whatif(tiny, **QUICK, dtype="int16", vary={"dsp": ["1%"]})
    study.save(tmp_path / "s.json")
    text = (tmp_path / "s.json").read_text()
    assert ithaca.verify(tmp_path / "s.json").confirmed
    (tmp_path / "s.json").write_text(text.replace('"u250"', '"board"'))
    verified = ithaca.verify(tmp_path / "s.json")
    assert not verified.confirmed
    assert "labels are not checked" in str(verified)


def test_a_limit_is_raised_once_a_point(study, tmp_path):
    document = study.document
    document["points"][0]["marginal"] *= 2
    (tmp_path / "study.json").write_text(json.dumps(document))
    assert "occurs twice; allowed: once" in refused("verify", tmp_path / "study.json")


def test_products_over_layers_are_studied_as_network_answers_them(tiny):
    words = {"arch": "simple", "divisors_only": True}
    answer = ithaca.whatif(tiny, **words, vary={"Buffer.words": [1024, 4096]})
    for point in answer.points.values():
        assert point.answer.request.objective.text == "edp"
    alone = ithaca.network(tiny, **words)
    assert min(point.answer.value for point in answer.points.values()) <= alone.value
    assert {point.answer.status for point in answer.points.values()} == {alone.status}


def test_some_points_without_an_answer_make_no_study_infeasible(tiny):
    answer = ithaca.whatif(tiny, **QUICK, vary={"dsp": [0, 60]})
    assert answer.status == "optimal"
    assert "(1 infeasible, 1 optimal)" in answer.headline
    assert ithaca.whatif(tiny, **QUICK, vary={"dsp": [0]}).status == "infeasible"
