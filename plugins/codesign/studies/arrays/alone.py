"""The layers of one design, each alone: what no array that they share can be better than."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ithaca.formulations.algebra.rounding import below, sum_below
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import DesignBounds, most_lanes
from ithaca.plugins.codesign.studies.arrays.layer import TabledLayer, build_layer, group_rows


class LayersAlone:
    """Layers of one design, prepared one after the other, those with most work first, and a bound
    of each.

    The sum over the layers of what each takes at best alone is a lower bound for every array that
    they share: the configuration of a layer on that array is one that it has alone, too, with the
    same objective. Alone it may leave as many lanes idle, its buffers need not be larger than its
    own tiles, and so it is within the limits where the shared array is. Where a layer's optimum is
    not known, a lower bound of it counts instead: of a layer that was not prepared its roof.
    """

    def __init__(self, problems: Sequence[tuple[Problem, int]]) -> None:
        self.problems = tuple(problems)
        #: Numbers of the layers, in the order in which they are prepared.
        self.order = sorted(
            range(len(problems)),
            key=lambda n: -systolic(problems[n][0]).nest.operations * problems[n][1],
        )
        self.layers: dict[int, TabledLayer] = {}  #: Those prepared, by number
        self.built: dict[int, TabledLayer] = {}  #: Those built ahead, by number
        self._most = most_lanes([problem for problem, _ in problems])
        #: Lower bound of each layer's objective, of one run; infinite if it has no configuration.
        floors = (problem.floor for problem, _ in problems)
        self.bounds = [-np.inf if floor is None else below(floor) for floor in floors]

    @property
    def complete(self) -> bool:
        """Whether all layers are prepared."""
        return len(self.layers) == len(self.problems)

    @property
    def bound(self) -> float:
        """No array that the layers share has a smaller total; infinite if one of them has no
        configuration."""
        terms = [
            count * bound for (_, count), bound in zip(self.problems, self.bounds, strict=True)
        ]
        return float(sum_below(np.array(terms)[:, None])[0])

    def bank(self, checkpoint: Callable[[], None], *, common: bool) -> DesignBounds:
        """The layers, all of them prepared, on shared hardware: on which each can run (``common``),
        or any."""
        return DesignBounds(
            tuple(self.layers[number] for number in range(len(self.problems))), common, checkpoint
        )

    def asked_of(self, number: int) -> tuple[Problem, int, int]:
        """Arguments of `build_layer` for a layer."""
        return *self.problems[number], self._most

    def prepare(self, checkpoint: Callable[[], None]) -> None:
        """Build the next layer, and bound it by the relaxation over all its configurations."""
        number = self.order[len(self.layers)]
        layer = self.built.pop(number, None) or build_layer(*self.asked_of(number), checkpoint)
        everything = [np.zeros(table.count, np.int64) for table in layer.tables]
        bound, feasible = group_rows(layer, everything, [1] * len(everything)).bound(
            np.zeros((len(everything), 1), np.int64)
        )
        self.bounds[number] = max(self.bounds[number], float(bound[0])) if feasible[0] else np.inf
        self.layers[number] = layer
