"""ONNX models of other domains, of formats, and files that are none."""

from dataclasses import replace
from math import prod

import onnx
import pytest
from onnx import TensorProto, helper

from ithaca.files.errors import InputError
from ithaca.plugins.onnx.workloads.backwards import fill
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import OmissionKind
from tests.command_line import ithaca, succeed
from tests.plugins.onnx.graphs import Graph, nests, vgg16


def test_models_without_a_layer_are_refused(tmp_path):
    graph = Graph(a=[2, 3])
    graph.add("Relu", "a")
    with pytest.raises(
        InputError,
        match="no node can become a layer: it has Relu; allowed: models with convolutions or matrix",
    ):
        graph.network(tmp_path)
    graph.add("Conv", "a", graph.weight(1, 1, 3))
    with pytest.raises(
        InputError, match="no node can become a layer: Conv 'Conv1': convolution along 0 dimensions"
    ):
        graph.network(tmp_path)


@pytest.mark.parametrize("content", [b"", b"name: vgg16\n", b"\x00\x01\x02", b"\xff" * 100, "cut"])
def test_files_that_are_no_models_are_refused(tmp_path, content):
    path = tmp_path / "bad.onnx"
    path.write_bytes(
        content if isinstance(content, bytes) else vgg16().model().SerializeToString()[:-7]
    )
    with pytest.raises(InputError, match=r"bad\.onnx: is no ONNX model") as error:
        find_network(str(path))
    assert "\n" not in str(error.value)


def test_names_that_are_no_text_are_refused(tmp_path):
    graph = Graph(image=["batch", 3, 8, 8])
    graph.add("Conv", "image", graph.weight(4, 3, 3, 3))
    content = graph.model().SerializeToString()
    for name in (b"batch", b"image", b"Conv0"):
        path = tmp_path / "bad.onnx"
        path.write_bytes(content.replace(name, b"\xff" * 5))
        with pytest.raises(InputError, match=r"bad\.onnx: has names that are not UTF-8"):
            find_network(str(path))


def without_domains(graph, *kept):
    model = graph.model()
    imports = [each for each in model.opset_import if each.domain in kept]
    del model.opset_import[:]
    model.opset_import.extend(imports)
    return model


def test_models_without_operator_sets_are_tolerated_with_a_remark(tmp_path):
    path = tmp_path / "none.onnx"
    path.write_bytes(without_domains(vgg16()).SerializeToString())
    network = find_network(str(path))
    assert nests(network) == nests(find_network("vgg16"))
    remark = "states no operator set of ONNX itself; taken for version 20"
    assert network.remarks == (f"{path} {remark}",)
    done = ithaca("network", path, "--layers", "Gemm34", "--dataflow", "i", "--divisors-only")
    assert done.returncode == 0
    assert f"ithaca: {path} {remark}" in done.stderr.replace("\n      ", " ")


@pytest.mark.ci
def test_what_is_taken_for_a_batch_is_named_where_a_window_does_not_fit(tmp_path):
    graph = Graph(sound=[-1, 4, 1])
    graph.add("Conv", graph.add("Transpose", "sound", perm=[2, 1, 0]), graph.weight(2, 4, 3))
    with pytest.raises(InputError, match=r"1, with sound\[0\] 1 unless .*: -s 'sound\[0\]=8'"):
        graph.network(tmp_path)
    assert graph.network(tmp_path, {"sound[0]": 9}).operations == 7 * 2 * 4 * 3


@pytest.mark.ci
def test_rounding_without_a_domain_is_of_early_brevitas(tmp_path):
    graph = Graph(image=[1, 4, 8, 8])
    rounded = graph.add("Quant", "image"), graph.add("Quant", graph.weight(2, 4, 3, 3))
    graph.add("Conv", *rounded)
    assert graph.network(tmp_path).operations == 6 * 6 * 2 * 4 * 9


