"""Modes with shared arrays: totals, what an array takes, and what is refused."""

import json
import re
import time
from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.writing import document_text, write_text_atomically
from ithaca.formulations.problem import Limit
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.results.network import network_document
from ithaca.results.network_explanation import network_failure
from ithaca.results.network_verification import verify_network
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.modes import mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Layer, Network
from tests.studies.network.tiny import limited, tiny_network, tiny_request

OPTIONS = RunOptions()

MOBILE = """\
name: mobile
layers:
  - {op: kernel, name: deep, kernel: depthwise_conv2d, sizes: {o: 4, r: 4, c: 4, p: 3, q: 3, s: 1, d: 1}}
  - {op: kernel, name: dense, kernel: mm, sizes: {i: 1, j: 4, k: 4}}
"""


def _confirmed(result):
    """The claims that the verification confirms, words that it repeats aside; all must be."""
    checks = [c for c in verify_network(result, SolveOptions()) if c.place != "as stated"]
    assert all(check.confirmed for check in checks)
    return [check.place for check in checks]


def asked(objective="latency", dsp=400, **others):
    """A question about the tiny network, without padding: that keeps searches short."""
    return tiny_request(objective, dsp, space=SpaceOptions(divisors_only=True), **others)


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    """The tiny network's matrix products: ``wide`` once and ``deep`` three times."""
    return only_layers(tiny_network(tmp_path_factory.mktemp("network")), ["mm"])


@pytest.fixture(scope="module")
def shared(products):
    return mode("shared-array")(products, asked(), OPTIONS)


def test_a_shared_array_costs_no_less_than_a_shared_dataflow(products, shared):
    free = mode("shared-dataflow")(products, asked(), OPTIONS)
    assert shared.total.certificate.status is Status.OPTIMAL
    assert shared.total.value >= free.total.value
    assert shared.total.value == shared.sum_of("latency")


def test_all_layers_run_on_the_same_hardware(products, shared):
    (array,) = shared.arrays
    request = asked()
    for result in shared.layers:
        solution = result.answer.configured
        for loop in array.dataflow:
            assert (
                solution.tiling.array_part[loop]
                // solution.tiling.t2(systolic(solution.problem).array, loop)
                == array.parameters[f"lanes.{loop}"]
            )
        assert solution.tiling.simd == array.parameters["simd"]
        # block RAM is that of the array, not of the layer's own tile
        assert {m: solution.metrics[m] for m in array.resources} == dict(array.resources)
    assert all(array.resources[limit.metric] <= limit.bound for limit in request.limits)


def test_a_result_loads_back(tmp_path, shared):
    write_text_atomically(tmp_path / "r.json", document_text(network_document(shared)))
    loaded = ithaca.load(tmp_path / "r.json")
    assert network_document(loaded) == network_document(shared)


@pytest.mark.parametrize("less", ["simd", "lanes.i", "pack.A", "buffer.B", ""])
@pytest.mark.ci
def test_an_array_states_all_of_its_hardware(tmp_path, shared, less):
    # what it lacked each layer could have chosen for itself
    document = json.loads(document_text(network_document(shared)))
    parameters = document["arrays"][0]["parameters"]
    if less:
        del parameters[less]
    else:
        parameters.clear()
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=rf"arrays\[0\]\.parameters lacks '{less}.*; allowed: "):
        ithaca.load(tmp_path / "r.json")
    parameters["lanes.k"] = 1
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"arrays\[0\]\.parameters (has 'lanes\.k|lacks)"):
        ithaca.load(tmp_path / "r.json")


@pytest.mark.parametrize("minimise", list(Minimise))
def test_more_arrays_are_no_slower_than_one(products, shared, minimise):
    request = asked(arrays=2, minimise=minimise)
    result = mode("multi-array")(products, request, OPTIONS)
    assert result.total.value <= shared.total.value
    assert network_document(result)["partition"] == {"arrays": 2, "minimise": minimise.value}
    assert sum(layer.layer.count for layer in result.layers) == 4
    for limit in request.limits:
        assert sum(array.resources[limit.metric] for array in result.arrays) <= limit.bound
    times = [array.total.value or Fraction(0) for array in result.arrays]
    assert result.total.value == (max(times) if minimise is Minimise.SLOWEST else sum(times))


