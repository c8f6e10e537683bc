"""Cycles of an array of recurrences, counted exactly: the longest path to its last word.

An iteration begins after the one before it in its PE, after the words that it reads, and after
the FIFOs that it writes have room. When words come from memory, and when the last one is back, is a
closed form: chains hand on a word a cycle, and keep their order.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from operator import sub

from ithaca.files.clock import poll
from ithaca.plugins.recurrences.formulations.array import (
    FIFO_DEPTH,
    ModuleChain,
    Place,
    RecurrenceArray,
    Value,
)
from ithaca.plugins.recurrences.workloads.sums import Point

#: What comes before an iteration, by how many cycles.
Edges = dict[Point, dict[Point, int]]


def cycles(array: RecurrenceArray) -> int | None:
    """The cycles from the first word that is read to the last one written; None where it hangs: PEs
    wait for words, and for room in FIFOs, in a circle."""
    poll()
    begin = _begins(array)
    if len(begin) < len(array.nest.iterations):
        return None
    return max(_drained(array, chain, begin) for chain in array.outputs)


def _begins(array: RecurrenceArray) -> dict[Point, int]:
    """The cycle at which each iteration begins; those that never do are missing."""
    before, fed, begin = _before(array), _fed(array), dict[Point, int]()
    waiting = {point: len(others) for point, others in before.items()}
    after: dict[Point, list[Point]] = {point: [] for point in before}
    for point, others in before.items():
        for other in others:
            after[other].append(point)
    ready = [point for point, others in waiting.items() if not others]
    for point in ready:
        poll()
        steps = (begin[other] + cycles for other, cycles in before[point].items())
        begin[point] = max(fed.get(point, 0), *steps, 0)
        for later in after[point]:
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    return begin


def _before(array: RecurrenceArray) -> Edges:
    """The predecessors of every iteration, each with the least number of cycles between the two."""
    before: Edges = {point: {} for point in array.nest.iterations}
    words: defaultdict[tuple[Place, str, Point], dict[Value, Point]] = defaultdict(dict)

    def after(point: Point, other: Point, cycles: int) -> None:
        before[point][other] = max(cycles, before[point].get(other, cycles))

    for place, points in array.pes.items():
        poll()
        for earlier, point in pairwise(points):
            after(point, earlier, array.gap(earlier, point))
        for point in points:
            for value, need in array.operands(point):
                name, source = value
                if array.place(source) == place:
                    after(point, source, array.ready[name] - need)
                else:
                    after(point, source, array.ready[name] + array.timing.hop)
                    words[place, name, tuple(map(sub, point, source))][value] = point
    for (_, name, _), readers in words.items():
        sent, room = list(readers), array.ready[name] + array.timing.hop + FIFO_DEPTH - 1
        for first, later in zip(sent, sent[room:], strict=False):
            after(later[1], readers[first], 1)
    return before


def _fed(array: RecurrenceArray) -> dict[Point, int]:
    """The cycle at which each iteration can have its words from memory.

    The module beside a PE hands on what is for those behind it before it feeds its own.
    """
    fed: dict[Point, int] = {}
    for chain in array.inputs:
        sent, last = 0, dict[Place, int]()
        for (_, *rest), moved in chain.moved.items():
            sent += moved
            last[tuple(rest)] = sent - 1
        for place, points in chain.points.items():
            poll()
            came = last[place[1:]] * array.timing.interval + chain.hops(place) * array.timing.hop
            for number, point in enumerate(points):
                fed[point] = max(fed.get(point, 0), came + 1 + number + array.timing.hop)
    return fed


def _drained(array: RecurrenceArray, chain: ModuleChain, begin: dict[Point, int]) -> int:
    """The cycle at which the last word of a tensor is written: the module beside a PE has all words
    of the PE before it hands them on, and then those of the PEs behind."""
    time = 0
    for place, points in chain.points.items():
        poll()
        first = begin[points[-1]] + array.ready[chain.case.value] + array.timing.hop + 1
        for number in range(chain.moved[place]):
            arrival = first + number + chain.hops(place) * array.timing.hop
            time = max(time, arrival) + array.timing.interval
    return time
