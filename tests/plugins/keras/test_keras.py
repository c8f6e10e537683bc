"""Networks of Keras models."""

import io
import json
import re
import zipfile

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.keras.workloads.graph import MOST_CALLS
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import OmissionKind
from tests.command_line import refused, succeed
from tests.plugins.keras.models import chain, counts, functional, image, layer, read, tensor


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("size", "window", "stride", "dilation"), [(9, 3, 2, 1), (10, 3, 1, 2)])
def test_convolutions_multiply_what_their_windows_hold(
    tmp_path, padding, size, window, stride, dilation
):
    conv = layer(
        "Conv2D",
        "conv",
        filters=4,
        kernel_size=[window, 1],
        strides=[stride, 1],
        dilation_rate=dilation if stride == 1 else [1, 1],
        padding=padding,
        groups=2,
    )
    network = read(tmp_path, chain(conv, layer("Dense", "top", units=5), shape=(size, 2, 6)))
    reach = (window - 1) * dilation + 1
    rows = len(range(0, size - reach + 1, stride)) if padding == "valid" else -(-size // stride)
    assert counts(network) == [rows * 2 * window * (6 // 2) * 4, rows * 2 * 4 * 5]
    assert network.parameters == (("batch", 1),)
    assert [run.follows for run in network.order] == [False, True]


def test_layers_of_many_kinds_have_their_products(tmp_path):
    deep = layer("DepthwiseConv2D", "deep", kernel_size=[3, 3], padding="same", depth_multiplier=2)
    apart = layer("SeparableConv2D", "apart", filters=5, kernel_size=3, strides=2)
    wide = layer("Conv2DTranspose", "wide", filters=2, kernel_size=[3, 3], strides=[2, 2])
    # of seven places along each side four take two of the window's elements, three take one
    network = read(tmp_path, chain(deep, apart, wide, shape=(7, 7, 3)), batch=2)
    assert network.parameters == (("batch", 2),)
    depthwise, pointwise = 9 * 6 * 3 * 3, 9 * 6 * 5
    assert sum(counts(network)) == 2 * (49 * 6 * 9 + depthwise + pointwise + 11 * 11 * 5 * 2)
    assert [run.source for run in network.order][:3] == [
        "deep",
        "apart.depthwise",
        "apart.pointwise",
    ]


def test_sequences_are_read_step_by_step(tmp_path):
    words = layer("Embedding", "words", input_dim=100, output_dim=6)
    inner = {"class_name": "LSTM", "config": {"units": 4, "return_sequences": True}}
    both = layer("Bidirectional", "both", layer=inner, merge_mode="concat")
    last = layer("GRU", "last", units=3)
    document = chain(words, both, last, layer("Dense", "top", units=2), shape=(None,))
    with pytest.raises(InputError, match=r"dimension 1 of input image is open; .* -s image_1=8"):
        read(tmp_path, document)
    network = read(tmp_path, document, image_1=5)
    lstm, gru = 2 * 5 * (6 + 4) * 16, 5 * (8 + 3) * 9
    assert sum(counts(network)) == lstm + gru + 3 * 2


def test_models_of_keras_3_attend_and_pass_what_is_unknown_by_its_shape(tmp_path):
    """An archive is the same network, and its weights are not looked at."""
    start = layer("InputLayer", "image", batch_shape=[None, 6, 8])
    heads = layer("MultiHeadAttention", "heads", num_heads=2, key_dim=3)
    own = tensor("image", [None, 6, 8])
    heads["inbound_nodes"] = [{"args": [own, own], "kwargs": {"training": None}}]
    odd = layer("Custom>Odd", "odd")
    odd["inbound_nodes"] = [{"args": [tensor("heads", [None, 6, 8])], "kwargs": {}}]
    top = layer("Dense", "top", units=4)
    top["inbound_nodes"] = [{"args": [tensor("odd", [None, 6, 10])], "kwargs": {}}]
    document = functional(start, heads, odd, top)
    document["config"]["input_layers"] = ["image", 0, 0]
    network = read(tmp_path, document)
    attention = 4 * 6 * 8 * 6 + 2 * 2 * 6 * 6 * 3
    assert sum(counts(network)) == attention + 6 * 10 * 4
    (missing,) = network.omissions(OmissionKind.UNSUPPORTED)
    assert (missing.operator, missing.reason) == ("Custom>Odd", "no kernel is known for it")
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(document))
        archive.writestr("model.weights.h5", b"none")
    assert find_network(str(path)) == network
    done = succeed("network", path, "--layers", "top", "--dataflow", "i", "--divisors-only")
    assert "is taken for a model of Keras" in done.stderr.replace("\n      ", " ")


def test_lambdas_are_not_run_and_pass_by_the_shape_that_they_state(tmp_path):
    def model(**config):
        code = layer("Lambda", "code", function=["4wEA", None, None], **config)
        top = layer("Dense", "top", units=2)
        return chain(layer("Dense", "first", units=4), code, top, shape=(6,))

    network = read(tmp_path, model(output_shape=[9]))
    assert counts(network) == [6 * 4, 9 * 2]
    (missing,) = network.omissions(OmissionKind.UNSUPPORTED)
    assert missing.reason == "code of its own, which is not run"
    network = read(tmp_path, model())
    assert counts(network) == [6 * 4]
    assert network.omissions(OmissionKind.UNSUPPORTED)[1].reason == "shape of its input is unknown"


def test_models_within_models_and_around_layers_are_read(tmp_path):
    inner = {
        "layers": [
            {"class_name": "QDense", "config": {"name": "a", "units": 4}},
            {"class_name": "Dense", "config": {"name": "b", "units": 3}},
        ],
    }
    timed = {"class_name": "Dense", "config": {"units": 5}}
    pruned = {"class_name": "Dense", "config": {"units": 2}}
    document = chain(
        layer("TimeDistributed", "timed", layer=timed),
        layer("Sequential", "inner", **inner),
        layer("PruneLowMagnitude", "pruned", layer=pruned),
        shape=(7, 6),
    )
    document["config"]["layers"][2]["config"] = inner
    network = read(tmp_path, document)
    assert counts(network) == [7 * 6 * 5, 7 * 5 * 4, 7 * 4 * 3, 7 * 3 * 2]
    assert [run.source for run in network.order] == ["timed", "inner/a", "inner/b", "pruned"]
    topology = {"format": "layers-model", "modelTopology": {"model_config": document}}
    assert counts(read(tmp_path, topology)) == counts(network)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"layers": []}, r"layers are empty; allowed: a list of layers"),
        ({"layers": [image(4)], "output_layers": [["image", 0, 0]]}, "no layer multiplies"),
        ({"input_layers": 7}, "input_layers is 7; allowed: layers with places"),
        ({"layers": [image(4), image(4)]}, "layer 'image' occurs twice"),
        ({"layers": [layer("InputLayer", "image")]}, "input 'image' states no shape"),
        ({"layers": [image(4), layer("Dense", "d", ["x"], units=3)]}, "which is not there"),
        (
            {"layers": [image(4), layer("Dense", "d", ["d"], units=3)]},
            "layer 'd' reads what it writes",
        ),
        (
            {"layers": [image(4), layer("Dense", "d", ["image"], units=-3)]},
            "units is -3; allowed: an integer from 1 to 1099511627776",
        ),
        ({"layers": [image(4), layer("Dense", "d", ["image"], units=10**60)]}, "units is"),
        (
            {"layers": [image(4), layer("Conv2D", "d", ["image"], filters=3)]},
            "an input of 2 dimensions; allowed: 4",
        ),
        (
            {"layers": [image(4, 6), layer("Permute", "d", ["image"], dims=[2.0, 1.0])]},
            "dims is a list; allowed: the dimensions 1 to 2",
        ),
        (
            {"layers": [image(4), {**layer("ReLU", "d"), "inbound_nodes": [{"args": 3}]}]},
            "inbound_nodes: args is 3; allowed: a list",
        ),
        ({"layers": [3]}, r"layers\[0\] is 3; allowed: class_name and config"),
    ],
)
def test_bad_models_are_refused_in_one_line(tmp_path, change, told):
    document = functional(image(4), layer("Dense", "top", ["image"], units=2))
    document["config"] |= change
    with pytest.raises(InputError, match=told) as error:
        read(tmp_path, document)
    assert "\n" not in str(error.value)


