"""Network files: architectures written as data, Ithaca's own and a user's.

A network is a YAML document::

    name: tiny
    description: two layers
    source: where its figures are published
    parameters: {batch: 1, image: 32}              # replaced by sizes on the command line
    input: {batch: batch, channels: 3, height: image, width: image}
    layers:
      - {op: conv, name: conv1, channels: 16, kernel: 3, stride: 2, padding: 1, output: 16}
      - {op: depthwise, name: conv2, kernel: 3, padding: 1}
      - {op: pool, kernel: 2}
      - {op: block, name: stage, repeat: 2, layers: [{op: conv, name: conv, channels: 16, kernel:
        1}]}
      - {op: linear, name: fc, features: 10}
      - {op: kernel, name: product, kernel: mm, sizes: {i: batch, j: 10, k: 4*image}}
    elementwise: {Relu: 2}                         # what the layers leave out

Each operator reads the feature map of the one before; its output follows from kernel, stride and
padding. ``output`` is the published size, at the parameters' own values, and is checked there.

Which layer reads what the one before wrote, and nothing else does: each conv, depthwise and linear,
but where there is pooling or a ``kernel`` in between, where ``side: true`` reads the same map, and
at both ends of a block with ``residual: true``, whose input is added to its output. A ``kernel``
does only with ``follows: true``. Without ``residual`` blocks for all Add of ``elementwise``, the
file does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.workloads.networks.network import (
    Layer,
    LayerRun,
    Network,
    Omission,
    OmissionKind,
    chosen_parameters,
    merge,
)
from ithaca.workloads.networks.network_documents import (
    MAX_LAYERS,
    OPERATORS,
    BlockDocument,
    ConvDocument,
    DepthwiseDocument,
    GlobalPoolDocument,
    KernelLayerDocument,
    LinearDocument,
    NetworkDocument,
    PoolDocument,
    SizedDocument,
)
from ithaca.workloads.networks.operators import (
    Axis,
    FeatureMap,
    KernelUse,
    convolution,
    matrix_product,
)

#: Largest network file (bytes); the packaged ones have up to 5,000.
MAX_BYTES = 262_144

#: Operations that multiply, by their names in ONNX: more than a few operations per element.
MULTIPLYING = {
    *("Attention", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "Einsum", "GRU", "Gemm"),
    *("LSTM", "MatMul", "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN"),
}


def read_network(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    """Read a network document.

    Parameters
    ----------
    document : object
        The document, as YAML decodes it.
    where : object
        A path or name, with which error lines start.
    sizes : mapping of str to int
        Values of parameters that replace the document's own.

    Returns
    -------
    Network
        Its layers, merged where they are equal, in order.

    Raises
    ------
    InputError
        If it is no network document, or ``sizes`` are not its parameters.
    """
    read = validated(NetworkDocument, document, where)
    parameters = chosen_parameters(read.name, read.parameters, sizes)
    steps = list(islice(_steps(read.layers, f"{where}: ", "", parameters), MAX_LAYERS + 1))
    if len(steps) > MAX_LAYERS:
        raise refuse(
            where,
            f"layers, with blocks repeated, are more than {MAX_LAYERS}; "
            f"allowed: at most {MAX_LAYERS}",
        )
    _check_names(steps)
    sized = validated(
        SizedDocument, read.model_dump(include={"input", "elementwise"}), where, parameters
    )
    start = FeatureMap(**sized.input.model_dump()) if sized.input else None
    runs = tuple(_runs(steps, start, published=parameters == read.parameters))
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in runs)
    if not layers:
        raise refuse(
            where, "layers compute nothing; allowed: at least one conv, depthwise, linear or kernel"
        )
    omissions = tuple(
        Omission(name, count, _kind(name)) for name, count in sized.elementwise.items()
    )
    description = "; ".join(part for part in (read.description, read.source) if part)
    sums, shortcuts = sized.elementwise.get("Add", 0), sum(step.shortcuts for step in steps)
    silent = sums > shortcuts and any(
        isinstance(step.operator, DepthwiseDocument | LinearDocument) for step in steps
    )
    unordered = f"it has {sums} Add, and {shortcuts} blocks with residual: true" if silent else ""
    order = () if silent else runs
    return Network(
        read.name, layers, description, omissions, tuple(parameters.items()), order, unordered
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """An operator of a file: its full name (empty if it makes no layer), and its place."""

    name: str
    where: str
    operator: InputDocument
    shortcuts: int = 0
    """Blocks with a shortcut that begin with it."""
    summed: bool = False
    """Whether such a block ends with it."""


def _kind(operator: str) -> OmissionKind:
    """The kind of an operation that a file lists beside its layers."""
    return OmissionKind.UNSUPPORTED if operator in MULTIPLYING else OmissionKind.ELEMENTWISE


def _steps(
    entries: list[dict[str, Any]], path: str, prefix: str, parameters: Mapping[str, int]
) -> Iterator[_Step]:
    """The operators in the order they run, blocks written out."""
    for index, entry in enumerate(entries):
        where = f"{path}layers[{index}]"
        op = entry.get("op")
        if not isinstance(op, str) or op not in OPERATORS:
            stated = "missing" if op is None else quoted(op)
            raise refuse(where, f"op is {stated}{among(op, OPERATORS)}")
        operator = validated(OPERATORS[op], entry, where, parameters)
        if not isinstance(operator, BlockDocument):
            name = getattr(operator, "name", "")
            yield _Step(prefix + name if name else "", where, operator)
            continue
        numbers: Iterable[int | str] = ("",)
        if operator.repeat is not None:
            numbers = range(operator.first, operator.first + operator.repeat)
        for number in numbers:
            inner = list(
                _steps(
                    operator.layers, f"{where}.", f"{prefix}{operator.name}{number}.", parameters
                )
            )
            if operator.residual:
                inner[0] = replace(inner[0], shortcuts=inner[0].shortcuts + 1)
                inner[-1] = replace(inner[-1], summed=True)
            yield from inner


def _check_names(steps: Iterable[_Step]) -> None:
    """Refuse two layers of one name: a user could not tell them apart."""
    seen: set[str] = set()
    for step in steps:
        if step.name and step.name in seen:
            raise refuse(
                f"{step.where}.name",
                f"makes a second layer {quoted(step.name)}; allowed: names that differ",
            )
        seen.add(step.name)


def _runs(
    steps: Iterable[_Step], feature_map: FeatureMap | None, *, published: bool
) -> Iterator[LayerRun]:
    """The runs of the operators from a feature map on, with their ``output`` checked."""
    last: LayerRun | None = None
    fresh = False  # whether the feature map is what the last run wrote, and nothing has read it
    for step in steps:
        operator = step.operator
        side = isinstance(operator, ConvDocument) and operator.side
        fresh = fresh and not side and not step.shortcuts
        with errors_at(step.where):
            use, after = _compute(operator, feature_map)
            words = [getattr(operator, name, None) for name in ("block_sparse", "format")]
            layer = use.layer(step.name, *words) if use else None
            stated = getattr(operator, "output", None) if published else None
            if stated is not None and after is not None and stated != after.size:
                own, computed = ("×".join(map(str, size)) for size in (stated, after.size))
                raise InputError(
                    f"output is {own}; allowed: {computed}, as kernel, stride and padding make it"
                )
            if layer is not None:
                last = LayerRun(
                    layer.name, layer.nest, layer.count, _follows(layer, operator, last, fresh)
                )
                yield last
        fresh = (
            isinstance(operator, DepthwiseDocument | LinearDocument)
            and not side
            and not step.summed
        )
        if not side:
            feature_map = after


def _follows(layer: Layer, operator: InputDocument, last: LayerRun | None, fresh: bool) -> bool:
    """Whether a layer reads what the run before it wrote; the words of both must agree."""
    if not isinstance(operator, KernelLayerDocument):
        return fresh
    nest = layer.nest
    read = layer.count * nest.inputs[0].box(nest.sizes)
    if operator.follows and (last is None or last.written_words != read):
        before = (
            "there is no layer before it"
            if last is None
            else f"{last.source} writes {last.written_words} words"
        )
        raise InputError(
            f"follows is true, yet {before}; allowed: where "
            f"{nest.inputs[0].tensor}, of {read} words, is its output"
        )
    return operator.follows


def _compute(
    operator: InputDocument, before: FeatureMap | None
) -> tuple[KernelUse | None, FeatureMap | None]:
    """The kernel of an operator, None if it has none, and the feature map after it."""
    if isinstance(operator, KernelLayerDocument):
        return KernelUse(operator.kernel, tuple(operator.sizes.items()), operator.count), before
    if before is None:
        raise InputError("no feature map to read; allowed: input at the top of the file")
    match operator:
        case DepthwiseDocument(kernel=window, stride=stride, dilation=dilation):
            outputs = groups = before.channels
            if isinstance(operator, ConvDocument):
                outputs, groups = operator.channels, operator.groups
            after = replace(
                before.after(window, stride, dilation, operator.padding), channels=outputs
            )
            along = zip(after.size, window, stride, dilation, strict=True)
            axes = [Axis(*each) for each in along]
            return convolution(before.batch, before.channels, outputs, axes, groups), after
        case PoolDocument():
            return None, before.after(
                operator.kernel, operator.stride or operator.kernel, padding=operator.padding
            )
        case GlobalPoolDocument():
            return None, replace(before, height=1, width=1)
        case LinearDocument():
            use = matrix_product(
                (before.batch, before.elements), (before.elements, operator.features)
            )
            return use, FeatureMap(before.batch, operator.features, 1, 1)
    raise AssertionError(f"operator {type(operator).__name__} has no meaning")
