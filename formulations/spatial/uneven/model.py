"""The edition ``uneven``: costs of a loop order with *storage nodes* between its loops, one for
every tensor and level.

The tile of a tensor at a node is what lies inside. All loops around a node fetch its tile anew,
overlaps with neighbouring tiles included; lanes that do not index a tensor share what their parent
sends. Results that leave a level are read there, unless drains are free. All else is as in edition
``timeloop``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ithaca.formulations.remembered import remembered
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.counts import Number, Numbers
from ithaca.formulations.spatial.timeloop import TimeloopModel
from ithaca.workloads.nest import LoopNest

#: Level and tensor of a storage node.
Node = tuple[int, str]

#: The level whose tiles nests pass on.
HOME = 1


@dataclass(frozen=True)
class NodeTrips:
    """Trips of the temporal loops around a storage node, and of those inside."""

    around: Mapping[str, Number]
    """By loop; those that do not move are left out."""
    inside: Mapping[str, Number]
    """By loop."""


class UnevenModel(TimeloopModel):
    """Costs of a mapping whose tensors have tiles of their own."""

    def __init__(
        self,
        architecture: Architecture,
        nest: LoopNest,
        mapping: Numbers,
        trips: Mapping[Node, NodeTrips],
        *,
        free_drains: bool,
        beside: int = 0,
    ) -> None:
        super().__init__(architecture, nest, mapping)
        self._node_trips, self._free_drains, self._beside = trips, free_drains, beside

    @property
    def lanes(self) -> tuple[Mapping[str, Number], ...]:
        """Lanes of every loop inside each level."""
        return self._mapping.lanes

    def used(self, level: int) -> Number:
        words = super().used(level)
        return words + self._beside if level == HOME and self._beside else words

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
        around = self._node_trips[inner, tensor].around.values()
        return self.tile(inner, tensor) * self._product(around)

    def positions(self, level: int, tensor: str) -> Number:
        access, lanes = self._accesses[tensor], self._mapping.lanes[level]
        return self._product(lanes[loop] for loop in lanes if access.indexed_by(loop))

    def reads(self, level: int, tensor: str) -> Number:
        sent, stays = super().reads(level, tensor), tensor in dict(self._levels[level].resident)
        if self._free_drains or stays or not level or not self._is_output(tensor):
            return sent
        return sent + self._held(level, tensor, self.fills_of(level, tensor))
