"""Small flow graphs, and the cycles of copies that wait for each other."""

from collections import deque
from fractions import Fraction
from math import comb

import numpy as np

from ithaca.plugins.flow.formulations.graph import find_graph
from ithaca.plugins.flow.formulations.run import run_graph

WINDOW, RATE, DENSITY, COPIES, STEPS = 64, 8, 0.2, 6, 4


def small(**fields):
    """A buffer that a multiplier reads 8 values of, zeros and all, in each of 3 steps."""
    document = {
        "name": "small",
        "tensors": {"x": {"bits": 16}},
        "components": {"buffer": {"of": "sram", "parameters": {"width": 32}}, "unit": "mac"},
        "edges": ["buffer.out -> unit.in"],
        "intervals": {"all": {"inputs": {"buffer.in": {"of": "x", "shape": [2, 4], "steps": 3}}}},
    }
    return document | fields


def run(document, **parameters):
    stated = {name: Fraction(value) for name, value in parameters.items()}
    return run_graph(find_graph(document), stated)


def parts(of):
    return {part.name: (part.cycles, part.energy) for part in of.parts}


def binomial(count, share):
    return [comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count + 1)]


def expected_most(chances, copies):
    """The expected largest of independent numbers, of their chances."""
    below = np.cumsum(chances) ** copies
    return float(sum(1 - below[:-1]))


def cycles_of(chances, cycles):
    """Chances of numbers of cycles, of those of nonzeros."""
    found = [0.0] * (max(map(cycles, range(len(chances)))) + 1)
    for count, chance in enumerate(chances):
        found[cycles(count)] += chance
    return found


def waiting(**parameters):
    """Six copies that extract nonzeros of windows of their own, and wait for each other."""
    copies = {
        "copies": COPIES,
        "components": {
            "index": {"of": "index", "parameters": {"window": WINDOW, "rate": RATE}},
            "wait": {"of": "synchronise", "parameters": parameters},
        },
        "edges": ["index.out -> wait.in"],
    }
    feed = {"of": "x", "shape": [WINDOW], "steps": STEPS}
    return small(
        tensors={"x": {"bits": 16, "density": DENSITY}},
        components={"pe": copies},
        edges=[],
        intervals={"all": {"repeat": 5, "inputs": {"pe.index.in": feed}}},
    )


def simulated(work, room):
    """Cycles of copies with queues, cycle by cycle: in each one a step is given to all, if all have
    room, and those with a step work at it."""
    queues = [deque[int]() for _ in work[0]]
    given, cycle = 0, 0
    while given < len(work) or any(queues):
        for queue in queues:
            while queue and not queue[0]:
                queue.popleft()
        if given < len(work) and all(len(queue) < room for queue in queues):
            for queue, cycles in zip(queues, work[given], strict=True):
                queue.append(cycles)
            given += 1
        for queue in queues:
            while queue and not queue[0]:
                queue.popleft()
            if queue:
                queue[0] -= 1
                if not queue[0]:
                    queue.popleft()
        cycle += given < len(work) or any(queues)
    return cycle + 1
