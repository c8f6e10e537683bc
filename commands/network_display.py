"""Print the result of a network for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ithaca.commands.display import (
    console,
    gap_text,
    limited_metrics,
    loop_nest,
    microjoules,
    table,
    target_text,
)
from ithaca.exports.charts.network import compared_name
from ithaca.files.shown_numbers import number, percent, rounded
from ithaca.formulations.systolic.design import systolic
from ithaca.results.network_explanation import kept_statements, layers_take
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.solver.solution import Solution
from ithaca.studies.network.modes import MULTI_ARRAY, SHARED_ARRAY
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import ArrayResult, NetworkResult, SharedDesign
from ithaca.workloads.networks.network import Network, OmissionKind

#: How many of the designs compared are shown per kernel.
SHOWN_CHOICES = 5

#: What the words of a network's answer mean.
WORDS = "words      DSP eff.: multiply-accumulates over those the MAC units had cycles for; "

#: What the searches of a mode count, and what that is.
COUNTED = {
    SHARED_ARRAY: ("arrays", "hardware on which every layer was solved"),
    MULTI_ARRAY: ("plans", "ways to cut the layers and share the budget"),
}

#: Longest name of a layer in the table (characters).
LONGEST_NAME = 18


def print_network(result: NetworkResult) -> None:
    """Print a table of the layers, what they share, the totals, and what is left out."""
    out, request, network = console(), result.request, result.network
    sizes = ", ".join(f"{name}={value}" for name, value in network.parameters)
    what = f"{network.name}{f' ({sizes})' if sizes else ''}"
    what += f" {request.title}" if isinstance(request, NetworkRequest) else ""
    what += f" on {request.platform.name}, {request.model} model edition, {result.mode}"
    out.print(escape(f"{what}, minimising {request.objective.text}"))
    if not result.complete:
        out.print("the run ended early, by the time limit or an interrupt")
    if isinstance(request, NetworkRequest):
        _print_arrays(out, result, request)
    else:
        from ithaca.commands.mapping_display import print_mapped_layers

        print_mapped_layers(out, result)
        seconds = sum(layer.answer.certificate.seconds for layer in result.layers)
        boxes = sum(layer.answer.certificate.nodes for layer in result.layers)
        out.print(
            f"proven     {result.proven} of {len(result.layers)} layers; "
            f"{boxes:,} boxes, {seconds:.2f} s"
        )
    for line in fusing_lines(result):
        out.print(escape(line))
    for layer in dict.fromkeys(replace(layer, count=1) for layer in network.layers):
        if layer.folded is not None:
            sizes = " ".join(f"{name}={n}" for name, n in layer.nest.settings.items())
            same = "the same multiply-accumulates and tensors"
            out.print(
                escape(
                    f"folded     {layer.name}: {layer.folded} runs as "
                    f"{layer.nest.name} {sizes}: {same}"
                )
            )
    for line in omission_lines(network):
        out.print(escape(line))


def _print_arrays(out: Console, result: NetworkResult, request: NetworkRequest) -> None:
    """Print the layers on systolic arrays, what they share, and the totals."""
    out.print(_layer_table(result))
    if result.mode == SHARED_ARRAY:
        if len(result.choices) > 1:
            out.print(_design_table(result.choices))
    else:
        for line in _share_lines(result):
            out.print(escape(line))
    if result.arrays:
        out.print(_array_table(result.arrays, limited_metrics(request.limits)))
    _print_totals(out, result, request)


def fusing_lines(result: NetworkResult) -> list[str]:
    """What stays on chip between layers, what might and does not, and what that saves."""
    terms = (statement.partition(": ") for statement in kept_statements(result))
    return [f"{term.lower():<10} {said}" for term, _, said in terms]


def print_comparison(result: NetworkResult, other: NetworkResult) -> None:
    """Print what another result of the network takes, and how much more that is."""
    (what, own), (_, others) = map(layers_take, (result, other))
    mine, whole = (sum(takes for takes, _ in taken) for taken in (own, others))
    how = "the same" if whole == mine else "more" if whole > mine else "less"
    difference = f"{percent(abs(whole / mine - 1))} {how}" if mine and whole != mine else how
    proven = (
        "" if other.total is None else f"  ({proof(other.total.certificate)}{as_stated(other)})"
    )
    console().print(
        escape(
            f"compared   {compared_name(other, [result, other])}: {what} "
            f"{number(whole)}, {difference}{proven}"
        )
    )


def layer_loops(result: NetworkResult) -> list[str]:
    """The mapping of every layer as a loop nest."""
    found = [(layer.layer.name, layer.answer) for layer in result.layers]
    return [
        loop_nest(answer.problem.design, answer.configuration, f"{name}: ")
        for name, answer in found
    ]


def _layer_table(result: NetworkResult) -> Table:
    """One line a layer, in 100 columns; ``--table`` and ``--json`` have all figures."""
    resources = limited_metrics(result.request.limits)
    shared = bool(result.arrays)
    # of layers on shared arrays nothing is proven one by one
    unproven = not shared and not all(
        r.answer.settled and r.answer.found is not None for r in result.layers
    )
    rows = []
    for layer in result.layers:
        answer, solution = layer.answer, layer.answer.found
        metrics = {} if solution is None else solution.metrics
        row = [("layer", shortened(layer.layer.name)), ("runs", str(layer.layer.count))]
        row.append(("sizes", layer.layer.nest.short_sizes))
        row += (
            [("array", "–" if layer.array is None else str(layer.array))]
            if len(result.arrays) > 1
            else []
        )
        row.append(("design", "–" if solution is None else _design(solution)))
        row.append((result.request.objective.text, number(answer.value)))
        units = [
            ("ms", rounded(metrics.get("time"), 3)),
            ("GB/s", rounded(metrics.get("bandwidth"), 3)),
        ]
        # 100 columns have no room for both
        row += [("gap", gap(answer.certificate))] if unproven else units
        row.append(
            ("DSP eff.", "–" if layer.efficiency is None else f"{float(layer.efficiency):.1%}")
        )
        rows.append([*row, *((name, number(metrics.get(name))) for name in resources)])
    made = table(rows, left=("layer", "sizes", "design"))
    made.box, made.show_edge, made.padding = SIMPLE_HEAD, False, (0, 0, 0, 0)
    for column in made.columns:
        column.no_wrap = True
    return made


def shortened(name: str) -> str:
    """A layer's name for a table: of a long one, where it begins and ends."""
    return (
        name
        if len(name) <= LONGEST_NAME
        else f"{name[: LONGEST_NAME // 2 - 1]}…{name[-LONGEST_NAME // 2 :]}"
    )


