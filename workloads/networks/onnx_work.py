"""Multiply-accumulates of ONNX nodes, whether or not they can become layers.

Shapes say how many there are, of what is too large, strided, quantised or recurrent for a layer,
too. Nothing is masked: of causal attention all scores are counted. Where an operator, or a shape,
is not known, neither is its work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.workloads.networks.network import OmissionKind
from ithaca.workloads.networks.onnx_operators import omission

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

#: The shape of a tensor, all of it known; raises `InputError` where it is not.
Extents = Callable[[str], tuple[int, ...]]

_Count = Callable[["NodeProto", Extents], int]


def multiplications(node: NodeProto, extents: Extents) -> int | None:
    """The multiply-accumulates of a node; None where they cannot be counted.

    Parameters
    ----------
    node : NodeProto
        The node.
    extents : callable
        The shape of a tensor by name; raises `InputError` where it is not known.
    """
    domain = "" if node.domain == "ai.onnx" else node.domain
    if bodies := [*_bodies(node)]:
        return None if any(map(_multiplies, bodies)) else 0
    count = COUNTS.get((domain, node.op_type))
    try:
        return None if count is None else count(node, extents)
    except (InputError, IndexError, ValueError):
        return None


def attribute(node: NodeProto, name: str, default: int | str | list[int]) -> Any:
    """An attribute of a node, an integer, a list of them or text.

    Raises `InputError` if it is of another kind than its default value.

    Parameters
    ----------
    node : NodeProto
        The node.
    name : str
        Name of the attribute.
    default : int or str or list of int
        Its value where the node does not state it.
    """
    from onnx import AttributeProto

    match = next((each for each in node.attribute if each.name == name), None)
    if match is None:
        return default
    kind, field = {int: ("INT", "i"), list: ("INTS", "ints"), str: ("STRING", "s")}[type(default)]
    if match.type != AttributeProto.AttributeType.Value(kind):
        raise InputError(
            f"attribute {name} is of the wrong type; allowed: {kind}, as ONNX defines it"
        )
    value = getattr(match, field)
    return value.decode(errors="replace") if kind == "STRING" else type(default)(value)


def bodies_reads(node: NodeProto) -> Iterator[str]:
    """The tensors that a node reads, those that its bodies take from around them among them."""
    yield from node.input
    for graph in _bodies(node):
        for inner in graph.node:
            yield from bodies_reads(inner)


def _bodies(node: NodeProto) -> Iterator[GraphProto]:
    for each in node.attribute:
        if each.HasField("g"):
            yield each.g
        yield from each.graphs


def _multiplies(body: GraphProto) -> bool:
    """Whether a body has arithmetic that an array could do."""
    for node in body.node:
        inner = [*_bodies(node)]
        kind = omission(node.domain, node.op_type)[0]
        if any(map(_multiplies, inner)) or (not inner and kind is OmissionKind.UNSUPPORTED):
            return True
    return False


def _convolution(weights: int) -> _Count:
    """Every weight is used once for every element of the output's map, of every image."""

    def count(node: NodeProto, extents: Extents) -> int:
        batch, _, *map_ = extents(node.output[0])
        return batch * prod(map_) * prod(extents(node.input[weights]))

    return count


def _transposed_convolution(node: NodeProto, extents: Extents) -> int:
    """Every weight is used once for every element of the input's map, of every image."""
    batch, _, *map_ = extents(node.input[0])
    return batch * prod(map_) * prod(extents(node.input[1]))


def _product(right: int) -> _Count:
    """Products with broadcasting, of the first input and that of this place."""

    def count(node: NodeProto, extents: Extents) -> int:
        import numpy as np

        a, b = extents(node.input[0]), extents(node.input[right])
        if attribute(node, "transA", 0):
            a = (*a[:-2], a[-1], a[-2])
        if attribute(node, "transB", 0):
            b = (*b[:-2], b[-1], b[-2])
        a, b = a if len(a) > 1 else (1, *a), b if len(b) > 1 else (*b, 1)
        if a[-1] != b[-2]:
            raise InputError("the reduced dimensions differ; allowed: equal ones")
        return prod(np.broadcast_shapes(a[:-2], b[:-2])) * a[-2] * a[-1] * b[-1]

    return count


