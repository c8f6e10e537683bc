"""Read a result file of either kind: of a workload, or of a network or one of its layers."""

from __future__ import annotations

from pathlib import Path

from ithaca.formulations.json_numbers import parse_json, read_text
from ithaca.results.files import load_result
from ithaca.results.result import Result
from ithaca.studies.network.documents import MAX_BYTES, load_network_result
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.library import PATH_ENDINGS, workload_names


def is_result(source: str) -> bool:
    """Whether a source is a result file, not the name of a workload."""
    if source in workload_names() or source.lower().endswith(PATH_ENDINGS):
        return False
    return source.lower().endswith(".json") or Path(source).exists()


def load_answer(path: Path) -> Result | NetworkResult:
    """Read what ``ithaca solve`` or ``ithaca network`` wrote.

    Raises
    ------
    InputError
        If it is no such file, or is not what the model computes.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    of_network = isinstance(document, dict) and document.get("study") == "network"
    return load_network_result(path) if of_network else load_result(path)
