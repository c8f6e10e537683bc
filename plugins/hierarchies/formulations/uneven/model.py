"""The edition ``uneven``: costs of a loop order with *storage nodes* between its loops, one for
every tensor and level.

The tile of a tensor at a node is what lies inside. All loops around a node fetch its tile anew,
overlaps with neighbouring tiles included; lanes that do not index a tensor share what their parent
sends. Results that leave a level are read there, unless drains are free. All else is as in edition
``timeloop``.

Loops may end with what is left: outside all lanes their last tiles are, and have their extents in
all; inside, lanes run in step, and tiles are whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.counts import Number, Numbers
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.affine import Affine
from ithaca.workloads.nest import LoopNest

#: Level and tensor of a storage node.
Node = tuple[int, str]

#: The level whose storage nodes may lie between shared loops, and at which nests pass tiles on
#: where they do at no inner one.
HOME = 1

#: None of them.
NO_NODES: Mapping[Node, Number] = MappingProxyType({})


@dataclass(frozen=True)
class NodeTrips:
    """Trips of the temporal loops around a storage node, and of those inside."""

    around: Mapping[str, Number]
    """By loop; those that do not move are left out."""
    inside: Mapping[str, Number]
    """By loop."""


class UnevenModel(TimeloopModel):
    """Costs of a mapping whose tensors have tiles of their own.

    Of loops in ``ending`` last tiles are what is left at the nodes that lie ``outside`` all lanes:
    1 there, else 0.
    """

    def __init__(
        self,
        architecture: Architecture,
        nest: LoopNest,
        mapping: Numbers,
        trips: Mapping[Node, NodeTrips],
        *,
        free_drains: bool,
        beside: Mapping[str, int] = MappingProxyType({}),
        ending: Collection[str] = (),
        outside: Mapping[Node, Number] = NO_NODES,
    ) -> None:
        super().__init__(architecture, nest, mapping)
        self._node_trips, self._free_drains, self._beside = trips, free_drains, beside
        self._ending, self._outside = ending, outside

    @property
    def lanes(self) -> tuple[Mapping[str, Number], ...]:
        """Lanes of every loop inside each level."""
        return self._mapping.lanes

    def used(self, level: int) -> Number:
        words, beside = super().used(level), self._beside.get(self._levels[level].name)
        return words + beside if beside else words

    def _covered(self, level: int, tensor: str, loop: str) -> Number:
        """The iterations of a loop inside a node."""
        lanes = (own[loop] for own in self._mapping.lanes[level:] if loop in own)
        return self._node_trips[level, tensor].inside.get(loop, self._one) * self._product(lanes)

    @remembered
    def widths(self, level: int, tensor: str) -> tuple[Number, ...]:
        return self._sides(tensor, lambda loop: self._covered(level, tensor, loop))

    @remembered
    def fills_of(self, inner: int, tensor: str) -> Number:
        if inner == len(self._levels):
            return self.steps
        around, access = self._node_trips[inner, tensor].around, self._accesses[tensor]
        if not self._ending:
            return self.tile(inner, tensor) * self._product(around.values())
        lacked = self._product(n for loop, n in around.items() if not access.indexed_by(loop))
        return lacked * self._product(self._boxes(inner, tensor, rank) for rank in access)

    def _boxes(self, node: int, tensor: str, rank: Affine) -> Number:
        """The sides along a rank of all tiles at a node, added up."""
        sides = {loop: self._in_all(node, tensor, loop, node) for loop in rank.loops}
        if [c for _, c in rank.terms] == [1]:
            return self._product(sides.values())
        trips = {d: self._node_trips[node, tensor].around.get(d, self._one) for d in rank.loops}
        reach = (
            c * (sides[d] - trips[d]) * self._product(n for o, n in trips.items() if o != d)
            for d, c in rank.terms
        )
        return sum(reach, self._product(trips.values()))

    def _in_all(self, node: int, tensor: str, loop: str, level: int) -> Number:
        """The iterations of a loop that all tiles at a node cover, one after the other, of all
        lanes inside a level."""
        lanes = (own[loop] for own in self._mapping.lanes[level:] if loop in own)
        padded = self._product(trips[loop] for trips in self._mapping.trips) * self._product(lanes)
        outside = self._outside.get((node, tensor), 0) if loop in self._ending else 0
        if isinstance(outside, int):
            return self._one * self._nest.sizes[loop] if outside else padded
        return padded + outside * (self._nest.sizes[loop] - padded)

    @remembered
    def first(self, level: int, tensor: str, inside: int | None = None) -> Number:
        node, access = level if inside is None else inside, self._accesses[tensor]
        return self._product(
            self._in_all(node, tensor, loop, level)
            for loop in self._nest.loops
            if access.indexed_by(loop)
        )

    def positions(self, level: int, tensor: str) -> Number:
        access, lanes = self._accesses[tensor], self._mapping.lanes[level]
        return self._product(lanes[loop] for loop in lanes if access.indexed_by(loop))

    def reads(self, level: int, tensor: str) -> Number:
        sent = (  # what lanes run in step they also begin
            self._held(level, tensor, self.sent(level, tensor, again=True))
            if self._ending
            else super().reads(level, tensor)
        )
        stays = tensor in dict(self._levels[level].resident)
        if self._free_drains or stays or not level or not self._is_output(tensor):
            return sent
        return sent + self._held(level, tensor, self.fills_of(level, tensor))