def test_models_that_grow_with_every_level_are_refused(tmp_path):
    """A model called 30 times by one that is called 30 times …: 30^n layers from n lines."""
    document = functional(image(4), layer("Dense", "top", ["image"], units=4))
    for _ in range(4):
        often = layer("Functional", "often", ["image"]) | {"config": document["config"]}
        often["inbound_nodes"] *= 30
        document = functional(image(4), often)
    with pytest.raises(InputError, match=f"more than {MOST_CALLS} calls of layers"):
        read(tmp_path, document)


def archive_of(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no archive, or damaged"),
        (b"PK\x03\x04 broken", "is no archive, or damaged"),
        (archive_of(metadata_json="{}"), "has no config.json"),
        (archive_of(config_json="[]"), "config.json holds no model"),
        (archive_of(config_json="{"), "not JSON at line 1"),
        (archive_of(config_json=b"\xff"), "config.json is not UTF-8"),
        (archive_of(config_json=" " * (1 << 25)), "config.json is too large"),
    ],
)
def test_bad_archives_are_refused_in_one_line(tmp_path, content, told):
    path = tmp_path / "bad.keras"
    path.write_bytes(content)
    assert told in refused("network", path)


def hdf5(*documents):
    """A file that begins as one in HDF5, with texts in it."""
    texts = (json.dumps(each).encode() for each in documents)
    return b"\x89HDF\r\n\x1a\n" + b"\0model_config\0" + b"\0\xff".join((b"", *texts, b"\0"))


