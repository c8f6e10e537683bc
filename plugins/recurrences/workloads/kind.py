"""Recurrences among the workloads that have names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ithaca.plugins.recurrences.workloads.names import (
    document_of,
    is_recurrence,
    recurrence_names,
)
from ithaca.workloads.library import WorkloadKind

if TYPE_CHECKING:
    from ithaca.plugins.recurrences.workloads.recurrence import Recurrence


def find_recurrence(source: object, sizes: Mapping[str, int]) -> Recurrence:
    """The recurrences of a name or a file, or as they are given, with other parameters."""
    from ithaca.plugins.recurrences.workloads.recurrence import Recurrence, read_recurrence

    nest = source if isinstance(source, Recurrence) else read_recurrence(*document_of(source))
    return nest.with_sizes(sizes) if sizes else nest


KIND = WorkloadKind("a system of recurrences", recurrence_names, is_recurrence, find_recurrence)
