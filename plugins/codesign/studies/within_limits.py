"""Accelerators that keep limits on totals of runs which the objective does not follow.

A search for the objective alone meets such limits by chance. So the totals, as shares of their
limits, are minimised until an accelerator keeps them; there, and then around it, they are weighed
against the objective, by the weights of Lagrangian relaxation: of two mappings, one of which
exceeds limits, the next weight is the one that makes them equal.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression, add, multiply
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective
from ithaca.formulations.region import Region
from ithaca.plugins.codesign.studies.boxes import Kept
from ithaca.plugins.codesign.studies.candidates import Candidates
from ithaca.plugins.codesign.studies.incumbents import climb
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion
from ithaca.studies.scale import wording

#: Weights that are tried on one accelerator, and their significant digits.
ROUNDS, DIGITS = 8, 3


def apart(question: CodesignQuestion) -> tuple[Amount, ...]:
    """The limits on totals of runs of anything but the first objective."""
    first = question.amounts[0].expression
    return tuple(
        a
        for a in question.limited
        if a.shares and a.bound is not None and a.bound > 0 and a.expression != first
    )


def limits_note(question: CodesignQuestion) -> str:
    """A note, in words, on the amounts that a search begins by minimising, as limits apart from the
    first objective bound them; empty without such limits."""
    names = ", ".join(dict.fromkeys(wording(amount.expression) for amount in apart(question)))
    return f", begun with least {names}" if names else ""


def begin(candidates: Candidates, box: Region, kept: Kept) -> bool:
    """Look in a box for an accelerator that keeps limits apart from the objective, and go on from
    there; whether that is all there is to it.

    Parameters
    ----------
    candidates : Candidates
        Accelerators that are known.
    box : Region
        Where to look.
    kept : Kept
        Limits that are kept to.
    """
    if not apart(candidates.question):
        return False
    least = _minimising(candidates, _use(candidates.question), any=True)
    least.probe(box, kept)
    for known in least.points:
        lead = weigh(candidates, known.point)
        if lead is candidates:
            return False
        climb(least.free, known.point, lead.judge, lead.solve, lambda: candidates.budget.over)
    return True


def weigh(candidates: Candidates, point: Configuration) -> Candidates:
    """Find mappings on an accelerator that keep limits apart from the objective: with what weight
    of these others may do so; without any where the objective's own mappings do."""
    question, objective = candidates.question, candidates.question.amounts[0]
    candidates.solve(point)
    if not apart(question) or not objective.shares:
        return candidates
    use = _use(question)
    lead = _minimising(candidates, use)
    lead.solve(point)
    outside, inside = (_taken(question, each, point) for each in (candidates, lead))
    if outside is None or inside is None or outside[2]:
        return candidates
    for _ in range(ROUNDS):
        more, less = inside[0] - outside[0], outside[1] - inside[1]
        if not inside[2] or more <= 0 or less <= 0 or candidates.budget.over:
            break
        weight = Fraction(f"{float(more / less):.{DIGITS}g}")
        trial = _minimising(candidates, add(objective.expression, multiply(weight, use)))
        trial.solve(point)
        taken = _taken(question, trial, point)
        if taken is None or taken in (outside, inside):
            break
        if taken[2]:
            lead, inside = trial, taken
        else:
            outside = taken
    return lead


def _use(question: CodesignQuestion) -> Expression:
    """Shares of limits that a run uses, in all."""
    shares = {
        a.expression: multiply(1 / (a.bound or Fraction(1)), a.expression) for a in apart(question)
    }
    return add(*shares.values())


def _minimising(candidates: Candidates, expression: Expression, *, any: bool = False) -> Candidates:
    """Candidates by another objective; what they find is offered to these, too."""
    question = replace(
        candidates.question, objectives=(Objective(wording(expression), expression),)
    )
    return replace(candidates, question=question, points=[], above=candidates, any=any)


def _taken(
    question: CodesignQuestion, candidates: Candidates, point: Configuration
) -> tuple[Fraction, Fraction, bool] | None:
    """The objective of an accelerator with its known mappings, the use of limits, and whether these
    are kept; None without mappings of all layers."""
    known = candidates.known(point)
    if known is None:
        return None
    uses = [known.total(amount) / (amount.bound or 1) for amount in apart(question)]
    value = known.total(question.minimised[0])
    return value, sum(uses, Fraction(0)), all(use <= 1 for use in uses)
