"""Explain a network's result: which layers the whole is made of, and what limits each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.files.numbers import counted, json_ready, number, percent
from ithaca.files.writing import SCHEMA
from ithaca.formulations.directions import as_asked, bound_as_asked
from ithaca.formulations.question import Minimise
from ithaca.results.explanation import Explanation, explain
from ithaca.results.result_view import run_text
from ithaca.solver.certificate import Status, as_stated
from ithaca.solver.infeasibility import emptiness
from ithaca.solver.runs import none_by_form, own_run
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import ARRAY_MODES, LayerResult, NetworkResult
from ithaca.workloads.formats import network_formats

#: What ends the name of a module that moves a tensor.
_MODULE = re.compile(r"(_1|_drain)?_IO_L\d_(in|out)$")

#: The layers that take most and together at least this part of the whole are explained one by one.
DOMINANT = Fraction(1, 2)

#: What is said of each: the first remark of these kinds.
EXPLAINED = ("Binding", "Padding")

#: Why layers are infeasible together although none is by itself.
NO_COMMON_DESIGN = "no design is feasible for all of them"

#: The same of layers on arrays.
TOO_FEW_ARRAYS = "no arrays within the limits, as many as there may be, run all of them"

#: Limits within which layers are fitted on arrays together, by a search that may end without a
#: proof that they do not fit.
SEARCHED = ("bram18k", "bandwidth")


@dataclass(frozen=True)
class LayerPart:
    """A layer's share of the whole, with an explanation."""

    result: LayerResult
    takes: Fraction
    """The amount that all its runs take."""
    share: Fraction
    """The share in the whole."""
    explanation: Explanation | None
    """The explanation of what limits it; None of a layer that takes little."""


@dataclass(frozen=True)
class NetworkExplanation:
    """The layers of a network, those that take most first."""

    what: str
    """The amount that is shared out: the objective, or the latency where that does not add up, or
    has no shares above 0."""
    whole: Fraction
    parts: tuple[LayerPart, ...]
    """The layers that have a configuration."""

    @property
    def dominant(self) -> tuple[LayerPart, ...]:
        """The layers that are explained."""
        return tuple(part for part in self.parts if part.explanation is not None)


def layers_take(
    result: NetworkResult, *, adds_up: bool = True
) -> tuple[str, list[tuple[Fraction, LayerResult]]]:
    """The name of an amount, and how much of it all runs of each layer that has a configuration
    take.

    That is the objective; where it does not add up, the latency.
    """
    if result.total is None or not adds_up:
        known = [layer for layer in result.layers if layer.answer.configured is not None]
        return "latency", [
            (layer.layer.count * layer.answer.metrics["latency"], layer) for layer in known
        ]
    values = [(layer.answer.value, layer) for layer in result.layers]
    return result.layer_objective.text, [
        (layer.layer.count * v, layer) for v, layer in values if v is not None
    ]


def whole_taken(result: NetworkResult) -> tuple[str, Fraction | None]:
    """The name of the amount, and what the whole network takes of it; None where a layer has no
    configuration."""
    if result.total is not None and result.layer_objective.text != result.request.objective.text:
        return result.request.objective.text, result.total.value
    what, taken = layers_take(result)
    whole = sum((takes for takes, _ in taken), Fraction(0))
    return what, whole if result.answered else None


def explain_network(result: NetworkResult) -> NetworkExplanation:
    """Find the layers that dominate, and what limits each; nothing is solved again."""
    what, taken = layers_take(result)
    amounts = [takes for takes, _ in taken]
    if amounts and (min(amounts) < 0 or not max(amounts)):  # of such a whole there are no shares
        what, taken = layers_take(result, adds_up=False)
    taken.sort(key=lambda each: -each[0])  # stable: of equals the first in the network
    whole, before, parts = sum((takes for takes, _ in taken), Fraction(0)), Fraction(0), []
    for takes, layer in taken:
        explained = None
        if before < DOMINANT * whole:
            explained = explain_layer(result, layer)
        before += takes
        parts.append(LayerPart(layer, takes, takes / whole, explained))
    return NetworkExplanation(what, whole, tuple(parts))


def explain_layer(result: NetworkResult, layer: LayerResult) -> Explanation:
    """Limits of a layer of a network in words; nothing is solved again."""
    alone = layer_result(result, layer)
    return explain(alone, alone.solutions, None)


