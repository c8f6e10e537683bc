"""The report: a whole page, its figures those of the result, nothing loaded, nothing run."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from math import prod

import markupsafe
import pytest

from ithaca.commands.api.explaining import statements
from ithaca.commands.api.loading import load
from ithaca.exports.charts.specification import SCHEMA
from ithaca.exports.report.answer import best_configuration
from ithaca.exports.report.page import report_page
from ithaca.exports.report.systolic.layout import Side, Spread, elided, layout
from ithaca.files.numbers import number
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import energies
from ithaca.results.explanation import explain
from ithaca.results.view import Fact
from ithaca.solver.certificate import Status
from tests.command_line import ithaca, succeed

VOID = {"meta", "link", "br", "img", "hr", "input"}

#: Command lines of `solve` by name: all model editions, 1-D and 2-D arrays, an expression, ASIC
#: limits, untiled loops.
SOLVES = {
    "mm": "mm -s i=64,j=60,k=64",
    "one": "mm -s i=50,j=30,k=20 --dataflow k --permutation A --include-unbuildable",
    "inside": "mm -s i=32,j=32,k=32 --dataflow i,k --permutation A --include-unbuildable",
    "odyssey": "mm -s i=40,j=40,k=40 --dataflow i,j --permutation C --edition odyssey",
    "asic": "mm -s i=16,j=16,k=16 --dataflow i,j --platform asic-28nm --objective latency*energy --edition exact",
    "conv": "conv2d -s o=16,r=8,c=8,i=16 --dataflow o,r --permutation cout",
    "unlimited": "mm -s i=64,j=64,k=64 --dataflow i,j --permutation C --limit latency=1e9",
}


class Page(HTMLParser):
    """A page as a list of elements, with the text of each."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = {}
        self._open = []
        self.misnested = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data):
        for tag in set(self._open):
            self.texts[tag][-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def solved(folder, name):
    path = folder / f"{name}.json"
    succeed("solve", *SOLVES[name].split(), "-o", path)
    return path


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return cache(lambda name: load(solved(folder, name)))


@pytest.fixture(scope="module")
def written(result):
    """The page of each, drawn once for all tests that read it."""
    return cache(lambda name: page_of(result(name)))


def chart_of(page, name):
    """The specification of a chart of a page."""
    places = [attributes.get("id") for tag, attributes in page.elements if tag == "script"]
    return json.loads(page.texts["script"][places.index(f"{name}-chart")])


def page_of(result, around=2):
    explanation = explain(result, result.solutions, None)
    return report_page(result, statements(result, explanation), around)


@pytest.mark.parametrize("name", SOLVES)
def test_the_page_says_what_the_terminal_says(written, result, name):
    text = written(name)
    facts = [block for block in result(name).view if isinstance(block, Fact)]
    assert {"best", "objective", "latency", "limited by"} <= {fact.term for fact in facts}
    assert [fact for fact in facts if f">{markupsafe.escape(fact.text)}<" not in text] == []


@pytest.mark.parametrize("name", SOLVES)
def test_structure(written, name):
    text = written(name)
    page = Page(text)
    assert page.misnested == []
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("title")) >= 1
    assert [tag for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)] == ["h1", *["h2"] * 11]
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1, landmark
    named = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(named) == len(set(named))
    targets = [a["href"] for a in page.all("a")]
    assert targets[0] == "#main"
    assert {target.removeprefix("#") for target in targets} <= set(named)
    drawings = page.all("svg")
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert set(attributes["aria-labelledby"].split()) <= set(named)
    assert all(page.texts["desc"])
    charts = [a for a in page.all("div") if a.get("class") == "plot"]
    assert len(charts) >= 5
    for attributes in charts:
        assert attributes["tabindex"] == "0"
        assert attributes["aria-label"]
        assert f"{attributes['id']}-chart" in named
    assert not any(text.endswith("…") for text in page.texts["text"])
    assert len(page.texts["desc"]) == len(drawings)
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(heading.get("scope") in ("col", "row") for heading in page.all("th"))
    assert len(text) < 1_200_000
    # charts are drawn by the page; the array for broad pages, and for phones
    assert [attributes["class"] for attributes in drawings] == ["broad", "narrow"]
    assert len(charts) == len(page.texts["figcaption"]) - 1


