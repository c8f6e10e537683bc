"""Tables of layers, and their optima on hardware that promises most, made before they are asked for
by all workers at once.

What a search asks for and comes to is the same without: it only waits less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.problem import Problem
from ithaca.plugins.codesign.studies.arrays.alone import LayersAlone
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import (
    DesignBounds,
    LayerOptimum,
    Node,
    optimum_on,
)
from ithaca.plugins.codesign.studies.arrays.layer import FREE, Room, TabledLayer, build_layer
from ithaca.solver.executor import Sharing
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.splitting import Helpers, done_by

#: Pieces of hardware for each worker.
EACH = 2


def build(designs: Sequence[LayersAlone], options: SolveOptions, each: int | None = None) -> None:
    """Let workers build layers that are prepared next, where there are several workers.

    Parameters
    ----------
    designs : sequence of LayersAlone
        The layers of some designs.
    options : SolveOptions
        Who helps, and when to stop.
    each : int, optional
        How many of each design; all that are left if it is not stated.

    Raises
    ------
    StoppedError
        If the options say to stop.
    """
    if not most(options):
        return
    places = [
        (alone, number)
        for alone in designs
        for number in alone.order[len(alone.layers) :][:each]
        if number not in alone.built
    ]
    share, executor = SolveOptions(stop=options.stop), Helpers.of(options).executor
    jobs = [partial(_built, *alone.asked_of(number)) for alone, number in places]
    for place, layer in done_by(executor, jobs, lambda unfinished: share):
        alone, number = places[place]
        alone.built[number] = layer


def _built(
    problem: Problem, count: int, most_lanes: int, options: SolveOptions, report: Report
) -> TabledLayer:
    return build_layer(problem, count, most_lanes, options.checkpoint())


@dataclass(frozen=True)
class Wanted:
    """Hardware on which layers are solved, those with most to add first, until their sum says that
    it is not worth more."""

    node: Node
    """The hardware: a class of every axis."""
    bounds: dict[int, float]
    """A lower bound of what each layer adds, all its runs."""
    counts: dict[int, int]
    """Its runs."""
    ceiling: float = inf
    """Sums above this are not worth more."""
    ports: bool = True
    """Whether packs are given by the node, too."""
    room: Room = FREE
    """Share of a layer in the limits of all."""

    @property
    def first(self) -> int:
        """The layer that is solved first."""
        return max(self.bounds, key=lambda n: self.bounds[n])

    def place(self, layer: int) -> tuple[int, bool, Node]:
        """Key by which a bank knows an optimum."""
        return layer, self.ports, self.node


def most(options: SolveOptions) -> int:
    """The pieces of hardware that are solved at once; 0 where there is nobody to help."""
    width = Helpers.of(options).executor.width
    return EACH * width if width > 1 else 0


def wanted(
    nodes: Integers, bounds: Floats, layers: Integers, counts: Integers, options: SolveOptions
) -> list[tuple[Node, dict[int, float], dict[int, int]]]:
    """The hardware that promises most, with what is known of the layers on it: how `Wanted` begins;
    none where there is nobody to help.

    Parameters
    ----------
    nodes : Integers
        Hardware, shape (axes, combinations).
    bounds : Floats
        Bounds of what each layer adds, shape (layers, combinations).
    layers : Integers
        The numbers of these layers.
    counts : Integers
        Their runs.
    options : SolveOptions
        Who helps.
    """
    sums, runs = bounds.sum(axis=0), dict(zip(layers.tolist(), counts.tolist(), strict=True))
    first = np.argsort(sums, kind="stable")[: most(options)]
    return [
        (tuple(node), dict(zip(runs, own, strict=True)), runs)
        for node, own in zip(nodes.T[first].tolist(), bounds.T[first].tolist(), strict=True)
        if sum(own) < inf
    ]


def solve(hardware: Sequence[tuple[DesignBounds, Wanted]], options: SolveOptions) -> None:
    """Let workers solve layers on some hardware, unless its first piece is known, or there is no
    other; the banks know their optima then.

    Parameters
    ----------
    hardware : sequence of tuple of DesignBounds, Wanted
        The hardware, each with the layers of its design and the optima that are known.
    options : SolveOptions
        Who helps, and when to stop.

    Raises
    ------
    StoppedError
        If the options say to stop.
    """
    fresh = [
        own for own in hardware if own[0].known(own[1].place(own[1].first), own[1].room) is None
    ]
    if len(fresh) < 2 or fresh[0] is not hardware[0]:
        return
    share, executor = SolveOptions(stop=options.stop), Helpers.of(options).executor
    jobs = [
        Sharing(
            partial(optima_on, (bank.fine if own.ports else bank.coarse).hardware(own.node), own),
            bank.layers,
        )
        for bank, own in fresh
    ]
    for number, optima in done_by(executor, jobs, lambda unfinished: share):
        bank, own = fresh[number]
        for layer, optimum in optima.items():
            bank.learn(own.place(layer), own.room, optimum)


def optima_on(
    hardware: dict[str, int],
    wanted: Wanted,
    layers: Sequence[TabledLayer],
    options: SolveOptions,
    report: Report,
) -> dict[int, LayerOptimum | None]:
    """The optima of layers on some hardware, as far as they are wanted; None of one that cannot run
    there, after which no other is.

    Parameters
    ----------
    hardware : dict of str to int
        Its quantities.
    wanted : Wanted
        What is wanted of it.
    layers : sequence of TabledLayer
        The layers.
    options : SolveOptions
        When to stop.
    report : Report
        Not called.
    """
    values, optima = dict(wanted.bounds), dict[int, LayerOptimum | None]()
    if below(sum(values.values())) > wanted.ceiling:
        return optima
    for layer in sorted(values, key=lambda n: -values[n]):
        best = optima[layer] = optimum_on(layers[layer], hardware, wanted.room, options)
        if best is None:
            break
        values[layer] = float(best.value) * wanted.counts[layer]
        if below(sum(values.values())) > wanted.ceiling:
            break
    return optima
