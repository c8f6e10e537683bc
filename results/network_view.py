"""The view of a network's result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from ithaca.files.numbers import counted, number, percent
from ithaca.files.registry import Registry
from ithaca.formulations.directions import as_asked, bound_as_asked, name_asked
from ithaca.results.network_explanation import (
    kept_statements,
    lost_statements,
    run_statements,
    whole_taken,
)
from ithaca.results.run_view import run_facts
from ithaca.results.view import Block, Fact, Table, View, tabled
from ithaca.results.wording import gap, gap_text, microjoules
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.formats import network_formats
from ithaca.workloads.networks.network import Network, OmissionKind

#: Longest name of a layer in a table (characters).
LONGEST_NAME = 18

#: The layers and totals of networks, where a family has views of its own.
VIEWS: Registry[Callable[[NetworkResult], Iterator[Block]]] = Registry("network views")


#: Layers that are named by their part of a gap.
LARGEST = 6


def network_view(result: NetworkResult) -> View:
    """A table of the layers, what they share, the totals, and what is left out."""
    return tuple(_view(result))


def _view(result: NetworkResult) -> Iterator[Block]:
    request, network = result.request, result.network
    sizes = ", ".join(f"{name}={value}" for name, value in network.parameters)
    stated = "; ".join(filter(None, (sizes, network_formats(network))))
    what = f"{network.name}{f' ({stated})' if stated else ''}"
    what += "".join(f" {fact}" for _, fact in request.terms)
    what += f" on {request.place}, {request.model} model edition, {result.mode}"
    yield f"{what}, {request.objective.goal}"
    if not result.finished:
        yield "the run ended early, by the time limit or an interrupt"
    own = VIEWS.get(result.family)
    if own is not None:
        yield from own(result)
    else:
        yield from layers_view(result)
        effort = search_effort(result).effort
        yield proven_fact(result, effort)
    yield from open_facts(result)
    statements = (lost_statements, run_statements, kept_statements)
    for statement in (line for each in statements for line in each(result)):
        term, _, text = statement.partition(": ")
        yield Fact(term.lower(), text, detail=statement.startswith("Lost"))
    for layer in dict.fromkeys(replace(layer, count=1) for layer in network.layers):
        if layer.folded is not None:
            sizes = " ".join(f"{name}={n}" for name, n in layer.nest.settings.items())
            runs = f"{layer.folded} runs as {layer.nest.name} {sizes}"
            same = "the same multiply-accumulates and tensors"
            yield Fact("folded", f"{layer.name}: {runs}: {same}")
    if not result.share.whole:
        yield Fact("counted", result.share.statement)
    yield from left_out_facts(network)
    for kind in (OmissionKind.ELEMENTWISE, OmissionKind.MOVEMENT):
        operators = [
            f"{omission.operator} × {omission.count}" for omission in network.omissions(kind)
        ]
        if operators:
            what = "element by element" if kind is OmissionKind.ELEMENTWISE else "data movement"
            yield Fact("left out", f"{', '.join(operators)} ({what})", detail=True)
    yield from result.remarks


def left_out_facts(network: Network) -> Iterator[Fact]:
    """The multiplying operators that are left out, with how much they multiply and why."""
    for omission in network.unsupported:
        if omission.kind.multiplies:
            work = omission.operations
            much = "how many" if work is None else number(work)
            much += " multiply-accumulates" + (" is not known" if work is None else "")
            reason = f": {omission.reason}" if omission.reason else ""
            yield Fact("left out", f"{omission.operator} × {omission.count}, {much}{reason}")


def comparison(result: NetworkResult, other: NetworkResult, name: str) -> Fact:
    """The fact that compares the result of the network with another one: its total, and the
    difference from this one's.

    Parameters
    ----------
    result : NetworkResult
        The result.
    other : NetworkResult
        What it is compared with.
    name : str
        What tells that from the result.
    """
    (what, mine), (_, whole) = map(whole_taken, (result, other))
    if mine is None or whole is None:
        missing = "this result" if mine is None else "that one"
        return Fact("compared", f"{name}: cannot be compared, as {missing} has no total")
    difference = "the same" if whole == mine else "more" if whole > mine else "less"
    if mine and whole != mine:
        difference = f"{percent(abs(whole - mine) / abs(mine))} {difference}"
    proven = ""
    if other.total is not None:
        text = other.request.objective.text
        proven = f"  ({proof(other.total.certificate, text, other.basis)}{as_stated(other)})"
    return Fact("compared", f"{name}: {what} {number(whole)}, {difference}{proven}")


def search_effort(result: NetworkResult) -> Certificate:
    """A certificate with the boxes and seconds of all searches."""
    if result.total is not None:
        return result.total.certificate
    proofs = [layer.answer.certificate for layer in result.layers]
    nodes, seconds = sum(p.nodes for p in proofs), sum(p.seconds for p in proofs)
    return replace(proofs[0], nodes=nodes, seconds=seconds)


def proven_fact(result: NetworkResult, effort: str) -> Fact:
    """The number of the network's layers that are settled, and what that took, where it is
    known."""
    missing = [each.count for each in result.network.unsupported if each.kind.multiplies]
    others = f", {counted(sum(missing), 'more operator')} not counted" if missing else ""
    proven = f"{result.proven} of {counted(len(result.layers), 'layer')}{others}"
    return Fact("proven", f"{proven}{effort and f'; {effort}'}")


def open_facts(result: NetworkResult) -> Iterator[Fact]:
    """The layers that make the gap of a total, the largest part first; none where it has no gap."""
    if result.total is None or not result.total.certificate.gap:
        return
    parts = list[tuple[Fraction, str]]()
    for layer in result.layers:
        value, bound = layer.answer.value, layer.answer.certificate.lower_bound
        if value is not None and bound is not None and value > bound:
            parts.append((layer.layer.count * (value - bound), shortened(layer.layer.name)))
    whole = sum(part for part, _ in parts)
    if whole and len(result.layers) > 1:
        parts.sort(key=lambda part: -part[0])
        texts = [f"{name} {percent(part / whole)}" for part, name in parts[:LARGEST]]
        rest = sum(part for part, _ in parts[LARGEST:])
        texts += [f"others {percent(rest / whole)}"] if rest else []
        yield Fact("open", f"{', '.join(texts)} of the gap")


def layers_view(result: NetworkResult, where: str = "") -> Iterator[Fact | Table]:
    """A table of the layers, and their totals; ``where`` says what proofs of these are about."""
    rows, minimised = [], result.layer_objective.text
    for layer in result.layers:
        metrics = layer.answer.metrics
        row = [("layer", shortened(layer.layer.name)), ("runs", str(layer.layer.count))]
        name, own = as_asked(minimised, layer.answer.value)
        row += [("sizes", layer.layer.nest.short_sizes), (name, number(own))]
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
    yield tabled([[cell for cell in row if cell[0] in known] for row in rows], ("layer", "sizes"))
    yield total_fact(result, where)
    if result.total is not None and minimised != result.request.objective.text:
        yield Fact("", f"of all layers together; each is least in {minimised}")
    latency, energy = result.sum_of("latency"), result.sum_of("energy")
    if latency is not None:
        spent = "" if energy is None else f"; energy {microjoules(energy)} µJ"
        used = "" if result.efficiency is None else f"; MACs {percent(result.efficiency)} at work"
        yield Fact("", f"latency {number(latency)} cycles{spent}, layer after layer{used}")
    yield from run_facts(result)


def proof(certificate: Certificate, objective: str, share: str = "") -> str:
    """The proof in words.

    Parameters
    ----------
    certificate : Certificate
        The proof.
    objective : str
        The objective, which says on which side its bound is.
    share : str, optional
        The share of what was asked for that it is about.
    """
    if certificate.status is Status.OPTIMAL:
        return certificate.stated(share)
    if certificate.status is Status.FEASIBLE and certificate.lower_bound is None:
        return f"not proven{share}"
    side, least = bound_as_asked(objective, certificate.lower_bound)
    if certificate.status is Status.FEASIBLE:
        return f"not proven{share}: {side} {number(least)}, gap {gap_text(certificate.gap)}"
    bound = "" if least is None else f"; {side} {number(least)}"
    return f"{certificate.status.value}{share}{bound}"


def shortened(name: str) -> str:
    """A layer's name for a table: of a long one, where it begins and ends."""
    return (
        name
        if len(name) <= LONGEST_NAME
        else f"{name[: LONGEST_NAME // 2 - 1]}…{name[-LONGEST_NAME // 2 :]}"
    )


def total_fact(result: NetworkResult, where: str = "") -> Fact:
    """The objective over the whole network, and what is proven of it; ``where`` says about what."""
    objective = name_asked(result.request.objective.text)
    if result.total is None:
        return Fact("total", f"none: '{objective}' does not add up over layers")
    certificate = result.total.certificate
    what = f" ({result.request.minimise.value})" if result.request.arrays > 1 else ""
    text = result.request.objective.text
    proven = proof(certificate, text, result.basis)
    proven += where if certificate.status.proven else ""
    value = number(as_asked(text, result.total.value)[1])
    return Fact("total", f"{objective}{what} {value}  ({proven})")
