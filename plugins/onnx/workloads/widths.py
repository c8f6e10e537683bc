"""Bits of what quantised ONNX models multiply, in words: those of weights, and of activations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING

from ithaca.files.numbers import counted
from ithaca.plugins.onnx.workloads.nodes import key
from ithaca.plugins.onnx.workloads.operators import BITS, MICROSOFT, QUANTISERS
from ithaca.workloads.formats import ACTIVATIONS, WEIGHTS

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

#: Words of a width that is computed.
UNSTATED = "bits that no constant says"

#: Places of the activations and the weights of products and convolutions, by operator.
_FACTORS = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul"), (0, 1)),
    **dict.fromkeys(("ConvInteger", "MatMulInteger", "FusedConv"), (0, 1)),
    **dict.fromkeys(("MatMulIntegerToFloat", "DynamicQuantizeMatMul"), (0, 1)),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QGemm"), (0, 3)),
}

#: Of these, those whose factors are integers of 8 bits, whatever is known of them.
_INTEGER = frozenset(
    (
        *("ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", "QGemm"),
        *("MatMulIntegerToFloat", "DynamicQuantizeMatMul"),
    )
)

#: Operators that leave the values of their first input as they are, or choose among them.
_KEEPING = {
    *("Clip", "Dropout", "Flatten", "Identity", "Relu", "Reshape", "Squeeze", "Unsqueeze"),
    *("Transpose", "MaxPool", "Concat", "Slice", "Split", "Pad", "Gather", "Expand"),
    *("DepthToSpace", "SpaceToDepth", "Im2Col", "MaxPoolNHWC", "GlobalMaxPool"),
}

#: Widest integers that formats name.
MAX_BITS = 16

#: Widest integers that remarks count.
WIDEST = 64


def remarks(graph: GraphProto) -> Iterator[str]:
    """Remarks on the bits that quantisers round to, and those of packed weights, where there are
    any."""
    values = {each.name: each for each in graph.initializer}
    for node in graph.node:
        if key(node) == ("", "Constant"):
            tensors = (each.t for each in node.attribute if each.HasField("t"))
            values.update(zip(node.output, tensors, strict=False))
    bits = _bits(graph, values)
    widths = Counter(map(_words, _rounded(graph, bits)))
    factors = _factors(graph, bits)
    if widths.keys() - {UNSTATED}:
        words = ", ".join(f"{number} to {width}" for width, number in sorted(widths.items()))
        yield f"rounds tensors, {words}; {_advice(factors)}"
    elif factors:
        yield f"multiplies integers; {_advice(factors)}"
    packed = [node for node in graph.node if key(node) == (MICROSOFT, "MatMulNBits")]
    stated = ([each.i for each in node.attribute if each.name == "bits"] for node in packed)
    narrow = Counter(own[0] if own else 4 for own in stated)
    for width, number in sorted(narrow.items()):
        if 1 <= width <= 8:
            yield (
                f"has weights of {width} bits, in {counted(number, 'product')}; "
                f"--format W=int{width} counts them so, without scales of their blocks"
            )


def _words(bits: int) -> str:
    if bits > WIDEST:
        return f"more than {WIDEST} bits"
    return f"{bits} bits" if bits else UNSTATED


def _advice(factors: Mapping[str, frozenset[int]]) -> str:
    """The formats that count what is multiplied in so many bits; wide enough for all layers."""
    known = {kind: widths for kind, widths in factors.items() if max(widths) <= MAX_BITS}
    if not known:
        return "--dtype says the words that are computed with"
    words = ",".join(f"{kind}=int{max(widths)}" for kind, widths in known.items())
    if all(len(widths) == 1 for widths in known.values()):
        return f"--format {words} counts them so"
    several = " and ".join(
        f"{kind} of {', '.join(map(str, sorted(widths)))} bits" for kind, widths in known.items()
    )
    return f"{several} are multiplied: --format {words} holds all of them"


def _bits(graph: GraphProto, values: Mapping[str, TensorProto]) -> dict[str, int]:
    """The bits of tensors that are rounded, and of those made of them; 0 where no constant says."""
    bits = dict[str, int]()
    for node in graph.node:
        domain, operator = key(node)
        if domain in QUANTISERS and operator in BITS:
            width = _stated(node, BITS[operator], values)
        elif operator in ("QuantizeLinear", "DynamicQuantizeLinear", "DequantizeLinear"):
            width = _linear(node, values)
            if not width and operator == "DequantizeLinear":
                width = bits.get(node.input[0], 0) if node.input else 0
        elif operator in _KEEPING and node.input and node.input[0] in bits:
            width = bits[node.input[0]]
        else:
            continue
        bits.update(dict.fromkeys(node.output, width))
    return bits


def _rounded(graph: GraphProto, bits: Mapping[str, int]) -> Iterator[int]:
    """The bits that each quantiser rounds to."""
    for node in graph.node:
        domain, operator = key(node)
        if node.output and domain in QUANTISERS and operator in BITS:
            yield bits[node.output[0]]


def _stated(node: NodeProto, place: int, values: Mapping[str, TensorProto]) -> int:
    """The bits that a quantiser of QONNX or Brevitas rounds to."""
    from onnx import numpy_helper

    if not place:
        return 1
    width = values.get(node.input[place]) if place < len(node.input) else None
    if width is None or width.external_data or prod(width.dims) != 1:
        return 0
    stated = float(numpy_helper.to_array(width).item())
    return int(stated) if stated.is_integer() and stated > 0 else 0


def _linear(node: NodeProto, values: Mapping[str, TensorProto]) -> int:
    """The bits of ONNX's own quantisers: those of their zero points, of 8 bits where there is none;
    0 where it is not known."""
    from onnx import TensorProto

    point = values.get(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    if node.op_type == "DequantizeLinear" and point is None and node.input:
        point = values.get(node.input[0])
    if point is None:
        return 0 if node.op_type == "DequantizeLinear" else 8
    match = TensorProto.DataType.Name(point.data_type).lower().removeprefix("u")
    width = match.removeprefix("int")
    return int(width) if match.startswith("int") and width.isdigit() else 0


def _factors(graph: GraphProto, bits: Mapping[str, int]) -> dict[str, frozenset[int]]:
    """The bits of what is multiplied, by kind of tensor; without those that are not known, or
    rounded nowhere."""
    widths: dict[str, set[int]] = {WEIGHTS: set(), ACTIVATIONS: set()}
    whole = dict.fromkeys(widths, True)
    for node in graph.node:
        places = _FACTORS.get(node.op_type)
        if places is None or len(node.input) <= places[1]:
            continue
        for kind, place in zip((ACTIVATIONS, WEIGHTS), places, strict=True):
            width = bits.get(node.input[place], 8 * (node.op_type in _INTEGER))
            whole[kind] &= bool(width)
            widths[kind].add(width)
    return {kind: frozenset(each) for kind, each in widths.items() if each and whole[kind]}
