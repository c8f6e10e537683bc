"""Totals over a part of a network: everything that states one says how much is counted, and nothing
that is left out is taken for nothing."""

import json
from fractions import Fraction

import pytest
from onnx import TensorProto, helper, save

import ithaca
from ithaca.files.errors import InputError
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Omission, OmissionKind, share_of
from ithaca.workloads.networks.share import Share
from tests import command_line as commands
from tests.command_line import refused

#: Multiply-accumulates of the layer, and of the node that becomes none.
COUNTED, LEFT_OUT = 8 * 8 * 8, 8 * 8 * 24

LIMITS = ("--limit", "dsp=20", "--dataflow", "i,j", "--edition", "exact")


def succeed(*words):
    """The output of a command, which must succeed."""
    return commands.succeed(*words).stdout


def model(folder, *, known=True):
    """A product, and a quarter of the arithmetic: three times as much is in a window whose places
    are computed, or in a node that nobody knows."""
    deformed = helper.make_node("DeformConv", ["m", "b", "s"], ["h"])
    unknown = helper.make_node("Mystery", ["x"], ["h"], domain="some.vendor")
    nodes = [
        deformed if known else unknown,
        helper.make_node("MatMul", ["x", "w"], ["y"], name="mm"),
    ]

    def tensor(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    inputs = [
        tensor("m", 1, 1, 8, 8),
        tensor("x", 8, 8),
        tensor("w", 8, 8),
        tensor("b", 24, 1, 1, 1),
        tensor("s", 1, 2, 8, 8),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [tensor("y", 8, 8), tensor("h", 1, 24, 8, 8)])
    domains = [helper.make_opsetid(name, 1) for name in ("com.microsoft", "some.vendor")]
    path = folder / "part.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19), *domains]), str(path))
    return path


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """The file of a result of which a quarter is counted."""
    folder = tmp_path_factory.mktemp("part")
    path = folder / "part.json"
    table = folder / "part.csv"
    output = succeed("network", model(folder), *LIMITS, "-o", path, "--table", table)
    (folder / "part.txt").write_text(output)
    return path


def test_a_document_is_not_complete(part):
    document = json.loads(part.read_text())
    assert document["complete"] is False
    total = document["total"]
    assert (total["share"], total["left_out"]) == (0.25, LEFT_OUT)
    assert document["network"]["omissions"][0]["operations"] == LEFT_OUT


def test_what_cannot_be_counted_is_said_by_name(tmp_path):
    text = succeed(
        "network",
        model(tmp_path, known=False),
        *LIMITS,
        "-o",
        tmp_path / "u.json",
        "--table",
        tmp_path / "u.csv",
    )
    assert "(optimal of the unknown share counted)" in text
    assert "Mystery × 1, how many multiply-accumulates is not known" in text
    document = json.loads((tmp_path / "u.json").read_text())
    assert document["complete"] is False
    total = document["total"]
    assert ("share" in total, total["uncounted"]) == (False, ["some.vendor.Mystery"])
    result = ithaca.load(tmp_path / "u.json")
    assert (result.complete, result.share.uncounted) == (False, ("some.vendor.Mystery",))
    data = result.to_xarray()
    assert ("share" in data.attrs, data.attrs["uncounted"]) == (False, "some.vendor.Mystery")
    assert (tmp_path / "u.csv").read_text().splitlines()[1].endswith(",,some.vendor.Mystery")
    explained = json.loads(succeed("explain", tmp_path / "u.json", "--json"))
    assert explained["counted"].get("share") is None
    total["share"] = 1
    (tmp_path / "e.json").write_text(json.dumps(document))
    assert "total.share" in refused("verify", tmp_path / "e.json")


def test_layers_that_are_not_asked_for_are_left_out(tmp_path):
    net = tmp_path / "net.yaml"
    net.write_text(
        "name: net\ninput: {batch: 1, channels: 4, height: 1, width: 1}\nlayers:\n"
        "  - {op: linear, name: a, features: 8}\n  - {op: linear, name: b, features: 4}\n"
        "  - {op: linear, name: c, features: 8}\nelementwise: {Relu: 3}\n"
    )
    result = ithaca.network(net, layers="a", limit={"dsp": 20}, dataflow="i,j")
    assert result.share == Share(Fraction(64), Fraction(32))
    assert not result.complete
    whole = ithaca.network(net, limit={"dsp": 20}, dataflow="i,j")
    assert whole.complete
    assert whole.document["total"]["share"] == 1
    assert "counted" not in succeed("network", net, "--limit", "dsp=20", "--dataflow", "i,j")


def test_a_codesign_states_the_share_of_all_workloads(tmp_path):
    answer = ithaca.codesign(
        "dmazerunner-memory", str(model(tmp_path)), divisors_only=True, time_limit=20
    )
    assert answer.share.value == Fraction(1, 4)
    assert not answer.complete
    assert "of the 25.0 % counted" in answer.headline
    answer.save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert (document["complete"], document["counted"]["share"]) == (False, 0.25)
    again = ithaca.load(tmp_path / "c.json")
    assert again.share == answer.share
    assert "Counted: 25.0 %" in str(again.explain(quick=True))
    assert "optimal of the 25.0 % counted" in succeed("explain", tmp_path / "c.json", "--quick")
    assert again.document == document


@pytest.mark.parametrize(
    ("omissions", "words"),
    [
        ([], ""),
        ([(1, 1)], " of the more than 99.9 % counted"),
        ([(999_999_999, None)], " of the 0.1 % counted"),
        ([(1_000_000, 7), (None, 1)], " of the at most 50.0 % counted"),
        ([(None, 1)], " of the unknown share counted"),
    ],
)
def test_shares_are_never_rounded_to_all(omissions, words):
    made = [Omission("X", 1, OmissionKind.UNSUPPORTED, operations=n) for n, _ in omissions]
    share = share_of(1_000_000, made)
    assert share.words == words
    assert share.whole == (not omissions)


def test_elements_have_no_multiply_accumulates():
    assert share_of(4, [Omission("Relu", 9, OmissionKind.ELEMENTWISE)]).whole
    with pytest.raises(InputError, match="operations of kind elementwise are 4; allowed: none"):
        Omission("Relu", 9, OmissionKind.ELEMENTWISE, operations=4)


def test_products_are_no_operations_element_by_element(tmp_path):
    net = tmp_path / "net.yaml"
    net.write_text(
        "name: net\ninput: {batch: 1, channels: 4, height: 1, width: 1}\nlayers:\n"
        "  - {op: linear, name: a, features: 8}\nelementwise: {Relu: 3, MatMul: 2, Attention: 1}\n"
    )
    assert find_network(str(net)).share.uncounted == ("MatMul", "Attention")


@pytest.mark.ci
def test_a_front_of_a_part_is_not_complete(tmp_path):
    net = tmp_path / "net.yaml"
    net.write_text(
        "name: net\nlayers:\n  - {op: kernel, name: a, kernel: mm, sizes: {i: 2, j: 1, k: 1}}\n"
        "  - {op: kernel, name: b, kernel: mm, sizes: {i: 2, j: 1, k: 3}}\n"
    )
    front = ithaca.pareto(net, layers="a", objectives="latency,energy", dataflow="i")
    assert front.status == "optimal"
    front.save(tmp_path / "f.json")
    assert json.loads((tmp_path / "f.json").read_text())["complete"] is False
    assert front.to_xarray().attrs["complete"] == 0
    succeed("report", tmp_path / "f.json", "-o", tmp_path / "f.html")
    page = (tmp_path / "f.html").read_text()
    assert "Proven optimal of the 25.0 % counted" in page
    assert "proven optimal –" not in page
    assert ithaca.load(tmp_path / "f.json").status == "optimal"
