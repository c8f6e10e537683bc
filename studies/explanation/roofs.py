"""Roofs: latencies that no tiling can be below, and how far a configuration is from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.metrics import array_words
from ithaca.studies.explanation.footprint import footprints


@dataclass(frozen=True, slots=True)
class ComputeRoof:
    """All multiply-accumulate units at work in every cycle.

    Attributes
    ----------
    units : int
        Multiply-accumulate units.
    cycles : Fraction
        The nest's operations over the units (cycles); no latency with as many units is below.
    """

    units: int
    cycles: Fraction


@dataclass(frozen=True)
class TrafficRoof:
    """Every array crosses the DRAM port of its own once, at full width.

    Attributes
    ----------
    array : str
        The array that takes longest.
    port_words : int
        Words a port moves per cycle.
    cycles : Fraction
        Its elements over the width of a port (cycles); no latency is below.
    least : mapping of str to int
        Elements the nest touches, by array (words).
    moved : mapping of str to Fraction
        Off-chip words of the configuration, by array (words).
    """

    array: str
    port_words: int
    cycles: Fraction
    least: Mapping[str, int]
    moved: Mapping[str, Fraction]

    @property
    def least_words(self) -> int:
        """Elements of all arrays (words)."""
        return sum(self.least.values())

    @property
    def moved_words(self) -> Fraction:
        """Off-chip words of the configuration (words)."""
        return sum(self.moved.values(), start=Fraction(0))


@dataclass(frozen=True, slots=True)
class Roofs:
    """The roofs over one configuration.

    Attributes
    ----------
    latency : Fraction
        Of the configuration (cycles).
    operations : int
        Multiply-accumulates of the nest.
    array : ComputeRoof
        With the configuration's own units.
    budget : ComputeRoof or None
        With as many as the limits on dsp and comp allow; None where neither is limited.
    traffic : TrafficRoof
        Of the DRAM ports.
    """

    latency: Fraction
    operations: int
    array: ComputeRoof
    budget: ComputeRoof | None
    traffic: TrafficRoof

    @property
    def intensity(self) -> Fraction:
        """Operations per off-chip word moved."""
        return self.operations / self.traffic.moved_words

    @property
    def most_intensity(self) -> Fraction:
        """Operations per off-chip word if every array were moved once."""
        return Fraction(self.operations, self.traffic.least_words)

    def distance(self, roof: ComputeRoof | TrafficRoof) -> Fraction:
        """Latency over a roof, at least 1."""
        return self.latency / roof.cycles


def roofs(problem: Problem, costs: Costs) -> Roofs:
    """The roofs over exact costs.

    In the model a DRAM module moves at most a port's width per cycle, and one module moves each array's elements at
    least once; so ``footprint / port`` of the largest array bounds the main phase. Likewise the PEs do at least the
    nest's operations, at most one per unit and cycle.
    """
    operations = problem.nest.operations
    allowed = _allowed_units(problem)
    least, port = footprints(problem.nest), problem.data.port_words
    largest = max(least, key=lambda array: least[array])
    return Roofs(
        costs.latency,
        operations,
        ComputeRoof(int(costs.comp), operations / costs.comp),
        None if allowed is None else ComputeRoof(allowed, Fraction(operations, allowed)),
        TrafficRoof(largest, port, Fraction(least[largest], port), least, array_words(problem.array, costs)),
    )


def _allowed_units(problem: Problem) -> int | None:
    """Multiply-accumulate units within the limits on dsp and comp."""
    per_unit = {"dsp": problem.data.dsp(problem.array.factors), "comp": Fraction(1)}
    found = [floor(limit.bound / per_unit[limit.metric]) for limit in problem.limits if limit.metric in per_unit]
    return min(found) if found else None
