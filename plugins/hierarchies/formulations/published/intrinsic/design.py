"""A layer on an accelerator with an intrinsic, by one match: the space of its tiles and their
metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

from ithaca.formulations.algebra.expression import SYMBOLIC, Constant
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName, NumberSystem
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Limit
from ithaca.formulations.space import Axis, Link, Quantity, Relation, Space, make_space
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import NONE
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.metrics import priced
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import Binding, array_of
from ithaca.plugins.hierarchies.formulations.published.intrinsic.model import TensorizedWork
from ithaca.workloads.nest import LoopNest

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "of all sub-problems, with traffic off chip if asked for"),
        Metric("energy", "pJ", "of multiply-accumulates and words, off chip as well"),
        Metric("edp", "pJ·cycles", "energy times latency"),
        Metric("computing", "cycles", "of all calls"),
        Metric("network", "cycles", "that the words between scratchpad and local memory take"),
        Metric(
            "startup",
            "cycles",
            "in which first operands come and last results leave, beside no call",
        ),
        Metric("skew", "cycles", "by which the last PE is behind the first, in all sub-problems"),
        Metric("bus", "cycles", "that the words of sub-problems take from and to off-chip memory"),
        Metric("words", "words", "between scratchpad and local memory"),
        Metric("dram_words", "words", "of sub-problems, from and to off-chip memory"),
        Metric("subproblems", "sub-problems", "into which the layer is cut"),
        Metric("calls", "calls", "of the intrinsic"),
        Metric("computes", "MACs", "multiply-accumulates, padding included"),
        Metric("pes", "PEs", "that have work where tiles are large enough", most=True, scarce=True),
    )
}


@dataclass(frozen=True)
class IntrinsicDesign(MappingDesign):
    """A layer cut into calls of an intrinsic."""

    nest: LoopNest
    """The layer."""
    architecture: Architecture
    """The accelerator."""
    binding: Binding
    """Which of the intrinsic's loops run which of the layer's."""
    options: MappingOptions = field(default_factory=MappingOptions)
    """Whether words off chip take cycles."""
    edition: ClassVar[str] = "intrinsic"
    constraints = NONE

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics of the edition, but for energy where nothing says it."""
        return priced(VOCABULARY, self.architecture)

    @cached_property
    def work(self) -> TensorizedWork:
        """The counts that costs follow from."""
        array = array_of(self.architecture)
        return array.work(self.nest, self.binding, off_chip=self.options.off_chip)

    @property
    def name(self) -> str:
        """The match in words: ``i=r j=o k=i``."""
        return " ".join(f"{loop}={image}" for loop, image in self.binding)

    def quantity(self, loop: str) -> str:
        """The tile of a loop of the intrinsic: iterations of the loop that runs on it in a
        sub-problem."""
        return Slot(self.architecture.levels[1].name).quantity(dict(self.binding)[loop])

    def _tile(self, values: NumbersByName) -> dict[str, Any]:
        return {loop: values[self.quantity(loop)] for loop, _ in self.binding}

    @cached_property
    def space(self) -> Space:
        """Tiles whose tensors fit the scratchpad together; whether a call's fit local memory is a
        condition of the design."""
        axes = [Axis(name, (Quantity(name, 1, extent),)) for name, extent in self._extents.items()]
        held = self.work.held_words(
            self._tile(
                {
                    name: axis.quantities[0].symbol
                    for name, axis in zip(self._extents, axes, strict=True)
                }
            ),
            SYMBOLIC,
        )
        return make_space(
            axes, [Link(held, Relation.AT_MOST, Constant(Fraction(self.work.scratchpad)))]
        )

    @property
    def _extents(self) -> dict[str, int]:
        return {self.quantity(loop): extent for loop, extent in self.work.extents}

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The metrics asked for at tiles of the bound loops.

        Parameters
        ----------
        values : NumbersByName
            The tile of each bound loop (iterations of a sub-problem).
        numbers : NumberSystem
            The number system.
        names : collection of str, optional
            The metrics wanted; by default all.
        """
        along = {
            loop: self.work.tiles(loop, tile, numbers) for loop, tile in self._tile(values).items()
        }
        costs = self.work.metrics(
            {n: tiles for n, (tiles, _) in along.items()},
            {n: c for n, (_, c) in along.items()},
            numbers,
        )
        return {name: costs[name] for name in self.vocabulary if names is None or name in names}

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """No metric falls with sub-problems, of which there is one, or calls, which are all
        full."""
        calls = {
            loop: Fraction(ceil(Fraction(n, dict(self.work.sizes)[loop])))
            for loop, n in self.work.extents
        }
        return self.work.metrics(dict.fromkeys(calls, Fraction(1)), calls, FRACTION)

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        """Local memory holds what a call reads and writes."""
        return ((numbers.number(Fraction(sum(self.work.call_words))), Fraction(self.work.local)),)

    # -- mappings ------------------------------------------------------------------------

    @property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The loop order of each level, outermost loop first: unbound loops outside, those that the
        held tensor does not know inside."""
        image = dict(self.binding)
        held = next(
            (operand.loops for operand in self.work.operands if operand.held), frozenset(image)
        )
        inside = [image[loop] for loop, _ in self.binding if loop not in held]
        outer = [loop for loop in self.nest.loops if loop not in image.values()]
        calls = tuple(loop for loop in self.nest.loops if loop not in inside) + tuple(inside)
        tiles = (*outer, *(loop for loop in self.nest.loops if loop not in outer))
        return dict(
            zip(
                (level.name for level in self.architecture.levels),
                ((tiles,), (calls,), (calls,)),
                strict=True,
            )
        )

    def mapping(self, configuration: Mapping[str, int]) -> Laid:
        """Sub-problems, their calls, and the iterations of a call, each padded to the full size."""
        array, image, sizes = array_of(self.architecture), dict(self.binding), dict(self.work.sizes)
        off_chip, scratchpad, local = (level.name for level in self.architecture.levels)
        tiles = {loop: extent for loop, extent in self.nest.extents if loop not in image.values()}
        calls, inside = {}, {loop: size for loop, size in sizes.items() if loop in image}
        for loop, tile in self._tile(configuration).items():
            tiles[image[loop]] = -(-self.nest.sizes[image[loop]] // tile)
            calls[image[loop]] = -(-tile // sizes[loop])
        factors = {
            Slot(off_chip): tiles,
            Slot(scratchpad): calls,
            Slot(local): {image[p]: n for p, n in inside.items() if p not in array.sides},
        }
        for along, (p, n) in zip("xy", array.mesh, strict=True):
            if p in image:
                factors[Slot(local, along)] = {image[p]: n}
        keeps = frozenset(access.tensor for access in self.nest.accesses)
        orders = {level: order for level, (order,) in self.orders.items()}
        return Laid(factors, orders, dict.fromkeys(orders, keeps))