@pytest.mark.ci
def test_attention_of_onnx_runtime_passes_shapes_on(tmp_path):
    """A GPT-2 of onnxruntime-genai: embedding, attention with weights of all three, a product."""
    microsoft = {"domain": "com.microsoft"}
    graph = Graph(words=["batch", "tokens"])
    table, weights = graph.weight(100, 32), graph.weight(32, 96)
    embedded = graph.add("EmbedLayerNormalization", "words", "", table, table, **microsoft)
    values = graph.add("Attention", embedded, weights, num_heads=4, **microsoft)
    graph.add("MatMul", values, graph.weight(32, 5))
    sizes = {"tokens": 8}
    parts = {"projection": 8 * 32 * 96, "scores": 8 * 8 * 32, "values": 8 * 8 * 32}
    assert graph.network(tmp_path, sizes).operations == sum(parts.values()) + 8 * 32 * 5
    with pytest.raises(InputError, match="'tokens'; give it a size: -s tokens=8"):
        graph.network(tmp_path)


@pytest.mark.parametrize("domain", ["qonnx.custom_op.general", "onnx.brevitas", "com.example"])
def test_operators_of_domains_that_are_not_imported(tmp_path, domain):
    """Rounding keeps shapes, so what it feeds is a layer; of the unknown the stated shape does."""
    graph = Graph(image=[1, 4, 8, 8])
    rounded = graph.add("Quant", "image", domain=domain)
    weights = graph.add("Quant", graph.weight(2, 4, 3, 3), domain=domain)
    graph.add("Conv", rounded, weights)
    model = without_domains(graph, "")
    stated = [(rounded, [1, 4, 8, 8]), (weights, [2, 4, 3, 3])]
    if domain == "com.example":
        model.graph.value_info.extend(
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in stated
        )
    path = tmp_path / "quant.onnx"
    path.write_bytes(model.SerializeToString())
    network = find_network(str(path))
    assert network.operations == 6 * 6 * 2 * 4 * 9
    assert network.remarks == (
        f"{path} states no operator set of domain {domain}; taken for version 1",
    )
    (omission,) = network.unsupported
    assert omission.kind.multiplies == (domain == "com.example")


@pytest.mark.parametrize(
    ("operator", "inputs", "domain", "attributes", "sizes"),
    [
        ("ConvInteger", [(1, 4, 8, 8), (2, 4, 3, 3)], "", {}, [36 * 2 * 36]),
        ("QLinearConv", [(1, 4, 8), 0, 0, (2, 4, 3), 0, 0, 0, 0], "", {}, [6 * 2 * 12]),
        ("MatMulInteger", [(2, 5, 3), (3, 4)], "", {}, [2 * 5 * 3 * 4]),
        ("QLinearMatMul", [(5, 3), 0, 0, (3, 4), 0, 0, 0, 0], "", {}, [5 * 3 * 4]),
        ("FusedMatMul", [(3, 5), (4, 3)], "com.microsoft", {"transA": 1, "transB": 1}, [60]),
        ("FusedConv", [(1, 4, 8, 8), (2, 4, 3, 3)], "com.microsoft", {}, [36 * 2 * 36]),
        ("QGemm", [(5, 3), 0, 0, (4, 3), 0, 0], "com.microsoft", {"transB": 1}, [60]),
        ("MatMulNBits", [(5, 32), (4, 1, 16)], "com.microsoft", {"K": 32, "N": 4}, [5 * 32 * 4]),
        ("LSTM", [(7, 2, 5), (2, 12, 5), (2, 12, 3)], "", {}, [2 * 14 * 60, 2 * 14 * 36]),
        ("GRU", [(2, 7, 5), (1, 9, 5), (1, 9, 3)], "", {"layout": 1}, [14 * 45, 14 * 27]),
        ("ConvTranspose", [(1, 4, 8, 8), (4, 3, 2, 2)], "", {"strides": [2, 2]}, [64 * 12] * 4),
        ("ConvTranspose", [(1, 4, 8), (4, 3, 3)], "", {"strides": [3]}, [8 * 12] * 3),
        ("Einsum", [(2, 5, 3), (2, 4, 3)], "", {"equation": "bik,bjk->bij"}, [2 * 5 * 4 * 3]),
        ("Einsum", [(5, 3), (3, 4)], "", {"equation": "ij,jk"}, [60]),
        ("Einsum", [(1, 7, 5, 3), (2, 1, 3, 4)], "", {"equation": "...ij,...jk->...ik"}, [840]),
        ("Attention", [(2, 8, 6, 4), (2, 2, 9, 4), (2, 2, 9, 5)], "", {}, [3456, 4320]),
        (
            "MultiHeadAttention",
            [(2, 6, 32), (2, 9, 32), (2, 9, 40)],
            "com.microsoft",
            {"num_heads": 8},
            [3456, 4320],
        ),
        (
            "Attention",
            [(2, 6, 7), (7, 96), (96,)],
            "com.microsoft",
            {"num_heads": 8},
            [2 * 6 * 7 * 96, 2 * 8 * 36 * 4, 2 * 8 * 36 * 4],
        ),
        (
            "MVAU_hls",
            [(1, 64), (64, 10)],
            "finn.custom_op.fpgadataflow.hls",
            {"MW": 64, "MH": 10, "numInputVectors": [1, 4, 4]},
            [16 * 640],
        ),
        (
            "VectorVectorActivation",
            [(1, 64), (64, 10)],
            "finn.custom_op.fpgadataflow",
            {"Channels": 8, "Dim": [5, 4], "Kernel": [3, 2]},
            [8 * 20 * 6],
        ),
        ("XnorPopcountMatMul", [(5, 3), (3, 4)], "qonnx.custom_op.general", {}, [60]),
        (
            "Conv",
            [(1, 8, 6, 4), (10, 3, 2, 2)],
            "qonnx.custom_op.channels_last",
            {"group": 2, "pads": [1, 0, 1, 0]},
            [8 * 5 * 10 * 3 * 2 * 2],
        ),
    ],
)
def test_what_multiplies_becomes_layers(tmp_path, operator, inputs, domain, attributes, sizes):
    """Multiply-accumulates of each layer, counted by hand."""
    graph = Graph(x=list(inputs[0]))
    rest = [graph.weight(*shape) if shape else graph.integers(1) for shape in inputs[1:]]
    graph.add(operator, "x", *rest, domain=domain, **attributes)
    path = tmp_path / "one.onnx"
    path.write_bytes(without_domains(graph).SerializeToString())
    network = find_network(str(path))
    assert [run.count * run.nest.operations for run in network.order] == sizes
    assert not any(omission.kind.multiplies for omission in network.unsupported)


