"""Cycles of arrays with two levels of tiles, in closed form.

A module beside DRAM loads its buffer and then sends it, so that the buffers below wait for what it
loads. They are doubled: a fill that feeds n tiles costs at least n periods, and no less than n − 2
periods with the load and two tiles on their way, as long as the array has not yet swapped what came
before. Fills of different tensors fall together: where one is filled, so are all that are filled
more often, and the longest counts. What drains take and write in turns goes on meanwhile, for two
tiles of the output. All else is as `ithaca.formulations.systolic.cycles` says.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.cycle_arithmetic import BURST_LATENCY
from ithaca.formulations.systolic.cycle_terms import Ahead, Cycles, Reads
from ithaca.formulations.systolic.cycles import ClosedForm
from ithaca.formulations.systolic.point import Point
from ithaca.formulations.systolic.systolic_array import IOGroup


def two_level_cycles(point: Point, machine: Machine) -> Cycles:
    """The cycles of a run with ideal memory, of an array with two levels of tiles."""
    return _TwoLevels(point, machine).cycles()


class _TwoLevels(ClosedForm):
    """The closed form where modules beside DRAM have buffers."""

    def load(self, group: IOGroup) -> Any:
        """Cycles in which a buffer beside DRAM is filled, or written: a burst for each row."""
        assert group.outer is not None
        rows = self.value(group.outer.size / group.outer.last)
        row = self.value(group.outer.last / group.pack)
        if self.channel:
            words = self.value(group.outer.last) * group.package(self.point.data).word_bytes
            row = self.most(row, self.numbers.ceil_div(words, self.constant(self.channel)))
        return rows * (row + self.constant(BURST_LATENCY) + self.e) + self.e

    def moves(self, group: IOGroup, chain: Any) -> Any:
        """No cycles but those of `load`: behind it the array is as any other."""
        return self.constant(0)

    def read(self, group: IOGroup) -> Reads:
        reads, load = super().read(group), self.load(group)
        assert group.outer is not None
        least = reads.least + self.value(group.outer.fills) * load
        return replace(reads, fill=reads.fill + load, least=least)

    def tiles_before(self, count: Any, ahead: list[Ahead]) -> Any:
        usual = super().tiles_before(count, ahead)
        if count is not self.tiles:
            return usual
        one, two, zero = (self.constant(n) for n in (1, 2, 0))
        begun, pace = self.most(*(own.cycles for own in ahead)), self.trips + self.e + self.d
        fills = []
        for reads in self.reads():
            assert reads.group.outer is not None
            times, load = self.value(reads.group.outer.fills), self.load(reads.group)
            fed = self.numbers.ceil_div(self.tiles, times)
            tile = self.most(*(cycles for cycles, _ in reads.period[1:]))
            near = self.numbers.minimum(fed, two)
            waits = near * tile + load
            own = self.most(
                fed * pace, fed * tile + load, self.most(fed - near, zero) * pace + waits
            )
            fills.append((times, fed, own, waits))
        runs = [usual]
        for (times, fed, own, _), (seldom, _, _, waits) in permutations(fills, 2):
            # as often as the former is filled; where the latter is, too, the longer of both, but
            # where the former feeds one tile: then it is filled ahead
            both = self.numbers.minimum(times, seldom) - one
            longer = self.if_more(fed) * (self.most(fed - two, zero) * pace + waits)
            alone = self.most(times - seldom, zero) * own
            runs.append(begun + alone + both * self.most(own, longer) + (fed - one) * pace)
        own = self.most(self.visited * pace, self.stored())
        for times, _, _, waits in fills:
            # outputs leave at their own pace; of each fill that waits, two hide some
            held = self.numbers.minimum(times - one, self.floor(self.outputs - one, two))
            busy = two * (self.visited - one) * pace + waits
            rest = (self.outputs - one - two * held) * own
            runs.append(begun + rest + held * self.most(two * own, busy))
        return self.most(*runs)

    def held_up(
        self,
        count: Any,
        usual: Any,
        taken: Any,
        words: Any,
        chain: Any,
        *,
        rows: tuple[Any, Any] | None = None,
        doubled: bool = False,
    ) -> Any:
        """The module beside DRAM takes a tile, and then writes it."""
        held = super().held_up(count, usual, taken, words, chain, rows=rows, doubled=doubled)
        return self.most(held, count * self.stored())

    def stored(self) -> Any:
        """Cycles in which a tile of the output is taken and written."""
        sent = self.value(self.out.count * self.out.size / self.out.pack)
        return sent + self.e + self.load(self.out)

    def parts(
        self, reads: list[Reads], run: Any, drains: Any, leaves: Any, after: Any, rest: Any
    ) -> Cycles:
        load = self.load(self.out)
        drains = drains + self.outputs * load
        return super().parts(reads, run, drains, leaves + load, after, rest + load)
