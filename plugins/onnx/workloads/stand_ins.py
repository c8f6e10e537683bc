"""Operators of ONNX in the place of others that shape inference does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ithaca.plugins.onnx.workloads.nodes import attribute, has, key, packed_heads
from ithaca.plugins.onnx.workloads.operators import MICROSOFT, QUANTISERS, keeps_shape

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

#: Operators of ONNX that make the same shape of some of the inputs of others.
_STAND_INS = {
    **dict.fromkeys([(MICROSOFT, "FusedConv")], ("Conv", (0, 1))),
    **dict.fromkeys(
        [(MICROSOFT, name) for name in ("GemmFastGelu", "MatMulIntegerToFloat", "MatMulInteger16")]
        + [(MICROSOFT, "DynamicQuantizeMatMul")]
        + [(domain, "XnorPopcountMatMul") for domain in QUANTISERS],
        ("MatMul", (0, 1)),
    ),
    (MICROSOFT, "FusedGemm"): ("Gemm", (0, 1)),
    (MICROSOFT, "QGemm"): ("Gemm", (0, 3)),
    (MICROSOFT, "QLinearConv"): ("QLinearConv", tuple(range(9))),
    (MICROSOFT, "QLinearAdd"): ("Add", (0, 3)),
    (MICROSOFT, "QLinearMul"): ("Mul", (0, 3)),
    (MICROSOFT, "EmbedLayerNormalization"): ("Gather", (2, 0)),
    (MICROSOFT, "MultiHeadAttention"): ("Identity", (0,)),
    (MICROSOFT, "GroupQueryAttention"): ("Identity", (0,)),
}


def standing_in(model: ModelProto) -> ModelProto:
    """A model in which nodes that shape inference does not know are ones that it does."""
    from onnx import ModelProto

    copy = ModelProto()
    copy.CopyFrom(model)
    nodes = [each for node in copy.graph.node for each in _in_place_of(node, copy.graph)]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def _in_place_of(node: NodeProto, graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes that make the shape that a node makes; tensors of theirs join the graph."""
    domain, operator = key(node)
    if (domain, operator) == (MICROSOFT, "MatMulNBits") and has(node, 0):
        yield from _packed_product(node, graph)
        return
    if packed_heads(node) is not None:
        yield from _packed_attention(node, graph)
        return
    if (domain, operator) == (MICROSOFT, "Attention") and has(node, 1):
        yield from _third_of_product(node)
        return
    stand_in, places = _STAND_INS.get((domain, operator), ("", ()))
    if keeps_shape(domain, operator):
        stand_in, places = "Identity", (0,)
    if (domain, operator) == (MICROSOFT, "FusedMatMul") and not any(
        attribute(node, f"trans{which}", 0) for which in ("A", "B", "BatchA", "BatchB")
    ):
        stand_in, places = "MatMul", (0, 1)
    if stand_in and all(has(node, place) for place in places[:2]):
        inputs = [node.input[place] for place in places if place < len(node.input)]
        del node.input[:], node.output[1:]
        node.input.extend(inputs)
        node.domain, node.op_type = "", stand_in
    yield node


def _third_of_product(node: NodeProto) -> Iterator[NodeProto]:
    """Values of attention whose weights make queries, keys and values at once, alike in width."""
    from onnx import helper

    if attribute(node, "qkv_hidden_sizes", []):
        yield node
        return
    every = f"{node.output[0]} with keys and queries"
    yield helper.make_node("MatMul", [*node.input[:2]], [every])
    parts = [node.output[0], f"{every} 1", f"{every} 2"]
    yield helper.make_node("Split", [every], parts, axis=2, num_outputs=3)


def _packed_product(node: NodeProto, graph: GraphProto) -> Iterator[NodeProto]:
    """A product with weights as they are when they are unpacked."""
    from onnx import TensorProto, helper

    shape = [attribute(node, name, 0) for name in ("K", "N")]
    weights = f"{node.output[0]} unpacked"
    graph.input.append(helper.make_tensor_value_info(weights, TensorProto.FLOAT, shape))
    yield helper.make_node("MatMul", [node.input[0], weights], node.output[:1])


def _packed_attention(node: NodeProto, graph: GraphProto) -> Iterator[NodeProto]:
    """The heads of queries, of all that are packed."""
    from onnx import TensorProto, helper

    heads, keys = packed_heads(node) or (0, 0)
    name = node.output[0]

    def constant(part: str, values: list[int]) -> str:
        own = helper.make_tensor(f"{name} {part}", TensorProto.INT64, [len(values)], values)
        graph.initializer.append(own)
        return own.name

    apart, queries = f"{name} heads", f"{name} queries"
    shape = constant("apart", [0, 0, heads + 2 * keys, -1])
    yield helper.make_node("Reshape", [node.input[0], shape], [apart])
    bounds = [constant(part, [n]) for part, n in (("first", 0), ("end", heads), ("axis", 2))]
    yield helper.make_node("Slice", [apart, *bounds], [queries])
    yield helper.make_node("Reshape", [queries, constant("whole", [0, 0, -1])], [name])
