"""Run an array of recurrences word by word: its modules and PEs as a network of processes.

Nothing here follows from `cycles.py`: times are those of the engine
that runs systolic arrays word by word, and words go through every module as it moves them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

from ithaca.files.errors import InputError
from ithaca.formulations.processes import Fifo, Loop, Process, ProcessEngine, ProcessNetwork
from ithaca.plugins.recurrences.formulations.array import (
    FIFO_DEPTH,
    ModuleChain,
    Place,
    RecurrenceArray,
    Value,
)
from ithaca.plugins.recurrences.workloads.sums import Point

#: A word: the element or value that it is; None where a PE uses none of a buffer, or has computed
#: of a word that it did not need.
_Word = Value | None

#: What a module does: words, from which FIFO to which; None is its own buffer.
_Moves = Sequence[tuple[int, str | None, str | None]]


@dataclass(frozen=True)
class RecurrenceRun:
    """The outcome of an array's run: cycles, and elements right and wrong."""

    cycles: int
    """From the first word that is read to the last one written."""
    elements: int
    """Elements that it wrote."""
    wrong: int
    """How many of these are of other words than those that they need, or in wrong places."""


def simulate(array: RecurrenceArray, engine: ProcessEngine) -> RecurrenceRun:
    """Run an array with every word. Raises `InputError` if it hangs."""
    return _Network(array).run(engine)


class _Network:
    """Processes and FIFOs of an array, and the words in these."""

    def __init__(self, array: RecurrenceArray) -> None:
        self.array, self.fifos = array, dict[str, Fifo]()
        self.words = defaultdict[str, deque[_Word]](deque)
        self.reads = defaultdict[Point, dict[str, Value]](dict)
        self.writes = defaultdict[Point, dict[str, Value]](dict)
        for place, points in array.pes.items():
            self._connect(place, points)
        self.processes = [self._pe(place, points) for place, points in array.pes.items()]

    def run(self, engine: ProcessEngine) -> RecurrenceRun:
        """Move every word, then run every process until all have ended."""
        array, right = self.array, list[bool]()
        for chain in array.inputs:
            own = deque[_Word]()
            for place, points in chain.points.items():
                own.extend((chain.tensor, array.nest.element(chain.access, p)) for p in points)
                own.extend([None] * (chain.moved[place] - len(points)))
            self._move(self._modules(chain, inwards=True), own)
        for point in array.nest.iterations:
            reads = self.reads[point].items()
            needed = [self.words[fifo].popleft() == value for fifo, value in reads]
            for fifo, value in self.writes[point].items():
                self.words[fifo].append(value if all(needed) else None)
        for chain in array.outputs:
            own = self._move(self._modules(chain, inwards=False), deque())
            for place, points in chain.points.items():
                words = [own.popleft() for _ in range(chain.moved[place])]
                needs = zip(points, words, strict=False)
                right += [word == (chain.case.value, point) for point, word in needs]
        fifos = tuple(self.fifos[name] for name in self.words)
        ends, finished = engine(ProcessNetwork(fifos, tuple(self.processes)))
        if hang := int((~finished).sum()):
            raise InputError(f"the array hangs: {hang} of its processes wait for others")
        cycles = int(ends[len(array.pes) :].max())
        return RecurrenceRun(cycles, len(right), right.count(False))

    def _move(self, modules: Sequence[_Moves], own: deque[_Word]) -> deque[_Word]:
        """Move words through modules, the first of which begins with words of its own; what the
        last one has."""
        for moves in modules:
            loops = []
            for count, source, target in (move for move in moves if move[0]):
                origin, aim = (self.words[end] if end else own for end in (source, target))
                aim.extend(origin.popleft() if origin else None for _ in range(count))
                reads, writes = ((end,) if end else () for end in (source, target))
                alone = len(moves) == 1  # at the memory port
                interval = self.array.timing.interval if alone else 1
                loops.append(Loop(count, reads, writes, interval=interval))
            self.processes.append(Process(f"module {len(self.processes)}", tuple(loops)))
            last, own = own, deque()
        return last

    def _fifo(self, *name: object, latency: int = 0) -> str:
        """The FIFO of a name, between modules or PEs, after a pipeline's latency."""
        words = latency + self.array.timing.hop
        self.fifos[str(name)] = Fifo(str(name), words, words + FIFO_DEPTH - 1)
        return str(name)

    def _connect(self, place: Place, points: Sequence[Point]) -> None:
        """Connect a PE with itself, others and the modules beside it: a FIFO for each value and
        neighbour, and for each tensor."""
        array, nest, ready = self.array, self.array.nest, self.array.ready
        for point in points:
            for value, need in array.operands(point):
                name, source = value
                link = place, name, tuple(map(sub, point, source))
                fifo = self._fifo(*link, latency=ready[name])
                if array.place(source) == place:
                    fifo, late = f"{link} {need}", max(ready[name] - need, 0)
                    self.fifos[fifo] = Fifo(fifo, late, late + len(points))
                self.reads[point][fifo] = self.writes[source][fifo] = value
            for case in nest.iterations[point]:
                for access in nest.inputs_of(case):
                    element = access.tensor, nest.element(access, point)
                    self.reads[point][self._fifo(access.tensor, place)] = element
                if out := nest.outputs.get(case):
                    fifo = self._fifo(out.tensor, place, latency=ready[case.value])
                    self.writes[point][fifo] = case.value, point

    def _pe(self, place: Place, points: Sequence[Point]) -> Process:
        """A PE, a turn an iteration."""
        turns = []
        for point, later in zip(points, (*points[1:], points[-1]), strict=True):
            ends = tuple(self.reads[point]), tuple(self.writes[point])
            turns.append(Loop(1, *ends, interval=self.array.gap(point, later)))
        return Process(str(place), tuple(turns))

    def _modules(self, chain: ModuleChain, *, inwards: bool) -> Sequence[_Moves]:
        """The modules that move a tensor, in the order in which words pass them: at the memory
        port, along the second space loop, and along the first."""
        tensor, moved = chain.tensor, chain.moved
        inner: dict[Place, str] = {(): self._fifo(tensor, "memory")}
        modules: list[_Moves] = [((sum(moved.values()), None, inner[()]),)]
        for b in range(chain.modules["L2"] if self.array.space[1:] else 0):
            here = sum(n for p, n in moved.items() if p[1:] == (b,))
            behind = sum(n for p, n in moved.items() if p[1:] > (b,))
            inner[b,], onwards = self._fifo(tensor, "column", b), self._fifo(tensor, "across", b)
            modules.append(((here, inner[()], inner[b,]), (behind, inner[()], onwards)))
            inner[()] = onwards
        for column, end in chain.ends.items():
            for a in range(end):
                place, onwards = (a, *column), self._fifo(tensor, "beside", a, column)
                used = len(chain.points.get(place, ()))
                behind = sum(n for p, n in moved.items() if p[1:] == column and p[0] > a)
                latency = 0 if inwards else self.array.ready[chain.case.value]
                pe = used, None, self._fifo(tensor, place, latency=latency)
                own = moved.get(place, 0), inner[column], None
                passed = behind, inner[column], onwards
                modules.append((own, passed, pe) if inwards else (pe, own, passed))
                inner[column] = onwards
        if inwards:
            return modules
        return [[(n, target, source) for n, source, target in moves] for moves in modules[::-1]]
