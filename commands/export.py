"""``ithaca export``: a configuration for another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.live_line import LiveLine
from ithaca.commands.options import WRITTEN, ResultFile
from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.autosa.requirements import MIN_LANES, design_obstacles
from ithaca.exports.configuration import Configuration, Tool
from ithaca.exports.scalesim.folder import SCALESIM
from ithaca.exports.timeloop.folder import TIMELOOP
from ithaca.formulations.problem import SpaceOptions
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.loaded_result import LoadedResult
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import best_solution, solve_designs
from ithaca.solver.result_files import load_result
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import write_folder

#: A configuration, and how it was chosen.
_Choice = tuple[Configuration, str]


def export(
    *,
    file: ResultFile,
    to: Annotated[str, Option("--to", help="Target: autosa, timeloop or scalesim.")],
    output: Annotated[Path, Option("-o", "--output", help="Folder to write."), WRITTEN],
    nearest: Annotated[
        bool, Option("--nearest", help="Export the best configuration that the target can take instead.")
    ] = False,
) -> None:
    """``ithaca export``."""
    print(export_result(file, to, output, nearest=nearest))


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
        Whether to look for the best configuration that the target can take if this one is not.

    Raises
    ------
    InputError
        If the target cannot take the configuration (and ``nearest`` is not asked for).
    """
    if target not in TARGETS:
        raise InputError(f"--to is '{target}'; allowed: {', '.join(TARGETS)}")
    tool, result = TARGETS[target], load_result(file)
    if reasons := tool.nest_obstacles(result.nest):  # another configuration could not help
        raise InputError(f"{tool.cannot} this workload: {'; '.join(reasons)}")
    chosen, note = _chosen(tool, result, file, nearest)
    write_folder(folder, tool.export(chosen))
    return f"wrote {folder}: design {chosen.design.name}, {note}"


def _configuration(result: LoadedResult, array: SystolicArray, tiling: Tiling) -> Configuration:
    return Configuration(result.nest, array, result.data, tiling, result.technology)


def _chosen(tool: Tool, result: LoadedResult, file: Path, nearest: bool) -> _Choice:
    best = result.best
    if best is not None and best.tiling is not None:
        chosen = _configuration(result, best.array, best.tiling)
        reasons = tool.obstacles(chosen)
        if not reasons:
            return chosen, "the result's best configuration"
        if not nearest:
            raise InputError(f"{tool.cannot} the best configuration of {file}: {'; '.join(reasons)} (see --nearest)")
    elif not nearest:
        raise InputError(f"{file} holds no configuration to export (see --nearest)")
    return _buildable(result) if tool is AUTOSA else _expressible(tool, result)


def _buildable(result: LoadedResult) -> _Choice:
    """The proven-best configuration that AutoSA builds, over the dataflows of the result."""
    permutation = result.nest.output.array
    asked = [s.array.dataflow for s in result.designs]
    arrays = [derive(result.nest, d, permutation, result.edition) for d in dataflows(result.nest) if d in asked]
    never = {array.name: found for array in arrays if (found := design_obstacles(result.nest, array))}
    arrays = [array for array in arrays if array.name not in never]
    if never and not arrays:
        raise _none_of(AUTOSA, never)
    space = SpaceOptions(max(MIN_LANES, result.space.min_lanes), result.space.divisors_only, dividing_packs=True)
    problems = [replace(result.problem(array), space=space) for array in arrays]
    with Interrupt() as interrupt, LiveLine("deriving tables", [a.name for a in arrays]) as line:
        solutions = solve_designs(problems, SolveOptions(stop=interrupt), report=line.report, finished=line.finished)
    best = best_solution(solutions)
    if best is None or best.tiling is None:
        raise InputError("no configuration within the result's limits can be built by AutoSA")
    if any(s.certificate.status not in (Status.OPTIMAL, Status.INFEASIBLE) for s in solutions):
        raise InputError("interrupted before the best buildable configuration was proven; nothing written")
    chosen = _configuration(result, best.problem.array, best.tiling)
    if reasons := AUTOSA.obstacles(chosen):
        raise InputError(f"{AUTOSA.cannot} the configuration found: {'; '.join(reasons)}")
    return chosen, f"the proven-best buildable configuration ({float(best.value or 0):,.10g})"


def _expressible(tool: Tool, result: LoadedResult) -> _Choice:
    """The best of the result's configurations that a tool can express."""
    never, found = {}, []
    for solution in result.solutions:
        if solution.tiling is None or solution.value is None:
            continue
        chosen = _configuration(result, solution.array, solution.tiling)
        if reasons := tool.obstacles(chosen):
            never[solution.array.name] = reasons
        else:
            found.append((solution.value, chosen))
    if not found:
        raise _none_of(tool, never)
    value, chosen = min(found, key=lambda choice: choice[0])
    return chosen, f"the best of the result's that can be expressed ({float(value):,.10g})"


def _none_of(tool: Tool, never: Mapping[str, tuple[str, ...]]) -> InputError:
    each = "; ".join(f"{name}: {'; '.join(reasons)}" for name, reasons in never.items())
    return InputError(f"{tool.cannot} any design of this result: {each or 'it holds no configuration'}")


TARGETS: Mapping[str, Tool] = {"autosa": AUTOSA, "timeloop": TIMELOOP, "scalesim": SCALESIM}
