"""Shapes that models compute, where ONNX's own inference does not follow how: as older exporters
write them, from shapes of other tensors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

from ithaca.plugins.onnx.workloads.nodes import attribute, key

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

#: Operators that shapes are computed with, none of which makes more of a small tensor than it has.
_COMPUTED = frozenset(
    (
        *("Add", "Cast", "Concat", "Constant", "Div", "Gather", "Identity"),
        *("Mul", "Slice", "Squeeze", "Sub", "Unsqueeze"),
    )
)

#: Most elements of what is computed.
MOST = 64


def inferred(model: ModelProto) -> ModelProto:
    """A model with the shapes that follow from those of its inputs, by ONNX's inference and, where
    that ends, by computing shapes that are computed."""
    from onnx import shape_inference

    known: dict[str, Any] = {}
    while True:
        result = shape_inference.infer_shapes(model, data_prop=True)
        more = _computed(result, known)
        if not more:
            return result
        known |= more
        kept = [node for node in model.graph.node if not more.keys() >= {*node.output}]
        del model.graph.node[:]
        model.graph.node.extend(kept)
        for name, value in more.items():
            model.graph.initializer.append(_tensor(name, value))


def _computed(model: ModelProto, known: dict[str, Any]) -> dict[str, Any]:
    """Values of tensors that follow from shapes and small constants, where some shape of a model is
    unknown."""
    from onnx import numpy_helper

    graph, shapes = model.graph, dict[str, list[int]]()
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            shapes[value.name] = [d.dim_value for d in tensor.shape.dim]
    shapes |= {tensor.name: [*tensor.dims] for tensor in graph.initializer}
    values = dict[str, Any]()
    for each in graph.initializer:
        if prod(each.dims) <= MOST and not each.external_data:
            with suppress(ValueError):  # its data are missing
                values[each.name] = numpy_helper.to_array(each)
    if all(name in shapes for node in graph.node for name in node.output if name):
        return {}
    more: dict[str, Any] = {}
    for node in graph.node:
        domain, operator = key(node)
        if domain or len(node.output) != 1 or node.output[0] in known:
            continue
        if operator == "Shape" and not node.attribute and node.input[0] in shapes:
            import numpy as np

            more[node.output[0]] = np.array(shapes[node.input[0]], dtype=np.int64)
        elif operator in _COMPUTED and all(name in values for name in node.input if name):
            value = _value(node, [values[name] for name in node.input if name])
            if value is not None and value.size <= MOST:
                more[node.output[0]] = value
        values |= more
    return more


def _value(node: NodeProto, inputs: Sequence[Any]) -> Any:
    """The value of a node of known inputs; None of forms that shapes are not computed with."""
    import numpy as np
    from onnx import numpy_helper

    operator, axes = node.op_type, attribute(node, "axes", [])
    if len(inputs) > 1 and operator in ("Squeeze", "Unsqueeze"):
        axes = inputs[1].tolist()
    axis = attribute(node, "axis", 0)
    match operator, len(inputs):
        case "Constant", 0:
            tensor = next((each.t for each in node.attribute if each.HasField("t")), None)
            return None if tensor is None else numpy_helper.to_array(tensor)
        case (("Add" | "Sub" | "Mul"), 2):
            return {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[operator](*inputs)
        case "Div", 2 if all(np.issubdtype(each.dtype, np.integer) for each in inputs):
            return inputs[0] // inputs[1] if (inputs[1] > 0).all() else None
        case "Identity", 1:
            return inputs[0]
        case "Cast", 1:
            return _cast(inputs[0], attribute(node, "to", 0))
        case "Concat", _:
            return np.concatenate(inputs, axis)
        case "Gather", 2:
            return np.take(inputs[0], inputs[1], axis)
        case "Unsqueeze", _ if axes:
            return np.expand_dims(inputs[0], tuple(axes))
        case "Squeeze", _:
            return np.squeeze(inputs[0], tuple(axes) or None)
        case "Slice", _ if inputs[0].ndim == 1:
            starts, ends = attribute(node, "starts", []), attribute(node, "ends", [])
            bounds = [starts, ends] if starts else [e.tolist() for e in inputs[1:3]]
            step = int(inputs[4][0]) if len(inputs) > 4 else 1
            return inputs[0][bounds[0][0] : bounds[1][0] : step]
    return None


def _cast(value: Any, kind: int) -> Any:
    """Whole numbers as another of ONNX's types has them, texts among these; None of other values
    and types, and of those that it has not."""
    import numpy as np
    from onnx import helper

    with np.errstate(all="ignore"), suppress(KeyError, ValueError):  # no such type; no number
        to = helper.tensor_dtype_to_np_dtype(kind)
        plain = value if np.issubdtype(value.dtype, np.integer) else value.astype(np.float64)
        if np.isfinite(plain).all() and (np.trunc(plain) == plain).all():
            texts = to == np.dtype("O")
            cast = (plain.astype(np.int64).astype(str) if texts else value).astype(to)
            return cast if (cast.astype(np.float64) == plain).all() else None  # too narrow
    return None


def _tensor(name: str, value: Any) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(value, name)
