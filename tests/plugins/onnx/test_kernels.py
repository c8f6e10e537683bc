"""Multiply-accumulates of ONNX nodes that become no layers, and of those that do."""

from itertools import product

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ithaca.files.errors import InputError
from ithaca.plugins.onnx.workloads.kernels import multiplications
from ithaca.plugins.onnx.workloads.network import import_onnx
from tests.plugins.onnx.graphs import LIGHT


def work(operator, shapes, inputs, domain="", **more):
    """The multiply-accumulates of a node whose tensors have these shapes; its output is ``y``."""

    def extents(name):
        if name not in shapes:
            raise InputError("unknown")
        return shapes[name]

    node = helper.make_node(operator, inputs.split(","), ["y"], domain=domain, **more)
    return multiplications(node, extents)


def correlated(image, window, step):
    """Products of elements and weights, counted one by one: no padding, one group."""
    batch, channels, height, width = image
    outputs, _, rows, columns = window
    done = 0
    for y, x in product(range(0, height, step[0]), range(0, width, step[1])):
        if y + rows <= height and x + columns <= width:
            done += rows * columns
    return batch * outputs * channels * done


def test_convolutions_whose_strides_differ_are_counted():
    image, window = (2, 4, 20, 30), (8, 4, 3, 5)
    shapes = {"x": image, "w": window, "y": (2, 8, 9, 26)}
    assert work("Conv", shapes, "x,w", strides=[2, 1]) == correlated(image, window, (2, 1))


def test_transposed_convolutions_use_a_weight_for_every_input():
    shapes = {"x": (1, 8, 16, 16), "w": (8, 4, 2, 2), "y": (1, 4, 32, 32)}
    assert work("ConvTranspose", shapes, "x,w", strides=[2, 2]) == 16 * 16 * 8 * 4 * 2 * 2


@pytest.mark.parametrize(
    ("equation", "a", "b"),
    [
        ("bik,bjk->bij", (4, 16, 8), (4, 3, 8)),
        ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 6)),
        ("ij,jk", (3, 4), (4, 5)),
    ],
)
def test_products_of_any_indices_are_counted(equation, a, b):
    """Tensors of ones, multiplied and all summed, count themselves."""
    counted = np.einsum(equation, np.ones(a), np.ones(b)).sum()
    assert work("Einsum", {"a": a, "b": b}, "a,b", equation=equation) == counted


@pytest.mark.parametrize(
    ("a", "b"), [((3, 4), (4, 5)), ((2, 1, 3, 4), (7, 4, 5)), ((4,), (2, 4, 3)), ((2, 4), (4,))]
)
def test_broadcast_products_are_counted(a, b):
    counted = np.matmul(np.ones(a), np.ones(b)).sum()
    for operator, inputs in (("MatMul", "a,b"), ("QLinearMatMul", "a,s,z,b,s,z,s,z")):
        assert work(operator, {"a": a, "b": b}, inputs) == counted


def test_products_with_packed_weights_are_those_of_plain_ones():
    shapes = {"x": (2, 3, 64), "b": (32, 2, 16), "s": (64,)}
    packed = work("MatMulNBits", shapes, "x,b,s", "com.microsoft", K=64, N=32)
    assert packed == work("MatMul", {"x": (2, 3, 64), "w": (64, 32)}, "x,w")
    assert work("MatMulNBits", {"b": (32, 2, 16)}, "x,b", "com.microsoft", K=64, N=32) is None


def test_attention_is_two_products_over_all_steps():
    """Scores and weighted values of every head, counted as NumPy multiplies ones."""
    heads, own, steps, past, each = 8, 2, 3, 5, 4
    queries, keys = np.ones((1, heads, steps, each)), np.ones((1, heads, past + steps, each))
    scores = np.einsum("bhqe,bhke->bhqk", queries, keys)
    values = np.einsum("bhqk,bhke->bhqe", np.ones_like(scores), keys)
    shapes = {
        "q": (1, steps, heads * each),
        "k": (1, steps, own * each),
        "pk": (1, own, past, each),
    }
    counted = work("Attention", shapes, "q,k,k,,pk,pk", q_num_heads=heads, kv_num_heads=own)
    assert counted == scores.sum() + values.sum()
    apart = {"q": queries.shape, "k": (1, own, past + steps, each)}
    assert work("Attention", apart, "q,k,k") == counted


def test_recurrences_use_every_weight_at_every_step():
    shapes = {"x": (7, 2, 5), "w": (1, 4 * 3, 5), "r": (1, 4 * 3, 3)}
    assert work("LSTM", shapes, "x,w,r", hidden_size=3) == 7 * 2 * (12 * 5 + 12 * 3)


def test_unknown_work_is_not_none_at_all():
    assert work("MatMul", {"a": (3, 4)}, "a,b") is None
    assert work("Mystery", {"a": (3, 4)}, "a", "some.vendor") is None


def branch(operator):
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    return helper.make_graph([helper.make_node(operator, ["a"], ["y"])], "body", [], [value])


def test_bodies_without_products_have_none():
    bodies = {"then_branch": branch("Squeeze"), "else_branch": branch("Identity")}
    assert work("If", {}, "c", **bodies) == 0
    assert work("If", {}, "c", **(bodies | {"else_branch": branch("MatMul")})) is None


@pytest.mark.parametrize("name", ["light_densenet121", "light_resnet50", "light_shufflenet"])
def test_what_becomes_a_layer_is_counted_alike(name):
    """Every node of models of the ONNX zoo, against the loop nest that it becomes."""
    path = LIGHT / f"{name}.onnx"
    if not path.exists():
        pytest.skip("this version of onnx comes without its light models")
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        shapes[value.name] = tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
    nodes = {node.name or node.output[0]: node for node in graph.node}
    runs = import_onnx(path).order
    assert len(runs) > 20
    for run in runs:
        counted = multiplications(nodes[run.source], lambda name: shapes[name])
        assert counted == run.count * run.nest.operations
