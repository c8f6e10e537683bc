"""Roofs: latencies that no tiling can be below, and how far a configuration is from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, prod

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import INTERVAL
from ithaca.formulations.data_types import DataType
from ithaca.formulations.problem import Limit
from ithaca.formulations.space import Space
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.cycles import holds_transfers
from ithaca.formulations.systolic.metrics import tensor_words
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup, SystolicArray
from ithaca.formulations.technology import Technology
from ithaca.workloads.nest import LoopNest, footprints


@dataclass(frozen=True, slots=True)
class ComputeRoof:
    """All multiply-accumulate units at work in every cycle."""

    units: int
    """Multiply-accumulate units."""
    cycles: Fraction
    """The nest's operations over the units (cycles); no latency with as many units is below."""


@dataclass(frozen=True)
class TrafficRoof:
    """Every tensor crosses the DRAM port of its own once, at full width."""

    tensor: str
    """The tensor that takes longest."""
    port_words: int
    """Words a port moves per cycle."""
    cycles: Fraction
    """Its elements over the width of a port (cycles); no latency is below."""
    least: Mapping[str, int]
    """Elements the nest touches, by tensor (words)."""
    least_bytes: int
    """Their bytes."""
    moved: Mapping[str, Fraction]
    """Off-chip words of the configuration, by tensor (words)."""

    @property
    def least_words(self) -> int:
        """Elements of all tensors (words)."""
        return sum(self.least.values())

    @property
    def moved_words(self) -> Fraction:
        """Off-chip words of the configuration (words)."""
        return sum(self.moved.values(), start=Fraction(0))


@dataclass(frozen=True, slots=True)
class Roofs:
    """The roofs over one configuration."""

    latency: Fraction
    """Latency of the configuration (cycles)."""
    operations: int
    """Multiply-accumulates of the nest."""
    array: ComputeRoof
    """With the configuration's own units."""
    budget: ComputeRoof | None
    """With as many as the limits on dsp and comp allow; None where neither is limited."""
    traffic: TrafficRoof
    """Roof of the DRAM ports."""

    @property
    def intensity(self) -> Fraction:
        """Operations per off-chip word moved."""
        return self.operations / self.traffic.moved_words

    @property
    def most_intensity(self) -> Fraction:
        """Operations per off-chip word if every tensor were moved once."""
        return Fraction(self.operations, self.traffic.least_words)

    def distance(self, roof: ComputeRoof | TrafficRoof) -> Fraction:
        """Latency over a roof, at least 1."""
        return self.latency / roof.cycles


def roofs(nest: LoopNest, costs: Costs, limits: Sequence[Limit]) -> Roofs:
    """The roofs over exact costs.

    In the model a DRAM module moves at most a port's width per cycle, and one module moves each
    tensor's elements at least once; so ``footprint / port`` of the largest tensor bounds the main
    phase. Likewise the PEs do at least the nest's operations, at most one per unit and cycle.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    costs : Costs
        Exact costs of a configuration.
    limits : Sequence of Limit
        The limits.

    Returns
    -------
    Roofs
        What each resource allows at best.
    """
    data, array, operations = costs.point.data, costs.point.array, nest.operations
    allowed = _allowed_units(data, array.factors, limits)
    groups = {group.tensor: group for group in array.groups}
    least = _least_words(nest, groups, data)
    widths = {
        name: int(
            group.port_words(data)
            * costs.point.value(group.ports)
            * group.package(data).moved_words
        )
        for name, group in groups.items()
    }
    cycles = {name: Fraction(n, widths[name]) for name, n in least.items()}
    largest = max(cycles, key=lambda name: cycles[name])
    return Roofs(
        costs.latency,
        operations,
        ComputeRoof(int(costs.comp), operations / costs.comp),
        None if allowed is None else ComputeRoof(allowed, Fraction(operations, allowed)),
        TrafficRoof(
            largest,
            widths[largest],
            cycles[largest],
            least,
            int(
                sum(
                    n * groups[name].package(data).word_bytes
                    for name, n in footprints(nest).items()
                )
            ),
            tensor_words(array, costs),
        ),
    )


