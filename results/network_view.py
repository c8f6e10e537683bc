"""The view of a network's result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ithaca.files.numbers import number, percent
from ithaca.formulations.families import module_of
from ithaca.results.network_explanation import kept_statements, layers_take
from ithaca.results.view import Block, Fact, Table, View, tabled
from ithaca.results.wording import gap, microjoules, proof, shortened
from ithaca.solver.certificate import as_stated
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.network import OmissionKind


def network_view(result: NetworkResult) -> View:
    """A table of the layers, what they share, the totals, and what is left out."""
    return tuple(_view(result))


def _view(result: NetworkResult) -> Iterator[Block]:
    request, network = result.request, result.network
    sizes = ", ".join(f"{name}={value}" for name, value in network.parameters)
    what = f"{network.name}{f' ({sizes})' if sizes else ''}"
    what += "".join(f" {fact}" for _, fact in request.terms)
    what += f" on {request.place}, {request.model} model edition, {result.mode}"
    yield f"{what}, minimising {request.objective.text}"
    if not result.complete:
        yield "the run ended early, by the time limit or an interrupt"
    own = module_of("ithaca.results.families.views", result.family, "network")
    if own is not None:
        yield from own.view(result)
    else:
        yield from layers_view(result)
        proofs = [layer.answer.certificate for layer in result.layers]
        if result.total is not None:
            proofs = [result.total.certificate]
        seconds, boxes = sum(p.seconds for p in proofs), sum(p.nodes for p in proofs)
        proven = f"{result.proven} of {len(result.layers)} layers"
        yield Fact("proven", f"{proven}; {boxes:,} boxes, {seconds:.2f} s")
    for statement in kept_statements(result):
        term, _, text = statement.partition(": ")
        yield Fact(term.lower(), text)
    for layer in dict.fromkeys(replace(layer, count=1) for layer in network.layers):
        if layer.folded is not None:
            sizes = " ".join(f"{name}={n}" for name, n in layer.nest.settings.items())
            runs = f"{layer.folded} runs as {layer.nest.name} {sizes}"
            same = "the same multiply-accumulates and tensors"
            yield Fact("folded", f"{layer.name}: {runs}: {same}")
    for omission in network.omissions(OmissionKind.UNSUPPORTED):
        reason = f": {omission.reason}" if omission.reason else ""
        what = f"{omission.operator} × {omission.count}, which is arithmetic{reason}"
        yield Fact("left out", what)
    for kind in (OmissionKind.ELEMENTWISE, OmissionKind.MOVEMENT):
        operators = [
            f"{omission.operator} × {omission.count}" for omission in network.omissions(kind)
        ]
        if operators:
            what = "element by element" if kind is OmissionKind.ELEMENTWISE else "data movement"
            yield Fact("left out", f"{', '.join(operators)} ({what})")
    yield from result.remarks


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
    (what, own), (_, others) = map(layers_take, (result, other))
    mine, whole = (sum(takes for takes, _ in taken) for taken in (own, others))
    how = "the same" if whole == mine else "more" if whole > mine else "less"
    difference = f"{percent(abs(whole / mine - 1))} {how}" if mine and whole != mine else how
    proven = (
        "" if other.total is None else f"  ({proof(other.total.certificate)}{as_stated(other)})"
    )
    return Fact("compared", f"{name}: {what} {number(whole)}, {difference}{proven}")


def layers_view(result: NetworkResult, where: str = "") -> Iterator[Fact | Table]:
    """A table of the layers, and their totals; ``where`` says what proofs of these are about."""
    rows, minimised = [], result.layer_objective.text
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
    yield tabled([[cell for cell in row if cell[0] in known] for row in rows], ("layer", "sizes"))
    yield total_fact(result, where)
    if result.total is not None and minimised != result.request.objective.text:
        yield Fact("", f"of all layers together; each is least in {minimised}")
    latency, energy = result.sum_of("latency"), result.sum_of("energy")
    if latency is not None:
        spent = "" if energy is None else f"; energy {microjoules(energy)} µJ"
        used = "" if result.efficiency is None else f"; MACs {percent(result.efficiency)} at work"
        yield Fact("", f"latency {number(latency)} cycles{spent}, layer after layer{used}")


def total_fact(result: NetworkResult, where: str = "") -> Fact:
    """The objective over the whole network, and what is proven of it; ``where`` says about what."""
    objective = result.request.objective.text
    if result.total is None:
        return Fact("total", f"none: '{objective}' does not add up over layers")
    certificate = result.total.certificate
    what = f" ({result.request.minimise.value})" if result.request.arrays > 1 else ""
    proven = proof(certificate) + (where if certificate.status.proven else "")
    return Fact("total", f"{objective}{what} {number(result.total.value)}  ({proven})")
