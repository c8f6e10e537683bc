"""Metrics of a design in its tiling quantities, computed once per design."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ithaca.formulations.algebra.expression import ONE, Expression, Symbol
from ithaca.formulations.problem import Objective, Problem

#: Metrics kept; a study asks for a few of each of some thirty designs, again and again.
KEPT = 1024

_NOTHING = Objective("1", ONE)


def metric_form(problem: Problem, name: str) -> Expression:
    """A metric as an expression over tiling quantities, with the extents put in.

    Raises
    ------
    InputError
        If the metric is not known for the problem's technology.
    """
    return _form(replace(problem, limits=(), objective=_NOTHING), name)


def in_quantities(problem: Problem, expression: Expression) -> Expression:
    """An expression over metrics as one over tiling quantities."""
    return expression.substitute({name: metric_form(problem, name) for name in expression.symbols})


@lru_cache(maxsize=KEPT)
def _form(bare: Problem, name: str) -> Expression:
    return replace(bare, objective=Objective(name, Symbol(name))).symbolic().objective
