"""Branch and bound over all rows of all axes, in nested ranges that hardware tells apart first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS
from ithaca.formulations.algebra.rounding import largest_double, least_double, next_below, on_grid
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Axis, Role, Rows
from ithaca.solver.best_first import BestFirst
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.enumeration.compiled import compiled
from ithaca.solver.exact.search import ProvingSearch, SearchState, check_bound
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.small import MOST_CONFIGURATIONS
from ithaca.solver.tables.configurations import exact_quantities
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.table import CandidateTable, picked

#: Weight of hardware beside what else tells rows apart.
HARDWARE_FIRST = 1000.0


@dataclass(frozen=True)
class Ranges:
    """Rows of an axis in ranges, each halved again and again; the first is of all rows."""

    rows: Rows
    """The rows, hardware first."""
    ends: Floats
    """Both ends of every column on every range, shape (2 * columns, ranges)."""
    left: NDArray[np.int64]
    """The first half of a range, the second is the next one; 0 for single rows."""
    first: NDArray[np.int64]
    """The first row of a range."""
    spread: Floats
    """How much rows of a range differ; 0 for single rows."""


def in_order(axis: Axis, rows: Rows) -> NDArray[np.int64]:
    """An order of rows: by hardware, then by the number of tiles, by ports, and by the rest."""
    names = [q.name for q in axis.quantities if q.role is Role.HARDWARE]
    names += [] if axis.cut is None else [axis.cut.count]
    names += [q.name for q in axis.quantities if q.role is Role.PORT]
    names += [q.name for q in axis.quantities if q.name not in names]
    return np.lexsort([rows[name] for name in reversed(names)])


def ranges_of(axis: Axis, rows: Rows, values: Floats) -> Ranges:
    """The ranges of rows, at least one, with the ends of their columns.

    Parameters
    ----------
    axis : Axis
        The axis.
    rows : Rows
        Its rows.
    values : Floats
        Both ends of every column on the rows.
    """
    order = in_order(axis, rows)
    rows, values = {name: v[order] for name, v in rows.items()}, values[:, order]
    count = order.size
    hardware = [rows[q.name] for q in axis.quantities if q.role is Role.HARDWARE]
    new = np.zeros(count, bool)
    new[:1] = True
    for column in hardware:
        new[1:] |= column[1:] != column[:-1]
    group = np.cumsum(new) - 1
    edges = np.append(np.flatnonzero(new), count)
    levels = [(np.zeros(1, np.int64), np.full(1, count))]
    lefts, made = [], 1
    while True:
        low, high = levels[-1]
        inner = np.flatnonzero(high - low > 1)
        left = np.zeros(low.size, np.int64)
        left[inner] = made + 2 * np.arange(inner.size)
        lefts.append(left)
        if not inner.size:
            break
        made += 2 * inner.size
        low, high = low[inner], high[inner]
        middle = (low + high) // 2
        # where hardware differs it is cut there
        start, end = edges[group[middle]], edges[group[middle] + 1]
        cut = np.where(start > low, start, np.where(end < high, end, middle))
        levels.append((np.stack([low, cut], 1).ravel(), np.stack([cut, high], 1).ravel()))
    first = np.concatenate([level[0] for level in levels])
    left = np.concatenate(lefts)
    ends = np.empty((values.shape[0], left.size))
    single = left == 0
    ends[:, single] = values[:, first[single]]
    wide = [np.log(v) for v in hardware]
    differ = np.zeros((2 * len(wide), left.size))
    for n, column in enumerate(wide):
        differ[2 * n : 2 * n + 2, single] = column[first[single]]
    begin = left.size
    for own in reversed(lefts):
        begin -= own.size
        inner = begin + np.flatnonzero(own)
        child = left[inner]
        for all_ends in (ends, differ):
            all_ends[::2, inner] = np.minimum(all_ends[::2, child], all_ends[::2, child + 1])
            all_ends[1::2, inner] = np.maximum(all_ends[1::2, child], all_ends[1::2, child + 1])
    spread = (np.log1p(np.abs(ends[1::2])) - np.log1p(np.abs(ends[::2]))).sum(0)
    spread = np.abs(spread) + HARDWARE_FIRST * (differ[1::2] - differ[::2]).sum(0)
    spread[~single] = np.maximum(spread[~single], 1e-6)
    spread[single] = 0
    return Ranges(rows, ends, left, first, spread)


#: Boxes bounded at once.
BATCH = 1 << 13


@dataclass(frozen=True)
class Most:
    """Amounts of work beyond which a problem is left to other engines."""

    rows: int = 1 << 20
    """Rows of an axis that may be part of something better."""
    boxes: int = 1 << 26
    """Boxes in all."""
    evaluated: int = 1 << 13
    """Configurations that the exact reference evaluates."""


#: What an enumeration may take where it is all that is wanted.
MOST = Most()

#: A range of each axis, shape (axes, boxes).
Boxes = NDArray[np.int64]

#: Rows of an axis, with both ends of its columns.
Part = tuple[Rows, Floats]


class Enumeration(ProvingSearch):
    """One enumeration."""

    def __init__(
        self,
        problem: Problem,
        options: SolveOptions,
        report: Report | None = None,
        most: Most = MOST,
    ) -> None:
        super().__init__(problem, options, report)
        self._most, self._rival = most, options.rival
        self._checkpoint = options.checkpoint()
        self._evaluated = 0
        space, symbolic = problem.space, problem.symbolic()
        if space.definitions:
            raise _not_for_this("rules across axes define quantities")
        limits = [*symbolic.constraints, *((rule, Fraction(0)) for rule in space.inequalities)]
        programs = compiled(space, [*(e for e, _ in limits), symbolic.objective])
        self._columns = programs.columns
        self._used = sorted(
            ((programs.program(e), largest_double(bound)) for e, bound in limits),
            key=lambda pair: len(pair[0].operations),
        )
        self._objective = programs.program(symbolic.objective)
        self._step = granularity(symbolic.objective, space.powers)
        self._axes: list[Ranges] = []
        self._open: BestFirst[float, tuple[Boxes, Floats]] = BestFirst()
        self.state.lower_bound = problem.floor

    def prepare(self) -> None:
        """Find the rows that may be part of something better than what is known."""
        if not self._columns:
            self.offer(Configuration({}))
            return
        hulls = [columns.whole for columns in self._columns]
        *others, widest = sorted(range(len(hulls)), key=self._rows_of)
        steps = [(number, whole) for number in others for whole in (False, True)]
        again = [(number, True) for number in others]
        steps += [(widest, False), *again, (widest, True), *again]
        parts: dict[int, Part] = {}
        for number, whole in steps:
            kept, count = [], 0
            for rows, values in self._left(number, hulls, parts.get(number), whole=whole):
                count += values.shape[1]
                if count > self._most.rows:
                    raise _not_for_this(f"more than {self._most.rows:,} rows of an axis are left")
                kept.append((rows, values))
            if not count:
                return
            parts[number] = _joined(kept)
            hulls[number] = _hull(parts[number][1])
        self._axes = [ranges_of(c.axis, *parts[n]) for n, c in enumerate(self._columns)]
        self._keep(np.zeros((len(self._axes), 1), np.int64), np.full(1, -inf))

    def run(self) -> SearchState:
        """Search until proven, or until the options say to stop; may be called again to go on.

        The time limit is that of this call; the seconds of the state are those of all calls.
        """
        began, state = time.perf_counter(), self.state
        before, first = state.seconds, state.boxes
        self._checkpoint = self.options.checkpoint()
        while self._open:
            spent = time.perf_counter() - began
            state.seconds, least = before + spent, self._open.least
            known = [state.lower_bound, self._floor]
            known += [on_grid(Fraction(least), self._step) if least > -inf else None]
            bounds = [bound for bound in known if bound is not None]
            if bounds:
                floor = max(bounds)
                state.lower_bound = floor if state.value is None else min(floor, state.value)
            if self._ends(spent, state.boxes - first):
                return state
            if state.boxes > self._most.boxes or self._evaluated > self._most.evaluated:
                raise _not_for_this(f"more than {self._most.boxes:,} boxes")
            part = self._open.pop()
            try:
                self._split(*part[1])
            except StoppedError:
                self._open.push(*part)  # some of it was not looked at
                return state
        state.seconds = before + time.perf_counter() - began
        state.complete = self._target == state.value
        state.lower_bound = self._target
        return state

    def close_all(self) -> None:
        """Drop all that is open: no configuration meets the limits, as proven elsewhere."""
        check_bound(self.problem, self.state.value, None, infeasible=True)
        self._open.clear()

    # -- rows --------------------------------------------------------------------------

    def _rows_of(self, number: int) -> int:
        """About how many rows an axis has."""
        return max(high for _, high in self._columns[number].axis.ranges.values())

    def _left(
        self, number: int, hulls: Sequence[Floats], known: Part | None, *, whole: bool
    ) -> Iterator[Part]:
        """The rows of an axis that may be part of an improvement, some at a time, without making
        those that extend rows of which no extension is.

        Parameters
        ----------
        number : int
            The axis.
        hulls : sequence of array
            What the columns of each axis are between.
        known : Part, optional
            Its families or rows as far as others were left out before; by default all families.
        whole : bool
            Whether rows are made of families.
        """
        columns = self._columns[number]

        def some(rows: Rows, ends: Callable[[Rows], Floats]) -> Iterator[Part]:
            for begin in range(0, next(iter(rows.values())).size, BATCH):
                self._checkpoint()
                part = {name: values[begin : begin + BATCH] for name, values in rows.items()}
                values = ends(part)
                each = [v for n, h in enumerate(hulls) for v in (values if n == number else h)]
                open_, _ = self._examine(each, values.shape[1])
                yield {name: v[open_] for name, v in part.items()}, picked(values, open_)

        def sieve(rows: Rows) -> Rows:
            later = columns.axis.quantities[len(rows)].name
            if later in columns.axis.definitions or not next(iter(rows.values())).size:
                return rows  # what follows from a row does not multiply it
            return _joined([*some(rows, columns.extended)])[0]

        made: Iterable[Rows]
        if known is None:
            made = columns.families.rows(sieve)
        else:
            made = columns.axis.extended(known[0], sieve) if whole else [known[0]]
        for rows in made:
            yield from some(rows, columns.values if whole else columns.extended)

    # -- boxes -------------------------------------------------------------------------

    @property
    def _target(self) -> Fraction | None:
        """The value that only what is less improves on: the incumbent's, or that of a rival."""
        known = (self.state.value, self._rival)
        return min((value for value in known if value is not None), default=None)

    @property
    def _cutoff(self) -> float:
        """Boxes whose bound is above this hold no improvement."""
        target = self._target
        if target is None:
            return inf
        if self._step:
            return least_double(on_grid(target, self._step) - self._step)
        return next_below(least_double(target))

    def _examine(self, ends: Sequence[Floats], count: int) -> tuple[Mask, Floats]:
        """Whether boxes may hold an improvement, and the bounds of those that keep the limits; inf
        of others.

        Parameters
        ----------
        ends : sequence of array
            Both ends of all columns, one after the other, of each box or of all.
        count : int
            The number of boxes.
        """
        self.state.boxes += count
        places, bounds = np.arange(count), np.full(count, inf)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            for program, limit in self._used:  # the shortest first: others see what that leaves
                (used,) = program.run(ends)
                within = np.broadcast_to(np.logical_not(used > limit), places.shape)
                if not within.all():
                    places = places[within]
                    ends = [e[within] if np.ndim(e) else e for e in ends]
            (own,) = self._objective.run(ends)
        bounds[places] = np.where(np.isnan(own), -inf, own)
        open_ = np.zeros(count, bool)
        open_[places] = bounds[places] <= self._cutoff
        return open_, bounds

    def _split(self, boxes: Boxes, bounds: Floats) -> None:
        """Halve boxes that may still hold an improvement, each along the axis whose rows differ
        most, and keep those that may."""
        boxes = boxes[:, bounds <= self._cutoff]
        spread = np.stack([axis.spread.take(own) for axis, own in self._with(boxes)])
        widest = spread.argmax(axis=0)
        halves = np.repeat(boxes, 2, axis=1)
        for number, axis in enumerate(self._axes):
            mine = np.flatnonzero(widest == number)
            left = axis.left.take(boxes[number, mine])
            halves[number, 2 * mine], halves[number, 2 * mine + 1] = left, left + 1
        for begin in range(0, halves.shape[1], BATCH):
            part = halves[:, begin : begin + BATCH]
            ends = [end.take(own) for axis, own in self._with(part) for end in axis.ends]
            open_, own = self._examine(ends, part.shape[1])
            self._keep(part[:, open_], own[open_])

    def _keep(self, boxes: Boxes, bounds: Floats) -> None:
        """Evaluate single configurations, and keep other boxes open."""
        left = np.stack([axis.left.take(own) for axis, own in self._with(boxes)])
        single = ~left.any(axis=0)
        order = np.flatnonzero(single)[np.argsort(bounds[single], kind="stable")]
        self._judge(boxes[:, order], bounds[order])
        if (order := np.flatnonzero(~single)).size:
            self._open.push(float(bounds[order].min()), (boxes[:, order], bounds[order]))

    def _judge(self, boxes: Boxes, bounds: Floats) -> None:
        """Evaluate single configurations, the least bound first: where doubles cannot tell them
        from the incumbent, as on a plateau, those that are left all at once."""
        judged = None
        while boxes.shape[1] and bounds[0] <= self._cutoff:
            before = self.state.value
            self._evaluated += 1
            self.offer(self._configuration(boxes[:, 0]))
            boxes, bounds = boxes[:, 1:], bounds[1:]
            value = self.state.value
            if value is not None and value == before != judged:
                left = np.count_nonzero(bounds <= self._cutoff)
                less, judged = self._less(boxes[:, :left], value), value
                boxes, bounds = boxes[:, less], bounds[less]

    def _less(self, boxes: Boxes, value: Fraction) -> list[int]:
        """The places of the single configurations of an objective below a value, the least
        first."""
        less: list[tuple[Fraction, int]] = []
        symbolic = self.problem.symbolic()
        for begin in range(0, boxes.shape[1], BATCH):
            self._checkpoint()
            part = boxes[:, begin : begin + BATCH]
            rows = np.stack([axis.first.take(own) for axis, own in self._with(part)])
            exact = exact_quantities(self.problem.space, self._tables, rows)
            values = symbolic.objective.evaluate(exact, RATIONAL_ARRAYS).entries(part.shape[1])
            each = [Fraction(*entry) for entry in values]
            less += [(own, begin + n) for n, own in enumerate(each) if own < value]
        return [place for _, place in sorted(less)]

    def _with(self, boxes: Boxes) -> Iterator[tuple[Ranges, NDArray[np.int64]]]:
        """The axes with their ranges in some boxes."""
        return zip(self._axes, boxes, strict=True)

    @property
    def _tables(self) -> list[CandidateTable]:
        """The rows of all axes."""
        axes = zip(self._columns, self._axes, strict=True)
        return [CandidateTable(c.axis, (), own.rows, np.empty((0, 0))) for c, own in axes]

    def _configuration(self, box: NDArray[np.int64]) -> Configuration:
        values: dict[str, int] = {}
        for axis, place in zip(self._axes, box, strict=True):
            values |= {name: int(own[axis.first[place]]) for name, own in axis.rows.items()}
        return Configuration(values)


def _not_for_this(why: str) -> NotExpressibleError:
    return NotExpressibleError(f"enumeration: {why}; use another method")


def _hull(values: Floats) -> Floats:
    """The least lower and the largest upper end of each column."""
    hull = np.empty(values.shape[0])
    hull[::2], hull[1::2] = values[::2].min(axis=1), values[1::2].max(axis=1)
    return hull


def _joined(parts: Sequence[Part]) -> Part:
    rows = {name: np.concatenate([own[name] for own, _ in parts]) for name in parts[0][0]}
    return rows, np.concatenate([values for _, values in parts], axis=1)


def prepared(
    problem: Problem, options: SolveOptions, start: Configuration | None
) -> Enumeration | None:
    """An enumeration of a small space; None if the problem is more than can be enumerated.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, gap and interruption.
    start : Configuration or None
        A configuration to begin with.
    """
    try:
        # all of it may be evaluated: nobody takes over from here
        search = Enumeration(problem, options, most=Most(evaluated=MOST_CONFIGURATIONS))
        if start is not None:
            search.offer(start)
        search.prepare()
    except NotExpressibleError:
        return None
    return search
