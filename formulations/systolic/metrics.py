"""The metrics of a design by name, and the objectives and limits that are expressions over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import ZERO
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.data_types import DataType
from ithaca.formulations.design import Metric
from ithaca.formulations.goals import OpenNames, is_requirement
from ithaca.formulations.problem import Limit, Objective, read_objective
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.logic import known, logic
from ithaca.formulations.systolic.quantities import ACCUMULATORS
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.technology import Technology


# functions by name, as metrics go to other processes
def _anywhere(technology: Technology, data: DataType) -> bool:
    return True


def _with_regressions(technology: Technology, data: DataType) -> bool:
    return technology.cost_tables is not None


def _with_uram(technology: Technology, data: DataType) -> bool:
    return technology.uram


@dataclass(frozen=True, slots=True)
class CostMetric(Metric):
    """A metric of systolic arrays."""

    compute: Callable[[Costs], Any]
    """Its value, in the number system of the costs."""
    where: Callable[[Technology, DataType], bool] = _anywhere
    """Whether a technology says enough to compute it for a data type."""


def activity(costs: Costs) -> dict[str, Any]:
    """Activity of a run by kind, named like the energies of a technology, at the point the costs
    were evaluated at.

    Counted per word, from what the cost model already states of each module:

    - **DRAM**: the off-chip words.
    - **Buffer**: every word of a tile enters its buffer once on one side, and the PEs (or the
      accumulating output) access it once per cycle of `intra` on the other, SIMD words at a time
      where the SIMD loop indexes the tensor. Words to and from a tensor that stays on chip are
      accesses of a buffer, too, and so are those to and from one beside DRAM.
    - **Hop**: towards its buffer a word passes half of the chain on average, (lanes + 1)/2 modules,
      and one more module on each level between buffer and DRAM; on the PE side it takes one step,
      and from PE to PE along the whole array where the group is exterior.
    - **Register**: each iteration accesses one register per tensor.
    - Words of a tensor with a format of its own count by their bits.
    - **MAC**: all iterations, padding included; where more than two tensors are multiplied, one for
      each multiplication.
    """
    point, value = costs.point, costs.point.value
    pe = point.array.pe
    macs = value(pe.count * pe.simd * pe.trips * pe.tiles)
    tensors = {group.tensor for group in point.array.groups}
    buffer: Any = None
    hop: Any = None
    for group, module in point.array.modules:
        held_share = group.package(point.data).held_words * group.package(point.data).share
        words = module.tiles * group.count * held_share
        moved = value(words * group.size)
        if module.dram and group.outer is not None:
            held = moved + value(group.off_chip(module) * group.package(point.data).share)
            buffer = held if buffer is None else buffer + held
        if not module.buffer:
            steps = moved
        else:
            used = value(words * module.intra * group.packing.multiple_of)
            along = value(pe.count / group.count) if group.exterior else 1
            steps = moved * value((module.chain + 1) / 2) + used * along
            buffer = moved + used if buffer is None else buffer + moved + used
        hop = steps if hop is None else hop + steps
    for moved in costs.kept_words:
        kept = moved * point.constant(point.kept_package.share)
        buffer = kept if buffer is None else buffer + kept
    return {
        "dram": _moved(costs),
        "buffer": buffer,
        "hop": hop,
        "register": macs * len(tensors),
        "mac": macs * (point.array.factors - 1),
    }


def _moved(costs: Costs) -> Any:
    """Off-chip words, in words of the data type where tensors have formats of their own."""
    point = costs.point
    if not point.data.tensors:
        return costs.off_chip_words
    shares = {group.tensor: group.package(point.data).share for group in point.array.groups}
    first, *others = (n * point.constant(shares[name]) for name, n in costs.words.items())
    return sum(others, start=first)


def energies(costs: Costs) -> dict[str, Any]:
    """Energy of a run by kind of activity (pJ): counts times the technology's energies."""
    technology, number = costs.point.technology, costs.point.numbers.number
    return {
        kind: count * number(getattr(technology, kind) * technology.mac_pj)
        for kind, count in activity(costs).items()
    }


def energy(costs: Costs) -> Any:
    """Energy of a run (pJ)."""
    first, *others = energies(costs).values()
    return sum(others, start=first)


