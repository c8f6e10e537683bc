"""The report of a network: one page, with the array of every layer in it."""

import re
from collections import Counter
from html import escape

import pytest

from ithaca.commands.api.loading import load
from ithaca.files.numbers import number, percent
from tests.browser import cut_texts, shown
from tests.command_line import ithaca, succeed
from tests.studies.network.tiny import QUICK, tiny_file


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((), marks=pytest.mark.ci),
        pytest.param(("--mode", "shared-dataflow"), marks=pytest.mark.ci),
        pytest.param(("--mode", "shared-array", "--layers", "mm"), marks=pytest.mark.ci),
    ],
)
def reported(tmp_path_factory, request):
    """A result, and its page."""
    folder = tmp_path_factory.mktemp("report")
    file, page = folder / "r.json", folder / "r.html"
    done = succeed("network", tiny_file(folder), *QUICK, *request.param, "-o", file)
    done = succeed("report", file, "-o", page)
    assert done.stderr.startswith(f"wrote {page}: ")
    return file, page


def test_a_page_holds_every_layer_its_share_and_its_array(reported):
    file, page = reported
    result, text = load(file), page.read_text()
    assert "Proven optimal" in text
    assert number(result.total.value) in text
    for index, layer in enumerate(result.layers):
        assert f'<a href="#layer-{index}">{layer.layer.name}</a>' in text
        inside = text[text.index(f'<div id="layer-{index}">') :].partition('<div id="layer-')[2]
        assert escape(str(layer.layer.nest)) in inside
        assert f"The array of design {layer.answer.design}" in inside
        share = layer.layer.count * layer.answer.value / result.total.value
        assert f"({percent(share)})" in text
    for array in result.arrays:
        assert " ".join(f"{name}={value}" for name, value in array.parameters.items()) in text
    assert all(f">{choice.name}<" in text for choice in result.choices)
    names = Counter(re.findall(r'\bid="([^"]+)"', text))
    assert [name for name, times in names.items() if times > 1] == []
    assert set(re.findall(r'href="#([^"]+)"', text)) <= names.keys()
    plain = re.sub("<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)', plain)


@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_shown_without_overflow_or_cut_texts(browser, reported, width):
    page, wrong = shown(browser, reported[1], width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert cut_texts(page) == []
    assert wrong == []


def test_layers_without_a_configuration_are_named(tmp_path):
    file, page = tmp_path / "r.json", tmp_path / "r.html"
    assert (
        ithaca(
            "network", tiny_file(tmp_path), "--limit", "dsp=4", "--layers", "wide", "-o", file
        ).returncode
        == 1
    )
    succeed("report", file, "-o", page)
    text = page.read_text()
    assert "Proven infeasible" in text
    assert "infeasible: wide: limit dsp = 4 cannot be met" in text
    assert ", as stated in " in text
    assert "layers-chart" not in text  # no bars of nothing
    assert 'class="cards"' not in text


@pytest.mark.slow
def test_a_layer_on_a_shared_array_has_no_landscape_over_its_lanes(tmp_path):
    one = "{op: kernel, name: only, kernel: mm, sizes: {i: 2, j: 4, k: 4}}"
    (tmp_path / "one.yaml").write_text(f"name: one\nlayers:\n  - {one}\n")
    file, page = tmp_path / "r.json", tmp_path / "r.html"
    one_array = ("--mode", "shared-array", "--dataflow", "i,j", "--limit", "dsp=20")
    succeed("network", tmp_path / "one.yaml", *one_array, "--divisors-only", "-o", file)
    succeed("report", file, "--layer", "only", "-o", page, "--quick")
    assert "Not drawn: lanes.i and lanes.j are fixed." in page.read_text()


def test_a_layer_has_a_page_of_its_own(reported, tmp_path):
    succeed("report", reported[0], "--layer", "wide", "-o", tmp_path / "wide.html", "--quick")
    assert "mm on u250" in (tmp_path / "wide.html").read_text()
