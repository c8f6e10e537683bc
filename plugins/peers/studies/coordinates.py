"""The design space as a box of integer coordinates that any search method can move in.

A coordinate is a free quantity of the space: as it is, on a logarithmic scale, or, for a power of
two, its exponent. Of a systolic array these are ``t2_<loop>`` and ``lanes_<loop>`` (their product
is t1, so t2 divides it whatever the values are), ``simd`` and ``pack_<group>``. Values that are not
legal together are repaired (`ithaca.formulations.repair`). What has one value only is no
coordinate. A point of the *unit cube* stands for one integer per coordinate: a doubling is a step
of the same length anywhere, since a factor of 40 differs from 41 as little as 400 from 410.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Values
from ithaca.refine.evolution.genome import Genes, Genome

Units = Floats


@dataclass(frozen=True, slots=True)
class Coordinate:
    """An integer that a method may choose, for one row of the genome.

    As an ``exponent``, the quantity is 2 to the power of it; else it is the quantity, and its scale
    logarithmic.
    """

    name: str
    low: int
    high: int
    exponent: bool
    gene: int

    def of_unit(self, unit: Units) -> Values:
        """The integers at places from 0 to 1."""
        unit = np.clip(unit, 0.0, 1.0)
        if self.exponent:
            places = self.low + np.floor(unit * (self.high + 1 - self.low))
        else:
            places = np.floor(self.low * ((self.high + 1) / self.low) ** unit)
        values: Values = np.clip(places, self.low, self.high).astype(np.int64)
        return values

    def to_unit(self, values: Values) -> Units:
        """The middles of the intervals that stand for integers."""
        middle = np.asarray(values, np.float64) + 0.5
        if self.exponent:
            return np.asarray((middle - self.low) / (self.high + 1 - self.low), np.float64)
        return np.asarray(
            np.log(middle / self.low) / np.log((self.high + 1) / self.low), np.float64
        )


class Coordinates:
    """The coordinates of one problem, in the order of the genes; raises `InputError` if its design
    space is empty."""

    def __init__(self, problem: Problem) -> None:
        self.genome = Genome(problem)
        fixes = self.genome.fixes
        if fixes.empty is not None:
            raise InputError(
                f"the design space of {problem.design.name} is empty at '{fixes.empty}'"
            )
        labels = {
            quantity: name for name, quantity in profile_of(problem.design).parameters.items()
        }
        bounds = [fixes.bounds(name) for name in self.genome.names]
        self._lowest = np.array([[low] for low, _ in bounds], dtype=np.int64).reshape(-1, 1)
        every = []
        for gene, (name, (low, high)) in enumerate(zip(self.genome.names, bounds, strict=True)):
            exponent = bool(self.genome.powers[gene, 0])
            ends = (low.bit_length() - 1, high.bit_length() - 1) if exponent else (low, high)
            if low < high:
                every.append(
                    Coordinate(labels.get(name, name.replace(".", "_")), *ends, exponent, gene)
                )
        self.all = tuple(every)

    @property
    def count(self) -> int:
        """The number of coordinates."""
        return len(self.all)

    def of_units(self, units: Units) -> Values:
        """Coordinates of points of the unit cube, shape (points, coordinates)."""
        places = np.asarray(units, np.float64)
        columns = [
            coordinate.of_unit(places[:, index]) for index, coordinate in enumerate(self.all)
        ]
        return np.array(columns, dtype=np.int64).reshape(self.count, len(places)).T

    def to_units(self, points: Values) -> Units:
        """Points of the unit cube for coordinates, shape (points, coordinates)."""
        columns = [
            coordinate.to_unit(points[:, index]) for index, coordinate in enumerate(self.all)
        ]
        return np.array(columns, dtype=np.float64).reshape(self.count, len(points)).T

    def decode(self, points: Values) -> tuple[Genes, Mask]:
        """The configurations that points stand for, and which of them are legal: all, but for rules
        across axes.

        Points have shape (points, coordinates); those out of range are repaired, too.
        """
        wanted = np.repeat(self._lowest, len(points), axis=1)
        for index, coordinate in enumerate(self.all):
            values = np.clip(points[:, index], coordinate.low, coordinate.high)
            wanted[coordinate.gene] = 1 << values if coordinate.exponent else values
        return self.genome.repair(wanted)

    def encode(self, configuration: Configuration) -> Values:
        """The coordinates of a configuration of the space."""
        genes = self.genome.encode([configuration])[:, 0]
        values = [int(genes[c.gene]) for c in self.all]
        return np.array(
            [
                v.bit_length() - 1 if c.exponent else v
                for v, c in zip(values, self.all, strict=True)
            ],
            dtype=np.int64,
        )
