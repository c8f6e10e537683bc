"""Recurrences by name, and files of them, known before all else of recurrences is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.files.documents import find_document
from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_names
from ithaca.workloads.library import WorkloadKind
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    from ithaca.plugins.recurrences.workloads.recurrence import Recurrence

#: The ending of C files.
C_ENDING = ".c"

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
        if path.suffix.lower() == C_ENDING:
            from ithaca.plugins.recurrences.workloads.from_c import is_triangular

            return is_triangular(path)
        return path.suffix in (".yaml", ".yml") and "values" in _document(path)[0]
    except InputError:  # what reads other workloads says so better
        return False


def _document(name_or_path: object) -> tuple[dict[str, Any], str]:
    from ithaca.workloads.kernel_files import MAX_BYTES

    read, where = find_document("workload", str(name_or_path), _PACKAGE, MAX_BYTES)
    return (read if isinstance(read, dict) else {}), str(where)


def find_recurrence(source: object, sizes: Mapping[str, int]) -> Recurrence:
    """The recurrences of a name or a file, or as they are given, with other parameters."""
    from ithaca.plugins.recurrences.workloads.recurrence import Recurrence, read_recurrence

    if isinstance(source, str | Path) and str(source).lower().endswith(C_ENDING):
        from ithaca.plugins.recurrences.workloads.from_c import c_recurrence

        source = c_recurrence(Path(source))
    nest = source if isinstance(source, Recurrence) else read_recurrence(*_document(source))
    return nest.with_sizes(sizes) if sizes else nest


KIND = WorkloadKind("a system of recurrences", recurrence_names, is_recurrence, find_recurrence)
