"""`ithaca.export`: a configuration for another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.answers import NetworkResult, Result
from ithaca.api.codesign_result import CodesignResult
from ithaca.api.keywords import public
from ithaca.api.live_line import LiveLine
from ithaca.api.loading import opened
from ithaca.api.options import WRITTEN, LayerName, ResultFile
from ithaca.api.parsing import parse_choice
from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.exports.layers import HEADINGS, TABLE, ExportedLayer, export_layers, fresh_folder
from ithaca.exports.scalesim.folder import SCALESIM
from ithaca.exports.timeloop import hierarchy
from ithaca.exports.timeloop.folder import TIMELOOP
from ithaca.exports.timeloop.hierarchy import architecture_text
from ithaca.formulations.shown_numbers import counted
from ithaca.formulations.spatial.family import mapping_design
from ithaca.formulations.systolic.derivation import choose_designs
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.target import Target
from ithaca.results.solution import Solution, best_solution
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.problems import NetworkRequest
from ithaca.workloads.csv_text import csv_text
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
    layer: LayerName = None,
) -> str:
    """Export the best configuration of a result for another tool, or those of a network's layers, each to a folder in it.

    Returns one line on what was written. Raises `InputError` if the target cannot take a configuration (and ``nearest`` is
    not asked for).
    """
    tool, found = TARGETS[parse_choice("--to", to, TARGETS)], opened(result, layer)
    if isinstance(found, CodesignResult):
        return _export_accelerator(to, found, output, nearest=nearest)
    if isinstance(found, Result) and found.problem.design.family == "spatial":
        return _export_mapping(to, found, output, nearest=nearest)
    if isinstance(found, NetworkResult) and not isinstance(found.request, NetworkRequest):
        return _export_mapped_network(to, found, output, nearest=nearest)
    if isinstance(found, NetworkResult):
        return _export_network(tool, found, output, nearest=nearest)
    if never := tool.nest_obstacles(systolic(found.problem).nest):  # another configuration could not help
        raise InputError(f"{tool.cannot} this workload: {'; '.join(never)}")
    reasons = _reasons(tool, found)
    if reasons and not nearest:
        if found.best is None:
            raise InputError(f"{found.source} holds no configuration to export (see --nearest)")
        design = systolic(found.problem)
        sizes = ",".join(f"{name}={n}" for name, n in design.nest.settings.items())
        hint = _again(tool, f"solve {design.nest.name} -s {sizes}", found.platform_name, design.data.name)
        raise InputError(f"{tool.cannot} the best configuration of {found.source}: {'; '.join(reasons)} ({hint}see --nearest)")
    chosen, note = _choice(tool, found, nearest=bool(reasons))
    write_folder(output, tool.export(chosen))
    return f"wrote {output}: design {chosen.design.name}, {note}"


def _export_mapping(to: str, found: Result, output: str | Path, *, nearest: bool) -> str:
    """Export a mapping onto a memory hierarchy."""
    write_folder(output, _mapping_files(to, found, nearest=nearest))
    design = mapping_design(found.problem.design)
    return f"wrote {output}: {design.nest.name} on {design.architecture.name}, for timeloop-model"


def _mapping_files(to: str, found: Result, *, nearest: bool) -> dict[str, str]:
    """A mapping as Timeloop's files. Raises `InputError` if the tool cannot take it."""
    design, best = mapping_design(found.problem.design), found.best
    if to != "timeloop" or design.edition != "timeloop":
        what = f"--to {to}" if to != "timeloop" else f"edition {design.edition}"
        raise InputError(f"{what} does not go with a mapping; allowed: --to timeloop, of edition timeloop")
    if nearest:
        raise InputError("--nearest does not go with a mapping; allowed: without it")
    if best is None or best.configuration is None:
        raise InputError(f"{found.source} holds no mapping to export")
    mapped = hierarchy.MappedNest(design.nest, design.architecture, design.mapping(best.configuration), best.metrics)
    if reasons := tuple(hierarchy.obstacles(mapped)):
        raise InputError(f"{TIMELOOP.cannot} the mapping of {found.source}: {'; '.join(reasons)}")
    return hierarchy.files(mapped)


def _export_accelerator(to: str, found: CodesignResult, output: str | Path, *, nearest: bool) -> str:
    """Export the best accelerator as an architecture, and the mapping of every layer where the tool can take it."""
    if to != "timeloop" or nearest:
        raise InputError(f"{'--nearest' if nearest else f'--to {to}'} does not go with a co-design; allowed: --to timeloop")
    if found.architecture is None:
        raise InputError(f"{found.source} has no best memory hierarchy; allowed: a result that has one")
    files = {"arch.yaml": architecture_text(found.architecture)}
    if mapping_design(found.networks[0].layers[0].answer.problem.design).edition != "timeloop":
        write_folder(output, files)
        return f"wrote {output}: arch.yaml, for ithaca map --arch"
    for network in found.networks:
        folder = "" if len(found.networks) == 1 else f"{network.network.name}/"
        files |= {f"{folder}{name}": text for name, text in _layer_files(to, network, nearest=nearest).items()}
    write_folder(output, files)
    return f"wrote {output}: arch.yaml, for ithaca map --arch, and {counted(len(found.question.works), 'layer')} ({TABLE})"


