"""A layer cut into calls of an intrinsic, and where the words of its tensors lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import gcd, prod
from typing import ClassVar

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.matching import Computation
from ithaca.formulations.spatial.intrinsic.array import IntrinsicArray, array_of
from ithaca.formulations.spatial.intrinsic.design import IntrinsicDesign
from ithaca.formulations.systolic.addresses import reach_below, row_weights, span
from ithaca.solver.solution import Solution
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class Dimension:
    """A dimension of a tile in the scratchpad."""

    units: Mapping[str, int]
    """How far a step of a loop of the intrinsic moves along it (words of the tile)."""
    off_chip: int
    """From one word of it to the next, off chip."""
    size: int
    """Words of it in a whole tile."""

    def covered(self, tile: Mapping[str, int]) -> int:
        """Words that iterations of the loops touch, with those between them."""
        return 1 + sum(unit * (tile[loop] - 1) for loop, unit in self.units.items())


@dataclass(frozen=True)
class Placed:
    """A tensor of an intrinsic: what it is of the layer, off chip and in the scratchpad."""

    access: Access
    """How the layer indexes it."""
    begin: int
    """Where the word of the first iteration of all loops lies off chip."""
    steps: Mapping[str, int]
    """What an iteration of a loop of the layer adds to that."""
    base: int
    """Where its tile begins in the scratchpad."""
    dimensions: tuple[Dimension, ...]
    """Of its tile."""

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """From one word of a dimension to the next, in the scratchpad."""
        return tuple(row_weights([each.size for each in self.dimensions]))

    def step(self, loop: str) -> int:
        """What an iteration of a loop of the intrinsic adds to an address in the scratchpad."""
        pairs = zip(self.dimensions, self.rows, strict=True)
        return sum(each.units.get(loop, 0) * row for each, row in pairs)


@dataclass(frozen=True)
class CalledNest:
    """A layer cut into calls of an intrinsic, with what that takes."""

    design: IntrinsicDesign
    configuration: Configuration
    metrics: Mapping[str, Fraction]
    """By name."""
    edition: ClassVar[str] = "intrinsic"

    @classmethod
    def of(cls, solution: Solution) -> CalledNest:
        """That of a solution that has a configuration."""
        design = solution.problem.design
        assert isinstance(design, IntrinsicDesign)
        assert solution.configuration is not None
        return cls(design, solution.configuration, solution.metrics)

    @property
    def nest(self) -> LoopNest:
        """The layer."""
        return self.design.nest

    @property
    def name(self) -> str:
        """The match, as results call the design."""
        return self.design.name

    @property
    def said(self) -> str:
        """What it is, in words."""
        return f"{self.nest.name} on {self.design.architecture.name}, {self.name}"

    @property
    def array(self) -> IntrinsicArray:
        """The array."""
        return array_of(self.design.architecture)

    @property
    def computes(self) -> Computation:
        """What a call computes."""
        return self.array.computes

    @property
    def binding(self) -> Mapping[str, str]:
        """The loop of the layer that runs on a loop of the intrinsic, where one does."""
        return dict(self.design.binding)

    @cached_property
    def tile(self) -> Mapping[str, int]:
        """Iterations of a sub-problem along every loop of the intrinsic."""
        values = {name: Fraction(value) for name, value in self.configuration.items()}
        return {p: 1 for p in self.computes.loops} | {
            p: int(n) for p, n in self.design.tile(values).items()
        }

    @cached_property
    def matched(self) -> tuple[tuple[Access, Access], ...]:
        """The tensors of the intrinsic, inputs first, with those of the layer; none if it is not
        known which is which."""
        image = self.binding

        def bound(access: Access, loops: Mapping[str, str]) -> set[str]:
            return {loops[p] for p in access.loops if p in loops}

        every = {loop: loop for loop in image.values()}
        for order in permutations(self.nest.inputs):
            pairs = (*zip(self.computes.inputs, order, strict=False),)
            pairs += ((self.computes.output, self.nest.output),)
            if all(bound(p, image) == bound(q, every) for p, q in pairs):
                return pairs
        return ()

    @cached_property
    def operands(self) -> tuple[Placed, ...]:
        """Its tensors, in the order of the intrinsic's: off chip row by row, one after the other in
        the layer's order; likewise tiles in the scratchpad."""
        begins, end = {}, 0
        for access in self.nest.accesses:
            begins[access.tensor] = end
            end += prod(span(subscript, self.nest.sizes) for subscript in access)
        placed: list[Placed] = []
        base = 0
        for own, access in self.matched:
            rows = row_weights([span(subscript, self.nest.sizes) for subscript in access])
            steps = {
                loop: sum(row * s.coefficient(loop) for row, s in zip(rows, access, strict=True))
                for loop in self.nest.loops
            }
            begin = begins[access.tensor] + sum(
                row * reach_below(s, self.nest.sizes) for row, s in zip(rows, access, strict=True)
            )
            placed.append(Placed(access, begin, steps, base, tuple(self._dimensions(own, steps))))
            base += prod(each.size for each in placed[-1].dimensions)
        return tuple(placed)

    def _dimensions(self, own: Access, steps: Mapping[str, int]) -> Iterator[Dimension]:
        """A dimension of each subscript, whose windows overlap; or of each loop, where that takes
        no more words."""
        image = self.binding
        for subscript in own:
            terms = [(p, c) for p, c in subscript.terms if p in image]
            shared = gcd(*(c for _, c in terms))
            units = {p: c // shared for p, c in terms}
            strides = {Fraction(steps[image[p]], unit) for p, unit in units.items()}
            box = Dimension(units, int(min(strides, default=0)), 0)
            size = box.covered(self.tile) if min(units.values(), default=1) > 0 else 0
            if len(strides) == 1 and 0 < size <= prod(self.tile[p] for p in units):
                yield Dimension(units, box.off_chip, size)
            else:
                for p in units:
                    yield Dimension({p: 1}, steps[image[p]], self.tile[p])
