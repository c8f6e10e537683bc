"""ONNX models: read from a file, with the shapes of all their tensors.

Weights are not needed, so data kept outside the file is not looked for, and large tensors are
dropped before shapes are inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import refuse
from ithaca.workloads.networks.network import chosen_parameters
from ithaca.workloads.reading import read_bytes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

#: Largest model file (bytes): protocol buffers end there.
MAX_BYTES = 2**31 - 1

#: Larger tensors are weights; smaller ones may hold shapes, which the inference of others needs.
MAX_SHAPE_ELEMENTS = 1_024

#: One per dimension: its extent, the symbol it is given as, or None where nothing is known.
Shape = tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """What the importer needs of a model.

    Attributes
    ----------
    nodes : tuple of onnx.NodeProto
        In the order of the graph, functions of the model written out.
    shapes : mapping of str to Shape
        By tensor; a tensor of unknown rank is missing.
    symbols : frozenset of str
        The symbolic dimensions of the inputs.
    parameters : tuple of (str, int)
        Those of them that have values, a batch by default 1.
    """

    nodes: tuple[NodeProto, ...]
    shapes: Mapping[str, Shape]
    symbols: frozenset[str]
    parameters: tuple[tuple[str, int], ...]


def read_onnx(path: Path, sizes: Mapping[str, int]) -> OnnxModel:
    """Read a model and infer its shapes.

    Parameters
    ----------
    path : Path
        The file.
    sizes : mapping of str to int
        Values of symbolic dimensions; one without a name is called ``input[position]``. A dimension
        that inputs only have first is a batch, and 1 unless given.

    Raises
    ------
    InputError
        If onnx is not installed, the file is no ONNX model, or a name in ``sizes`` is none of its
        symbolic dimensions.
    """
    try:
        from onnx import inliner
    except ImportError:
        raise InputError("ONNX models need the package onnx; install it with pip install 'ithaca[onnx]'") from None
    model = _parse(path)
    try:
        _drop_weights(model.graph)
        model = inliner.inline_local_functions(model)
        symbols = _name_dimensions(model.graph)
        parameters = _set_dimensions(model.graph, symbols, path, sizes)
        inferred = _infer(model)
    except InputError:
        raise
    except Exception as error:  # the library raises whatever its C++ code throws
        raise refuse(path, f"is no valid ONNX model: {_first_line(error)}; allowed: a file as exporters write it") from None
    graph = inferred.graph
    shapes: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if (shape := _shape(value)) is not None:
            shapes[value.name] = shape
    return OnnxModel(tuple(graph.node), shapes, frozenset(symbols), parameters)


def _parse(path: Path) -> ModelProto:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model: ModelProto = ModelProto.FromString(read_bytes(path, MAX_BYTES))
    except DecodeError:
        raise refuse(path, "is no ONNX model, or not all of one; allowed: a file as exporters write it") from None
    # other bytes can pass for a message with nothing in it
    if not model.ir_version or not model.graph.node:
        raise refuse(path, "is no ONNX model: it has no graph; allowed: a file as exporters write it")
    return model


def _drop_weights(graph: GraphProto) -> None:
    """Replace large tensors by inputs of their shape: neither memory nor their data is needed."""
    from onnx import helper

    inputs = {value.name for value in graph.input}
    kept = []
    for tensor in graph.initializer:
        elements = 1
        for extent in tensor.dims:
            elements *= extent
        if elements <= MAX_SHAPE_ELEMENTS and not tensor.external_data:
            kept.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _name_dimensions(graph: GraphProto) -> dict[str, bool]:
    """The symbolic dimensions of the inputs, and whether each is a batch; gives a name to those without."""
    symbols: dict[str, bool] = {}
    for value in graph.input:
        for position, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.dim_param and (not dimension.HasField("dim_value") or dimension.dim_value < 0):
                dimension.dim_param = f"{value.name}[{position}]"
            if dimension.dim_param:
                symbols[dimension.dim_param] = symbols.get(dimension.dim_param, True) and position == 0
    return symbols


def _set_dimensions(
    graph: GraphProto, symbols: Mapping[str, bool], path: Path, sizes: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    """Give symbolic dimensions their values, in place; returns those that have one."""
    values = chosen_parameters(path, dict.fromkeys(symbols, 1), sizes)
    given = {name: value for name, value in values.items() if name in sizes or symbols[name]}
    for tensor in (*graph.input, *graph.value_info, *graph.output):
        for dimension in tensor.type.tensor_type.shape.dim:
            if dimension.dim_param in given:
                dimension.dim_value = given[dimension.dim_param]
    return tuple(given.items())


def _infer(model: ModelProto) -> ModelProto:
    """The model with the shapes of its tensors, as far as they follow from those of its inputs."""
    from onnx import shape_inference

    return shape_inference.infer_shapes(model, data_prop=True)


def _shape(value: ValueInfoProto) -> Shape | None:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return tuple(
        dimension.dim_value if dimension.HasField("dim_value") else dimension.dim_param or None
        for dimension in tensor.shape.dim
    )


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
