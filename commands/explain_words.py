"""Explanations in plain words: one statement a line, every figure computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ithaca.formulations.design import Metric
from ithaca.formulations.shown_numbers import number, percent
from ithaca.results.certificate import Status
from ithaca.results.result import Result
from ithaca.studies.explanation import RAISES, Change, Explanation, Kind, LimitUse, unbound, worthless


def statements(result: Result, explanation: Explanation) -> list[str]:
    """An explanation, one statement a line."""
    return list(_statements(result, explanation))


def _statements(result: Result, explanation: Explanation) -> Iterator[str]:
    objective, solution = result.objective.text, explanation.solution
    yield f"Result: {result.problem.design.title}, on {result.platform_name}, minimising {objective}."
    if solution is None or solution.value is None or explanation.certificate is None:
        yield f"No configuration: {explanation.failure}."
        return
    certificate = explanation.certificate
    proof = "proven optimal" if certificate.status is Status.OPTIMAL else "not proven optimal"
    if certificate.status is not Status.OPTIMAL and certificate.lower_bound is not None:
        proof += f"; no less than {number(certificate.lower_bound)} is possible"
    yield f"Design: {solution.design}; {objective} is {number(solution.value)} ({proof})."
    yield from explanation.remarks.statements
    for use in explanation.limits:
        yield _limit(use, solution.problem.design.vocabulary)
    if explanation.next_best is not None:
        yield _rival(objective, solution.value, *explanation.next_best)
    yield from _change(result, explanation)


def _limit(use: LimitUse, vocabulary: Mapping[str, Metric]) -> str:
    unit = f" {vocabulary[use.metric].unit}" if use.metric in vocabulary else ""
    left = "none is left" if not use.slack else f"{number(use.slack)} left"
    if use.slack and use.slack_share is not None:
        left += f" ({percent(use.slack_share)})"
    return f"Limit {use.metric}: {number(use.used)} of {number(use.bound)}{unit} used, {left}."


def _rival(objective: str, value: Fraction, name: str, other: Fraction) -> str:
    if not value:
        return f"Other designs: the best of them in this result is {name}, {objective} {number(other)}."
    difference = (other - value) / abs(value)
    how = f"{percent(abs(difference))} {'more' if difference > 0 else 'less'}" if difference else "the same"
    return f"Other designs: the best of them in this result is {name}, {objective} {number(other)}, {how}."


def _change(result: Result, explanation: Explanation) -> Iterator[str]:
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
            "To change first: nothing that was tried helps (proven). No limit binds: "
            f"{result.problem.design.innate} nothing better."
        )
    elif all(change.proven for change in changes) and changes:
        yield "To change first: nothing that was tried helps (proven)."
    else:
        yield "To change first: no gain was proven" + (" in time." if changes else "; there is no limit to raise.")


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
