"""Objectives over several layers: which have a sum, and what is proven about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.directions import name_asked
from ithaca.formulations.problem import Objective
from ithaca.solver.certificate import Certificate, Further, Status, among_all
from ithaca.solver.conclusion import conclude, conclude_least
from ithaca.solver.solution import Solution
from ithaca.studies.network.result import Total

#: Metrics of which runs, one after the other, take the sum.
ADDITIVE = ("latency", "time", "prologue", "main", "epilogue", "off_chip_words", "comm", "energy")


def adds_up(objective: Objective) -> bool:
    """Whether an objective is the sum of what the runs of all layers take.

    That holds for sums, constant multiples, maxima and minima of metrics that add up. A maximum,
    such as ``max(latency, off_chip_words/8)``, is taken per run, as layers run one after the other.
    It does not hold for resources, rates, and products such as ``edp``; ``sum(edp)`` is the sum of
    what runs have.
    """
    return all(each.summed or _adds_up(each.expression) for each in objective.order)


def require_one(objective: Objective, what: str) -> None:
    """Refuse several objectives in order, where one sum is needed."""
    if objective.then is not None:
        raise InputError(
            f"--objective '{objective.text}' is several in order; allowed with {what}: one"
        )
    require_sum(objective, what)


def require_sum(objective: Objective, what: str) -> None:
    """Refuse objectives that do not add up, where sums are needed."""
    if not adds_up(objective):
        raise InputError(
            f"--objective '{name_asked(objective.text)}' does not add up over layers, which {what} "
            f"needs; allowed: sums, multiples, max and min of {', '.join(ADDITIVE)}"
        )


def total(parts: Iterable[tuple[int, Solution | Total]], method: str) -> Total:
    """The sum of an objective over layers: how often each runs, its objective, and what is proven
    about it.

    Optimal only if the sum of the lower bounds equals the sum of the values exactly; infeasible if
    a layer is. Boxes and seconds are those of all parts.
    """
    parts = list(parts)
    value = _sum((count, part.value) for count, part in parts)
    bound = _sum((count, part.certificate.lower_bound) for count, part in parts)
    certificates = [part.certificate for _, part in parts]
    infeasible, among = any(c.empty for c in certificates), among_all(certificates)
    nodes, seconds = sum(c.nodes for c in certificates), sum(c.seconds for c in certificates)
    proof = conclude(value, bound, complete=infeasible, method=method, nodes=nodes, seconds=seconds)
    proof = proof.within(among, among_all(c for c in certificates if c.empty))
    if proof.status is Status.OPTIMAL:
        # sums are least in all objectives, in order, where every part is
        proof = replace(proof, then=_further([(count, part.certificate) for count, part in parts]))
    return Total(value, proof)


def _further(parts: Sequence[tuple[int, Certificate]]) -> Further | None:
    """The sum of the next objective, with what is proven of it; None where a part says nothing."""
    each = [(count, known.then) for count, known in parts if known.then is not None]
    if len(each) < len(parts):
        return None
    value = sum((count * then.value for count, then in each), Fraction(0))
    bound = _sum((count, then.certificate.lower_bound) for count, then in each)
    proof = conclude(value, bound, method=each[0][1].certificate.method)
    then = _further([(count, then.certificate) for count, then in each])
    return Further(each[0][1].objective, value, replace(proof, then=then))


def best_total(totals: Sequence[Total]) -> Total:
    """The least of several totals, with what is proven over all of them."""
    value = min((t.value for t in totals if t.value is not None), default=None)
    return Total(value, conclude_least([(t.value, t.certificate) for t in totals]))


def _sum(parts: Iterable[tuple[int, Fraction | None]]) -> Fraction | None:
    """Σ count · number; None if one of them is not known."""
    result = Fraction(0)
    for count, number in parts:
        if number is None:
            return None
        result += count * number
    return result


def _adds_up(node: Expression) -> bool:
    match node:
        case Constant():
            return True
        case Symbol():
            return node.name in ADDITIVE
        case Sum():
            return all(map(_adds_up, node.terms))
        case Product():
            return (
                len(node.factors) == 1 and node.factors[0][1] == 1 and _adds_up(node.factors[0][0])
            )
        case Maximum() | Minimum():
            return all(map(_adds_up, node.arguments))
        case CeilingDivision():
            return isinstance(node.denominator, Constant) and _adds_up(node.numerator)
    return False
