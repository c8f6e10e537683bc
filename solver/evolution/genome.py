"""Genes of configurations, and their repair: many configurations as columns of one matrix.

The genes of a configuration are the lanes and the t2 of every band loop and the pack of every I/O group. So t2
divides t1 = lanes · t2 whatever the genes are; the other rules of DESIGN.md §4 and §5.5 are restored by `Genome.repair`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import largest_t1, pack_legality, simd_options, tiling_of
from ithaca.formulations.systolic.packing import pack_options
from ithaca.formulations.systolic.systolic_array import IOGroup
from ithaca.formulations.systolic.tiling import Tiling

#: Genes in rows, configurations in columns: lanes of all band loops, t2 of all band loops, packs of all groups.
Genes = NDArray[np.int64]


class Genome:
    """What the genes of one problem's configurations mean.

    Parameters
    ----------
    problem : Problem
        Design, extents, restrictions.

    Attributes
    ----------
    loops : tuple of str
        The band loops.
    groups : tuple of IOGroup
        The I/O groups that have a pack.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.loops = tuple(problem.array.band)
        self.groups = tuple(problem.array.packed_groups)
        self._given = problem.physical.given(problem.array)
        self._constants = {quantities.extent(loop).name: n for loop, n in problem.nest.sizes.items()}

    @property
    def count(self) -> int:
        """Genes of a configuration."""
        return 2 * len(self.loops) + len(self.groups)

    def lanes(self, loop: int) -> int:
        """The row of a loop's lanes."""
        return loop

    def t2(self, loop: int) -> int:
        """The row of a loop's t2."""
        return len(self.loops) + loop

    def pack(self, group: int) -> int:
        """The row of a group's pack."""
        return 2 * len(self.loops) + group

    def free_packs(self) -> tuple[int, ...]:
        """Rows of the packs that may be chosen: neither given nor inferred."""
        inferred = self.problem.array.edition.value == "odyssey"
        free = (i for i, g in enumerate(self.groups) if quantities.pack(g.name).name not in self._given)
        return () if inferred else tuple(self.pack(index) for index in free)

    # -- configurations --------------------------------------------------------------------

    def encode(self, tilings: Sequence[Tiling]) -> Genes:
        """The genes of configurations of this problem's design."""
        array = self.problem.array
        columns = [
            [
                *(tiling.array_part[loop] // tiling.t2(array, loop) for loop in self.loops),
                *(tiling.t2(array, loop) for loop in self.loops),
                *(tiling.pack[group.name] for group in self.groups),
            ]
            for tiling in tilings
        ]
        return np.array(columns, dtype=np.int64).reshape(len(tilings), self.count).T

    def decode(self, column: Genes) -> Tiling:
        """The configuration of one column of genes."""
        values = {name: int(value[0]) for name, value in self.quantities(column[:, None]).items()}
        return tiling_of(self.problem.array, values)

    def quantities(self, genes: Genes) -> dict[str, NDArray[np.int64]]:
        """The model's quantities of every configuration, extents aside."""
        values = {}
        for index, loop in enumerate(self.loops):
            lanes, inner = genes[self.lanes(index)], genes[self.t2(index)]
            values[quantities.lanes(loop).name] = lanes
            values[quantities.t2(loop).name] = inner
            values[quantities.t1(loop).name] = lanes * inner
            values[quantities.tiles(loop).name] = -(-self.problem.nest.sizes[loop] // (lanes * inner))
        for index, group in enumerate(self.groups):
            values[quantities.pack(group.name).name] = genes[self.pack(index)]
        return values

    def near(self, point: Mapping[str, float], noise: NDArray[np.float64]) -> Genes:
        """Genes near a fractional point: a value per quantity, times the exponential of ``noise`` (genes, configurations)."""
        names = [f(loop).name for f in (quantities.lanes, quantities.t2) for loop in self.loops]
        names += [quantities.pack(group.name).name for group in self.groups]
        centre = np.log([max(point[name], 1.0) for name in names])
        return np.maximum(np.rint(np.exp(centre[:, None] + noise)), 1).astype(np.int64)

    def random(self, count: int, generator: np.random.Generator) -> Genes:
        """Random genes; factors are drawn evenly by their logarithms."""
        genes = np.ones((self.count, count), dtype=np.int64)
        for index, loop in enumerate(self.loops):
            outer = np.exp(generator.uniform(0, np.log(largest_t1(self.problem.nest.sizes[loop]) + 1), count))
            share = generator.random(count)
            genes[self.lanes(index)] = np.maximum(outer ** (1 - share), 1)
            genes[self.t2(index)] = np.maximum(outer**share, 1)
        for index, group in enumerate(self.groups):
            genes[self.pack(index)] = generator.choice(pack_options(group.packing, self.problem.data), count)
        return genes

    # -- repair ----------------------------------------------------------------------------

    def repair(self, genes: Genes) -> tuple[Genes, NDArray[np.bool_]]:
        """The nearest legal genes below, and which columns are legal now (some cannot be repaired)."""
        genes = np.maximum(genes, 1)
        legal = np.ones(genes.shape[1], bool)
        for index, loop in enumerate(self.loops):
            lanes, inner, fits = self._legal_factors(loop, genes[self.lanes(index)], genes[self.t2(index)])
            genes[self.lanes(index)], genes[self.t2(index)] = lanes, inner
            legal &= fits
        values: dict[str, NDArray[np.int64] | int] = {**self._constants, **self.quantities(genes)}
        for index, group in enumerate(self.groups):
            genes[self.pack(index)], fits = self._legal_packs(group, genes[self.pack(index)], values)
            legal &= fits
        return genes, legal

    def _legal_factors(self, loop: str, lanes: Genes, inner: Genes) -> tuple[Genes, Genes, NDArray[np.bool_]]:
        problem, extent = self.problem, self.problem.nest.sizes[loop]
        top = largest_t1(extent)
        spatial = loop in problem.array.dataflow
        given = self._given.get(quantities.lanes(loop).name)
        least = given or (problem.space.min_lanes if spatial else 1)
        allowed = np.arange(1, 2) if loop in problem.array.sequential else None
        if loop == problem.array.simd_loop:
            allowed = simd_options(problem.data)
            if (simd := self._given.get(quantities.t2(loop).name)) is not None:
                allowed = allowed[allowed == simd]
        if problem.space.divisors_only:
            allowed = divisors(extent) if allowed is None else allowed[extent % allowed == 0]
        most = max(top // least, 1)
        if allowed is None:
            inner = np.minimum(inner, most)
        else:
            within = allowed[allowed <= most] if (allowed <= most).any() else allowed[:1]
            if not within.size:
                return lanes, inner, np.zeros(lanes.size, bool)
            inner = within[np.maximum(np.searchsorted(within, inner, side="right") - 1, 0)]
        lanes = np.maximum(np.minimum(lanes, top // inner), least) if given is None else np.full_like(lanes, given)
        if problem.space.divisors_only and given is None:
            lanes = lanes.copy()
            for factor in np.unique(inner):
                mine, choices = inner == factor, divisors(extent // int(factor))
                lanes[mine] = choices[np.maximum(np.searchsorted(choices, lanes[mine], side="right") - 1, 0)]
        outer = lanes * inner
        # lanes that idle: the exception of `membership.in_design_space`
        idle = spatial & ((inner == 1) | (loop == problem.array.simd_loop)) & (lanes <= problem.physical.idle_lanes)
        fits: NDArray[np.bool_] = np.asarray(((outer <= top) | idle) & (lanes >= least))
        if problem.space.divisors_only:
            fits &= extent % outer == 0
        return lanes, inner, fits

    def _legal_packs(
        self, group: IOGroup, wanted: Genes, values: Mapping[str, NDArray[np.int64] | int]
    ) -> tuple[Genes, NDArray[np.bool_]]:
        """The legal packs nearest to those wanted; where packs are inferred, one is legal at most."""
        ones = np.ones(wanted.size, dtype=np.int64)
        last, multiple = (
            np.asarray(e.evaluate(values, NUMPY), dtype=np.int64) * ones
            for e in (group.packing.last, group.packing.multiple_of)
        )
        options = pack_options(group.packing, self.problem.data)
        given = self._given.get(quantities.pack(group.name).name)
        if given is not None:
            options = options[options == given]
        if not options.size:
            return wanted, np.zeros(wanted.size, bool)
        legal = np.stack([pack_legality(self.problem, group, option * ones, last, multiple) for option in options])
        distance = np.abs(np.log2(options)[:, None] - np.log2(wanted)[None, :])
        choice = np.where(legal, distance, np.inf).argmin(axis=0)
        found: NDArray[np.bool_] = np.asarray(legal.any(axis=0))
        return options[choice], found


def divisors(number: int) -> Genes:
    """All divisors of a positive integer, ascending."""
    small = np.arange(1, isqrt(number) + 1, dtype=np.int64)
    small = small[number % small == 0]
    return np.unique(np.concatenate([small, number // small]))
