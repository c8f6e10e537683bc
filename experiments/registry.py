"""The experiments by name. Each is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from ithaca.experiments.experiment import Experiment
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted

#: In the order of the paper. Module ``table_3`` holds the experiment ``table-3`` as ``EXPERIMENT``.
NAMES = (
    "figure-1",
    "table-3",
    "table-4",
    "figure-5",
    "table-6",
    "figure-7",
    "figure-8",
    "figure-9",
    "figure-10",
    "figure-15",
)

#: All of them, one after the other.
ALL = "all"


def find_experiment(name: str) -> Experiment:
    """An experiment by name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in NAMES:
        raise InputError(f"experiment is {quoted(name)}; allowed: {', '.join(NAMES)}, {ALL}")
    found: Experiment = import_module(f"ithaca.experiments.{name.replace('-', '_')}").EXPERIMENT
    return found