def test_shapes_pass_what_a_runtime_fuses(tmp_path):
    """Layers between operators of ONNX Runtime, of which ONNX infers no shape."""
    graph = Graph(x=[2, 6, 32], gamma=[32])
    x = graph.add("SkipLayerNormalization", "x", "x", "gamma", domain="com.microsoft")
    x = graph.add("MultiHeadAttention", x, x, x, domain="com.microsoft", num_heads=4)
    x = graph.add("FusedMatMul", x, graph.weight(32, 16), domain="com.microsoft")
    x = graph.add("FastGelu", x, domain="com.microsoft")
    graph.add("MatMul", x, graph.weight(16, 3))
    path = tmp_path / "runtime.onnx"
    path.write_bytes(without_domains(graph).SerializeToString())
    network = find_network(str(path))
    counts = [run.count * run.nest.operations for run in network.order]
    assert counts == [2 * 36 * 32, 2 * 36 * 32, 12 * 32 * 16, 12 * 16 * 3]
    assert [run.follows for run in network.order] == [False, False, False, True]


def test_directories_are_refused(tmp_path):
    (tmp_path / "bad.onnx").mkdir()
    with pytest.raises(InputError, match=r"bad\.onnx: is a directory"):
        find_network(str(tmp_path / "bad.onnx"))


def test_words_that_are_rounded_to_are_named(tmp_path):
    graph = Graph(image=[1, 4, 8, 8])
    domain = "qonnx.custom_op.general"
    scale = graph.integers(1)
    four = graph.add("Quant", "image", scale, scale, graph.integers(4), domain=domain)
    one = graph.add("BipolarQuant", graph.weight(2, 4, 3, 3), scale, domain=domain)
    open_ = graph.add("Quant", graph.add("Conv", four, one), scale, scale, "image", domain=domain)
    graph.add("Relu", open_)
    path = tmp_path / "quant.onnx"
    path.write_bytes(without_domains(graph, "", domain).SerializeToString())
    words = "1 to 1 bits, 1 to 4 bits, 1 to bits that no constant says"
    network = find_network(str(path))
    _, rounded, remark = network.remarks
    assert rounded == f"{path} rounds tensors, {words}"
    assert remark == taken(path, "W=int1,A=int4", "1 of 1 layer")
    assert network.layers[0].nest.formats == (("cin", "int4"), ("w", "int1"))


