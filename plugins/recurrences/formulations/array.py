"""The array of a system of recurrences: its PEs, what they hand on, its I/O modules and buffers.

One or two loops are mapped to space. A PE runs its iterations in the order of the other loops, one
a cycle where nothing is waited for. A value of a neighbour comes through a FIFO, one of the PE's
own stays in it. Words come and go as AutoSA builds it: from a module at the memory port along the
second space loop, and along the first to the PEs, each of which has a buffer beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, starmap
from operator import add

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Integers
from ithaca.plugins.recurrences.workloads.recurrence import Case, Recurrence
from ithaca.plugins.recurrences.workloads.sums import Point
from ithaca.workloads.affine import Access

#: DSP blocks of fp32 operators (an adder 2, a multiplier 3, as AutoSA's 5 of both together; the
#: divider of AMD PG060 has none), by their sign.
DSP: Mapping[type[ast.operator], int] = {ast.Mult: 3, ast.Add: 2, ast.Sub: 2, ast.Div: 0}

#: Words of an fp32 block RAM; buffers of at most so many words are registers (AutoSA).
BRAM_WORDS, REGISTERS = 512, 8

#: Most space loops.
MOST_SPACE = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """Cycles of what the array consists of.

    Those of operators are of fp32 at 250 to 300 MHz as Vivado HLS usually pipelines them; they are
    assumed, not measured.
    """

    hop: int = 2
    """From writing a word to reading it in the next module."""
    multiply: int = 4
    add: int = 7
    divide: int = 16
    interval: int = 1
    """From one word of a memory port to the next."""

    def cycles(self, sign: ast.operator) -> int:
        """The cycles that an operator takes."""
        return {ast.Mult: self.multiply, ast.Div: self.divide}.get(type(sign), self.add)

    def depths(self, node: ast.expr) -> list[int]:
        """Cycles from each operand of an expression, in order, to its result."""
        if not isinstance(node, ast.BinOp):
            return [0]
        cycles = self.cycles(node.op)
        return [cycles + n for side in (node.left, node.right) for n in self.depths(side)]


DEFAULT_TIMING = Timing()

#: Words of a FIFO beside those on their way, as AutoSA declares them.
FIFO_DEPTH = 2

#: A PE: its place along each space loop.
Place = tuple[int, ...]

#: A value of an iteration.
Value = tuple[str, Point]


@dataclass(frozen=True)
class ModuleChain:
    """The modules that move a tensor."""

    access: Access
    case: Case
    """The case that uses it."""
    points: Mapping[Place, tuple[Point, ...]]
    """The iterations of each PE that use it, in its order; PEs in the order of their words."""
    moved: Mapping[Place, int]
    """Words that are moved for each PE: all of its buffer that the tensor has, used or not."""
    buffer: int
    """Words of the buffer beside a PE, which holds the box of any PE's elements."""

    @property
    def tensor(self) -> str:
        """The name of the tensor that the chain moves."""
        return self.access.tensor

    @property
    def ends(self) -> dict[Place, int]:
        """Modules beside PEs, by the place along the second space loop."""
        last: dict[Place, int] = {}
        for first, *rest in self.points:
            last[tuple(rest)] = max(last.get(tuple(rest), 0), first + 1)
        return last

    @property
    def modules(self) -> dict[str, int]:
        """Modules on each level."""
        ends = self.ends
        across = {"L2": 1 + max(b for (b,) in ends), "L3": 1} if () not in ends else {"L2": 1}
        return {"L1": sum(ends.values())} | across

    @staticmethod
    def hops(place: Place) -> int:
        """Modules from the memory port to the one beside a PE, that one among them."""
        return sum(place) + len(place)


