"""The page of a mapping onto a memory hierarchy: what it draws, on screens and phones."""

import re

import pytest

import ithaca
from ithaca.exports.charts.rendering import svg
from ithaca.exports.report.answer import best_configuration
from ithaca.plugins.hierarchies.exports import report as spatial
from ithaca.plugins.hierarchies.formulations.mapping_design import mapping_design
from tests.browser import cut_texts, shown
from tests.command_line import refused, succeed

SIZES = {"o": 4, "i": 4, "p": 3, "q": 3, "r": 4, "c": 4}


@pytest.fixture(scope="module")
def result():
    return ithaca.map("conv2d", sizes=SIZES, arch="eyeriss", divisors_only=True, objective="edp")


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    file = tmp_path_factory.mktemp("mapped") / "page.html"
    result.report(file, quick=True)
    return file


@pytest.fixture(scope="module")
def best(result):
    found = best_configuration(result)
    assert found is not None
    return found


def charts(best, monkeypatch):
    """The charts of the page, by name."""
    made = {}
    plain = spatial.chart_figure

    def kept(name, chart):
        made[name] = chart
        return plain(name, chart)

    monkeypatch.setattr(spatial, "chart_figure", kept)
    monkeypatch.setattr("ithaca.exports.report.blocks.chart_figure", kept)
    spatial.sections(best)
    return made


@pytest.mark.parametrize("width", [390, 1280])
def test_drawings_fit_and_are_legible(browser, page, width):
    tab, wrong = shown(browser, page, width)
    assert wrong == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert cut_texts(tab) == []
    drawings = tab.evaluate(
        """[...document.querySelectorAll('#hierarchy svg')].filter(svg => svg.clientWidth).map(svg =>
            12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"""
    )
    assert len(drawings) == 1
    assert drawings[0] >= 11


def test_buffers_are_as_full_as_metrics_say(best, monkeypatch):
    chart, metrics = charts(best, monkeypatch)["occupancy-chart"], best.solution.metrics
    levels = [x for x in mapping_design(best.problem.design).architecture.levels if x.words]
    assert [bar.name for bar in chart.bars] == [level.name for level in levels]
    for bar, level in zip(chart.bars, levels, strict=True):
        held = [metrics.get(f"{level.name}.{tensor}.capacity", 0) for tensor in chart.parts]
        assert bar.parts == pytest.approx([100 * float(n / level.words) for n in held])
        assert sum(bar.parts) <= 100
        assert bar.note.startswith(f"{int(sum(held)):,} of {level.words:,} words")


def test_energy_is_one_bar_of_levels(best, monkeypatch):
    chart, metrics = charts(best, monkeypatch)["energy-chart"], best.solution.metrics
    (bar,) = chart.bars
    for level, part in zip(chart.parts[:-1], bar.parts, strict=False):
        assert part == pytest.approx(float(metrics[f"{level}.energy"]) / 1e6)
    assert sum(bar.parts) == pytest.approx(float(metrics["energy"]) / 1e6)
    drawing = svg(chart)
    assert {*chart.parts} <= {*re.findall("<text[^>]*>([^<]+)</text>", drawing)}
    tips = re.findall('aria-label="(in all, [^:"]*):', drawing)
    assert tips == [f"in all, {part}" for part in chart.parts]


def test_no_energy_is_not_zero_energy(tmp_path):
    listed = succeed("list", "architectures").stdout
    assert not re.search(r"\b0 pJ", listed)
    architecture = tmp_path / "free.yaml"
    architecture.write_text(
        "architecture:\n  version: 0.4\n  nodes:\n"
        "  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 16, read_energy: 0, write_energy: 0}}\n"
        "  - !Component {name: mac, class: intmac, attributes: {datawidth: 16, compute_energy: 0}}\n"
    )
    words = ("--problem", "mm", "-s", "i=4,j=4,k=4", "--arch", architecture)
    succeed("map", *words, "-o", "free.json", cwd=tmp_path)
    succeed("report", "free.json", "-o", "free.html", "--quick", cwd=tmp_path)
    text = (tmp_path / "free.html").read_text()
    assert "No energy is stated." in text
    assert not re.search(r"\b0 [pµ]J", text)


def test_a_run_is_drawn_module_by_module(tmp_path):
    words = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--gap", "0.9", "-o", "r.json")
    succeed("solve", *words, cwd=tmp_path)
    done = succeed("simulate", "r.json", "--plot", "run.html", cwd=tmp_path)
    assert "wrote run.html" in done.stderr
    text = (tmp_path / "run.html").read_text()
    assert "when modules work" in text
    assert all(name in text for name in ("PE", "A_IO_L2_in", "C_drain_IO_L1_out"))
    assert refused("simulate", "r.json", "--plot", "run.txt", cwd=tmp_path).count("allowed: ") == 1
    points = ("simulate", "mm", "--points", "no.csv", "--plot", "run.html")
    assert "--plot show one run" in refused(*points, cwd=tmp_path)