def taken(path, formats, layers):
    return f"{path} states formats, {formats}, in {layers}; network --format states others, or none"


def test_layers_that_differ_take_the_bits_of_their_own_and_so_do_integers(tmp_path):
    """ONNX's own quantisers have the bits of their zero points, and of 8 without."""
    graph = Graph(x=[4, 8])
    domain = "qonnx.custom_op.general"
    scale = graph.integers(1)
    for bits in (2, 6):
        rounded = graph.add("Quant", "x", scale, scale, graph.integers(8), domain=domain)
        weights = graph.add(
            "Quant", graph.weight(8, bits), scale, scale, graph.integers(bits), domain=domain
        )
        graph.add("MatMul", graph.add("Relu", rounded), weights)
    network = graph.network(tmp_path)
    own = [dict(layer.nest.formats) for layer in network.layers]
    assert own == [{"A": "int8", "B": "int2"}, {"A": "int8", "B": "int6"}]
    assert any("W=int2/int6,A=int8, in 2 of 2 layers" in e for e in network.remarks)
    graph = Graph(x=[4, 8])
    rounded = graph.add("DequantizeLinear", graph.add("QuantizeLinear", "x", "s"), "s")
    graph.add("MatMul", rounded, graph.weight(8, 8))
    (remark,) = graph.network(tmp_path).remarks
    assert "states formats, A=int8, in 1 of 1 layer;" in remark


def test_scales_and_places_have_no_bits_of_what_is_rounded(tmp_path):
    """Only the first of several outputs holds it; all parts of what is split do."""
    graph = Graph(x=[4, 8])
    outputs = ["rounded", "scale", "zero"]
    graph.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], outputs))
    graph.nodes.append(helper.make_node("Split", ["rounded"], ["upper", "lower"], axis=0))
    scale = graph.add("Reshape", "scale", graph.integers(1, 1))
    graph.add("MatMul", scale, graph.weight(1, 8))
    graph.add("MatMul", graph.add("Identity", "lower"), graph.weight(8, 3))
    one, other = graph.network(tmp_path).layers
    assert (one.nest.formats, other.nest.formats) == ((), (("A", "int8"),))


def test_formats_of_a_model_reach_hierarchies_and_options_replace_them(tmp_path):
    graph = Graph(x=[2, 4])
    graph.add("MatMulNBits", "x", graph.weight(2, 1, 2), domain="com.microsoft", K=4, N=2, bits=4)
    path = tmp_path / "packed.onnx"
    path.write_bytes(without_domains(graph, "", "com.microsoft").SerializeToString())
    at = ("network", path, "--arch", "eyeriss", "--divisors-only")
    plain, own, other = (
        succeed(*at, *more).stdout.lower()
        for more in (("--format", "none"), (), ("--format", "W=int2"))
    )
    assert "b=int" not in plain
    assert "b=int4" in own
    assert "b=int2" in other


@pytest.mark.parametrize("bits", [4, 2])
def test_bits_of_packed_weights_are_taken(tmp_path, bits):
    graph = Graph(x=[5, 32], b=[4, 1, 16])
    graph.add("MatMulNBits", "x", "b", domain="com.microsoft", K=32, N=4, bits=bits)
    path = tmp_path / "packed.onnx"
    path.write_bytes(without_domains(graph, "", "com.microsoft").SerializeToString())
    assert taken(path, f"W=int{bits}", "1 of 1 layer") in find_network(str(path)).remarks
    assert find_network(str(path)).layers[0].nest.formats == (("B", f"int{bits}"),)


@pytest.mark.parametrize(
    ("name", "value"), [("bits", 0), ("bits", 99), ("block_size", 0), ("block_size", 24)]
)
def test_packed_weights_of_no_such_bits_or_blocks_are_left_out(tmp_path, name, value):
    graph = Graph(x=[5, 32], b=[4, 1, 16])
    how = {"domain": "com.microsoft", "K": 32, "N": 4, name: value}
    graph.add("MatMulNBits", "x", "b", **how)
    graph.add("MatMul", "x", graph.weight(32, 3))
    network = find_network(str(saved(graph, tmp_path, "com.microsoft")))
    (omission,) = network.unsupported
    assert f"{name} is {value}; allowed: " in omission.reason
    assert not any("formats" in each for each in network.remarks)


