"""ONNX models as networks: round trips, real shapes, and what is listed instead of dropped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, defs, helper

from ithaca.files.errors import InputError
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks import onnx_operators
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Network, OmissionKind
from ithaca.workloads.networks.onnx_import import import_onnx

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


class Graph:
    """A model under construction; weights have shapes, and data in a file that does not exist."""

    def __init__(self, **inputs: list[int | str | None]) -> None:
        self.inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in inputs.items()
        ]
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, *shape: int) -> str:
        tensor = TensorProto(name=f"w{len(self.weights)}", data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="elsewhere.bin")
        self.weights.append(tensor)
        return tensor.name

    def integers(self, *values: int) -> str:
        tensor = helper.make_tensor(
            f"w{len(self.weights)}", TensorProto.INT64, [len(values)], values
        )
        self.weights.append(tensor)
        return tensor.name

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        output = f"{operator}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def model(self) -> onnx.ModelProto:
        output = helper.make_empty_tensor_value_info(self.nodes[-1].output[0])
        graph = helper.make_graph(self.nodes, "graph", self.inputs, [output], self.weights)
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)

    def network(self, folder: Path, sizes: dict[str, int] | None = None) -> Network:
        path = folder / "model.onnx"
        path.write_bytes(self.model().SerializeToString())
        return find_network(str(path), sizes)


def nests(network: Network) -> Counter[LoopNest]:
    return Counter({layer.nest: layer.count for layer in network.layers})


def listed(network: Network) -> dict[str, tuple[int, OmissionKind, str]]:
    return {
        omission.operator: (omission.count, omission.kind, omission.reason)
        for omission in network.unsupported
    }


def vgg16() -> Graph:
    graph = Graph(image=["N", 3, 224, 224])
    x, channels = "image", 3
    for stage, width in zip((2, 2, 3, 3, 3), (64, 128, 256, 512, 512), strict=True):
        for _ in range(stage):
            x = graph.add(
                "Conv",
                x,
                graph.weight(width, channels, 3, 3),
                graph.weight(width),
                pads=[1, 1, 1, 1],
            )
            x, channels = graph.add("Relu", x), width
        x = graph.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, features = graph.add("Flatten", x), 25_088
    for width in (4096, 4096, 1000):
        x, features = (
            graph.add("Gemm", x, graph.weight(width, features), graph.weight(width), transB=1),
            width,
        )
    return graph


def mobilenetv2() -> Graph:
    graph = Graph(image=[1, 3, 224, 224])
    x = graph.add("Conv", "image", graph.weight(32, 3, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER")
    channels = 32
    for expansion, width, blocks, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for block in range(blocks):
            inner, step = expansion * channels, stride if block == 0 else 1
            if expansion > 1:
                x = graph.add("Conv", x, graph.weight(inner, channels, 1, 1))
            window = {"group": inner, "strides": [step, step], "pads": [1, 1, 1, 1]}
            x = graph.add("Conv", x, graph.weight(inner, 1, 3, 3), **window)
            x = graph.add("Conv", x, graph.weight(width, inner, 1, 1))
            channels = width
    x = graph.add("Conv", x, graph.weight(1280, channels, 1, 1))
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    graph.add("Gemm", x, graph.weight(1280, 1000))
    return graph


def bert_base() -> Graph:
    """The encoder as exporters write it: heads split by Reshape and Transpose, products by
    MatMul."""
    graph = Graph(tokens=["batch", "sequence", 768])
    x = "tokens"

    def linear(x: str, inputs: int, outputs: int) -> str:
        return graph.add(
            "Add", graph.add("MatMul", x, graph.weight(inputs, outputs)), graph.weight(outputs)
        )

    def heads(x: str, permutation: list[int]) -> str:
        return graph.add(
            "Transpose", graph.add("Reshape", x, graph.integers(0, 0, 12, 64)), perm=permutation
        )

    for _ in range(12):
        query, key, value = (linear(x, 768, 768) for _ in range(3))
        scores = graph.add("MatMul", heads(query, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1]))
        context = graph.add("MatMul", graph.add("Softmax", scores), heads(value, [0, 2, 1, 3]))
        context = graph.add(
            "Reshape", graph.add("Transpose", context, perm=[0, 2, 1, 3]), graph.integers(0, 0, 768)
        )
        x = linear(graph.add("Relu", linear(linear(context, 768, 768), 768, 3072)), 3072, 768)
    return graph


def test_vgg16_comes_back(tmp_path: Path) -> None:
    network = vgg16().network(tmp_path)
    assert nests(network) == nests(find_network("vgg16"))
    assert network.name == "model"
    assert network.parameters == (("N", 1),)
    assert listed(network) == {
        "Bias": (16, OmissionKind.ELEMENTWISE, ""),
        "Relu": (13, OmissionKind.ELEMENTWISE, ""),
        "MaxPool": (5, OmissionKind.ELEMENTWISE, ""),
        "Flatten": (1, OmissionKind.MOVEMENT, ""),
    }


def test_mobilenetv2_comes_back(tmp_path: Path) -> None:
    assert nests(mobilenetv2().network(tmp_path)) == nests(find_network("mobilenetv2"))


def test_bert_base_comes_back(tmp_path: Path) -> None:
    network = bert_base().network(tmp_path, {"sequence": 384, "batch": 2})
    assert nests(network) == nests(find_network("bert-base", {"sequence": 384, "batch": 2}))
    assert network.parameters == (("batch", 2), ("sequence", 384))


def test_symbols_without_a_size_are_told(tmp_path: Path) -> None:
    """Products over a sequence of unknown length are listed; the batch alone is assumed to be 1."""
    graph = bert_base()
    graph.add("Gemm", graph.add("Flatten", "tokens"), graph.weight(768, 4))
    with pytest.raises(
        InputError, match="a dimension of tensor 'tokens' is 'sequence'; give it a size"
    ):
        graph.network(tmp_path)
    with pytest.raises(
        InputError, match=r"unknown size 'length' of network .*; allowed: batch, sequence"
    ):
        graph.network(tmp_path, {"length": 4})


@pytest.mark.parametrize(
    ("name", "gmacs"),
    [
        ("light_densenet121", 2.834),
        ("light_resnet50", 4.089),
        ("light_vgg19", 19.632),
    ],
)
def test_models_of_the_onnx_zoo_have_the_published_operations(name: str, gmacs: float) -> None:
    """Operations as torchvision states them for the same architectures."""
    path = LIGHT / f"{name}.onnx"
    if not path.exists():
        pytest.skip("this version of onnx comes without its light models")
    assert round(import_onnx(path).operations / 10**9, 3) == gmacs


def test_resnet50_of_the_onnx_zoo_is_ours() -> None:
    path = LIGHT / "light_resnet50.onnx"
    if not path.exists():
        pytest.skip("this version of onnx comes without its light models")
    assert nests(import_onnx(path)) == nests(find_network("resnet50"))


sizes = st.integers(1, 3)


@settings(max_examples=50)
@given(
    st.integers(7, 10),
    sizes,
    sizes,
    sizes,
    st.one_of(
        st.tuples(st.just("NOTSET"), st.lists(st.integers(0, 2), min_size=4, max_size=4)),
        st.tuples(st.sampled_from(["VALID", "SAME_UPPER", "SAME_LOWER"]), st.none()),
    ),
)
def test_feature_maps_are_those_of_onnx(
    tmp_path_factory: pytest.TempPathFactory,
    size: int,
    window: int,
    stride: int,
    dilation: int,
    padding: tuple[str, list[int] | None],
) -> None:
    """ONNX's own shape inference is the reference for every kind of padding."""
    graph = Graph(image=[1, 4, size, 6])
    mode, pads = padding
    chosen = {"auto_pad": mode} if pads is None else {"pads": pads}
    weights = graph.weight(2, 4, window, 2)
    output = graph.add(
        "Conv", "image", weights, strides=[stride, stride], dilations=[dilation, dilation], **chosen
    )
    known = {v.name: v for v in onnx.shape_inference.infer_shapes(graph.model()).graph.output}[
        output
    ]
    expected = [dimension.dim_value for dimension in known.type.tensor_type.shape.dim]
    if min(expected) < 1:
        with pytest.raises(InputError):
            graph.network(tmp_path_factory.mktemp("onnx"))
        return
    nest = graph.network(tmp_path_factory.mktemp("onnx")).layers[0].nest
    assert [1, nest.sizes["o"], nest.sizes["r"], nest.sizes["c"]] == expected


