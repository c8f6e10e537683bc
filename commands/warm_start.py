"""``ithaca solve --start``: begin from the configurations of an earlier result."""

from __future__ import annotations

from pathlib import Path

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.result_files import load_result
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


def known_tilings(path: Path, nest: LoopNest) -> dict[tuple[str, ...], Tiling]:
    """Tilings of a result by dataflow and permutation, ``(*dataflow, permutation)``.

    Sizes, limits and data type may differ: a tiling that does not fit is not taken.

    Raises
    ------
    InputError
        If the result is of another workload, or holds no configuration.
    """
    result = load_result(path)
    if result.nest.name != nest.name:
        raise InputError(f"--start {path} is a result of workload '{result.nest.name}'; allowed: one of '{nest.name}'")
    found = {(*s.array.dataflow, s.array.permutation): s.tiling for s in reversed(result.solutions) if s.tiling is not None}
    if not found:
        raise InputError(f"--start {path} holds no configuration")
    return found
