"""ONNX models as networks: Conv, Gemm and MatMul become layers, all else is listed.

Weights are not needed, so data kept outside the file is not looked for, and large tensors are
dropped before shapes are inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, quoted, refuse
from ithaca.files.reading import read_bytes
from ithaca.workloads.networks.network import (
    Layer,
    LayerRun,
    Network,
    Omission,
    OmissionKind,
    chosen_parameters,
    merge,
)
from ithaca.workloads.networks.onnx_operators import PASSING, omission
from ithaca.workloads.networks.onnx_work import attribute, bodies_reads, multiplications
from ithaca.workloads.networks.operators import FeatureMap, KernelUse, convolution, matrix_product

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

#: Largest model file (bytes): protocol buffers end there.
MAX_BYTES = 2**31 - 1

#: Larger tensors are weights; smaller ones may hold shapes, which the inference of others needs.
MAX_SHAPE_ELEMENTS = 1_024

#: One per dimension: its extent, the symbol it is given as, or None where nothing is known.
Shape = tuple[int | str | None, ...]

#: The operators that become layers, and how many of their inputs are factors: what comes after is a
#: bias.
OPERATORS = {"Conv": 2, "Gemm": 2, "MatMul": 2}

#: Name under which biases are listed.
BIAS = "Bias"


def import_onnx(path: Path, sizes: Mapping[str, int] | None = None) -> Network:
    """Import an ONNX model, named after its file; its weights are not read.

    Control characters of names are escaped.

    Sizes are values of symbolic dimensions; those of a batch are 1 unless given. Every node is in a
    layer or among ``unsupported``, with the reason where arithmetic is left out: unknown shapes,
    strides that differ, other operators. Raises `InputError` if the file is no ONNX model, a size
    none of its symbolic dimensions, or no node becomes a layer.
    """
    model = _read(path, sizes or {})
    runs: list[LayerRun] = []
    writers: dict[
        str, str
    ] = {}  # what a layer wrote, perhaps element by element changed, by tensor
    omitted: dict[tuple[str, OmissionKind, str], list[tuple[str, int | None]]] = {}

    def leave_out(operator: str, kind: OmissionKind, reason: str = "") -> None:
        work = None
        if kind is OmissionKind.UNSUPPORTED:
            work = multiplications(node, lambda tensor: _extents(model, tensor))
        omitted.setdefault((operator, kind, reason), []).append((name, work))

    for index, node in enumerate(model.nodes):
        name = escaped(node.name or next(filter(None, node.output), f"{node.op_type}_{index}"))
        operator = escaped(
            f"{node.domain}.{node.op_type}".removeprefix("ai.onnx.").removeprefix(".")
        )
        if operator not in OPERATORS:
            if operator in PASSING and model.only_reads(node) in writers:
                writers[node.output[0]] = writers[node.input[0]]
            leave_out(operator, *omission(node.domain, node.op_type))
            continue
        try:
            layer = _kernel_use(model, node).layer(name)
            follows = bool(runs) and writers.get(model.only_reads(node)) == runs[-1].source
            runs.append(LayerRun(name, layer.nest, layer.count, follows))
            writers[node.output[0]] = name
        except InputError as error:
            reason = escaped(str(error).removeprefix(f"layer {name}: "))
            leave_out(operator, OmissionKind.UNSUPPORTED, reason)
            continue
        if any(node.input[OPERATORS[operator] :]):
            leave_out(BIAS, OmissionKind.ELEMENTWISE)
    omissions = tuple(_omission(*key, nodes) for key, nodes in omitted.items())
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in runs)
    if not layers:
        raise refuse(
            path,
            f"no node can become a layer: {_summary(omissions)}; allowed: "
            "models with Conv, Gemm or MatMul",
        )
    parameters = tuple((escaped(symbol), value) for symbol, value in model.parameters)
    return Network(escaped(path.stem), layers, "ONNX model", omissions, parameters, tuple(runs), "")


def _omission(
    operator: str, kind: OmissionKind, reason: str, nodes: Sequence[tuple[str, int | None]]
) -> Omission:
    """The omission of an operator's nodes, and of their work where that of each is known."""
    known = [work for _, work in nodes if work is not None]
    operations = sum(known) if len(known) == len(nodes) else None
    names = tuple(name for name, _ in nodes)
    return Omission(operator, len(nodes), kind, reason, names, operations)


