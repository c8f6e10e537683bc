"""The mappings of the edition ``uneven``: one loop order, with a storage node of every tensor and
level between its loops.

Some best mapping has directly under a node only loops that its tensor does not have for itself:
moving one that it has outwards shrinks the tile and sends no more words; and moving one that a
tensor lacks from directly around its node inwards sends fewer, and leaves the tile. Loops that
share a rank of a tensor, as those of windows, count as neither. All other loops are outermost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import takewhile
from math import factorial, prod
from operator import mul
from typing import ClassVar

from ithaca.files.clock import poll
from ithaca.files.messages import refuse
from ithaca.formulations.algebra.expression import ZERO, Symbol
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName, NumberSystem
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design
from ithaca.formulations.space import Link, Relation, Space, make_space
from ithaca.plugins.hierarchies.formulations.constraints import FactorRange
from ithaca.plugins.hierarchies.formulations.counts import Number
from ithaca.plugins.hierarchies.formulations.mapping import (
    Order,
    Slot,
    keep_quantity,
    order_quantity,
    slots,
)
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.orders import LEAST_PADDINGS, chosen_orders
from ithaca.plugins.hierarchies.formulations.remainders import Tails
from ithaca.plugins.hierarchies.formulations.uneven.model import (
    HOME,
    NO_NODES,
    Node,
    NodeTrips,
    UnevenModel,
)
from ithaca.plugins.hierarchies.formulations.uneven.turns import SharedLoops
from ithaca.workloads.nest import LoopNest

#: Orders of storage nodes at most.
MOST_ORDERS = 5000

#: Under this name stands which order the nodes have.
NODES = "nodes"


@dataclass(frozen=True)
class UnevenSpace(MappingSpace):
    """Mappings of a nest onto an architecture, each tensor with tiles of its own, whatever searches
    them."""

    edition: ClassVar[str] = "uneven"
    one_direction: ClassVar[bool] = False

    shared: SharedLoops | None = None
    """The outermost loops, where other nests have them, too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.architecture.name
        for level in self.architecture.levels:
            if level.cluster > 1:
                raise refuse(
                    name,
                    f"instances of {level.name} share accesses; "
                    "allowed in edition uneven: accesses of their own",
                )
        if self._order_count > MOST_ORDERS:
            raise refuse(
                name,
                f"{len(self.nodes)} storage nodes have {self._order_count:,} orders; "
                f"allowed in edition uneven: at most {MOST_ORDERS:,} (see --nodes levels)",
            )

    @property
    def alone(self) -> LoopNest:
        return self.nest if self.shared is None else self.shared.whole or self.nest

    # -- storage nodes -------------------------------------------------------------------

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The storage nodes that there may be inside the outermost level, level by level."""
        return tuple(
            (place, tensor)
            for place in range(1, len(self.architecture.levels))
            for tensor in self.tensors
            if tensor in self.keeps(place)
        )

    @cached_property
    def fixed(self) -> tuple[Node, ...]:
        """The storage nodes that no loop of the nest's own lies around: of tiles that are passed
        on, then those between shared loops."""
        shared = self.shared
        if shared is None:
            return ()
        between = tuple((self.home(t), t) for t, _ in shared.around)
        passed = tuple((self.home(t), t) for t, _ in self.kept)
        return (*(node for node in passed if node not in between), *between)

    def home(self, tensor: str) -> int:
        """The level at which a tensor is passed on, or may stay between shared loops."""
        places = enumerate(self.architecture.levels)
        return next((n for n, level in places if tensor in dict(level.resident)), HOME)

    def slot(self, node: Node) -> Slot:
        """The place of the loops under a node."""
        return Slot(f"{node[1]}.{self.architecture.levels[node[0]].name}")

    @property
    def _order_count(self) -> int:
        places = range(1, len(self.architecture.levels))
        if self.options.nodes_by_level:
            return prod(factorial(len(self.keeps(place))) for place in places)
        own = [sum(t == tensor for _, t in self.nodes) for tensor in self.tensors]
        return factorial(len(self.nodes)) // prod(map(factorial, own))

    @cached_property
    def node_orders(self) -> tuple[tuple[Node, ...], ...]:
        """The orders that nodes may have, outermost first: after those that are fixed those of a
        tensor as its levels are, and where that is asked for those of all of them."""

        def extended(left: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
            poll()
            if not left:
                yield ()
            for node in left:
                if any(
                    other[0] < node[0] and (self.options.nodes_by_level or other[1] == node[1])
                    for other in left
                ):
                    continue
                for rest in extended(tuple(other for other in left if other != node)):
                    yield (node, *rest)

        rest = tuple(node for node in self.nodes if node not in self.fixed)
        return tuple((*self.fixed, *order) for order in extended(rest))

    @cached_property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The orders of the storage nodes."""
        return {NODES: tuple(tuple(self.slot(n).level for n in o) for o in self.node_orders)}

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        outermost, *others = slots(self.architecture)
        meshes = (slot for slot in others if not slot.temporal)
        return (outermost, *map(self.slot, self.nodes), *meshes)

    def slots_of(self, loop: str) -> tuple[Slot, ...]:
        own = {
            self.slot(node)
            for node in self.nodes
            if node not in self.fixed[:1] and (node in self.fixed or self.has(node[1], loop))
        }
        return tuple(slot for slot in self.slots if slot not in own)

    def has(self, tensor: str, loop: str) -> bool:
        """Whether a loop indexes a tensor, and shares no rank."""
        access = next(access for access in self.nest.accesses if access.tensor == tensor)
        return any(rank.terms == ((loop, 1),) for rank in access)

    @cached_property
    def _last_outside(self) -> int:
        """The innermost level outside all lanes."""
        levels = range(len(self.architecture.levels))
        meshes = (place for place in levels if self.architecture.inner_mesh(place) is not None)
        return next(meshes, levels[-1])

    @cached_property
    def ending(self) -> frozenset[str]:
        """The loops that may have fewer trips in last iterations: all, unless the nest shares
        loops. Tiles at a node follow one another, those of windows with their overlaps."""
        whole = self.shared is not None or not self.options.remainders
        return frozenset() if whole else frozenset(self.moving)

    def outer_nodes(self, loop: str) -> tuple[Node, ...]:
        """Storage nodes with places for a loop outside the lanes, in some orders."""
        return tuple(
            node
            for node in self.nodes
            if node[0] <= self._last_outside and self.slot(node) in self.slots_of(loop)
        )

    def ordered(self, slot: Slot, loop: str) -> bool:
        """Whether no other choice decides which places of a loop are inside one: not under nodes of
        several tensors outside the lanes."""
        outer = self.outer_nodes(loop)
        several = len({tensor for _, tensor in outer}) > 1
        return not several or slot not in map(self.slot, outer)

    def span(self, slot: Slot, loop: str) -> FactorRange:
        if self.shared is None or slot != self.slots[0]:
            return super().span(slot, loop)
        trips = dict(self.shared.trips).get(loop, 1)
        return FactorRange(slot.level, slot.kind, loop, trips, trips)

    def may_bypass(self, level: int) -> frozenset[str]:
        return super().may_bypass(level) - {t for place, t in self.fixed if place == level}

    @cached_property
    def space(self) -> Space:
        """The space of levels, where nodes that are not kept have no loops."""
        space, links = super().space, []
        for place, tensor in self.nodes:
            if tensor in self.may_bypass(place):
                slot = self.slot((place, tensor))
                kept = Symbol(keep_quantity(self.architecture.levels[place].name, tensor))
                links += [
                    Link((Symbol(slot.quantity(d)) - 1) * (2 - kept), Relation.AT_MOST, ZERO)
                    for d in self.moving
                    if slot in self.slots_of(d)
                ]
        return make_space(space.axes, [*space.links, *links])

    def among(self, falling: Collection[str]) -> str:
        left_out = ("mappings with no loop that could move over a storage node for nothing",)
        padded = (LEAST_PADDINGS,) if not self.options.divisors_only else ()
        return " and ".join((*left_out, *padded)) if falling else ""

    # -- what it costs -------------------------------------------------------------------

    def model(self, values: NumbersByName, numbers: NumberSystem) -> UnevenModel:
        one = numbers.number(Fraction(1))
        inside = chosen_orders(self.orders, values, numbers)

        def within(node: Node, other: Node) -> Number:
            return inside(0, self.slot(node).level, self.slot(other).level)

        def factor(slot: Slot, loop: str) -> Number:
            return values[slot.quantity(loop)] if loop in self.moving else one

        return self.uneven_model(numbers, factor, within, self.kept_at(values))

    def uneven_model(
        self,
        numbers: NumberSystem,
        factor: Callable[[Slot, str], Number],
        within: Callable[[Node, Node], Number],
        keeps: tuple[Mapping[str, Number], ...],
    ) -> UnevenModel:
        """The model of mappings by their factors; ``within`` is whether one storage node lies
        inside another, 1 or 0.

        Parameters
        ----------
        numbers : NumberSystem
            The number system.
        factor : callable
            The factor of a slot and a loop.
        within : callable
            Whether the first storage node lies inside the second (1 or 0).
        keeps : tuple of mapping
            By level, whether it keeps each tensor (1 or 0).
        """
        one = numbers.number(Fraction(1))
        trips: dict[Node, NodeTrips] = {}
        outermost = {loop: factor(self.slots[0], loop) for loop in self.nest.loops}
        ends = self.nodes if self.ending else ()
        outside = {node: self._outside(node, within, keeps) for node in ends}
        lanes = [slot for slot in self.slots if not slot.temporal]

        def tiles(loop: str, counted: Mapping[Node, Number]) -> Number:
            """The tiles that cover a loop, a remainder counted: each has the iterations of all
            lanes and of the nodes that count."""
            run = reduce(mul, (factor(slot, loop) for slot in lanes), one)
            extent = numbers.number(Fraction(self.nest.sizes[loop]))
            return numbers.ceil_div(extent, run * self._trips(loop, factor, counted, one))

        def around(loop: str, outer: Mapping[Node, Number]) -> Number:
            """Trips of a loop under the nodes that count, and outside all."""
            if loop not in self.ending:
                return outermost[loop] * self._trips(loop, factor, outer, one)
            covered = {node: 1 - outer[node] * outside[node] for node in outer}
            whole = {node: outer[node] * (1 - outside[node]) for node in outer}
            return tiles(loop, covered) * self._trips(loop, factor, whole, one)

        for node in self.nodes:
            outer = {other: within(node, other) for other in self.nodes}
            rest = {other: 1 - outer[other] for other in self.nodes}
            trips[node] = NodeTrips(
                {d: around(d, outer) for d in self.moving},
                {d: self._trips(d, factor, rest, one) for d in self.moving},
            )
        every = dict.fromkeys(self.nodes, 1)
        total = {d: around(d, every) for d in self.nest.loops}
        if self.shared is not None:
            own = {d: self._trips(d, factor, every, one) for d in self.nest.loops}
            whole = dict(self.shared.trips)
            for tensor, before in self.shared.around:
                left = {d: n // dict(before).get(d, 1) for d, n in whole.items()}
                trips[self.home(tensor), tensor] = NodeTrips(
                    {d: one * n for d, n in before},
                    {d: n * left.get(d, 1) for d, n in own.items()},
                )
        return self._model(numbers, factor, trips, total, keeps, outside)

    def _outside(
        self,
        node: Node,
        within: Callable[[Node, Node], Number],
        keeps: tuple[Mapping[str, Number], ...],
    ) -> Number:
        """Whether a node lies outside all lanes, and all nodes inside them: 1 or 0."""
        if node[0] > self._last_outside:
            return 0
        inside = [
            within(node, other) * keeps[other[0]][other[1]]
            for other in self.nodes
            if other[0] > self._last_outside
        ]
        return reduce(mul, (1 - each for each in inside), 1)

    def outside(self, shared: SharedLoops) -> UnevenModel:
        """The model where all loops that are not shared lie inside all storage nodes, so that the
        outermost level moves the least. Lanes share what passes by all levels: that moves no less
        than if the next level kept it."""
        between, one = dict(shared.around), Fraction(1)
        passing = {*self.tensors} - {tensor for _, tensor in self.nodes}

        def around(node: Node) -> dict[str, int]:
            here = node[1] in between and node[0] == self.home(node[1])
            return dict(between[node[1]] if here else shared.trips)

        sizes = self.nest.sizes
        trips = {
            node: NodeTrips(
                {d: one * n for d, n in around(node).items()},
                {d: one * -(-n // around(node).get(d, 1)) for d, n in sizes.items()},
            )
            for node in (*self.nodes, *((HOME, tensor) for tensor in passing))
        }
        total = {d: one * n for d, n in sizes.items()}
        keeps = tuple(
            {
                t: int(t in self.keeps(place) or (place == HOME and t in passing))
                for t in self.tensors
            }
            for place in range(len(self.architecture.levels))
        )
        return self._model(FRACTION, lambda *_: one, trips, total, keeps)

    def _model(
        self,
        numbers: NumberSystem,
        factor: Callable[[Slot, str], Number],
        trips: dict[Node, NodeTrips],
        total: Mapping[str, Number],
        keeps: tuple[Mapping[str, Number], ...],
        outside: Mapping[Node, Number] = NO_NODES,
    ) -> UnevenModel:
        one, shared = numbers.number(Fraction(1)), self.shared
        beside = {}
        if shared is not None:
            beside = {self.architecture.levels[HOME].name: shared.beside}
            beside |= dict(shared.beside_inside)
        for tensor in self.tensors:
            trips[0, tensor] = NodeTrips({}, total)

        def at_once(slot: Slot, loop: str) -> Number:
            """All trips as if they were of the outermost level."""
            return (
                total[loop]
                if slot == self.slots[0]
                else one
                if slot.temporal
                else factor(slot, loop)
            )

        mapping = self.numbers_of(numbers, at_once, lambda *_: 0, keeps, lambda *_: 1)
        return UnevenModel(
            self.architecture,
            self.nest,
            mapping,
            trips,
            free_drains=self.options.free_drains,
            beside=beside,
            ending=self.ending,
            outside=outside,
        )

    def _trips(
        self,
        loop: str,
        factor: Callable[[Slot, str], Number],
        counted: Mapping[Node, Number],
        one: Number,
    ) -> Number:
        """Trips of a loop under the nodes that count, 1 or 0."""
        trips, own = one, set(self.slots_of(loop))
        for node, counts in counted.items():
            slot = self.slot(node)
            if slot in own and not isinstance(counts, int):
                trips = trips * (one + counts * (factor(slot, loop) - 1))
            elif slot in own and counts:
                trips = trips * factor(slot, loop)
        return trips

    # -- mappings ------------------------------------------------------------------------

    def tails(self, configuration: Mapping[str, int], keeps: Mapping[str, frozenset[str]]) -> Tails:
        if not self.ending:
            return super().tails(configuration, keeps)
        order = self._order(configuration, keeps)
        ends = takewhile(lambda node: node[0] <= self._last_outside, order)
        outer = (self.slots[0], *map(self.slot, ends))
        rest = sorted(
            (slot for slot in self.slots if slot not in outer), key=lambda slot: slot.temporal
        )
        return Tails(self.nest, (*outer, *rest), outer, self.ending)

    def node_order(self, configuration: Mapping[str, int]) -> tuple[Node, ...]:
        """The storage nodes of a configuration, outermost first."""
        return self._order(configuration, self.mapping(configuration).keeps)

    def _order(
        self, configuration: Mapping[str, int], keeps: Mapping[str, frozenset[str]]
    ) -> tuple[Node, ...]:
        return tuple(
            node
            for node in self.node_orders[configuration.get(order_quantity(NODES), 1) - 1]
            if node[1] in keeps[self.architecture.levels[node[0]].name]
        )

    def translated(self, design: Design, configuration: Configuration) -> Configuration | None:
        if not isinstance(design, UnevenSpace):
            return None
        keeps = (name for name in self.space.quantities if name.startswith("keep."))
        return self.space.adopted(dict.fromkeys(keeps, 2) | dict(configuration))