@pytest.mark.parametrize(
    ("image", "weights", "attributes", "kernel", "count"),
    [
        ([1, 8, 9, 9], (16, 8, 3, 3), {}, "conv2d", 1),
        ([5, 8, 9, 9], (16, 8, 3, 3), {}, "conv2d", 5),
        ([1, 8, 9, 9], (16, 4, 3, 3), {"group": 2}, "conv2d", 2),
        ([1, 8, 9, 9], (8, 1, 3, 3), {"group": 8}, "depthwise_conv2d", 1),
        ([2, 8, 9, 9], (24, 1, 3, 3), {"group": 8}, "depthwise_conv2d", 6),
    ],
)
def test_groups_and_batches_are_multiplicities(
    tmp_path: Path,
    image: list[int | str | None],
    weights: tuple[int, ...],
    attributes: dict[str, int],
    kernel: str,
    count: int,
) -> None:
    graph = Graph(image=image)
    graph.add("Conv", "image", graph.weight(*weights), **attributes)
    (layer,) = graph.network(tmp_path).layers
    assert (layer.nest.name, layer.count) == (kernel, count)
    elements = weights[0] * weights[1] * weights[2] * weights[3]
    assert layer.operations == int(str(image[0])) * 7 * 7 * elements


def supported() -> Graph:
    """One product that is imported, so that the rest is listed and not refused."""
    graph = Graph(
        a=[2, 3],
        image=[1, 4, 8, 8],
        signal=[1, 4, 8],
        volume=[1, 4, 8, 8, 8],
        open=[1, 4, "height", 8],
    )
    graph.add("MatMul", "a", graph.weight(3, 5))
    return graph


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "told"),
    [
        ("Conv", ("signal", (2, 4, 3)), {}, "convolution along 1 dimensions; allowed: 2"),
        ("Conv", ("volume", (2, 4, 3, 3, 3)), {}, "convolution along 3 dimensions; allowed: 2"),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"strides": [1, 2]},
            "stride differs along rows and columns: 1 and 2",
        ),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"dilations": [1, 2]},
            "dilation differs along rows and columns: 1 and 2",
        ),
        ("Conv", ("image", (2, 4, 9, 9)), {}, "a window of 9 elements does not fit into 8"),
        (
            "Conv",
            ("image", (2, 3, 3, 3)),
            {},
            "weights for 3 channels in 1 groups, but 4 input channels",
        ),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"kernel_shape": [5, 5]},
            "kernel_shape differs from the shape of the weights",
        ),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"strides": [0, 1]},
            "strides are [0, 1]; allowed: two positive integers",
        ),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"dilations": [0, 1]},
            "dilations are [0, 1]; allowed: two positive integers",
        ),
        (
            "Conv",
            ("open", (2, 4, 3, 3)),
            {},
            "a dimension of tensor 'open' is 'height'; give it a size",
        ),
        (
            "Conv",
            ("nowhere", (2, 4, 3, 3)),
            {},
            "shape of tensor 'nowhere' is unknown; run ONNX shape inference",
        ),
        (
            "MatMul",
            ("a", (4, 5)),
            {},
            "matrix product of shapes [2, 3] and [4, 5]: the reduced dimensions differ",
        ),
        (
            "MatMul",
            ("a", (3, 100_000)),
            {},
            "size of loop 'j' is 100000; allowed: an integer from 1 to 65536",
        ),
        ("Gemm", ("signal", (8, 5)), {}, "factors of 3 and 2 dimensions; allowed: 2"),
        ("ConvTranspose", ("image", (4, 2, 3, 3)), {}, "only Conv, Gemm and MatMul are imported"),
        (
            "Einsum",
            ("a", (3, 4)),
            {"equation": "ij,jk->ik"},
            "only Conv, Gemm and MatMul are imported",
        ),
        (
            "ConvInteger",
            ("image", (2, 4, 3, 3)),
            {},
            "quantised operator; export the model with QuantizeLinear",
        ),
        ("LSTM", ("signal", (1, 4, 8)), {}, "recurrent; only Conv, Gemm and MatMul are imported"),
        ("NewThing", ("a", (3, 4)), {}, "only Conv, Gemm and MatMul are imported"),
    ],
)
def test_arithmetic_that_is_not_imported_is_listed_with_its_reason(
    tmp_path: Path,
    operator: str,
    inputs: tuple[str, tuple[int, ...]],
    attributes: dict[str, object],
    told: str,
) -> None:
    graph = supported()
    name = graph.add(operator, inputs[0], graph.weight(*inputs[1]), **attributes)
    network = graph.network(tmp_path)
    assert network.operations == 2 * 3 * 5
    (omission,) = network.omissions(OmissionKind.UNSUPPORTED)
    assert network.unsupported == (omission,)
    assert (omission.operator, omission.count, omission.kind) == (
        operator,
        1,
        OmissionKind.UNSUPPORTED,
    )
    assert omission.sources == (name,)
    assert told in omission.reason