def constant(graph, name, kind, *shape):
    graph.weights.append(helper.make_tensor(name, kind, shape, [1] * prod(shape)))
    return name


@pytest.mark.ci
@pytest.mark.parametrize(
    ("scales", "points", "form"),
    [
        (TensorProto.FLOAT, False, "int4b32s32"),
        (TensorProto.FLOAT16, False, "int4b32s16"),
        (TensorProto.BFLOAT16, True, "int4b32s32"),  # 20 bits, padded
        (TensorProto.INT32, False, "int4"),
    ],
)
def test_blocks_of_packed_weights_share_their_scales(tmp_path, scales, points, form):
    graph = Graph(x=[5, 64])
    inputs = ["x", graph.weight(4, 2, 16), constant(graph, "s", scales, 8)]
    if points:
        inputs.append(constant(graph, "p", TensorProto.UINT8, 4))
    how = {"domain": "com.microsoft", "K": 64, "N": 4, "bits": 4, "block_size": 32}
    graph.add("MatMulNBits", *inputs, **how)
    (layer,) = find_network(str(saved(graph, tmp_path, "com.microsoft"))).layers
    assert layer.nest.formats == (("B", form),)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "scales", "block", "form"),
    [
        (TensorProto.INT8, TensorProto.FLOAT, 0, "int8"),
        (TensorProto.UINT8, TensorProto.FLOAT, 0, "int8"),
        (TensorProto.INT16, TensorProto.FLOAT, 0, "int16"),
        (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT, 0, "fp8e4m3"),
        (TensorProto.FLOAT8E5M2, TensorProto.FLOAT, 0, "fp8e5m2"),
        (TensorProto.INT8, TensorProto.FLOAT16, 32, "int8b32s16"),
        (TensorProto.INT32, TensorProto.FLOAT, 0, None),
    ],
)
def test_unpacked_weights_have_the_format_of_what_is_unpacked(tmp_path, kind, scales, block, form):
    graph = Graph(x=[5, 64])
    shape = [2, 4] if block else [1]
    weights = constant(graph, "w", kind, 64, 4)
    more = {"axis": 0, "block_size": block} if block else {}
    weights = graph.add("DequantizeLinear", weights, constant(graph, "s", scales, *shape), **more)
    graph.add("MatMul", "x", weights)
    (layer,) = graph.network(tmp_path).layers
    assert dict(layer.nest.formats).get("B") == form


def test_integers_that_are_clipped_have_fewer_bits(tmp_path):
    """Integers of other widths in ONNX's own operators, the way Brevitas writes them."""
    graph = Graph(x=[5, 64])
    scale = constant(graph, "s", TensorProto.FLOAT, 1)
    point = constant(graph, "z", TensorProto.INT8, 1)
    for name, value in (("low", -8), ("high", 7), ("one", 0), ("other", 6)):
        graph.weights.append(helper.make_tensor(name, TensorProto.INT8, [], [value]))

    def rounded(x, low, high):
        integers = graph.add("Clip", graph.add("QuantizeLinear", x, scale, point), low, high)
        return graph.add("DequantizeLinear", integers, scale, point)

    weights = rounded(graph.weight(64, 4), "low", "high")
    graph.add("MatMul", rounded("x", "one", "other"), weights)
    (layer,) = graph.network(tmp_path).layers
    assert layer.nest.formats == (("A", "int3"), ("B", "int4"))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("widths", "form"), [((4, 8), "int8"), ((2, 3), "int3"), ((4,), "int4"), ((8, None), None)]
)
def test_joined_tensors_have_the_widest_format_of_their_parts(tmp_path, widths, form):
    """Formats of joined tensors are unknown where one of them has none."""
    domain = "qonnx.custom_op.general"
    graph = Graph(x=[4, 8])
    scale = graph.integers(1)
    parts = [
        graph.add("Quant", "x", scale, scale, graph.integers(bits), domain=domain) if bits else "x"
        for bits in widths
    ]
    graph.add("MatMul", graph.add("Concat", *parts, axis=1), graph.weight(8 * len(parts), 4))
    (layer,) = graph.network(tmp_path).layers
    assert dict(layer.nest.formats).get("A") == form


