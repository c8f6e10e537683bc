"""Configurations of FINN and hls4ml where a network is expected: refused, with what to name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ithaca.files.messages import refuse
from ithaca.plugins.unrolling.formulations.finn import is_finn
from ithaca.plugins.unrolling.formulations.hls4ml import MODELS, is_hls4ml
from ithaca.workloads.networks.find import PlainSource
from ithaca.workloads.networks.network import Network


def _is_one(document: Any) -> bool:
    """Whether a document says how layers are built, and not what they are."""
    if not isinstance(document, dict) or "layers" in document:
        return False
    parts = [each for each in document.values() if isinstance(each, dict)]
    stated = bool(document.keys() & {"HLSConfig", *MODELS})
    reused = any("ReuseFactor" in each for each in parts)
    return is_finn(document) or is_hls4ml(document) or _places(parts) or stated or reused


def _places(parts: Iterable[Mapping[str, Any]]) -> bool:
    """Whether FINN is told by what and where to build layers, not how far to fold them."""
    return any({"preferred_impl_style", "partition_id"} & each.keys() for each in parts)


def _refuse(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    parts = [each for each in document.values() if isinstance(each, dict)]
    if not is_finn(document) and _places(parts):
        what = "says by what and where FINN builds layers, not what they are"
        raise refuse(where, f"{what}; allowed: the model itself, as ONNX (.onnx)")
    what = "folding configuration of FINN" if is_finn(document) else "configuration of hls4ml"
    raise refuse(
        where,
        f"is a {what}, which says how layers are built, not what they are; allowed: the model "
        "itself, as ONNX (.onnx), and this file after it: unroll MODEL --folding FILE",
    )


CONFIGURATIONS = PlainSource(_is_one, _refuse)
