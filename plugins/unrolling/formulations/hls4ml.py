"""Configurations of hls4ml: the reuse factor of each layer, which is how many cycles its
multipliers take for a position of the output.

With the strategy ``Resource`` a factor divides the inputs of an output, or is all of them times a
divisor of the outputs (`get_valid_reuse_factors` of hls4ml); of others it takes the closest one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from ithaca.files.beside import inside
from ithaca.files.messages import among, quoted, refuse
from ithaca.plugins.unrolling.formulations.folding import Folding, positive
from ithaca.plugins.unrolling.formulations.layers import Freedom, WeightLayer
from ithaca.plugins.unrolling.formulations.pipeline import Unrolled

#: What a layer may do by its strategy.
STRATEGIES = {
    "latency": Freedom.ANY,
    "resource": Freedom.OUTPUTS_FIRST,
    "unrolled": Freedom.OUTPUTS_FIRST,
}

#: Fields that are not modelled, and the value that changes nothing. With the strategy ``Resource``
#: hls4ml makes a reuse factor of its own from ``TargetCycles``.
UNMODELLED = {"ParallelizationFactor": 1, "TargetCycles": None}

#: Fields that name a model beside a configuration.
MODELS = ("OnnxModel", "KerasJson", "KerasH5", "KerasModel", "PytorchModel", "TensorFlowModel")

#: Those whose files are read as networks.
READ = ("OnnxModel", "KerasJson", "KerasModel")


def is_hls4ml(document: Mapping[str, Any]) -> bool:
    """Whether a document is a configuration of hls4ml."""
    stated = _stated(document)
    model, layers = stated.get("Model"), stated.get("LayerName")
    if model is None and isinstance(layers, dict):
        return any(isinstance(own, dict) and "ReuseFactor" in own for own in layers.values())
    return isinstance(model, dict) and (
        "HLSConfig" in document or bool({"ReuseFactor", "Precision", "Strategy"} & model.keys())
    )


def model_of(document: Mapping[str, Any], path: Path) -> Path | None:
    """The model that a configuration names; None of other documents.

    Raises `InputError` if it names one of another kind, or outside of its folder.
    """
    named = next((name for name in MODELS if isinstance(document.get(name), str)), None)
    if named is None:
        return None
    if named not in READ:
        raise refuse(
            path,
            f"{named} is {quoted(document[named])}; allowed: {', '.join(READ)}, or the model as "
            "ONNX, as NETWORK, with --folding and this file",
        )
    model = inside(path, document[named])
    if model is None:
        raise refuse(
            path,
            f"{named} is {quoted(document[named])}; allowed: one in the folder of this file, or "
            "the model as NETWORK, with --folding and this file",
        )
    return model


def valid_factors(layer: WeightLayer) -> list[int]:
    """The reuse factors of a layer with the strategy ``Resource``, ascending."""
    within = [n for n in range(1, layer.inputs + 1) if layer.inputs % n == 0]
    more = [n * layer.inputs for n in range(2, layer.outputs + 1) if layer.outputs % n == 0]
    return within + more


def hls4ml_folding(
    document: Mapping[str, Any], path: Path, layers: Sequence[WeightLayer]
) -> Folding:
    """The folding of a document.

    Parameters
    ----------
    document : mapping
        The file's document.
    path : Path
        The file.
    layers : sequence of WeightLayer
        The layers of the network.
    """
    stated = _stated(document)
    by_name = _entries(stated, "LayerName", path)
    for kind, own in _entries(stated, "LayerType", path).items():
        for name, neutral in {"ReuseFactor": None, "Strategy": None, **UNMODELLED}.items():
            if own.get(name) not in (None, neutral):
                raise refuse(
                    path,
                    f"LayerType.{kind} states {name}; allowed: ReuseFactor and Strategy in Model, "
                    "and of layers by LayerName",
                )
    names = [_entry(layer.name, by_name) for layer in layers]
    if by_name and not any(names):
        first = layers[0].name
        raise refuse(
            path,
            f"LayerName names none of the layers, such as {quoted(first)}{among(first, by_name)}",
        )
    unrolled, freedoms, remarks = [], [], []
    for layer, name in zip(layers, names, strict=True):
        own = {**(stated.get("Model") or {"ReuseFactor": None}), **by_name.get(name, {})}
        each, freedom, remark = _layer(own, path, layer)
        unrolled.append(each)
        freedoms.append(freedom)
        remarks += [f"{path}: {remark}"] if remark else []
    if others := [quoted(name) for name in by_name if name not in names]:
        remarks.append(
            f"{path}: without weights here, so neither counted nor chosen: {', '.join(others)}"
        )

    def text(choices: Sequence[Unrolled]) -> str:
        import yaml

        whole = deepcopy(dict(document))
        inner = whole.get("HLSConfig", whole)
        entries = (
            inner.setdefault("LayerName", {}) or inner.update(LayerName={}) or inner["LayerName"]
        )
        for layer, name, choice in zip(layers, names, choices, strict=True):
            own = entries.get(name or layer.name)
            entries[name or layer.name] = {**(own or {}), "ReuseFactor": choice.reuse}
        return yaml.safe_dump(whole, sort_keys=False, width=10_000)

    return Folding("hls4ml", tuple(unrolled), tuple(freedoms), text, tuple(remarks))


def _stated(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration itself: alone, or beside the model that it is for."""
    inner = document.get("HLSConfig", document)
    return inner if isinstance(inner, dict) else {}


