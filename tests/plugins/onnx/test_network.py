"""ONNX models as networks: round trips, real shapes, and what is listed instead of dropped."""

from math import prod
from operator import gt

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, defs, helper

from ithaca.files.errors import InputError
from ithaca.plugins.onnx.workloads import operators as onnx_operators
from ithaca.plugins.onnx.workloads.kernels import KERNELS, SAMPLED
from ithaca.plugins.onnx.workloads.network import import_onnx
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import OmissionKind
from ithaca.workloads.networks.network_files import MULTIPLYING
from tests.plugins.onnx.graphs import (
    LIGHT,
    Graph,
    bert_base,
    listed,
    mobilenetv2,
    nests,
    sizes,
    vgg16,
)


def test_vgg16_comes_back(tmp_path):
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


def test_mobilenetv2_comes_back(tmp_path):
    assert nests(mobilenetv2().network(tmp_path)) == nests(find_network("mobilenetv2"))


def test_bert_base_comes_back(tmp_path):
    network = bert_base().network(tmp_path, {"sequence": 384, "batch": 2})
    assert nests(network) == nests(find_network("bert-base", {"sequence": 384, "batch": 2}))
    assert network.parameters == (("batch", 2), ("sequence", 384))


def test_symbols_without_a_size_are_told(tmp_path):
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
def test_models_of_the_onnx_zoo_have_the_published_operations(name, gmacs):
    """Operations as torchvision states them for the same architectures."""
    path = LIGHT / f"{name}.onnx"
    if not path.exists():
        pytest.skip("this version of onnx comes without its light models")
    assert round(import_onnx(path).operations / 10**9, 3) == gmacs


def test_resnet50_of_the_onnx_zoo_is_ours():
    path = LIGHT / "light_resnet50.onnx"
    if not path.exists():
        pytest.skip("this version of onnx comes without its light models")
    assert nests(import_onnx(path)) == nests(find_network("resnet50"))


@settings(max_examples=50)
@given(
    st.integers(7, 10),
    st.integers(1, 3).flatmap(
        lambda axes: st.tuples(
            *(st.lists(sizes, min_size=axes, max_size=axes) for _ in range(3)),
            st.lists(st.integers(0, 2), min_size=2 * axes, max_size=2 * axes),
        )
    ),
    st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]),
    st.booleans(),
)
def test_feature_maps_are_those_of_onnx(tmp_path_factory, size, along, mode, transposed):
    """ONNX's own shape inference is the reference for every kind of padding, and number of
    dimensions; of a transposed convolution all elements that a product reaches."""
    window, strides, dilations, pads = along
    graph = Graph(image=[1, 4, size, 6, 5][: 2 + len(window)])
    chosen = {"auto_pad": mode} if mode != "NOTSET" else {"pads": pads}
    operator, channels = ("ConvTranspose", (4, 2)) if transposed else ("Conv", (2, 4))
    output = graph.add(
        operator,
        "image",
        graph.weight(*channels, *window),
        strides=strides,
        dilations=dilations,
        **chosen,
    )
    known = {v.name: v for v in onnx.shape_inference.infer_shapes(graph.model()).graph.output}[
        output
    ]
    expected = [dimension.dim_value for dimension in known.type.tensor_type.shape.dim]
    reach = [d * (w - 1) for w, d in zip(window, dilations, strict=True)]
    padded = [
        n + (sum(pads[axis :: len(window)]) if mode == "NOTSET" else 0)
        for axis, n in enumerate([size, 6, 5][: len(window)])
    ]
    fits = transposed or mode.startswith("SAME") or all(map(gt, padded, reach))
    if min(expected) < 1 or not fits:  # ONNX rounds what does not fit towards zero
        with pytest.raises(InputError):
            graph.network(tmp_path_factory.mktemp("onnx"))
        return
    network = graph.network(tmp_path_factory.mktemp("onnx"))
    (_, outputs, *places), counts_of_words = expected, [run.written_words for run in network.order]
    if transposed:
        assert sum(counts_of_words) <= prod(expected)
        if not mode.startswith("SAME"):
            first = pads if mode == "NOTSET" else [0, 0, 0]
            pairs = (
                sum((y + at - p * d) % s == 0 for y in range(n) for p in range(w))
                for n, w, s, d, at in zip(places, window, strides, dilations, first, strict=False)
            )
            assert network.operations == 8 * prod(pairs)
        return
    sizes = network.layers[0].nest.sizes
    assert [sizes[loop] for loop in "zrc" if sizes.get(loop, 1) > 1] == [n for n in places if n > 1]
    assert (counts_of_words, sizes["o"]) == ([prod(expected)], outputs)


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
    tmp_path,
    image,
    weights,
    attributes,
    kernel,
    count,
):
    graph = Graph(image=image)
    graph.add("Conv", "image", graph.weight(*weights), **attributes)
    (layer,) = graph.network(tmp_path).layers
    assert (layer.nest.name, layer.count) == (kernel, count)
    elements = weights[0] * weights[1] * weights[2] * weights[3]
    assert layer.operations == int(str(image[0])) * 7 * 7 * elements


