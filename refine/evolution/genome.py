"""Genes of configurations: columns of a matrix with a row per quantity to choose.

What is legal, and what follows from the genes, is the space's to say
(`ithaca.formulations.repair`). Found in it are the *splits*, which mutation acts on: where a
quantity is defined as ceil(extent / product of others), it and these others are the levels of a
loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Product,
    Symbol,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.repair import Repair
from ithaca.formulations.space import Axis, QuantityKind

#: Quantities in rows, configurations in columns.
Genes = Integers


@dataclass(frozen=True)
class LoopSplit:
    """A loop that is split: trips = ceil(extent / (given · product of the factors)).

    ``fixed`` is the product of the factors that cannot be chosen, ``factors`` the rows of those
    that can, ``powers`` which of these are powers of two, ``most`` their largest product.
    """

    trips: str
    extent: int
    fixed: int
    factors: tuple[int, ...]
    powers: tuple[bool, ...]
    most: int

    @property
    def pairs(self) -> Integers:
        """All pairs of levels (from, to); level 0 are the trips."""
        return np.array(list(permutations(range(1 + len(self.factors)), 2)))

    def levels(self, genes: Genes) -> Genes:
        """The levels of a split: trips and factors."""
        factors = genes[list(self.factors)]
        return np.concatenate([self.rest(factors.prod(axis=0))[None], factors])

    def rest(self, product: Genes) -> Genes:
        """Trips that cover the extent with such a product of factors."""
        return -(-self.extent // (self.fixed * product))


class Genome:
    """The genes of one problem's configurations, and their decoding.

    A row for each free quantity (``names``): the number of its axis, its smallest and largest value
    by ranges, and whether it is a power of two, shapes (genes,) and (genes, 1). ``splits`` are the
    loops that are split, ``loose`` the rows of quantities that belong to none and take more than
    one value.
    """

    def __init__(self, problem: Problem) -> None:
        space = problem.space
        self.problem = problem
        self.fixes = Repair(space)
        self.names = self.fixes.names
        self.axes = np.array(
            [space.axes.index(space.axis_of[name]) for name in self.names], dtype=np.int64
        )
        self.powers = np.array([[q.kind is QuantityKind.POWER_OF_TWO] for q in space.free])
        self.low, self.high = (
            np.array([space.ranges[name] for name in self.names], dtype=np.int64)
            .reshape(-1, 2)
            .T[:, :, None]
        )
        self.splits = tuple(split for axis in space.axes for split in self._splits(axis))
        taken = {row for split in self.splits for row in split.factors}
        self.loose = tuple(
            row
            for row in range(self.count)
            if row not in taken and self.low[row, 0] < self.high[row, 0]
        )

    @property
    def count(self) -> int:
        """Genes of a configuration."""
        return len(self.names)

    def _splits(self, axis: Axis) -> list[LoopSplit]:
        splits = []
        for name, definition in axis.definitions.items():
            if not isinstance(definition, CeilingDivision) or not isinstance(
                definition.numerator, Constant
            ):
                continue
            fixed, factors = _factors(definition.denominator, axis)
            rows = tuple(self.names.index(f) for f in factors if f in self.names)
            chosen = tuple(row for row in rows if self.low[row, 0] < self.high[row, 0])
            if len(rows) == len(factors) and chosen:
                extent, under = int(definition.numerator.value), definition.denominator
                most = axis.ranges[under.name][1] // fixed if isinstance(under, Symbol) else extent
                powers = tuple(bool(self.powers[row, 0]) for row in chosen)
                splits.append(LoopSplit(name, extent, fixed, chosen, powers, max(most, 1)))
        return splits

    # -- configurations --------------------------------------------------------------------

    def encode(self, configurations: Sequence[Configuration]) -> Genes:
        """The genes of configurations of this problem's space."""
        columns = [[configuration[name] for name in self.names] for configuration in configurations]
        return np.array(columns, dtype=np.int64).reshape(len(configurations), self.count).T

    def decode(self, column: Genes) -> Configuration:
        """The configuration of one column of genes."""
        return self.problem.space.configuration(dict(zip(self.names, column.tolist(), strict=True)))

    def quantities(self, genes: Genes) -> dict[str, Genes]:
        """All quantities of configurations."""
        return self.problem.space.completed(dict(zip(self.names, genes, strict=True)))

    def near(self, point: Mapping[str, float], noise: Floats) -> Genes:
        """Genes near a fractional point: its values times exponentials of ``noise``."""
        centre = np.log([max(point.get(name, 1.0), 1.0) for name in self.names])
        return np.maximum(np.rint(np.exp(centre[:, None] + noise)), 1).astype(np.int64)

    def random(self, count: int, generator: np.random.Generator) -> Genes:
        """Random genes, even by their logarithms; splits share a random product."""
        genes = np.repeat(self.low, count, axis=1)
        for split in self.splits:
            product = np.exp(generator.uniform(0, np.log(split.most + 1), count))
            cuts = np.sort(generator.random((len(split.factors) - 1, count)), axis=0)
            shares = np.diff(cuts, axis=0, prepend=0.0, append=1.0)
            genes[list(split.factors)] = np.maximum(product**shares, 1)
        for row in self.loose:
            genes[row] = self.drawn(row, generator.random(count))
        return genes

    def drawn(self, row: int, chances: Floats) -> Genes:
        """Values of one quantity, even by their logarithms (`repair` mends odd powers of 2)."""
        low, high = int(self.low[row, 0]), int(self.high[row, 0])
        top = 1 << high.bit_length() if self.powers[row, 0] else high + 1
        return np.asarray(low * (top / low) ** chances, dtype=np.int64)

    def repair(self, genes: Genes) -> tuple[Genes, Mask]:
        """The nearest legal genes, and which columns are legal now.

        All are, but for rules across axes that cannot be kept.
        """
        values, legal = self.fixes.nearest(genes)
        return np.array([values[name] for name in self.names], dtype=np.int64).reshape(
            genes.shape
        ), legal


def _factors(product: Expression, axis: Axis) -> tuple[int, list[str]]:
    """The given factor and free quantities whose product an expression is, or no quantity."""
    while not product.symbols.isdisjoint(axis.definitions):
        product = product.substitute(axis.definitions)
    if isinstance(product, Symbol):
        return 1, [product.name]
    if (
        not isinstance(product, Product)
        or product.coefficient.denominator != 1
        or product.coefficient < 1
    ):
        return 1, []
    bases = [
        base.name
        for base, exponent in product.factors
        if isinstance(base, Symbol) and exponent == 1
    ]
    return int(product.coefficient), bases if len(bases) == len(product.factors) else []
