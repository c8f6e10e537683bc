"""`ithaca.export`: a configuration for another tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import ToolOptions, public
from ithaca.commands.api.live_line import searching
from ithaca.commands.api.opening import opened
from ithaca.commands.api.options import LayerName, ResultFile, TimeLimit
from ithaca.commands.api.outputs import WRITTEN
from ithaca.commands.api.parsing import parse_search
from ithaca.exports.configuration import TARGETS, Tool, tools_of
from ithaca.exports.layers import TABLE, ExportedLayer, export_layers
from ithaca.files.answer import Wrote
from ithaca.files.clock import all_or_nothing
from ithaca.files.errors import InputError, NothingFoundError
from ithaca.files.numbers import counted
from ithaca.files.words import parse_choice
from ithaca.files.writing import write_folder
from ithaca.formulations.design import Design
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution, best_solution
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.library import workload_names
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import network_names

#: For which there may be no time.
MADE = "all files were made"


@public
def export(
    result: ResultFile,
    to: Annotated[
        str,
        Option(
            "--to",
            help=f"Tool: {' or '.join((', '.join([*TARGETS][:-1]), [*TARGETS][-1]))}.",
        ),
    ],
    output: Annotated[
        str | Path, Option("-o", "--output", metavar="FOLDER", help="Folder to write."), WRITTEN
    ],
    *,
    nearest: Annotated[
        bool,
        Option(
            "--nearest",
            help="If the tool cannot take the best configuration, export the best that it can.",
        ),
    ] = False,
    layer: LayerName = None,
    time_limit: TimeLimit = None,
    more: ToolOptions,
) -> Wrote:
    """Export the best configuration of a result for another tool, or those of a network's layers,
    each to a folder in it; or as hardware that `ithaca build` runs.

    Returns one line on what was written, and one more if simulated hardware does not take the
    cycles of the closed form. Raises `InputError` if the target cannot take a
    configuration (and ``nearest`` is not asked for); `NothingFoundError` if time was over before
    all files were made. Of ``nearest``, the best is written that was found in time.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.export(r, to="nl", output="program")
    'wrote program: ...'
    """
    search = parse_search(time_limit)
    name, answer = parse_choice("--to", to, TARGETS), opened(result, layer)
    for option, value in more.words.items():
        if value is not None and option not in TARGETS[name].options:
            owners = [each for each, tool in TARGETS.items() if option in tool.options]
            allowed = f"--to {' or '.join(owners)}"
            raise InputError(f"--{option} does not go with --to {name}; allowed: {allowed}")
    if isinstance(answer, NetworksAnswer):
        wrote: Wrote = answer.made("exported", name, output, nearest)
        return wrote
    first = answer.layers[0].answer.problem if isinstance(answer, NetworkResult) else answer.problem
    tool = tool_for(name, first.design, nearest=nearest)
    if tool.with_options is not None:
        tool = tool.with_options({option: more.words.get(option) for option in tool.options})
    if isinstance(answer, NetworkResult):
        files, remarks = layer_files(tool, answer, nearest, search)
        write_folder(output, files)
        folders = counted(len({path.split("/")[0] for path in files if "/" in path}), "folder")
        how = "the nearest that can be taken" if nearest else "the result's configurations"
        summary = f"{counted(len(answer.layers), 'layer')} in {folders} ({TABLE}), {how}"
        summary += share_text(answer)
        return Wrote(output, "\n".join((summary, *remarks)))
    if never := tool.nest_obstacles(_nest(answer)):  # another configuration could not help
        raise InputError(f"{tool.cannot} this workload: {'; '.join(never)}")
    reasons = _reasons(tool, answer)
    if reasons and not nearest:
        nest = _nest(answer)
        sizes = ",".join(f"{name}={n}" for name, n in nest.settings.items())
        blocks = "" if nest.sparse is None else f" --block-sparse {nest.sparse}"
        formats = "".join(f" --format {words}" for words in [nest.labels.get("format")] if words)
        name = nest.name if nest.name in workload_names() else "WORKLOAD"
        hint = _hint(tool, f"solve {name} -s {sizes}{blocks}{formats}", answer)
        if answer.best is None:
            raise InputError(
                f"{answer.source} holds no configuration to export{hint and ' (see --nearest)'}"
            )
        raise InputError(
            f"{tool.cannot} the best configuration of {answer.source}: {'; '.join(reasons)}{hint}"
        )
    chosen, summary = _choice(tool, answer, search, nearest=bool(reasons))
    with all_or_nothing(MADE):
        files = tool.export(chosen)
    write_folder(output, files)
    remark = "" if tool.remark is None else tool.remark(files, answer.platform_name)
    return Wrote(output, summary + remark)


def tool_for(to: str, design: Design, *, nearest: bool) -> Tool:
    """The tool of a target, for a design. Raises `InputError` if it has no such ones.

    Parameters
    ----------
    to : str
        The name of the target.
    design : Design
        The design.
    nearest : bool
        Whether another configuration may be exported instead.
    """
    edition = str(profile_of(design).attributes.get("edition", ""))
    takers = tools_of(design.family)
    able = {name: t for name, t in takers.items() if t.edition in ("", edition)}
    if to not in able:
        kind = (
            f"edition {edition} of family" if any(t.edition for t in takers.values()) else "family"
        )
        allowed = f"--to {', '.join(able)}" if able else "results of another family"
        raise InputError(f"--to {to} does not go with {kind} {design.family}; allowed: {allowed}")
    if able[to].edition and nearest:
        raise InputError("--nearest does not go with a mapping; allowed: without it")
    return able[to]


def _nest(result: Result) -> LoopNest:
    nest = result.profile.nest
    assert nest is not None
    return nest


def layer_files(
    tool: Tool, result: NetworkResult, nearest: bool, search: SolveOptions | None = None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Every layer of a network's result as files in folders, with what says and builds all of
    them, and lines on what layers share.

    Parameters
    ----------
    tool : Tool
        The tool.
    result : NetworkResult
        The network.
    nearest : bool
        Whether other configurations than the result's may be exported.
    search : SolveOptions, optional
        How long to search for these; None: to the end.
    """
    budget = Budget(search or SolveOptions())
    if nearest and result.arrays:
        raise InputError(
            f"--nearest does not go with --mode {result.mode}, whose layers "
            "share hardware; allowed: without it"
        )
    parts = [(part, layer_result(result, part, part.layer.name)) for part in result.layers]
    refused: dict[str, list[str]] = {}
    for part, alone in parts:
        never = tool.nest_obstacles(_nest(alone))
        if reasons := never if nearest else never or _reasons(tool, alone):
            refused.setdefault("; ".join(reasons), []).append(part.layer.name)
    if refused:
        each = "; ".join(f"{', '.join(names)}: {reasons}" for reasons, names in refused.items())
        name = result.network.name if result.network.name in network_names() else "NETWORK"
        hint = _hint(tool, f"network {name} --mode {result.mode}", parts[0][1], " and --layer")
        raise InputError(f"{tool.cannot} some layers: {each}{hint or ' (see --layer)'}")
    chosen = []
    for left, (part, alone) in zip(range(len(parts), 0, -1), parts, strict=True):
        own, _ = _choice(tool, alone, budget.share(left), nearest=bool(_reasons(tool, alone)))
        chosen.append((part, own))
    if tool.shared and any(array.total.certificate.status.proven for array in result.arrays):
        chosen = [(part, replace(own, proven=True)) for part, own in chosen]
    with all_or_nothing(MADE):
        return export_layers(
            tool,
            [ExportedLayer(p.layer.name, p.layer.count, own, p.array) for p, own in chosen],
            result.share.statement,
        )


