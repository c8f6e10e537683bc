"""Foldings of FINN (``folding_config.json``): PE and SIMD of each node with weights.

Nodes are those of the network's layers in order, or of their names. Sliding windows, thresholds,
pooling and FIFOs have widths of their own, which are neither counted nor chosen.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ithaca.files.messages import quoted, refuse
from ithaca.plugins.unrolling.formulations.folding import Folding, freedoms_of, positive
from ithaca.plugins.unrolling.formulations.layers import WeightLayer
from ithaca.plugins.unrolling.formulations.pipeline import Unrolled

#: Nodes that multiply a matrix, and those with a filter for each channel, in all versions.
PRODUCTS = r"MVAU|MatrixVectorActivation|StreamingFCLayer_Batch"
FILTERS = r"VVAU|VectorVectorActivation|Vector_Vector_Activate_Batch"

#: The node before a filter that reads its windows: it is as wide.
WINDOWS = "ConvolutionInputGenerator"

DEFAULTS = "Defaults"


def is_finn(document: Mapping[str, Any]) -> bool:
    """Whether a document is a folding of FINN."""
    nodes = [each for each in document.values() if isinstance(each, dict)]
    return "layers" not in document and any(each.keys() & {"PE", "SIMD"} for each in nodes)


def finn_folding(document: Mapping[str, Any], path: Path, layers: Sequence[WeightLayer]) -> Folding:
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
    nodes = _nodes(document, path, layers)
    unrolled = []
    for node, layer in zip(nodes, layers, strict=True):
        where = f"{path}: {node}"
        own = {name: positive(_value(document, node, name), where, name) for name in ("PE", "SIMD")}
        for name, of, words in (
            ("PE", layer.outputs, "outputs"),
            ("SIMD", layer.inputs, "inputs of an output"),
        ):
            if of % own[name]:
                raise refuse(
                    where,
                    f"{name} is {own[name]}; allowed: a divisor of {of}, the {words} of "
                    f"layer {layer.name}",
                )
        if layer.channelwise and own["SIMD"] > 1 and own["PE"] < layer.outputs:
            raise refuse(
                where,
                f"SIMD is {own['SIMD']} with PE {own['PE']}; allowed: 1, as not all "
                f"{layer.outputs} channels are side by side",
            )
        reuse = layer.weights // (own["PE"] * own["SIMD"])
        unrolled.append(Unrolled(own["PE"], own["SIMD"], reuse))
    others = Counter(_kind(name) for name in document if name not in nodes and name != DEFAULTS)
    remarks = []
    if others:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(others.items()))
        remarks.append(f"{path}: neither counted nor chosen: {listed}")

    def text(choices: Sequence[Unrolled]) -> str:
        own = {
            name: dict(node) if isinstance(node, dict) else node for name, node in document.items()
        }
        known = dict(zip(nodes, zip(unrolled, choices, strict=True), strict=True))
        window = None
        for name, node in own.items():
            if name.startswith(WINDOWS):
                window = node
            elif name in known:
                before, choice = known[name]
                if _is(FILTERS, name) and window and window.get("SIMD") == before.pe:
                    window["SIMD"] = choice.pe
                node |= {"PE": choice.pe, "SIMD": choice.simd}
                window = None
        return json.dumps(own, indent=2) + "\n"

    return Folding("finn", tuple(unrolled), freedoms_of("finn", layers), text, tuple(remarks))


def _kind(node: str) -> str:
    """The operator of a node, without its number."""
    return re.sub(r"_\d+$", "", node)


def _is(kinds: str, node: str) -> bool:
    return re.fullmatch(rf"({kinds})(_hls|_rtl)?", _kind(node)) is not None


def _nodes(document: Mapping[str, Any], path: Path, layers: Sequence[WeightLayer]) -> list[str]:
    """The node of each layer: of its name, or the next one of its kind."""
    named = [layer.name for layer in layers if isinstance(document.get(layer.name), dict)]
    if len(named) == len(layers):
        return named
    nodes = [
        name
        for name, node in document.items()
        if isinstance(node, dict) and (_is(PRODUCTS, name) or _is(FILTERS, name))
    ]
    if len(nodes) != len(layers):
        others = [
            quoted(name)
            for name, node in document.items()
            if isinstance(node, dict) and {"PE", "SIMD"} <= node.keys() and name not in nodes
        ]
        unknown = f", and {', '.join(others)} of no known kind" if others else ""
        raise refuse(
            path,
            f"has {len(nodes)} nodes with weights (MVAU, VVAU){unknown}; allowed: {len(layers)}, "
            f"one for each layer: {', '.join(layer.name for layer in layers)}",
        )
    for node, layer in zip(nodes, layers, strict=True):
        if _is(FILTERS, node) is not layer.channelwise:
            kind = "a filter for each channel (VVAU)" if layer.channelwise else "a matrix (MVAU)"
            raise refuse(
                path, f"{quoted(node)} stands where layer {layer.name} does; allowed: {kind}"
            )
    return nodes


def _value(document: Mapping[str, Any], node: str, name: str) -> Any:
    """PE or SIMD of a node, or the default that the file states for its operator; else 1, as FINN
    has it."""
    own = document[node]
    if name in own:
        return own[name]
    stated = document.get(DEFAULTS)
    default = stated.get(name) if isinstance(stated, dict) else None
    if isinstance(default, list) and len(default) == 2 and isinstance(default[1], list):
        return default[0] if {"all", _kind(node)} & {*map(str, default[1])} else 1
    return 1