def _export_mapped_network(to: str, found: NetworkResult, output: str | Path, *, nearest: bool) -> str:
    """Export the mapping of every layer, each to a folder, with a table of them."""
    write_folder(output, _layer_files(to, found, nearest=nearest))
    return f"wrote {output}: {counted(len(found.layers), 'layer')} ({TABLE}), for timeloop-model"


def _layer_files(to: str, found: NetworkResult, *, nearest: bool) -> dict[str, str]:
    """The mapping of every layer as files in a folder of its own, and a table of them."""
    files: dict[str, str] = {}
    rows: list[tuple[str, int, str, str]] = []
    folders: list[str] = []
    for part in found.layers:
        alone = Result.of(layer_result(found, part), source=part.layer.name)
        folders.append(fresh_folder(part.layer.name, folders))
        files |= {f"{folders[-1]}/{name}": text for name, text in _mapping_files(to, alone, nearest=nearest).items()}
        rows.append((part.layer.name, part.layer.count, folders[-1], alone.problem.design.name))
    return {**files, TABLE: csv_text(HEADINGS, rows)}


def _export_network(tool: Tool, found: NetworkResult, output: str | Path, *, nearest: bool) -> str:
    """Export every layer of a network's result."""
    assert isinstance(found.request, NetworkRequest)  # others are exported by themselves
    if nearest and found.arrays:
        raise InputError(f"--nearest does not go with --mode {found.mode}, whose layers share hardware; allowed: without it")
    parts = [(part.layer, Result.of(layer_result(found, part), source=part.layer.name)) for part in found.layers]
    refused: dict[str, list[str]] = {}
    for layer, alone in parts:
        never = tool.nest_obstacles(systolic(alone.problem).nest)
        if reasons := never if nearest else never or _reasons(tool, alone):
            refused.setdefault("; ".join(reasons), []).append(layer.name)
    if refused:
        each = "; ".join(f"{', '.join(names)}: {reasons}" for reasons, names in refused.items())
        asked = f"network {found.network.name} --mode {found.mode}"
        hint = _again(tool, asked, found.request.platform.name, found.request.data.name)
        raise InputError(f"{tool.cannot} some layers: {each} ({hint}see --nearest and --layer)")
    chosen = [(layer, _choice(tool, alone, nearest=bool(_reasons(tool, alone)))[0]) for layer, alone in parts]
    files = export_layers(tool, [ExportedLayer(layer.name, layer.count, own) for layer, own in chosen])
    write_folder(output, files)
    folders = len({name.split("/")[0] for name in files if "/" in name})
    how = "the nearest that can be taken" if nearest else "the result's configurations"
    return f"wrote {output}: {counted(len(parts), 'layer')} in {counted(folders, 'folder')} ({TABLE}), {how}"


def _reasons(tool: Tool, found: Result) -> tuple[str, ...]:
    """Why a tool cannot take the best configuration of a result."""
    return ("no configuration was found",) if found.best is None else tool.obstacles(_configuration(found.best))


def _again(tool: Tool, question: str, platform: str, data: str) -> str:
    """How to solve again such that the tool takes the answer, where that can be asked for."""
    asked = f"{question} --platform {platform} --dtype {data} --for {Target.AUTOSA.value}"
    return f"solve again: ithaca {asked}; or " if tool is AUTOSA else ""


def _configuration(solution: Solution) -> ArrayConfiguration:
    design = systolic(solution.problem)
    bandwidth = next((limit.bound for limit in solution.problem.limits if limit.metric == "bandwidth"), None)
    return ArrayConfiguration(design.nest, design.array, design.data, solution.tiling, design.technology, bandwidth)


def _choice(tool: Tool, result: Result, *, nearest: bool) -> _Choice:
    """The best configuration of a result, or the nearest that a tool can take."""
    if result.best is not None and not nearest:
        return _configuration(result.best), "the result's best configuration"
    return _buildable(result) if tool is AUTOSA else _expressible(tool, result)


def _buildable(result: Result) -> _Choice:
    """The proven-best configuration that AutoSA builds, over the dataflows of the result."""
    known = systolic(result.problem)
    asked = [systolic(s.problem).array.dataflow for s in result.designs]
    space = replace(known.options, target=Target.AUTOSA)
    arrays = [a for a in choose_designs(known.nest, known.array.edition, target=Target.AUTOSA) if a.dataflow in asked]
    problems = [result.problem.with_design(array=array, options=space) for array in arrays]
    with Interrupt() as interrupt, LiveLine("deriving tables", [a.name for a in arrays]) as line:
        solutions = solve_designs(problems, SolveOptions(stop=interrupt), report=line.report, finished=line.finished)
    best = best_solution(solutions)
    if best is None:
        raise InputError("no configuration within the result's limits can be built by AutoSA")
    if not all(s.certificate.status.proven for s in solutions):
        raise InputError("interrupted before the best buildable configuration was proven; nothing written")
    return _configuration(best), f"the proven-best buildable configuration ({float(best.value or 0):,.10g})"


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
        each = "; ".join(f"{name}: {'; '.join(reasons)}" for name, reasons in never.items())
        raise InputError(f"{tool.cannot} any design of this result: {each or 'it holds no configuration'}")
    return _configuration(best), f"the best of the result's that can be expressed ({float(best.value or 0):,.10g})"


TARGETS: Mapping[str, Tool] = {"autosa": AUTOSA, "timeloop": TIMELOOP, "scalesim": SCALESIM}
