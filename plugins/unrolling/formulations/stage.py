"""The search of a pipeline: intervals first, then the fewest resources for each.

Whatever layers choose, the interval is that of one of their choices, and a longer one leaves every
layer all choices that a shorter one does. So the least interval is found by bisection, and for each
interval sums of resources layer by layer: of partial sums none is kept that another one is no more
than in any resource.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName, NumberSystem
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.space import Axis, Rows, Space
from ithaca.formulations.stage import Block, Candidates, Cutoff
from ithaca.plugins.unrolling.formulations.layers import INTERVAL, Freedom, WeightLayer

if TYPE_CHECKING:
    from ithaca.formulations.problem import Problem


class Layered(Protocol):
    """The pipeline, as far as its search knows it."""

    @property
    def layers(self) -> tuple[WeightLayer, ...]:
        """The layers."""

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The ways in which each may be unrolled."""

    @property
    def vocabulary(self) -> Mapping[str, object]:
        """The metrics by name."""

    @property
    def space(self) -> Space:
        """The choices, an axis for each layer."""

    def layer_metrics(
        self, place: int, values: NumbersByName, numbers: NumberSystem
    ) -> dict[str, Any]:
        """The metrics of a layer alone.

        Parameters
        ----------
        place : int
            Its place.
        values : Mapping of str to number
            Values of the quantities.
        numbers : NumberSystem
            The number system.
        """


#: Cycles that doubles hold exactly are below.
EXACT = 2**53


@dataclass(frozen=True)
class Choices:
    """The choices of a layer that no other one equals or beats, shortest first."""

    rows: Integers
    """Quantities, a row each."""
    cycles: Integers
    """Cycles of each."""
    resources: Integers
    """Amounts of each resource, a row each."""


def pipeline_stage(pipeline: Layered, problem: Problem) -> PipelineStage | None:
    """The stage of a problem; None where objective or limits are expressions, or where doubles
    would not hold its cycles."""
    names = pipeline.vocabulary
    if max(x.weights * x.positions for x in pipeline.layers) >= EXACT:
        return None
    if not all(_plain(each, names) for each in (problem.objective, *problem.limits)):
        return None
    return PipelineStage(pipeline, problem)


def _plain(term: Any, names: Collection[str]) -> bool:
    expression: Expression = term.expression
    return isinstance(expression, Symbol) and expression.name in names and not term.divisors


