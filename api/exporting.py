"""`ithaca.export`: a configuration for another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.answers import Result, one_result
from ithaca.api.keywords import public
from ithaca.api.live_line import LiveLine
from ithaca.api.options import WRITTEN, ResultFile
from ithaca.api.parsing import parse_choice
from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.autosa.requirements import design_obstacles
from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.exports.scalesim.folder import SCALESIM
from ithaca.exports.timeloop.folder import TIMELOOP
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.target import Target
from ithaca.results.solution import Solution, best_solution
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import write_folder

#: A configuration, and how it was chosen.
_Choice = tuple[ArrayConfiguration, str]


@public
def export(
    result: ResultFile,
    to: Annotated[str, Option("--to", help="Target: autosa, timeloop or scalesim.")],
    output: Annotated[str | Path, Option("-o", "--output", help="Folder to write."), WRITTEN],
    *,
    nearest: Annotated[
        bool, Option("--nearest", help="Export the best configuration that the target can take instead.")
    ] = False,
) -> str:
    """Export the best configuration of a result for another tool; returns one line on what was written.

    Raises `InputError` if the target cannot take the configuration (and ``nearest`` is not asked for).
    """
    tool, found = TARGETS[parse_choice("--to", to, TARGETS)], one_result(result)
    if reasons := tool.nest_obstacles(systolic(found.problem).nest):  # another configuration could not help
        raise InputError(f"{tool.cannot} this workload: {'; '.join(reasons)}")
    chosen, note = _chosen(tool, found, nearest=nearest)
    write_folder(output, tool.export(chosen))
    return f"wrote {output}: design {chosen.design.name}, {note}"


def _solve_again(tool: Tool, result: Result) -> str:
    """How to solve again such that the tool takes the answer, where that can be asked for."""
    if tool is not AUTOSA:
        return ""
    design = systolic(result.problem)
    sizes = ",".join(f"{name}={n}" for name, n in design.nest.settings.items())
    asked = f"{design.nest.name} -s {sizes} --platform {result.platform_name} --dtype {design.data.name}"
    return f"solve again: ithaca solve {asked} --for {Target.AUTOSA.value}; or "


def _configuration(solution: Solution) -> ArrayConfiguration:
    design = systolic(solution.problem)
    bandwidth = next((limit.bound for limit in solution.problem.limits if limit.metric == "bandwidth"), None)
    return ArrayConfiguration(design.nest, design.array, design.data, solution.tiling, design.technology, bandwidth)


def _chosen(tool: Tool, result: Result, *, nearest: bool) -> _Choice:
    if result.best is not None:
        chosen = _configuration(result.best)
        reasons = tool.obstacles(chosen)
        if not reasons:
            return chosen, "the result's best configuration"
        if not nearest:
            hint = _solve_again(tool, result)
            raise InputError(
                f"{tool.cannot} the best configuration of {result.source}: {'; '.join(reasons)} ({hint}see --nearest)"
            )
    elif not nearest:
        raise InputError(f"{result.source} holds no configuration to export (see --nearest)")
    return _buildable(result) if tool is AUTOSA else _expressible(tool, result)


def _buildable(result: Result) -> _Choice:
    """The proven-best configuration that AutoSA builds, over the dataflows of the result."""
    known = systolic(result.problem)
    nest, edition, options = known.nest, known.array.edition, known.options
    asked = [systolic(s.problem).array.dataflow for s in result.designs]
    arrays = [derive(nest, d, nest.output.tensor, edition) for d in dataflows(nest) if d in asked]
    never = {array.name: found for array in arrays if (found := design_obstacles(nest, array))}
    arrays = [array for array in arrays if array.name not in never]
    if never and not arrays:
        raise _none_of(AUTOSA, never)
    space = replace(options, target=Target.AUTOSA)
    problems = [result.problem.with_design(array=array, options=space) for array in arrays]
    with Interrupt() as interrupt, LiveLine("deriving tables", [a.name for a in arrays]) as line:
        solutions = solve_designs(problems, SolveOptions(stop=interrupt), report=line.report, finished=line.finished)
    best = best_solution(solutions)
    if best is None:
        raise InputError("no configuration within the result's limits can be built by AutoSA")
    if not all(s.certificate.status.proven for s in solutions):
        raise InputError("interrupted before the best buildable configuration was proven; nothing written")
    chosen = _configuration(best)
    if reasons := AUTOSA.obstacles(chosen):
        raise InputError(f"{AUTOSA.cannot} the configuration found: {'; '.join(reasons)}")
    return chosen, f"the proven-best buildable configuration ({float(best.value or 0):,.10g})"


def _expressible(tool: Tool, result: Result) -> _Choice:
    """The best of the result's configurations that a tool can express."""
    never, found = {}, []
    for solution in result.solutions:
        if solution.configuration is None:
            continue
        if reasons := tool.obstacles(_configuration(solution)):
            never[solution.design] = reasons
        else:
            found.append(solution)
    best = best_solution(found)
    if best is None:
        raise _none_of(tool, never)
    return _configuration(best), f"the best of the result's that can be expressed ({float(best.value or 0):,.10g})"


def _none_of(tool: Tool, never: Mapping[str, tuple[str, ...]]) -> InputError:
    each = "; ".join(f"{name}: {'; '.join(reasons)}" for name, reasons in never.items())
    return InputError(f"{tool.cannot} any design of this result: {each or 'it holds no configuration'}")


TARGETS: Mapping[str, Tool] = {"autosa": AUTOSA, "timeloop": TIMELOOP, "scalesim": SCALESIM}
