"""The report of a network: what its layers take, what is proven of each, and the array of each to
open."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ithaca.exports.charts.network import layer_bars
from ithaca.exports.report.answer import Card, Verdict, best_configuration, findings, verdict
from ithaca.exports.report.blocks import (
    Block,
    Folded,
    Listing,
    Paragraph,
    Section,
    Table,
    chart_figure,
)
from ithaca.exports.report.page import rendered
from ithaca.exports.report.proof import OUTCOME
from ithaca.files.numbers import counted, engineering, number, percent, rounded
from ithaca.formulations.families import module_of
from ithaca.results.explanation import explain
from ithaca.results.network_explanation import NetworkExplanation
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import LayerResult, NetworkResult


def network_page(
    result: NetworkResult, explained: NetworkExplanation, statements: Sequence[str]
) -> str:
    """A self-contained HTML page about a network's result; ``statements`` are the explanation in
    words.

    Parameters
    ----------
    result : NetworkResult
        The result.
    explained : NetworkExplanation
        Which layers take how much, and why.
    statements : sequence of str
        The explanation, each ``term: statement``.
    """
    request, parameters = result.request, result.network.parameters
    facts = [("network", result.network.name), *((name, str(value)) for name, value in parameters)]
    facts += [*request.terms, ("platform", request.place), ("layers", result.mode)]
    facts += [("model edition", request.model), ("minimised", request.objective.text)]
    shares = {id(part.result): percent(part.share) for part in explained.parts}
    sections = [
        _layers(result, shares),
        _totals(result),
        findings(statements, result.vocabulary, "What dominates, and what limits it"),
    ]
    sections += _shared(result)
    text = "Each layer opens: its factors, its array drawn, and what is proven of every design."
    arrays = (layer_folded(result, layer, index) for index, layer in enumerate(result.layers))
    sections.append(Section("arrays", "The array of each layer", (Paragraph(text), *arrays)))
    title = f"{result.network.name} on {request.place}"
    return rendered(title, facts, _verdict(result), _cards(result, explained), sections)


def _verdict(result: NetworkResult) -> Verdict:
    if result.total is not None:
        proof = result.total.certificate
        if proof.status.found:
            return verdict(proof, result.request.objective.text, result)
        missing = [r.layer.name for r in result.layers if r.answer.found is None]
        text = "Proven infeasible" if proof.status is Status.INFEASIBLE else "Nothing found"
        return Verdict(
            proof.status.value,
            "✕",
            text,
            f"No configuration: {', '.join(missing)}{as_stated(result)}.",
        )
    proven = result.proven == len(result.layers)
    detail = (
        f"{result.proven} of {len(result.layers)} layers are proven; the "
        "objective does not add up to a total."
    )
    status, mark, text = (
        ("optimal", "✓", "Proven optimal") if proven else ("feasible", "?", "Not proven optimal")
    )
    return Verdict(status, mark, text, detail)


def _cards(result: NetworkResult, explained: NetworkExplanation) -> tuple[Card, ...]:
    total, what = result.total, result.request.objective.text
    what, value = (explained.what, explained.whole) if total is None else (what, total.value)
    metric = result.vocabulary.get(what)
    figures = [Card(what, engineering(value), "" if metric is None else metric.unit, result.mode)]
    time = result.sum_of("time")
    if time is not None and result.throughput is not None:
        clock = number(result.request.technology.clock_mhz)
        figures.append(Card("time", rounded(time), "ms", f"layer after layer at {clock} MHz"))
        figures.append(Card("throughput", number(round(float(result.throughput), 1)), "Gop/s", ""))
    if result.efficiency is not None:
        figures.append(
            Card("useful work", percent(result.efficiency), "of the cycles", "of all MAC units")
        )
    if not result.arrays:
        figures.append(Card("proven", f"{result.proven} of {len(result.layers)}", "layers", ""))
    return tuple(figures)


def _layers(result: NetworkResult, shares: dict[int, str]) -> Section:
    text = (
        "A bar is what all runs of a layer take; its dark part is the share of the "
        "cycles in which the MAC units of the "
        "layer's array do its own operations. Where a layer is not "
        "proven, a mark shows its lower bound."
    )
    objective = result.layer_objective.text
    open_ = not result.arrays and result.proven < len(result.layers)
    bounds = ("lower bound",) if open_ else ()
    columns = (
        "layer",
        "runs",
        "workload",
        "design",
        objective,
        "share",
        "proof",
        *bounds,
        "useful work",
        "ms",
        "GB/s",
    )
    rows = []
    for index, layer in enumerate(result.layers):
        answer, metrics = layer.answer, layer.answer.metrics
        link = Markup('<a href="#layer-{}">{}</a>').format(index, layer.layer.name)
        row = [
            link,
            number(layer.layer.count),
            f"{layer.layer.nest.name} {layer.layer.nest.short_sizes}",
        ]
        row += [
            "–" if answer.found is None else answer.design,
            number(answer.value),
            shares.get(id(layer), "–"),
        ]
        row += [
            _proof(result, answer.certificate),
            *([number(answer.certificate.lower_bound)] if open_ else []),
        ]
        row += ["–" if layer.efficiency is None else percent(layer.efficiency)]
        rows.append((*row, rounded(metrics.get("time")), rounded(metrics.get("bandwidth"))))
    table = Table("The layers, one run of each", columns, tuple(rows), frozenset({0, 2, 3, 6}))
    return Section(
        "layers",
        "The layers",
        (Paragraph(text), chart_figure("layers-chart", layer_bars(result)), table),
    )


def _proof(result: NetworkResult, certificate: Certificate) -> str:
    if result.arrays:
        return "of the whole"
    gap = (
        ""
        if certificate.gap is None or certificate.status is Status.OPTIMAL
        else f", gap {percent(certificate.gap)}"
    )
    return f"{OUTCOME[certificate.status]}{gap}"


def _totals(result: NetworkResult) -> Section:
    rows = []
    if result.total is None:
        rows.append((result.request.objective.text, "does not add up over layers"))
    else:
        proof = result.total.certificate
        rows += [
            (
                f"{result.request.objective.text}, {result.request.minimise.value}",
                number(result.total.value),
            ),
            ("lower bound", number(proof.lower_bound)),
            ("gap", "–" if proof.gap is None else percent(proof.gap)),
            ("status", proof.status.value),
        ]
    runs, work = (
        sum(r.layer.count for r in result.layers),
        sum(r.layer.operations for r in result.layers),
    )
    rows += [
        ("method", result.method),
        ("runs of layers", number(runs)),
        ("multiply-accumulates", number(work)),
    ]
    for name in ("latency", "time", "off_chip_words", "energy"):
        total = result.sum_of(name)
        if total is not None:
            rows.append(
                (f"{name} ({result.vocabulary[name].unit}), layer after layer", number(total))
            )
    left_out = ", ".join(f"{o.operator} × {o.count}" for o in result.network.unsupported)
    blocks: list[Block] = [Table("The whole network", ("", "total"), tuple(rows))]
    if not result.complete:
        blocks.insert(0, Paragraph("The run ended early, by the time limit or an interrupt."))
    if left_out:
        blocks.append(Paragraph(f"Not among the layers: {left_out}."))
    return Section("totals", "Totals", tuple(blocks))


def _shared(result: NetworkResult) -> list[Section]:
    """What layers share: arrays, and the designs compared for each kernel."""
    objective, tables = result.request.objective.text, []
    if result.arrays:
        arrays = tuple(
            (
                number(index),
                f"[{','.join(array.dataflow)}] {array.permutation or ''}".strip(),
                number(array.total.value),
                ", ".join(array.layers),
                ", ".join(f"{name} {value}" for name, value in array.parameters.items()),
                *map(number, array.resources.values()),
            )
            for index, array in enumerate(result.arrays)
        )
        heads = ("array", "design", objective, "layers", "parameters", *result.arrays[0].resources)
        tables.append(
            Table(
                "Physical arrays; buffers and packs in words", heads, arrays, frozenset({1, 3, 4})
            )
        )
    if result.choices:
        rows = tuple(
            (
                c.kernel,
                c.name,
                number(c.total.value),
                number(c.total.certificate.lower_bound),
                _chosen(c.chosen, c.proven),
            )
            for c in result.choices
        )
        columns = ("kernel", "design", objective, "lower bound", "")
        tables.append(
            Table(
                "Designs compared, the best of each kernel first",
                columns,
                rows,
                frozenset({0, 1, 4}),
            )
        )
    return [Section("shared", "What layers share", tuple(tables))] if tables else []


def _chosen(chosen: bool, proven: bool) -> str:
    return (
        ""
        if not chosen
        else "chosen: no other is better"
        if proven
        else "chosen, not proven the best"
    )


def layer_folded(result: NetworkResult, layer: LayerResult, index: int) -> Folded:
    """What one layer runs on, to open; its proof is that of each design.

    Parameters
    ----------
    result : NetworkResult
        The result of the network.
    layer : LayerResult
        One of its layers.
    index : int
        Its number, which names drawings on the page.
    """
    alone = layer_result(result, layer)
    explanation = explain(alone, alone.solutions, None)
    best = best_configuration(alone, explanation)
    nest = layer.layer.nest
    text = (
        f"{nest} with {nest.shown_sizes}; "
        f"{counted(layer.layer.count, 'run')}: {', '.join(layer.layer.sources)}."
    )
    blocks: list[Block] = [Paragraph(text)]
    if best is None:
        blocks.append(Paragraph(f"{explanation.failure or 'Nothing was found'}."))
    else:
        loops = best.solution.profile.loops(best.configuration)
        own = module_of("ithaca.exports.report.families", best.problem.design.family)
        outline = getattr(own, "outline", None)
        blocks += (
            [Listing("The mapping as a loop nest", loops)]
            if outline is None
            else outline(best, f"array-{index}")
        )
    if layer.designs:
        rows = tuple(
            (
                d.design,
                number(d.value),
                number(d.certificate.lower_bound),
                OUTCOME[d.certificate.status],
                d.certificate.method,
            )
            for d in sorted(layer.designs, key=lambda d: (d.value is None, d.value or 0))
        )
        columns = ("design", result.request.objective.text, "lower bound", "outcome", "method")
        blocks.append(
            Table(
                "Every design of this layer alone", columns, rows, frozenset({0, 3, 4}), folded=True
            )
        )
    on = "" if layer.array is None else f", array {layer.array}"
    design = "no configuration" if layer.answer.found is None else f"design {layer.answer.design}"
    return Folded(
        f"layer-{index}", f"{layer.layer.name} × {layer.layer.count}: {design}{on}", tuple(blocks)
    )
