"""The metrics of a design by name, and the objectives and limits that are expressions over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Any

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Limit, Objective
from ithaca.formulations.systolic import quantities, silicon
from ithaca.formulations.systolic.activity import activity
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.technology import Technology
from ithaca.workloads.errors import InputError


@dataclass(frozen=True, slots=True)
class CostMetric(Metric):
    """A metric of systolic arrays."""

    compute: Callable[[Costs], Any]  #: Its value, in the number system of the costs
    silicon_only: bool = False  #: Whether it is known only where area and power regressions hold

    def known(self, technology: Technology) -> bool:
        """Whether a technology says enough to compute the metric."""
        return technology.cost_tables is not None or not self.silicon_only


def energy(costs: Costs) -> Any:
    """Energy of a run (pJ): activity counts times the technology's energies."""
    technology, numbers = costs.point.technology, costs.point.numbers
    total: Any = None
    for kind, count in activity(costs).items():
        part = count * numbers.number(getattr(technology, kind) * technology.mac_pj)
        total = part if total is None else total + part
    return total


def power(costs: Costs) -> Any:
    """Power (mW): by the regressions where they hold, else energy over time."""
    technology = costs.point.technology
    if technology.cost_tables is not None:
        return silicon.power(costs)
    # pJ per cycle times MHz is µW
    return energy(costs) * costs.point.numbers.number(technology.clock_mhz / 1000) / costs.latency


def area(costs: Costs) -> Any:
    """Area (µm²), by the regressions."""
    if costs.point.technology.cost_tables is None:
        raise InputError(
            "metric 'area' is not known for this platform; allowed: a platform with cost tables, such as asic-28nm"
        )
    return silicon.area(costs)


def throughput(costs: Costs) -> Any:
    """Operations per second (Gop/s): multiplications and one addition per iteration of the unpadded nest."""
    point = costs.point
    operations: Any = point.numbers.number(point.array.factors * point.technology.clock_mhz / 1000)
    for loop in (*point.array.band, *point.array.untiled):
        operations = operations * point.values[quantities.extent(loop).name]
    return operations / costs.latency


METRICS: Mapping[str, CostMetric] = {
    m.name: m
    for m in (
        CostMetric("latency", "cycles", "prologue + main + epilogue", attrgetter("latency")),
        CostMetric("prologue", "cycles", "filling the array with the first tile", attrgetter("prologue")),
        CostMetric("main", "cycles", "the slowest module or the PEs, over all tiles", attrgetter("main")),
        CostMetric("epilogue", "cycles", "draining the last tile", attrgetter("epilogue")),
        CostMetric("dsp", "blocks", "DSP blocks of all PEs", attrgetter("dsp")),
        CostMetric("bram18k", "blocks", "18-kbit block RAMs of all buffers", attrgetter("bram18k")),
        CostMetric("off_chip_words", "words", "words moved between the array and DRAM", attrgetter("off_chip_words")),
        CostMetric("comm", "words", "off-chip words, as the published objectives call them", attrgetter("off_chip_words")),
        CostMetric("comp", "MAC units", "multiply-accumulate units of all PEs", attrgetter("comp")),
        CostMetric("throughput", "Gop/s", "multiplications and an addition per iteration, over the latency", throughput),
        CostMetric("energy", "pJ", "activity counts times energies of the platform", energy),
        CostMetric("edp", "pJ·cycles", "energy times latency", lambda costs: energy(costs) * costs.latency),
        CostMetric("power", "mW", "energy over time, or the platform's regression", power),
        CostMetric("area", "µm²", "the platform's regression", area, silicon_only=True),
    )
}


def metric_values(costs: Costs, names: Collection[str] | None = None) -> dict[str, Any]:
    """Values of metrics, all that the technology knows unless named, in the number system of ``costs``.

    Raises `InputError` if a metric asked for is not known for the technology.
    """
    technology = costs.point.technology
    asked = [m for m in METRICS.values() if (m.known(technology) if names is None else m.name in names)]
    return {metric.name: metric.compute(costs) for metric in asked}


def tensor_words(array: SystolicArray, costs: Costs) -> dict[str, Any]:
    """Off-chip words by tensor, in the order of the accesses."""
    return {name: costs.words[name] for name in dict.fromkeys(g.tensor for g in array.groups) if name in costs.words}


def parse_objective(text: str) -> Objective:
    """Read an objective such as ``latency`` or ``latency + 100*dsp``.

    Raises `InputError` if it is no expression, or names an unknown metric.
    """
    return Objective(text, parse_expression(text, where="--objective", allowed=tuple(METRICS)))


def parse_limit(metric: str, bound: Fraction) -> Limit:
    """Read a limit on a metric or on an expression such as ``latency*dsp``.

    Raises `InputError` if it is no expression, names an unknown metric, or limits a metric to less than 0.
    """
    parse_expression(metric, where="limit", allowed=tuple(METRICS))
    return Limit(metric, bound)
