"""Dataflows: which loops may be mapped to space."""

from __future__ import annotations

from itertools import combinations

from ithaca.workloads.dependences import DependenceKind, dependences
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


def space_loops(nest: LoopNest) -> tuple[str, ...]:
    """Band loops along which data travel at most one PE per step.

    A loop qualifies if the distance of every read and flow dependence along it is at most 1
    (Wang, Guo & Cong, AutoSA, FPGA 2021, §4.1: neighbour-to-neighbour communication).
    """
    vectors = [d.distance for d in dependences(nest) if d.kind is not DependenceKind.OUTPUT]
    position = {loop: index for index, loop in enumerate(nest.loops)}
    return tuple(loop for loop in nest.band if all(abs(v[position[loop]]) <= 1 for v in vectors))


def dataflows(nest: LoopNest) -> tuple[tuple[str, ...], ...]:
    """All dataflows: every space loop singly, then every pair, in band order."""
    loops = space_loops(nest)
    return (*((loop,) for loop in loops), *combinations(loops, 2))


def find_dataflow(nest: LoopNest, loops: tuple[str, ...]) -> tuple[str, ...]:
    """The dataflow with these loops, in band order.

    Raises
    ------
    InputError
        If there is none.
    """
    for dataflow in dataflows(nest):
        if sorted(dataflow) == sorted(loops):
            return dataflow
    allowed = " ".join(",".join(d) for d in dataflows(nest))
    raise InputError(f"unknown dataflow '{','.join(loops)}' of {nest.name}; allowed: {allowed}")