@pytest.mark.ci
@pytest.mark.parametrize(("pad", "form"), [(0, "int4"), (200, "int8")])
def test_padding_of_clipped_integers_counts(tmp_path, pad, form):
    graph = Graph(x=[5, 64])
    scale = constant(graph, "s", TensorProto.FLOAT, 1)
    point = constant(graph, "z", TensorProto.UINT8, 1)
    for name, value in (("low", 0), ("high", 15), ("pad", pad)):
        graph.weights.append(helper.make_tensor(name, TensorProto.UINT8, [], [value]))
    integers = graph.add("Clip", graph.add("QuantizeLinear", "x", scale, point), "low", "high")
    padded = graph.add("Pad", integers, graph.integers(0, 0, 0, 0), "pad")
    graph.add("MatMul", graph.add("DequantizeLinear", padded, scale, point), graph.weight(64, 4))
    (layer,) = graph.network(tmp_path).layers
    assert dict(layer.nest.formats).get("A") == form


@pytest.mark.ci
@pytest.mark.parametrize(("stated", "form"), [("INT4", "int4"), ("BIPOLAR", "int1"), ("FLOAT", "")])
def test_hardware_of_finn_states_its_types(tmp_path, stated, form):
    graph = Graph(x=[5, 64])
    types = {"weightDataType": stated, "inputDataType": "UINT2"}
    domain = "finn.custom_op.fpgadataflow"
    graph.add("MVAU", "x", "x", domain=domain, MW=64, MH=4, numInputVectors=[5], **types)
    (layer,) = find_network(str(saved(graph, tmp_path, domain))).layers
    assert layer.nest.formats == (("A", "int2"), ("B", form))[: 1 + bool(form)]


