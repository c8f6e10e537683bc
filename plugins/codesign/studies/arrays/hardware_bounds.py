"""Everything known about running some layers on the hardware of one design: classes of hardware,
bounds and optima on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from ithaca.files.clock import StoppedError
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import largest_t1, systolic
from ithaca.plugins.codesign.studies.arrays.layer import (
    FREE,
    Groups,
    Room,
    TabledLayer,
    buffer_words,
    group_rows,
    hardware_names,
)
from ithaca.solver.options import SolveOptions, never

#: Combinations bounded at once.
CHUNK = 1 << 18


@dataclass(frozen=True)
class HardwareClasses:
    """Hardware of a design at one level of detail."""

    names: tuple[tuple[str, ...], ...]
    """Per axis the quantities that are hardware."""
    keys: tuple[Integers, ...]
    """Per axis their values; a class is a row; shape (classes, names)."""
    groups: tuple[Groups, ...]
    """Every layer's rows grouped by them."""
    common: bool
    """Whether hardware counts only if every layer can run on it; else, if any can."""

    def bounds(
        self, nodes: Integers, checkpoint: Callable[[], None] = never, room: Room = FREE
    ) -> Floats:
        """Lower bound of every layer's objective within some room, shape (layers, combinations);
        infinite where it cannot run.

        Parameters
        ----------
        nodes : numpy.ndarray
            Hardware by the nodes of its tables, shape (tables, combinations).
        checkpoint : callable, optional
            Is called now and then, and may raise.
        room : Room, optional
            The resources that there are.
        """
        groups = [replace(group, layer=group.layer.within(room)) for group in self.groups]
        least = np.empty((len(groups), nodes.shape[1]))
        for begin in range(0, nodes.shape[1], CHUNK):
            checkpoint()
            part = nodes[:, begin : begin + CHUNK]
            for number, group in enumerate(groups):
                bound, feasible = group.bound(part)
                least[number, begin : begin + CHUNK] = np.where(feasible, bound, np.inf)
        return least

    def all(self, checkpoint: Callable[[], None] = never) -> Integers:
        """Every combination of classes on which the layers (or any of them) may run, shape (axes,
        combinations).

        Most are far beyond the limits. So classes are merged, two neighbours into one, until all
        are; what may be within the limits is taken apart again.
        """
        merged = [self.groups]
        counts = [[len(keys) for keys in self.keys]]
        axes: list[int] = []
        if not all(counts[0]):
            return np.zeros((len(counts[0]), 0), np.int64)
        while max(counts[-1]) > 1:
            axes.append(int(np.argmax(counts[-1])))
            merged.append(tuple(group.halved(axes[-1]) for group in merged[-1]))
            counts.append(
                [-(-n // 2) if axis == axes[-1] else n for axis, n in enumerate(counts[-1])]
            )
        nodes = np.zeros((len(self.keys), 1), np.int64)
        for axis, groups, own in zip(
            reversed(axes), reversed(merged[:-1]), reversed(counts[:-1]), strict=True
        ):
            checkpoint()
            nodes = np.repeat(nodes, 2, axis=1)
            nodes[axis] *= 2
            nodes[axis, 1::2] += 1
            nodes = nodes[:, nodes[axis] < own[axis]]
            nodes = nodes[:, self._possible(groups, nodes)]
        return nodes[:, self._possible(self.groups, nodes)]

    def _possible(self, groups: Sequence[Groups], nodes: Integers) -> Mask:
        """Whether the limits of the layers may hold: of every one, or of any."""
        possible = np.full(nodes.shape[1], self.common)
        for group in groups:
            undecided = np.flatnonzero(possible == self.common)
            possible[undecided] = group.may_run(nodes[:, undecided])
        return possible

    def hardware(self, node: Sequence[int]) -> dict[str, int]:
        """The hardware of a combination: quantities by name."""
        return {
            name: int(value)
            for names, keys, index in zip(self.names, self.keys, node, strict=True)
            for name, value in zip(names, keys[index], strict=True)
        }

    def inside(self, coarse: HardwareClasses, node: Sequence[int]) -> Integers:
        """The combinations of these classes that belong to a combination of coarser ones."""
        fitting = []
        for names, keys, outer, classes, index in zip(
            self.names, self.keys, coarse.names, coarse.keys, node, strict=True
        ):
            columns = [names.index(name) for name in outer]
            fitting.append(np.flatnonzero((keys[:, columns] == classes[index]).all(axis=1)))
        if not prod(map(len, fitting)):
            return np.zeros((len(fitting), 0), np.int64)
        return np.stack([grid.ravel() for grid in np.meshgrid(*fitting, indexing="ij")])


def hardware_classes(
    layers: Sequence[TabledLayer], checkpoint: Callable[[], None], *, ports: bool, common: bool
) -> HardwareClasses:
    """Group the rows of all layers by lanes and SIMD factor, with ``ports`` by packs, too.

    With ``common`` hardware is left out that some layer cannot run on. The checkpoint is called now
    and then.

    Parameters
    ----------
    layers : sequence of Layer
        The layers of one design, with the tables of their axes.
    checkpoint : callable
        Called now and then; what it raises ends the work.
    ports : bool
        Whether rows of other packs are other hardware.
    common : bool
        Whether hardware is left out that some layer cannot run on.
    """
    names = tuple(hardware_names(axis, ports=ports) for axis in layers[0].problem.space.axes)
    keys: list[Integers] = []
    classes: list[list[Integers]] = []
    for axis, columns in enumerate(names):
        checkpoint()
        tables = [layer.tables[axis] for layer in layers]
        ranges = [
            1 + max(int(table.rows[name].max(initial=0)) for table in tables) for name in columns
        ]
        # one number says what all columns do, and sorts as they do
        codes = []
        for table in tables:
            code = np.zeros(table.count, np.int64)
            for name, size in zip(columns, ranges, strict=True):
                code = code * size + table.rows[name]
            codes.append(code)
        every, counts = np.unique(
            np.concatenate([np.unique(code) for code in codes]), return_counts=True
        )
        if common:
            every = every[counts == len(layers)]
        keys.append(_columns(every, ranges))
        classes.append([_places(code, every) for code in codes])
    groups = []
    for layer, own in zip(layers, zip(*classes, strict=True), strict=True):
        checkpoint()
        groups.append(group_rows(layer, own, [len(k) for k in keys]))
    return HardwareClasses(names, tuple(keys), tuple(groups), common)


def _columns(codes: Integers, ranges: Sequence[int]) -> Integers:
    """The columns that numbers stand for, shape (numbers, columns)."""
    columns: list[Integers] = []
    for size in reversed(ranges):
        codes, column = np.divmod(codes, size)
        columns.insert(0, column)
    return np.stack(columns, axis=1) if columns else np.zeros((codes.size, 0), np.int64)


def _places(numbers: Integers, among: Integers) -> Integers:
    """The place of each number among sorted ones; -1 where it has none."""
    if not among.size:
        return np.full(numbers.size, -1)
    places = np.minimum(np.searchsorted(among, numbers), among.size - 1)
    return np.where(among[places] == numbers, places, -1)


#: Limits that an array of several layers can be held to: of metrics that the array decides, and of
#: what every layer moves.
SHARED_LIMITS = frozenset({"dsp", "bram18k", "comp", "bandwidth"})


@dataclass(frozen=True)
class LayerOptimum:
    """The optimum of a layer on some hardware."""

    value: Fraction
    """Its objective."""
    configuration: Configuration
    """How it is run."""
    needs: Room
    """The memory that it takes."""


Node = tuple[int, ...]


@dataclass
class DesignBounds:
    """Layers of one design, with bounds for all hardware and optima for the hardware that was asked
    for.

    Classes and bounds are made when they are first asked for; what the checkpoint raises, called
    now and then, ends that.
    """

    layers: tuple[TabledLayer, ...]
    """The layers."""
    common: bool
    """Whether hardware counts only if every layer can run on it; else, if any can."""
    checkpoint: Callable[[], None] = never
    _optima: dict[tuple[int, bool, Node], list[tuple[Room, LayerOptimum | None]]] = field(
        default_factory=dict
    )

    @cached_property
    def coarse(self) -> HardwareClasses:
        """Hardware by lanes and SIMD factor."""
        return hardware_classes(self.layers, self.checkpoint, ports=False, common=self.common)

    @cached_property
    def fine(self) -> HardwareClasses:
        """Hardware by lanes, SIMD factor and port widths."""
        return hardware_classes(self.layers, self.checkpoint, ports=True, common=self.common)

    @cached_property
    def nodes(self) -> Integers:
        """All coarse hardware on which layers can run; shape (axes, combinations)."""
        return self.coarse.all(self.checkpoint)

    @cached_property
    def bounds(self) -> Floats:
        """Lower bound of every layer's objective on `nodes`; infinite where it cannot run; shape
        (layers, combinations)."""
        return self.coarse.bounds(self.nodes, self.checkpoint)

    @cached_property
    def bram18k(self) -> Floats:
        """The least block RAM of every layer on ``nodes``; 0 if that is not limited; shape (layers,
        combinations)."""
        return np.stack([group.least("bram18k", self.nodes) for group in self.coarse.groups])

    @cached_property
    def dsp(self) -> Floats:
        """DSP blocks of ``nodes``."""
        problem = self.layers[0].problem
        values: dict[str, Integers] = {}
        for names, keys, index in zip(self.coarse.names, self.coarse.keys, self.nodes, strict=True):
            values |= {name: keys[index, column] for column, name in enumerate(names)}
        # in symbols: hardware alone does not fix the other metrics
        used = problem.design.metrics(Symbols(), SYMBOLIC, {"dsp"})["dsp"].evaluate(values, NUMPY)
        return np.broadcast_to(np.asarray(used, np.float64), (self.nodes.shape[1],))

    def optimum(
        self,
        layer: int,
        node: Node,
        options: SolveOptions,
        *,
        ports: bool = True,
        room: Room = FREE,
    ) -> LayerOptimum | None:
        """The proven optimum of a layer on hardware; without ``ports`` on coarse hardware, its
        ports as it likes.

        Raises `StoppedError` if the options say to stop.

        Parameters
        ----------
        layer : int
            The number of the layer.
        node : Node
            The hardware: a class of every axis.
        options : SolveOptions
            Only when to stop is taken from them.
        ports : bool, optional
            Whether packs are given by the node, too.
        room : Room, optional
            What the layer may take of limits that layers share.

        Returns
        -------
        Optimum, optional
            Its objective, configuration and needs; None if it cannot run there.

        Raises
        ------
        StoppedError
            If the options say to stop.
        """
        known = self.known((layer, ports, node), room)
        if known is not None:
            return known[0]
        hardware = (self.fine if ports else self.coarse).hardware(node)
        best = optimum_on(self.layers[layer], hardware, room, options)
        self.learn((layer, ports, node), room, best)
        return best

    def learn(self, place: tuple[int, bool, Node], room: Room, best: LayerOptimum | None) -> None:
        """Keep the optimum of a layer within some room, by number, whether ports are given, and
        hardware.

        Parameters
        ----------
        place : tuple of int, bool, Node
            Layer, whether ports are given, and hardware.
        room : Room
            The room.
        best : LayerOptimum, optional
            The optimum; None if it cannot run there.
        """
        self._optima.setdefault(place, []).append((room, best))

    def known(
        self, place: tuple[int, bool, Node], room: Room = FREE
    ) -> tuple[LayerOptimum | None] | None:
        """The optimum of a layer within some room, by number, whether ports are given, and
        hardware; None if it is not known."""
        for other, best in self._optima.get(place, ()):
            if room.inside(other) and (best is None or best.needs.inside(room)):
                return (best,)
        return None


def optimum_on(
    layer: TabledLayer, hardware: Mapping[str, int], room: Room, options: SolveOptions
) -> LayerOptimum | None:
    """The proven optimum of a layer on hardware; None if it cannot run there.

    Parameters
    ----------
    layer : TabledLayer
        The layer.
    hardware : mapping of str to int
        The quantities of the hardware.
    room : Room
        What the layer may take of limits that layers share.
    options : SolveOptions
        Only when to stop is taken from them.

    Raises
    ------
    StoppedError
        If the options say to stop.
    """
    state = layer.within(room).optimum(hardware, SolveOptions(stop=options.stop))
    if not state.complete and (state.value is None or state.lower_bound != state.value):
        raise StoppedError
    if state.value is None or state.incumbent is None:
        return None
    return LayerOptimum(state.value, state.incumbent, _needs(layer.problem, state.incumbent))


def _needs(problem: Problem, configuration: Configuration) -> Room:
    """The room that a configuration needs of limits that arrays share."""
    metrics = problem.metrics(configuration)
    return Room(
        metrics["bram18k"],
        metrics["bandwidth"],
        tuple(sorted(buffer_words(problem, configuration).items())),
    )


def check_limits(problem: Problem) -> None:
    """Refuse a limit that does not bound an array that several layers share."""
    if required := [limit.metric for limit in problem.limits if limit.required]:
        raise InputError(
            f"--require {quoted(required[0])} does not go with arrays that layers share; allowed "
            "with --mode per-layer or shared-dataflow"
        )
    others = [x.metric for x in problem.limits if not x.expression.symbols <= SHARED_LIMITS]
    if others:
        allowed, lifted = ", ".join(sorted(SHARED_LIMITS)), ",".join(f"{x}=none" for x in others)
        raise InputError(
            f"limit {', '.join(others)} does not bound an array that layers share; allowed: limits "
            f"on {allowed}; --limit {lifted} lifts a platform's"
        )


def most_lanes(problems: Sequence[Problem]) -> int:
    """PEs along one loop that the DSP limit allows, or that a layer could use, of layers of one
    design."""
    design = systolic(problems[0])
    bounds = [limit.bound for limit in problems[0].limits if limit.metric == "dsp"]
    per_lane = design.data.dsp(design.array.factors)
    widest = max(
        largest_t1(extent)
        for problem in problems
        for extent in systolic(problem).nest.sizes.values()
    )
    return min([widest, *(int(bound / per_lane) for bound in bounds if per_lane)])
