"""Parts of ONNX nodes: attributes, inputs, bodies, and the shapes of their tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.plugins.onnx.workloads.operators import QUANTISERS, ROUNDING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

#: The shape of a tensor, all of it known; raises `InputError` where it is not.
Extents = Callable[[str], tuple[int, ...]]


def key(node: NodeProto) -> tuple[str, str]:
    """Domain and operator of a node, the domain of ONNX's own operators empty.

    Early versions of Brevitas state no domain of what rounds: it is theirs.
    """
    domain = "" if node.domain == "ai.onnx" else node.domain
    return domain or QUANTISERS[0] * (node.op_type in ROUNDING), node.op_type


def has(node: NodeProto, place: int) -> bool:
    """Whether a node has an input at a place."""
    return len(node.input) > place and bool(node.input[place])


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


def bodies(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in a node, as of control flow."""
    for each in node.attribute:
        if each.HasField("g"):
            yield each.g
        yield from each.graphs


def bodies_reads(node: NodeProto) -> Iterator[str]:
    """The tensors that a node reads, those that its bodies take from around them among them."""
    yield from node.input
    for graph in bodies(node):
        for inner in graph.node:
            yield from bodies_reads(inner)


def packed_heads(node: NodeProto) -> tuple[int, int] | None:
    """Heads of queries and of keys, where ONNX Runtime's grouped attention has queries, keys and
    values in one input; None where it has not."""
    alone = has(node, 0) and not has(node, 1) and not has(node, 2)
    if key(node) != ("com.microsoft", "GroupQueryAttention") or not alone:
        return None
    heads, keys = (attribute(node, name, 0) for name in ("num_heads", "kv_num_heads"))
    return (heads, keys) if heads > 0 and keys > 0 else None
