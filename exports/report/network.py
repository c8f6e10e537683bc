"""The report of a network: what its layers take, what is proven of each, and the array of each to
open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from ithaca.exports.charts.network import layer_bars
from ithaca.exports.report.answer import (
    AT_ONCE,
    Card,
    best_configuration,
    cards,
    findings,
    sought,
    verdict,
)
from ithaca.exports.report.blocks import (
    Block,
    Folded,
    Section,
    chart_figure,
    view_blocks,
)
from ithaca.exports.report.page import SECTIONS, rendered
from ithaca.files.numbers import counted, number
from ithaca.formulations.directions import as_asked, bound_as_asked, name_asked
from ithaca.results.network_explanation import NetworkExplanation, whole_taken
from ithaca.results.view import Table
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.workloads.formats import network_formats


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
    facts += [("formats", own)] if (own := network_formats(result.network)) else []
    device = "architecture" if "arch" in request.facts else "platform"
    facts += [*request.terms, (device, request.place), ("layers", result.mode)]
    facts += [("model edition", request.model), sought(request.objective.text)]
    sections = [
        _layers(result),
        findings(statements, result.vocabulary, "What dominates, and what limits it"),
    ]
    sections += _choices(result)
    text = "Each layer opens: what it runs on, drawn, and what is proven of every design."
    arrays = (layer_folded(result, layer, index) for index, layer in enumerate(result.layers))
    sections.append(Section("arrays", "Layer by layer", (text, *arrays)))
    title = f"{result.network.name} on {request.place}"
    proof = None if result.total is None else result.total.certificate
    return rendered(
        title, facts, verdict(result, proof), _cards(result, explained), sections, statements
    )


def _cards(result: NetworkResult, explained: NetworkExplanation) -> tuple[Card, ...]:
    total, what = result.total, result.request.objective.text
    what, value = as_asked(*(whole_taken(result) if total is None else (what, total.value)))
    metrics = {name: result.sum_of(name) for name in AT_ONCE}
    metrics["throughput"] = result.throughput
    return cards(what, value, metrics, result.vocabulary, result.mode)


def _layers(result: NetworkResult) -> Section:
    """The layers' chart, their table with links to each, and what is said of the whole."""
    view = [*result.view[1:]]
    table = next(block for block in view if isinstance(block, Table))
    rows = (
        (Markup('<a href="#layer-{}">{}</a>').format(index, layer.layer.name), *row[1:])
        for index, (layer, row) in enumerate(zip(result.layers, table.rows, strict=True))
    )
    linked = replace(table, caption="The layers, one run of each", rows=tuple(rows))
    view[view.index(table)] = linked
    if all(layer.answer.value is None for layer in result.layers):
        return Section("layers", "The layers", view_blocks(view))
    text = (
        "A bar is what all runs of a layer take; its filled part is the share of the "
        "cycles in which the MAC units of the "
        "layer's array do its own operations. Where a layer is not "
        "proven, a mark shows its lower bound."
    )
    chart = chart_figure("layers-chart", layer_bars(result))
    return Section("layers", "The layers", (text, chart, *view_blocks(view)))


def _choices(result: NetworkResult) -> list[Section]:
    """The designs compared for each kernel."""
    if not result.choices:
        return []
    text = result.request.objective.text
    rows = tuple(
        (
            c.kernel,
            c.name,
            number(as_asked(text, c.total.value)[1]),
            number(as_asked(text, c.total.certificate.lower_bound)[1]),
            _chosen(c.chosen, c.proven),
        )
        for c in result.choices
    )
    columns = ("kernel", "design", name_asked(text), bound_as_asked(text, None)[0], "")
    caption = "Designs compared, the best of each kernel first"
    table = Table(caption, columns, rows, frozenset({0, 1, 4}))
    return [Section("shared", "What layers share", (table,))]


def _chosen(chosen: bool, proven: bool) -> str:
    return (
        ""
        if not chosen
        else "chosen: no other is better"
        if proven
        else "chosen, not proven the best"
    )


def layer_folded(result: NetworkResult, layer: LayerResult, index: int) -> Folded:
    """A folded block on the configuration that one layer runs on; its proof is that of each design.

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
    best = best_configuration(alone)
    nest = layer.layer.nest
    text = (
        f"{nest} with {nest.shown_sizes}; "
        f"{counted(layer.layer.count, 'run')}: {', '.join(layer.layer.sources)}."
    )
    blocks: list[Block] = [text]
    blocks += view_blocks(alone.view[1:])
    if best is not None:
        own = SECTIONS.get(best.problem.design.family)
        outline = getattr(own, "outline", None)
        blocks += () if outline is None else outline(best, f"array-{index}")
    on = "" if layer.array is None else f", array {layer.array}"
    design = (
        "no configuration" if layer.answer.configured is None else f"design {layer.answer.design}"
    )
    return Folded(
        f"layer-{index}", f"{layer.layer.name} × {layer.layer.count}: {design}{on}", tuple(blocks)
    )
