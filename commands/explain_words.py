"""Explanations in plain words: one statement a line, every figure computed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.formulations.problem import SpaceOptions
from ithaca.formulations.shown_numbers import counted, is_or_are, number, percent
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.solver.certificate import Status
from ithaca.solver.loaded_result import LoadedResult
from ithaca.studies.explanation.binding import PES, Binding, Contender
from ithaca.studies.explanation.changes import RAISES, Change, Kind, unbound, worthless
from ithaca.studies.explanation.cycles import Cycles
from ithaca.studies.explanation.explanation import Explanation
from ithaca.studies.explanation.padding import LoopPadding, Padding
from ithaca.studies.explanation.roofs import ComputeRoof, Roofs, TrafficRoof
from ithaca.studies.explanation.slack import LimitUse


def statements(result: LoadedResult, explanation: Explanation) -> list[str]:
    """An explanation, one statement a line."""
    return list(_statements(result, explanation))


def _statements(result: LoadedResult, explanation: Explanation) -> Iterator[str]:
    yield (
        f"Result: {result.nest.name} ({result.nest.shown_sizes}) {result.data.name} on {result.platform_name}, "
        f"{result.edition.value} edition, minimising {result.objective.text}."
    )
    known = explanation.facts
    if known is None or explanation.array is None or explanation.certificate is None:
        yield f"No configuration: {explanation.failure}."
        return
    certificate = explanation.certificate
    proof = "proven optimal" if certificate.status is Status.OPTIMAL else "not proven optimal"
    if certificate.status is not Status.OPTIMAL and certificate.lower_bound is not None:
        proof += f"; no less than {number(certificate.lower_bound)} is possible"
    yield f"Design: {explanation.array.name}; {result.objective.text} is {number(known.value)} ({proof})."
    if explanation.array.reservation:
        yield f"Design: {explanation.array.reservation}."
    yield from _binding(known.binding)
    yield from _cycles(known.cycles)
    yield from _padding(known.padding)
    for use in known.limits:
        yield _limit(use)
    yield from _roofs(known.roofs)
    if explanation.next_best is not None:
        yield _rival(result.objective.text, known.value, *explanation.next_best)
    yield from _change(result, explanation)


def _binding(binding: Binding) -> Iterator[str]:
    first = binding.first
    subject, verb = ("the PEs", "work") if first.name == PES else (first.name, "works")
    yield (
        f"Binding: {subject} {verb} {number(first.cycles)} of the {number(binding.main)} cycles of the main phase, "
        f"{percent(binding.share)} of the latency of {number(binding.latency)} cycles."
    )
    if binding.waiting:
        several = f"{number(binding.waiting)} cycles of the main phase are buffers that swap"
        swaps = "cycle of the main phase is a buffer that swaps" if binding.waiting == 1 else several
        yield f"Binding: the other {swaps}, one cycle a tile."
    if binding.second is not None and binding.ratio is not None:
        yield (
            f"Next: {_who(binding.second)} with {number(binding.second.cycles)} cycles; "
            f"{_who(first)} takes {'just' if binding.ratio == 1 else f'{number(binding.ratio)} times'} as long."
        )


def _who(contender: Contender) -> str:
    return "the work of the PEs" if contender.name == PES else contender.name


def _cycles(cycles: Cycles) -> Iterator[str]:
    shares = cycles.shares
    parts = {
        "useful": "the nest's own operations on all MAC units",
        "padding": "operations on padding",
        "partial_sums": "loading and storing partial sums in the PEs",
        "waiting": "PEs that wait in the main phase, for transfers or for buffers to swap",
    }
    for name, meaning in parts.items():
        if getattr(cycles, name):
            yield f"Cycles: {number(getattr(cycles, name))} ({percent(shares[name])}) are {meaning}."
    yield (
        f"Cycles: {number(cycles.fill)} ({percent(cycles.fill / cycles.latency)}) fill and drain the pipeline: "
        f"prologue {number(cycles.prologue)}, epilogue {number(cycles.epilogue)}."
    )


def _padding(padding: Padding) -> Iterator[str]:
    if not padding.share:
        yield "Padding: none; all tiles are whole."
        return
    yield (
        f"Padding: {padding.padded_operations:,} multiply-accumulates are done for the nest's {padding.operations:,}; "
        f"{percent(padding.share)} of them are padding."
    )
    for loop in padding.loops:
        if loop.padded != loop.extent:
            yield _loop(loop)


def _loop(loop: LoopPadding) -> str:
    text = f"Padding: loop {loop.loop} runs {loop.padded:,} iterations for {loop.extent:,}"
    if loop.idle_lanes:
        verb = "has" if loop.idle_lanes == 1 else "have"
        text += f"; {loop.idle_lanes} of its {loop.lanes} lanes {verb} nothing to do in the last tile"
    if loop.idle_simd:
        text += f"; {counted(loop.idle_simd, 'SIMD lane')} {is_or_are(loop.idle_simd)} idle in the last vector"
    return text + "."


def _limit(use: LimitUse) -> str:
    unit = f" {METRICS[use.metric].unit}" if use.metric in METRICS else ""
    left = "none is left" if not use.slack else f"{number(use.slack)} left"
    if use.slack and use.slack_share is not None:
        left += f" ({percent(use.slack_share)})"
    return f"Limit {use.metric}: {number(use.used)} of {number(use.bound)}{unit} used, {left}."


def _roofs(roofs: Roofs) -> Iterator[str]:
    traffic = roofs.traffic
    yield (
        f"Compute roof of this array: its {roofs.array.units:,} MAC units need at least {number(roofs.array.cycles)} cycles; "
        f"{_distance(roofs, roofs.array)}."
    )
    if roofs.budget is not None:
        yield (
            f"Compute roof of the budget: the limits allow {roofs.budget.units:,} MAC units, which need at least "
            f"{number(roofs.budget.cycles)} cycles; {_distance(roofs, roofs.budget)}."
        )
    yield (
        f"Traffic roof: moving each array once, {traffic.array} with its {traffic.least[traffic.array]:,} words takes longest, "
        f"at least {number(traffic.cycles)} cycles at {traffic.port_words} words per cycle; {_distance(roofs, traffic)}."
    )
    more = ", ".join(f"{name} {number(words / traffic.least[name])}" for name, words in traffic.moved.items())
    yield (
        f"Traffic: {number(traffic.moved_words)} off-chip words are moved where {traffic.least_words:,} are the least, "
        f"{_times_as_many(traffic.moved_words / traffic.least_words)} (by array: {more})."
    )
    yield (
        f"Arithmetic intensity: {number(roofs.intensity)} multiply-accumulates per off-chip word, "
        f"at most {number(roofs.most_intensity)} if each array were moved once."
    )


def _times_as_many(ratio: Fraction) -> str:
    return "just as many" if ratio == 1 else f"{number(ratio)} times as many"


def _distance(roofs: Roofs, roof: ComputeRoof | TrafficRoof) -> str:
    distance = roofs.distance(roof)
    return f"the latency is {number(distance)} times that" if distance >= 2 else f"the latency is {percent(distance - 1)} above"


def _rival(objective: str, value: Fraction, name: str, other: Fraction) -> str:
    if not value:
        return f"Other designs: the best of them in this result is {name}, {objective} {number(other)}."
    difference = (other - value) / abs(value)
    how = f"{percent(abs(difference))} {'more' if difference > 0 else 'less'}" if difference else "the same"
    return f"Other designs: the best of them in this result is {name}, {objective} {number(other)}, {how}."


def _change(result: LoadedResult, explanation: Explanation) -> Iterator[str]:
    objective, changes = result.objective.text, explanation.changes
    if changes is None:
        yield "To change first: not computed (--quick)."
        return
    idle = worthless(changes)
    for change in changes:
        if change.what not in idle or change.kind is not Kind.LIMIT:
            yield f"Tried: {_tried(change)}: {objective} {_effect(change)}."
    for metric in idle:
        yield f"Tried: {metric} raised by {' % or '.join(map(str, RAISES))} %: no change of {objective} (proven)."
    first = explanation.first
    if first is not None:
        yield f"To change first: {_tried(first)}; {objective} {_effect(first)}, the largest gain of those tried."
    elif unbound(changes):
        yield (
            "To change first: nothing that was tried helps (proven). No limit binds: the extents and the latency hiding "
            f"that the accumulators need allow nothing better{_restrictions(result.space)}."
        )
    elif all(change.proven for change in changes) and changes:
        yield "To change first: nothing that was tried helps (proven)."
    else:
        yield "To change first: no gain was proven" + (" in time." if changes else "; there is no limit to raise.")


def _restrictions(space: SpaceOptions) -> str:
    """The options that restrict a design space, to be named as causes as well."""
    given = [name for name, on in (("--min-lanes", space.min_lanes > 1), ("--divisors-only", space.divisors_only)) if on]
    return f" within {' and '.join(given)}" if given else ""


def _tried(change: Change) -> str:
    if change.kind is Kind.LIMIT:
        return f"raise {change.what} by {change.percent} %, from {number(change.limit)} to {number(change.raised)}"
    if change.kind is Kind.NO_LIMITS:
        return "drop all limits"
    return f"take design {change.what} instead" if change.kind is Kind.DESIGN else f"search on (design {change.what})"


def _effect(change: Change) -> str:
    gain = change.gain
    proof = "proven" if change.proven else "not proven"
    if change.before == change.after:
        return f"stays {number(change.before)} ({'proven' if change.proven else 'not decided in time'})"
    if gain is None:
        return f"{number(change.before)} becomes {number(change.after)} ({proof})"
    sign = "−" if gain > 0 else "+"
    return f"{number(change.before)} becomes {number(change.after)} ({sign}{percent(abs(gain))}, {proof})"