@pytest.mark.usefixtures("counted_time")
def test_without_much_time_several_arrays_are_no_worse_than_one():
    nests = [
        workload("mm", {"i": i, "j": j, "k": 128}) for i, j in ((64, 128), (128, 64), (192, 128))
    ]
    layers = (Layer(f"l{n}", nest, 1, (f"l{n}",)) for n, nest in enumerate(nests))
    network = Network("three", tuple(layers))
    limits = (Limit("dsp", Fraction(400)), Limit("bram18k", Fraction(1000)))
    request = tiny_request(dataflow=("i", "j"), space=SpaceOptions(divisors_only=True), arrays=2)

    def value(name, seconds):
        options = RunOptions(search=SolveOptions(time_limit=seconds))
        total = mode(name)(network, limited(request, *limits), options).total
        assert total.value is not None
        return total.value

    assert value("multi-array", 0.02) <= value("shared-array", 0.01)


def test_more_arrays_than_runs_of_layers_are_as_many(products):
    began = time.process_time()
    many, most = (
        mode("multi-array")(
            products,
            asked(arrays=n, minimise=Minimise.SLOWEST),
            RunOptions(search=SolveOptions(600)),
        )
        for n in (10_000_000, 4)
    )
    assert time.process_time() - began < 120
    assert many.total.certificate.status is most.total.certificate.status is Status.OPTIMAL
    assert many.total.value == most.total.value


def test_layers_of_kernels_that_do_not_fold_are_refused(tmp_path):
    (tmp_path / "mobile.yaml").write_text(MOBILE)
    network = find_network(str(tmp_path / "mobile.yaml"))
    for name in ("shared-array", "multi-array"):
        with pytest.raises(
            InputError,
            match="can be folded into one, but mobile has depthwise_conv2d, mm; select with",
        ):
            mode(name)(network, tiny_request(arrays=2), OPTIONS)


def test_a_convolution_and_a_product_share_an_array(tmp_path):
    network = only_layers(tiny_network(tmp_path), ["wide", "image"])
    request = tiny_request(dataflow=("o", "r"), space=SpaceOptions(divisors_only=True))
    result = mode("shared-array")(network, request, OPTIONS)
    assert result.total.certificate.status is Status.OPTIMAL
    wide, image = result.layers
    assert (wide.layer.folded, image.layer.folded) == ("mm i=4 j=6 k=8", None)
    assert wide.layer.nest.settings == {
        "o": 6,
        "r": 4,
        "c": 1,
        "i": 8,
        "p": 1,
        "q": 1,
        "s": 1,
        "d": 1,
    }
    assert [layer.operations for layer in result.network.layers] == [
        layer.operations for layer in network.layers
    ]
    write_text_atomically(tmp_path / "r.json", document_text(network_document(result)))
    loaded = ithaca.load(tmp_path / "r.json")
    assert network_document(loaded) == network_document(result)
    assert loaded.network.layers[0].folded == wide.layer.folded


def test_limits_and_objectives_that_arrays_cannot_share_are_refused(products):
    with pytest.raises(InputError, match="does not add up over layers"):
        mode("shared-array")(products, asked("edp"), OPTIONS)
    many = replace(products, layers=tuple(replace(layer, count=40) for layer in products.layers))
    with pytest.raises(InputError, match="up to 64 runs"):
        mode("multi-array")(many, asked(arrays=2), OPTIONS)


def test_a_bandwidth_holds_of_every_layer_of_a_shared_array(products, shared):
    most = max(r.answer.metrics["bandwidth"] for r in shared.layers)
    request = asked()
    less = Limit("bandwidth", most - Fraction(1, 100))
    found = mode("shared-array")(products, limited(request, *request.limits, less), OPTIONS)
    assert found.total.value >= shared.total.value
    assert max(r.answer.metrics["bandwidth"] for r in found.layers) < most