def network_failure(result: NetworkResult) -> str:
    """The reason why a network has no answer, in one line."""
    missing = [r for r in result.layers if r.answer.configured is None]
    infeasible = [r for r in missing if r.answer.certificate.status is Status.INFEASIBLE]
    if infeasible:
        together = TOO_FEW_ARRAYS if result.mode in ARRAY_MODES else NO_COMMON_DESIGN
        why = {r.layer.name: r.answer.reasons for r in infeasible}
        if not any(why.values()):  # the limits are not at fault, or not one of them by itself
            why |= {
                part.layer.name: [text] if (text := emptiness(part.problems)) else []
                for part in result.request.pose(result.network)
            }
        reasons: dict[str, list[str]] = {}
        for name in [name for name in why if why[name]] or why:
            for text in why[name] or [together]:
                reasons.setdefault(text, []).append(name)
        of_layers: dict[str, list[str]] = {}
        for text, own in reasons.items():
            of_layers.setdefault(", ".join(own), []).append(text)
        words = max(none_by_form(r.answer.problem, r.answer.shortfalls) for r in infeasible)
        return f"infeasible{words}: " + "; ".join(
            f"{own}: {'; '.join(texts)}" for own, texts in of_layers.items()
        )
    names = ", ".join(r.layer.name for r in missing)
    if result.failures:
        return f"nothing found for {names}: {len(result.failures)} problems failed"
    if narrowed := next(
        (r.answer.certificate for r in missing if r.answer.certificate.empty), None
    ):
        return f"{names}: {narrowed.failure}"
    open_ = [
        x.metric
        for x in result.request.limits
        if x.metric in SEARCHED and result.mode in ARRAY_MODES
    ]
    more = f", or raise {' or '.join(open_)} if it ended by itself" if open_ else ""
    if would := missing[0].answer.would_do:
        return (
            f"nothing found for {names} by a search that ended by itself; with the other limits as "
            f"they are {would} would do"
        )
    return f"nothing found for {names} before the run ended; allow more time{more}"


def network_statements(result: NetworkResult, explained: NetworkExplanation) -> Iterator[str]:
    """An explanation in plain words, one statement a line."""
    request = result.request
    formats = f" ({stated})" if (stated := network_formats(result.network)) else ""
    yield (
        f"Result: {result.network.name}{formats} {request.label}, {request.model} model edition, "
        f"on {request.place}, {result.mode}, {request.objective.goal}."
    )
    yield f"Counted: {result.share.statement}."
    missing = [r.layer.name for r in result.layers if r.answer.configured is None]
    if missing:
        yield f"No configuration: {', '.join(missing)}."
    if not explained.parts:
        return
    runs = sum(part.result.layer.count for part in explained.parts)
    proof = "" if result.total is None or result.total.value is None else f" ({_proof(result)})"
    slowest = result.request.minimise is Minimise.SLOWEST
    if result.total is not None and explained.what != request.objective.text:
        of_array = " of the slowest array" if slowest else ""
        what, own = as_asked(request.objective.text, result.total.value)
        proof = f"; {what}{of_array} is {number(own)}{proof}"
    elif result.total is not None and slowest:
        own = as_asked(request.objective.text, result.total.value)[1]
        proof = f"; the slowest array takes {number(own)}{proof}"
    of = f"{counted(runs, 'run')} of {counted(len(explained.parts), 'layer')}"
    whole = "" if result.answered else "of the whole is not known; it "
    yield f"Total: {explained.what} {whole}is {number(explained.whole)} in {of}{proof}."
    yield from (f"{statement}." for statement in lost_statements(result))
    yield from (f"{statement}." for statement in run_statements(result))
    yield from (f"{statement}." for statement in kept_statements(result))
    dominant = explained.dominant
    share = sum((part.share for part in dominant), Fraction(0))
    take = "layers take" if len(dominant) > 1 else "layers takes"
    several = f"{len(dominant)} of {len(explained.parts)} {take} {percent(share)}"
    alone = f"{dominant[0].result.layer.name}, the only layer"
    many = len(explained.parts) > 1
    yield f"Dominant: {f'{several} of the {explained.what}' if many else alone}."
    for part in dominant:
        yield from _part(part, explained.what)
    if len(dominant) < len(explained.parts):
        rest = explained.whole * (1 - share)
        yield (
            f"Rest: {number(rest)}, {percent(1 - share)}, in "
            f"{counted(len(explained.parts) - len(dominant), 'layer')}."
        )
    efficient = [(part.result.efficiency, part.result.layer.name) for part in explained.parts]
    known = [(efficiency, name) for efficiency, name in efficient if efficiency is not None]
    if known:
        least, worst = min(known, key=lambda each: each[0])
        yield f"Least efficient: {worst}, with {percent(least)} of its MAC units' cycles in use."
    yield (
        f"In full: --layer {dominant[0].result.layer.name} explains that "
        "layer, with what to change first."
    )


def lost_statements(result: NetworkResult) -> Iterator[str]:
    """A statement on designs whose own optima were not proven, as others are better."""
    if lost := sum(len(layer.lost) for layer in result.layers):
        of = counted(sum(len(layer.designs) for layer in result.layers), "design")
        yield (
            f"Lost: {lost} of {of} are proven to be no better than the best of their layer, and no "
            "more (--all-designs proves their own optima)"
        )


def run_statements(result: NetworkResult) -> Iterator[str]:
    """A statement on the layers that were run word by word; none if no layer was."""
    ran = [
        (r.layer.name, r.answer, run)
        for r in result.layers
        if (run := own_run(r.answer.configured, r.runs)) is not None
    ]
    if ran:
        texts = [(n, run_text(run, s)) for n, s, run in ran if run.cycles != s.metrics["latency"]]
        same, others = len(ran) - len(texts), "".join(f"; {name} {text}" for name, text in texts)
        yield f"Simulated: {same} of {len(result.layers)} layers as by the closed form{others}"


