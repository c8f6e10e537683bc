"""A layer cut into calls of an intrinsic, and where the words of its tensors lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import gcd, prod
from typing import ClassVar

from ithaca.exports.configuration import Tool
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import architecture_files
from ithaca.plugins.hierarchies.formulations.matching import Computation
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import (
    IntrinsicArray,
    array_of,
)
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import IntrinsicDesign
from ithaca.solver.solution import Solution
from ithaca.workloads.affine import Access, reach_below, row_weights, span
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class TileDimension:
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
class PlacedTensor:
    """A tensor of an intrinsic: what it is of the layer, off chip and in the scratchpad."""

    own: Access
    """How the intrinsic indexes it."""
    access: Access
    """How the layer does."""
    words: int
    """Words of the tensor."""
    off_chip: int
    """Where it begins off chip."""
    first: int
    """From there to the word of the first iteration of all loops."""
    steps: Mapping[str, int]
    """Increments of that base by an iteration of each loop of the layer."""
    base: int
    """Where its tile begins in the scratchpad."""
    dimensions: tuple[TileDimension, ...]
    """The dimensions of the tensor's tile."""

    @cached_property
    def rows(self) -> list[int]:
        """Strides in the scratchpad: from one word of a dimension to the next."""
        return row_weights([each.size for each in self.dimensions])

    def step(self, loop: str) -> int:
        """The step of the address in the scratchpad from one iteration of a loop of the intrinsic
        to the next."""
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
        """The called nest of a solution that has a configuration."""
        design = solution.problem.design
        assert isinstance(design, IntrinsicDesign)
        assert solution.configuration is not None
        return cls(design, solution.configuration, solution.metrics)

    @property
    def nest(self) -> LoopNest:
        """The loop nest of the layer."""
        return self.design.nest

    @property
    def name(self) -> str:
        """The match, as results call the design."""
        return self.design.name

    @property
    def description(self) -> str:
        """A short description of the mapped layer, in words."""
        return f"{self.nest.name} on {self.design.architecture.name}, {self.name}"

    @property
    def array(self) -> IntrinsicArray:
        """The array of the intrinsic that the architecture has."""
        return array_of(self.design.architecture)

    @property
    def computes(self) -> Computation:
        """The computation of a call."""
        return self.array.computes

    @property
    def binding(self) -> Mapping[str, str]:
        """The loop of the layer that runs on a loop of the intrinsic, where one does."""
        return dict(self.design.binding)

    @cached_property
    def tile(self) -> Mapping[str, int]:
        """Iterations of a sub-problem along every loop of the intrinsic."""
        return {
            p: self.configuration[self.design.quantity(p)] if p in self.binding else 1
            for p in self.computes.loops
        }

    @cached_property
    def operands(self) -> tuple[PlacedTensor, ...]:
        """The intrinsic's tensors, inputs first: off chip row by row, one after the other; likewise
        tiles in the scratchpad."""
        inputs, image = list(self.nest.inputs), self.binding
        sizes, begin, base = self.nest.sizes, 0, 0
        placed: list[PlacedTensor] = []
        for own in (*self.computes.inputs, self.computes.output):
            bound = {image[p] for p in own.loops & image.keys()}
            access = self.nest.output
            if own is not self.computes.output:
                access = next(a for a in inputs if a.loops & {*image.values()} == bound)
                inputs.remove(access)
            shape = [span(subscript, sizes) for subscript in access]
            pairs = [*zip(row_weights(shape), access, strict=True)]
            steps = {q: sum(row * s.coefficient(q) for row, s in pairs) for q in self.nest.loops}
            first = sum(row * reach_below(s, sizes) for row, s in pairs)
            dimensions = tuple(self._dimensions(own, steps))
            placed.append(
                PlacedTensor(own, access, prod(shape), begin, first, steps, base, dimensions)
            )
            begin += placed[-1].words
            base += prod(each.size for each in dimensions)
        return tuple(placed)

    def _dimensions(self, own: Access, steps: Mapping[str, int]) -> Iterator[TileDimension]:
        """A dimension of each subscript, whose windows overlap; or of each loop, where that takes
        no more words."""
        for subscript in own:
            terms = {p: c for p, c in subscript.terms if p in self.binding}
            shared = gcd(*terms.values())
            units = {p: c // shared for p, c in terms.items()}
            strides = {Fraction(steps[self.binding[p]], unit) for p, unit in units.items()}
            whole = TileDimension(units, int(min(strides, default=0)), 1)
            size = whole.covered(self.tile)
            if len(strides) == 1 and size <= prod(self.tile[p] for p in units):
                yield replace(whole, size=size)
            else:
                for p in units:
                    yield TileDimension({p: 1}, steps[self.binding[p]], self.tile[p])


#: A tool that takes layers in calls, which are dense as all of their family.
ToolOfCalls = partial(
    Tool,
    nest_obstacles=lambda nest: (),
    family=IntrinsicDesign.family,
    configured=CalledNest.of,
    edition=CalledNest.edition,
    architecture=architecture_files,
)
