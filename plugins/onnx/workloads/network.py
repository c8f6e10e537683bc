"""ONNX models as networks: what multiplies becomes layers, all else is listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, escaped, refuse
from ithaca.files.numbers import counted
from ithaca.plugins.onnx.workloads.kernels import KERNELS, kernel_uses, multiplications
from ithaca.plugins.onnx.workloads.nodes import key
from ithaca.plugins.onnx.workloads.operators import PASSING, keeps_shape, omission
from ithaca.plugins.onnx.workloads.shapes import read_model
from ithaca.workloads.formats import network_formats, with_formats
from ithaca.workloads.networks.network import (
    Layer,
    LayerRun,
    Network,
    Omission,
    OmissionKind,
    merge,
)
from ithaca.workloads.networks.operators import WindowError

#: Operators of which inputs after the factors are biases: how many come before.
BIASED = {"Conv": 2, "ConvTranspose": 2, "Gemm": 2}

#: Name under which biases are listed.
BIAS = "Bias"


def import_onnx(path: Path, sizes: Mapping[str, int] | None = None) -> Network:
    """Import an ONNX model, named after its file; its weights are not read.

    Control characters of names are escaped.

    Sizes are values of symbolic dimensions; those of a batch are 1 unless given. Every node is in
    layers or among ``unsupported``, with the reason where arithmetic is left out: unknown shapes,
    other operators. Raises `InputError` if the file is no ONNX model, a size none of its symbolic
    dimensions, or no node becomes a layer.
    """
    with errors_at(path):
        model = read_model(path, sizes or {})
    runs: list[LayerRun] = []
    writers: dict[
        str, str
    ] = {}  # what a layer wrote, perhaps element by element changed, by tensor
    omitted: dict[tuple[str, OmissionKind, str], list[tuple[str, int | None]]] = {}

    def leave_out(operator: str, kind: OmissionKind, reason: str = "") -> None:
        work = None
        if kind is OmissionKind.UNSUPPORTED:
            work = multiplications(node, model.extents)
        omitted.setdefault((operator, kind, reason), []).append((name, work))

    narrow = False  # whether a window was larger than its input
    for index, node in enumerate(model.nodes):
        name = escaped(node.name or next(filter(None, node.output), f"{node.op_type}_{index}"))
        operator = escaped(".".join(filter(None, key(node))))
        if key(node) not in KERNELS:
            passing = operator in PASSING or keeps_shape(*key(node))
            if passing and model.only_reads(node) in writers:
                writers[node.output[0]] = writers[node.input[0]]
            leave_out(operator, *omission(*key(node)))
            continue
        try:
            uses = kernel_uses(node, model.extents)
            made = [
                _typed(use.layer(f"{name}.{part}" if part else name), model.formats, node.output[0])
                for part, use in uses.items()
            ]
        except InputError as error:
            reason = escaped(str(error).removeprefix(f"layer {name}: "))
            leave_out(operator, OmissionKind.UNSUPPORTED, reason)
            narrow = narrow or isinstance(error, WindowError)
            continue
        follows = bool(runs) and writers.get(model.only_reads(node)) == runs[-1].source
        for layer in made:
            whole = follows and len(made) == 1
            runs.append(LayerRun(layer.name, layer.nest, layer.count, whole))
        if len(made) == 1:
            writers[node.output[0]] = name
        if any(node.input[BIASED.get(operator, len(node.input)) :]):
            leave_out(BIAS, OmissionKind.ELEMENTWISE)
    omissions = tuple(_omission(*kind, nodes) for kind, nodes in omitted.items())
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in runs)
    if not layers:
        why = _summary(omissions)
        if narrow and model.parameters and not sizes:  # what is taken for a batch
            name = escaped(model.parameters[0][0])
            size = quote(f"{name}=8")
            why += f", with {name} 1 unless it has a size: -s {size}"
        raise refuse(
            path,
            f"no node can become a layer: {why}; allowed: "
            "models with convolutions or matrix products",
        )
    parameters = tuple((escaped(symbol), value) for symbol, value in model.parameters)
    network = Network(escaped(path.stem), layers, "ONNX model", omissions, parameters, tuple(runs))
    remarks = (*model.remarks, *_formats_of(network))
    return replace(network, remarks=tuple(f"{path} {remark}" for remark in remarks))


def _typed(layer: Layer, formats: Mapping[str, tuple[str, str]], output: str) -> Layer:
    """A layer whose factors have the formats that the file states of a node's."""
    names = [access.tensor for access in layer.nest.inputs]
    pairs = zip(names, formats.get(output, ()), strict=False)
    known = {tensor: form for tensor, form in pairs if form}
    return replace(layer, nest=with_formats(layer.nest, known or None, "format"))


def _formats_of(network: Network) -> Iterator[str]:
    """The line on the formats that the file states of layers."""
    if words := network_formats(network):
        typed = sum(bool(layer.nest.formats) for layer in network.layers)
        layers = counted(len(network.layers), "layer")
        yield (
            f"states formats, {words}, in {typed} of {layers}; network --format states others, or "
            "none"
        )


def _omission(
    operator: str, kind: OmissionKind, reason: str, nodes: Sequence[tuple[str, int | None]]
) -> Omission:
    """The omission of an operator's nodes, and of their work where that of each is known."""
    known = [work for _, work in nodes if work is not None]
    operations = sum(known) if len(known) == len(nodes) else None
    names = tuple(name for name, _ in nodes)
    return Omission(operator, len(nodes), kind, reason, names, operations)


def _summary(omissions: tuple[Omission, ...]) -> str:
    """The first reason why arithmetic is left out, or the operators there are."""
    for left_out in omissions:
        if left_out.kind is OmissionKind.UNSUPPORTED:
            return f"{left_out.operator} {left_out.sources[0]!r}: {left_out.reason}"
    return "it has " + ", ".join(left_out.operator for left_out in omissions[:10])