def supported():
    """One product that is imported, so that the rest is listed and not refused."""
    graph = Graph(
        a=[2, 3],
        image=[1, 4, 8, 8],
        signal=[1, 4, 8],
        volume=[1, 4, 8, 8, 8],
        wide=[1, 4, 8, 8, 8, 8],
        open=[1, 4, "height", 8],
    )
    graph.add("MatMul", "a", graph.weight(3, 5))
    return graph


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "told"),
    [
        ("Conv", ("signal", (2, 4, 3, 3)), {}, "convolution along 1 dimensions; allowed: 1 to 3"),
        ("Conv", ("wide", (2, 4, 3, 3, 3, 3)), {}, "along 4 dimensions; allowed: 1 to 3"),
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
            "strides are [0, 1]; allowed: 2 positive integers",
        ),
        (
            "Conv",
            ("image", (2, 4, 3, 3)),
            {"dilations": [0, 1]},
            "dilations are [0, 1]; allowed: 2 positive integers",
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
            ("a", (3, 2_000_000)),
            {},
            "size of loop 'j' is 2000000; allowed: an integer from 1 to 1048576",
        ),
        ("Gemm", ("signal", (8, 5)), {}, "factors of 3 and 2 dimensions; allowed: 2"),
        (
            "ConvTranspose",
            ("image", (2, 4, 3, 3)),
            {},
            "weights for 2 channels in 1 groups, but 4 input channels",
        ),
        (
            "ConvTranspose",
            ("image", (4, 2, 3, 3)),
            {"pads": [5] * 4},
            "pads make an output of [0, 0]; allowed: at least one element",
        ),
        (
            "Einsum",
            ("a", (3, 4)),
            {"equation": "ij,jk->k"},
            "equation 'ij,jk->k': index i of one factor is summed up; allowed: of both",
        ),
        ("Einsum", ("a", (3, 3)), {"equation": "ij,jj->ij"}, "an index is twice in one factor"),
        ("Einsum", ("a", (3, 4)), {"equation": "ij,jk->ikz"}, "the result is 'ikz'; allowed"),
        ("Einsum", ("a", (3, 4)), {"equation": "ij,jk->iki"}, "the result is 'iki'; allowed"),
        ("Einsum", ("a", (4, 4)), {"equation": "ij,jk->ik"}, "index j is 3 and 4"),
        ("Einsum", ("a", (3, 4)), {"equation": "ij,j->i"}, "does not fit the shapes"),
        ("LSTM", ("signal", (1, 4, 8)), {}, "are not those of the operator"),
        ("Attention", ("image", (3, 4)), {}, "packed; allowed: three inputs"),
        ("NewThing", ("a", (3, 4)), {}, "no kernel is known for it"),
    ],
)
def test_arithmetic_that_is_not_imported_is_listed_with_its_reason(
    tmp_path,
    operator,
    inputs,
    attributes,
    told,
):
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


def test_operators_of_other_domains_are_listed(tmp_path):
    """An operator that shares its name with one of ONNX is listed, too; what it feeds has no known
    shape."""
    graph = supported()
    graph.add("MatMul", graph.add("MatMul", "a", domain="com.example"), graph.weight(3, 5))
    reasons = {o.operator: o.reason for o in graph.network(tmp_path).unsupported}
    assert reasons["com.example.MatMul"] == "operator of domain com.example, not of ONNX"
    assert "shape of tensor 'MatMul1' is unknown" in reasons["MatMul"]