NONE = [
    ("shared-array", 1, Minimise.TOTAL),
    ("multi-array", 2, Minimise.TOTAL),
    ("multi-array", 2, Minimise.SLOWEST),
]


@pytest.mark.parametrize(("name", "arrays", "minimise"), NONE)
def test_no_array_is_said_so(tmp_path, products, name, arrays, minimise):
    result = mode(name)(products, asked(dsp=4, arrays=arrays, minimise=minimise), OPTIONS)
    assert not result.answered
    assert (result.total.value, result.total.certificate.status) == (None, Status.INFEASIBLE)
    assert "wide, deep: limit dsp = 4 cannot be met; the smallest" in network_failure(result)
    assert "is 5 (design" in network_failure(result)
    loaded = edited(tmp_path, result, lambda document: None)
    assert _confirmed(loaded) == ["wide", "deep", "total"]
    forged = edited(
        tmp_path,
        result,
        lambda document: document["layers"][0]["shortfalls"][0].update(smallest=10),
    )
    with pytest.raises(InputError, match="shortfalls are not those of the layers alone"):
        list(verify_network(forged, SolveOptions()))


def two_layers(*sizes):
    """Two convolutions."""
    nests = [
        workload("conv2d", dict(zip("orcipqsd", map(int, each.split()), strict=True)))
        for each in sizes
    ]
    return Network(
        "two", tuple(Layer(f"l{n}", nest, 1, (f"l{n}",)) for n, nest in enumerate(nests))
    )


@pytest.mark.parametrize(("name", "arrays", "minimise"), NONE)
def test_why_layers_have_no_array_together_is_said(name, arrays, minimise, tmp_path):
    request = tiny_request(
        arrays=arrays, minimise=minimise, dataflow=("o",), space=SpaceOptions(divisors_only=True)
    )
    # the second one is too small to hide the latency of sums, whatever the limits
    nothing = mode(name)(two_layers("8 2 2 4 1 1 1 1", "2 1 1 2 1 2 2 1"), request, OPTIONS)
    assert (
        network_failure(nothing)
        == "infeasible: l1: the design space itself is empty: relax --divisors-only"
    )
    # each takes 24 blocks: the first one for weights, the second one for inputs
    limits = (Limit("dsp", Fraction(5)), Limit("bram18k", Fraction(24)))
    wide = two_layers("8 1 1 1 24 24 1 1", "1 8 1 1 24 24 24 1")
    missed = mode(name)(wide, limited(request, *limits), OPTIONS)
    assert missed.total.certificate.status is Status.UNKNOWN
    does = re.fullmatch(
        "nothing found for l0, l1 by a search that ended by itself; with the other limits as they "
        "are bram18k = (.*) would do",
        network_failure(missed),
    )
    assert does
    assert 24 < int(does[1]) < 48  # less than side by side
    for more in (0, 1):
        limit = Limit("bram18k", Fraction(does[1]) + more)
        assert mode(name)(wide, limited(request, limits[0], limit), OPTIONS).answered
    loaded = edited(tmp_path, missed, lambda document: None)
    assert network_failure(loaded) == network_failure(missed)


def edited(folder, result, change):
    """A result read again from a file that was changed."""
    document = json.loads(document_text(network_document(result)))
    change(document)
    write_text_atomically(folder / "edited.json", json.dumps(document))
    return ithaca.load(folder / "edited.json")


@pytest.fixture(scope="module")
def several(products):
    request = asked(dsp=30, arrays=2, minimise=Minimise.SLOWEST)
    return mode("multi-array")(products, request, OPTIONS)


def test_bounds_of_arrays_are_proven_by_an_argument_of_their_own(tmp_path, several, monkeypatch):
    loaded = edited(tmp_path, several, lambda document: None)
    monkeypatch.setattr(
        "ithaca.plugins.codesign.studies.arrays.arrays.PipelineSearch", None
    )  # it is not asked
    assert _confirmed(loaded) == [*(r.layer.name for r in several.layers), "total"]