def _design(solution: Solution) -> str:
    """Dataflow, and permutation where it is not the output's (of a design that can be built, it
    is)."""
    array = systolic(solution.problem).array
    return (
        f"[{','.join(array.dataflow)}]"
        if array.permutation == systolic(solution.problem).nest.output.tensor
        else solution.design
    )


def gap(certificate: Certificate) -> str:
    """The gap that is left, or why there is none."""
    return gap_text(certificate.gap) if certificate.status.found else certificate.status.value


def _share_lines(result: NetworkResult) -> list[str]:
    """What was chosen for the layers of each kernel, and what the next best designs are."""
    lines: list[str] = []
    for kernel in dict.fromkeys(choice.kernel for choice in result.choices):
        designs = [choice for choice in result.choices if choice.kernel == kernel]
        best, rest = designs[0], designs[1:SHOWN_CHOICES]
        if not best.chosen:
            lines.append(
                f"{kernel}: no design is known to be feasible for all of "
                f"its {len(best.layers)} layers"
            )
            continue
        proof = "no other design is better" if best.proven else "not proven to be the best"
        others = "; ".join(f"{d.name} {_choice_value(d)}" for d in rest)
        more = f" … {len(designs)} designs" if len(designs) > SHOWN_CHOICES else ""
        lines.append(f"{kernel}: design {best.name} with {number(best.total.value)} ({proof})")
        if others:
            lines.append(f"  next: {others}{more}")
    return lines


def _design_table(designs: Sequence[SharedDesign]) -> Table:
    """The designs that one search compared."""
    rows = [
        [("design", d.name), ("lower bound", number(d.total.certificate.lower_bound))]
        for d in designs
    ]
    made = table(rows, left=("design",), title="designs")
    made.box, made.show_edge, made.padding = SIMPLE_HEAD, False, (0, 0, 0, 0)
    return made


def _choice_value(design: SharedDesign) -> str:
    return (
        number(design.total.value)
        if design.total.value is not None
        else design.total.certificate.status.value
    )