def power(costs: Costs) -> Any:
    """Power (W): by the regressions where they hold, else energy over time."""
    technology = costs.point.technology
    if technology.cost_tables is not None:
        from ithaca.formulations.systolic.silicon import silicon

        return silicon(costs).power
    return energy(costs) * costs.point.numbers.number(technology.watts) / costs.latency


def area(costs: Costs) -> Any:
    """Area (mm²), by the regressions."""
    if costs.point.technology.cost_tables is None:
        raise InputError(
            "metric 'area' is not known for this platform; allowed: a platform "
            "with cost tables, such as asic-28nm"
        )
    from ithaca.formulations.systolic.silicon import silicon

    return silicon(costs).area


def time(costs: Costs) -> Any:
    """Latency at the platform's clock (ms)."""
    return costs.latency / costs.point.numbers.number(costs.point.technology.cycles_per_ms)


def bandwidth(costs: Costs) -> Any:
    """Bytes moved off chip over the time that it takes (GB/s, 10⁹ bytes per second)."""
    giga = costs.point.numbers.number(costs.point.technology.giga)
    return costs.off_chip_bytes * giga / costs.latency


def most_bandwidth(
    array: SystolicArray, data: DataType, technology: Technology, most_ports: int = 1
) -> Fraction:
    """The bandwidth that no configuration exceeds: DRAM modules move at most a port per cycle, or
    as many sums as there are SIMD lanes.

    A module is at work for `ModuleCost.total` ≤ main ≤ latency cycles, and its transfers take at
    least words / port of them, packed or in bursts. The words that the odyssey edition adds are at
    most one per cycle. For the cycle edition see
    `ithaca.formulations.systolic.cycles.holds_transfers`.

    Parameters
    ----------
    array : SystolicArray
        The array.
    data : DataType
        The data type.
    technology : Technology
        Its clock counts.
    most_ports : int, optional
        Most ports of a tensor that may have several.

    Returns
    -------
    Fraction
        GB/s.
    """
    ports = [
        (group.port_words(data) + (module.extra_words != ZERO))
        * group.package(data).word_bytes
        * (1 if group.split is None else most_ports)
        for group, module in array.modules
        if module.dram
    ]
    return sum(ports) * technology.giga


def throughput(costs: Costs) -> Any:
    """Operations per second (Gop/s): multiplications and one addition per iteration of the unpadded
    nest that multiplies stored values."""
    point = costs.point
    each = point.array.factors * point.array.share
    operations: Any = point.numbers.number(each * point.technology.giga)
    for loop in (*point.array.band, *point.array.untiled):
        operations = operations * point.values[quantities.extent(loop).name]
    return operations / costs.latency


def edp(costs: Costs) -> Any:
    """Energy times latency (pJ·cycles)."""
    return energy(costs) * costs.latency


METRICS: Mapping[str, CostMetric] = {
    m.name: m
    for m in (
        CostMetric("latency", "cycles", "prologue + main + epilogue", attrgetter("latency")),
        CostMetric(
            "prologue", "cycles", "filling the array with the first tile", attrgetter("prologue")
        ),
        CostMetric(
            "main", "cycles", "the slowest module or the PEs, over all tiles", attrgetter("main")
        ),
        CostMetric("epilogue", "cycles", "draining the last tile", attrgetter("epilogue")),
        CostMetric("time", "ms", "latency at the platform's clock", time),
        CostMetric("dsp", "blocks", "DSP blocks of all PEs", attrgetter("dsp")),
        CostMetric("bram18k", "blocks", "18-kbit block RAMs of all buffers", attrgetter("bram18k")),
        CostMetric(
            "uram",
            "blocks",
            "288-kbit block RAMs (URAM) of buffers inside DRAM modules",
            attrgetter("uram"),
            where=_with_uram,
        ),
        CostMetric(
            "off_chip_words",
            "words",
            "words moved between the array and DRAM",
            attrgetter("off_chip_words"),
        ),
        CostMetric(
            "comm",
            "words",
            "off-chip words, as the published objectives call them",
            attrgetter("off_chip_words"),
        ),
        CostMetric(
            "bandwidth", "GB/s", "bytes moved off chip, over the time of the run", bandwidth
        ),
        CostMetric("comp", "MAC units", "multiply-accumulate units of all PEs", attrgetter("comp")),
        CostMetric(
            "throughput",
            "Gop/s",
            "multiplications and an addition per iteration, over the latency",
            throughput,
            most=True,
        ),
        CostMetric("energy", "pJ", "activity counts times energies of the platform", energy),
        CostMetric("edp", "pJ·cycles", "energy times latency", edp),
        CostMetric("power", "W", "energy over time, or the platform's regression", power),
        CostMetric(
            "area",
            "mm²",
            "the platform's regression",
            area,
            where=_with_regressions,
        ),
        *(
            CostMetric(
                name,
                unit,
                f"{what} of generated hardware, estimated",
                partial(logic, resource=name),
                where=partial(known, resource=name),
            )
            for name, unit, what in (
                ("lut", "LUTs", "look-up tables"),
                ("lutram", "LUTs", "look-up tables that are memory"),
                ("ff", "FFs", "flip-flops"),
            )
        ),
    )
}


