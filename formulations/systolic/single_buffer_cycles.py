"""Cycles of arrays with single buffers, in closed form.

A single buffer is filled, and then feeds PEs: before a tile for which it is filled, these wait for
C = c (a + e) cycles, in which a chain of c lanes takes a words each. Buffers that are filled before
the same tile are so at once, and the longest counts; one that feeds several tiles is filled before
the first of these. A chain passes on what is for lanes behind before its first PEs go on: where
these are later than its words, as sums go from lane to lane, it waits for the last lane whose words
FIFOs do not hold. Buffers of sums send what they took before they take more, as drains do. All else
is as `ithaca.formulations.systolic.cycles` says.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.buffering import has_cycles
from ithaca.formulations.systolic.cycle_terms import Ahead, Cycles, Period, Reads
from ithaca.formulations.systolic.cycles import ClosedForm
from ithaca.formulations.systolic.point import Point
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup


def single_buffer_cycles(point: Point, machine: Machine) -> Cycles:
    """The cycles of a run with ideal memory, of an array with single buffers.

    Raises `InputError` if it has no closed form.
    """
    if not has_cycles(point.array):
        raise InputError(
            f"the cycle edition says nothing of {point.array.name} with several memory ports, data "
            "that no host lays out or two levels of tiles; allowed: another edition"
        )
    return _SingleBuffers(point, machine).cycles()


class _SingleBuffers(ClosedForm):
    """The closed form where some buffers are not doubled."""

    def __init__(self, point: Point, machine: Machine) -> None:
        super().__init__(point, machine)
        groups = [group for group in self.array.packed_groups if group.role is GroupRole.READ]
        if not any(group.double_buffered for group in groups):
            self.swap = self.constant(0)
        if not self.out.double_buffered:
            self.out_swap = self.constant(0)
        # PEs that wait for buffers find room again for what they hand on beside their sums
        room = machine.handing_depth(beside_sums=True) + machine.hop - 1
        wait = self.constant(max(machine.sum_latency + 1 - room, 0))
        self.tile_stalls = self.most(self.last_stalls - wait, self.constant(0))

    @property
    def tile(self) -> Any:
        """Cycles in which a buffer feeds a tile."""
        return self.trips + self.tile_stalls + self.e

    def read(self, group: IOGroup) -> Reads:
        reads = super().read(group)
        if group.double_buffered:
            return reads
        buffer, one, zero = group.buffers[0], self.constant(1), self.constant(0)
        alone = buffer.intra == self.array.pe.trips  # a fill feeds one tile
        each = self.tile + self.most(self.filled(group), self.swap) if alone else self.pace
        # PEs enter a loop again in a tile: it is the buffer's cycles, too, if FIFOs do not hold
        # the words that it feeds after that
        left = self.trips - (self.value(self.visits) - one) * self.value(self.inner)
        held = self.numbers.minimum(self.most(left - self.constant(self.q), zero), one)
        fill = reads.fill - self.d
        least = fill + (self.value(buffer.tiles) - one) * self.chain_fills(group)
        least = least + (self.tiles - one) * self.tile + self.trips
        return replace(
            reads,
            fill=fill,
            period=((each, ONE),),
            enters=each + (self.e * held if alone else self.e),
            least=self.most(least, self.moved(group)),
            each=each,
        )

    def moved(self, group: IOGroup) -> Any:
        """Words that memory moves for all buffers of a group, a cycle each."""
        buffer = group.buffers[0]
        return self.value(buffer.tiles * group.count * group.size / group.pack)

    def chain_fills(self, group: IOGroup) -> Any:
        """Cycles in which the chain of a group takes its words where nothing waits."""
        words = self.value(group.size / group.pack)
        return self.value(group.buffers[0].chain) * (words + self.e)

    def filled(self, group: IOGroup) -> Any:
        """Cycles in which the chain of a group takes the words of all of its lanes."""
        fills, words = self.chain_fills(group), self.value(group.size / group.pack)
        others = (x for x in self.array.dataflow if x != group.direction)
        if group.direction is None and self.second is not None:
            return fills + self.filled_in_turn(fills)
        along = self.first if group.direction is None else next(others, None)
        if along is None or along != self.out.direction:
            return fills
        lanes = self.lanes(along)
        near = self.numbers.ceil_div(lanes * words, words + self.q) - self.constant(1)
        far = (lanes - near) * (words + self.e) - self.constant(self.depth - 2)
        waits = near * (self.step - self.constant(self.q - 1)) + far - fills
        # not where FIFOs hold all words of a tile
        zero, one = self.constant(0), self.constant(1)
        longer = self.numbers.minimum(self.most(self.trips - self.constant(self.q), zero), one)
        return fills + longer * self.most(waits, zero)

    def filled_in_turn(self, fills: Any) -> Any:
        """Further cycles in which memory fills the chains of the second loop's other lanes in turn.

        What is handed on along it keeps its lanes together: the buffer of the first is done with a
        tile when PEs of the last are, but for the turns by which FIFOs let each be ahead of the
        next. Of these 1 + h are what a word and its room take on their way, as words for buffers
        do. Where FIFOs hold a tile or more, lanes wait once in so many tiles.

        Parameters
        ----------
        fills : number
            Cycles in which memory fills the chain of a lane.
        """
        zero, one, q = (self.constant(n) for n in (0, 1, self.q))
        behind, rest = self.lanes(self.second) - one, self.most(self.trips - q - one, zero)
        turns = []  # by which a lane may be ahead of the next, and lanes in which that is so
        if self.out.direction == self.second:
            held, inner = self.constant(self.depth + self.l - 1), self.value(self.inner)
            each, near = held + self.step - self.constant(self.l), behind
            if self.visits != ONE:  # sums of several blocks, and the visits between these
                blocks = self.floor(held, inner)
                each = each + (self.value(self.visits) - one) * inner * blocks
                whole = self.value(self.flow / self.inner) * self.floor(inner - one, held)
                near = self.most(whole, self.numbers.minimum(blocks, one) * behind)
            turns.append((each, near))
        reads = (g for g in self.array.packed_groups if g.role is GroupRole.READ)
        if any(g.direction == self.second for g in reads):
            turns.append((q, behind))
        waits = [zero]
        for group in self.chained():
            # the first lane's next tile is that of the last one's end, memory's the one after
            words = self.value(group.size / group.pack)
            both = (behind + one) * fills + words
            waits.append(self.numbers.ceil_div(both, self.constant(2)) - fills)
        for each, near in turns:
            first = self.numbers.minimum(behind, near, self.floor(rest, each))
            for lanes in (first, behind):
                ahead = lanes * each + q
                longer = (lanes + one) * (fills + self.h + one) - ahead
                tiles = one
                if lanes is behind:
                    tiles = self.floor(ahead, self.trips) + one
                    tiles = self.most(tiles, self.numbers.ceil_div(behind, self.most(near, one)))
                waits.append(self.numbers.ceil_div(self.most(longer, zero), tiles) - fills)
        return self.numbers.minimum(behind, one) * self.most(*waits)

    def chained(self) -> list[IOGroup]:
        """Groups with single buffers in a chain along the second loop, which the first passes on to
        the last before PEs of either go on."""
        reads = (g for g in self.array.packed_groups if g.role is GroupRole.READ)
        along = [g for g in reads if g.direction == self.first and self.second is not None]
        return [group for group in along if not group.double_buffered]

    def together(self, ahead: list[Ahead]) -> Any:
        """The tiles before the last, and what that is drained later than one lane's, where memory
        fills lanes of the second loop in turn but a chain of single buffers has all begin the last
        tile together: memory takes the sums of all after the first."""
        zero, one, rows = self.constant(0), self.constant(1), self.lanes(self.second)
        handed = all(own.reads.group.direction is not None for own in ahead)
        if self.out.role is not GroupRole.DRAIN or handed:
            return zero
        words = self.value(self.out.size / self.out.pack) + self.e
        chain = self.lanes(self.first)
        last = self.most(chain * words, words + 2 * self.h * (chain - one))
        starts = [Ahead(x.reads, (rows - one) * (self.h + x.reads.behind)) for x in ahead]
        before = self.tiles_before(self.most(self.tiles - one, one), starts)
        later = before + self.tile + self.e - (rows - one) * self.h + rows * chain * words - last
        ends = (later + self.value(group.size / group.pack) for group in self.chained())
        return self.if_more(self.tiles) * self.most(zero, *ends)

    def tiles_before(self, count: Any, ahead: list[Ahead]) -> Any:
        """The tiles before the last; a single buffer is filled again when the first tile is done,
        however long before that it was full."""
        first, later = self.if_more(count), self.most(count - self.constant(2), self.constant(0))
        comes = self.most(*(own.cycles for own in ahead)) - self.constant(self.depth - 2)
        zero, one = self.constant(0), self.constant(1)
        filled = self.most(*(own.reads.fill for own in ahead))
        behind, waits, runs = [], [], [zero]
        each = self.most(*(own.each for own in ahead))
        for own in ahead:
            group = own.reads.group
            if group.double_buffered:
                behind.append(own)
                continue
            late = first * self.most(comes - own.cycles, zero)
            behind.append(Ahead(own.reads, own.behind + late))
            if group.direction is None and self.second is not None:
                # memory fills the first lane's when that is done with its first tile
                late = filled - own.reads.fill + self.tile + self.chain_fills(group)
                runs.append(own.cycles + first * late + later * each)
            if group.buffers[0].intra != self.array.pe.trips:
                fed = self.value(group.buffers[0].intra / self.array.pe.trips)
                times = self.numbers.ceil_div(count, fed) - one
                waits.append((times, self.most(self.tile + self.filled(group) - each, zero)))
                if group.direction is None and self.second is not None:
                    turn = self.lanes(self.second) * self.chain_fills(group)
                    runs.append(own.cycles + times * turn)
        if count is self.tiles and self.chained():
            runs.append(self.together(ahead))
        usual = self.most(super().tiles_before(count, behind), *runs)
        if not waits:
            return usual
        # of two that feed several tiles, the seldomer is filled together with the other
        more = self.most(
            *(
                self.most(often - seldom, zero) * wait
                + self.numbers.minimum(often, seldom) * self.most(wait, other)
                for (often, wait), (seldom, other) in product(waits, repeat=2)
            )
        )
        begun = self.most(*(own.cycles + first * own.each for own in behind))
        return self.most(usual, begun + later * each + more)

    def sent_later(self, sent: Any, burst: Any, period: Period) -> Any:
        """Cycles from an output that is sent to the next, which a single buffer takes first;
        doubled ones of tensors that are read are full by then."""
        later = super().sent_later(sent, burst, period)
        if self.out.double_buffered:
            return later
        zero, one = self.constant(0), self.constant(1)
        more, fewer = (self.most(self.visited - self.constant(n), zero) for n in (1, 2))
        each = self.most(self.pace, *(g.each for g in self.reads() if not g.group.double_buffered))
        full = self.numbers.minimum(more, one) * each + self.times(fewer, period)
        taken = self.sums_sent()
        return later + self.e + taken + self.most(more * each, full)
