"""Read a result file of either kind: of a workload, or of a network or one of its layers."""

from __future__ import annotations

from pathlib import Path

from ithaca.formulations.json_numbers import parse_json, read_text
from ithaca.results.files import load_result
from ithaca.results.result import Result
from ithaca.studies.network.documents import MAX_BYTES, load_network_result
from ithaca.studies.network.parts import find_layer, layer_result
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import PATH_ENDINGS, workload_names


def is_result(source: str) -> bool:
    """Whether a source is a result file, not the name of a workload."""
    if source in workload_names() or source.lower().endswith(PATH_ENDINGS):
        return False
    return source.lower().endswith(".json") or Path(source).exists()


def load_answer(path: Path, layer: str | None = None) -> Result | NetworkResult:
    """Read what ``ithaca solve`` or ``ithaca network`` wrote; of a network, the whole or the layer that is named.

    Raises
    ------
    InputError
        If it is no such file, is not what the model computes, or has no such layer.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    if not isinstance(document, dict) or document.get("study") != "network":
        if layer is not None:
            raise InputError(f"--layer is '{layer}', yet {path} is no result of a network; allowed: without --layer")
        return load_result(path)
    network = load_network_result(path)
    return network if layer is None else layer_result(network, find_layer(network, layer))
