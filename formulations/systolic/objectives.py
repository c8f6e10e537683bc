"""Objectives: expressions over metrics."""

from __future__ import annotations

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Objective
from ithaca.formulations.systolic.metrics import METRICS


def parse_objective(text: str) -> Objective:
    """Read an objective such as ``latency`` or ``latency + 100*dsp``.

    Raises
    ------
    InputError
        If it is no expression, or names an unknown metric.
    """
    return Objective(text, parse_expression(text, where="--objective", allowed=tuple(METRICS)))
