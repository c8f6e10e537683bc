"""Roofs: latencies that no tiling can be below, and how far a configuration is from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import floor, gcd, prod

from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.data_types import DataType
from ithaca.formulations.systolic.metrics import tensor_words
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class ComputeRoof:
    """All multiply-accumulate units at work in every cycle."""

    units: int  #: Multiply-accumulate units
    cycles: Fraction  #: The nest's operations over the units (cycles); no latency with as many units is below


@dataclass(frozen=True)
class TrafficRoof:
    """Every tensor crosses the DRAM port of its own once, at full width."""

    tensor: str  #: The tensor that takes longest
    port_words: int  #: Words a port moves per cycle
    cycles: Fraction  #: Its elements over the width of a port (cycles); no latency is below
    least: Mapping[str, int]  #: Elements the nest touches, by tensor (words)
    moved: Mapping[str, Fraction]  #: Off-chip words of the configuration, by tensor (words)

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

    latency: Fraction  #: Of the configuration (cycles)
    operations: int  #: Multiply-accumulates of the nest
    array: ComputeRoof  #: With the configuration's own units
    budget: ComputeRoof | None  #: With as many as the limits on dsp and comp allow; None where neither is limited
    traffic: TrafficRoof  #: Of the DRAM ports

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

    In the model a DRAM module moves at most a port's width per cycle, and one module moves each tensor's elements at
    least once; so ``footprint / port`` of the largest tensor bounds the main phase. Likewise the PEs do at least the
    nest's operations, at most one per unit and cycle.
    """
    operations, allowed = nest.operations, _allowed_units(costs.point.data, costs.point.array.factors, limits)
    least, port = footprints(nest), costs.point.data.port_words
    largest = max(least, key=lambda tensor: least[tensor])
    return Roofs(
        costs.latency,
        operations,
        ComputeRoof(int(costs.comp), operations / costs.comp),
        None if allowed is None else ComputeRoof(allowed, Fraction(operations, allowed)),
        TrafficRoof(largest, port, Fraction(least[largest], port), least, tensor_words(costs.point.array, costs)),
    )


def least_latency(nest: LoopNest, data: DataType, factors: int, limits: Sequence[Limit]) -> Fraction:
    """No configuration of a nest with so many factors is faster within the limits, on any design (cycles)."""
    units, port = _allowed_units(data, factors, limits), data.port_words
    compute = Fraction(nest.operations, units) if units else Fraction(0)
    return max(compute, *(Fraction(words, port) for words in footprints(nest).values()))


def _allowed_units(data: DataType, factors: int, limits: Sequence[Limit]) -> int | None:
    """Multiply-accumulate units within the limits on dsp and comp."""
    per_unit = {"dsp": data.dsp(factors), "comp": Fraction(1)}
    found = [floor(limit.bound / per_unit[limit.metric]) for limit in limits if limit.metric in per_unit]
    return min(found) if found else None


def footprints(nest: LoopNest) -> dict[str, int]:
    """Elements that a nest touches, per tensor and in the order of the accesses (words).

    Exact where no two subscripts of a tensor share a loop and none has more than two loops, otherwise a lower
    bound. Elements that a stride steps over are not counted.
    """
    return {access.tensor: _elements(access, nest.sizes) for access in nest.accesses}


def _elements(access: Access, sizes: Mapping[str, int]) -> int:
    parts: list[tuple[set[str], int]] = []
    for subscript in access:
        loops, count = set(subscript.loops), _values(subscript, sizes)
        # subscripts with a loop in common are not independent: together they take at least as many
        # values as each alone
        for part in [part for part in parts if part[0] & loops]:
            parts.remove(part)
            loops, count = loops | part[0], max(count, part[1])
        parts.append((loops, count))
    return prod(count for _, count in parts)


def _values(subscript: Affine, sizes: Mapping[str, int]) -> int:
    """How many values a subscript takes."""
    terms = [(abs(coefficient), sizes[loop]) for loop, coefficient in subscript.terms]
    if len(terms) < 2:
        return prod(extent for _, extent in terms)
    reach = sum(extent - 1 for _, extent in terms)
    # |S + T| ≥ |S| + |T| − 1 for sets of integers: each loop beyond a pair adds at least its extent less one
    return max(_pair(a, b) + reach - (a[1] - 1) - (b[1] - 1) for a, b in combinations(terms, 2))


def _pair(first: tuple[int, int], second: tuple[int, int]) -> int:
    """How many values a·x + b·y takes for 0 ≤ x < m, 0 ≤ y < n.

    With a and b coprime, equal values differ by multiples of (b, −a): the values are the pairs less the steps
    between equal ones.
    """
    (a, m), (b, n) = first, second
    a, b = a // gcd(a, b), b // gcd(a, b)
    return m * n - max(0, m - b) * max(0, n - a)