def _array_table(arrays: Sequence[ArrayResult], resources: Sequence[str]) -> Table:
    rows = [
        [
            ("array", str(index)),
            ("design", f"[{','.join(array.dataflow)}] {array.permutation or ''}".strip()),
            ("shared", " ".join(f"{name}={value}" for name, value in array.parameters.items())),
            ("layers", " ".join(array.layers)),
            ("objective", number(array.total.value)),
            ("lower bound", number(array.total.certificate.lower_bound)),
            *((name, number(array.resources.get(name))) for name in resources),
        ]
        for index, array in enumerate(arrays)
    ]
    return table(rows, left=("design", "shared", "layers"), title="arrays")


def _print_totals(out: Console, result: NetworkResult, request: NetworkRequest) -> None:
    text = result.request.objective.text
    if result.total is None:
        out.print(f"total      none: '{escape(text)}' does not add up over layers")
    else:
        certificate = result.total.certificate
        what = f" ({result.request.minimise.value})" if result.request.arrays > 1 else ""
        out.print(
            f"total      {escape(text)}{what} {number(result.total.value)}  ({proof(certificate)})"
        )
        target = request.space.target
        if target is not None and result.total.value is not None:
            out.print(
                f"for {target.title} "
                f"{target_text(target, result.total.value, certificate, result.unrestricted)}"
            )
    boxes = sum(r.answer.certificate.nodes for r in result.layers)
    seconds = sum(r.answer.certificate.seconds for r in result.layers)
    if result.total is not None:
        boxes, seconds = result.total.certificate.nodes, result.total.certificate.seconds
    latency, comp = result.sum_of("latency"), result.mac_cycles
    if latency is not None and comp:
        clock = result.request.platform.technology.clock_mhz
        cycles = "" if text == "latency" else f"latency {number(latency)} cycles; "
        operations = sum(r.layer.operations for r in result.layers)
        out.print(
            f"           {cycles}{float(result.throughput or 0):,.1f} Gop/s at "
            f"{number(clock)} MHz, layer after layer; "
            f"DSP efficiency {float(operations / comp):.1%}"
        )
        out.print(f"           {_units(result, request)}")
    proven = "" if result.arrays else f"proven     {result.proven} of {len(result.layers)} layers; "
    counted, meaning = COUNTED.get(result.mode, ("boxes", "sets of candidates bounded at once"))
    out.print(f"{proven or 'search     '}{boxes:,} {counted}, {seconds:.2f} s")
    out.print(f"{WORDS}{counted}: {meaning}")


def _units(result: NetworkResult, request: NetworkRequest) -> str:
    """Time, traffic and energy of all layers one after the other, and the share of the memory that
    the neediest takes."""
    most = max(
        solution.metrics["bandwidth"]
        for layer in result.layers
        if (solution := layer.answer.found) is not None
    )
    memory = result.request.platform.memory
    has = (
        ""
        if memory is None
        else f" of {rounded(memory.bandwidth.limit)} ({float(most / memory.bandwidth.limit):.1%})"
    )
    moved = (result.sum_of("off_chip_words") or 0) * request.data.bytes
    traffic = f"{rounded(moved / 10**6)} MB off chip, a layer at most at {rounded(most)} GB/s{has}"
    return (
        f"{rounded(result.sum_of('time'))} ms; {traffic}; energy "
        f"{microjoules(result.sum_of('energy'))} µJ"
    )


def proof(certificate: Certificate) -> str:
    if certificate.status is Status.OPTIMAL:
        return certificate.told
    if certificate.status is Status.FEASIBLE and certificate.lower_bound is None:
        return "not proven"
    if certificate.status is Status.FEASIBLE:
        return (
            f"not proven: lower bound {number(certificate.lower_bound)}, "
            f"gap {gap_text(certificate.gap)}"
        )
    bound = (
        ""
        if certificate.lower_bound is None
        else f"; lower bound {number(certificate.lower_bound)}"
    )
    return f"{certificate.status.value}{bound}"


def omission_lines(network: Network) -> list[str]:
    """What the layers leave out: arithmetic first, each with its reason."""
    lines = []
    for omission in network.omissions(OmissionKind.UNSUPPORTED):
        reason = f": {omission.reason}" if omission.reason else ""
        lines.append(
            f"left out   {omission.operator} × {omission.count}, which is arithmetic{reason}"
        )
    for kind in (OmissionKind.ELEMENTWISE, OmissionKind.MOVEMENT):
        found = [f"{omission.operator} × {omission.count}" for omission in network.omissions(kind)]
        if found:
            what = "element by element" if kind is OmissionKind.ELEMENTWISE else "data movement"
            lines.append(f"left out   {', '.join(found)} ({what})")
    return lines
