"""Plans that cut layers into stages, each on an array of its own, within one budget of DSP blocks,
block RAM and bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import all_below, next_below
from ithaca.formulations.question import Minimise

#: Options compared with each other at once, and pairs of options joined at once.
BLOCK, CHUNK = 256, 1 << 20


@dataclass(frozen=True)
class Options:
    """Options of a stage, or of several, with lower bounds of what each takes; all of shape
    (options,)."""

    dsp: Floats
    """DSP blocks."""
    bram18k: Floats
    """Block RAM."""
    bandwidth: Floats
    """Bandwidth."""
    value: Floats
    """The objective."""
    choice: Integers
    """Number of the choice."""

    @property
    def size(self) -> int:
        """The number of options."""
        return self.dsp.size

    def only(self, kept: Mask | Integers) -> Options:
        """The options at some indices, or where a mask holds."""
        return Options(*(column[kept] for column in self._columns))

    @classmethod
    def joined(cls, parts: Sequence[Options]) -> Options:
        """All of several, one after the other; of at least one."""
        return cls(*map(np.concatenate, zip(*(part._columns for part in parts), strict=True)))

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.dsp, self.bram18k, self.bandwidth, self.value, self.choice

    @property
    def front(self) -> Options:
        """The options that no other one equals or betters in all four respects, DSP blocks
        ascending; of equal ones, one."""
        kept = np.zeros(0, np.int64)
        for bandwidth in np.unique(self.bandwidth):
            own = np.flatnonzero(self.bandwidth == bandwidth)
            own = own[_not_dominated(self.dsp[own], self.bram18k[own], self.value[own])]
            kept = np.concatenate([kept, own[~self._surpassed(own, kept)]])
        return self.only(kept[np.argsort(self.dsp[kept], kind="stable")])

    def _surpassed(self, some: Integers, others: Integers) -> Mask:
        """A mask of some options: those no better in DSP blocks, block RAM and value than one of
        others."""
        columns = (self.dsp, self.bram18k, self.value)
        surpassed = np.zeros(some.size, bool)
        for begin in range(0, some.size if others.size else 0, BLOCK):
            part = some[begin : begin + BLOCK]
            surpassed[begin : begin + BLOCK] = np.logical_and.reduce(
                [column[others][None, :] <= column[part][:, None] for column in columns]
            ).any(axis=1)
        return surpassed


def _not_dominated(first: Floats, second: Floats, third: Floats) -> Integers:
    """Places of the rows that no other row is at most equal to in all three; of equal rows one."""
    order = np.lexsort((third, second, first))
    # the best of what comes earlier: third descending as second ascends
    steps, least = np.array([-inf]), np.array([inf])
    kept = []
    for begin in range(0, order.size, BLOCK):
        own = order[begin : begin + BLOCK]
        own = own[least[np.searchsorted(steps, second[own], side="right") - 1] > third[own]]
        b, c = second[own], third[own]
        earlier = (
            np.tri(own.size, k=-1, dtype=bool)
            & (b[None, :] <= b[:, None])
            & (c[None, :] <= c[:, None])
        )
        own = own[~earlier.any(axis=1)]
        kept.append(own)
        steps, least = np.concatenate([steps, second[own]]), np.concatenate([least, third[own]])
        by = np.lexsort((least, steps))
        steps, least = steps[by], np.minimum.accumulate(least[by])
    return np.concatenate(kept) if kept else order


@dataclass(frozen=True)
class PlannedStage:
    """A stage of a plan."""

    first: int
    """Its layers, the end exclusive."""
    end: int
    choice: int
    """Number of its choice."""
    bram18k: int
    """Block RAM that it takes at least."""
    bandwidth: int = 0
    """Bandwidth that it takes at least."""


@dataclass(frozen=True)
class Plan:
    """Stages in order, and the bound of what they do together."""

    parts: tuple[PlannedStage, ...]
    value: float


@dataclass(frozen=True)
class ArrayLimits:
    """Limits of all arrays together, as doubles that are not above them."""

    dsp: float
    bram18k: float
    bandwidth: float = inf

    def share(self, dsp: Floats, bram18k: Floats) -> Floats:
        """Half of the one share and half of the other: at most 1 of what is within both; rounded
        down."""
        return all_below(dsp / max(self.dsp, 1.0) + bram18k / max(self.bram18k, 1.0)) / 2


class Needs:
    """The least of something that stages need together: all up to a layer, and all from one on, on
    up to so many arrays."""

    def __init__(
        self,
        of: Callable[[Options], Floats],
        most: float,
        way: Minimise,
        least: Floats,
        arrays: int,
    ) -> None:
        self.of, self.most, self._joined = of, most, way.joined
        layers = least.shape[0] - 1
        before, after = np.full(layers + 1, inf), np.full((arrays + 1, layers + 1), inf)
        before[0] = after[:, layers] = way.nothing
        for count in range(1, arrays + 1):
            if count < arrays:
                before = np.minimum(before, np.min(self._joined(before[:, None], least), axis=0))
            after[count] = np.minimum(
                after[count - 1], np.min(self._joined(least, after[count - 1][None, :]), axis=1)
            )
        self._before, self.after = before, after

    def allows(self, options: Options, first: int, end: int) -> Mask:
        """Whether an option of a stage may be part of a plan.

        Parameters
        ----------
        options : Options
            What the stage may run on.
        first : int
            The number of its first layer.
        end : int
            The number of the layer after its last.

        Returns
        -------
        Mask
            Shape (options).
        """
        around = self._joined(self._before[first], self.after[-1, end])
        within: Mask = self._joined(self.of(options), around) <= self.most
        return within

    def completes(self, options: Options, end: int, arrays: int) -> Mask:
        """Whether what leads to a layer may go on to the last one, on so many more arrays.

        Parameters
        ----------
        options : Options
            What leads to the layer.
        end : int
            The number of the first layer that is left.
        arrays : int
            How many more arrays there may be.

        Returns
        -------
        Mask
            Shape (options).
        """
        within: Mask = self._joined(self.of(options), self.after[arrays, end]) <= self.most
        return within


def best_plan(
    stages: Mapping[tuple[int, int], Options],
    layers: int,
    arrays: int,
    budget: ArrayLimits,
    minimise: Minimise,
    below: float,
) -> Plan | None:
    """The best way to cut layers into consecutive stages, each on an array of its own, within a
    budget.

    ``stages`` has the options of every stage by its first layer and its end. Plans not better than
    ``below`` are not found.

    Parameters
    ----------
    stages : mapping of tuple of int, int to Options
        The options of every stage, by its first layer and the one after its last.
    layers : int
        How many layers there are.
    arrays : int
        How many arrays there may be.
    budget : Budget
        DSP blocks, block RAM and bandwidth of all arrays together.
    minimise : Minimise
        Whether values of stages add up, or the largest counts.
    below : float
        Plans that are not better than this are not looked for.
    """
    measures: tuple[tuple[Callable[[Options], Floats], float, Minimise], ...] = (
        (lambda o: o.dsp, budget.dsp, Minimise.TOTAL),
        (lambda o: o.bram18k, budget.bram18k, Minimise.TOTAL),
        (lambda o: o.bandwidth, budget.bandwidth, Minimise.TOTAL),
        (lambda o: budget.share(o.dsp, o.bram18k), 1.0, Minimise.TOTAL),
        (lambda o: o.value, next_below(below), minimise),
    )
    least = np.full(
        (len(measures), layers + 1, layers + 1), inf
    )  # by first layer and end; infinite: there is no such stage
    for (first, end), options in stages.items():
        if (open_ := options.only(options.value < below)).size:
            least[:, first, end] = [of(open_).min() for of, _, _ in measures]
    needs = [
        Needs(*measure, values, arrays) for measure, values in zip(measures, least, strict=True)
    ]
    within = {}
    for (first, end), options in stages.items():
        kept = options.only(
            np.logical_and.reduce([need.allows(options, first, end) for need in needs])
        )
        if kept.size:
            within[first, end] = kept.front
    zero = np.zeros(1)
    nothing = Options(zero, zero, zero, np.full(1, minimise.nothing), np.zeros(1, np.int64))
    reached: list[dict[int, _Reached]] = [{0: _Reached(nothing, np.zeros((1, 3), np.int64))}]
    best: tuple[float, int, int] | None = None
    for count in range(1, arrays + 1):
        step: dict[int, _Reached] = {}
        for end in range(1, layers + 1):
            parts = [
                (a, reached[-1][a].options, within[a, end])
                for a in reached[-1]
                if (a, end) in within
            ]
            if (extended := _extend(parts, needs, end, arrays - count, minimise)) is not None:
                step[end] = extended
        reached.append(step)
        if layers in step:
            values = step[layers].options.value
            place = int(np.argmin(values))
            if best is None or values[place] < best[0]:
                best = float(values[place]), count, place
    if best is None:
        return None
    value, count, place = best
    return Plan(_trace(reached, within, layers, count, place), value)


@dataclass(frozen=True)
class _Reached:
    """Plans for the first layers, and where each came from: first layer of its last stage, plan
    before, option."""

    options: Options
    back: Integers


def _extend(
    parts: list[tuple[int, Options, Options]],
    needs: list[Needs],
    end: int,
    arrays: int,
    minimise: Minimise,
) -> _Reached | None:
    extended, back = [], []
    for first, before, stage in parts:
        rows = max(CHUNK // stage.size, 1)
        for begin in range(
            0, before.size, rows
        ):  # few of these pairs fit, but all may be very many
            part = before.only(np.arange(begin, min(begin + rows, before.size)))
            joined = Options(
                np.add.outer(part.dsp, stage.dsp).ravel(),
                np.add.outer(part.bram18k, stage.bram18k).ravel(),
                np.add.outer(part.bandwidth, stage.bandwidth).ravel(),
                minimise.joined(part.value[:, None], stage.value).ravel(),
                np.arange(part.size * stage.size),
            )
            joined = joined.only(
                np.logical_and.reduce([need.completes(joined, end, arrays) for need in needs])
            )
            i, j = np.divmod(joined.choice, stage.size)
            extended.append(joined)
            back.append(np.stack([np.full(i.size, first), i + begin, j], axis=1))
    if not sum(options.size for options in extended):
        return None
    came = np.concatenate(back)
    front = replace(Options.joined(extended), choice=np.arange(len(came))).front
    return _Reached(front, came[front.choice])


def _trace(
    reached: list[dict[int, _Reached]],
    within: Mapping[tuple[int, int], Options],
    layers: int,
    count: int,
    place: int,
) -> tuple[PlannedStage, ...]:
    parts: list[PlannedStage] = []
    end = layers
    for step in range(count, 0, -1):
        first, before, chosen = (int(n) for n in reached[step][end].back[place])
        stage = within[first, end]
        choice, bram18k, bandwidth = (
            int(column[chosen]) for column in (stage.choice, stage.bram18k, stage.bandwidth)
        )
        parts.insert(0, PlannedStage(first, end, choice, bram18k, bandwidth))
        end, place = first, before
    return tuple(parts)