def _entries(stated: Mapping[str, Any], field: str, path: Path) -> dict[str, Mapping[str, Any]]:
    """The entries of a field by name; one that is left empty states nothing."""
    entries = stated.get(field)
    if entries is None:
        return {}
    if not isinstance(entries, dict):
        raise refuse(path, f"{field} is {quoted(entries)}; allowed: a mapping of names to entries")
    for name, own in entries.items():
        if not isinstance(own, dict | None):
            raise refuse(
                path,
                f"{field}.{name} is {quoted(own)}; allowed: a mapping such as {{ReuseFactor: 2}}",
            )
    return {name: own or {} for name, own in entries.items()}


def _entry(layer: str, by_name: Mapping[str, Any]) -> str:
    """The name in a configuration that stands for a layer: its own, or a part of its path; empty if
    none does."""
    if layer in by_name:
        return layer
    parts = {*re.split(r"[/.:]", layer)}
    return max((str(name) for name in by_name if name in parts), key=len, default="")


def _layer(own: Mapping[str, Any], path: Path, layer: WeightLayer) -> tuple[Unrolled, Freedom, str]:
    """The unrolling of a layer, those allowed, and a remark if the file says otherwise."""
    where = f"{path}: layer {layer.name}"
    if layer.channelwise:
        raise refuse(
            where,
            "has a filter for each channel; allowed: dense layers and convolutions "
            "(--layers leaves others out)",
        )
    for name, allowed in UNMODELLED.items():
        if own.get(name) not in (None, allowed):
            raise refuse(
                where,
                f"{name} is {quoted(own[name])}; allowed: {quoted(allowed)}, as it is not modelled",
            )
    strategy = str(own.get("Strategy", "Latency"))
    freedom = STRATEGIES.get(strategy.lower())
    if freedom is None:
        raise refuse(where, f"Strategy is {quoted(strategy)}; allowed: Latency, Resource, Unrolled")
    stated = own.get("ReuseFactor", 1)
    if stated is None:
        raise refuse(where, "has no ReuseFactor; allowed: one of its own, or in Model for all")
    factor = positive(stated, where, "ReuseFactor")
    if freedom is Freedom.ANY:
        taken = min(factor, layer.weights)
    else:
        taken = _closest(valid_factors(layer), factor)
    remark = (
        ""
        if taken == factor
        else f"layer {layer.name}: ReuseFactor {factor} is taken as {taken}, the closest that its "
        f"{layer.inputs} × {layer.outputs} weights allow"
    )
    if freedom is Freedom.ANY:
        return Unrolled(1, 1, taken), freedom, remark
    pe = layer.outputs // max(1, taken // layer.inputs) if taken > layer.inputs else layer.outputs
    simd = 1 if taken > layer.inputs else layer.inputs // taken
    return Unrolled(pe, simd, taken), freedom, remark


def _closest(valid: Sequence[int], factor: int) -> int:
    """The factor that is closest; of two the smaller one, as hls4ml takes it."""
    place = bisect_left(valid, factor)
    near = valid[max(place - 1, 0) : place + 1]
    return min(near, key=lambda each: (abs(each - factor), each))
