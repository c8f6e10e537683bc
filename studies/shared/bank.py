"""Everything known about running some layers on the hardware of one design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.expression import Symbols
from ithaca.formulations.algebra.number_systems import NUMPY, SYMBOLIC
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import largest_t1, systolic
from ithaca.solver.options import SolveOptions, StoppedError
from ithaca.studies.shared.classes import HardwareClasses, hardware_classes
from ithaca.studies.shared.layer import Layer, build_layer
from ithaca.workloads.errors import InputError

#: Limits that an array of several layers can be held to: those of metrics that the array decides, not a layer.
SHARED_LIMITS = frozenset({"dsp", "bram18k", "comp"})

#: What a layer does at best on some hardware; None where it cannot run on it.
Optimum = tuple[Fraction, Configuration] | None

Node = tuple[int, ...]


@dataclass
class HardwareBank:
    """Layers of one design, with bounds for all hardware and optima for the hardware that was asked for."""

    layers: tuple[Layer, ...]  #: The layers
    #: Hardware by lanes and SIMD factor, and by port widths, too.
    coarse: HardwareClasses
    fine: HardwareClasses
    nodes: NDArray[np.int64]  #: All coarse hardware on which layers can run; shape (axes, combinations)
    #: Lower bound of every layer's objective on ``nodes``; infinite where it cannot run; shape (layers, combinations).
    bounds: NDArray[np.float64]
    _optima: dict[tuple[int, bool, Node], Optimum] = field(default_factory=dict)

    @cached_property
    def dsp(self) -> NDArray[np.float64]:
        """DSP blocks of ``nodes``."""
        problem = self.layers[0].problem
        values: dict[str, NDArray[np.int64]] = {}
        for names, keys, index in zip(self.coarse.names, self.coarse.keys, self.nodes, strict=True):
            values |= {name: keys[index, column] for column, name in enumerate(names)}
        # in symbols: hardware alone does not fix the other metrics
        used = problem.design.metrics(Symbols(), SYMBOLIC, {"dsp"})["dsp"].evaluate(values, NUMPY)
        return np.broadcast_to(np.asarray(used, np.float64), (self.nodes.shape[1],))

    def optimum(self, layer: int, node: Node, options: SolveOptions, *, ports: bool = True) -> Optimum:
        """What a layer does at best on hardware, proven; without ``ports`` on coarse hardware, its ports as it likes.

        Raises
        ------
        StoppedError
            If the options say to stop.
        """
        key = (layer, ports, node)
        if key not in self._optima:
            given = (self.fine if ports else self.coarse).given(node)
            state = self.layers[layer].optimum(given, SolveOptions(stop=options.stop))
            if not state.complete:
                raise StoppedError
            found = state.value is not None and state.incumbent is not None
            self._optima[key] = (state.value, state.incumbent) if found else None  # type: ignore[assignment]
        return self._optima[key]


def build_bank(layers: Sequence[tuple[Problem, int]], checkpoint: Callable[[], None], *, common: bool) -> HardwareBank:
    """Tables and classes of hardware of layers on one design; with ``common`` only hardware on which every layer can run.

    Raises
    ------
    InputError
        If a limit does not bound an array that several layers share.
    StoppedError
        If the checkpoint, called now and then, does so.
    """
    for limit in layers[0][0].limits:
        if not limit.expression.symbols <= SHARED_LIMITS:
            allowed = ", ".join(sorted(SHARED_LIMITS))
            raise InputError(f"limit {limit.metric} does not bound an array that layers share; allowed: limits on {allowed}")
    most = max(_most_lanes(problem) for problem, _ in layers)
    built = tuple(build_layer(problem, count, most, checkpoint) for problem, count in layers)
    coarse, fine = (hardware_classes(built, checkpoint, ports=ports, common=common) for ports in (False, True))
    nodes = coarse.all(checkpoint)
    return HardwareBank(built, coarse, fine, nodes, coarse.bounds(nodes, checkpoint))


def _most_lanes(problem: Problem) -> int:
    """PEs along one loop that the DSP limit allows, or that a layer could use."""
    bounds = [limit.bound for limit in problem.limits if limit.metric == "dsp"]
    per_lane = systolic(problem).data.dsp(systolic(problem).array.factors)
    widest = max(largest_t1(extent) for extent in systolic(problem).nest.sizes.values())
    return min([widest, *(int(bound / per_lane) for bound in bounds if per_lane)])