class PipelineStage:
    """The search of one problem."""

    least, dropped = -inf, inf

    def __init__(self, pipeline: Layered, problem: Problem) -> None:
        self._pipeline = pipeline
        self._objective = problem.objective.expression.name  # type: ignore[attr-defined]
        self._resources = [n for n in pipeline.vocabulary if n != INTERVAL]
        self._limits: dict[str, Fraction] = {}
        for limit in problem.limits:
            name = limit.expression.name  # type: ignore[attr-defined]
            self._limits[name] = min(limit.bound, self._limits.get(name, limit.bound))
        self._proven = -inf

    @cached_property
    def _choices(self) -> list[Choices]:
        """The choices of each layer."""
        known = dict[Any, Choices]()
        pipeline, all_choices = self._pipeline, []
        for place, axis in enumerate(pipeline.space.axes):
            layer = pipeline.layers[place]
            key = layer.inputs, layer.outputs, layer.positions, pipeline.freedoms[place]
            if key not in known:
                known[key] = self._best(place, axis)
            all_choices.append(known[key])
        return all_choices

    def _best(self, place: int, axis: Axis) -> Choices:
        poll()
        rows = self._rows(place, axis)
        figures = self._pipeline.layer_metrics(place, rows, NUMPY)
        columns = [np.rint(figures[name]) for name in (INTERVAL, *self._resources)]
        table = np.array(columns, dtype=np.int64).T
        kept = front(table)
        names = [quantity.name for quantity in axis.quantities]
        return Choices(np.array([rows[n][kept] for n in names]).T, table[kept, 0], table[kept, 1:])

    def _rows(self, place: int, axis: Axis) -> Rows:
        """The rows of a layer; of those with as many multipliers the one of fewest cycles."""
        if self._pipeline.freedoms[place] is not Freedom.ANY:
            return axis.table()
        return {axis.quantities[0].name: least_factors(self._pipeline.layers[place].weights)}

    def _least_for(self, interval: int | None) -> tuple[Integers, list[list[int]]] | None:
        """The sums of resources of which none is more than another's within an interval, and the
        choices of each layer that they come from; None where limits leave none."""
        most = np.iinfo(np.int64).max
        bounds = np.array(
            [min(int(self._limits.get(name, most) // 1), most) for name in self._resources]
        )
        sums = np.zeros((1, len(self._resources)), dtype=np.int64)
        origins: list[tuple[NDArray[Any], NDArray[Any]]] = []
        places = [
            np.arange(each.cycles.size)
            if interval is None
            else np.flatnonzero(each.cycles <= interval)
            for each in self._choices
        ]
        if any(not own.size for own in places):
            return None
        least = [
            each.resources[own].min(axis=0) for each, own in zip(self._choices, places, strict=True)
        ]
        rest = np.array(least).sum(axis=0)
        for each, own, lowest in zip(self._choices, places, least, strict=True):
            poll()
            rest = rest - lowest
            joined = (sums[:, None, :] + each.resources[own][None, :, :]).reshape(-1, sums.shape[1])
            within = np.flatnonzero((joined + rest <= bounds).all(axis=1))
            if not within.size:
                return None
            kept = within[front(joined[within])]
            origins.append((kept // own.size, own[kept % own.size]))
            sums = joined[kept]
        chosen = []
        for last in range(len(sums)):
            one, at = list[int](), last
            for before, choice in reversed(origins):
                one.append(int(choice[at]))
                at = int(before[at])
            chosen.append(one[::-1])
        return sums, chosen

    def _configuration(self, interval: int | None) -> Configuration | None:
        """The configuration within an interval that is least in the objective, or in all resources
        one after the other; None where there is none."""
        known = self._least_for(interval)
        if known is None:
            return None
        sums, chosen = known
        first = (
            [] if self._objective == INTERVAL else [sums[:, self._resources.index(self._objective)]]
        )
        best = int(np.lexsort([*sums.T[::-1], *first])[0])
        values: dict[str, int] = {}
        for axis, each, choice in zip(
            self._pipeline.space.axes, self._choices, chosen[best], strict=True
        ):
            names = [quantity.name for quantity in axis.quantities]
            values |= dict(zip(names, map(int, each.rows[choice]), strict=True))
        return Configuration(values)

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """The best configuration, after others on the way to it."""
        most = self._limits.get(INTERVAL)
        within = None if most is None else int(most // 1)
        intervals = np.unique(np.concatenate([each.cycles for each in self._choices]))
        if within is not None:
            intervals = intervals[intervals <= within]
        if self._objective != INTERVAL:
            yield self._configuration(within)
            self._proven = inf
            return
        low, high = 0, intervals.size  # below `low` nothing keeps to the limits, at `high` it does
        while low < high:
            middle = (low + high) // 2
            known = self._configuration(int(intervals[middle]))
            yield known
            low, high = (low, middle) if known is not None else (middle + 1, high)
            self._proven = float(intervals[low]) if low < intervals.size else inf
        self._proven = inf

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """No rows: the incumbents end with the optimum."""
        yield Block.empty(self._proven)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """No completions, as there are no rows."""
        return iter(())


def least_factors(weights: int) -> Integers:
    """The least reuse factor for each number of multipliers, ascending."""
    # with root² <= weights < (root + 1)², more than root + 1 multipliers mean a factor below that
    few = np.arange(1, isqrt(weights) + 2, dtype=np.int64)
    lanes = np.unique(np.concatenate((few, -(-weights // few))))
    return np.unique(-(-weights // lanes))


def front(points: Integers) -> Integers:
    """The rows of a table, sorted by their columns, that no other one is at most in every column;
    of equal ones the first."""
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    if points.shape[1] == 1:
        return order[:1]
    kept: list[int] = []
    if points.shape[1] == 2:
        before = np.minimum.accumulate(ordered[:, 1])
        better = np.concatenate(([True], ordered[1:, 1] < before[:-1]))
        return order[better]
    others = np.empty((0, points.shape[1]), dtype=points.dtype)
    for place, row in enumerate(ordered):
        if not len(others) or not (others <= row).all(axis=1).any():
            kept.append(place)
            others = ordered[kept]
    return order[kept]
