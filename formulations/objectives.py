"""Objectives: expressions over metrics."""

from __future__ import annotations

from ithaca.formulations.metrics import METRICS
from ithaca.formulations.parsing import parse_expression
from ithaca.formulations.problem import Objective


def parse_objective(text: str) -> Objective:
    """Read an objective such as ``latency`` or ``latency + 100*dsp``.

    Raises
    ------
    InputError
        If it is no expression, or names an unknown metric.
    """
    return Objective(text, parse_expression(text, where="--objective", allowed=tuple(METRICS)))
