"""Formats of what quantised ONNX models multiply: of weights, and of activations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING

from ithaca.plugins.onnx.workloads.nodes import attribute, has, key
from ithaca.plugins.onnx.workloads.operators import BITS, FINN, MICROSOFT, QUANTISERS

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

#: Words of a width that is computed.
UNSTATED = "bits that no constant says"

#: Places of the activations and the weights of products and convolutions, by operator.
_FACTORS = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul"), (0, 1)),
    **dict.fromkeys(("ConvInteger", "MatMulInteger", "FusedConv"), (0, 1)),
    **dict.fromkeys(("MatMulIntegerToFloat", "DynamicQuantizeMatMul"), (0, 1)),
    **dict.fromkeys(("FusedMatMul", "FusedGemm", "GemmFastGelu"), (0, 1)),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QGemm"), (0, 3)),
}

#: Of these, those whose factors are integers of 8 bits, whatever is known of them.
_INTEGER = frozenset(
    (
        *("ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", "QGemm"),
        *("MatMulIntegerToFloat", "DynamicQuantizeMatMul"),
    )
)

#: Operators that leave the values of their inputs as they are, or choose among them.
_KEEPING = {
    *("Clip", "Dropout", "Flatten", "Identity", "Relu", "Reshape", "Squeeze", "Unsqueeze"),
    *("Transpose", "MaxPool", "Concat", "Slice", "Split", "Pad", "Gather", "Expand"),
    *("DepthToSpace", "SpaceToDepth", "Im2Col", "MaxPoolNHWC", "GlobalMaxPool"),
}

#: Formats of floating point that ONNX's own quantisers round to, by the type of their zero points;
#: and of blocks that share an exponent.
_FLOATS = {"FLOAT8E4M3FN": "fp8e4m3", "FLOAT8E5M2": "fp8e5m2"}
_SHARING = {
    **dict.fromkeys(("FLOAT8E4M3FN", "FLOAT8E5M2"), "mxfp8"),
    **dict.fromkeys(("FLOAT6E2M3", "FLOAT6E3M2"), "mxfp6"),
    "FLOAT4E2M1": "mxfp4",
}

#: Values of their blocks.
_SHARED_BLOCK = 32

#: Bits of the types of scales.
_SCALES = {"FLOAT": 32, "FLOAT16": 16, "BFLOAT16": 16}

#: Widest integers that formats name.
MAX_BITS = 16

#: Widest integers that remarks count.
WIDEST = 64

_INTEGER_TYPE = re.compile(r"U?INT([1-9][0-9]?)")


def remarks(graph: GraphProto) -> Iterator[str]:
    """Remarks on the bits that quantisers of QONNX and Brevitas round to, where there are any."""
    bits = _Formats(graph).bits
    quantisers = (n for n in graph.node if n.output and key(n)[0] in QUANTISERS)
    rounded = (bits[node.output[0]] for node in quantisers if node.op_type in BITS)
    widths = Counter(map(_words, rounded))
    if widths.keys() - {UNSTATED}:
        words = (f"{number} to {width}" for width, number in sorted(widths.items()))
        yield f"rounds tensors, {', '.join(words)}"


def factor_formats(graph: GraphProto) -> dict[str, tuple[str, str]]:
    """The formats of activations and weights, by the first output of the node that multiplies
    them; empty where none is known exactly."""
    formats = _Formats(graph)
    pairs = ((node.output[0], formats.factors(node)) for node in graph.node if node.output)
    return {name: pair for name, pair in pairs if any(pair)}


def _words(bits: int) -> str:
    if bits > WIDEST:
        return f"more than {WIDEST} bits"
    return f"{bits} bits" if bits else UNSTATED


class _Formats:
    """The formats of tensors that are rounded, and of those made of them."""

    def __init__(self, graph: GraphProto) -> None:
        self.values: dict[str, TensorProto] = {each.name: each for each in graph.initializer}
        for node in graph.node:
            if key(node) == ("", "Constant"):
                tensors = (each.t for each in node.attribute if each.HasField("t"))
                self.values.update(zip(node.output, tensors, strict=False))
        self.types = {each.name: each.type.tensor_type.elem_type for each in graph.input}
        self.types |= {name: each.data_type for name, each in self.values.items()}
        self.bits: dict[str, int] = {}
        """Bits of integers by tensor; 0 where no constant says."""
        self.others: dict[str, str] = {}
        """Other formats by tensor."""
        whole = set[str]()  # tensors that hold the integers themselves
        for node in graph.node:
            self._follow(node, whole)

    def factors(self, node: NodeProto) -> tuple[str, str]:
        """The formats of a node's activations and weights."""
        domain, operator = key(node)
        if domain in FINN and has(node, 0):
            return _of_type(node, "inputDataType"), _of_type(node, "weightDataType")
        if (domain, operator) == (MICROSOFT, "MatMulNBits"):
            return self._named(node, 0), self._packed(node)
        if operator not in _FACTORS:
            return "", ""
        first, second = _FACTORS[operator]
        return self._named(node, first), self._named(node, second)

    def _named(self, node: NodeProto, place: int) -> str:
        """The format of an input of a node."""
        if not has(node, place):
            return ""
        name = node.input[place]
        if name in self.others:
            return self.others[name]
        return _integer(self.bits.get(name, 8 * (node.op_type in _INTEGER)))

    def _packed(self, node: NodeProto) -> str:
        """The format of weights whose blocks have scales."""
        bits = attribute(node, "bits", 4)
        block = attribute(node, "block_size", 0)
        return self._block(bits, block, node, 2) if 1 <= bits <= 8 else ""

    def _block(self, bits: int, block: int, node: NodeProto, scales: int) -> str:
        """Blocks of integers with a scale, and where it is stated a zero point, which are padded to
        a power of two bits; without them where the type of scales is not known."""
        shared = _SCALES.get(self._type(node, scales), 0)
        if not shared or not 2 <= block <= 1 << 16:
            return _integer(bits)
        point = bits * has(node, scales + 1)
        return f"int{bits}b{block}s{1 << (shared + point - 1).bit_length()}"

    def _type(self, node: NodeProto, place: int) -> str:
        """The name of the type of an input, empty where it is not known."""
        from onnx import TensorProto

        kind = self.types.get(node.input[place], 0) if has(node, place) else 0
        known = kind and kind in TensorProto.DataType.values()
        return TensorProto.DataType.Name(kind) if known else ""

    def _follow(self, node: NodeProto, whole: set[str]) -> None:
        """Note what a node's outputs hold."""
        domain, operator = key(node)
        source = node.input[0] if node.input else ""
        outputs = node.output if operator == "Split" else node.output[:1]  # others: scales, places
        other = ""
        if domain in QUANTISERS and operator in BITS:
            bits = _stated(node, BITS[operator], self.values)
        elif operator in ("QuantizeLinear", "DynamicQuantizeLinear", "DequantizeLinear"):
            bits, other = self._linear(node)
            if operator == "DequantizeLinear" and source in self.bits:
                bits = bits and min(bits, self.bits[source] or bits)
            elif operator != "DequantizeLinear":
                whole.update(outputs)
        elif operator in _KEEPING and (kept := self._kept(node, source in whole)) is not None:
            bits, other = kept
            if source in whole:
                whole.update(outputs)
                bits = self._clipped(node, bits) if operator == "Clip" else bits
        else:
            return
        if other:
            self.others.update(dict.fromkeys(outputs, other))
        else:
            self.bits.update(dict.fromkeys(outputs, bits))

    def _kept(self, node: NodeProto, integers: bool) -> tuple[int, str] | None:
        """The bits or the other format of what an operator hands on, of all parts that it joins;
        None where it is not known, as with padding by what may be no value of the format."""
        parts = node.input if node.op_type == "Concat" else node.input[:1]
        others = {self.others.get(name, "") for name in parts}
        if len(others) != 1 or not all(name in self.bits or name in self.others for name in parts):
            return None
        each = [self.bits.get(name, 0) for name in parts]
        bits = max(each) if all(each) else 0
        if node.op_type == "Pad" and not self._pads_by_zero(node):
            match = _INTEGER_TYPE.fullmatch(self._type(node, 2)) if integers else None
            return None if match is None else (max(bits, int(match[1])), "")
        return bits, others.pop()

    def _pads_by_zero(self, node: NodeProto) -> bool:
        """Whether a constant says that padding is zeros, or nothing says otherwise."""
        from onnx import numpy_helper

        if any(each.name == "value" and each.f for each in node.attribute):
            return False
        if not has(node, 2):
            return True
        value = self.values.get(node.input[2])
        if value is None or value.external_data or prod(value.dims) != 1:
            return False
        return not numpy_helper.to_array(value).item()

    def _clipped(self, node: NodeProto, bits: int) -> int:
        """Bits of integers between constants."""
        from onnx import numpy_helper

        known = filter(None, (self.values.get(name) for name in node.input[1:3]))
        bounds = [each for each in known if not each.external_data and prod(each.dims) == 1]
        if len(bounds) < 2:
            return bits
        low, high = (numpy_helper.to_array(each).item() for each in bounds)
        if not isinstance(low, int) or not isinstance(high, int):
            return bits
        signed = low < 0
        return min(bits, max(high.bit_length(), (-low - 1).bit_length() * signed) + signed)

    def _linear(self, node: NodeProto) -> tuple[int, str]:
        """The bits of ONNX's own quantisers, or another format: those of their zero points, and of
        what is unpacked; 8 bits where nothing says so."""
        from onnx import TensorProto

        unpacks = node.op_type == "DequantizeLinear"
        kind = self._type(node, 2) or (self._type(node, 0) if unpacks else "")
        if not kind and not unpacks and (stated := attribute(node, "output_dtype", 0)):
            known = stated in TensorProto.DataType.values()
            kind = TensorProto.DataType.Name(stated) if known else "UNDEFINED"
        block = attribute(node, "block_size", 0)
        if block == _SHARED_BLOCK and self._type(node, 1) == "FLOAT8E8M0" and kind in _SHARING:
            return 0, _SHARING[kind]
        if not block and kind in _FLOATS:
            return 0, _FLOATS[kind]
        if not kind and unpacks and node.input:  # what was rounded, and how
            source = node.input[0]
            return self.bits.get(source, 0), self.others.get(source, "")
        match = _INTEGER_TYPE.fullmatch(kind or "INT8")
        bits = int(match[1]) if match else 0
        if block and bits:
            return bits, self._block(bits, block, node, 1) if bits <= MAX_BITS else ""
        return bits, ""


def _integer(bits: int) -> str:
    """The format of integers of so many bits; none where there is none so wide."""
    return f"int{bits}" if 1 <= bits <= MAX_BITS else ""


def _of_type(node: NodeProto, name: str) -> str:
    """The format that an attribute of FINN's hardware states."""
    stated = str(attribute(node, name, ""))
    match = _INTEGER_TYPE.fullmatch(stated)
    bits = {"BINARY": 1, "BIPOLAR": 1, "TERNARY": 2}.get(stated, int(match[1]) if match else 0)
    return _integer(bits)


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
