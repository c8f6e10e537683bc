"""Graphs of Keras models: the calls of their layers, in order, with what each reads.

Models of Keras 2 list inbound nodes as ``[[layer, node, tensor, {}], …]``, of Keras 3 as arguments
with ``keras_history``. Layers of a sequential model read what the one before wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.keras.workloads.fields import (
    LARGEST,
    LONGEST,
    MOST_DIMENSIONS,
    TEXT,
    Fields,
    Shape,
    parts,
)

#: A tensor: the layer that writes it, which of its calls, and which of what that writes.
Tensor = tuple[str, int, int]

#: Classes of models.
MODELS = ("Functional", "Model", "Sequential")

#: Most calls of layers, those of layers within layers among them.
MOST_CALLS = 20_000

#: Most tensors that they read, each as often as it is read.
MOST_READS = 1_000_000

#: Most kernels that they are.
MOST_KERNELS = 100_000


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a layer."""

    layer: str
    number: int
    kind: str
    config: Fields
    reads: tuple[Tensor, ...]
    roles: tuple[str, ...]
    """The argument that each stands for: its name, or its place (`"0"`)."""
    stated: Mapping[Tensor, Sequence[Any]]
    """Shapes that it states of what it reads, None for what is not known."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The calls of a model in the order of its file."""

    calls: tuple[Call, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def graph_of(kind: str, config: Fields) -> Graph:
    """The graph of a model."""
    layers = config.values.get("layers")
    if not isinstance(layers, list) or not layers:
        what = "are empty" if layers == [] else f"is {quoted(layers)}"
        raise InputError(f"layers {what}; allowed: a list of layers")
    if len(layers) > MOST_CALLS:
        raise InputError(f"{len(layers)} layers; allowed: at most {MOST_CALLS}")
    read = _sequential if kind == "Sequential" else _functional
    return read(config, layers)


def _name(entry: Any, config: Fields, number: int) -> str:
    for name in (entry.get("name"), config.values.get("name")):
        if isinstance(name, str) and name:
            if len(name) > LONGEST:
                raise InputError(f"layers[{number}]: name is {quoted(name)}; allowed: {TEXT}")
            return name
    return f"layer{number}"


def _sequential(config: Fields, layers: list[Any]) -> Graph:
    calls: list[Call] = []
    last: Tensor | None = None
    entries = [parts(entry, f"layers[{number}]") for number, entry in enumerate(layers)]
    names = [
        _name(entry, own, number)
        for number, (entry, (_, own)) in enumerate(zip(layers, entries, strict=True))
    ]
    layer, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"layer {quoted(layer)} occurs twice; allowed: every name once")
    for layer, entry, (kind, own) in zip(names, layers, entries, strict=True):
        if last is None and kind != "InputLayer":
            shape = _shape_of(own, entry) or _shape_of(
                config, {"build_config": {"input_shape": config.values.get("build_input_shape")}}
            )
            start = Fields({"batch_shape": shape})
            first, taken = f"{layer}_input", {*names}
            while first in taken:
                first += "_"
            last = (first, 0, 0)
            calls.append(Call(first, 0, "InputLayer", start, (), (), {}))
        reads = () if last is None else (last,)
        calls.append(Call(layer, 0, kind, own, reads, ("0",) * len(reads), {}))
        last = (layer, 0, 0)
    assert last is not None
    return Graph(tuple(calls), ((calls[0].layer, 0, 0),), (last,))


def _shape_of(config: Fields, entry: Any) -> object:
    """The shape of its input that a first layer states."""
    for field in ("batch_input_shape", "batch_shape"):
        if config.values.get(field) is not None:
            return config.values[field]
    build = entry.get("build_config")
    shape = build.get("input_shape") if isinstance(build, dict) else None
    if shape is None and isinstance(config.values.get("input_dim"), int):
        return [None, config.values["input_dim"]]
    return shape


def _functional(config: Fields, layers: list[Any]) -> Graph:
    calls = list[Call]()
    seen = set[str]()
    for number, entry in enumerate(layers):
        kind, own = parts(entry, f"layers[{number}]")
        layer = _name(entry, own, number)
        if layer in seen:
            raise InputError(f"layer {quoted(layer)} occurs twice; allowed: every name once")
        seen.add(layer)
        nodes = entry.get("inbound_nodes")
        if not isinstance(nodes, list):
            raise InputError(
                f"layer {quoted(layer)}: inbound_nodes is {quoted(nodes)}; allowed: a list"
            )
        for place, node in enumerate([[]] if kind == "InputLayer" else nodes):
            stated: dict[Tensor, Sequence[Any]] = {}
            passed = [
                (role, tensor)
                for role, value in _arguments(node)
                for tensor in _tensors(value, stated)
            ]
            reads, roles = (tuple(t for _, t in passed), tuple(role for role, _ in passed))
            values = own.values
            if isinstance(node, dict):
                values = {**_plain_arguments(node), **values}
            calls.append(Call(layer, place, kind, Fields(values), reads, roles, stated))
            if len(calls) > MOST_CALLS:
                raise InputError(
                    f"more than {MOST_CALLS} calls of layers; allowed: at most so many"
                )
    inputs = _ends(config.values.get("input_layers"), "input_layers")
    outputs = _ends(config.values.get("output_layers"), "output_layers")
    return Graph(tuple(_ordered(calls)), inputs, outputs)