def test_transposed_factors_of_gemm(tmp_path):
    graph = Graph(a=[7, 2])
    graph.add("Gemm", "a", graph.weight(5, 7), transA=1, transB=1)
    assert graph.network(tmp_path).layers[0].nest.sizes == {"i": 2, "j": 5, "k": 7}


def test_functions_of_a_model_are_written_out(tmp_path):
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


def test_shapes_that_are_computed_are_followed(tmp_path):
    """Exporters flatten with Shape, Gather and Concat; the batch they pass on is the one given."""
    graph = Graph(image=["N", 4, 6, 6])
    batch = graph.add("Gather", graph.add("Shape", "image"), graph.integers(0), axis=0)
    shape = graph.add("Concat", batch, graph.integers(-1), axis=0)
    graph.add("MatMul", graph.add("Reshape", "image", shape), graph.weight(144, 10))
    assert graph.network(tmp_path, {"N": 3}).layers[0].nest.sizes == {"i": 3, "j": 10, "k": 144}


def test_first_dimensions_without_a_name_are_one_unless_given(tmp_path):
    graph = Graph(image=[None, 4, 6, 6])
    graph.add("Conv", "image", graph.weight(2, 4, 3, 3))
    assert graph.network(tmp_path).parameters == (("image[0]", 1),)
    assert graph.network(tmp_path, {"image[0]": 3}).layers[0].count == 3


@pytest.mark.ci
def test_dimensions_without_a_name_are_of_different_sizes(tmp_path):
    graph = Graph(x=["?", 3, "?", "?"])  # as PaddlePaddle writes them
    graph.add("Conv", "x", graph.weight(4, 3, 3, 3))
    (layer,) = graph.network(tmp_path, {"x[2]": 10, "x[3]": 18}).layers
    assert layer.operations == 8 * 16 * 4 * 3 * 9
    with pytest.raises(InputError, match=r"is 'x\[2\]'; give it a size: -s 'x\[2\]=8'"):
        graph.network(tmp_path)


