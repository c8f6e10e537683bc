"""Kernels of ONNX nodes: the loop nests that an operator is, as often as it runs them.

Shapes say which, of operators of ONNX, of ONNX Runtime (``com.microsoft``), QONNX and FINN.
Nothing is masked: of causal attention all scores are counted. Where an operator, or a shape, is not
known, neither is its work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.onnx.workloads.einsum import einsum
from ithaca.plugins.onnx.workloads.nodes import Extents, attribute, bodies, has, key, packed_heads
from ithaca.plugins.onnx.workloads.operators import (
    CHANNELS_LAST,
    FINN,
    MICROSOFT,
    QUANTISERS,
    omission,
)
from ithaca.workloads.networks.network import OmissionKind
from ithaca.workloads.networks.operators import (
    Axis,
    KernelUse,
    convolution,
    matrix_product,
    output_extent,
    phases,
    transposed_convolution,
)

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

#: Kernels of a node by the name of its part, empty where it is whole.
Uses = Mapping[str, KernelUse]

_Read = Callable[["NodeProto", Extents], Uses]


def kernel_uses(node: NodeProto, extents: Extents) -> Uses:
    """The kernels of a node; none where it is no operator that has some.

    Raises `InputError` if it has some that its shapes and attributes do not say.

    Parameters
    ----------
    node : NodeProto
        The node.
    extents : callable
        The shape of a tensor by name; raises `InputError` where it is not known.
    """
    read = KERNELS.get(key(node))
    if read is None:
        return {}
    if not node.output:
        raise InputError("no outputs; allowed: at least one")
    try:
        return read(node, extents)
    except InputError:
        raise
    except (IndexError, ValueError):
        raise InputError(
            f"{len(node.input)} inputs, or dimensions, are not those of the operator; "
            "allowed: as its domain defines them"
        ) from None


def multiplications(node: NodeProto, extents: Extents) -> int | None:
    """The multiply-accumulates of a node; None where they cannot be counted.

    Parameters
    ----------
    node : NodeProto
        The node.
    extents : callable
        The shape of a tensor by name; raises `InputError` where it is not known.
    """
    if inner := [*bodies(node)]:
        return None if any(map(_multiplies, inner)) else 0
    try:
        if key(node) in SAMPLED:
            batch, _, *places = extents(node.output[0])
            return batch * prod(places) * prod(extents(node.input[1]))
        uses = kernel_uses(node, extents)
    except (InputError, IndexError, ValueError):
        return None
    return sum(use.operations for use in uses.values()) if uses else None


def _multiplies(body: GraphProto) -> bool:
    """Whether a body has arithmetic that an array could do."""
    for node in body.node:
        inner = [*bodies(node)]
        kind = omission(*key(node))[0]
        if any(map(_multiplies, inner)) or (not inner and kind is OmissionKind.UNSUPPORTED):
            return True
    return False


def _convolution(weights: int, *, last: bool = False) -> _Read:
    """A convolution (https://onnx.ai/onnx/operators/onnx__Conv.html), its weights at a place, and
    perhaps channels last."""

    def first(shapes: Extents) -> Extents:
        """Shapes whose channels stand before the dimensions of a map."""
        if not last:
            return shapes
        return lambda name: (shapes(name)[0], shapes(name)[-1], *shapes(name)[1:-1])

    def read(node: NodeProto, shapes: Extents) -> Uses:
        extents = first(shapes)
        (batch, inputs, *image), (outputs, each, *window) = _maps(node, extents, weights)
        groups = attribute(node, "group", 1)
        if groups < 1 or each * groups != inputs:
            raise InputError(
                f"weights for {each} channels in {groups} groups, but {inputs} input channels"
            )
        strides, dilations = (_each(node, name, len(window)) for name in ("strides", "dilations"))
        along = list(zip(image, window, strides, dilations, strict=True))
        padded = zip(along, _padding(node, along), strict=True)
        after = [output_extent(*axis, padding) for axis, padding in padded]
        _check_output(_stated(node, extents), after)
        axes = [Axis(*axis) for axis in zip(after, window, strides, dilations, strict=True)]
        return {"": convolution(batch, inputs, outputs, axes, groups)}

    return read


def _maps(
    node: NodeProto, extents: Extents, weights: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of the map and of the weights of a convolution."""
    image, kernel = extents(node.input[0]), extents(node.input[weights])
    if len(image) != len(kernel) or not 3 <= len(image) <= 5:
        dimensions = max(len(image) - 2, 0)
        raise InputError(f"convolution along {dimensions} dimensions; allowed: 1 to 3")
    if attribute(node, "kernel_shape", list(kernel[2:])) != list(kernel[2:]):
        raise InputError("kernel_shape differs from the shape of the weights")
    return image, kernel


def _each(node: NodeProto, name: str, dimensions: int) -> list[int]:
    """Strides or dilations, one for each dimension."""
    values: list[int] = attribute(node, name, [1] * dimensions)
    if len(values) != dimensions or min(values) < 1:
        raise InputError(f"{name} are {values}; allowed: {dimensions} positive integers")
    return values


def _pads(node: NodeProto, dimensions: int) -> tuple[str, list[int]]:
    """The mode of padding, and elements before each dimension and after each."""
    mode, none = attribute(node, "auto_pad", "NOTSET"), [0] * 2 * dimensions
    pads = attribute(node, "pads", none) if mode == "NOTSET" else none
    modes = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    if mode not in modes or len(pads) != 2 * dimensions:
        raise InputError(
            f"auto_pad is {quoted(mode)} and pads are {pads}; allowed: one of ONNX's modes, "
            f"{2 * dimensions} pads"
        )
    return mode, pads


def _padding(node: NodeProto, along: list[tuple[int, int, int, int]]) -> list[int]:
    """Elements of padding along each dimension, both sides together; of extents, windows, strides
    and dilations."""
    mode, pads = _pads(node, len(along))
    if mode.startswith("SAME"):  # enough for ⌈extent / stride⌉ windows
        return [max((-(-n // s) - 1) * s + d * (w - 1) + 1 - n, 0) for n, w, s, d in along]
    return [
        first + last for first, last in zip(pads[: len(along)], pads[len(along) :], strict=True)
    ]


def _stated(node: NodeProto, extents: Extents) -> list[int]:
    """The extents of the output's map that the model states; none where it does not."""
    try:
        return list(extents(node.output[0])[2:])
    except InputError:
        return []


def _check_output(stated: list[int], after: list[int]) -> None:
    """Refuse a convolution whose attributes make another output than the model states."""
    if stated and stated != after:
        raise InputError(
            f"the model states an output of {stated}, but its attributes make it {after}"
        )


def _transposed(node: NodeProto, extents: Extents) -> Uses:
    """A transposed convolution (https://onnx.ai/onnx/operators/onnx__ConvTranspose.html)."""
    (batch, inputs, *image), (channels, each, *window) = _maps(node, extents, 1)
    groups, dimensions = attribute(node, "group", 1), len(window)
    if channels != inputs or groups < 1:
        raise InputError(
            f"weights for {channels} channels in {groups} groups, but {inputs} input channels"
        )
    strides, dilations = (_each(node, name, dimensions) for name in ("strides", "dilations"))
    more = attribute(node, "output_padding", [0] * dimensions)
    mode, pads = _pads(node, dimensions)
    whole = [
        (n - 1) * s + (w - 1) * d + 1 + extra
        for n, s, w, d, extra in zip(image, strides, window, dilations, more, strict=True)
    ]
    before = pads[:dimensions]
    after = [
        total - first - last
        for total, first, last in zip(whole, before, pads[dimensions:], strict=True)
    ]
    stated = _stated(node, extents)
    shape = attribute(node, "output_shape", [])[-dimensions:]
    if shape or mode.startswith("SAME"):  # the padding follows
        after = shape or stated or [n * s for n, s in zip(image, strides, strict=True)]
        gaps = [total - n for total, n in zip(whole, after, strict=True)]
        before = [gap // 2 if mode == "SAME_UPPER" else gap - gap // 2 for gap in gaps]
    if min(after) < 1:
        raise InputError(f"pads make an output of {after}; allowed: at least one element")
    _check_output(stated, after)
    along = [
        phases(Axis(*axis), first)
        for axis, first in zip(
            zip(after, window, strides, dilations, strict=True), before, strict=True
        )
    ]
    uses = [*transposed_convolution(batch, inputs, each * groups, along, groups)]
    return {f"phase{n}" if len(uses) > 1 else "": use for n, use in enumerate(uses)}


def _product(right: int) -> _Read:
    """Products with broadcasting, of the first input and that of this place."""

    def read(node: NodeProto, extents: Extents) -> Uses:
        a, b = extents(node.input[0]), extents(node.input[right])
        if "Gemm" in node.op_type and not len(a) == len(b) == 2:
            raise InputError(f"factors of {len(a)} and {len(b)} dimensions; allowed: 2")
        return {"": matrix_product(_turned(node, a, "A"), _turned(node, b, "B"))}

    return read


def _turned(node: NodeProto, shape: tuple[int, ...], side: str) -> tuple[int, ...]:
    """The shape of a factor as it is multiplied: its batch last, or rows and columns changed."""
    if len(shape) > 1 and attribute(node, f"transBatch{side}", 0):
        shape = (*shape[1:-1], shape[0], shape[-1])
    if len(shape) > 1 and attribute(node, f"trans{side}", 0):
        shape = (*shape[:-2], shape[-1], shape[-2])
    return shape


def _packed_product(node: NodeProto, extents: Extents) -> Uses:
    """Products with weights of a few bits, of K rows and N columns."""
    inner, columns = (attribute(node, name, 0) for name in ("K", "N"))
    *_, last = shape = extents(node.input[0]) or (0,)
    words = prod(shape)
    if inner < 1 or columns < 1 or last != inner:
        raise InputError("K and N are not those of the input; allowed: its last dimension, columns")
    bits, block = attribute(node, "bits", 4), attribute(node, "block_size", 32)
    if not 1 <= bits <= 8:
        raise InputError(f"bits is {bits:,}; allowed: 1 to 8")
    if block < 16 or block & (block - 1):
        raise InputError(f"block_size is {block:,}; allowed: powers of 2 from 16 on")
    return {"": matrix_product((words // inner, inner), (inner, columns))}


def _recurrent(node: NodeProto, extents: Extents) -> Uses:
    """Every weight is used once for every step of every sequence; inputs of all steps at once."""
    first, second, features = extents(node.input[0])
    batch = first if attribute(node, "layout", 0) else second
    directions, gates, read = extents(node.input[1])
    *_, states = extents(node.input[2])
    if read != features:
        raise InputError(f"weights for {read} features, but {features} in the input")
    inputs = matrix_product((first * second, features), (features, gates))
    step = matrix_product((batch, states), (states, gates))
    steps = first * second // batch
    return {"inputs": inputs.repeated(directions), "states": step.repeated(directions * steps)}


def _einsum(node: NodeProto, extents: Extents) -> Uses:
    """Two factors and their indices."""
    return {"": einsum(attribute(node, "equation", ""), [extents(name) for name in node.input])}


def _attention(past: int) -> _Read:
    """Scores, and values weighted by them; ``past`` is the place of the keys of steps before."""

    def read(node: NodeProto, extents: Extents) -> Uses:
        stated = attribute(node, "q_num_heads", attribute(node, "num_heads", 0))
        heads = attribute(node, "kv_num_heads", stated)
        if packed := packed_heads(node):
            heads, own = packed
            shape = extents(node.input[0])
            if len(shape) != 3:
                raise InputError(
                    f"queries, keys and values are packed in {len(shape)} dimensions; allowed: 3"
                )
            batch, _, rows, features = _heads(shape, heads + 2 * own)
            query, keys = (batch, heads, rows, features), (batch, own, rows, features)
            before = extents(node.input[past])[-2] if has(node, past) else 0
            return _scores(query, keys, keys, before)
        query = _heads(extents(node.input[0]), stated)
        if not has(node, 1) or not has(node, 2):
            raise InputError("queries, keys and values are packed; allowed: three inputs")
        keys, values = (_heads(extents(name), heads) for name in node.input[1:3])
        before = extents(node.input[past])[-2] if has(node, past) else 0
        return _scores(query, keys, values, before)

    return read


def _heads(shape: tuple[int, ...], heads: int) -> tuple[int, int, int, int]:
    """Batch, heads, steps and features of queries, keys or values."""
    if len(shape) == 4:
        batch, heads, steps, features = shape
        return batch, heads, steps, features
    if len(shape) != 3:
        raise InputError("queries, keys and values are packed; allowed: 3 or 4 dimensions each")
    batch, steps, features = shape
    if heads < 1 or features % heads:
        raise InputError(f"the number of heads is {heads}; allowed: a divisor of {features}")
    return batch, heads, steps, features // heads


def _scores(
    query: tuple[int, int, int, int],
    keys: tuple[int, int, int, int],
    values: tuple[int, int, int, int],
    before: int,
) -> Uses:
    """The products of attention; queries that share a head of keys are rows of one product."""
    batch, heads, rows, features = query
    _, own, steps, _ = keys
    if heads % own or keys[3] != features:
        raise InputError(
            f"{heads} heads of {features} read {own} of {keys[3]}; allowed: a multiple, as wide"
        )
    steps += before
    left, right = (batch, own, heads // own * rows), (batch, own)
    return {
        "scores": matrix_product((*left, features), (*right, features, steps)),
        "values": matrix_product((*left, steps), (*right, steps, values[3])),
    }


def _packed_attention(node: NodeProto, extents: Extents) -> Uses:
    """Attention whose queries, keys and values are made by one product with its weights."""
    (batch, rows, features), (read, columns) = extents(node.input[0]), extents(node.input[1])
    heads, third = attribute(node, "num_heads", 0), columns // 3
    widths = attribute(node, "qkv_hidden_sizes", [third, third, columns - 2 * third])
    if len(widths) != 3 or sum(widths) != columns or read != features:
        raise InputError(f"weights of {read} × {columns}, but {features} features and {widths}")
    before = extents(node.input[4])[-2] if has(node, 4) else 0
    query, keys, values = (_heads((batch, rows, width), heads) for width in widths)
    projected = matrix_product((batch * rows, features), (features, columns))
    return {"projection": projected, **_scores(query, keys, values, before)}


def _finn_product(node: NodeProto, _: Extents) -> Uses:
    """Products of vectors of MW words with MH columns of weights."""
    inner, columns = (attribute(node, name, 0) for name in ("MW", "MH"))
    rows = prod(attribute(node, "numInputVectors", [1]))
    if min(inner, columns, rows) < 1:
        raise InputError("MW, MH or numInputVectors are missing; allowed: positive integers")
    return {"": matrix_product((rows, inner), (inner, columns))}


def _finn_depthwise(node: NodeProto, _: Extents) -> Uses:
    """A window of its own for each channel."""
    channels = attribute(node, "Channels", 0)
    places, window = (attribute(node, name, [0]) for name in ("Dim", "Kernel"))
    if min(channels, *places, *window) < 1 or len(places) != len(window):
        raise InputError("Channels, Dim or Kernel are missing; allowed: positive integers")
    axes = [Axis(*each) for each in zip(places, window, strict=True)]
    return {"": convolution(1, channels, channels, axes, channels)}


def _table(*rows: tuple[_Read, Iterable[str], str]) -> dict[tuple[str, str], _Read]:
    """A way to read each operator of domains."""
    return {each: read for read, domains, names in rows for each in product(domains, names.split())}


_OWN, _RUNTIME = ("",), (MICROSOFT,)

#: How to read operators that are kernels, by domain and operator.
KERNELS = _table(
    (_convolution(1), _OWN, "Conv ConvInteger"),
    (_convolution(3), _OWN, "QLinearConv"),
    (_convolution(3), _RUNTIME, "QLinearConv"),
    (_convolution(1, last=True), (CHANNELS_LAST,), "Conv"),
    (_transposed, _OWN, "ConvTranspose"),
    (_product(1), _OWN, "Gemm MatMul MatMulInteger"),
    (_product(3), _OWN, "QLinearMatMul"),
    (_recurrent, _OWN, "RNN GRU LSTM"),
    (_recurrent, _RUNTIME, "DynamicQuantizeLSTM"),
    (_einsum, _OWN, "Einsum"),
    (_attention(4), _OWN, "Attention"),
    (_convolution(1), _RUNTIME, "FusedConv"),
    (_product(1), _RUNTIME, "FusedMatMul FusedGemm GemmFastGelu MatMulInteger16"),
    (_product(1), _RUNTIME, "MatMulIntegerToFloat DynamicQuantizeMatMul"),
    (_product(3), _RUNTIME, "QGemm"),
    (_packed_product, _RUNTIME, "MatMulNBits MatMulBnb4 MatMulFpQ4"),
    (_attention(6), _RUNTIME, "MultiHeadAttention"),
    (_attention(3), _RUNTIME, "GroupQueryAttention"),
    (_packed_attention, _RUNTIME, "Attention"),
    (_product(1), QUANTISERS, "XnorPopcountMatMul"),
    (_finn_product, FINN, "MVAU MVAU_hls MVAU_rtl MatrixVectorActivation StreamingFCLayer_Batch"),
    (_finn_depthwise, FINN, "VVAU VVAU_hls VVAU_rtl VectorVectorActivation"),
    (_finn_depthwise, FINN, "Vector_Vector_Activate_Batch"),
)

#: Convolutions that no kernel is, whose work is one's all the same: places that are computed, and
#: channels last.
SAMPLED = {("", "DeformConv"), (MICROSOFT, "NhwcFusedConv")}