@pytest.mark.parametrize("name", ["mm", "one"])
def test_nothing_is_loaded_and_nothing_but_its_own_scripts_run(written, name):
    text = written(name)
    page = Page(text)
    assert not page.all("link")
    own = [text.strip() for text in page.texts["script"] if text.strip()]
    run = [text for text in own if not text.startswith("{")]
    assert len(run) == 3
    text = re.sub("<script>.*?</script>", "", text, flags=re.DOTALL)
    assert set(re.findall(r"[a-z]+://[^\"]*", text)) == {SCHEMA}  # a name, not loaded
    assert "@import" not in text
    for tag, attributes in page.elements:
        assert not {"src", "style", "srcset", "action"} & set(attributes), tag
        assert not any(key.startswith("on") for key in attributes), tag
        assert attributes.get("href", "#").startswith("#")
    assert re.findall(r"url\(([^)]*)\)", text) == re.findall(r"url\((#[^)]*)\)", text)
    policy = next(
        a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    scripts = re.search("script-src ([^;]*);", policy)[1]
    assert "unsafe" not in policy
    hashes = [b64encode(sha256(one.encode()).digest()).decode() for one in page.texts["script"]]
    assert {f"'sha256-{one}'" for one in hashes} > {*scripts.split()}
    assert len(scripts.split()) == 3


@pytest.mark.parametrize("name", ["mm", "odyssey", "asic", "conv"])
def test_figures_are_the_results(result, written, name):
    loaded = result(name)
    best = loaded.best
    page = Page(written(name))
    cells, values = page.texts["td"], page.texts["span"]
    assert number(best.value) in values
    for metric, value in best.metrics.items():
        assert number(value) in cells, metric
    words = "; ".join(page.texts["dd"])
    for loop, factor in best.tiling.array_part.items():
        assert re.search(rf"\b{loop}: array part {factor}\b", words)
    for factor in best.tiling.latency_hiding.values():
        assert factor == 1 or f"latency hiding {factor} " in words
    assert best.tiling.simd == 1 or f"SIMD {best.tiling.simd} " in words
    designs = [text for text in page.texts["th"] if text.startswith("[")]
    assert sorted(designs) == sorted(s.design for s in loaded.designs)
    assert best.configuration is not None
    costs = systolic(best.problem).costs(best.configuration)
    for module, cost in costs.modules.items():
        assert module in page.texts["th"]
        assert number(cost.total) in cells
    for limit in loaded.limits:
        assert number(limit.used(best.metrics)) in cells


def test_names_of_users_are_escaped(result):
    name = "<script>alert('x')</script>\"&amp;"
    text = page_of(replace(result("conv"), platform_name=name))
    page = Page(text)
    assert len(page.all("script")) == len(Page(page_of(result("conv"))).all("script"))
    assert page.texts["h1"] == [f"conv2d on {name}"]


def test_the_same_result_gives_the_same_page(result, written):
    assert page_of(result("conv")) == written("conv")


def test_the_array_is_laid_out_by_its_model(result):
    loaded = result("inside")
    known = best_configuration(loaded)
    assert loaded.best.tiling is not None
    plan, tiling = layout(systolic(known.problem).costs(known.configuration)), loaded.best.tiling
    t1, t2 = tiling.array_part, tiling.latency_hiding
    assert plan.rows == t1["i"] // t2["i"]
    assert plan.columns == t1["k"] // tiling.simd
    # A is indexed by both space loops, B by k alone, C by i alone
    sides = {(s.group.name, s.direction.value): s.side for s in plan.streams}
    assert sides["A", "in"] is Side.TOP
    assert sides["B", "in"] is Side.TOP
    assert sides["C", "in"] is Side.LEFT
    assert sides["C", "out"] is Side.RIGHT
    held = {p.module.name: p for s in plan.streams for p in s.modules}
    assert held["A_IO_L1_in"].spread is Spread.PE
    assert held["A_IO_L1_in"].instances == plan.rows * plan.columns
    assert held["A_IO_L1_in"].buffer == t2["i"] * tiling.simd
    assert held["B_IO_L2_in"].buffer == t1["j"] * tiling.simd
    assert held["C_IO_L3_out"].spread is Spread.ONE


@pytest.mark.parametrize("name", ["mm", "conv", "asic"])
def test_the_roofline_is_that_of_the_textbook(result, name):
    from ithaca.exports.report.systolic.sections import roofline_chart
    from ithaca.formulations.systolic.insight.facts import facts

    loaded = result(name)
    known = best_configuration(loaded)
    design = systolic(known.problem)
    costs = design.costs(known.configuration)
    chart = roofline_chart(known, facts(design.nest, costs, known.problem.limits).roofs)
    assert chart.log_x
    assert chart.log_y
    assert design.nest.name in chart.title
    assert loaded.platform_name in chart.title
    operations, word, clock = (
        2 * prod(design.nest.sizes.values()),
        design.data.bytes,
        float(design.technology.clock_mhz),
    )
    slope, flat = chart.series[:2]
    answer = chart.series[-1]
    assert answer.role == "answer"
    assert answer.x[0] == pytest.approx(
        operations / (float(known.solution.metrics["off_chip_words"]) * word)
    )
    assert answer.y[0] == pytest.approx(
        operations / (float(known.solution.metrics["latency"]) / clock) / 1000
    )
    limits = {limit.metric: limit.bound for limit in known.problem.limits}
    units = (
        limits["dsp"] // design.data.dsp_per_mac
        if "dsp" in limits
        else known.solution.metrics["comp"]
    )
    assert flat.y == (pytest.approx(float(units) * 2 * clock / 1000),) * 2
    assert slope.x[1] == flat.x[0]
    bandwidth = slope.y[0] / slope.x[0]
    assert (
        bandwidth
        == pytest.approx(slope.y[1] / slope.x[1])
        == pytest.approx(float(limits.get("bandwidth", bandwidth)))
    )
    for series in chart.series:
        for x, y in zip(series.x, series.y, strict=True):
            assert y <= min(bandwidth * float(x), flat.y[0]) * 1.0001, series.name


@pytest.mark.parametrize("name", ["mm", "conv", "asic"])
def test_energy_is_that_of_its_components(result, written, name):
    from ithaca.exports.report.systolic.sections import KINDS, energy

    loaded = result(name)
    assert loaded.best.configuration is not None
    design = systolic(loaded.best.problem)
    costs = design.costs(loaded.best.configuration)
    spent = energies(costs)
    assert set(spent) == set(KINDS)
    assert sum(spent.values()) == loaded.best.metrics["energy"]
    assert (
        spent["dram"]
        == loaded.best.metrics["off_chip_words"] * design.technology.dram * design.technology.mac_pj
    )
    page = Page(written(name))
    chart = chart_of(page, "energy-chart")
    pieces = next(layer["data"]["values"] for layer in chart["layer"] if "params" in layer)
    assert [piece["piece"] for piece in pieces] == [*KINDS.values()]
    for piece, own in zip(pieces, (spent[kind] for kind in KINDS), strict=True):
        assert piece["to"] - piece["from"] == pytest.approx(float(own) / 10**6)
    assert number(spent["dram"] / 10**6) in page.texts["td"]
    assert energy(costs).title in page.texts["h2"]


def test_a_large_array_is_elided_with_true_counts():
    assert elided(5, 5) == [0, 1, 2, 3, 4]
    assert elided(172, 5) == [0, 1, 2, 3, None, 171]


def test_landscape_holds_the_answer_and_no_better_point(result):
    from ithaca.exports.report.landscape import survey

    loaded = result("mm")
    known = best_configuration(loaded)
    found, answer = survey(known, 3), known.value
    place = found.y.tolist().index(found.marked[1]), found.x.tolist().index(found.marked[0])
    assert found.values[place] == answer
    assert found.texts[place[0]][place[1]] == "0"
    assert "mm (i=64, j=60, k=64) fp32" in found.title
    assert "u250" in found.title
    assert not found.most
    assert known.certificate.status is Status.OPTIMAL
    assert min(v for v in found.values.flat if v == v) == answer


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--limit bram18k=1", ["Proven infeasible", "bram18k"]),
        ("--time-limit 0.0001", ["Nothing found", "before the search ended"]),
    ],
)
def test_results_without_a_configuration(tmp_path, options, words):
    file, out = tmp_path / "r.json", tmp_path / "r.html"
    assert (
        ithaca("solve", "mm", "-s", "i=64,j=64,k=64", *options.split(), "-o", file).returncode == 1
    )
    succeed("report", file, "-o", out)
    text = out.read_text(encoding="utf-8")
    assert all(word in text for word in words)
    assert Page(text).misnested == []


def test_the_command_writes_whole_pages_or_none(tmp_path, result):
    file, out = solved(tmp_path, "conv"), tmp_path / "page.html"
    succeed("report", file, "-o", out, "--time-limit", "1")
    text = out.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert (
        "largest gain of those tried" in text
        or "nothing that was tried helps" in text.lower()
        or "no gain was proven" in text.lower()
    )
    file.write_text(
        file.read_text(encoding="utf-8").replace('"latency": ', '"latency": 1', 1), encoding="utf-8"
    )
    refused = ithaca("report", file, "-o", out)
    assert refused.returncode == 2
    assert "latency" in refused.stderr
    assert out.read_text(encoding="utf-8") == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conv.json", "page.html"]


@pytest.mark.parametrize(
    "options", ["--around 16", "--around -1", "--quick --time-limit 5", "--time-limit x"]
)
def test_bad_options(tmp_path, options):
    done = ithaca("report", "none.json", "-o", tmp_path / "r.html", *options.split())
    assert done.returncode == 2
    assert (
        options.split()[0].removeprefix("--quick") in done.stderr or "--time-limit" in done.stderr
    )
