"""Objectives and limits: expressions over metrics."""

from __future__ import annotations

from fractions import Fraction

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective
from ithaca.formulations.systolic.metrics import METRICS


def parse_objective(text: str) -> Objective:
    """Read an objective such as ``latency`` or ``latency + 100*dsp``.

    Raises
    ------
    InputError
        If it is no expression, or names an unknown metric.
    """
    return Objective(text, parse_expression(text, where="--objective", allowed=tuple(METRICS)))


def parse_limit(metric: str, bound: Fraction) -> Limit:
    """Read a limit on a metric or on an expression such as ``latency*dsp``.

    Raises
    ------
    InputError
        If it is no expression, names an unknown metric, or limits a metric to less than 0.
    """
    parse_expression(metric, where="limit", allowed=tuple(METRICS))
    return Limit(metric, bound)