def kept_statements(result: NetworkResult) -> Iterator[str]:
    """Statements about what stays on chip between layers, what might and does not, and what that
    saves; none if it was not asked for."""
    if result.fusing is None:
        return
    if not result.fusing.edges:
        yield (
            "Kept: nothing, as no layer reads just what the one before "
            "wrote, where a level might keep it"
        )
        return
    for kept, term in ((True, "Kept"), (False, "Not kept")):
        edges = [edge for edge in result.fusing.edges if edge.kept is kept]
        if edges:
            parts = (
                f"{e.producer} → {e.consumer} {number(e.words)} "
                f"words{f', {number(e.tile)} at a time' if 0 < e.tile < e.words else ''}"
                f"{'' if e.fits else ' (no room)'}"
                for e in edges
            )
            yield f"{term}: {'; '.join(parts)}"
    without, saved = result.fusing.without, ""
    if (
        result.total is not None
        and result.total.value is not None
        and without.value is not None
        and without.value > 0
    ):
        saved = f"; keeping saves {percent(1 - result.total.value / without.value)}"
    proof = f"{without.certificate.status.value}{result.basis}{as_stated(result)}"
    what, own = as_asked(result.request.objective.text, without.value)
    yield f"Unfused: {what} {number(own)} ({proof}){saved}"


def _proof(result: NetworkResult) -> str:
    assert result.total is not None
    certificate = result.total.certificate
    if certificate.status is Status.OPTIMAL:
        return f"proven {certificate.stated(result.basis)}{as_stated(result)}"
    side, bound = bound_as_asked(result.request.objective.text, certificate.lower_bound)
    no = "no less" if side == "lower bound" else "no more"
    least = "" if bound is None else f"; {no} than {number(bound)} is possible{as_stated(result)}"
    return f"not proven optimal{result.basis}{least}"


def _part(part: LayerPart, what: str) -> Iterator[str]:
    layer, explanation = part.result, part.explanation
    assert explanation is not None
    on = "" if layer.array is None else f", array {layer.array}"
    name = f"{layer.layer.name} × {layer.layer.count}"
    yield (
        f"{name}: {what} {number(part.takes)}, {percent(part.share)}; "
        f"design {layer.answer.design}{on}."
    )
    terms: set[str] = set()
    for statement in explanation.remarks.statements:
        term = statement.partition(":")[0]
        if term in EXPLAINED and term not in terms and not statement.startswith("Padding: none"):
            terms.add(term)
            yield f"{name}: {statement.partition(': ')[2]}"
    if explanation.limits:
        use = explanation.limits[0]
        yield (
            f"{name}: of the limits {use.metric} leaves least: "
            f"{number(use.used)} of {number(use.bound)} used."
        )


def network_explanation_document(
    result: NetworkResult, explained: NetworkExplanation
) -> dict[str, Any]:
    """The document of ``ithaca explain --json`` for a network."""
    layers = []
    for part in explained.parts:
        layer = part.result
        fields = {
            "name": layer.layer.name,
            "count": layer.layer.count,
            "design": layer.answer.design,
            "value": json_ready(part.takes),
            "share": json_ready(part.share),
            "dsp_efficiency": json_ready(layer.efficiency),
        }
        if part.explanation is not None:
            fields |= part.explanation.remarks.document
        layers.append(fields)
    document = {
        "schema": SCHEMA,
        "study": "explain",
        "network": result.network.name,
        "mode": result.mode,
    }
    return document | {
        "counted": result.share.document,
        "what": explained.what,
        "value": json_ready(explained.whole),
        "layers": layers,
    }


def bound_text(result: NetworkResult) -> str:
    """The two things that take most cycles of a network, with the share of each."""
    shares: dict[str, Fraction] = {}
    for layer in result.layers:
        if layer.answer.configured is None:
            return "–"
        taken = layer.layer.count * layer.answer.metrics["latency"]
        name = _bound_by(explain_layer(result, layer).remarks.document)
        shares[name] = shares.get(name, Fraction(0)) + taken
    whole = sum(shares.values())
    if not whole or "" in shares:
        return "–"
    most = sorted(shares.items(), key=lambda part: -part[1])[:2]
    return ", ".join(f"{name} {percent(n / whole)}" for name, n in most)


def _bound_by(remarks: Mapping[str, Any]) -> str:
    """The thing that takes the cycles of a layer: its processing elements, the moving of a tensor,
    or the work of a level; empty where nothing says it."""
    if (first := remarks.get("binding", {}).get("first")) is not None:
        name = str(first["name"])
        return "PEs" if name == "PE" else _MODULE.sub("", name)
    most = remarks.get("bottleneck", {}).get("latency", {}).get("max", [])
    return str(most[0]["name"]) if most else ""