@dataclass(frozen=True)
class RecurrenceArray:
    """An array: recurrences, and their space loops."""

    nest: Recurrence
    space: tuple[str, ...]
    timing: Timing

    # -- time --------------------------------------------------------------------------

    @cached_property
    def ready(self) -> Mapping[str, int]:
        """Cycles from the begin of an iteration to each of its values: a pipeline has the same for
        all cases."""
        ready: dict[str, int] = {}
        for case in self.nest.cases:
            for access, depth in zip(case.reads, self.timing.depths(case.result), strict=True):
                begin = ready.get(access.tensor, 0) if self._same(access) else 0
                ready[case.value] = max(ready.get(case.value, 0), begin + depth)
        return ready

    @property
    def own(self) -> tuple[str, ...]:
        """The loops that a PE runs, outermost first."""
        return tuple(loop for loop in self.nest.loops if loop not in self.space)

    @cached_property
    def refill(self) -> int:
        """Cycles at least from the last turn of the innermost loop of a PE to its next one.

        Synthesis cannot flatten an inner loop whose bounds follow an outer one: its pipeline runs
        empty before it is entered again.
        """
        *outer, inner = self.own
        return max(*self.ready.values(), 1) if {*outer} & self.nest.bounded_by(inner) else 1

    def gap(self, earlier: Point, point: Point) -> int:
        """Cycles at least from an iteration to the next of its PE."""
        outer = map(self.nest.loops.index, self.own[:-1])
        return self.refill if any(earlier[at] != point[at] for at in outer) else 1

    def _same(self, access: Access) -> bool:
        return not any(subscript.constant for subscript in access)

    # -- structure ---------------------------------------------------------------------

    @cached_property
    def pes(self) -> Mapping[Place, tuple[Point, ...]]:
        """The iterations of each PE, in its order."""
        pes: dict[Place, list[Point]] = {}
        for point in self.nest.iterations:
            poll()
            pes.setdefault(self.place(point), []).append(point)
        return {place: tuple(points) for place, points in pes.items()}

    def place(self, point: Point) -> Place:
        """The PE of an iteration, numbered from 0 along each space loop."""
        return tuple(point[at] - first for at, first in self._space)

    @cached_property
    def _space(self) -> Sequence[tuple[int, int]]:
        """Number and first value of each space loop."""
        numbers = [self.nest.loops.index(loop) for loop in self.space]
        return [(at, min(point[at] for point in self.nest.iterations)) for at in numbers]

    def operands(self, point: Point) -> Iterable[tuple[Value, int]]:
        """The values of earlier iterations that one reads, and when it needs each at the latest."""
        needs = self._needs[self.nest.iterations[point]]
        return [((name, tuple(map(add, point, step))), lag) for (name, step), lag in needs]

    @cached_property
    def _needs(self) -> Mapping[tuple[Case, ...], Sequence[tuple[Value, int]]]:
        """The values that iterations of the same cases read, as steps from them, and when they need
        each at the latest."""
        known = {}
        for cases in {*self.nest.iterations.values()}:
            needs: dict[Value, int] = {}
            for case in cases:
                for access, depth in zip(case.reads, self.timing.depths(case.result), strict=True):
                    if access.tensor in self.ready and not self._same(access):
                        value = access.tensor, tuple(rank.constant for rank in access)
                        lag = self.ready[case.value] - depth
                        needs[value] = min(needs.get(value, lag), lag)
            known[cases] = [*needs.items()]
        return known

    @cached_property
    def inputs(self) -> tuple[ModuleChain, ...]:
        """The chains of tensors that are read."""
        return self._chains(
            (a, case) for case in self.nest.cases for a in self.nest.inputs_of(case)
        )

    @cached_property
    def outputs(self) -> tuple[ModuleChain, ...]:
        """The chains of tensors that are written."""
        return self._chains((access, case) for case, access in self.nest.outputs.items())

    def _chains(self, accesses: Iterable[tuple[Access, Case]]) -> tuple[ModuleChain, ...]:
        """The chains of those tensors that have elements."""
        return tuple(starmap(self._chain, (a for a in accesses if self.nest.tensors[a[0].tensor])))

    def _chain(self, access: Access, case: Case) -> ModuleChain:
        """The chain of a tensor, by the PEs that use it."""
        places: dict[Place, list[tuple[Point, Point]]] = {}
        for element, point in self.nest.tensors[access.tensor].items():
            poll()
            places.setdefault(self.place(point), []).append((point, element))
        points, used = {}, {}
        for place in sorted(places, key=lambda place: place[::-1]):
            poll()
            points[place], elements = zip(*places[place], strict=True)
            used[place] = np.array(elements)
        box = np.max([np.ptp(elements, 0) + 1 for elements in used.values()], 0)
        extents = self.nest.extents_of(access.tensor)
        moved = {
            place: int(np.minimum(box, extents - elements.min(0)).prod())
            for place, elements in used.items()
        }
        return ModuleChain(access, case, points, moved, int(box.prod()))

    # -- resources ---------------------------------------------------------------------

    @cached_property
    def dsp(self) -> int:
        """DSP blocks of all PEs: of each what its cases need, every one for itself."""
        total = 0
        for points in self.pes.values():
            poll()
            for case in {case for point in points for case in self.nest.iterations[point]}:
                operators = (n.op for n in ast.walk(case.result) if isinstance(n, ast.BinOp))
                total += sum(DSP[type(operator)] for operator in operators)
        return total

    @cached_property
    def registers(self) -> Mapping[str, int]:
        """Words of each value that a PE keeps, as AutoSA declares its local arrays."""
        here: dict[tuple[Case, ...], list[Integers]] = {}
        for points in self.pes.values():
            poll()
            for point, place in zip(points, points - np.min(points, 0), strict=True):
                here.setdefault(self.nest.iterations[point], []).append(place)
        used: dict[str, list[Integers]] = {}
        for cases, places in here.items():
            ends: Integers = np.array([np.min(places, 0), np.max(places, 0)])
            for case in cases:
                used.setdefault(case.value, []).append(ends)
            for (value, step), _ in self._needs[cases]:
                used.setdefault(value, []).append(ends + np.array(step))
        return {
            value: int(np.prod(np.ptp(np.concatenate(used[value]), 0)[[*loops]] + 1))
            for value, loops in self.nest.stored.items()
            if value in used
        }

    @property
    def bram18k(self) -> int:
        """Block RAMs of all buffers."""
        buffers = [(len(self.pes), words) for words in self.registers.values()]
        buffers += [(c.modules["L1"], c.buffer) for c in (*self.inputs, *self.outputs)]
        return sum(n * -(-words // BRAM_WORDS) for n, words in buffers if words > REGISTERS)


def dataflows(nest: Recurrence) -> tuple[tuple[str, ...], ...]:
    """The choices of space loops, numbered as AutoSA does: each alone, then each two; one loop at
    least is left."""
    loops = nest.loops
    most = min(MOST_SPACE, len(loops) - 1)
    return tuple(chosen for n in range(1, most + 1) for chosen in combinations(loops, n))