def test_operators_of_other_domains_are_listed(tmp_path: Path) -> None:
    """Also one that shares its name with an operator of ONNX; what it feeds has no known shape."""
    graph = supported()
    graph.add("MatMul", graph.add("MatMul", "a", domain="com.example"), graph.weight(3, 5))
    reasons = {o.operator: o.reason for o in graph.network(tmp_path).unsupported}
    assert reasons["com.example.MatMul"] == "operator of domain com.example, not of ONNX"
    assert "shape of tensor 'MatMul1' is unknown" in reasons["MatMul"]


def test_transposed_factors_of_gemm(tmp_path: Path) -> None:
    graph = Graph(a=[7, 2])
    graph.add("Gemm", "a", graph.weight(5, 7), transA=1, transB=1)
    assert graph.network(tmp_path).layers[0].nest.sizes == {"i": 2, "j": 5, "k": 7}


def test_functions_of_a_model_are_written_out(tmp_path: Path) -> None:
    body = [helper.make_node("MatMul", ["x", "y"], ["z"])]
    function = helper.make_function(
        "com.example", "Twice", ["x", "y"], ["z"], body, [helper.make_opsetid("", 17)]
    )
    graph = Graph(a=[2, 3])
    graph.add("Twice", "a", graph.weight(3, 5), domain="com.example")
    model = graph.model()
    model.functions.append(function)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    network = import_onnx(path)
    assert network.operations == 2 * 3 * 5
    assert network.unsupported == ()


