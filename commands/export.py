"""``ithaca export``: a configuration for another tool."""

from __future__ import annotations

from pathlib import Path

from ithaca.commands.interrupt import Interrupt
from ithaca.commands.progress_line import ProgressLine
from ithaca.exports.autosa import export_autosa, obstacles
from ithaca.exports.files import write_folder
from ithaca.formulations.dataflows import dataflows
from ithaca.formulations.derivation import derive
from ithaca.formulations.problem import Problem, SpaceOptions
from ithaca.formulations.systolic_array import SystolicArray
from ithaca.formulations.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import best_solution, solve_designs
from ithaca.solver.result_files import LoadedResult, load_result
from ithaca.workloads.errors import InputError

TARGETS = ("autosa",)

#: AutoSA needs at least this many PEs along each space dimension.
AUTOSA_MIN_LANES = 2


def export_result(file: Path, target: str, folder: Path, *, nearest: bool) -> str:
    """Export the best configuration of a result; returns one line on what was written.

    Parameters
    ----------
    file : Path
        A result as written by ``solve -o``.
    target : str
        One of `TARGETS`.
    folder : Path
        Where to write.
    nearest : bool
        Whether to solve for the best configuration that the target can build if this one is not.

    Raises
    ------
    InputError
        If the target cannot build the configuration (and ``nearest`` is not asked for).
    """
    if target not in TARGETS:
        raise InputError(f"--to is '{target}'; allowed: {', '.join(TARGETS)}")
    result = load_result(file)
    array, tiling, note = _chosen(result, file, nearest)
    write_folder(folder, export_autosa(result.nest, array, result.data, tiling))
    return f"wrote {folder}: design {array.name}, {note}"


def _chosen(result: LoadedResult, file: Path, nearest: bool) -> tuple[SystolicArray, Tiling, str]:
    best = result.best
    if best is not None and best.tiling is not None:
        reasons = obstacles(result.nest, best.array, result.data, best.tiling)
        if not reasons:
            return best.array, best.tiling, "the result's best configuration"
        if not nearest:
            raise InputError(f"AutoSA cannot build the best configuration of {file}: {'; '.join(reasons)} (see --nearest)")
    elif not nearest:
        raise InputError(f"{file} holds no configuration to export (see --nearest)")
    return _nearest(result)


def _nearest(result: LoadedResult) -> tuple[SystolicArray, Tiling, str]:
    """The proven-best configuration that AutoSA builds, over the dataflows of the result."""
    permutation = result.nest.output.array
    asked = [s.array.dataflow for s in result.designs]
    arrays = [derive(result.nest, d, permutation, result.edition) for d in dataflows(result.nest) if d in asked]
    space = SpaceOptions(max(AUTOSA_MIN_LANES, result.space.min_lanes), result.space.divisors_only, dividing_packs=True)
    problems = [Problem(result.nest, a, result.data, result.limits, result.objective, space, result.technology) for a in arrays]
    with Interrupt() as interrupt, ProgressLine([a.name for a in arrays]) as line:
        solutions = solve_designs(problems, SolveOptions(stop=interrupt), report=line.report, finished=line.finished)
    best = best_solution(solutions)
    if best is None or best.tiling is None:
        raise InputError("no configuration within the result's limits can be built by AutoSA")
    if any(s.certificate.status not in (Status.OPTIMAL, Status.INFEASIBLE) for s in solutions):
        raise InputError("interrupted before the best buildable configuration was proven; nothing written")
    reasons = obstacles(result.nest, best.problem.array, result.data, best.tiling)
    if reasons:
        raise InputError(f"AutoSA cannot build this workload: {'; '.join(reasons)}")
    return best.problem.array, best.tiling, f"the proven-best buildable configuration ({float(best.value or 0):,.10g})"
