"""Layers of Keras: the shape that each makes of shapes, and the kernels that it is.

Shapes have the batch first, and channels last unless ``data_format`` says otherwise
(https://keras.io/api/layers). Layers of Keras 2 and 3 have the same names and fields here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.keras.workloads.fields import Fields, Shape, parts
from ithaca.workloads.networks.operators import (
    Axis,
    KernelUse,
    convolution,
    matrix_product,
    output_extent,
    phases,
    transposed_convolution,
)

#: Kernels of a layer by the name of its part, empty where it is whole.
Uses = Mapping[str, KernelUse]


@dataclass(frozen=True, slots=True)
class Made:
    """The tensors that a layer writes, and its kernels."""

    shapes: tuple[Shape, ...]
    uses: Uses = field(default_factory=dict)
    biases: int = 0
    """Biases that it adds."""


#: Most cells of a recurrent layer.
MOST_CELLS = 100

Rule = Callable[[Fields, Sequence[Shape]], Made]


def _dense(config: Fields, shapes: Sequence[Shape]) -> Made:
    units, shape = config.number("units"), shapes[0]
    use = matrix_product(shape, (shape[-1], units))
    return Made(((*shape[:-1], units),), {"": use}, config.flag("use_bias", True))


def _einsum_dense(config: Fields, shapes: Sequence[Shape]) -> Made:
    """One product: what both factors have is summed, what only one has are rows or columns."""
    equation = config.text("equation", "").replace(" ", "")
    left, _, after = equation.partition("->")
    read, _, weights = left.partition(",")
    shape = shapes[0]
    if "..." in equation:
        kept = [chr(ord("A") + n) for n in range(len(shape) - len(read.replace("...", "")))]
        read, after = (text.replace("...", "".join(kept)) for text in (read, after))
    if len(read) != len(shape) or len({*read}) < len(read) or not after or not weights:
        raise InputError(f"equation is {quoted(equation)}; allowed: as EinsumDense defines it")
    sizes = dict(zip(read, shape, strict=True))
    stated = config.values.get("output_shape")
    stated = stated if isinstance(stated, list | tuple) else [stated]
    for letter, extent in zip(reversed(after), reversed(stated), strict=False):
        if letter not in sizes:
            sizes[letter] = Fields({"output_shape": extent}).number("output_shape")
    if missing := {*after, *weights} - sizes.keys():
        raise InputError(f"equation {quoted(equation)}: extent of {min(missing)} is not stated")
    both = [x for x in weights if x in read]
    rows = prod(sizes[x] for x in read if x not in weights)
    inner = prod(sizes[x] for x in both if x not in after)
    columns = prod(sizes[x] for x in weights if x not in read)
    use = matrix_product((rows, inner), (inner, columns))
    use = use.repeated(prod(sizes[x] for x in both if x in after))
    return Made((tuple(sizes[x] for x in after),), {"": use}, bool(config.values.get("bias_axes")))


def split(config: Fields, shape: Shape, dimensions: int) -> tuple[int, int, list[int]]:
    """Batch, channels and map of a tensor.

    Parameters
    ----------
    config : Fields
        The configuration of its layer.
    shape : tuple of int
        Its shape.
    dimensions : int
        Dimensions of the map.
    """
    if len(shape) != dimensions + 2:
        raise InputError(f"an input of {len(shape)} dimensions; allowed: {dimensions + 2}")
    batch, *rest = shape
    return (batch, rest[0], rest[1:]) if config.first else (batch, rest[-1], rest[:-1])


def joined(config: Fields, batch: int, channels: int, image: Sequence[int]) -> Shape:
    """The shape of a tensor of a batch, channels and a map.

    Parameters
    ----------
    config : Fields
        The configuration of its layer.
    batch, channels : int
        Images, and channels of each.
    image : sequence of int
        Extents of the map.
    """
    return (batch, channels, *image) if config.first else (batch, *image, channels)


def slid(
    config: Fields, image: Sequence[int], window: Sequence[int], strides: Sequence[int]
) -> list[Axis]:
    """The places of a window on a map, by its padding.

    Parameters
    ----------
    config : Fields
        The configuration of the layer.
    image, window, strides : sequence of int
        Extents of the map and of the window, and steps, along each dimension.
    """
    dilations = config.each("dilation_rate", len(image), 1)
    mode = config.text("padding", "valid", ("valid", "same", "causal"))
    axes = []
    for extent, size, stride, dilation in zip(image, window, strides, dilations, strict=True):
        if mode == "valid":
            places = output_extent(extent, size, stride, dilation, 0)
        else:
            places = -(-extent // stride)
        axes.append(Axis(places, size, stride, dilation))
    return axes


def listed(shapes: Iterable[Shape]) -> str:
    """Shapes as error lines show them."""
    return " and ".join(str([*shape]) for shape in shapes)


def _places(axes: Sequence[Axis]) -> list[int]:
    return [axis.outputs for axis in axes]


def _convolution(dimensions: int) -> Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        batch, inputs, image = split(config, shapes[0], dimensions)
        window = config.each("kernel_size", dimensions, 0)
        axes = slid(config, image, window, config.each("strides", dimensions, 1))
        outputs = config.number("filters")
        use = convolution(batch, inputs, outputs, axes, config.number("groups", 1))
        shape = joined(config, batch, outputs, _places(axes))
        return Made((shape,), {"": use}, config.flag("use_bias", True))

    return rule


def _depthwise(dimensions: int, *, separable: bool = False) -> Rule:
    """A window for each channel; a separable one has a product of channels behind it."""

    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        batch, inputs, image = split(config, shapes[0], dimensions)
        window = config.each("kernel_size", dimensions, 0)
        axes = slid(config, image, window, config.each("strides", dimensions, 1))
        outputs = inputs * config.number("depth_multiplier", 1)
        uses = {"": convolution(batch, inputs, outputs, axes, inputs)}
        if separable:
            wide, outputs = outputs, config.number("filters")
            points = [Axis(places, 1) for places in _places(axes)]
            after = convolution(batch, wide, outputs, points)
            uses = {"depthwise": uses[""], "pointwise": after}
        shape = joined(config, batch, outputs, _places(axes))
        return Made((shape,), uses, config.flag("use_bias", True))

    return rule


def _transposed(dimensions: int) -> Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        batch, inputs, image = split(config, shapes[0], dimensions)
        window = config.each("kernel_size", dimensions, 0)
        strides = config.each("strides", dimensions, 1)
        dilations = config.each("dilation_rate", dimensions, 1)
        same = config.text("padding", "valid", ("valid", "same")) == "same"
        edges: Sequence[int | None] = [None] * dimensions
        if config.values.get("output_padding") is not None:
            edges = config.each("output_padding", dimensions, 0, least=0)
        axes, along = [], []
        sides = zip(image, window, strides, dilations, edges, strict=True)
        for n, size, stride, dilation, edge in sides:
            reach = (size - 1) * dilation + 1
            every = (n - 1) * stride + reach
            if edge is not None:
                places = every - (2 * (reach // 2) if same else 0) + edge
            else:
                places = n * stride + (0 if same else max(reach - stride, 0))
            if places < 1:
                raise InputError("padding leaves no output; allowed: at least one element")
            axes.append(Axis(places, size, stride, dilation))
            along.append(phases(axes[-1], max(every - places, 0) // 2 if same else 0))
        outputs = config.number("filters")
        groups = config.number("groups", 1)
        uses = [*transposed_convolution(batch, inputs, outputs, along, groups)]
        named = {f"phase{n}" if len(uses) > 1 else "": use for n, use in enumerate(uses)}
        shape = joined(config, batch, outputs, _places(axes))
        return Made((shape,), named, config.flag("use_bias", True))

    return rule


def _gated(gates: int) -> Rule:
    """A recurrent layer: inputs of all steps at once, states step by step."""

    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        if len(shapes[0]) != 3:
            raise InputError(f"an input of {len(shapes[0])} dimensions; allowed: 3")
        batch, steps, features = shapes[0]
        units = config.number("units")
        uses = {
            "inputs": matrix_product((batch * steps, features), (features, gates * units)),
            "states": matrix_product((batch, units), (units, gates * units)).repeated(steps),
        }
        whole = (batch, steps, units) if config.flag("return_sequences") else (batch, units)
        states = (batch, units), *[(batch, units)] * (gates == 4)
        shapes = (whole, *states) if config.flag("return_state") else (whole,)
        return Made(tuple(shapes), uses, config.flag("use_bias", True))

    return rule


def _cells(config: Fields, shapes: Sequence[Shape]) -> Made:
    """A recurrent layer of a cell that it states, or of several, each of which reads the last."""
    kind, cell = config.inside("cell")
    cells = [config.values["cell"]]
    if kind == "StackedRNNCells":
        stated = cell.values.get("cells")
        if not isinstance(stated, list) or not 0 < len(stated) <= MOST_CELLS:
            raise InputError(f"cells is {quoted(stated)}; allowed: a list of 1 to {MOST_CELLS}")
        cells = stated
    uses, states, biases = dict[str, KernelUse](), list[Shape](), 0
    for number, entry in enumerate(cells, 1):
        kind, cell = parts(entry, "cell")
        if (name := kind.removesuffix("Cell")) not in ("LSTM", "GRU", "SimpleRNN"):
            raise InputError(f"cell is {quoted(kind)}; allowed: LSTMCell, GRUCell, SimpleRNNCell")
        flags = {each: config.values.get(each) for each in ("return_sequences", "return_state")}
        if number < len(cells):
            flags["return_sequences"] = True
        made = RULES[name](Fields({**cell.values, **flags}), shapes)
        shapes, biases = made.shapes[:1], biases + made.biases
        states += made.shapes[1:]
        prefix = f"cell{number}." if len(cells) > 1 else ""
        uses |= {f"{prefix}{part}": use for part, use in made.uses.items()}
    return Made((*shapes, *states), uses, biases)


def _convolved_lstm(dimensions: int) -> Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        batch, steps, *rest = shapes[0]
        one = (batch, *rest)
        _, inputs, image = split(config, one, dimensions)
        window = config.each("kernel_size", dimensions, 0)
        axes = slid(config, image, window, config.each("strides", dimensions, 1))
        filters = config.number("filters")
        again = [Axis(axis.outputs, axis.window) for axis in axes]
        uses = {
            "inputs": convolution(batch, inputs, 4 * filters, axes).repeated(steps),
            "states": convolution(batch, filters, 4 * filters, again).repeated(steps),
        }
        shape = joined(config, batch, filters, _places(axes))
        whole = (batch, steps, *shape[1:]) if config.flag("return_sequences") else shape
        states = (shape, shape) if config.flag("return_state") else ()
        return Made((whole, *states), uses, config.flag("use_bias", True))

    return rule


def _heads(config: Fields, shapes: Sequence[Shape]) -> Made:
    """Attention of many heads, with the products that make queries, keys, values and the output."""
    if len(shapes) < 2:
        raise InputError("query and value are not one tensor each; allowed: one each")
    if {*map(len, shapes)} != {3}:
        raise InputError("queries, keys or values are no sequences; allowed: 3 dimensions each")
    query, value = shapes[:2]
    keys = shapes[2] if len(shapes) > 2 else value
    if keys[:2] != value[:2] or keys[0] != query[0]:
        raise InputError(f"inputs of {listed(shapes)}; allowed: one batch, as many keys as values")
    heads = config.number("num_heads", config.values.get("num_query_heads"))
    own = config.number("num_key_value_heads", heads)
    width = config.number("key_dim", config.values.get("head_dim"))
    deep = config.number("value_dim", width)
    if heads % own:
        raise InputError(f"num_key_value_heads is {own}; allowed: a divisor of {heads}")
    stated = config.values.get("output_shape")
    stated = stated[-1] if isinstance(stated, list | tuple) and stated else stated
    after = Fields({"output_shape": stated}).number("output_shape", query[-1])
    batch, rows, _ = query
    _, steps, _ = keys

    def projected(shape: Shape, columns: int) -> KernelUse:
        return matrix_product((shape[0] * shape[1], shape[2]), (shape[2], columns))

    shared = heads // own * rows
    uses = {
        "query": projected(query, heads * width),
        "key": projected(keys, own * width),
        "value": projected(value, own * deep),
        "scores": matrix_product((batch, own, shared, width), (batch, own, width, steps)),
        "values": matrix_product((batch, own, shared, steps), (batch, own, steps, deep)),
        "output": matrix_product((batch * rows, heads * deep), (heads * deep, after)),
    }
    return Made(((batch, rows, after),), uses, 4 * config.flag("use_bias", True))


def _local(dimensions: int) -> Rule:
    """A convolution with weights of its own at every place: a product for each."""

    def rule(config: Fields, shapes: Sequence[Shape]) -> Made:
        batch, inputs, image = split(config, shapes[0], dimensions)
        window = config.each("kernel_size", dimensions, 0)
        axes = slid(config, image, window, config.each("strides", dimensions, 1))
        outputs = config.number("filters")
        places, inner = prod(_places(axes)), prod(window) * inputs
        use = matrix_product((places, batch, inner), (places, inner, outputs))
        shape = joined(config, batch, outputs, _places(axes))
        return Made((shape,), {"": use}, config.flag("use_bias", True))

    return rule


def _attention(config: Fields, shapes: Sequence[Shape], *, additive: bool = False) -> Made:
    """Scores of queries and keys, and values weighted by them; additive scores are sums, which are
    weighted by a scale for each feature, if at all."""
    if len(shapes) not in (2, 3) or any(len(shape) != 3 for shape in shapes):
        raise InputError("queries or values are no sequences; allowed: 3 dimensions each")
    (batch, rows, features), (_, steps, deep) = shapes[:2]
    if shapes[-1] != (batch, steps, features) or shapes[1][0] != batch:
        raise InputError(f"inputs of {listed(shapes)}; allowed: keys as wide as queries")
    scores = matrix_product((batch, rows, features), (batch, features, steps))
    if additive:
        scores = matrix_product((batch * rows * steps, features), (features, 1))
    uses = {
        "scores": scores,
        "values": matrix_product((batch, rows, steps), (batch, steps, deep)),
    }
    if additive and not config.flag("use_scale", True):
        del uses["scores"]
    return Made(((batch, rows, deep),), uses)


def _dot(config: Fields, shapes: Sequence[Shape]) -> Made:
    """The sum over an axis of each of two tensors."""
    left, right = shapes[:2] if len(shapes) > 1 else (shapes[0], shapes[0])
    axes = config.values.get("axes")
    both = axes if isinstance(axes, list | tuple) else [axes, axes]
    if len(both) != 2 or not all(
        isinstance(axis, int) and not isinstance(axis, bool) for axis in both
    ):
        raise InputError(f"axes is {quoted(axes)}; allowed: one or two integers")
    first, second = (axis % len(shape) for axis, shape in zip(both, (left, right), strict=True))
    if left[first] != right[second] or left[0] != right[0] or 0 in (first, second):
        raise InputError(f"axes is {quoted(axes)}; allowed: axes of one extent, but not the batch")
    rows = [n for at, n in enumerate(left) if at not in (0, first)]
    columns = [n for at, n in enumerate(right) if at not in (0, second)]
    batch, inner = left[0], left[first]
    use = matrix_product((batch, prod(rows), inner), (batch, inner, prod(columns)))
    shape = (batch, *rows, *columns)
    return Made((shape if len(shape) > 1 else (batch, 1),), {"": use})


_HEADS = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")


def inputs_of(kind: str, roles: Sequence[str]) -> list[int]:
    """The places, among the tensors that a call reads, of those that its layer takes: no masks.

    Parameters
    ----------
    kind : str
        The layer's class.
    roles : sequence of str
        Of each tensor, the argument that it stands for: its name, or its place (``"0"``).
    """
    if kind in _HEADS:
        names = ("query", "value", "key")
        several = [
            [n for n, role in enumerate(roles) if role in (name, str(at))]
            for at, name in enumerate(names)
        ]
        if len(several[0]) != 1 or len(several[1]) != 1 or len(several[2]) > 1:
            return [0][: len(roles)]
        return [place for places in several for place in places]
    kept = [n for n, role in enumerate(roles) if not role.endswith("mask")]
    # of layers that multiply, the first argument; operations of Keras 3 take several
    return [n for n in kept if kind not in RULES or roles[n] == roles[kept[0]]]


#: Layers that multiply, by class.
RULES: dict[str, Rule] = {
    "Dense": _dense,
    "EinsumDense": _einsum_dense,
    **{f"Conv{n}D": _convolution(n) for n in (1, 2, 3)},
    **{f"Convolution{n}D": _convolution(n) for n in (1, 2, 3)},
    **{f"DepthwiseConv{n}D": _depthwise(n) for n in (1, 2)},
    **{f"SeparableConv{n}D": _depthwise(n, separable=True) for n in (1, 2)},
    **{f"Conv{n}DTranspose": _transposed(n) for n in (1, 2, 3)},
    **{name: _gated(4) for name in ("LSTM", "CuDNNLSTM")},
    **{name: _gated(3) for name in ("GRU", "CuDNNGRU")},
    "SimpleRNN": _gated(1),
    "RNN": _cells,
    **{f"ConvLSTM{n}D": _convolved_lstm(n) for n in (1, 2, 3)},
    **dict.fromkeys(_HEADS, _heads),
    "Attention": _attention,
    "AdditiveAttention": partial(_attention, additive=True),
    **{f"LocallyConnected{n}D": _local(n) for n in (1, 2)},
    "Dot": _dot,
}