def share_text(result: NetworkResult | NetworksAnswer) -> str:
    """Words on how much of the arithmetic is exported, where that is not all."""
    return "" if result.share.whole else f"; {result.share.statement}"


def _reasons(tool: Tool, result: Result) -> tuple[str, ...]:
    """Reasons why a tool cannot take the best configuration of a result."""
    return (
        ("no configuration was found",)
        if result.best is None
        else tool.obstacles(tool.configured(result.best))
    )


def _hint(tool: Tool, question: str, result: Result, more: str = "") -> str:
    """A hint for messages: other options, and the command that solves again such that the tool
    takes the answer, where there is one."""
    others = (s for s in result.solutions if s.configuration is not None)
    none = tool.builds_all is None and all(tool.obstacles(tool.configured(s)) for s in others)
    if tool.edition or none:
        return ""
    command = (
        f"{question} --platform {result.platform_name} --dtype "
        f"{result.profile.attributes['dtype']} {tool.again}"
    )
    again = f"solve again: ithaca {command}; or " if tool.again else ""
    return f" ({again}see --nearest{more})"


def _choice(tool: Tool, result: Result, search: SolveOptions, *, nearest: bool) -> tuple[Any, str]:
    """The best configuration of a result, or the nearest that a tool can take, and what it is.

    Parameters
    ----------
    tool : Tool
        The tool.
    result : Result
        The result.
    search : SolveOptions
        How long to search for the nearest.
    nearest : bool
        Whether the tool cannot take the best.
    """
    if result.best is not None and not nearest:
        chosen = tool.configured(result.best)
        return chosen, chosen.description
    if tool.builds_all is None:
        best, how = _expressible(tool, result)
    else:
        best, how = _buildable(tool.builds_all(result), search)
    return tool.configured(best), f"design {best.design}, {how} ({float(best.value or 0):,.10g})"


def _buildable(problems: Sequence[Problem], options: SolveOptions) -> tuple[Solution, str]:
    """The best configuration that a tool builds, and whether it is proven."""
    names = [problem.design.name for problem in problems]
    with searching("building problems", options, names) as (search, line):
        solutions = solve_designs(problems, search, report=line.report, finished=line.finished)
        stopped = search.stopped
    best = best_solution(solutions)
    proven = all(s.certificate.status.proven for s in solutions)
    if best is None and proven:
        raise InputError("no configuration within the result's limits can be built by AutoSA")
    if not proven and stopped:
        raise InputError(
            "interrupted before the best buildable configuration was proven; nothing written"
        )
    if best is None:
        raise NothingFoundError("time was over before a buildable configuration was found")
    return best, (
        "the proven-best buildable configuration"
        if proven
        else "the best buildable configuration found in time, not proven"
    )


def _expressible(tool: Tool, result: Result) -> tuple[Solution, str]:
    """The best of the result's configurations that a tool can express."""
    never, able = {}, []
    for solution in result.solutions:
        if solution.configuration is None:
            continue
        if reasons := tool.obstacles(tool.configured(solution)):
            never[solution.design] = reasons
        else:
            able.append(solution)
    best = best_solution(able)
    if best is None:
        each = "; ".join(f"{name}: {'; '.join(reasons)}" for name, reasons in never.items())
        raise InputError(
            f"{tool.cannot} any design of this result: {each or 'it holds no configuration'}"
        )
    return best, "the best of the result's that can be expressed"