@pytest.mark.ci
def test_shapes_that_are_computed_have_the_types_that_models_state(tmp_path):
    graph = Graph(x=[1, 3, 10, 10])
    graph.add("Conv", "x", graph.weight(4, 3, 3, 3))
    graph.add("Cast", graph.add("Shape", "Conv0"), to=TensorProto.FLOAT)
    graph.nodes.append(helper.make_node("Strange", ["Conv0"], ["s"], domain="com.example"))
    model = graph.model()
    model.graph.value_info.append(helper.make_tensor_value_info("Cast2", TensorProto.FLOAT, [4]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert find_network(str(path)).operations == 8 * 8 * 4 * 3 * 9


def cast_and_back(folder, kind):
    """The network of a convolution of what has its own shape, cast to a type and back, in a version
    of ONNX that follows no casts."""
    graph = Graph(x=[1, 3, 10, 10])
    there = graph.add("Cast", graph.add("Shape", "x"), to=kind)
    back = graph.add("Cast", graph.add("Identity", there), to=TensorProto.INT64)
    graph.add("Conv", graph.add("Reshape", "x", back), graph.weight(4, 3, 3, 3))
    model = graph.model()
    model.opset_import[0].version = 13
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return find_network(str(path))


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["FLOAT", "BFLOAT16", "STRING"])
def test_shapes_that_are_cast_and_back_are_those(tmp_path, kind):
    network = cast_and_back(tmp_path, TensorProto.DataType.Value(kind))
    assert network.operations == 8 * 8 * 4 * 3 * 9


@pytest.mark.ci
@pytest.mark.parametrize("kind", [TensorProto.BOOL, 99])
def test_shapes_that_a_type_cannot_have_are_unknown(tmp_path, kind):
    with pytest.raises(InputError, match="shape of tensor 'Reshape4' is unknown"):
        cast_and_back(tmp_path, kind)


@pytest.mark.ci
def test_dimensions_of_outputs_without_a_name_are_of_different_sizes(tmp_path):
    graph = Graph(x=["?", 3, 10, 10])
    graph.add("Conv", "x", graph.weight(4, 3, 3, 3))
    model = graph.model()
    del model.graph.output[:]
    output = helper.make_tensor_value_info("Conv0", TensorProto.FLOAT, ["?", 4, "?", "?"])
    model.graph.output.append(output)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert find_network(str(path)).operations == 8 * 8 * 4 * 3 * 9


def test_operators_are_classified_once_and_exist():
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
    kernels = {name for domain, name in KERNELS if not domain}
    assert not kernels & named
    assert kernels <= known | {"Attention"}


@pytest.mark.parametrize("version", [9, 13, 18])
@pytest.mark.parametrize("listed_as_inputs", [True, False])
def test_shapes_that_older_exporters_compute_are_followed(tmp_path, version, listed_as_inputs):
    """A batch taken from the input's shape, as in the TFC networks of FINN: Shape, Gather,
    Unsqueeze and Concat to Reshape; all initializers stand among the inputs, too."""
    whole = {"batch": [], "one": [1], "rest": [1], "halves": [1], "w": [784, 64]}
    values = {"batch": 0, "one": 0, "rest": -1, "halves": 2, "w": 0}
    kinds = dict.fromkeys(whole, onnx.TensorProto.INT64) | {"w": onnx.TensorProto.FLOAT}
    initializers = [
        helper.make_tensor(name, kinds[name], dims, [values[name]] * prod(dims))
        for name, dims in whole.items()
    ]
    unsqueezed = (
        helper.make_node("Unsqueeze", ["first"], ["row"], axes=[0])
        if version < 13
        else helper.make_node("Unsqueeze", ["first", "one"], ["row"])
    )
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "batch"], ["first"], axis=0),
        unsqueezed,
        helper.make_node("Mul", ["row", "halves"], ["twice"]),
        helper.make_node("Div", ["twice", "halves"], ["again"]),
        helper.make_node("Concat", ["again", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3, 1, 28, 28])]
    inputs += [
        helper.make_tensor_value_info(name, kinds[name], dims)
        for name, dims in whole.items()
        if listed_as_inputs
    ]
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=6)
    onnx.save(model, tmp_path / "m.onnx")
    (layer,) = import_onnx(tmp_path / "m.onnx").layers
    assert dict(layer.nest.extents) == {"i": 3, "j": 64, "k": 784}


def test_tensors_say_which_layer_reads_what_the_one_before_wrote(tmp_path):
    by_file, by_model = find_network("vgg16").order, vgg16().network(tmp_path).order
    assert [run.follows for run in by_model] == [run.follows for run in by_file]
    graph = Graph(x=["N", 8, 8, 8])
    weights = [graph.weight(8, 8, 1, 1) for _ in range(4)]
    first = graph.add("Relu", graph.add("Conv", "x", weights[0]))
    second = graph.add("Conv", graph.add("Conv", first, weights[1]), weights[2])
    graph.add("Conv", graph.add("Add", first, second), weights[3])
    assert [run.follows for run in graph.network(tmp_path).order] == [False, False, True, False]


def test_what_a_model_returns_is_read_by_who_runs_it(tmp_path):
    graph = Graph(x=["N", 8, 8, 8])
    first = graph.add("Conv", "x", graph.weight(8, 8, 1, 1))
    graph.add("Conv", first, graph.weight(8, 8, 1, 1))
    assert [run.follows for run in graph.network(tmp_path).order] == [False, True]
    model = graph.model()
    model.graph.output.append(type(model.graph.output[0])(name=first))
    (tmp_path / "both.onnx").write_bytes(model.SerializeToString())
    assert [run.follows for run in find_network(str(tmp_path / "both.onnx")).order] == [
        False,
        False,
    ]


def test_network_files_know_what_multiplies():
    """By the names of ONNX's own operators."""
    assert {name for domain, name in {*KERNELS, *SAMPLED} if not domain} == MULTIPLYING


def test_a_model_that_is_not_there_is_refused():
    with pytest.raises(InputError, match=r"missing\.onnx: no such file"):
        find_network("missing.onnx")
