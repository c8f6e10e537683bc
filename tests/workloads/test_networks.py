"""Networks: figures against published ones, merging, what is refused."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_names
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Layer, Network, Omission, OmissionKind, merge
from tests.refusals import refusals

#: The networks of the core.
OWN = packaged_names("ithaca.workloads.networks.data")

DATA = Path(__file__).parent / "data"
IMAGE_NETWORKS = ("vgg16", "resnet18", "resnet50", "mobilenetv2")


def rows(name):
    with (DATA / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def weights(layer):
    """Elements of a layer's weights: its operations per element of the output map, or per row of a
    product."""
    sizes = layer.nest.sizes
    return layer.nest.operations // (
        sizes["r"] * sizes["c"] if "conv" in layer.nest.name else sizes["i"]
    )


def channels(layer):
    return layer.nest.sizes["o" if "conv" in layer.nest.name else "j"]


@pytest.mark.parametrize("name", IMAGE_NETWORKS)
def test_layers_have_the_published_shapes(name):
    """Feature maps and weights of every layer.

    VGG16: Stanford CS231n course notes, "VGGNet in detail". ResNet-18 and ResNet-50: summaries of
    torchvision's models (of the latter with the stride in the 3×3 convolutions). MobileNetV2:
    summary of the model in Keras applications.
    """
    published = Counter()
    for row in rows(name):
        published[
            tuple(int(row[field]) for field in ("channels", "height", "width", "weights"))
        ] += 1
    ours = Counter()
    for layer in find_network(name).layers:
        feature_map = (layer.nest.sizes.get("r", 1), layer.nest.sizes.get("c", 1))
        ours[(channels(layer), *feature_map, weights(layer))] += layer.count
    assert ours == published


@pytest.mark.parametrize("row", rows("networks"), ids=lambda row: row["network"])
def test_totals_are_the_published_ones(row):
    """Operations and parameters as torchvision states them for its models, and Caffe's for AlexNet
    (a run per group)."""
    network = find_network(row["network"])
    assert round(network.operations / 10**9, 3) == float(row["gmacs"])
    convolutions = [layer for layer in network.layers if "conv" in layer.nest.name]
    linear = [layer for layer in network.layers if layer.nest.name == "mm"]
    assert sum(layer.count for layer in convolutions) == int(row["convolutions"])
    assert sum(layer.count for layer in linear) == int(row["linear"])
    # a bias per output, or scale and shift where batch normalisation follows
    normalised = any(omission.operator == "BatchNormalization" for omission in network.unsupported)
    parameters = sum(
        layer.count * (weights(layer) + (1 + normalised) * channels(layer))
        for layer in convolutions
    )
    parameters += sum(layer.count * (weights(layer) + channels(layer)) for layer in linear)
    assert parameters == int(row["parameters"])


def test_operations_of_vgg16_by_kind():
    """15.3 billion in convolutions, 124 million in fully connected layers (Sze et al., Proc. IEEE
    2017, Table II)."""
    network = find_network("vgg16")
    linear = sum(layer.operations for layer in network.layers if layer.nest.name == "mm")
    assert linear == 123_633_664
    assert network.operations - linear == 15_346_630_656


def test_operations_of_alexnet_by_kind():
    """666 million in convolutions, 58.6 million in fully connected layers (Sze et al., Proc. IEEE
    2017, Table II)."""
    network = find_network("alexnet")
    linear = sum(layer.operations for layer in network.layers if layer.nest.name == "mm")
    assert linear == 58_621_952
    assert network.operations - linear == 665_784_864


def test_xception_has_the_published_size():
    """8.4 billion multiply-accumulates (timm), 22,910,480 parameters (Keras applications), four a
    normalised channel."""
    network = find_network("xception")
    assert round(network.operations / 10**9, 1) == 8.4
    (linear,) = (layer for layer in network.layers if layer.nest.name == "mm")
    convolutions = [layer for layer in network.layers if layer is not linear]
    depthwise = [layer for layer in convolutions if layer.nest.name == "depthwise_conv2d"]
    normalised = [layer for layer in convolutions if layer not in depthwise]
    assert [sum(layer.count for layer in layers) for layers in (depthwise, normalised)] == [34, 40]
    parameters = (
        sum(layer.count * weights(layer) for layer in convolutions)
        + weights(linear)
        + channels(linear)
    )
    assert parameters + 4 * sum(layer.count * channels(layer) for layer in normalised) == 22_910_480


@pytest.mark.parametrize(
    ("name", "depthwise_layers"), [("mobilenetv2", 17), ("efficientnet-b0", 16)]
)
def test_depthwise_layers_are_one_a_block(name, depthwise_layers):
    network = find_network(name)
    depthwise = [layer for layer in network.layers if layer.nest.name == "depthwise_conv2d"]
    assert sum(layer.count for layer in depthwise) == depthwise_layers


def products_of_attention(network):
    return sum(layer.count for layer in network.layers if layer.nest.name == "batched_mm") // 2


@pytest.mark.parametrize(
    ("name", "layers", "gmacs"),
    [
        ("vit-b16", 86, "17.564"),
        ("fasterrcnn-mobilenetv3", 79, "4.494"),
        ("yolov5s", 60, "8.2"),
        ("wav2vec2", 109, None),
        ("bert-base", 84, None),
    ],
)
def test_layers_and_operations_are_the_published_ones(name, layers, gmacs):
    """Layers as the dissertation of S. Dave counts them (section 3.6; of BERT one more, a head):
    the two products of attention are one. Operations as torchvision states them, of the detector
    without its box heads; 16.5 billion floating-point operations of YOLOv5s (release 6.0)."""
    network = find_network(name)
    assert sum(x.count for x in network.layers) - products_of_attention(network) == layers
    operations = network.operations - sum(
        layer.operations for layer in network.layers if layer.nest.sizes.get("i") == 1000
    )
    if gmacs is not None:
        digits = len(gmacs.partition(".")[2])
        assert f"{operations / 10**9:.{digits}f}" == gmacs


def test_163_layers_of_the_transformer_are_those_here_with_normalisations():
    """The dissertation's count: six encoder layers of 8 and six decoder layers of 14 products, the
    vocabulary, and 30 layers more, as many as there are normalisations (and additions)."""
    network = find_network("transformer")
    products = sum(layer.count for layer in network.layers)
    others = {each.operator: each.count for each in network.unsupported}
    assert products == 6 * 8 + 6 * 14 + 1 == 133
    assert products + others["LayerNormalization"] == products + others["Add"] == 163


def test_parameters_of_networks_of_the_dissertation():
    """ViT-B/16 86,567,656 and the detector 19,386,354 (torchvision), YOLOv5s 7,235,389 (release
    6.0), wav2vec 2.0 94,396,320 with 32 characters, all without attention's products; the base
    Transformer about 65 million (Vaswani et al., Table 3)."""

    def total(name):
        return sum(
            layer.count * weights(layer)
            for layer in find_network(name).layers
            if layer.nest.name != "batched_mm"
        )

    norms, feed_forward = 4 * 768, 3072 + 768
    biases = 12 * (4 * 768 + feed_forward + norms)
    positions, tokens = 197 * 768, 768 + 768 + 1000 + 2 * 768
    assert total("vit-b16") + biases + positions + tokens == 86_567_656
    detector = find_network("fasterrcnn-mobilenetv3")
    head = sum(weights(x) for x in detector.layers if x.name.startswith("proposals13"))
    squeezed = 2 * (32 + 120) + 24 + 72 + 120 + 480 + 2 * (168 + 672) + 2 * (240 + 960)
    outputs = 4 * 256 + 256 + 15 + 60 + 2 * 1024 + 91 + 364
    assert total(detector.name) - 2 * head + squeezed + outputs == 19_386_354
    yolo = find_network("yolov5s")
    normalised = sum(x.count * channels(x) for x in yolo.layers if not x.name.startswith("detect"))
    assert total("yolov5s") + 2 * normalised + 3 * 255 == 7_235_389
    others = 2 * 512 + 768 + 2 * 512 + 128 + 768 + 2 * 768 + 768 + 32
    assert total("wav2vec2") + biases + others == 94_396_320
    assert total("transformer") == pytest.approx(65e6, rel=0.04)


def encoder_weights(network):
    return sum(
        layer.count * layer.nest.sizes["j"] * layer.nest.sizes["k"]
        for layer in network.layers
        if layer.nest.name == "mm"
    )


def test_bert_base_has_the_published_size():
    """109,482,240 parameters, of which the encoder has what embeddings and pooler leave (released
    model)."""
    embeddings = (30_522 + 512 + 2) * 768 + 2 * 768
    pooler = 768 * 768 + 768
    biases_and_norms = 12 * (4 * 768 + 3072 + 768 + 4 * 768)
    assert (
        encoder_weights(find_network("bert-base"))
        == 109_482_240 - embeddings - pooler - biases_and_norms
    )


def test_bert_base_at_128_is_as_published():
    """22.5 billion floating-point operations (Jiao et al., TinyBERT, 2020, Table 1; Sun et al.,
    MobileBERT, 2020, Table 4)."""
    assert 2 * find_network("bert-base").operations == pytest.approx(22.5e9, rel=0.01)


def test_gpt2_block_has_the_published_size():
    """124,439,808 parameters (released model): 12 blocks, embeddings of 50,257 tokens and 1,024
    positions, a norm."""
    blocks = 124_439_808 - (50_257 + 1_024) * 768 - 2 * 768
    biases_and_norms = 12 * (3 * 768 + 768 + 3072 + 768 + 4 * 768)
    assert 12 * encoder_weights(find_network("gpt2-block")) == blocks - biases_and_norms


@pytest.mark.parametrize(("name", "blocks"), [("bert-base", 12), ("gpt2-block", 1)])
@pytest.mark.parametrize("sequence", [1, 128, 384, 1024])
def test_operations_per_token(name, blocks, sequence):
    """2 N + 4 L H Q T floating-point operations per token forward (Chowdhery et al., PaLM, 2022,
    appendix B)."""
    network = find_network(name, {"sequence": sequence})
    per_token = 2 * blocks * 12 * 768**2 + 4 * blocks * 768 * sequence
    assert 2 * network.operations == per_token * sequence


def test_identical_layers_are_merged_under_the_first_name():
    network = find_network("bert-base")
    first = network.layers[0]
    assert (first.name, first.count) == ("layer1.query", 48)
    assert first.sources[:4] == ("layer1.query", "layer1.key", "layer1.value", "layer1.output")
    assert [layer.name for layer in network.layers] == [
        "layer1.query",
        "layer1.scores",
        "layer1.context",
        "layer1.expand",
        "layer1.reduce",
    ]


@pytest.mark.parametrize("name", OWN)
def test_batch_multiplies_the_operations(name):
    one, four = find_network(name), find_network(name, {"batch": 4})
    assert four.operations == 4 * one.operations
    assert dict(four.parameters)["batch"] == 4


@pytest.mark.parametrize("name", OWN)
def test_every_network_says_where_it_is_published_and_what_it_leaves_out(name):
    network = find_network(name)
    assert network.name == name
    assert any(f"{year}" in network.description for year in (2012, *range(2015, 2022)))
    assert {omission.kind for omission in network.unsupported} == {OmissionKind.ELEMENTWISE}


def test_networks_have_the_elementwise_operators_of_their_architectures():
    counts = {name: {o.operator: o.count for o in find_network(name).unsupported} for name in OWN}
    assert counts["vgg16"]["Relu"] == 13 + 2
    assert counts["resnet50"] == {
        "BatchNormalization": 53,
        "Relu": 1 + 3 * 16,
        "Add": 16,
        "MaxPool": 1,
        "GlobalAveragePool": 1,
        "Bias": 1,
        "Softmax": 1,
    }
    assert counts["mobilenetv2"]["Clip"] == 52 - 17
    assert counts["bert-base"]["LayerNormalization"] == 24


@pytest.mark.parametrize(
    ("text", "sizes", "told"),
    refusals("workloads-networks", "bad_names_and_sizes_are_refused"),
)
def test_bad_names_and_sizes_are_refused(text, sizes, told):
    with pytest.raises(InputError, match=told) as error:
        find_network(text, sizes)
    assert "\n" not in str(error.value)


layers = st.builds(
    lambda i, j, count, number: Layer(
        f"l{number}", workload("mm", {"i": i, "j": j, "k": 4}), count, (f"l{number}",)
    ),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 99),
)


@given(st.lists(layers, min_size=1))
def test_merging_keeps_operations_sources_and_order(found):
    merged = merge(found)
    assert sum(layer.operations for layer in merged) == sum(layer.operations for layer in found)
    assert len({layer.nest for layer in merged}) == len(merged)
    assert sorted(source for layer in merged for source in layer.sources) == sorted(
        layer.name for layer in found
    )
    firsts = [next(layer.name for layer in found if layer.nest == whole.nest) for whole in merged]
    assert [layer.name for layer in merged] == firsts
    assert merge(merged) == merged


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_counts_are_positive_integers(count):
    with pytest.raises(InputError, match="layer l: count is"):
        Layer("l", workload("mm"), count, ("l",))
    with pytest.raises(InputError, match="operator Relu: count is"):
        Omission("Relu", count, OmissionKind.ELEMENTWISE)


def test_names_sources_and_layers_must_be_there():
    layer = Layer("l", workload("mm"), 1, ("l",))
    with pytest.raises(InputError, match="name of a layer is empty"):
        Layer("", workload("mm"), 1, ("l",))
    with pytest.raises(InputError, match="layer l: sources are empty"):
        Layer("l", workload("mm"), 1, ())
    with pytest.raises(InputError, match="name of a network is empty"):
        Network("", (layer,))
    with pytest.raises(InputError, match="network n: layers are empty"):
        Network("n", ())
