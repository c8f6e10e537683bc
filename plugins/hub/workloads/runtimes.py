"""Files of tools that run published models: they name a model, and do not state its layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ithaca.files.messages import refuse
from ithaca.workloads.networks.find import PlainSource
from ithaca.workloads.networks.network import Network


def _kind(document: Any) -> str | None:
    """The kind of such a document; None of others."""
    if not isinstance(document, dict) or "layers" in document:
        return None
    model = document.get("model")
    if isinstance(model, dict) and "decoder" in model:
        return "a configuration of ONNX Runtime's generation"
    return "a workflow of Olive" if {"input_model", "passes"} <= document.keys() else None


def _refused(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    """No network: an `InputError` says what the document is."""
    raise refuse(
        where,
        f"is {_kind(document)}, which names a model and does not state it; allowed: the model "
        "itself, as ONNX (.onnx), or its config.json",
    )


#: Such files, none of which is a network.
RUNTIMES = PlainSource(lambda document: _kind(document) is not None, _refused, refuses=True)
