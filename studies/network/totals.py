"""Objectives over several layers: which have a sum, and what is proven about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from ithaca.formulations.problem import Objective
from ithaca.solver.certificate import among_all
from ithaca.solver.conclusion import conclude
from ithaca.solver.solution import Solution
from ithaca.studies.best import conclude_least
from ithaca.studies.network.result import Total

#: Metrics of which runs, one after the other, take the sum.
ADDITIVE = ("latency", "time", "prologue", "main", "epilogue", "off_chip_words", "comm", "energy")


def adds_up(objective: Objective) -> bool:
    """Whether an objective is the sum of what the runs of all layers take.

    That holds for sums, constant multiples, maxima and minima of metrics that add up. A maximum,
    such as ``max(latency, off_chip_words/8)``, is taken per run, as layers run one after the other.
    It does not hold for resources, rates, and products such as ``edp``.
    """
    return _adds_up(objective.expression)


def require_sum(objective: Objective, what: str) -> None:
    """Refuse an objective that does not add up, where a sum is needed."""
    if not adds_up(objective):
        raise InputError(
            f"--objective '{objective.text}' does not add up over layers, which {what} needs; "
            f"allowed: sums, multiples, max and min of {', '.join(ADDITIVE)}"
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
    return Total(value, proof.within(among, among_all(c for c in certificates if c.empty)))


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