def test_models_in_hdf5_are_read_by_the_configuration_in_them(tmp_path):
    inner = {**chain(layer("Dense", "inner {", units=3), shape=(4,)), "name": "net"}
    document = chain(inner, layer("Dense", 'top "}', units=2), shape=(4,))
    path = tmp_path / "saved.h5"
    path.write_bytes(hdf5(document, {"optimizer": {"class_name": "Adam"}}, document))
    assert counts(find_network(str(path))) == counts(read(tmp_path, document))


def test_models_in_hdf5_of_classes_of_their_authors_are_read_whole(tmp_path):
    """Models within them are none of the file; names are in UTF-8."""
    inner = {**chain(layer("Dense", "inner", units=3), shape=(4,)), "name": "net"}
    document = chain(inner, layer("Dense", "dé", units=2), shape=(4,))
    own = {**document, "class_name": "Author"}
    path = tmp_path / "saved.h5"
    for text in (own, {"config": document["config"], "class_name": "Author"}):
        encoded = json.dumps(text, ensure_ascii=False).encode()
        path.write_bytes(hdf5({"loss": "mse"}) + encoded + b"\0")
        network = find_network(str(path))
        assert counts(network) == counts(read(tmp_path, document))
        assert any("dé" in each.name for each in network.layers)
    path.write_bytes(hdf5({"class_name": "Author", "config": {"net": document}}))
    assert "holds no configurations of models" in refused("network", path)


def test_strings_in_hdf5_that_do_not_end_are_read_once(tmp_path):
    """A time that grew with the square of the length took hours here."""
    path = tmp_path / "open.h5"
    for end in (b"", b"\\"):
        path.write_bytes(hdf5() + b'{"class_name": "Sequential", ' + b'\\"' * 1_000_000 + end)
        assert "not JSON" in refused("network", path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PK", "is no HDF5 file"),
        (hdf5(), "holds no configurations of models, or weights alone; .* model.to_json()"),
        (hdf5(chain(shape=(1,)), chain(shape=(2,))), "holds 2 configurations of models"),
        (hdf5(chain(shape=(1,)))[:-20], "not JSON"),
        (hdf5(chain(shape=(1,))).replace(b'"image"', b'"\xff"'), "not UTF-8"),
    ],
)
def test_bad_files_in_hdf5_are_refused_in_one_line(tmp_path, content, told):
    path = tmp_path / "bad.h5"
    path.write_bytes(content)
    assert re.search(told, refused("network", path))
