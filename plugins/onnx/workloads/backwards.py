"""Shapes of tensors that follow from what is made of them, where nothing says what made them.

An operator that nobody knows ends the inference of shapes. What its output must be is often fixed
all the same: by what the model returns, through convolutions, products and what keeps a shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.plugins.onnx.workloads.nodes import attribute, has, key
from ithaca.plugins.onnx.workloads.operators import PASSING, keeps_shape

if TYPE_CHECKING:
    from onnx import NodeProto

#: What makes of one tensor another of the same shape, of ONNX's own operators.
_KEEPING = PASSING - {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}


def fill(
    nodes: Sequence[NodeProto], shapes: MutableMapping[str, Any], reads: Mapping[str, int]
) -> None:
    """Add the shapes of first inputs of which nothing is known, but what outputs say.

    Parameters
    ----------
    nodes : sequence of NodeProto
        In the order of the graph.
    shapes : mapping
        Shapes by tensor, which others are added to.
    reads : mapping
        How many read each tensor.
    """
    one_of_several = set[str]()
    for node in reversed(nodes):
        if not has(node, 0) or node.input[0] in shapes or not node.output:
            continue  # of which something is known, as with sizes to be given
        source, after = node.input[0], _extents(shapes.get(node.output[0]))
        if after is None or node.output[0] in one_of_several:
            continue
        try:
            before = [*_before(node, after, shapes)]
        except InputError:  # of an attribute, which the node's kernel names
            continue
        for shape, only in before:
            if only:
                shapes[source] = shape
            elif reads.get(source) == 1:  # nothing else depends on which of them it is
                shapes[source] = shape
                one_of_several.add(source)


def _extents(shape: Any) -> tuple[int, ...] | None:
    """A shape, if all of it is known."""
    known = shape is not None and all(isinstance(extent, int) for extent in shape)
    return tuple(shape) if known else None


def _before(
    node: NodeProto, after: tuple[int, ...], shapes: Mapping[str, Any]
) -> Iterator[tuple[tuple[int, ...], bool]]:
    """The shape of a node's first input where that of its output fixes it as far as it counts, and
    whether it is the only one."""
    domain, operator = key(node)
    if (not domain and operator in _KEEPING) or keeps_shape(domain, operator):
        yield after, True
        return
    weights = _extents(shapes.get(node.input[1])) if has(node, 1) else None
    if domain or weights is None:
        return
    if operator in ("Add", "Sub", "Mul", "Div") and weights in ((), (1,)) and len(after) > 1:
        yield after, True
    elif operator == "MatMul" and len(weights) == 2 <= len(after) and after[-1] == weights[1]:
        yield (*after[:-1], weights[0]), True
    elif operator == "Gemm" and len(weights) == 2 == len(after):
        inner, outer = reversed(weights) if attribute(node, "transB", 0) else weights
        if outer == after[1]:
            yield ((inner, after[0]) if attribute(node, "transA", 0) else (after[0], inner)), True
    elif operator == "Conv" and len(weights) == len(after) > 2 and weights[0] == after[1]:
        count = len(after) - 2
        steps, apart = (attribute(node, each, [1] * count) for each in ("strides", "dilations"))
        pads = attribute(node, "pads", [0] * 2 * count)
        same = attribute(node, "auto_pad", "NOTSET").startswith("SAME")
        groups = attribute(node, "group", 1)
        if not len(steps) == len(apart) == count == len(pads) / 2:
            return
        if min(*steps, *apart, groups) < 1 or weights[0] % groups:
            return
        axes = zip(after[2:], weights[2:], steps, apart, pads[:count], pads[count:], strict=True)
        image = [
            n * step if same else (n - 1) * step + gap * (window - 1) + 1 - first - last
            for n, window, step, gap, first, last in axes
        ]
        if min(image) > 0:
            yield (after[0], weights[1] * groups, *image), {*steps} == {1}
