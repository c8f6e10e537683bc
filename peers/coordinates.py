"""The design space as a box of integer coordinates that any search method can move in.

================  ==============  ===========================================================
coordinate        scale           meaning
================  ==============  ===========================================================
``t2_<loop>``     logarithmic     latency hiding factor of a band loop that has one
``lanes_<loop>``  logarithmic     t1 / t2 of a band loop: PEs along a space loop
``simd``          exponent of 2   the SIMD factor
``pack_<group>``  exponent of 2   data packing factor of an I/O group, where it may be chosen
================  ==============  ===========================================================

t1 = lanes · t2, so t2 divides t1 whatever the values are. Values that are not legal together become the nearest legal
ones below, in the order t2 (or SIMD), lanes, packs (`rows`). What has one value only is no coordinate. A point of the
*unit cube* stands for one integer per coordinate: a doubling is a step of the same length anywhere, since a factor of 40
differs from 41 as little as 400 from 410.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import axes, candidate_rows
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.peers.rows import Integers, NestedRows
from ithaca.solver.evolution.genome import Genes, Genome
from ithaca.workloads.errors import InputError

Units = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coordinate:
    """An integer that a method may choose.

    Attributes
    ----------
    name : str
        Its name.
    low, high : int
        Smallest and largest value.
    exponent : bool
        Whether the factor is 2 to the power of it; else the coordinate is the factor, and its scale logarithmic.
    gene : int
        The row of the genome it stands for.
    """

    name: str
    low: int
    high: int
    exponent: bool
    gene: int

    def of_unit(self, unit: Units) -> Integers:
        """The integers at places from 0 to 1."""
        unit = np.clip(unit, 0.0, 1.0)
        if self.exponent:
            found = self.low + np.floor(unit * (self.high + 1 - self.low))
        else:
            found = np.floor(self.low * ((self.high + 1) / self.low) ** unit)
        values: Integers = np.clip(found, self.low, self.high).astype(np.int64)
        return values

    def to_unit(self, values: Integers) -> Units:
        """The middles of the intervals that stand for integers."""
        middle = np.asarray(values, np.float64) + 0.5
        if self.exponent:
            return np.asarray((middle - self.low) / (self.high + 1 - self.low), np.float64)
        return np.asarray(np.log(middle / self.low) / np.log((self.high + 1) / self.low), np.float64)


class Coordinates:
    """The coordinates of one problem.

    Parameters
    ----------
    problem : Problem
        Design, extents, restrictions.

    Attributes
    ----------
    genome : Genome
        What the genes of its configurations mean.
    all : tuple of Coordinate
        The coordinates: t2 and lanes of each band loop, then packs.

    Raises
    ------
    InputError
        If the design space is empty.
    """

    def __init__(self, problem: Problem) -> None:
        self.genome = Genome(problem)
        self._tables = tuple(self._axis_tables(problem))
        # a pack that depends on several loops is legal or not for each configuration
        self._separate = any(axis.loop is None for axis in axes(problem.array))
        self._defaults = np.ones(self.genome.count, dtype=np.int64)
        for genes, table in self._tables:
            self._defaults[genes] = table.rows.max(axis=1)
        self.all = tuple(self._coordinates(problem))

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return len(self.all)

    def of_units(self, units: Units) -> Integers:
        """Coordinates of points of the unit cube, shape (points, coordinates)."""
        places = np.asarray(units, np.float64)
        columns = [coordinate.of_unit(places[:, index]) for index, coordinate in enumerate(self.all)]
        return np.array(columns, dtype=np.int64).reshape(self.count, len(places)).T

    def to_units(self, points: Integers) -> Units:
        """Points of the unit cube for coordinates, shape (points, coordinates)."""
        columns = [coordinate.to_unit(points[:, index]) for index, coordinate in enumerate(self.all)]
        return np.array(columns, dtype=np.float64).reshape(self.count, len(points)).T

    def decode(self, points: Integers) -> tuple[Genes, NDArray[np.bool_]]:
        """The configurations that points stand for, and which of them are legal.

        All are, unless packs are inferred that depend on several loops.

        Parameters
        ----------
        points : array, shape (points, coordinates)
            Values of the coordinates; those out of range are repaired, too.
        """
        wanted = np.tile(self._defaults[:, None], len(points))
        for index, coordinate in enumerate(self.all):
            values = np.clip(points[:, index], coordinate.low, coordinate.high)
            wanted[coordinate.gene] = 1 << values if coordinate.exponent else values
        return self.repair(wanted)

    def repair(self, wanted: Genes) -> tuple[Genes, NDArray[np.bool_]]:
        """The nearest configurations of the design space, and which of them are legal (see `decode`)."""
        found = wanted.copy()
        for genes, table in self._tables:
            found[genes] = table.nearest(wanted[genes])
        return self.genome.repair(found) if self._separate else (found, np.ones(found.shape[1], bool))

    def encode(self, tiling: Tiling) -> Integers:
        """The coordinates of a configuration of the design space."""
        genes = self.genome.encode([tiling])[:, 0]
        values = [int(genes[c.gene]) for c in self.all]
        return np.array(
            [v.bit_length() - 1 if c.exponent else v for v, c in zip(values, self.all, strict=True)], dtype=np.int64
        )

    def _axis_tables(self, problem: Problem) -> Iterator[tuple[list[int], NestedRows]]:
        genome = self.genome
        for axis in axes(problem.array):
            packs = {quantities.pack(g.name).name: genome.pack(genome.groups.index(g)) for g in axis.packs}
            genes = dict(packs)
            if axis.loop is not None:
                loop = genome.loops.index(axis.loop)
                own = {quantities.t2(axis.loop).name: genome.t2(loop), quantities.lanes(axis.loop).name: genome.lanes(loop)}
                genes = own | packs
            parts = list(candidate_rows(problem, axis))
            columns = [np.concatenate([part[name] for part in parts]) for name in genes]
            if not columns[0].size:
                raise InputError(f"the design space of {problem.array.name} is empty at '{axis.name}'")
            yield list(genes.values()), NestedRows(columns)

    def _coordinates(self, problem: Problem) -> Iterator[Coordinate]:
        genome, simd = self.genome, problem.array.simd_loop
        low, high = np.ones((2, genome.count), dtype=np.int64)
        for genes, table in self._tables:
            low[genes], high[genes] = table.rows.min(axis=1), table.rows.max(axis=1)
        named: list[tuple[int, str, bool]] = []
        for index, loop in enumerate(genome.loops):
            named.append((genome.t2(index), "simd" if loop == simd else f"t2_{loop}", loop == simd))
            named.append((genome.lanes(index), f"lanes_{loop}", False))
        named += [(gene, f"pack_{genome.groups[gene - genome.pack(0)].name}", True) for gene in genome.free_packs()]
        for gene, name, exponent in named:
            least, most = int(low[gene]), int(high[gene])
            if most > least:
                ends = (least.bit_length() - 1, most.bit_length() - 1) if exponent else (least, most)
                yield Coordinate(name, *ends, exponent, gene)
