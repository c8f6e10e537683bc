"""Cycles of a derived array, word by word, in closed form (`docs/cycles-and-energy.md`).

The closed form follows the network of processes that a simulated array is: exact on most arrays, a
few per cent off at worst. It is arithmetic in any number system; floors are written as ceilings.
Not every term is monotone: words on their way shorten a wait (− (q + 1)(ny − 1), − r(q − 1)), and
factors n − 1 vanish for one tile. Bounds come from the relaxation as for any other expression,
which takes the ends of each factor apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.machine import Machine, Sums
from ithaca.formulations.systolic.cycle_arithmetic import CycleArithmetic
from ithaca.formulations.systolic.cycle_terms import Ahead, Cycles, Period, Reads
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup, SystolicArray

if TYPE_CHECKING:
    from ithaca.formulations.systolic.point import Point


def cycles(point: Point, machine: Machine) -> Cycles:
    """The cycles of a run with ideal memory."""
    return ClosedForm(point, machine).cycles()


def holds_transfers(array: SystolicArray) -> bool:
    """Whether the latency is proven to be no less than what any DRAM module takes to move its
    words, a pack in a cycle.

    What fills a tensor's buffers, tiles · chain · a, is at most fill, n − 1 periods and a tile.
    Memory that feeds the ny lanes of the second loop one after the other (2-D interior) takes ny
    times that: of the first tile fill has one lane, and the others are what the last lane is
    behind, which counts where the lanes that wait are those of the second loop. What is written,
    N_o · ny · nx · o, is at most N_o − 1 drains and the last.
    """
    outs = (group for group in array.packed_groups if group.role is not GroupRole.READ)
    return all(out.role is GroupRole.DRAIN or out.direction == array.dataflow[-1] for out in outs)


class ClosedForm(CycleArithmetic):
    """The closed form at one point (or an array of points)."""

    # -- groups --------------------------------------------------------------------------

    def reads(self) -> list[Reads]:
        return [
            self.read(group) for group in self.array.packed_groups if group.role is GroupRole.READ
        ]

    def read(self, group: IOGroup) -> Reads:
        buffer = group.buffers[0]
        words, chain = self.value(group.size / group.pack), self.value(buffer.chain)
        again = buffer.intra / self.array.pe.trips  # tiles that one buffer feeds
        fills = chain * (words + self.e)
        one = self.constant(1)
        behind = lag = self.constant(0)
        rows, port = one, self.moves(group, chain)
        if buffer.dram:
            fills = self.ported(fills, port)
        whole = self.ported(fills + self.d, port)
        clock = refill = None
        if group.direction is None and self.second is not None:
            rows = self.shared(group, self.second)
            first, later = (
                self.most(one, chain - self.floor(self.constant(k * self.q), words)) for k in (1, 2)
            )
            behind = self.ported(chain * words + self.e * first, port)
            entries = self.numbers.ceil_div(rows * self.e * (first + later), self.constant(2))
            refill = whole
            whole = self.ported(rows * chain * words + entries, rows * port)
            comes = hops = 2 * self.h
            lag = rows - one
        elif buffer.dram:
            comes = hops = self.d
        else:
            comes, hops = self.most(self.h, self.d), self.h
        after = self.d + self.e + self.h
        filled = self.value(buffer.tiles)
        least = comes + after + filled * fills + (filled - one) * self.d + self.trips
        if rows is not one and holds_transfers(self.array):
            least = self.most(least, filled * rows * chain * words)
        taken = self.pace
        period: Period = ((taken, ONE), (whole, again))
        if refill is not None:
            period = (*period, (refill, again))
            clock = whole if again == ONE else None
        each = self.most(*(c for c, per in period if per == ONE and c is not clock))
        return Reads(
            group=group,
            fill=self.ported(comes + fills, hops + port) + after,
            period=period,
            enters=taken + self.e,
            behind=behind,
            words=self.ported(words, self.moves(group, one) - self.e),
            lag=lag,
            least=self.ported(least, hops + after + filled * port + self.trips),
            simple=again == ONE and (group.direction is not None or self.second is None),
            each=each,
            clock=clock,
            refill=refill,
        )

    # -- the run -------------------------------------------------------------------------

    def cycles(self) -> Cycles:
        return self.drained() if self.out.role is GroupRole.DRAIN else self.collected()

    def drained(self) -> Cycles:
        e, h, one, zero = self.e, self.h, self.constant(1), self.constant(0)
        reads = self.reads()
        period = tuple(quotient for g in reads for quotient in g.period)
        visits, flow = self.value(self.visits), self.value(self.flow)
        nx = self.lanes(self.first)
        words = self.value(self.out.size / self.out.pack)
        # what one memory port takes: the drains of as many chains, or of a part of the only one
        chain = nx if self.second is not None else self.shared(self.out, self.first)
        rows = self.shared(self.out, self.second)
        burst = self.moves(self.out, chain)
        sent = self.ported(chain * (words + e), burst, writes=True)
        until = self.sums_sent()
        handed = any(g.group.direction == self.second for g in reads)
        later = self.ported(rows * chain * (words + e), rows * burst, writes=True) + e
        if self.second is None:
            drained = sent + e + until
            sent_on = zero
        else:
            drained = self.most(later, until + sent + e)
            # what the chain of a later lane of the second loop sends waits less for its FIFOs
            sent_on = nx * words + e * self.most(
                one, nx - self.floor(self.constant(2 * self.q), words)
            )
            sent_on = self.ported(sent_on, burst)
        drained = self.ported(drained, rows * burst)
        last = self.most(sent, words + e + 2 * h * (chain - one))
        if self.second is None and self.out.split is not None:
            last = last + h * self.others(self.out)
        again = self.if_more(visits)
        later_enters = zero
        if self.depth == 2:  # where sums are visited once, the loop is entered once
            usual = self.times(one, period)
            later_enters = again * (self.most(usual, *(g.enters for g in reads)) - usual)
        held_up = self.held_up(
            self.outputs - one, drained, flow, words, nx, rows=(rows, sent) if handed else None
        )
        ahead = []
        for g in reads:
            behind = zero
            if self.second is not None:
                waits = 2 * h + g.behind
                behind = (rows - one) * self.most(sent_on, waits)
                if self.array.split_groups and g.group.direction is None:
                    # lanes that wait for both, for one, and for the other
                    more = self.most(rows - one - g.lag, zero)
                    behind = self.numbers.minimum(rows - one, g.lag) * self.most(sent_on, waits)
                    behind = behind + more * self.most(sent_on, 2 * h)
                    behind = behind + self.most(g.lag - rows + one, zero) * g.behind
                if g.behind is not zero and handed and not g.simple:
                    # lanes whose words wait in FIFOs for those of the last: all leave after it
                    lag = self.numbers.minimum(
                        g.lag, self.floor(self.trips - one, self.constant(self.q))
                    )
                    queued = self.numbers.minimum(g.behind, self.most(sent_on - 2 * h, zero))
                    behind = behind + lag * self.most(queued - self.constant(self.depth - 2), zero)
                if self.out.split is not None:
                    behind = behind + h * self.others(self.out)
            ahead.append(Ahead(g, behind))
        run = self.most(
            self.tiles_before(self.visited, ahead)
            + self.most((self.outputs - one) * drained, held_up),
            self.tiles_before(self.tiles, ahead) + (self.outputs - one) * later_enters,
        )
        enters, hops = again * e, (2 * h if self.second is not None else h) + self.constant(self.l)
        # all lanes of a tile leave through one module of a port: as many chains
        all_words = rows * chain * words
        drains = self.outputs * all_words + (self.outputs - one) * rows * chain * e
        all_words = self.ported(all_words, rows * burst, writes=True)
        drains = self.ported(drains, (self.outputs - one) * rows * burst + all_words)
        drains = drains + (self.trips if self.second is not None else self.outputs * flow)
        return self.parts(reads, run, drains, all_words, enters + hops, enters + last + hops)

    def sums_sent(self) -> Any:
        """Cycles from the time when a buffer of sums is free until it has the words of its PE."""
        flow, zero = self.value(self.flow), self.constant(0)
        if self.flow == self.inner:
            return flow
        # max(S, T − …) with T = red S: what grows with visits stands alone
        between = self.between(flow)
        return flow + self.most(between - self.constant(self.depth - 2), zero)

    @property
    def reached(self) -> Any:
        """The words of whole blocks of sums of which the last has the first word that a FIFO behind
        a PE does not hold."""
        inner = self.value(self.inner)
        return inner * self.numbers.ceil_div(self.constant(self.depth + self.l), inner)

    def between(self, words: Any) -> Any:
        """Cycles of the visits between blocks of so many sums, that are not in the FIFO."""
        more = self.most(words - self.reached, self.constant(0))
        return (self.value(self.visits) - self.constant(1)) * more

    def collected(self) -> Cycles:
        e, h, d, one, zero = self.e, self.h, self.out_swap, self.constant(1), self.constant(0)
        reads = self.reads()
        period = tuple(quotient for g in reads for quotient in g.period)
        along = self.out.direction
        across = next((loop for loop in self.array.dataflow if loop != along), None)
        nz, chain = self.lanes(along), self.lanes(across)
        flow = self.value(self.flow)
        words = self.value(self.out.size / self.out.pack)
        step = self.step
        burst = self.moves(self.out, chain)
        sent = self.ported(chain * (words + e), burst, writes=across is not None)
        end = (
            d + self.most(sent, words + e + 2 * h * (chain - one)) + (zero if across is None else h)
        )
        later = self.sent_later(sent, burst, period)
        usual = self.most(self.times(self.visited, period), later)
        held_up = self.held_up(
            self.outputs - one, usual, flow * self.visited, words, chain, doubled=True
        )
        ahead = []
        for g in reads:
            behind = (nz - one) * self.most(step, h + g.behind)
            if g.group.direction is None and g.group.split == along == self.second:
                behind = g.lag * self.most(step, h + g.behind)
                behind = behind + self.others(g.group) * self.most(step, h)
            ahead.append(Ahead(g, behind))
        runs = [
            self.tiles_before(self.visited, ahead)
            + self.most((self.outputs - one) * later, held_up),
            self.tiles_before(self.tiles, ahead),
        ]
        for skewed, tiles in self.skewed(reads, step):
            left = self.most(self.tiles - one - tiles, zero)
            runs.append(
                skewed + self.most(*(a.cycles + self.times(left, a.reads.period) for a in ahead))
            )
        drains = self.outputs * sent + (self.outputs - one) * d
        drains = self.ported(drains, sent + (self.outputs - one) * later) + self.trips
        return self.parts(
            reads,
            self.most(*runs),
            drains,
            sent,
            self.constant(self.l) + d,
            self.constant(self.l) + end,
        )

    @property
    def step(self) -> Any:
        """Cycles from a lane of a chain of sums to the next."""
        step = self.constant(self.l)
        if self.sums is Sums.FIRST:
            step = step + (self.value(self.visits) - self.constant(1)) * self.value(self.inner)
        return step

    def sent_later(self, sent: Any, burst: Any, period: Period) -> Any:
        """Cycles from an output that is sent to the next, whose first burst is not open beforehand.

        Parameters
        ----------
        sent : number
            Cycles in which it is sent.
        burst : number
            Cycles in which its memory port moves it.
        period : tuple of tuple
            The period of tiles.
        """
        return self.ported(sent + self.out_swap, burst)

    def skewed(self, reads: list[Reads], step: Any) -> Iterator[tuple[Any, Any]]:
        """Cycles in which tiles wait for lanes far along the chain of sums, of each read group, and
        the number of these tiles.

        Words of the last lanes wait in FIFOs until a lane ``near`` steps behind the first has
        swapped its buffers, after a tile; those of the lanes from there on, ``far``, follow. The
        first lane's second next fill waits for it where buffers pass on what is not theirs, its
        third next where modules without buffers do, which pass on all of a fill before they take
        its own words of the next. Each fill feeds as many tiles as use it.

        Parameters
        ----------
        reads : list of Reads
            The read groups.
        step : number
            Cycles from a lane to the next.
        """
        e, one, along = self.e, self.constant(1), self.out.direction
        for g in reads:
            if self.array.beside_sums(g.group):
                continue
            buffer, lanes = g.group.buffers[0], self.shared(g.group, along)
            fed = self.value(buffer.intra / self.array.pe.trips)
            if g.group.direction is not None or along == self.first:
                fills, beside, buffers = 2, self.constant(0), one
            else:
                fills, beside, buffers = 3, self.constant(self.q), self.value(buffer.chain)
            words, passed = buffers * g.words, buffers * (g.words + e)
            near = self.numbers.ceil_div(lanes * words - beside, words + self.q) - one
            far = self.floor(lanes * self.q + beside, words + self.q) + one
            cycles = fed * self.trips + e + near * (step - self.constant(self.q - 1))
            cycles = cycles + 2 * self.d + (far + (fills - 2)) * passed
            times = self.floor(self.value(buffer.tiles) - one, self.constant(fills))
            yield times * (cycles - self.constant(self.depth - 2)), times * fills * fed

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
        """Output tiles where the first module of a chain waits for the last one's words, and its PE
        for the module.

        The last lane is h (L − 1) behind the first, as data are handed on along the chain, and so
        are its words on their way back. Until they have passed, the first module takes nothing, and
        its FIFO holds what depth + l − 1 words of the PE are. So the last word of a tile leaves the
        PE after the module has begun the tile p − 1 before it, p = ⌈(depth + l) / S⌉: p tiles (one
        more where buffers are doubled) take p S + o + e + 2 h (L − 1) − (depth − 2) at least, and
        the other visits of blocks of sums that are not in the FIFO.

        Where data are handed on along the second loop, the PE of its first lane waits for that of
        the last, whose chain is drained after all others. It is q words ahead for each lane between
        them, and words of later lanes are in FIFOs on their way when the last chain is free. Where
        nothing is handed on along the chain, its last lane is ahead.

        Parameters
        ----------
        count : number
            Output tiles.
        usual : number
            Cycles of a tile that does not wait.
        taken : number
            S: cycles in which a PE sends its words of a tile.
        words : number
            o: words of a tile in a lane.
        chain : number
            L: lanes of the chain.
        rows : tuple of number, optional
            Lanes of the second loop, and cycles in which the chain of one is drained, where data
            are handed on along it.
        doubled : bool, optional
            Whether buffers of modules are doubled.
        """
        zero, one, spare, q = (self.constant(n) for n in (0, 1, self.depth - 2, self.q))
        along = next((x for x in self.array.dataflow if x != self.out.direction), None)
        room, back = self.constant(self.depth + self.l), words + self.e - spare
        returns = along is None or any(g.direction == along for g in self.array.groups)
        if returns:
            back = back + 2 * self.h * (chain - one)
        least = self.numbers.ceil_div(room, taken)
        sends = least * taken
        if self.flow != self.inner:
            sends = sends + self.between(sends)
        waits = [(least, sends + back)] if returns and rows is None else []
        if rows is not None:
            # a lane whose words FIFOs of its own hold waits for no other
            sent = rows[1]
            behind = (rows[0] - one) * self.numbers.minimum(self.most(sent - 2 * q, zero), one)
            near = self.floor(self.most(sends - room, zero), q)
            for lanes in (behind, self.numbers.minimum(behind, near)):
                last = back - self.numbers.minimum(lanes, one) * spare
                last = self.most(last, sent - 2 * spare) + lanes * (sent - 2 * (q - one))
                output = self.visited * self.pace
                more = self.numbers.ceil_div(self.most(room + q * lanes - sends, zero), output)
                waits.append((least + more, sends + more * output + last))
        held = [zero]
        for tiles, pace in waits:
            if doubled:
                tiles, pace = tiles + one, pace + 2 * self.d
            times = self.floor(count, tiles)
            others = self.most(count - times * tiles, zero)
            held.append(times * pace + self.numbers.minimum(times, one) * others * usual)
        return self.most(*held)

    def parts(
        self, reads: list[Reads], run: Any, drains: Any, leaves: Any, after: Any, rest: Any
    ) -> Cycles:
        """The greatest sum of fill, run and what the last lanes are behind, said as three parts.

        What is added to the maximum never exceeds it: fill, n times a tile's trips with (n − 1)
        swaps, and what leaves after the last one; or fill and what all tiles take to be drained.
        Multiplied out they regroup by axis, and bounds are tight: n T is the padded work. (Apart,
        what leaves last would be bounded in what lanes are behind, and in the rest.) Nothing is
        subtracted from them: bounds of less need no largest values, and rows dominate others.

        Parameters
        ----------
        reads : list of Reads
            The read groups.
        run : number
            Cycles until the last tile begins, with fill.
        drains : number
            Cycles in which all tiles are drained, after fill.
        leaves : number
            Cycles in which the words of the last tile leave.
        after : number
            Cycles that words are on their way from the PEs, where these enter a loop again with
            what that takes.
        rest : number
            Cycles of what is drained after the last tile.
        """
        fill = self.most(*(g.fill for g in reads))
        work = self.value(self.array.pe.tiles * self.array.pe.trips) + (
            self.tiles - self.constant(1)
        ) * (self.e + self.swap)
        whole = self.most(run + self.trips + self.last_stalls, *(g.least for g in reads))
        latency = self.most(whole + rest, fill + work + leaves + after, fill + drains + after)
        return Cycles(fill, latency - fill - rest, rest, latency)
