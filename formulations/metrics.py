"""The metrics of a design by name: what objectives, limits and results may speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ithaca.formulations.cost_model import Costs
from ithaca.formulations.systolic_array import SystolicArray


@dataclass(frozen=True, slots=True)
class Metric:
    """A named metric.

    Attributes
    ----------
    name : str
        Name in objectives, limits and results.
    unit : str
        Its unit.
    meaning : str
        One line for users.
    """

    name: str
    unit: str
    meaning: str


METRICS: Mapping[str, Metric] = {
    m.name: m
    for m in (
        Metric("latency", "cycles", "prologue + main + epilogue"),
        Metric("prologue", "cycles", "filling the array with the first tile"),
        Metric("main", "cycles", "the slowest module or the PEs, over all tiles"),
        Metric("epilogue", "cycles", "draining the last tile"),
        Metric("dsp", "blocks", "DSP blocks of all PEs"),
        Metric("bram18k", "blocks", "18-kbit block RAMs of all buffers"),
        Metric("off_chip_words", "words", "words moved between the array and DRAM"),
    )
}


def metric_values(costs: Costs) -> dict[str, Any]:
    """The value of every metric, in the number system of ``costs``."""
    return {name: getattr(costs, name) for name in METRICS}


def array_words(array: SystolicArray, costs: Costs) -> dict[str, Any]:
    """Off-chip words by array name, in the order of the accesses."""
    return {name: costs.words[name] for name in dict.fromkeys(g.array for g in array.groups) if name in costs.words}
