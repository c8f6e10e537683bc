"""Explained search of hardware: relieve what binds the layers that count most, one parameter at a
time.

The loop of S. Dave, T. Nowatzki, A. Shrivastava, "Explainable-DSE" (ASPLOS 2023), on bottleneck
trees that follow from the model (`ithaca.formulations.bottleneck`): at the incumbent, every layer
of the `LAYERS` largest whose share of the objective is above `SHARE` / layers predicts values of
what it is bound by; of several predictions for a parameter the smallest counts, rounded up to the
space; each is tried by itself, and the incumbent is what meets the limits at least objective times
mean share of the limits used, else what has the least mean share. Ours is this: the search begins
at the smallest accelerator, under limits with all of what only helps and costs nothing; a
prediction that the parameter meets already, or that has no end, asks for the next value; parts that
are equally large all bind; all changes at once are one more candidate, as several parts often bind
all but equally, and the only one as long as limits are exceeded and it helps; and what exceeds
limits of the hardware by itself is no incumbent, as nothing here makes it smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.numbers import number, percent
from ithaca.formulations.bottleneck import bindings, bottleneck
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.codesign.studies.evaluator import (
    HardwareEvaluation,
    HardwareEvaluator,
    SearchOverError,
)
from ithaca.plugins.codesign.studies.narrowing import narrowed
from ithaca.plugins.codesign.studies.question import CodesignQuestion

#: Most layers that are looked at, and the least share of the objective of one, times the number of
#: layers.
LAYERS, SHARE = 5, Fraction(1, 2)


def search_explained(evaluator: HardwareEvaluator) -> None:
    """Search until no candidate is better than the incumbent, or the trials are used up; the
    evaluator's trail is told step by step."""
    space, trail = evaluator.question.space, evaluator.trail
    if evaluator.objectives > 1:
        raise InputError("--method is explained with several --objectives; allowed: one objective")
    try:
        incumbent = evaluator.evaluate(_smallest(evaluator.question))
        trail.append(
            f"begin with {_named(space, incumbent.point)}: {_outcome(evaluator, incumbent)}"
        )
        for step in range(1, evaluator.trials + 1):
            changes, best = dict[str, int](), incumbent
            for name, value, why in _predictions(evaluator, incumbent):
                trail.append(f"step {step}: {why}")
                changes[name] = min(changes.get(name, value), value)
            single = [{name: value} for name, value in changes.items()]
            for change in (*single, changes) if incumbent.feasible else (changes, *single):
                point = Configuration({**incumbent.point, **change})
                if space.allows(point) and point not in evaluator.history:
                    tried = evaluator.evaluate(point)
                    trail.append(
                        f"step {step}: try {_named(space, change)}: {_outcome(evaluator, tried)}"
                    )
                    best = min(best, tried, key=_key)
                    if best is not incumbent and not incumbent.feasible and change is changes:
                        break
            if best is incumbent:
                trail.append(f"step {step}: nothing tried is better; the search ends")
                return
            incumbent = best
            trail.append(f"step {step}: go on with {_named(space, incumbent.point)}")
    except SearchOverError:
        trail.append("the trials are used up")


def _smallest(question: CodesignQuestion) -> Configuration:
    """The corner of all smallest values, or the first accelerator after it that keeps the rules;
    under limits, what only helps and costs nothing of these is at its best."""
    space = question.space
    whole = narrowed(question) if question.limits else space.box
    boxes = [whole]
    while boxes:
        box = boxes.pop()
        if (point := box.point) is not None and space.allows(point):
            return point
        if point is None and space.may_allow(box):
            name = next(q.name for q in box.quantities if len(q.values) > 1)
            boxes += reversed(box.split(name))
    return whole.corner(high=False)


def _key(evaluation: HardwareEvaluation) -> tuple[int, Fraction]:
    """A sort key of evaluations, the best first: feasible ones by objective and use of the budgets,
    then those that use least of them."""
    if evaluation.hardware is None:
        return 2, Fraction(0)
    if evaluation.feasible:
        return 0, evaluation.hardware.values[0] * evaluation.mean_share
    return 1, evaluation.mean_share


