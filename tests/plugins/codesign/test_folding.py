"""Folding layers into one kernel: the same multiply-accumulates on the same tensors, element by
element."""

from dataclasses import replace
from itertools import product

import pytest

from ithaca.plugins.codesign.workloads.folding import fold
from ithaca.workloads.formats import network_with_formats
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Layer, Network, OmissionKind

CONVOLUTION = ("conv2d", {"o": 2, "r": 3, "c": 2, "i": 2, "p": 2, "q": 2, "s": 1, "d": 1})
PRODUCT = ("mm", {"i": 3, "j": 4, "k": 5})
POINTWISE = ("pointwise_conv2d", {"o": 3, "r": 2, "c": 3, "i": 2, "s": 2})
BATCH = ("batched_mm", {"b": 3, "i": 2, "j": 4, "k": 5})


def network_of(*kernels):
    nests = [workload(name, sizes) for name, sizes in kernels]
    return Network(
        "mixed", tuple(Layer(f"layer{n}", nest, 2, (f"layer{n}",)) for n, nest in enumerate(nests))
    )


def statements(nest):
    """The elements that each multiply-accumulate touches: of the output, of each input, without
    dimensions of one element."""
    points = []
    for point in product(*(range(n) for n in nest.sizes.values())):
        at = dict(zip(nest.loops, point, strict=True))
        elements = []
        for access in (nest.output, *nest.inputs):
            elements.append(
                tuple(s.constant + sum(c * at[loop] for loop, c in s.terms) for s in access)
            )
        points.append(elements)
    tensors = range(len(points[0]))
    wide = [
        [d for d in range(len(points[0][t])) if len({elements[t][d] for elements in points}) > 1]
        for t in tensors
    ]
    return {tuple(tuple(elements[t][d] for d in wide[t]) for t in tensors) for elements in points}


@pytest.mark.parametrize("kernel", [PRODUCT, POINTWISE])
def test_a_folded_layer_touches_the_same_elements(kernel):
    network = network_of(CONVOLUTION, kernel)
    before, after = network.layers[1], fold(network).layers[1]
    assert after.nest.name == "conv2d"
    assert after.folded.startswith(kernel[0])
    assert after.operations == before.operations
    assert statements(after.nest) == statements(before.nest)
    assert fold(network).layers[0] == network.layers[0]


def test_formats_go_with_their_tensors():
    network = network_of(CONVOLUTION, PRODUCT, BATCH)
    typed = network_with_formats(network, "A=int8,B=int4,w=int2", "--format")
    formats = [dict(layer.nest.formats) for layer in fold(typed).layers]
    assert formats == [{"cin": "int8", "w": "int2"}, *[{"cin": "int8", "w": "int4"}] * 2]


def test_a_batch_of_products_is_as_many_runs():
    network = network_of(PRODUCT, BATCH)
    before, after = network.layers[1], fold(network).layers[1]
    assert (after.nest, after.count) == (workload("mm", {"i": 2, "j": 4, "k": 5}), 6)
    assert after.operations == before.operations
    # with a convolution beside it, each of them is one, too
    last = fold(network_of(CONVOLUTION, BATCH)).layers[1]
    assert (last.nest.name, last.count, last.operations) == ("conv2d", 6, before.operations)


def test_networks_that_come_with_ithaca():
    for name, kernel in (
        ("resnet50", "conv2d"),
        ("vgg16", "conv2d"),
        ("bert-base", "mm"),
        ("gpt2-block", "mm"),
    ):
        network = find_network(name, {})
        folded = fold(network)
        assert {layer.nest.name for layer in folded.layers} == {kernel}
        assert folded.operations == network.operations
        assert folded.omissions(OmissionKind.ELEMENTWISE) == network.omissions(
            OmissionKind.ELEMENTWISE
        )
    assert fold(find_network("mobilenetv2", {})) == find_network(
        "mobilenetv2", {}
    )  # depthwise layers fold into nothing


def test_one_kernel_stays_as_it_is():
    network = network_of(PRODUCT, PRODUCT)
    assert fold(network) is network


def test_a_nest_that_only_has_the_name_is_not_folded():
    network = network_of(CONVOLUTION, PRODUCT)
    own = Layer("own", replace(workload("mv"), name="mm"), 1, ("own",))
    mixed = Network("mixed", (network.layers[0], own))
    assert fold(mixed) is mixed
