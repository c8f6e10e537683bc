"""Print the result of a network for people."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from ithaca.commands.display import console, loop_nest
from ithaca.commands.tables import Table
from ithaca.exports.charts.network import compared_name
from ithaca.files.numbers import number, percent
from ithaca.formulations.families import module_of
from ithaca.results.network_explanation import kept_statements, layers_take
from ithaca.results.wording import gap, microjoules, proof, shortened
from ithaca.solver.certificate import as_stated
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.network import Network, OmissionKind


def print_network(result: NetworkResult) -> None:
    """Print a table of the layers, what they share, the totals, and what is left out."""
    out, request, network = console(), result.request, result.network
    sizes = ", ".join(f"{name}={value}" for name, value in network.parameters)
    what = f"{network.name}{f' ({sizes})' if sizes else ''}"
    what += "".join(f" {fact}" for _, fact in request.terms)
    what += f" on {request.place}, {request.model} model edition, {result.mode}"
    out.print(f"{what}, minimising {request.objective.text}")
    if not result.complete:
        out.print("the run ended early, by the time limit or an interrupt")
    if (own := module_of("ithaca.commands.families", result.family, "networks")) is not None:
        own.print_layers(out, result)
    else:
        print_layers(out, result)
        proofs = [layer.answer.certificate for layer in result.layers]
        if result.total is not None:
            proofs = [result.total.certificate]
        seconds, boxes = sum(p.seconds for p in proofs), sum(p.nodes for p in proofs)
        out.print(
            f"proven     {result.proven} of {len(result.layers)} layers; "
            f"{boxes:,} boxes, {seconds:.2f} s"
        )
    for line in fusing_lines(result):
        out.print(line)
    for layer in dict.fromkeys(replace(layer, count=1) for layer in network.layers):
        if layer.folded is not None:
            sizes = " ".join(f"{name}={n}" for name, n in layer.nest.settings.items())
            same = "the same multiply-accumulates and tensors"
            out.print(
                f"folded     {layer.name}: {layer.folded} runs as {layer.nest.name} {sizes}: {same}"
            )
    for line in omission_lines(network):
        out.print(line)


def fusing_lines(result: NetworkResult) -> list[str]:
    """What stays on chip between layers, what might and does not, and what that saves."""
    terms = (statement.partition(": ") for statement in kept_statements(result))
    return [f"{term.lower():<10} {text}" for term, _, text in terms]


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
        f"compared   {compared_name(other, [result, other])}: {what} "
        f"{number(whole)}, {difference}{proven}"
    )


def layer_loops(result: NetworkResult) -> list[str]:
    """The mapping of every layer as a loop nest."""
    answers = [(layer.layer.name, layer.answer) for layer in result.layers]
    return [
        loop_nest(answer.problem.design, answer.configuration, f"{name}: ")
        for name, answer in answers
    ]


def omission_lines(network: Network) -> list[str]:
    """What the layers leave out: arithmetic first, each with its reason."""
    lines = []
    for omission in network.omissions(OmissionKind.UNSUPPORTED):
        reason = f": {omission.reason}" if omission.reason else ""
        lines.append(
            f"left out   {omission.operator} × {omission.count}, which is arithmetic{reason}"
        )
    for kind in (OmissionKind.ELEMENTWISE, OmissionKind.MOVEMENT):
        operators = [
            f"{omission.operator} × {omission.count}" for omission in network.omissions(kind)
        ]
        if operators:
            what = "element by element" if kind is OmissionKind.ELEMENTWISE else "data movement"
            lines.append(f"left out   {', '.join(operators)} ({what})")
    return lines


def print_layers(out: Console, result: NetworkResult, where: str = "") -> None:
    """Print a table of the layers, and their totals.

    Parameters
    ----------
    out : Console
        Where to.
    result : NetworkResult
        The result.
    where : str, optional
        What proofs of the totals are about.
    """
    rows, objective = [], result.request.objective.text
    minimised = result.layer_objective.text
    for layer in result.layers:
        metrics = layer.answer.metrics
        row = [("layer", shortened(layer.layer.name)), ("runs", str(layer.layer.count))]
        row += [("sizes", layer.layer.nest.short_sizes), (minimised, number(layer.answer.value))]
        row += [
            ("cycles", number(metrics.get("latency"))),
            ("µJ", microjoules(metrics.get("energy"))),
        ]
        used = number(None) if layer.efficiency is None else percent(layer.efficiency)
        row += [
            ("PEs", number(metrics.get("pes"))),
            ("at work", used),
            ("gap", gap(layer.answer.certificate)),
        ]
        rows.append(row)
    known = {name for row in rows for name, value in row if value != number(None)}
    out.print(
        Table([[cell for cell in row if cell[0] in known] for row in rows], left=("layer", "sizes"))
    )
    if result.total is None:
        out.print(f"total      none: '{objective}' does not add up over layers")
    else:
        value, certificate = number(result.total.value), result.total.certificate
        proven = proof(certificate) + (where if certificate.status.proven else "")
        out.print(f"total      {objective} {value}  ({proven})")
        if minimised != objective:
            out.print(f"           of all layers together; each is least in {minimised}")
    latency, energy = result.sum_of("latency"), result.sum_of("energy")
    if latency is not None:
        spent = "" if energy is None else f"; energy {microjoules(energy)} µJ"
        used = "" if result.efficiency is None else f"; MACs {percent(result.efficiency)} at work"
        out.print(f"           latency {number(latency)} cycles{spent}, layer after layer{used}")