def test_shapes_that_are_computed_are_followed(tmp_path: Path) -> None:
    """Exporters flatten with Shape, Gather and Concat; the batch they pass on is the one given."""
    graph = Graph(image=["N", 4, 6, 6])
    batch = graph.add("Gather", graph.add("Shape", "image"), graph.integers(0), axis=0)
    shape = graph.add("Concat", batch, graph.integers(-1), axis=0)
    graph.add("MatMul", graph.add("Reshape", "image", shape), graph.weight(144, 10))
    assert graph.network(tmp_path, {"N": 3}).layers[0].nest.sizes == {"i": 3, "j": 10, "k": 144}


def test_first_dimensions_without_a_name_are_one_unless_given(tmp_path: Path) -> None:
    graph = Graph(image=[None, 4, 6, 6])
    graph.add("Conv", "image", graph.weight(2, 4, 3, 3))
    assert graph.network(tmp_path).parameters == (("image[0]", 1),)
    assert graph.network(tmp_path, {"image[0]": 3}).layers[0].count == 3


def test_models_without_a_layer_are_refused(tmp_path: Path) -> None:
    graph = Graph(a=[2, 3])
    graph.add("Relu", "a")
    with pytest.raises(
        InputError,
        match="no node can become a layer: it has Relu; allowed: models with Conv, Gemm or MatMul",
    ):
        graph.network(tmp_path)
    graph.add("Conv", "a", graph.weight(1, 1, 3))
    with pytest.raises(
        InputError, match="no node can become a layer: Conv 'Conv1': convolution along 0 dimensions"
    ):
        graph.network(tmp_path)


@pytest.mark.parametrize("content", [b"", b"name: vgg16\n", b"\x00\x01\x02", b"\xff" * 100, "cut"])
def test_files_that_are_no_models_are_refused(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(
        content if isinstance(content, bytes) else vgg16().model().SerializeToString()[:-7]
    )
    with pytest.raises(InputError, match=r"bad\.onnx: is no ONNX model") as error:
        find_network(str(path))
    assert "\n" not in str(error.value)


def test_models_without_operator_sets_are_refused(tmp_path: Path) -> None:
    model = vgg16().model()
    del model.opset_import[:]
    path = tmp_path / "bad.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="is no valid ONNX model") as error:
        find_network(str(path))
    assert "\n" not in str(error.value)


def test_directories_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").mkdir()
    with pytest.raises(InputError, match=r"bad\.onnx: is a directory"):
        find_network(str(tmp_path / "bad.onnx"))


def test_operators_are_classified_once_and_exist() -> None:
    assert not onnx_operators.MOVEMENT & onnx_operators.ELEMENTWISE
    known = {schema.name for schema in defs.get_all_schemas_with_history() if schema.domain == ""}
    named = onnx_operators.MOVEMENT | onnx_operators.ELEMENTWISE | set(onnx_operators.REASONS)
    newer = {
        "BitCast",
        "CumProd",
        "RMSNormalization",
        "RotaryEmbedding",
        "SwiGLU",
        "Swish",
        "TensorScatter",
    }
    assert named - newer <= known
    assert not {"Conv", "ConvTranspose", "Einsum", "Attention", "DeformConv"} & named
