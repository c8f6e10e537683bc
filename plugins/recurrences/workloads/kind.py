"""Recurrences among the workloads that have names."""

from __future__ import annotations

from ithaca.plugins.recurrences.workloads.recurrence import (
    find_recurrence,
    is_recurrence,
    recurrence_names,
)
from ithaca.workloads.library import WorkloadKind

KIND = WorkloadKind("a system of recurrences", recurrence_names, is_recurrence, find_recurrence)
