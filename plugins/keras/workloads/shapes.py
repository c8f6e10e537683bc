"""Layers of Keras that do not multiply matrices: the shape that each makes, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.keras.workloads.fields import MOST_DIMENSIONS, Fields, Shape
from ithaca.plugins.keras.workloads.layers import joined, listed, slid, split
from ithaca.workloads.networks.network import OmissionKind

#: Layers around one that they prune, round or normalise.
WRAPPERS = ("PruneLowMagnitude", "QuantizeWrapper", "QuantizeWrapperV2", "SpectralNormalization")

#: Layers of QKeras and hls4ml, which round what those of shorter names do.
ROUNDING = (
    *(f"Q{name}" for name in ("Dense", "Conv1D", "Conv2D", "DepthwiseConv2D", "SeparableConv1D")),
    *(f"Q{name}" for name in ("SeparableConv2D", "Conv2DTranspose", "LSTM", "GRU", "SimpleRNN")),
    *(f"Q{name}" for name in ("Activation", "AveragePooling2D", "GlobalAveragePooling2D")),
    *(
        "BinaryDense",
        "TernaryDense",
        "QBatchNormalization",
        "QDenseBatchnorm",
        "QConv2DBatchnorm",
        "QDepthwiseConv2DBatchnorm",
    ),
)

#: How categories are encoded.
_ENCODINGS = ("int", "one_hot", "multi_hot", "count")

_Rule = Callable[[Fields, Sequence[Shape]], Shape]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: A few operations per element, the shape of the first input kept (`FixedPointQuantizer` is
#: HGQ's).
KEEPING = _names(
    """
    Activation ActivityRegularization AlphaDropout AugMix AutoContrast BatchNormalization
    BatchNormalizationV1 BatchNormalizationV2 ELU Equalization FixedPointQuantizer GaussianDropout
    GaussianNoise GELU GroupNormalization HardSigmoid LayerNormalization LeakyReLU QuantizeLayer
    Normalization PReLU RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter
    RandomContrast RandomErasing RandomGaussianBlur RandomGrayscale RandomHue RandomInvert
    RandomPosterization RandomSaturation RandomSharpness ReLU Relu Relu6 RMSNormalization
    Rescaling Sigmoid Softmax Solarization SpectralNormalization SyncBatchNormalization
    ThresholdedReLU UnitNormalization
    """
)

#: Of these, what makes of a tensor another of as many elements in their order.
PASSING = KEEPING | _names("Dropout Flatten Identity Reshape SpatialDropout1D SpatialDropout2D")

#: Data moved or left as they are, the shape of the first input kept, as when nothing is trained.
STAYING = _names(
    """
    Cast Dropout Identity Masking RandomElasticTransform RandomFlip RandomHeight RandomPerspective
    RandomRotation RandomShear RandomTranslation RandomWidth RandomZoom
    SpatialDropout1D SpatialDropout2D SpatialDropout3D StopGradient
    """
)

#: A few operations per element of inputs that are broadcast, also as operations of Keras 3.
MERGING = _names(
    """
    Add Average Maximum Minimum Multiply Subtract Divide TrueDivide FloorDivide Power Mod
    Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Where
    """
)

#: Operations of Keras 3 on each element.
UNARY = _names(
    """
    Abs Absolute Ceil Clip Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish Log Log1p
    LogSoftmax Negative Relu Relu6 Round Rsqrt Selu Sigmoid Sign Silu Sin Softplus Softsign
    Sqrt Square Swish Tanh
    """
)

#: Functions of TensorFlow by which layers of Keras 2 are called, and what they stand for.
FUNCTIONS = {
    **dict.fromkeys(
        ("math.add", "__operators__.add", "math.subtract", "math.multiply", "math.truediv"), "Add"
    ),
    **dict.fromkeys(("nn.relu", "nn.relu6", "nn.silu", "nn.gelu", "math.sigmoid"), "ReLU"),
    **dict.fromkeys(("nn.softmax", "math.tanh", "clip_by_value", "nn.swish"), "ReLU"),
    **dict.fromkeys(("cast", "identity", "stop_gradient"), "Identity"),
}


def _merged(config: Fields, shapes: Sequence[Shape]) -> Shape:
    rank = max(map(len, shapes))
    # as Keras does, those of fewer dimensions get some behind the batch
    wide = [(shape[0], *[1] * (rank - len(shape)), *shape[1:]) if shape else () for shape in shapes]
    extents = []
    for along in zip(*(shape for shape in wide if shape), strict=True):
        several = {*along} - {1}
        if len(several) > 1:
            raise InputError(f"inputs of {listed(shapes)}; allowed: shapes that broadcast")
        extents.append(max(along))
    return tuple(extents)


def _axis(config: Fields, rank: int, default: int = -1) -> int:
    axis = config.values.get("axis")
    axis = default if axis is None else axis
    if isinstance(axis, list) and len(axis) == 1:
        axis = axis[0]
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        raise InputError(f"axis is {quoted(axis)}; allowed: one of {rank} dimensions")
    return axis % rank


def _concatenated(config: Fields, shapes: Sequence[Shape]) -> Shape:
    axis = _axis(config, len(shapes[0]))
    others = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len(others) > 1 or any(len(shape) <= axis for shape in shapes):
        raise InputError(f"inputs of {listed(shapes)}; allowed: shapes that differ along the axis")
    first = shapes[0]
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def _flat(config: Fields, shapes: Sequence[Shape]) -> Shape:
    return (shapes[0][0], prod(shapes[0][1:]))


def _reshaped(config: Fields, shapes: Sequence[Shape]) -> Shape:
    target = config.values.get("target_shape", config.values.get("newshape"))
    if (
        not isinstance(target, list)
        or len(target) > MOST_DIMENSIONS
        or not all(isinstance(n, int) and n >= -1 for n in target)
    ):
        allowed = f"at most {MOST_DIMENSIONS} integers from -1"
        raise InputError(f"target_shape is {quoted(target)}; allowed: {allowed}")
    if "newshape" in config.values:
        target = target[1:]
    elements, known = prod(shapes[0][1:]), prod(n for n in target if n != -1)
    if target.count(-1) > 1 or known < 1 or elements % known:
        raise InputError(f"target_shape is {quoted(target)}; allowed: {elements} elements")
    shape = tuple(elements // known if n == -1 else n for n in target)
    if prod(shape) != elements:
        raise InputError(f"target_shape is {quoted(target)}; allowed: {elements} elements")
    return (shapes[0][0], *shape)


def _permuted(config: Fields, shapes: Sequence[Shape]) -> Shape:
    stated, shape = config.values.get("dims"), shapes[0]
    places = stated if isinstance(stated, list) and len(stated) < len(shape) else []
    order = [n for n in places if type(n) is int]
    if len(order) < len(places) or sorted(order) != [*range(1, len(shape))]:
        raise InputError(f"dims is {quoted(stated)}; allowed: the dimensions 1 to {len(shape) - 1}")
    return (shape[0], *(shape[place] for place in order))


def _repeated(config: Fields, shapes: Sequence[Shape]) -> Shape:
    return (shapes[0][0], config.number("n"), *shapes[0][1:])


def _embedded(config: Fields, shapes: Sequence[Shape]) -> Shape:
    return (*shapes[0], config.number("output_dim"))


def _encoded(mode: str) -> _Rule:
    """Categories as numbers, or as a vector of as many elements as there are; ``mode`` is what is
    done unless it is stated."""

    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        how, shape = config.text("output_mode", mode, _ENCODINGS), shapes[0]
        if how == "int":
            return shape
        bounds = config.values.get("bin_boundaries")
        number = len(bounds) + 1 if isinstance(bounds, list) else config.values.get("num_bins")
        number = config.number("num_tokens", number)
        if len(shape) < 2:
            raise InputError("an input of 1 dimension; allowed: at least 2")
        return (*shape, number) if how == "one_hot" and shape[-1] > 1 else (*shape[:-1], number)

    return rule


def _adaptive(dimensions: int) -> _Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        batch, channels, _ = split(config, shapes[0], dimensions)
        return joined(config, batch, channels, config.each("output_size", dimensions, 0))

    return rule


def _pooled(dimensions: int) -> _Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        batch, channels, image = split(config, shapes[0], dimensions)
        window = config.each("pool_size", dimensions, 2)
        axes = slid(config, image, window, config.each("strides", dimensions, window))
        return joined(config, batch, channels, [axis.outputs for axis in axes])

    return rule


def _global(dimensions: int) -> _Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        batch, channels, _ = split(config, shapes[0], dimensions)
        if config.flag("keepdims"):
            return joined(config, batch, channels, [1] * dimensions)
        return (batch, channels)

    return rule


def _edges(config: Fields, name: str, dimensions: int) -> list[int]:
    """Elements on both sides together, along each dimension."""
    value = config.values.get(name, 1)
    each = value if isinstance(value, list) else [value] * dimensions
    if dimensions == 1 and len(each) == 2:
        each = [each]
    sides = [pair if isinstance(pair, list) else [pair, pair] for pair in each]
    if len(sides) != dimensions or any(len(pair) != 2 for pair in sides):
        raise InputError(f"{name} is {quoted(value)}; allowed: one or two for each dimension")
    return [sum(Fields({name: n}).number(name, least=0) for n in pair) for pair in sides]


def _resized(dimensions: int, name: str, sign: int) -> _Rule:
    """Padding and cropping."""

    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        batch, channels, image = split(config, shapes[0], dimensions)
        edges = _edges(config, name, dimensions)
        after = [n + sign * edge for n, edge in zip(image, edges, strict=True)]
        if min(after) < 1:
            raise InputError(f"{name} leaves {after} of {image}; allowed: at least one element")
        return joined(config, batch, channels, after)

    return rule


def _upsampled(dimensions: int) -> _Rule:
    def rule(config: Fields, shapes: Sequence[Shape]) -> Shape:
        batch, channels, image = split(config, shapes[0], dimensions)
        times = config.each("size", dimensions, 2)
        return joined(config, batch, channels, [n * t for n, t in zip(image, times, strict=True)])

    return rule


def _cut(config: Fields, shapes: Sequence[Shape]) -> Shape:
    batch, channels, _ = split(config, shapes[0], 2)
    return joined(config, batch, channels, [config.number("height"), config.number("width")])


_MOVING: dict[str, _Rule] = {
    "Concatenate": _concatenated,
    "Flatten": _flat,
    "Reshape": _reshaped,
    "Permute": _permuted,
    "RepeatVector": _repeated,
    "Embedding": _embedded,
    **{f"ZeroPadding{n}D": _resized(n, "padding", 1) for n in (1, 2, 3)},
    **{f"Cropping{n}D": _resized(n, "cropping", -1) for n in (1, 2, 3)},
    **{f"UpSampling{n}D": _upsampled(n) for n in (1, 2, 3)},
    **dict.fromkeys(("CenterCrop", "RandomCrop"), _cut),
    "CategoryEncoding": _encoded("multi_hot"),
    **dict.fromkeys(("Discretization", "Hashing"), _encoded("int")),
}

_COMPUTING: dict[str, _Rule] = {
    **{f"{kind}Pooling{n}D": _pooled(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{
        f"Adaptive{kind}Pooling{n}D": _adaptive(n) for kind in ("Max", "Average") for n in (1, 2, 3)
    },
    **{f"Global{kind}Pooling{n}D": _global(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    "Resizing": _cut,
    **dict.fromkeys(MERGING, _merged),
}


def unwrapped(kind: str, config: Fields) -> tuple[str, Fields]:
    """The layer that one stands for: what it wraps, or what it does but for rounding."""
    if kind in WRAPPERS and isinstance(config.values.get("layer"), dict):
        kind, config = config.inside("layer")
    if kind in ROUNDING:
        for beginning in ("Q", "Binary", "Ternary"):
            kind = kind.removeprefix(beginning)
        kind = kind.removesuffix("Batchnorm")
    return kind, config


def other_layer(
    kind: str, config: Fields, shapes: Sequence[Shape]
) -> tuple[Shape, OmissionKind] | None:
    """The shape that a layer makes which does not multiply, and what it is; None of others.

    Parameters
    ----------
    kind : str
        Its class.
    config : Fields
        Its configuration.
    shapes : sequence of tuple
        Shapes of its inputs, at least one.
    """
    if kind == "TFOpLambda":
        kind = FUNCTIONS.get(config.text("function", ""), kind)
    if kind in KEEPING or kind in UNARY:
        return shapes[0], OmissionKind.ELEMENTWISE
    if kind in STAYING:
        return shapes[0], OmissionKind.MOVEMENT
    if kind in _MOVING:
        return _MOVING[kind](config, shapes), OmissionKind.MOVEMENT
    if kind in _COMPUTING:
        return _COMPUTING[kind](config, shapes), OmissionKind.ELEMENTWISE
    return None
