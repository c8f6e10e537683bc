"""ONNX models read from files, with the shapes of their tensors.

Shapes follow from those of the inputs by ONNX's own inference, and where that ends from those of
outputs. Operators that it does not know stand there as one that makes the same shape. Weights are
not needed, so data kept outside the file is not looked for, and large tensors are dropped before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, refuse
from ithaca.files.reading import read_bytes
from ithaca.plugins.onnx.workloads import widths
from ithaca.plugins.onnx.workloads.backwards import fill
from ithaca.plugins.onnx.workloads.folding import inferred
from ithaca.plugins.onnx.workloads.nodes import bodies, bodies_reads
from ithaca.plugins.onnx.workloads.stand_ins import standing_in
from ithaca.workloads.networks.network import chosen_parameters

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

#: Largest model file (bytes): protocol buffers end there.
MAX_BYTES = 2**31 - 1

#: Larger tensors are weights; smaller ones may hold shapes, which the inference of others needs.
MAX_SHAPE_ELEMENTS = 1_024

#: What exporters of PaddlePaddle write for a dimension that has no name.
NAMELESS = "?"

#: One per dimension: its extent, the symbol it is given as, or None where nothing is known.
Shape = tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Model:
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
    formats: Mapping[str, tuple[str, str]]
    """The formats of what a node multiplies, by its first output; empty where none is known."""
    remarks: tuple[str, ...] = ()
    """Faults of the file that are tolerated."""

    def only_reads(self, node: NodeProto) -> str:
        """The first input of a node, if nothing else reads that; else nothing."""
        return (
            node.input[0]
            if node.input and node.output and self.reads.get(node.input[0]) == 1
            else ""
        )

    def extents(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, all of it known; raises `InputError` where it is not."""
        shape = self.shapes.get(tensor)
        if shape is None:
            raise InputError(
                f"shape of tensor '{tensor}' is unknown; run ONNX shape inference or a simplifier "
                "first"
            )
        for extent in shape:
            if isinstance(extent, str) and extent in self.symbols:
                raise InputError(
                    f"a dimension of tensor '{tensor}' is '{extent}'; give it a size: "
                    f"-s {quote(f'{extent}=8')}"
                )
            if not isinstance(extent, int):
                raise InputError(
                    f"a dimension of tensor '{tensor}' is unknown; run ONNX shape "
                    "inference or a simplifier first"
                )
        return tuple(extent for extent in shape if isinstance(extent, int))


def read_model(path: Path, sizes: Mapping[str, int]) -> Model:
    """Read a model and infer its shapes, as far as they follow from those of its inputs.

    A symbolic dimension without a name is called ``input[position]``; one that inputs only have
    first is a batch, and 1 unless ``sizes`` says otherwise.
    """
    content = read_bytes(path, MAX_BYTES)
    from onnx import inliner

    model = _parse(path, content)
    try:
        remarks = (*_import_domains(model), *widths.remarks(model.graph))
        formats = widths.factor_formats(model.graph)
        _drop_weights(model.graph)
        model.ir_version = max(model.ir_version, 4)  # before, initializers had to be inputs
        model = inliner.inline_local_functions(model)
        symbols = _name_dimensions(model.graph)
        parameters = _set_dimensions(model.graph, symbols, path, sizes)
        graph = inferred(standing_in(model)).graph
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
    nodes = tuple(model.graph.node)
    reads = Counter(tensor for node in nodes for tensor in bodies_reads(node))
    reads.update(output.name for output in graph.output)
    fill(nodes, shapes, reads)
    return Model(nodes, shapes, symbols, parameters, reads, formats, remarks)


def _parse(path: Path, content: bytes) -> ModelProto:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model: ModelProto = ModelProto.FromString(content)
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


def _import_domains(model: ModelProto) -> Iterator[str]:
    """Add the operator sets that nodes need and the model does not name; a remark of each."""
    from onnx import helper

    for part, nodes in ((model, model.graph.node), *((f, f.node) for f in model.functions)):
        stated = {"" if each.domain == "ai.onnx" else each.domain for each in part.opset_import}
        used = set(_domains(nodes))
        for domain in sorted(used.union([""]) - stated):  # stand-ins are of ONNX itself
            rows = [row for row in helper.VERSION_TABLE if row[1] <= model.ir_version]
            version = int(rows[-1][2]) if rows and not domain else 1
            part.opset_import.append(helper.make_opsetid(domain, version))
            what = f"of domain {escaped(domain)}" if domain else "of ONNX itself"
            if domain in used:
                yield f"states no operator set {what}; taken for version {version}"


def _domains(nodes: Any) -> Iterator[str]:
    """The domains of nodes, and of those in their bodies."""
    for node in nodes:
        yield "" if node.domain == "ai.onnx" else node.domain
        for body in bodies(node):
            yield from _domains(body.node)


def _drop_weights(graph: GraphProto) -> None:
    """Replace large tensors by inputs of their shape: neither memory nor their data is needed;
    small ones stay, and are no inputs."""
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
    # values that callers could replace, as older exporters list all of them, propagate to no shape
    own = {tensor.name for tensor in kept}
    free = [value for value in graph.input if value.name not in own]
    del graph.input[:]
    graph.input.extend(free)


def _name_dimensions(graph: GraphProto) -> dict[str, bool]:
    """Name the inputs' symbolic dimensions; says of each whether it is a batch."""
    symbols: dict[str, bool] = {}
    tensors = (*graph.input, *graph.value_info, *graph.output)
    nameless = [
        [each.dim_param for each in tensor.type.tensor_type.shape.dim].count(NAMELESS)
        for tensor in tensors
    ]
    if sum(nameless[: len(graph.input)]) > 1 or max(nameless, default=0) > 1:  # of several sizes
        for tensor in tensors:
            for dimension in tensor.type.tensor_type.shape.dim:
                if dimension.dim_param == NAMELESS:
                    dimension.ClearField("dim_param")
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
