"""The process network of a systolic array: modules, PEs and FIFOs, derived from what the design
states.

Nothing here knows a dataflow. Every module becomes a process per instance, a buffered one two that
meet at a barrier when they swap buffers; PEs take one word per cycle from every tensor they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from ithaca.files.clock import poll
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.machine import IDEAL, Machine, MemoryTiming, Sums
from ithaca.formulations.processes import (
    Fifo,
    Loop,
    Meet,
    Process,
    ProcessNetwork,
    Refresh,
    Repeat,
    Step,
)
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.quantities import lanes, t2
from ithaca.formulations.systolic.systolic_array import Direction, GroupRole, IOGroup, Module
from ithaca.plugins.rtl.formulations.memory_loops import MemoryLoops

#: More PEs and modules than this are refused: their words alone would not fit.
MOST_PROCESSES = 200_000

#: Where a PE stands: its place along each space loop.
Place = tuple[int, ...]


def array_network(
    design: SystolicDesign,
    configuration: Mapping[str, int],
    machine: Machine,
    memory: MemoryTiming = IDEAL,
    most: int = MOST_PROCESSES,
) -> ProcessNetwork:
    """The network that a configuration of a design becomes on a machine.

    Parameters
    ----------
    design : SystolicDesign
        The design.
    configuration : mapping of str to int
        Value of each of its quantities.
    machine : Machine
        Cycles of swaps, loop entries, hops and the MAC pipeline; depth of FIFOs.
    memory : MemoryTiming, optional
        Latency, bandwidth and refresh of DRAM; by default none of them costs anything.
    most : int, optional
        The most PEs and modules that it may have.

    Returns
    -------
    ProcessNetwork
        A process for every instance of every module, and the FIFOs between them.

    Raises
    ------
    InputError
        If the array cannot be built or is too large, or its model says nothing of cycles.
    """
    return _Builder(design, configuration, machine, memory, most).network()


def check_buildable(design: SystolicDesign) -> None:
    """Raise `InputError` for a design that cannot be built, and so not be simulated."""
    if design.obstacle is not None:
        raise InputError(f"design {design.name} cannot be simulated: {design.obstacle}")


@dataclass
class _Ports:
    """The FIFOs of one PE."""

    reads: tuple[str, ...] = ()
    hands: tuple[str, ...] = ()
    """The inputs that it hands on."""
    sum_in: tuple[str, ...] = ()
    sum_out: tuple[str, ...] = ()


class _Builder:
    """A network in the making."""

    def __init__(
        self,
        design: SystolicDesign,
        configuration: Mapping[str, int],
        machine: Machine,
        memory: MemoryTiming,
        most: int,
    ) -> None:
        check_buildable(design)
        self.design, self.array, self.machine, self.memory = design, design.array, machine, memory
        self._values = {
            name: Fraction(value) for name, value in {**design.extents, **configuration}.items()
        }
        self._fifos: list[Fifo] = []
        self._processes: list[Process] = []
        self.shape = tuple(self._value(lanes(loop)) for loop in self.array.dataflow)
        self.trips, self.tiles = self._value(self.array.pe.trips), self._value(self.array.pe.tiles)
        self._check_size(most)
        self._words = {group.name: self._packed(group) for group in self.array.packed_groups}
        self.pes = {place: _Ports() for place in product(*map(range, self.shape))}
        self._dram = MemoryLoops(design, self._value, machine, memory).steps

    def network(self) -> ProcessNetwork:
        """The network of all processes and FIFOs of the array, with the refreshes of its memory."""
        for group in self.array.packed_groups:
            if group.role is GroupRole.READ:
                self._read(group)
        (out,) = (group for group in self.array.packed_groups if group.role is not GroupRole.READ)
        (self._drain if out.role is GroupRole.DRAIN else self._collect)(out)
        self._pes(out)
        memory = self.memory
        refresh = Refresh(memory.refresh_period, memory.refresh) if memory.refresh else None
        return ProcessNetwork(tuple(self._fifos), tuple(self._processes), refresh)

    # -- what it is made of ------------------------------------------------------------

    def _value(self, expression: Expression) -> int:
        return int(expression.evaluate(self._values, FRACTION))

    def _check_size(self, most: int) -> None:
        count = sum(
            self._value(module.instances) for _, module in self.array.modules
        ) + self._value(self.array.pe.count)
        if count > most:
            raise InputError(
                f"the array has {count:,} PEs and modules; allowed: at most {most:,} to simulate"
            )

    def _packed(self, group: IOGroup) -> int:
        """Words of a tile as FIFOs hold them: packs."""
        size, pack = self._value(group.size), self._value(group.pack)
        if size % pack:
            raise InputError(
                f"pack {pack} of {group.name} does not divide its tile of "
                f"{size} words; allowed: packs that do"
            )
        return size // pack

    def _fifo(self, name: str, latency: int = 0, depth: int = 0) -> str:
        latency, depth = latency or self.machine.hop, depth or self.machine.fifo_depth
        self._fifos.append(Fifo(name, latency, depth + latency - 1))
        return name

    def _sum_fifo(self, name: str) -> str:
        """A FIFO behind the adder of a PE."""
        return self._fifo(name, self.machine.sum_latency)

    def _process(
        self, name: str, module: str, *steps: Step, begin: int = 0, memory: bool = False
    ) -> None:
        poll()
        self._processes.append(Process(name, steps, begin, module, memory))

    def _loop(
        self, words: int, reads: str | tuple[str, ...] = (), writes: str | tuple[str, ...] = ()
    ) -> Loop:
        reads, writes = ((names,) if isinstance(names, str) else names for names in (reads, writes))
        return Loop(words, reads, writes, self.machine.entry)

    def _rest(self, words: int, links: list[str], place: int, *, inwards: bool) -> tuple[Step, ...]:
        """The words that a module of a chain passes on; links lead to modules, or from them."""
        behind = len(links) - 1 - place
        if not behind:
            return ()
        ends = (links[place], links[place + 1]) if inwards else (links[place + 1], links[place])
        return (Repeat(behind, (self._loop(words, *ends),)),)

    # -- tensors that are read -----------------------------------------------------------

    def _read(self, group: IOGroup) -> None:
        """A group from DRAM to the PEs."""
        buffer, *outer = group.modules
        words, tiles = self._words[group.name], self._value(buffer.tiles)
        chain = self._value(buffer.chain)
        first = self._pes_fed(group)
        if buffer.dram:
            (feed,) = first
            own = self._dram(group, words)
            self._buffer(buffer, buffer.name, own, (), feed, doubled=group.double_buffered)
            return
        count = self._value(group.count)
        chains = [list(first)[begin : begin + chain] for begin in range(0, count, chain)]
        heads = []
        for number, feeds in enumerate(chains):
            links = [
                self._fifo(f"{group.name} to {buffer.name} {number * chain + place}")
                for place in range(chain)
            ]
            heads.append(links[0])
            for place, feed in enumerate(feeds):
                rest = self._rest(words, links, place, inwards=True)
                self._buffer(
                    buffer,
                    f"{buffer.name} {number * chain + place}",
                    (self._loop(words, links[place]),),
                    rest,
                    feed,
                    doubled=group.double_buffered,
                )
        self._memory(group, heads, words * chain, tiles, outer, inwards=True)

    def _buffer(
        self,
        module: Module,
        name: str,
        own: tuple[Step, ...],
        rest: tuple[Step, ...],
        feed: str,
        *,
        doubled: bool,
    ) -> None:
        """A buffer, filled by one process that passes on, too, while another feeds PEs; a single
        one by one process in turn."""
        tiles = self._value(module.tiles)
        again = self._value(module.intra) // self.trips
        fed = Repeat(again, (self._loop(self.trips, (), feed),))
        if not doubled:
            steps = Repeat(tiles, (*own, *rest, fed))
            self._process(name, module.name, steps, begin=self.machine.swap, memory=module.dram)
            return
        swap = Meet(name, self.machine.swap)
        self._process(
            f"{name} fill",
            f"{module.name} fill",
            Repeat(tiles, (*own, *rest, swap)),
            begin=self.machine.swap,
            memory=module.dram,
        )
        self._process(
            f"{name} feed",
            f"{module.name} feed",
            Repeat(tiles, (swap, fed)),
        )

    def _pes_fed(self, group: IOGroup) -> tuple[str, ...]:
        """FIFOs from buffers to PEs, and from PE to PE, chain by chain in their order."""
        along = self.array.dataflow.index(group.direction) if group.direction else None
        depth = self.machine.handing_depth(beside_sums=self.array.beside_sums(group))
        feeds = []
        # the chain of buffers runs along the first space loop but the one the data are handed along
        for place in sorted(self.pes, key=lambda place: place[::-1]):
            if along is not None and place[along]:
                continue
            feeds.append(self._fifo(f"{group.name} into PE {_place_text(place)}"))
            fifo: str = feeds[-1]
            at = place
            while True:
                self.pes[at].reads += (fifo,)
                if along is None or at[along] + 1 == self.shape[along]:
                    break
                fifo = self._fifo(f"{group.name} from PE {_place_text(at)}", depth=depth)
                self.pes[at].hands += (fifo,)
                at = (*at[:along], at[along] + 1, *at[along + 1 :])
        return tuple(feeds)

    # -- the output ----------------------------------------------------------------------

    def _drain(self, group: IOGroup) -> None:
        """Finished sums, from every PE through its drain to DRAM."""
        drain, *outer = group.modules
        words, rounds = self._words[group.name], self._value(drain.tiles)
        taken = self._value(drain.intra)
        chain = self._value(drain.chain)
        heads = []
        columns = product(sorted({place[1:] for place in self.pes}), range(0, self.shape[0], chain))
        for column, begin in columns:
            links = [
                self._fifo(
                    f"{group.name} from {drain.name} {_place_text((begin + place, *column))}"
                )
                for place in range(chain)
            ]
            heads.append(links[0])
            for place in range(chain):
                at = (begin + place, *column)
                self.pes[at].sum_out = (self._sum_fifo(f"{group.name} from PE {_place_text(at)}"),)
                own = self._loop(taken, self.pes[at].sum_out), self._loop(words, (), links[place])
                rest = self._rest(words, links, place, inwards=False)
                self._process(
                    f"{drain.name} {_place_text(at)}", drain.name, Repeat(rounds, (*own, *rest))
                )
        self._memory(group, heads, words * chain, rounds, outer, inwards=False)

    def _memory(
        self,
        group: IOGroup,
        heads: list[str],
        words: int,
        rounds: int,
        outer: Sequence[Module],
        *,
        inwards: bool,
    ) -> None:
        """Add the modules without buffers between chains and DRAM, one for each chain: as many
        chains of them as the tensor has memory ports."""
        ports = self._value(group.ports)
        share = len(heads) // ports
        for port in range(ports):
            first = port * share
            links = heads[first : first + share]
            if len(outer) > 1:
                # each takes what is its chain's and passes the rest
                middle, way = outer[0], "to" if inwards else "from"
                ways = [
                    self._fifo(f"{group.name} {way} {middle.name} {first + place}")
                    for place in range(share)
                ]
                for place, head in enumerate(links):
                    own = self._loop(
                        words, *((ways[place], head) if inwards else (head, ways[place]))
                    )
                    rest = self._rest(words, ways, place, inwards=inwards)
                    self._process(
                        f"{middle.name} {first + place}", middle.name, Repeat(rounds, (own, *rest))
                    )
                links = ways
            ends = ((), links[0]) if inwards else (links[0],)
            times, name = rounds, outer[-1].name
            if group.outer is None:
                dram = self._dram(group, words * share, *ends)
            else:
                times = self._value(group.outer.fills)
                sent = self._loop(words * share * (rounds // times), *ends)
                stored = self._dram(group, self._value(group.outer.size / group.pack))
                dram = (*stored, sent) if inwards else (sent, *stored)
            self._process(
                name if ports == 1 else f"{name} {port}", name, Repeat(times, dram), memory=True
            )

    def _collect(self, group: IOGroup) -> None:
        """Add a buffer that takes sums from the last PE of each chain, and goes on adding."""
        assert group.direction is not None
        along = self.array.dataflow.index(group.direction)
        ends = []
        for place in sorted(self.pes):
            ports = self.pes[place]
            ports.sum_out = (self._sum_fifo(f"{group.name} from PE {_place_text(place)}"),)
            if place[along] + 1 < self.shape[along]:
                self.pes[
                    (*place[:along], place[along] + 1, *place[along + 1 :])
                ].sum_in = ports.sum_out
            else:
                ends.append(ports.sum_out)
        (module, *outer) = (each for each in group.modules if each.direction is Direction.OUT)
        words, rounds = self._words[group.name], self._value(module.tiles)
        taken = self._value(group.size) // self._value(self.array.pe.outputs)
        again = self._value(module.intra) // taken
        links = (
            []
            if module.dram
            else [
                self._fifo(f"{group.name} from {module.name} {number}")
                for number in range(len(ends))
            ]
        )
        for number, end in enumerate(ends):
            name = f"{module.name} {number}"
            added = Repeat(again, (self._loop(taken, end),))
            if module.dram:
                send = self._dram(group, words)
            else:
                send = (
                    self._loop(words, (), links[number]),
                    *self._rest(words, links, number, inwards=False),
                )
            if not group.double_buffered:
                steps = Repeat(rounds, (added, *send))
                self._process(name, module.name, steps, memory=module.dram)
                continue
            swap = Meet(name, self.machine.swap)
            self._process(f"{name} take", f"{module.name} take", Repeat(rounds, (added, swap)))
            self._process(
                f"{name} send",
                f"{module.name} send",
                Repeat(rounds, (swap, *send)),
                memory=module.dram,
            )
        if not module.dram:
            self._memory(group, [links[0]], words * len(ends), rounds, outer, inwards=False)

    # -- PEs -------------------------------------------------------------------------------

    def _pes(self, out: IOGroup) -> None:
        inner = 1
        for loop in self.array.latency_hiding_loops:
            inner *= self._value(t2(loop))
        sums = self._value(out.size) // self._value(self.array.pe.outputs)
        blocks, visits = sums // inner, self.trips // sums
        rounds = self._value(out.modules[0].tiles)
        for place, ports in self.pes.items():
            steps: tuple[Step, ...]
            if out.role is GroupRole.DRAIN:
                # sums leave in the last of the tiles that add to them
                whole = self._pe_loop(ports, self.trips)
                last = self._blocks(ports, blocks, visits, inner)
                if visits > 1:  # a loop again where the output begins
                    again = last[1]
                    assert isinstance(again, Loop)
                    last = (last[0], replace(again, entry=self.machine.entry), *last[2:])
                steps = (Repeat(rounds, (Repeat(self.tiles // rounds - 1, (whole,)), *last)),)
            else:
                steps = (Repeat(self.tiles, self._blocks(ports, blocks, visits, inner)),)
            self._process(f"PE {_place_text(place)}", "PE", *steps)

    def _pe_loop(
        self, ports: _Ports, words: int, *, takes: bool = False, gives: bool = False
    ) -> Loop:
        reads = ports.reads + (ports.sum_in if takes else ())
        return self._loop(words, reads, ports.hands + (ports.sum_out if gives else ()))

    def _blocks(self, ports: _Ports, blocks: int, visits: int, inner: int) -> tuple[Step, ...]:
        """A tile from which sums leave: per block its outputs are visited ``visits`` times."""
        first = self.machine.sums is Sums.FIRST
        if visits == 1:
            block = [self._pe_loop(ports, inner, takes=True, gives=True)]
        elif first and ports.sum_in:
            between = [self._pe_loop(ports, (visits - 2) * inner)] if visits > 2 else []
            block = [
                self._pe_loop(ports, inner, takes=True),
                *between,
                self._pe_loop(ports, inner, gives=True),
            ]
        else:
            block = [
                self._pe_loop(ports, (visits - 1) * inner),
                self._pe_loop(ports, inner, takes=True, gives=True),
            ]
        again = tuple(replace(loop, entry=0) for loop in block)
        steps: tuple[Step, ...] = (block[0], *again[1:])
        return (*steps, Repeat(blocks - 1, again)) if blocks > 1 else steps


def _place_text(place: Place) -> str:
    return ",".join(map(str, place))
