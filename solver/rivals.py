"""Rivals of a search that ends within a gap."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.solver.certificate import Termination
from ithaca.solver.solution import Solution


def within_gap(
    solutions: Sequence[Solution], rivals: Sequence[Hashable] | None = None
) -> tuple[Solution, ...]:
    """Say of solutions that ended within a gap of the best of their rivals no more than that.

    Parameters
    ----------
    solutions : sequence of Solution
        The solutions of some problems.
    rivals : sequence of hashable, optional
        A key of each; solutions of the same key are rivals. By default all are.

    Returns
    -------
    tuple of Solution
        The solutions; *not better* are those of which the lower bound is no less than the best.
    """
    keys = [None] * len(solutions) if rivals is None else rivals
    best: dict[Hashable, Fraction] = {}
    for key, solution in zip(keys, solutions, strict=True):
        if solution.value is not None:
            best[key] = min(solution.value, best.get(key, solution.value))

    def stated(key: Hashable, solution: Solution) -> Solution:
        proof = solution.certificate
        bound = proof.lower_bound
        if not proof.beaten or (bound is not None and key in best and bound >= best[key]):
            return solution
        return replace(solution, certificate=replace(proof, termination=Termination.GAP))

    return tuple(map(stated, keys, solutions))
