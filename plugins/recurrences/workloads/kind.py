"""Recurrences among the workloads that have names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ithaca.plugins.recurrences.workloads.names import is_recurrence, recurrence_names
from ithaca.workloads.library import WorkloadKind
from ithaca.workloads.nest import LoopNest


def _find(source: Any, sizes: Mapping[str, int]) -> LoopNest:
    from ithaca.plugins.recurrences.workloads.recurrence import find_recurrence

    return find_recurrence(source, sizes)


KIND = WorkloadKind("a system of recurrences", recurrence_names, is_recurrence, _find)
