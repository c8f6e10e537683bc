"""The arithmetic of the closed form of cycles: quantities of an array and its machine as numbers,
what many tiles take, what memory ports do, and what PEs wait for each other's sums."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import ONE, ZERO, multiply
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.cycle_terms import Ahead, Period
from ithaca.formulations.systolic.quantities import lanes, t1, t2
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup

if TYPE_CHECKING:
    from ithaca.formulations.systolic.point import Point

#: Cycles to open a DRAM burst (published estimator).
BURST_LATENCY = 20


class CycleArithmetic:
    """The numbers of one point (or of an array of points)."""

    def __init__(self, point: Point, machine: Machine) -> None:
        self.array, self.point, self.numbers = point.array, point, point.numbers
        self.value = point.value
        self.d, self.e, self.h = (
            self.constant(n) for n in (machine.swap, machine.entry, machine.hop)
        )
        self.depth = machine.fifo_depth
        #: q and l: words in a FIFO, and cycles from a PE's operands to its sum in the next module.
        self.q, self.l = machine.fifo_depth + machine.hop - 1, machine.sum_latency
        self.sums, self.channel = machine.sums, point.technology.memory.port
        self.first, *others = self.array.dataflow
        self.second = others[0] if others else None
        self.trips = self.value(self.array.pe.trips)
        outs = [group for group in self.array.packed_groups if group.role is not GroupRole.READ]
        if len(outs) != 1:
            raise InputError(
                f"the cycle edition says nothing of {self.array.name}: "
                f"{self.array.obstacle}; allowed: another edition"
            )
        self.out = outs[0]
        # with t1 = lanes · t2 written out, so that the visits of an output are the trips of the
        # loops that reduce
        factors = {t1(loop).name: lanes(loop) * t2(loop) for loop in self.array.band}
        self.flow = self.out.size.substitute(factors) / self.array.pe.outputs
        self.inner = multiply(*(t2(loop) for loop in self.array.latency_hiding_loops))
        self.visits = self.array.pe.trips / self.flow
        self.tiles = self.value(self.array.pe.tiles)
        self.outputs = self.value(self.out.modules[0].tiles)
        self.visited = self.value(self.array.pe.tiles / self.out.modules[0].tiles)
        self.stalls, self.last_stalls = self.stalled(machine)
        #: Cycles of a swap of buffers between two tiles, and of the output's.
        self.swap = self.out_swap = self.d

    # -- arithmetic ----------------------------------------------------------------------

    def constant(self, number: int | Fraction) -> Any:
        return self.numbers.number(Fraction(number))

    def most(self, *values: Any) -> Any:
        return self.numbers.maximum(*values)

    def floor(self, over: Any, under: Any) -> Any:
        """The floor of a quotient of whole numbers."""
        return self.numbers.ceil_div(over + 1, under) - self.constant(1)

    def if_more(self, count: Any) -> Any:
        """1 if a count is more than one, else 0."""
        return self.numbers.minimum(count - self.constant(1), self.constant(1))

    def times(self, count: Any, period: Period) -> Any:
        """Cycles of so many periods, rounded up: cycles are whole, and the search may count on it.

        What feeds several tiles is filled for the last of them before these begin: the first
        follows in the time of a tile, as the other buffers are full, and others in their period.

        Parameters
        ----------
        count : number
            The tiles.
        period : tuple of tuple
            Their period.
        """
        one, zero = self.constant(1), self.constant(0)
        each = self.most(*(cycles for cycles, per in period if per == ONE))
        runs = [count * each]
        for cycles, fed in ((cycles, self.value(per)) for cycles, per in period if per != ONE):
            waits = self.most(count - fed + one, zero)
            filled = self.numbers.ceil_div(self.numbers.minimum(count, waits) * cycles, fed)
            runs.append(filled + self.fed(count, fed, each))
        return self.most(*runs)

    def fed(self, count: Any, fed: Any, each: Any) -> Any:
        """Cycles of the last tiles that a fill feeds, of so many that follow each other.

        Parameters
        ----------
        count : number
            The tiles.
        fed : number
            Tiles that a fill feeds.
        each : number
            The period of tiles that wait for no fill.
        """
        one, zero = self.constant(1), self.constant(0)
        kept = self.numbers.minimum(count, fed - one)
        return self.numbers.minimum(kept, one) * self.pace + self.most(kept - one, zero) * each

    @property
    def pace(self) -> Any:
        """Cycles from a tile to the next in a PE that waits for nothing."""
        return self.trips + self.stalls + self.e + self.swap

    def tiles_before(self, count: Any, ahead: list[Ahead]) -> Any:
        """The tiles before the last: the first in its group's own period, the others in that of the
        array.

        B_g + [n > 1] M_g + max(n − 2, 0) M is B_g + [n > 1] (M_g − M) + (n − 1) M, at a glance
        never less for larger periods.

        What feeds several tiles, and memory that feeds lanes one after the other, do not wait for
        another group that comes later at first: they go on from their own first words, B + (n − 1)
        W, and wait for PEs only from the second fill on, as buffers are doubled.

        Parameters
        ----------
        count : number
            Tiles n that follow each other.
        ahead : list of Ahead
            Each read group, of which B_g and M_g are taken.
        """
        one, zero = self.constant(1), self.constant(0)
        first, later = self.if_more(count), self.most(count - self.constant(2), zero)
        each = self.most(*(own.each for own in ahead))
        begun = self.most(*(own.cycles + first * own.each for own in ahead))
        runs = [begun + later * each]
        filled = self.most(*(own.reads.fill for own in ahead))
        for own in ahead:
            reads = own.reads
            if reads.clock is not None:
                runs.append(own.cycles + (count - one) * reads.clock)
                third = filled + own.behind + self.pace + reads.refill
                after = self.most(count - self.constant(3), zero) * reads.clock
                runs.append(self.numbers.minimum(later, one) * third + after)
            for cycles, per in reads.period:
                if per == ONE:
                    continue
                fed = self.value(per)
                again = self.numbers.ceil_div(self.most(count - fed, zero), fed)
                if count is self.tiles:
                    again = self.value(reads.group.buffers[0].tiles) - one
                kept = self.fed(count - one, fed, each)
                runs.append(own.cycles + again * cycles + kept)
                second = filled + own.behind + fed * self.pace
                after = self.most(again - one, zero) * cycles
                runs.append(self.numbers.minimum(again, one) * second + after + kept)
        return self.most(*runs)

    def lanes(self, loop: str | None) -> Any:
        return self.value(ONE if loop is None else lanes(loop))

    def shared(self, group: IOGroup, loop: str | None) -> Any:
        """Lanes of a loop that a memory port of a group serves."""
        own = ONE if loop is None else lanes(loop)
        return self.value(own / group.ports if group.split == loop else own)

    def others(self, group: IOGroup) -> Any:
        """Lanes that the other memory ports of a group serve."""
        assert group.split is not None
        return self.value(lanes(group.split) * (1 - 1 / group.ports))

    def moves(self, group: IOGroup, chain: Any) -> Any:
        """Cycles in which a memory port moves a tile of each buffer of a chain: a pack in each, or
        as fast as its channel does; every row may open a burst."""
        cycles, channel = chain * self.value(group.size / group.pack), self.channel
        if channel:
            words = chain * self.value(group.size * group.package(self.point.data).word_bytes)
            cycles = self.most(cycles, self.numbers.ceil_div(words, self.constant(channel)))
        lanes = group.buffers[0].chain
        opened = chain / self.value(lanes) * self.value(self.array.bursts * group.opened(lanes))
        return cycles + (BURST_LATENCY + self.e) * opened

    def ported(self, cycles: Any, moves: Any, *, writes: bool = False) -> Any:
        """Cycles, or those of a memory port if they are more, where rows may open bursts.

        What is written has its first burst open before there is a word for it.

        Parameters
        ----------
        cycles : number
            Cycles without a port.
        moves : number
            Cycles that the port takes, its bursts among them (`moves`).
        writes : bool, optional
            Whether it writes.
        """
        if self.array.bursts == ZERO and not self.channel:
            return cycles
        opened = BURST_LATENCY * self.value(self.array.bursts) if writes else self.constant(0)
        return self.most(cycles, moves - opened)

    def stalled(self, machine: Machine) -> tuple[Any, Any]:
        """Cycles of a tile in which PEs wait to hand on what they read beside their sums, and those
        of the last tile.

        A PE takes its words l after the one before it, at the visits at which it takes sums. That
        one is at most q words ahead, the words of the FIFO between them, so it waits w = l + 1 − q
        after each q words: a step along the chain with a sum, and one back with room for a word,
        for which q words pass. A run is the longest way of such steps through lanes and words. The
        last visits of a block have ⌈inner/q⌉ + lanes − 2 of them, or as many as lead to last visits
        again, one to three blocks later. All words of all tiles have room for a q-th, where no PE
        swaps between tiles, else those but one. Blocks of one visit follow each other as one. The
        way ends at the last lane, and goes back only after the first sums: the last tile has so
        many less.
        """
        zero, one = self.constant(0), self.constant(1)
        room = machine.handing_depth(beside_sums=True) + machine.hop - 1
        waits = machine.sum_latency + 1 - room
        if waits <= 0 or not any(map(self.array.beside_sums, self.array.groups)):
            return zero, zero
        q, wait, trips = self.constant(room), self.constant(waits), self.trips
        inner, behind = self.value(self.inner), self.lanes(self.out.direction) - one
        blocks, visits = self.value(self.flow / self.inner), self.value(self.visits)
        steps = self.numbers.ceil_div(inner, q) + behind - one
        most = self.most(
            *(
                self.numbers.ceil_div(
                    blocks
                    * self.numbers.minimum(
                        steps, self.floor(self.constant(n) * visits * inner + inner - one, q)
                    ),
                    self.constant(n),
                )
                for n in range(1, min(room, 3) + 1)
            )
        )
        any_way = (one - self.if_more(visits)) * trips
        last = self.numbers.minimum(most, blocks * steps - behind) + any_way
        most = most + any_way
        swapped = wait * self.numbers.minimum(most, self.floor(trips - one, q))
        passed = self.numbers.ceil_div(trips * wait, q) - self.e - self.d
        tile = self.most(swapped, self.numbers.minimum(wait * most, passed))
        begun = self.floor(trips - (visits - one) * inner - one, q)
        chained = self.numbers.minimum(behind, one)
        return chained * tile, chained * wait * self.most(self.numbers.minimum(last, begun), zero)
