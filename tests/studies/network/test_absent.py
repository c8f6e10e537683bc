"""Unknown figures, which are said to be so and never shown as zero: totals of networks without a
configuration of every layer, and the effort of searches that files do not state."""

from dataclasses import replace

import numpy as np
import pytest

import ithaca
from ithaca.exports.charts.network import layer_bars, modes_compared
from ithaca.results.network_view import comparison
from ithaca.solver.certificate import Certificate, Status
from ithaca.studies.network.result import LayerResult, Total
from tests import command_line as commands


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    net = tmp_path_factory.mktemp("absent") / "net.yaml"
    net.write_text(
        "name: net\ninput: {batch: 1, channels: 4, height: 1, width: 1}\nlayers:\n"
        "  - {op: linear, name: a, features: 8}\n  - {op: linear, name: b, features: 4}\n"
    )
    return ithaca.network(net, limit={"dsp": 10}, dataflow="i,j")


@pytest.fixture(scope="module")
def partly(whole):
    """The result of a run that ended before the second layer had a configuration."""
    first, second = whole.layers
    nothing = Certificate(Status.UNKNOWN, None, None, "exact")
    missing = replace(second.answer, configuration=None, value=None, certificate=nothing)
    layers = (first, LayerResult(second.layer, missing, (missing,)))
    return replace(whole, layers=layers, total=Total(None, nothing), finished=False)


def test_a_difference_from_what_is_not_known_is_none(whole, partly):
    for one, other in ((whole, partly), (partly, whole), (partly, partly)):
        text = comparison(one, other, "other").text
        assert "cannot be compared, as " in text
        assert not {"more", "less", "same"} & set(text.replace(",", "").split())
    assert comparison(partly, whole, "other").text.endswith("as this result has no total")
    assert "the same" in comparison(whole, whole, "other").text


def test_a_sum_of_some_layers_is_not_called_the_total(partly):
    words = str(partly.explain())
    known = partly.layers[0].answer.value
    assert f"Total: latency of the whole is not known; it is {known} in 1 run of 1 layer" in words
    assert "latency – by layer" in layer_bars(partly).title
    assert "%" not in layer_bars(partly).bars[0].note.partition(";")[0]
    labels = [series.name for series in modes_compared([partly, partly]).series]
    assert labels == ["per-layer (–, partial)"] * 2


def test_effort_that_a_file_does_not_state_is_not_zero(whole, tmp_path):
    whole.save(tmp_path / "n.json")
    again = ithaca.load(tmp_path / "n.json")
    page = tmp_path / "n.html"
    commands.succeed("report", tmp_path / "n.json", "-o", page)
    for text in (page.read_text(), str(again.view), again._repr_html_()):
        assert "0 boxes" not in text
        assert "0.00 s" not in text
    assert any("boxes" in str(fact) for fact in whole.view)
    data = again.to_xarray()
    assert np.isnan(data["boxes"]).all()
    assert np.isnan(data["seconds"]).all()
    assert (whole.to_xarray()["boxes"] > 0).all()


def test_optima_of_layers_are_not_said_to_be_one_of_the_whole(whole):
    alone = replace(whole, total=None)
    assert alone.headline.endswith(": latency of each layer by itself (optimal)")