def _kernel_use(model: _Model, node: NodeProto) -> KernelUse:
    if len(node.input) < 2 or not node.output:
        raise InputError(
            f"{len(node.input)} inputs and {len(node.output)} outputs; "
            "allowed: at least 2 inputs and an output"
        )
    left, right = (_extents(model, name) for name in node.input[:2])
    if node.op_type == "Conv":
        return _convolution(model, node, left, right)
    if node.op_type == "Gemm":
        if len(left) != 2 or len(right) != 2:
            raise InputError(f"factors of {len(left)} and {len(right)} dimensions; allowed: 2")
        left = left[::-1] if attribute(node, "transA", 0) else left
        right = right[::-1] if attribute(node, "transB", 0) else right
    return matrix_product(left, right)


def _convolution(
    model: _Model, node: NodeProto, image: tuple[int, ...], weights: tuple[int, ...]
) -> KernelUse:
    """The kernel of a convolution (https://onnx.ai/onnx/operators/onnx__Conv.html)."""
    if len(image) != 4 or len(weights) != 4:
        raise InputError(f"convolution along {max(len(image) - 2, 0)} dimensions; allowed: 2")
    groups = attribute(node, "group", 1)
    before, window = FeatureMap(*image), (weights[2], weights[3])
    if groups < 1 or weights[1] * groups != before.channels:
        raise InputError(
            f"weights for {weights[1]} channels in {groups} groups, but "
            f"{before.channels} input channels"
        )
    if attribute(node, "kernel_shape", list(window)) != list(window):
        raise InputError("kernel_shape differs from the shape of the weights")
    stride, dilation = _pair(node, "strides"), _pair(node, "dilations")
    padding = _padding(node, before, window, stride, dilation)
    after = before.after(window, stride, dilation, padding)
    stated = model.shapes.get(node.output[0], ())
    if stated and stated[2:] != after.size and all(isinstance(extent, int) for extent in stated):
        raise InputError(
            f"the model states an output of {list(stated)}, but its "
            f"attributes make it {list(after.size)}"
        )
    return convolution(
        before, replace(after, channels=weights[0]), window, stride, dilation, groups
    )