def _predictions(
    evaluator: HardwareEvaluator, incumbent: HardwareEvaluation
) -> Iterator[tuple[str, int, str]]:
    """Predictions by layer that counts and what binds it: a parameter, the value that it should
    have, and why: s is what binds over what is next."""
    if incumbent.hardware is None:
        return
    lead, space = evaluator.lead, evaluator.question.space
    objective, figures = lead.of_layer(incumbent.hardware.known), space.at(incumbent.point)
    runs = [
        share * objective.value(s.metrics)
        for share, s in zip(lead.shares, incumbent.hardware.layers, strict=True)
    ]
    ranked = sorted(range(len(runs)), key=lambda place: -runs[place])[:LAYERS]
    for place in ranked:
        contribution = runs[place] / sum(runs) if sum(runs) else Fraction(0)
        if contribution * len(runs) <= SHARE:
            continue
        solution = incumbent.hardware.layers[place]
        assert solution.configuration is not None
        design = solution.problem.design
        remedies = profile_of(design).remedies(solution.configuration)
        able = {
            name
            for name, each in remedies.items()
            if any(remedy.figure in figures for remedy in each)
        }
        tree = bottleneck(design, solution.configuration, objective.expression, objective.text)
        layer = f"{evaluator.question.works[place].name} ({percent(contribution)})"
        for binding in bindings(tree, able.__contains__):
            s = "" if binding.ratio is None else f", {float(binding.ratio):.3g} times the next"
            why = f"{layer}: {' › '.join(binding.names)} binds{s}"
            # of two parts that ask for the same the inner one knows better
            innermost = {
                remedy.figure: remedy for name in binding.names for remedy in remedies.get(name, ())
            }
            for remedy in (remedy for figure, remedy in innermost.items() if figure in figures):
                now = figures[remedy.figure]
                wanted = remedy.predicted(now, binding.ratio, binding.share)
                more = "more" if wanted is None else number(wanted)
                for quantity, value in _rounded_up(space, incumbent.point, remedy.figure, wanted):
                    asks = f"{remedy.figure} {number(now)} → {more}, {quantity} = {value}"
                    yield quantity, value, f"{why}: {asks}"


def _rounded_up(
    space: HardwareSpace, point: Configuration, name: str, wanted: Fraction | None
) -> Iterator[tuple[str, int]]:
    """The smallest value above the present one at which a figure is what is wanted, by parameter
    that the figure rises with.

    Where that has no end, the next value; where no value suffices, the largest.
    """
    figure, now = space.figures[name], space.figures[name].at(point)
    for quantity in (each for each in space.quantities if each.name in figure.symbols):
        reached = ((value, figure.at({**point, quantity.name: value})) for value in quantity.values)
        higher = [(value, at) for value, at in reached if value > point[quantity.name] and at > now]
        enough = [value for value, at in higher if wanted is not None and at >= wanted]
        if higher:
            yield (
                quantity.name,
                higher[0][0] if wanted is None else enough[0] if enough else higher[-1][0],
            )


def _named(space: HardwareSpace, point: Mapping[str, int]) -> str:
    return ", ".join(
        f"{q.name} {q.label(point[q.name])}" for q in space.quantities if q.name in point
    )


def _outcome(evaluator: HardwareEvaluator, evaluation: HardwareEvaluation) -> str:
    """The objective of an accelerator, and what it uses of the limits."""
    question = evaluator.question
    if evaluation.hardware is None:
        return "too large by itself" if evaluation.shares else "some layer cannot run"
    limited = (amount for amount in question.limited if amount.bound is not None)
    uses = [
        f"{amount.text} {percent(share)}"
        for amount, share in zip(limited, evaluation.shares, strict=True)
    ]
    value = f"{question.objectives[0].text} {number(evaluation.hardware.values[0])}"
    return value + (f"; of the limits {', '.join(uses)}" if uses else "")