def _packed_product(node: NodeProto, extents: Extents) -> int:
    """Products with weights of a few bits, of K rows and N columns."""
    inner, columns = (attribute(node, name, 0) for name in ("K", "N"))
    words = prod(extents(node.input[0]))
    if inner < 1 or columns < 1 or words % inner:
        raise InputError("K and N are not those of the input; allowed: its last dimension, columns")
    return int(words * columns)


def _recurrent(node: NodeProto, extents: Extents) -> int:
    """Every weight is used once for every step of every sequence."""
    first, second, _ = extents(node.input[0])
    return first * second * sum(prod(extents(weights)) for weights in node.input[1:3])


def _einsum(node: NodeProto, extents: Extents) -> int:
    """A multiply-accumulate for every value of all indices, of two factors."""
    terms = attribute(node, "equation", "").replace(" ", "").partition("->")[0].split(",")
    if len(terms) == 1:
        return 0
    if len(terms) != 2:
        raise InputError("the order of several products is not fixed; allowed: two factors")
    spans: dict[str, int] = {}
    for term, tensor in zip(terms, node.input, strict=True):
        shape = extents(tensor)
        before, dots, after = term.partition("...")
        hidden = len(shape) - len(before) - len(after)
        names = [*before, *(f".{place}" for place in range(hidden, 0, -1)), *after]
        if len(names) != len(shape) or (hidden and not dots):
            raise InputError("the equation does not fit the shapes; allowed: an index each")
        for name, extent in zip(names, shape, strict=True):
            spans[name] = max(spans.get(name, 1), extent)
    return prod(spans.values())


def _attention(past: int) -> _Count:
    """Scores, and values weighted by them; ``past`` is the place of the keys of steps before."""

    def count(node: NodeProto, extents: Extents) -> int:
        query, key, value = (extents(name) for name in node.input[:3])
        if not {len(query), len(key), len(value)} <= {3, 4}:
            raise InputError("queries, keys and values are packed; allowed: 3 or 4 dimensions each")
        steps = key[-2] + (extents(node.input[past])[-2] if _has(node, past) else 0)
        if len(query) == 4 and len(value) == 4:
            heads, each = query[1], value[3]
        else:
            heads = attribute(node, "q_num_heads", attribute(node, "num_heads", 0))
            own = attribute(node, "kv_num_heads", heads)
            if heads < 1 or own < 1 or (len(value) == 3 and value[2] % own):
                raise InputError("the number of heads is not stated; allowed: a divisor")
            each = value[3] if len(value) == 4 else value[2] // own
        return int(prod(query) * steps + query[0] * heads * query[-2] * steps * each)

    return count


def _has(node: NodeProto, place: int) -> bool:
    return len(node.input) > place and bool(node.input[place])


def _each(domain: str, names: str, count: _Count) -> Mapping[tuple[str, str], _Count]:
    keys: Sequence[str] = names.split()
    return {(domain, name): count for name in keys}


MICROSOFT = "com.microsoft"

#: How to count, by domain and operator.
COUNTS: Mapping[tuple[str, str], _Count] = {
    **_each("", "Conv ConvInteger DeformConv", _convolution(1)),
    **_each("", "QLinearConv", _convolution(3)),
    **_each("", "ConvTranspose", _transposed_convolution),
    **_each("", "Gemm MatMul MatMulInteger", _product(1)),
    **_each("", "QLinearMatMul", _product(3)),
    **_each("", "RNN GRU LSTM", _recurrent),
    **_each("", "Einsum", _einsum),
    **_each("", "Attention", _attention(4)),
    **_each(MICROSOFT, "FusedConv NhwcFusedConv", _convolution(1)),
    **_each(MICROSOFT, "FusedMatMul FusedGemm GemmFastGelu MatMulInteger16", _product(1)),
    **_each(MICROSOFT, "MatMulIntegerToFloat DynamicQuantizeMatMul", _product(1)),
    **_each(MICROSOFT, "QGemm", _product(3)),
    **_each(MICROSOFT, "MatMulNBits MatMulBnb4 MatMulFpQ4", _packed_product),
    **_each(MICROSOFT, "MultiHeadAttention", _attention(6)),
}
