"""The view of accelerators chosen together with their mappings."""

from __future__ import annotations

from collections.abc import Iterator

from ithaca.files.numbers import counted, number, percent
from ithaca.formulations.directions import as_asked, goal
from ithaca.formulations.goals import is_requirement
from ithaca.plugins.codesign.results.layers import cost_text, front_rows, limit_uses
from ithaca.plugins.codesign.studies.result import CodesignResult, HardwarePoint
from ithaca.results.network_view import layers_view, left_out_facts, proof
from ithaca.results.view import Block, Fact, Table, View, tabled


def codesign_view(result: CodesignResult) -> View:
    """The view of a co-design: the question, the best accelerator with its layers or the front, and
    the effort of the search."""
    return tuple(_view(result))


def _view(result: CodesignResult) -> Iterator[Block]:
    question, counts = result.question, result.counts
    objectives = goal([objective.text for objective in question.objectives])
    weights = {work.workload: work.weight for work in question.works}
    workloads = ", ".join(
        name if weight == 1 else f"{name} × {number(weight)}" for name, weight in weights.items()
    )
    yield (f"{question.space.name}: {counts.points:,} accelerators, for {workloads}, {objectives}")
    yield from result.trail
    if len(question.objectives) > 1:
        yield from _front(result)
    elif result.best is not None:
        yield from _best(result, result.best)
    if not result.share.whole:
        yield Fact("counted", result.share.statement)
    if result.open:
        yield Fact("still open", _open(result))
    boxes = f"{counts.boxes:,} box{'' if counts.boxes == 1 else 'es'} of accelerators"
    boxes += f", {counts.excluded:,} excluded by limits and rules"
    boxes += "".join(result.certificate.method.partition(", begun")[1:])
    layers = counted(counts.layers, "layer problem")
    yield ""
    took = result.certificate.took
    yield Fact("search", f"{boxes}; {layers}{took and f'; {took}'}")


def _open(result: CodesignResult) -> str:
    """The part of the space that is not excluded yet, in words, with its lower bound."""
    left, first = sum(box.points for box in result.open), result.open[0]
    whole = result.question.space.box.ranges
    ends = {name: span for name, span in first.spans.items() if span != whole[name]}
    spans = ", ".join(
        f"{name} {low}" if low == high else f"{name} {low}…{high}"
        for name, (low, high) in ends.items()
    )
    text = result.question.objectives[0].text
    objective, bound = as_asked(text, first.lower_bounds[0])
    side = "least" if objective == text else "most"
    least = "" if bound is None else f", {objective} at {side} {number(bound)}"
    return f"{left:,} accelerators, first of all {spans or 'any'}{least}"


def _best(result: CodesignResult, best: HardwarePoint) -> Iterator[Block]:
    question = result.question
    yield ""
    yield Fact("hardware", question.space.text(best.point))
    if best.costs:
        costs = (cost_text(question, name, cost) for name, cost in best.costs.items())
        yield Fact("", "; ".join(costs))
    whole = result.settled and not result.share.words
    meaning = ": no accelerator of the space is better" if whole else ""
    meaning += ", with such mappings" if meaning and result.certificate.among else ""
    text = question.objectives[0].text
    value = cost_text(question, *as_asked(text, best.values[0]))
    proven = proof(result.certificate, text, result.basis)
    yield Fact("objective", f"{value}  ({proven}{meaning})")
    where = "" if result.settled and len(result.networks) == 1 else " on this accelerator"
    for network in result.networks:
        yield ""
        yield network.network.name
        yield from layers_view(network, where)
        yield from left_out_facts(network.network)
    for use in limit_uses(question, best):
        if is_requirement(use.metric):
            yield Fact("required", use.metric)
            continue
        share = f" ({percent(use.used / use.bound)})" if use.bound else ""
        used = cost_text(question, use.metric, use.used)
        yield Fact("limit", f"{used} of {number(use.bound)}{share}")


def _front(result: CodesignResult) -> Iterator[str | Table]:
    many = counted(len(result.front), "point")
    if result.settled:
        among = f" among {result.certificate.among}" if result.certificate.among else ""
        among += result.basis
        yield f"complete: {many}, and no other vector of objectives is on the front{among}"
    else:
        bound, objective = result.lower_bound, result.question.objectives[0].text
        least = "" if bound is None else f"; {objective} is at least {number(bound)}"
        yield f"partial: {many} that none found dominates; others may be better{least}"
    if result.front:
        names = {q.name for q in result.question.space.quantities if q.labels}
        yield tabled(front_rows(result.question, result.front), names)