def _padding(
    node: NodeProto,
    before: FeatureMap,
    window: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
) -> tuple[int, int]:
    """Elements of padding along rows and columns, both sides together."""
    mode = attribute(node, "auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        # enough for ⌈extent / stride⌉ windows
        needed = zip(before.size, window, stride, dilation, strict=True)
        rows, columns = (
            max((-(-n // s) - 1) * s + d * (w - 1) + 1 - n, 0) for n, w, s, d in needed
        )
        return rows, columns
    pads = attribute(node, "pads", [0, 0, 0, 0]) if mode == "NOTSET" else [0, 0, 0, 0]
    if mode not in ("NOTSET", "VALID") or len(pads) != 4:
        raise InputError(
            f"auto_pad is {quoted(mode)} and pads are {pads}; allowed: one of ONNX's modes, 4 pads"
        )
    return pads[0] + pads[2], pads[1] + pads[3]


def _pair(node: NodeProto, name: str) -> tuple[int, int]:
    values = attribute(node, name, [1, 1])
    if len(values) != 2 or min(values) < 1:
        raise InputError(f"{name} are {values}; allowed: two positive integers")
    return values[0], values[1]


def _extents(model: _Model, tensor: str) -> tuple[int, ...]:
    """The shape of a tensor, all of it known."""
    shape = model.shapes.get(tensor)
    if shape is None:
        raise InputError(
            f"shape of tensor '{tensor}' is unknown; run ONNX shape inference or a simplifier first"
        )
    for extent in shape:
        if isinstance(extent, str) and extent in model.symbols:
            raise InputError(f"a dimension of tensor '{tensor}' is '{extent}'; give it a size")
        if not isinstance(extent, int):
            raise InputError(
                f"a dimension of tensor '{tensor}' is unknown; run ONNX shape "
                "inference or a simplifier first"
            )
    return tuple(extent for extent in shape if isinstance(extent, int))


def _summary(omissions: tuple[Omission, ...]) -> str:
    """The first reason why arithmetic is left out, or the operators there are."""
    for left_out in omissions:
        if left_out.kind is OmissionKind.UNSUPPORTED:
            return f"{left_out.operator} {left_out.sources[0]!r}: {left_out.reason}"
    return "it has " + ", ".join(left_out.operator for left_out in omissions[:10])


@dataclass(frozen=True, slots=True)
class _Model:
    """The parts of a model that the importer needs."""

    nodes: tuple[NodeProto, ...]
    """In the order of the graph, functions of the model written out."""
    shapes: Mapping[str, Shape]
    """By tensor; a tensor of unknown rank is missing."""
    symbols: Mapping[str, bool]
    """The symbolic dimensions of the inputs, and whether each is a batch."""
    parameters: tuple[tuple[str, int], ...]
    """The parameters that have values, a batch by default 1."""
    reads: Mapping[str, int]
    """How many read a tensor: nodes, and those who run the model."""

    def only_reads(self, node: NodeProto) -> str:
        """The first input of a node, if nothing else reads that; else nothing."""
        return (
            node.input[0]
            if node.input and node.output and self.reads.get(node.input[0]) == 1
            else ""
        )


def _read(path: Path, sizes: Mapping[str, int]) -> _Model:
    """Read a model and infer its shapes, as far as they follow from those of its inputs.

    A symbolic dimension without a name is called ``input[position]``; one that inputs only have
    first is a batch, and 1 unless ``sizes`` says otherwise.
    """
    from onnx import inliner, shape_inference

    model = _parse(path)
    try:
        _drop_weights(model.graph)
        model = inliner.inline_local_functions(model)
        symbols = _name_dimensions(model.graph)
        parameters = _set_dimensions(model.graph, symbols, path, sizes)
        graph = shape_inference.infer_shapes(model, data_prop=True).graph
    except InputError:
        raise
    except Exception as error:  # the library raises whatever its C++ code throws
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise refuse(
            path, f"is no valid ONNX model: {line}; allowed: a file as exporters write it"
        ) from None
    shapes: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if (shape := _shape(value)) is not None:
            shapes[value.name] = shape
    reads = Counter(tensor for node in graph.node for tensor in bodies_reads(node))
    reads.update(output.name for output in graph.output)
    return _Model(tuple(graph.node), shapes, symbols, parameters, reads)


def _parse(path: Path) -> ModelProto:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model: ModelProto = ModelProto.FromString(read_bytes(path, MAX_BYTES))
    except DecodeError:
        raise refuse(
            path, "is no ONNX model, or not all of one; allowed: a file as exporters write it"
        ) from None
    # other bytes can pass for a message with nothing in it
    if not model.ir_version or not model.graph.node:
        raise refuse(
            path, "is no ONNX model: it has no graph; allowed: a file as exporters write it"
        )
    if not _is_text(model):
        raise refuse(path, "has names that are not UTF-8; allowed: a file as exporters write it")
    return model


def _is_text(message: Any) -> bool:
    """Whether all text of a message, and of those in it, is; protobuf hands out bytes where it is
    not."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            alone = isinstance(value, str | bytes)
            if not all(isinstance(text, str) for text in ([value] if alone else value)):
                return False
        elif field.type == field.TYPE_MESSAGE:
            alone = hasattr(value, "ListFields")
            if not all(map(_is_text, [value] if alone else value)):
                return False
    return True


def _drop_weights(graph: GraphProto) -> None:
    """Replace large tensors by inputs of their shape: neither memory nor their data is needed."""
    from onnx import helper

    inputs = {value.name for value in graph.input}
    kept = []
    for tensor in graph.initializer:
        if prod(tensor.dims) <= MAX_SHAPE_ELEMENTS and not tensor.external_data:
            kept.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(
                helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            )
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _name_dimensions(graph: GraphProto) -> dict[str, bool]:
    """Name the inputs' symbolic dimensions; says of each whether it is a batch."""
    symbols: dict[str, bool] = {}
    for value in graph.input:
        for position, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.dim_param and (
                not dimension.HasField("dim_value") or dimension.dim_value < 0
            ):
                dimension.dim_param = f"{value.name}[{position}]"
            if dimension.dim_param:
                symbols[dimension.dim_param] = (
                    symbols.get(dimension.dim_param, True) and position == 0
                )
    return symbols


def _set_dimensions(
    graph: GraphProto, symbols: Mapping[str, bool], path: Path, sizes: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    """Give symbolic dimensions their values, in place; returns those that have one."""
    values = chosen_parameters(path, dict.fromkeys(symbols, 1), sizes)
    known = {name: value for name, value in values.items() if name in sizes or symbols[name]}
    for tensor in (*graph.input, *graph.value_info, *graph.output):
        for dimension in tensor.type.tensor_type.shape.dim:
            if dimension.dim_param in known:
                dimension.dim_value = known[dimension.dim_param]
    return tuple(known.items())


def _shape(value: ValueInfoProto) -> Shape | None:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return tuple(
        dimension.dim_value if dimension.HasField("dim_value") else dimension.dim_param or None
        for dimension in tensor.shape.dim
    )
