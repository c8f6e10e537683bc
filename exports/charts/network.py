"""Charts of networks: what each layer takes and how much of its array works; several modes against
each other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ithaca.exports.charts.chart import (
    Bar,
    BarChart,
    Chart,
    LineChart,
    Series,
    metric_unit,
    wide_spread,
)
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import number, percent
from ithaca.results.network_explanation import explain_network, layers_take, whole_taken
from ithaca.results.wording import metric_label
from ithaca.studies.network.result import NetworkResult


def network_chart(result: NetworkResult, *others: NetworkResult) -> Chart:
    """One result as bars by layer, of several the layers against each other."""
    return modes_compared([result, *others]) if others else layer_bars(result)


def layer_bars(result: NetworkResult) -> BarChart:
    """A bar chart of the costs of each layer, all runs of it, in the order of the network; the part
    in which MAC units do its operations is filled."""
    explained, bars = explain_network(result), []
    whole = explained.whole if result.answered else None
    parts = {id(part.result): part for part in explained.parts}
    for layer in result.layers:
        part, name = parts.get(id(layer)), f"{layer.layer.name} × {layer.layer.count}"
        if part is None:
            bars.append(Bar(name, None, layer.answer.certificate.status.value))
            continue
        busy = layer.efficiency
        bound = (
            layer.answer.certificate.lower_bound
            if explained.what == result.layer_objective.text
            else None
        )
        mark = None if layer.answer.settled or bound is None else float(layer.layer.count * bound)
        used = "" if busy is None else f"; {percent(busy)} at work"
        used += "" if mark is None else ", not proven"
        share = "" if whole is None else f" ({percent(part.share)})"
        note = f"{number(part.takes)}{share}{used}"
        dark = None if busy is None else float(part.takes * busy)
        bars.append(Bar(name, float(part.takes), note, part=dark, mark=mark))
    title = (
        f"{_title(result)}: {explained.what} {number(whole)}{result.share.words} by "
        "layer, filled where MAC units work"
    )
    design = result.layers[0].answer.problem.design
    return BarChart(
        title,
        metric_label(explained.what, design),
        tuple(bars),
        also=metric_unit(explained.what, design),
    )


def modes_compared(results: Sequence[NetworkResult]) -> LineChart:
    """A line chart of the costs of each layer in several results; a line for each result."""
    names = tuple(
        dict.fromkeys(layer.name for result in results for layer in result.network.layers)
    )
    series = []
    for result in results:
        what, taken = layers_take(result)
        takes: dict[str, Fraction] = {}
        for own, layer in taken:  # a layer may run on several arrays
            takes[layer.layer.name] = takes.get(layer.layer.name, Fraction(0)) + own
        layers = tuple(name for name in names if name in takes)
        whole = whole_taken(result)[1] if result.total is None else result.total.value
        label = (
            f"{compared_name(result, results)} "
            f"({number(whole)}{'' if result.finished else ', partial'}{result.share.words})"
        )
        series.append(Series(label, layers, tuple(float(takes[name]) for name in layers)))
    design = results[0].layers[0].answer.problem.design
    return LineChart(
        title=f"{_title(results[0], mode=False)}: {what} of all runs of each layer",
        x_label="layer",
        y_label=metric_label(what, design),
        series=tuple(series),
        all_x=names,
        log_y=wide_spread(y for each in series for y in each.y),
        y_also=metric_unit(what, design),
    )


def check_comparable(result: NetworkResult, other: NetworkResult) -> None:
    """Refuse to compare results of different networks, or objectives."""
    for what, mine, theirs in (
        ("network.name", result.network.name, other.network.name),
        ("objective", result.request.objective.text, other.request.objective.text),
    ):
        if mine != theirs:
            raise InputError(
                f"--compare: {what} is {quoted(theirs)}; allowed: "
                f"{mine}, the one it is compared with"
            )
    own, others = (
        {source for layer in r.network.layers for source in layer.sources} for r in (result, other)
    )
    if different := sorted(own ^ others):
        raise InputError(
            f"--compare: layer {quoted(different[0])} is in one result "
            "only; allowed: the same layers"
        )


def compared_name(result: NetworkResult, results: Sequence[NetworkResult]) -> str:
    """The name of a result among others: its mode, and what differs of its request and designs."""

    def parts(each: NetworkResult) -> tuple[str, ...]:
        designs = dict.fromkeys(layer.answer.design or "" for layer in each.layers)
        one = next(iter(designs)) if len(designs) == 1 else ""
        return each.request.place, each.request.label, one

    others = zip(*map(parts, results), strict=True)
    return " ".join(
        [
            result.mode,
            *(
                own
                for own, all_ in zip(parts(result), others, strict=True)
                if own and len(set(all_)) > 1
            ),
        ]
    )


def _title(result: NetworkResult, mode: bool = True) -> str:
    request = result.request
    return f"{result.network.name} {request.label} on {request.place}" + (
        f", {result.mode}" if mode else ""
    )