#: All that objectives and limits may speak of.
NAMES = OpenNames(METRICS)


def metric_values(costs: Costs, names: Collection[str] | None = None) -> dict[str, Any]:
    """Values of metrics, all that the technology knows unless named, in the number system of
    ``costs``.

    Raises `InputError` if a metric asked for is not known for the technology.
    """
    technology = costs.point.technology
    wanted = [
        m
        for m in METRICS.values()
        if (m.where(technology, costs.point.data) if names is None else m.name in names)
    ]
    return {metric.name: metric.compute(costs) for metric in wanted}


def tensor_words(array: SystolicArray, costs: Costs) -> dict[str, Any]:
    """Off-chip words by tensor, in the order of the accesses."""
    return {
        name: costs.words[name]
        for name in dict.fromkeys(g.tensor for g in array.groups)
        if name in costs.words
    }


def by_part(costs: Costs) -> dict[str, dict[str, Any]]:
    """Metrics split among the parts of the array, as documents name them.

    Off-chip words by tensor; DSP blocks, block RAMs and cycles of work by module, where tensors
    that stay on chip count as modules. Modules work at the same time: their cycles do not add up.
    """
    array, share = costs.point.array, costs.point.constant
    blocks, urams = dict(costs.blocks), dict(costs.uram_blocks)
    for group in array.packed_groups:
        kind = urams if group.name in urams else blocks
        whole = kind.pop(group.name)
        for module in group.buffers:
            kind[module.name] = whole * share(Fraction(1, len(group.buffers)))
    works = {name: cost.total for name, cost in costs.modules.items()}
    return {
        "off_chip_words_by_array": tensor_words(array, costs),
        "dsp_by_module": {ACCUMULATORS: costs.dsp},
        "bram18k_by_module": blocks,
        **({"uram_by_module": urams} if costs.point.technology.uram else {}),
        "cycles_by_module": {ACCUMULATORS: costs.pe, **works},
    }


def named_parts(costs: Costs) -> dict[str, Any]:
    """Parts of metrics by the names that requirements use: words by tensor; DSP blocks, block RAMs
    and cycles of work by module."""
    own = {kind.partition("_by_")[0]: each for kind, each in by_part(costs).items()}
    words = {f"words.{name}": number for name, number in own.pop("off_chip_words").items()}
    return words | {f"{kind}.{name}": n for kind, each in own.items() for name, n in each.items()}


def parse_objective(text: str) -> Objective:
    """Read an objective such as ``latency`` or ``latency + 100*dsp``.

    Raises `InputError` if it is no expression, or names an unknown metric.
    """
    return read_objective(text, "--objective", NAMES, METRICS)


def parse_limit(metric: str, bound: Fraction) -> Limit:
    """Read a limit on a metric or on an expression such as ``latency*dsp``.

    Raises `InputError` if it is no expression, names an unknown metric, or limits a metric to less
    than 0.
    """
    if not is_requirement(metric):
        parse_expression(metric, where="limit", allowed=NAMES)
    return Limit(metric, bound)