def least_metrics(
    nest: LoopNest,
    array: SystolicArray,
    data: DataType,
    technology: Technology,
    kept: Mapping[str, int],
    space: Callable[[], Space],
    limits: Sequence[Limit],
    most_ports: int = 1,
) -> dict[str, Fraction]:
    """Values that no configuration of an array is below within limits: the roofs of all of them.

    Words off chip are those of every tensor once, but of those kept there. DRAM modules move no
    more than a port's width per cycle; in the cycle edition results are held to that where
    `holds_transfers`, and all words to the memory's bandwidth. What limits allow off chip per
    second, and of power, holds for the run; a limit on its length says how much of both it takes
    at least, and how many units. Energy is that of all operations and of these words. The main
    phase is no shorter than all trips of all tiles; in the cycle edition, too: until the last tile
    begins it takes what fills the first one and the trips of those between, and then its own.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    array : SystolicArray
        The array.
    data : DataType
        The data type.
    technology : Technology
        Clock, energies and machine.
    kept : Mapping of str to int
        Tensors that stay on chip, with their copies.
    space : callable
        The space of its configurations, which is asked for where no limit says how many units there
        may be.
    limits : Sequence of Limit
        The limits.
    most_ports : int, optional
        Most memory ports of a tensor that may have several.

    Returns
    -------
    dict
        Values by metric.
    """
    words, cycle = footprints(nest), array.edition is Edition.CYCLE
    groups = {group.tensor: group for group in array.groups}
    units: Fraction | int | None = _allowed_units(data, array.factors, limits)
    if units is None:
        units = _most(array.pe.count * array.pe.simd, space())
    if nest.sparse is None:
        units = min(units, _useful_units(nest, array, data))
    least_words = _least_words(nest, groups, data).items()
    off_chip = Fraction(sum(n for tensor, n in least_words if tensor not in kept))
    moved = sum(n * groups[x].package(data).word_bytes for x, n in words.items() if x not in kept)
    rates = list[Fraction]()
    if cycle and technology.memory.bandwidth:
        rates.append(Fraction(technology.memory.bandwidth))
    paced = _paced(array)
    if paced and technology.memory.channels and (not cycle or holds_transfers(array)):
        rates.append(Fraction(technology.memory.port * technology.memory.channels))
    port = technology.memory.port
    held = [
        Fraction(n, _moved_at_once(groups[tensor], data, space, port) * most_ports)
        if paced and groups[tensor].split
        else Fraction(n, groups[tensor].port_words(data))
        for tensor, n in words.items()
        if _held(array, nest, tensor)
    ]
    main = Fraction(nest.operations, max(units, 1))
    per_operation = technology.mac * (array.factors - 1) + technology.register * len(words)
    shares = (n * groups[x].package(data).share for x, n in least_words if x not in kept)
    dram = sum(shares, start=Fraction(0)) * technology.dram
    energy = (nest.operations * per_operation + dram) * technology.mac_pj
    # what is spent in a run, in the unit of a limit times cycles
    spent = {"bandwidth": moved * technology.giga}
    if technology.cost_tables is None:
        spent["power"] = energy * technology.watts
    paces = [
        spent[limit.metric] / limit.bound
        for limit in limits
        if limit.metric in spent and limit.bound > 0
    ]
    latency = max(main, max(held), *(moved / rate for rate in rates), *paces)
    least = {
        "main": main,
        "latency": latency,
        "time": latency / technology.cycles_per_ms,
        "off_chip_words": off_chip,
        "comm": off_chip,
        "energy": energy,
        "edp": energy * latency,
    }
    cycles = {"latency": Fraction(1), "time": technology.cycles_per_ms}
    if energy:
        cycles["edp"] = 1 / energy
    longest = [x.bound * cycles[x.metric] for x in limits if x.metric in cycles and x.bound > 0]
    if longest:
        least |= {name: value / min(longest) for name, value in spent.items()}
        least["comp"] = Fraction(ceil(nest.operations / min(longest)))
        least["dsp"] = least["comp"] * data.dsp(array.factors)
    return least


