"""ONNX models as networks: Conv, Gemm and MatMul become layers, all else is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted, refuse
from ithaca.workloads.networks.network import Layer, Network, Omission, OmissionKind, merge
from ithaca.workloads.networks.onnx_model import OnnxModel, read_onnx
from ithaca.workloads.networks.onnx_operators import REASONS, omission_kind
from ithaca.workloads.networks.operators import FeatureMap, KernelUse, convolution, matrix_product

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto

#: The operators that become layers, and how many of their inputs are factors: what comes after is a bias.
OPERATORS = {"Conv": 2, "Gemm": 2, "MatMul": 2}

#: Name under which biases are listed.
BIAS = "Bias"


def import_onnx(path: Path, sizes: Mapping[str, int] | None = None) -> Network:
    """Import an ONNX model.

    Parameters
    ----------
    path : Path
        The model file; its weights may lie elsewhere and are not read.
    sizes : mapping of str to int, optional
        Values of symbolic dimensions; those of a batch are 1 unless given.

    Returns
    -------
    Network
        Named after the file. Every node is in a layer or among ``unsupported``, with the reason
        where arithmetic is left out: shapes that are unknown, strides that differ, other operators.

    Raises
    ------
    InputError
        If the file is no ONNX model, a size none of its symbolic dimensions, or no node becomes a layer.
    """
    model = read_onnx(path, sizes or {})
    layers: list[Layer] = []
    omitted: dict[tuple[str, OmissionKind, str], list[str]] = {}
    for index, node in enumerate(model.nodes):
        name = node.name or next(filter(None, node.output), f"{node.op_type}_{index}")
        operator = f"{node.domain}.{node.op_type}".removeprefix("ai.onnx.").removeprefix(".")
        if operator not in OPERATORS:
            kind = omission_kind(node.domain, node.op_type)
            omitted.setdefault((operator, kind, _reason(node, kind)), []).append(name)
            continue
        try:
            layers.append(_kernel_use(model, node).layer(name))
        except InputError as error:
            reason = str(error).removeprefix(f"layer {name}: ")
            omitted.setdefault((operator, OmissionKind.UNSUPPORTED, reason), []).append(name)
            continue
        if any(node.input[OPERATORS[operator] :]):
            omitted.setdefault((BIAS, OmissionKind.ELEMENTWISE, ""), []).append(name)
    omissions = tuple(Omission(key[0], len(names), key[1], key[2], tuple(names)) for key, names in omitted.items())
    if not layers:
        raise refuse(path, f"no node can become a layer: {_summary(omissions)}; allowed: models with Conv, Gemm or MatMul")
    return Network(path.stem, merge(layers), "ONNX model", omissions, model.parameters)


def _kernel_use(model: OnnxModel, node: NodeProto) -> KernelUse:
    if len(node.input) < 2 or not node.output:
        raise InputError(f"{len(node.input)} inputs and {len(node.output)} outputs; allowed: at least 2 inputs and an output")
    left, right = (_extents(model, name) for name in node.input[:2])
    if node.op_type == "Conv":
        return _convolution(model, node, left, right)
    if node.op_type == "Gemm":
        if len(left) != 2 or len(right) != 2:
            raise InputError(f"factors of {len(left)} and {len(right)} dimensions; allowed: 2")
        left = left[::-1] if _integer(node, "transA", 0) else left
        right = right[::-1] if _integer(node, "transB", 0) else right
    return matrix_product(left, right)


def _convolution(model: OnnxModel, node: NodeProto, image: tuple[int, ...], weights: tuple[int, ...]) -> KernelUse:
    """The kernel of a convolution (https://onnx.ai/onnx/operators/onnx__Conv.html)."""
    if len(image) != 4 or len(weights) != 4:
        raise InputError(f"convolution along {max(len(image) - 2, 0)} dimensions; allowed: 2")
    groups = _integer(node, "group", 1)
    before, window = FeatureMap(*image), (weights[2], weights[3])
    if groups < 1 or weights[1] * groups != before.channels:
        raise InputError(f"weights for {weights[1]} channels in {groups} groups, but {before.channels} input channels")
    if _integers(node, "kernel_shape", list(window)) != list(window):
        raise InputError("kernel_shape differs from the shape of the weights")
    stride, dilation = _pair(node, "strides"), _pair(node, "dilations")
    padding = _padding(node, before, window, stride, dilation)
    after = before.after(window, stride, dilation, padding)
    stated = model.shapes.get(node.output[0], ())
    if stated and stated[2:] != after.size and all(isinstance(extent, int) for extent in stated):
        raise InputError(f"the model states an output of {list(stated)}, but its attributes make it {list(after.size)}")
    return convolution(before, replace(after, channels=weights[0]), window, stride, dilation, groups)


def _padding(
    node: NodeProto, before: FeatureMap, window: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int]
) -> tuple[int, int]:
    """Elements of padding along rows and columns, both sides together."""
    mode = _text(node, "auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        # enough for ⌈extent / stride⌉ windows
        needed = zip(before.size, window, stride, dilation, strict=True)
        rows, columns = (max((-(-n // s) - 1) * s + d * (w - 1) + 1 - n, 0) for n, w, s, d in needed)
        return rows, columns
    pads = _integers(node, "pads", [0, 0, 0, 0]) if mode == "NOTSET" else [0, 0, 0, 0]
    if mode not in ("NOTSET", "VALID") or len(pads) != 4:
        raise InputError(f"auto_pad is {quoted(mode)} and pads are {pads}; allowed: one of ONNX's modes, 4 pads")
    return pads[0] + pads[2], pads[1] + pads[3]


def _pair(node: NodeProto, name: str) -> tuple[int, int]:
    values = _integers(node, name, [1, 1])
    if len(values) != 2 or min(values) < 1:
        raise InputError(f"{name} are {values}; allowed: two positive integers")
    return values[0], values[1]


def _extents(model: OnnxModel, tensor: str) -> tuple[int, ...]:
    """The shape of a tensor, all of it known."""
    shape = model.shapes.get(tensor)
    if shape is None:
        raise InputError(f"shape of tensor '{tensor}' is unknown; run ONNX shape inference or a simplifier first")
    for extent in shape:
        if isinstance(extent, str) and extent in model.symbols:
            raise InputError(f"a dimension of tensor '{tensor}' is '{extent}'; give it a size")
        if not isinstance(extent, int):
            raise InputError(f"a dimension of tensor '{tensor}' is unknown; run ONNX shape inference or a simplifier first")
    return tuple(extent for extent in shape if isinstance(extent, int))


def _integer(node: NodeProto, name: str, default: int) -> int:
    found = _attribute(node, name, "INT")
    return default if found is None else int(found.i)


def _integers(node: NodeProto, name: str, default: list[int]) -> list[int]:
    found = _attribute(node, name, "INTS")
    return default if found is None else list(found.ints)


def _text(node: NodeProto, name: str, default: str) -> str:
    found = _attribute(node, name, "STRING")
    return default if found is None else found.s.decode(errors="replace")


def _attribute(node: NodeProto, name: str, kind: str) -> AttributeProto | None:
    """An attribute of a node, None if it has none of the name.

    Raises
    ------
    InputError
        If it is of another kind.
    """
    from onnx import AttributeProto

    found: AttributeProto | None = next((attribute for attribute in node.attribute if attribute.name == name), None)
    if found is not None and found.type != AttributeProto.AttributeType.Value(kind):
        raise InputError(f"attribute {name} is of the wrong type; allowed: {kind}, as ONNX defines it")
    return found


def _reason(node: NodeProto, kind: OmissionKind) -> str:
    if kind is not OmissionKind.UNSUPPORTED:
        return ""
    if node.domain not in ("", "ai.onnx"):
        return f"operator of domain {node.domain}, not of ONNX"
    return REASONS.get(node.op_type, "only Conv, Gemm and MatMul are imported")


def _summary(omissions: tuple[Omission, ...]) -> str:
    """The first reason why arithmetic is left out, or the operators there are."""
    for omission in omissions:
        if omission.kind is OmissionKind.UNSUPPORTED:
            return f"{omission.operator} {omission.sources[0]!r}: {omission.reason}"
    return "it has " + ", ".join(omission.operator for omission in omissions[:10])
