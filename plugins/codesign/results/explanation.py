"""Explain a co-design: what the accelerator spends where, what binds, and what more of each thing
would buy, proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, number, percent
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.directions import as_asked, goal, name_asked
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Limit
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.results.layers import (
    cost_text,
    energies,
    limit_uses,
)
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult, HardwarePoint
from ithaca.results.explanation import RAISES, Change, ChangeKind
from ithaca.results.network_explanation import explain_network, network_statements
from ithaca.solver.certificate import Status, as_stated

#: Answers a question about the same kind of accelerator.
Solve = Callable[[CodesignQuestion], CodesignResult]


def changes(result: CodesignResult, solve: Solve) -> tuple[Change, ...]:
    """Change one thing at a time: the next value of each quantity, all else as it is, and each
    limit raised.

    With the next value the limits on the hardware are left aside, and layers are mapped anew; with
    a limit raised, all accelerators are searched. Nothing is extrapolated; quantities that cannot
    have a next value are left out.
    """
    best = result.best
    if best is None or len(result.question.objectives) > 1:
        return ()
    proven, value, steps = result.certificate.status is Status.OPTIMAL, best.values[0], []
    for quantity in result.question.space.quantities:
        more = _next(quantity, best.point[quantity.name])
        after = (
            None if more is None else _at(result.question, best.point, {quantity.name: more}, solve)
        )
        if after is not None and after.best is not None and more is not None:
            unit = f" {quantity.unit}" if quantity.unit else ""
            what = (
                f"{quantity.name} {quantity.label(more)}{unit} instead of "
                f"{quantity.label(best.point[quantity.name])}{unit}"
            )
            what += "".join(_cost(result.question, name, best, after.best) for name in best.costs)
            # of one accelerator, layers that are proven are enough
            known = proven or all(layer.settled for layer in best.layers)
            known &= after.certificate.status is Status.OPTIMAL
            steps.append(Change(ChangeKind.HARDWARE, what, value, after.best.values[0], known))
    for percentage in RAISES:
        for place, limit in enumerate(result.question.limits):
            if limit.required:
                continue
            raised = Limit(limit.metric, limit.bound * (1 + Fraction(percentage, 100)))
            limits = (*result.question.limits[:place], raised, *result.question.limits[place + 1 :])
            again = solve(replace(result.question, limits=limits))
            if again.best is not None:
                known = proven and again.certificate.status is Status.OPTIMAL
                ends = (limit.bound, raised.bound)
                steps.append(
                    Change(
                        ChangeKind.LIMIT,
                        limit.metric,
                        value,
                        again.best.values[0],
                        known,
                        percentage,
                        *ends,
                    )
                )
    return tuple(steps)


def _next(quantity: Quantity, value: int) -> int | None:
    """The next value, beyond the space's largest as those before suggest; None of choices, which
    have no more."""
    larger = [each for each in quantity.values if each > value]
    if larger or quantity.labels or len(quantity.values) < 2:
        return larger[0] if larger and not quantity.labels else None
    before = quantity.values[-2]
    return value * value // before if value % before == 0 else 2 * value - before


def _at(
    question: CodesignQuestion, point: Configuration, other: dict[str, int], solve: Solve
) -> CodesignResult | None:
    """The result of one accelerator, without limits on the hardware; None if there is none such."""
    values = {**point, **other}
    space, limits = (
        question.space,
        tuple(x for x in question.limits if x.required or question.of_runs(x.expression)),
    )
    alone = replace(space.only({name: (value,) for name, value in values.items()}), rules=())
    try:
        alone.at(Configuration(values))
        return solve(replace(question, space=alone, limits=limits))
    except (InputError, KeyError):  # it cannot be had, or tables do not say what it takes
        return None


def _cost(
    question: CodesignQuestion, name: str, before: HardwarePoint, after: HardwarePoint
) -> str:
    """The change of a cost, in words."""
    old, new = before.costs[name], after.costs[name]
    return "" if old == new else f", {cost_text(question, name, new)} instead of {number(old)}"


def statements(result: CodesignResult) -> Iterator[str]:
    """A co-design in plain words, one statement a line, without what to change."""
    question, best = result.question, result.best
    space, texts = question.space, [objective.text for objective in question.objectives]
    yield f"Result: {space.name} for {', '.join(question.workloads)}, {goal(texts)}."
    yield f"Counted: {question.share.statement}."
    if best is None:
        return
    if len(question.objectives) > 1:
        among = f" among {result.certificate.among}" if result.certificate.among else ""
        proof = f"the whole front{among}, proven" if result.settled else "others may be better"
        many = counted(len(result.front), "point")
        yield f"Front: {many}, {proof}{result.basis}{as_stated(result)}."
        for place, objective in enumerate(question.objectives):
            accelerator = min(result.front, key=lambda accelerator: accelerator.values[place])
            what, value = as_asked(objective.text, accelerator.values[place])
            side = "Least" if what == objective.text else "Most"
            yield f"{side} {what}: {number(value)}, with {space.text(accelerator.point)}."
        return
    bound = result.certificate.lower_bound
    what, own = as_asked(texts[0], bound)
    side = "below" if what == texts[0] else "above"
    least = "" if own is None else f"; no accelerator of the space is {side} {number(own)}"
    among = f", with {result.certificate.among}" if result.certificate.among else ""
    proof = (
        f"proven{result.basis}: no accelerator of the space is better{among}"
        if result.settled
        else f"not proven{result.basis}{least}"
    )
    proof += as_stated(result)
    yield f"Hardware: {space.text(best.point)}."
    if full := [
        q.name
        for q in space.quantities
        if best.point[q.name] == q.values[-1] != q.values[0] and not q.labels
    ]:
        yield f"At the end: {', '.join(full)} at the largest value of the space."
    value = as_asked(texts[0], best.values[0])[1]
    yield f"Objective: {cost_text(question, ', '.join(map(name_asked, texts)), value)} ({proof})."
    if best.costs:
        costs = ", ".join(cost_text(question, name, cost) for name, cost in best.costs.items())
        yield f"Costs: {costs}."
    for use in limit_uses(question, best):
        if is_requirement(use.metric):
            yield f"Requirement {use.metric}: it holds, with {number(use.slack)} to spare."
            continue
        left = f"{number(use.slack)} left" if use.slack else "none is left"
        yield f"Limit {use.metric}: {number(use.used)} of {number(use.bound)} used, {left}."
    yield from _energy(question, best)
    several = len(question.workloads) > 1
    for network in result.networks:
        for statement in network_statements(network, explain_network(network)):
            if not statement.startswith(("Result: ", "In full: ", *("Counted: ",) * (not several))):
                yield f"{network.network.name}: {statement}" if several else statement


def _energy(question: CodesignQuestion, best: HardwarePoint) -> Iterator[str]:
    """The energy of all runs by level."""
    spent: dict[str, Fraction] = {}
    for own in energies(question, best).values():
        for level, energy in own.items():
            spent[level] = spent.get(level, Fraction(0)) + energy
    if whole := sum(spent.values(), Fraction(0)):
        shares = sorted(spent.items(), key=lambda each: -each[1])
        levels = ", ".join(f"{level} {percent(energy / whole)}" for level, energy in shares)
        yield f"Energy: {levels}."