def decoder_step(folder, *, packed):
    """Grouped attention after products with weights of 4 bits, and one after it: two positions
    of three sequences, with five before."""
    graph = Graph(x=[3, 2, 64], keys=[3, 2, 5, 8], values=[3, 2, 5, 8])
    domain = {"domain": "com.microsoft"}

    def product(x, inner, columns):
        weights = graph.weight(columns, inner // 32, 16)
        return graph.add("MatMulNBits", x, weights, K=inner, N=columns, **domain)

    own = [product("x", 64, 64 + 32), "", ""] if packed else [product("x", 64, 64)]
    if not packed:
        own += [product("x", 64, 16), product("x", 64, 16)]
    heads = {"num_heads": 8, "kv_num_heads": 2}
    attended = graph.add("GroupQueryAttention", *own, "keys", "values", **heads, **domain)
    product(product(attended, 64, 128), 128, 32)
    path = folder / "step.onnx"
    path.write_bytes(without_domains(graph, "", "com.microsoft").SerializeToString())
    return find_network(str(path))


def test_grouped_attention_may_have_its_inputs_in_one(tmp_path):
    """Shapes of what ONNX Runtime adds follow from inputs alone, as exporters write no others."""
    apart, packed = (decoder_step(tmp_path, packed=each) for each in (False, True))
    assert apart.unsupported == packed.unsupported == ()
    assert apart.operations == packed.operations
    projected, attended = 6 * 64 * (64 + 2 * 16), 3 * 8 * 2 * (5 + 2) * 8 * 2
    assert packed.operations == projected + attended + 6 * 64 * 128 + 6 * 128 * 32


def test_packed_weights_have_the_rows_that_the_input_has(tmp_path):
    graph = Graph(x=[2, 96])
    weights = graph.weight(4, 2, 16)
    graph.add("MatMulNBits", "x", weights, domain="com.microsoft", K=64, N=4)
    graph.add("MatMul", "x", graph.weight(96, 3))
    path = tmp_path / "packed.onnx"
    path.write_bytes(without_domains(graph, "", "com.microsoft").SerializeToString())
    (omission,) = find_network(str(path)).unsupported
    assert "K and N are not those of the input" in omission.reason


def saved(graph, folder, *domains):
    path = folder / "odd.onnx"
    path.write_bytes(without_domains(graph, "", *domains).SerializeToString())
    return path


def test_odd_attributes_and_packed_inputs_are_refused_by_name(tmp_path):
    graph = Graph(x=[2, 96])
    graph.add("MatMulNBits", "x", graph.weight(4, 2, 16), domain="com.microsoft", K="a", N=4)
    path = saved(graph, tmp_path, "com.microsoft")
    with pytest.raises(InputError, match=r"^\S+odd.onnx: attribute K is of the wrong type"):
        find_network(str(path))
    graph = Graph(x=[2, 2, 6, 64])
    heads = {"num_heads": 4, "kv_num_heads": 2}
    graph.add("GroupQueryAttention", "x", "", "", "", "", domain="com.microsoft", **heads)
    with pytest.raises(InputError, match="are packed in 4 dimensions; allowed: 3"):
        find_network(str(saved(graph, tmp_path, "com.microsoft")))


def test_bits_beyond_words_are_not_printed_digit_by_digit(tmp_path):
    graph = Graph(x=[2, 8])
    domain = "qonnx.custom_op.general"
    scale = graph.integers(1)
    wide = graph.add("Quant", "x", scale, scale, graph.integers(10**18), domain=domain)
    graph.add("MatMul", wide, graph.weight(8, 3))
    (*_, remark) = find_network(str(saved(graph, tmp_path, domain))).remarks
    assert "rounds tensors, 1 to more than 64 bits" in remark


def beginning_with(operator, folder, strides):
    """The network of a model that begins with an operator and says what it returns."""
    graph = Graph(image=[1, 4, 9, 9])
    stem = graph.add(operator, "image", domain="" if operator == "Relu" else "com.example")
    first = graph.add("Conv", stem, graph.weight(6, 4, 3, 3), pads=[0, 1, 1, 1])
    second = graph.add("Conv", graph.add("Relu", first), graph.weight(6, 1, 3, 3), group=6)
    graph.add("Conv", second, graph.weight(5, 6, 2, 2), strides=strides)
    model = graph.model()
    shape = model.graph.output[0].type.tensor_type.shape
    for extent in (1, 5, *((6 - 2) // strides[0] + 1, (7 - 2) // strides[1] + 1)):
        shape.dim.add().dim_value = extent
    path = folder / f"{operator}.onnx"
    path.write_bytes(model.SerializeToString())
    return find_network(str(path))


def test_shapes_before_what_a_model_returns_follow_from_it(tmp_path):
    """Nobody knows what an operator makes, but what follows says so."""
    known, unknown = (beginning_with(each, tmp_path, [1, 1]) for each in ("Relu", "Strange"))
    assert nests(unknown) == nests(known)
    assert len(known.layers) == 3
    (left_out,) = unknown.omissions(OmissionKind.UNSUPPORTED)
    assert left_out.operator == "com.example.Strange"


def test_maps_of_several_sizes_before_strides_stay_unknown(tmp_path):
    """With steps of 2 one row more or less comes to the same rows, but not for who made them."""
    known, unknown = (beginning_with(each, tmp_path, [2, 3]) for each in ("Relu", "Strange"))
    assert nests(unknown) == nests(replace(known, layers=known.layers[2:]))
    _, *left_out = unknown.omissions(OmissionKind.UNSUPPORTED)
    assert [each.operator for each in left_out] == ["Conv", "Conv"]
    assert all("is unknown" in each.reason for each in left_out)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("operator", "weights", "attributes", "returned"),
    [
        ("Add", (5,), {}, (4, 5)),  # of one or of five columns
        ("Gemm", (4, 3), {}, (4, 5)),
        ("Gemm", (5, 4), {"transB": 1.0}, (4, 5)),
        ("Conv", (6, 4, 3, 3), {}, (1, 5, 7, 7)),
        ("Conv", (5, 4, 3, 3), {"group": 2}, (1, 5, 7, 7)),
        ("Conv", (5, 4, 3, 3), {"group": "two"}, (1, 5, 7, 7)),
    ],
)
def test_shapes_that_do_not_follow_stay_unknown(operator, weights, attributes, returned):
    """Weights that disagree with an output, or have several elements, fix no input."""
    node = helper.make_node(operator, ["x", "w"], ["y"], **attributes)
    shapes = {"w": weights, "y": returned}
    fill([node], shapes, {"x": 1})
    assert "x" not in shapes


@pytest.mark.ci
def test_any_number_but_zero_turns_a_factor_around():
    node = helper.make_node("Gemm", ["x", "w"], ["y"], transB=5)
    halved = helper.make_node("Div", ["z", "two"], ["x"])
    shapes = {"w": (5, 3), "two": (1,), "y": (4, 5)}
    fill([halved, node], shapes, {"x": 1, "z": 1})
    assert shapes["x"] == shapes["z"] == (4, 3)
