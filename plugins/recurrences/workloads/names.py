"""Recurrences by name, and files of them, known before anything else of recurrences is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ithaca.files.documents import find_document
from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_names
from ithaca.workloads.kernel_files import MAX_BYTES
from ithaca.workloads.nest import LoopNest

_PACKAGE = "ithaca.plugins.recurrences.workloads.data"


def recurrence_names() -> tuple[str, ...]:
    """Names of the recurrences that come with Ithaca."""
    return packaged_names(_PACKAGE)


def is_recurrence(workload: object) -> bool:
    """Whether a workload is a system of recurrences: by name, by its file, or as such."""
    if isinstance(workload, LoopNest):
        from ithaca.plugins.recurrences.workloads.recurrence import Recurrence

        return isinstance(workload, Recurrence)
    if str(workload) in recurrence_names():
        return True
    path = Path(str(workload))
    try:
        return path.suffix in (".yaml", ".yml") and "values" in document_of(path)[0]
    except InputError:  # what reads other workloads says so better
        return False


def document_of(name_or_path: object) -> tuple[dict[str, Any], str]:
    """The document of recurrences by name or in a file, and where it is for error lines."""
    read, where = find_document("workload", str(name_or_path), _PACKAGE, MAX_BYTES)
    return (read if isinstance(read, dict) else {}), str(where)
