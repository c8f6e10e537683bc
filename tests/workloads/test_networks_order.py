"""Layers that read just what the one before wrote: as network files say it."""

import pytest

from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_names
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network_files import read_network

#: The networks of the core.
OWN = packaged_names("ithaca.workloads.networks.data")


def following(network):
    return [run.source for run in network.order if run.follows]


def small(*layers, **fields):
    document = {
        "name": "small",
        "input": {"batch": 2, "channels": 8, "height": 8, "width": 8},
        "layers": [*layers],
        **fields,
    }
    return read_network(document, "small.yaml", {})


def conv(name, **fields):
    return {"op": "conv", "name": name, "channels": 8, "kernel": 3, "padding": 1, **fields}


@pytest.mark.parametrize("name", OWN)
def test_the_order_has_all_layers_of_a_network_as_often_as_they_run(name):
    network = find_network(name)
    assert sorted(run.source for run in network.order) == sorted(
        s for layer in network.layers for s in layer.sources
    )
    for layer in network.layers:
        runs = [run for run in network.order if run.source in layer.sources]
        assert {run.nest for run in runs} == {layer.nest}
        assert sum(run.count for run in runs) == layer.count
        assert [run.source for run in runs] == list(layer.sources)


def test_pooling_separates_layers():
    assert following(find_network("alexnet")) == ["conv4", "conv5", "fc7", "fc8"]


def test_what_a_shortcut_reads_too_stays_off_chip():
    blocks = [f"conv{stage}_{number}.conv2" for stage in (2, 3, 4, 5) for number in (1, 2)]
    assert following(find_network("resnet18")) == blocks
    mobile = following(find_network("mobilenetv2"))
    assert (
        "bottleneck2_1.expand" in mobile
    )  # reads what bottleneck1_1 projected, and nothing else does
    assert "bottleneck2_2.expand" not in mobile  # is added after bottleneck2_2, too
    assert "bottleneck3_1.expand" not in mobile  # reads a sum
    assert len(mobile) == 17 + 17 + 2  # all depthwise, all project, that expand and the last


def test_side_branches_and_residual_blocks_separate_layers():
    inner = [conv("a"), conv("b")]
    plain = small(conv("first"), *inner, conv("last"))
    assert following(plain) == ["a", "b", "last"]
    assert following(small(conv("first"), conv("side", side=True), *inner)) == ["b"]
    residual = small(
        conv("first"), {"op": "block", "name": "x", "residual": True, "layers": inner}, conv("last")
    )
    assert following(residual) == ["x.b"]
    nested = {
        "op": "block",
        "name": "x",
        "residual": True,
        "layers": [{"op": "block", "name": "y", "layers": inner}],
    }
    assert following(small(conv("first"), nested, conv("last"), elementwise={"Add": 1})) == [
        "x.y.b"
    ]


def test_a_file_with_more_sums_than_residual_blocks_does_not_say():
    network = small(conv("a"), conv("b"), elementwise={"Add": 1})
    assert (network.order, network.unordered) == (
        (),
        "it has 1 Add, and 0 blocks with residual: true",
    )


def product_of(name, follows, **sizes):
    return {"op": "kernel", "name": name, "kernel": "mm", "sizes": sizes, "follows": follows}


def test_kernels_follow_where_they_say_so():
    first = product_of("a", False, i=4, j=8, k=16)
    assert following(
        small(first, product_of("b", True, i=4, j=2, k=8), product_of("c", False, i=4, j=2, k=2))
    ) == ["b"]
    with pytest.raises(
        InputError,
        match=r"layers\[1\]: follows is true, yet a writes 32 words; allowed: where A, of 28 words",
    ):
        small(first, product_of("b", True, i=4, j=2, k=7))
    with pytest.raises(InputError, match="there is no layer before it"):
        small(product_of("b", True, i=4, j=2, k=7))


def test_a_strided_convolution_follows_where_its_windows_read_all_that_was_written():
    def frames(name, follows, c):
        sizes = {"o": 8, "i": 8, "r": 1, "c": c, "p": 1, "q": 3, "s": 2}
        return {**product_of(name, follows, **sizes), "kernel": "conv2d"}

    assert following(small(frames("a", False, 9), frames("b", True, 4))) == ["b"]
    with pytest.raises(InputError, match="a writes 80 words; allowed: where cin, of 72 words"):
        small(frames("a", False, 10), frames("b", True, 4))  # the last frame is not read
    assert following(find_network("wav2vec2"))[:6] == [
        *(f"conv{number}" for number in range(2, 7)),
        "projection",
    ]


def test_runs_write_all_images_and_groups():
    (run,) = small(conv("a", groups=4)).order
    assert (run.count, run.written_words) == (8, 2 * 8 * 8 * 8)