def _arguments(node: Any) -> Iterator[tuple[str, Any]]:
    """The arguments of a call, each with its name, or its place where it has none.

    Raises `InputError` if they are neither a list nor a mapping.
    """
    if isinstance(node, dict):
        places, names = node.get("args"), node.get("kwargs")
        for field, value, kind, allowed in (
            ("args", places, list, "a list"),
            ("kwargs", names, dict, "a mapping of names to values"),
        ):
            if not isinstance(value, kind | None):
                raise InputError(f"inbound_nodes: {field} is {quoted(value)}; allowed: {allowed}")
        yield from ((str(n), each) for n, each in enumerate(places or ()))
    else:
        names = _keywords(node)
        yield "0", node
    yield from names.items() if isinstance(names, dict) else ()


def _keywords(node: Any) -> Any:
    """All arguments but the first, by name, as Keras 2 states them behind each tensor of that."""
    while isinstance(node, list) and node and _tensor(node) is None:
        node = node[0]
    return node[3] if isinstance(node, list) and len(node) > 3 else None


def _plain_arguments(node: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and words that a call is given beside tensors."""
    keywords = node.get("kwargs")
    return {
        name: value
        for name, value in (keywords if isinstance(keywords, dict) else {}).items()
        if isinstance(value, int | str)
    }


def _ends(value: Any, field: str) -> tuple[Tensor, ...]:
    """Tensors that a model starts or ends with; one alone stands without brackets in Keras 3."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list) and len(value) == 3 and isinstance(value[0], str):
        value = [value]
    tensors = [_tensor(each) for each in value] if isinstance(value, list) else []
    known = tuple(tensor for tensor in tensors if tensor is not None)
    if not known or len(known) < len(tensors):
        raise InputError(f"{field} is {quoted(value)}; allowed: layers with places")
    return known


def _tensor(value: Any) -> Tensor | None:
    """The tensor that the beginning of a list names; None of others."""
    if isinstance(value, list) and len(value) >= 3 and isinstance(value[0], str):
        layer, node, place = value[:3]
        if all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (node, place)):
            return layer, node, place
    return None


def _tensors(value: Any, stated: dict[Tensor, Sequence[Any]]) -> Iterator[Tensor]:
    """The tensors that a node names, in order; fills in the shapes that it states of them."""
    if (tensor := _tensor(value)) is not None:
        yield tensor
    elif isinstance(value, list):
        for each in value:
            yield from _tensors(each, stated)
    elif isinstance(value, dict):
        config = value.get("config")
        if value.get("class_name") == "__keras_tensor__" and isinstance(config, dict):
            tensor = _tensor(config.get("keras_history"))
            if tensor is None:
                raise InputError("keras_history is no tensor; allowed: a layer, a node, a place")
            shape = config.get("shape")
            if isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS:
                stated[tensor] = shape
            yield tensor
        elif value.get("class_name") is None:
            for each in value.values():
                yield from _tensors(each, stated)


def _ordered(calls: Sequence[Call]) -> Iterator[Call]:
    """Calls after those whose tensors they read, else in the order of the file."""
    known = {(call.layer, call.number): call for call in calls}
    done = set[tuple[str, int]]()
    for first in calls:
        stack = [(first, iter(first.reads))]
        open_ = {(first.layer, first.number)}
        if (first.layer, first.number) in done:
            continue
        while stack:
            call, left = stack[-1]
            tensor = next(left, None)
            if tensor is None:
                stack.pop()
                done.add((call.layer, call.number))
                yield call
                continue
            key = tensor[:2]
            if key in done:
                continue
            if key not in known:
                raise InputError(
                    f"layer {quoted(call.layer)} reads {quoted(tensor[0])}, node {tensor[1]}, "
                    "which is not there; allowed: a layer of the model"
                )
            if key in open_:
                raise InputError(
                    f"layer {quoted(tensor[0])} reads what it writes; allowed: no circle"
                )
            open_.add(key)
            stack.append((known[key], iter(known[key].reads)))


def extents(shape: Sequence[Any]) -> Shape | None:
    """A shape of which all is known, within bounds; None of others."""
    whole = 0 < len(shape) <= MOST_DIMENSIONS and all(
        isinstance(n, int) and not isinstance(n, bool) and 0 < n <= LARGEST for n in shape
    )
    return tuple(shape) if whole else None