def least_hardware(
    nest: LoopNest,
    array: SystolicArray,
    data: DataType,
    port: int,
    space: Space,
    cycles: Fraction,
) -> dict[str, int]:
    """The least lanes and memory ports, by quantity, of a configuration that takes so many cycles:
    as roofs say.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    array : SystolicArray
        The array.
    data : DataType
        The data type.
    port : int
        Bytes per cycle of a channel; 0: no limit.
    space : Space
        The space of its configurations.
    cycles : Fraction
        The cycles.
    """
    if cycles <= 0:
        return {}
    words, least = footprints(nest), dict[str, int]()
    for group in array.split_groups if _paced(array) else ():
        if _held(array, nest, group.tensor):
            each = _moved_at_once(group, data, lambda: space, port) * cycles
            ports = ceil(words[group.tensor] / each)
            least[quantities.ports(group.name).name] = 1 << (ports - 1).bit_length()
    for loop in array.dataflow if nest.sparse is None else ():
        others = Fraction(_useful_units(nest, array, data), nest.sizes[loop])
        if loop != array.simd_loop:
            least[quantities.lanes(loop).name] = ceil(nest.operations / (others * cycles))
    return least


def _most(expression: Expression, space: Space) -> Fraction:
    """The most that an expression may be in a space, whatever else is the case."""
    spans = {
        name: Interval(Fraction(low), Fraction(high)) for name, (low, high) in space.ranges.items()
    }
    return Fraction(as_interval(expression.evaluate(spans, INTERVAL)).high)


def _held(array: SystolicArray, nest: LoopNest, tensor: str) -> bool:
    """Whether a run is no shorter than the moving of a tensor: in the cycle edition results are
    held to that where `holds_transfers`."""
    timed = array.edition is Edition.CYCLE and tensor == nest.output.tensor
    return not timed or holds_transfers(array)


def _paced(array: SystolicArray) -> bool:
    """Whether DRAM modules keep to packs and to the pace of channels: the cost model charges those
    alone that read or write data as they lie."""
    return all(module.serialized for _, module in array.modules if module.dram)


def _useful_units(nest: LoopNest, array: SystolicArray, data: DataType) -> int:
    """The units that can be at work at a time: no more along a loop than it has iterations."""
    along = {loop: nest.sizes[loop] for loop in (*array.dataflow, array.simd_loop)}
    if array.simd_loop not in array.dataflow:
        along[array.simd_loop] = min(along[array.simd_loop], data.max_simd)
    return prod(along.values())


def _moved_at_once(
    group: IOGroup, data: DataType, space: Callable[[], Space], port: int
) -> Fraction:
    """Words that a memory port of a group moves in a cycle at most: a pack, at a channel's pace.

    Parameters
    ----------
    group : IOGroup
        The group, of several ports.
    data : DataType
        The data type.
    space : callable
        The space of its configurations.
    port : int
        Bytes per cycle of a channel; 0: no limit.
    """
    package = group.package(data)
    width = Fraction(package.word_bytes)
    widest = int(group.packing.max_bytes // width), data.max_simd, package.words
    pack = Fraction(max(widest))
    rates = [pack, Fraction(group.port_words(data)), _most(group.packing.last, space())]
    return min(*rates, Fraction(port) / width) if port else min(rates)


def _least_words(nest: LoopNest, groups: Mapping[str, IOGroup], data: DataType) -> dict[str, int]:
    """Words of every tensor once, by tensor."""
    return {
        name: int(n * groups[name].package(data).moved_words)
        for name, n in footprints(nest).items()
    }


def _allowed_units(data: DataType, factors: int, limits: Sequence[Limit]) -> int | None:
    """Multiply-accumulate units within the limits on dsp and comp."""
    per_unit = {"dsp": data.dsp(factors), "comp": Fraction(1)}
    most = [
        floor(limit.bound / per_unit[limit.metric]) for limit in limits if limit.metric in per_unit
    ]
    return min(most) if most else None
