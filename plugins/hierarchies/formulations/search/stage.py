"""The stage of the edition ``timeloop``: labels up to the outermost mesh are its rows, completed by
what lies outside."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.errors import DisagreementError
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import below, least_double, near_extreme
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.stage import Block, Candidates, Cutoff
from ithaca.plugins.hierarchies.formulations.mapping import Slot, order_quantity
from ithaca.plugins.hierarchies.formulations.search.extension import (
    Extension,
    MappingStep,
    WideError,
)
from ithaca.plugins.hierarchies.formulations.search.mapping_boxes import MappingBoxes
from ithaca.plugins.hierarchies.formulations.search.option_table import (
    Tables,
    option_tables,
)
from ithaca.plugins.hierarchies.formulations.search.outer_levels import Position
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    PartialMappings,
    beginning,
    covered,
    joined,
)

#: Labels that are extended together: by a step, by the last one of rows, and outside it.
CHUNK, ROWS, COMPLETED = 1 << 17, 1 << 13, 1 << 11

#: Mappings that are evaluated at most where what is compared differs from the truth.
NEAR = 64

#: Labels that are kept at every boundary in the searches for first incumbents: wider ones follow
#: while they gain so much.
BEAMS, NARROW, GAIN = (50, 200, 1000, 5000, 25000), 200, 0.01

#: How many times as many are kept while a step is being decided, where bounds tell little; and most
#: of them.
MIDWAY, MOST_MIDWAY = 100, 1 << 18


@dataclass(frozen=True)
class LabelTrace:
    """The origin of labels at a boundary, and what they cover."""

    origin: Integers
    extents: NDArray[np.int32]
    order: NDArray[np.int16]


class TimeloopStage(Extension):
    """A problem on a hierarchy, from the multipliers outwards: rows are labels up to the outermost
    mesh."""

    #: Whether labels may be handed over to boxes: while nothing has come of them; and whether rows
    #: are of boxes.
    _labelled = _rows_of_boxes = False

    #: Whether boxes that have dual bounds are searched without labels where tables of tiles take
    #: long: for one of many problems that are mostly excluded at once.
    boxes_first = False

    #: The options of every loop that several problems share, if they do.
    shared: Tables | None = None

    @property
    def rounds(self) -> bool:
        """Whether what is compared may differ from the truth: where numbers are too large for
        floats."""
        return not self.hierarchy.exact

    @cached_property
    def _rows(self) -> list[tuple[PartialMappings, list[LabelTrace]]]:
        """Labels up to the outermost mesh, by block, with where they are from."""
        return []

    @cached_property
    def inner(self) -> int:
        """The number of steps that rows are decided by: up to the lanes of the outermost mesh."""
        lanes = [number for number, step in enumerate(self.steps) if step.lanes]
        return lanes[-1] + 1 if lanes else max(len(self.steps) - 2, 1)

    def _through(
        self, labels: PartialMappings, number: int, cutoff: Cutoff
    ) -> Generator[None, None, PartialMappings]:
        """`with_step` in parts, so that memory suffices."""
        parts = []
        for begin in range(0, labels.count, CHUNK):
            part = yield from self.with_step(
                labels.take(np.arange(begin, min(begin + CHUNK, labels.count))), number, cutoff()
            )
            part.row("origin")[:] += begin
            parts.append(part)
            yield
        return parts[0] if len(parts) == 1 else self.sifted(joined(parts), number, cutoff())

    def _final(self, labels: PartialMappings) -> Floats:
        """Whole numbers of complete mappings."""
        layout = labels.layout
        vector = np.zeros((self.goal.size, labels.count), labels.data.dtype)
        self.goal.add_leaks(vector, labels, 1, 0)
        vector[0] = labels.row("steps")
        vector[1] = covered(labels, np.ones_like(labels.rows("extent")))
        vector[2] = labels.row("lanes")
        counts = np.zeros((len(self.hierarchy.counts), labels.count), labels.data.dtype)
        for place, number in enumerate(layout.counts):
            pending = sum(labels.rows(item)[place] for item in layout.items)
            counts[number] = labels.rows("settled")[place] + pending - labels.rows("first")[place]
        vector[3 : 3 + len(self.goal.counts)] = counts[: len(self.goal.counts)]
        accesses = self.goal.accesses
        accesses.add(vector, counts[counts.shape[0] - len(accesses.shared) :], labels)
        return vector

    def _beam(
        self, width: int, known: Fraction | None
    ) -> Generator[None, None, tuple[Configuration, Fraction] | None]:
        """The best mapping that is found if few labels are kept at every boundary, if it is below
        what is known."""
        labels, traces = beginning(self.hierarchy), []
        for number in range(len(self.steps)):
            labels = yield from self.with_step(
                labels, number, known, min(MIDWAY * width, MOST_MIDWAY)
            )
            if labels.count > width and number + 1 < len(self.steps):
                labels = labels.take(
                    np.argsort(self.bound(labels, self.after(number)), kind="stable")[:width]
                )
            traces.append(_trace(labels))
            if not labels.count:
                return None
        vector = self._final(labels)
        place = int(self.goal.bounds(vector).argmin())
        value = self.goal.exact(vector[:, place])
        return (
            None
            if value is None
            else (self._checked(self._configuration(traces, place), value), value)
        )

    @cached_property
    def least(self) -> float:
        """The bound of nothing decided, as far as it is known at once."""
        return float(self.bound(beginning(self.hierarchy), Position(self.steps[0].level)).min())

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """The best that narrow searches find."""
        known = first = cutoff()
        if hurried and first is None and (dive := (yield from self._beam(1, None))) is not None:
            yield dive[0]
        for width in BEAMS:
            best, before = (yield from self._beam(width, known)), known
            if best is not None:
                known = best[1]
            yield None if best is None else best[0]
            # narrow ones may well find nothing better, or nothing
            gained = known is not None and (before is None or known <= before * Fraction(1 - GAIN))
            if not gained and (best is not None or width > NARROW or known == first is not None):
                break

    @cached_property
    def _boxes(self) -> MappingBoxes | None:
        """The search that goes on where labels are many, if it is one for this problem."""
        return MappingBoxes.of(self, self.mapped, self.shared or option_tables)

    @property
    def hands_over(self) -> bool:
        return self._labelled and self._boxes is not None

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Labels up to the outermost mesh; where these become too many, boxes of mappings, or at
        once (`boxes_first`)."""
        least, rough = -inf, self._proving.outer.shape != self.bounds.outer.shape
        if self.boxes_first and rough and cutoff() is not None:
            least = self.least
            yield Block.empty(least)  # whoever asks for no more has no boxes made
            self.hierarchy.within = self.goal.within(cutoff())
            self._rows_of_boxes = self._boxes is not None and self._boxes.dual
        try:
            self._labelled = not self._rows_of_boxes
            for block in self._labels(cutoff) if self._labelled else ():
                self._labelled &= not block.bounds.size
                least = max(least, block.rest)
                yield block
        except WideError:  # its labels are let go of before anything else is done
            self._labelled, self._rows_of_boxes = False, True
        if self._rows_of_boxes:
            assert self._boxes is not None
            for block in self._boxes.blocks(cutoff):
                yield Block(block.rows, block.bounds, max(least, block.rest))

    def _labels(self, cutoff: Cutoff) -> Iterator[Block]:
        """Labels up to the outermost mesh."""
        if self._proving.outer.shape != self.bounds.outer.shape:
            for _ in self._proving.outer.made():
                yield Block.empty(self.least)
            self.bounds = self._proving
        self.hierarchy.within = self.goal.within(cutoff())
        labels, traces = beginning(self.hierarchy), list[LabelTrace]()
        bounds = self.bound(labels, Position(self.steps[0].level), cutoff())
        least = float(bounds.min())
        yield Block.empty(least)
        for number in range(self.inner - 1):
            labels = yield from _paused(self._through(labels, number, cutoff), least)
            bounds = self.bound(labels, self.after(number), cutoff())
            open_ = bounds < least_double(cutoff())
            labels, bounds = labels.take(open_), bounds[open_]
            traces.append(_trace(labels))
            if not labels.count:
                break
            least = max(least, float(bounds.min()))
        number, self._labelled = self.inner - 1, False
        order = np.argsort(bounds, kind="stable")
        for begin in range(0, order.size, ROWS):
            part = order[begin : begin + ROWS]
            if not bounds[part[0]] < least_double(cutoff()):
                break
            made = yield from _paused(
                self.with_step(labels.take(part), number, cutoff()),
                max(least, float(bounds[part[0]])),
            )
            made.row("origin")[:] = part[made.row("origin").astype(np.int64)]
            self._rows.append((made, [*traces, _trace(made)]))
            rows = np.stack(
                [np.full(made.count, len(self._rows) - 1), np.arange(made.count)], axis=1
            )
            rest = float(bounds[order[begin + ROWS]]) if begin + ROWS < order.size else inf
            self._rounded(cutoff)
            yield Block(rows, self.bound(made, self.after(number), cutoff()), max(least, rest))
        self._rounded(cutoff)
        yield Block.empty(inf)

    def _rounded(self, cutoff: Cutoff) -> None:
        """Remember what rounding may have hidden so far."""
        if not self.hierarchy.exact and (known := cutoff()) is not None:
            self.dropped = min(self.dropped, Fraction(below(known)))

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The best mappings that extend rows."""
        if self._rows_of_boxes:
            assert self._boxes is not None
            yield from self._boxes.complete(rows, cutoff)
            return
        for block in np.unique(rows[:, 0]):
            labels, traces = self._rows[int(block)]
            places = rows[rows[:, 0] == block, 1]
            yield from self._finished(labels.take(places), self.inner, [*traces], places, cutoff)

    def _finished(
        self,
        labels: PartialMappings,
        number: int,
        traces: list[LabelTrace],
        places: Integers,
        cutoff: Cutoff,
    ) -> Candidates:
        """The best mappings that extend labels, which are the ``places`` of the last trace."""
        if number == len(self.steps):
            yield from self._evaluated(labels, traces, places, cutoff)
            return
        for begin in range(0, labels.count, COMPLETED):
            part = labels.take(np.arange(begin, min(begin + COMPLETED, labels.count)))
            made = yield from self.with_step(part, number, cutoff())
            made.row("origin")[:] = places[begin + made.row("origin").astype(np.int64)]
            yield None
            if made.count:
                yield from self._finished(
                    made, number + 1, [*traces, _trace(made)], np.arange(made.count), cutoff
                )

    def _evaluated(
        self,
        labels: PartialMappings,
        traces: Sequence[LabelTrace],
        places: Integers,
        cutoff: Cutoff,
    ) -> Iterator[Configuration]:
        """The best of complete mappings, if it is below the cutoff."""
        vector = self._final(labels)
        bounds = self.goal.without_ties(vector, self.goal.bounds(vector), cutoff())
        order = np.argsort(bounds, kind="stable")
        if not bounds[order[0]] < least_double(cutoff()):
            return
        tied = (
            bounds < least_double(cutoff()) if self.rounds else near_extreme(bounds, high=False)[1]
        )
        near = order[tied[order]]
        near = near[
            np.sort(np.unique(self.goal.told_apart(vector[:, near]), axis=1, return_index=True)[1])
        ]
        values = [
            (value, int(place))
            for place in near
            if (value := self.goal.exact(vector[:, place])) is not None
        ]
        if values:
            value, place = min(values)
            if self.rounds:  # what is worse than this in what is compared may be as good in truth
                self.dropped = min(
                    self.dropped, value if self.hierarchy.exact else Fraction(below(value))
                )
            for chosen in [each for _, each in sorted(values)][:NEAR] if self.rounds else [place]:
                yield self._checked(self._configuration(traces, int(places[chosen])), value)

    def _checked(self, configuration: Configuration, value: Fraction) -> Configuration:
        """A configuration, if the reference gives it the value that the search has: else what it
        proves is worth nothing."""
        reference = self.problem.feasible_value(configuration)
        if reference != value and not self.rounds:
            computed = "infeasible" if reference is None else f"{float(reference):,.10g}"
            raise DisagreementError(
                f"the search computes {float(value):,.10g}, the model {computed}; "
                "please report this"
            )
        return configuration

    def mapped(self, extents: Floats, orders: Sequence[int], value: Fraction) -> Configuration:
        """The mapping whose loops cover so much by every step, innermost first, in these orders of
        every level.

        Parameters
        ----------
        extents : ndarray
            Shape (steps, loops).
        orders : sequence of int
            By level, which of its orders.
        value : Fraction
            Its objective, which the reference must give it, too.
        """
        traces = [
            LabelTrace(
                np.zeros(1, np.int64),
                own.astype(np.int32)[:, None],
                np.full(1, 0 if step.lanes else orders[step.level], np.int16),
            )
            for step, own in zip(self.steps, extents, strict=True)
        ]
        return self._checked(self._configuration(traces, 0), value)

    def _configuration(self, traces: Sequence[LabelTrace], place: int) -> Configuration:
        """The mapping of a label of the last trace."""
        hierarchy = self.hierarchy
        steps: list[tuple[MappingStep, NDArray[np.int32], int]] = []
        for step, trace in zip(reversed(self.steps), reversed(traces), strict=True):
            steps.append((step, trace.extents[:, place], int(trace.order[place])))
            place = int(trace.origin[place])
        inner = np.ones(len(hierarchy.loops), np.int64)
        values: dict[str, int] = {}
        lanes: list[tuple[MappingStep, list[int]]] = []
        for step, extents, order in reversed(steps):
            name = hierarchy.levels[step.level].name
            chosen = (extents // inner).tolist()
            inner = extents.astype(np.int64)
            if step.lanes:
                lanes.append((step, chosen))
                continue
            values |= {
                Slot(name).quantity(loop): n
                for loop, n in zip(hierarchy.loops, chosen, strict=True)
            }
            if len(hierarchy.orders[step.level]) > 1:
                values[order_quantity(name)] = order + 1
        ways = [
            [self.along(step, loop) for loop in range(len(hierarchy.loops))] for step, _ in lanes
        ]
        for (step, chosen), along in zip(
            lanes, self.layouts.split([n for _, n in lanes], ways), strict=True
        ):
            name = hierarchy.levels[step.level].name
            for loop, n, upward in zip(hierarchy.loops, chosen, along, strict=True):
                values[Slot(name, "x").quantity(loop)] = 1 if upward else n
                values[Slot(name, "y").quantity(loop)] = n if upward else 1
        return Configuration(
            {quantity: values[quantity] for quantity in self.problem.space.quantities}
        )


def _trace(labels: PartialMappings) -> LabelTrace:
    return LabelTrace(
        labels.row("origin").astype(np.int64),
        labels.rows("extent").astype(np.int32),
        labels.row("order").astype(np.int16),
    )


def _paused(
    steps: Generator[None, None, PartialMappings], least: float
) -> Generator[Block, None, PartialMappings]:
    """The result of a computation, with an empty block at each of its pauses."""
    try:
        while True:
            next(steps)
            yield Block.empty(least)
    except StopIteration as end:
        labels: PartialMappings = end.value
        return labels
