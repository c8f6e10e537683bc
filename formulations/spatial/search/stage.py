"""The stage of the edition ``timeloop``: labels up to the outermost mesh are its rows, completed by
what lies outside."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.errors import DisagreementError
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import all_below, below, least_double, near_extreme
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.mapping import Slot, order_quantity
from ithaca.formulations.spatial.search.bounded_objective import BoundedObjective
from ithaca.formulations.spatial.search.bounds import Bounds
from ithaca.formulations.spatial.search.hierarchy import Hierarchy
from ithaca.formulations.spatial.search.meshes import Layouts
from ithaca.formulations.spatial.search.outer_levels import ROUGH, TILES, Position
from ithaca.formulations.spatial.search.pareto import undominated_labels
from ithaca.formulations.spatial.search.partial_mappings import (
    Matrix,
    PartialMappings,
    Vector,
    beginning,
    enter,
    fits,
    joined,
    repeat,
    spread,
)
from ithaca.formulations.stage import Block, Candidates, Cutoff

if TYPE_CHECKING:
    from ithaca.formulations.spatial.mapping_space import MappingSpace

#: Labels that are extended together.
CHUNK, COMPLETED = 1 << 17, 1 << 11

#: Labels that are made at once, and so many that it is worth dropping dominated ones while a step
#: is being decided.
SLICE, MANY = 1 << 16, 1 << 13

#: Bytes of labels beyond which only those of least bounds are kept: several copies of them are held
#: at times.
MEMORY = 192 << 20

#: Labels so few that bounding them is not worth its time.
FEW = 256

#: Mappings that are evaluated at most where what is compared differs from the truth.
NEAR = 64

#: Labels that are kept at every boundary in the searches for first incumbents: wider ones follow
#: while they gain so much.
BEAMS, NARROW, GAIN = (50, 200, 1000, 5000, 25000), 200, 0.01

#: How many times as many are kept while a step is being decided, where bounds tell little; and most
#: of them.
MIDWAY, MOST_MIDWAY = 100, 1 << 18


@dataclass(frozen=True)
class MappingStep:
    """A part of a mapping: the lanes inside a level, or its temporal loops in some order."""

    level: int
    lanes: bool


class Pauses:
    """Iterates the pauses of a computation, and has its result in the end."""

    def __init__(self, steps: Generator[None, None, PartialMappings]) -> None:
        self._steps = steps
        self.result: PartialMappings

    def __iter__(self) -> Iterator[None]:
        self.result = yield from self._steps


@dataclass(frozen=True)
class LabelTrace:
    """The origin of labels at a boundary, and what they cover."""

    origin: Integers
    extents: NDArray[np.int32]
    order: NDArray[np.int16]


class TimeloopStage:
    """A problem on a hierarchy, from the multipliers outwards."""

    def __init__(self, design: MappingSpace, problem: Problem, architecture: Architecture) -> None:
        self.design, self.problem = design, problem
        self.hierarchy = hierarchy = Hierarchy(
            design.nest, architecture, design.orders, divides=design.options.divisors_only
        )
        self.divisors = divisors = design.options.divisors_only
        self.goal = BoundedObjective(problem, hierarchy)
        #: Whether what is compared differs from the truth: where accesses are of several words,
        #: each counts its share of one; and numbers may be too large for floats.
        self.rounds = any(level.share < 1 for level in hierarchy.levels) or not hierarchy.exact
        self.least_lanes = float(design.constraints.least_used * architecture.compute.instances)
        self.layouts = Layouts(hierarchy.meshes, within_parent=design.options.within_parent)
        values = [self._values(n) for n in hierarchy.extents]
        #: Rough ones until those that the proof asks for are made.
        self.bounds = Bounds(hierarchy, self.layouts, values, divisors=divisors, tiles=ROUGH)
        self._proving = Bounds(hierarchy, self.layouts, values, divisors=divisors, tiles=TILES)
        self._rows: list[tuple[PartialMappings, list[LabelTrace]]] = []
        self.dropped: Fraction | float = inf  #: No mapping that was left out is below this

    @cached_property
    def steps(self) -> tuple[MappingStep, ...]:
        """All steps, innermost first."""
        meshes = {mesh.level for mesh in self.hierarchy.meshes}
        outwards = []
        for level in reversed(range(len(self.hierarchy.levels))):
            outwards += [MappingStep(level, True)] if level in meshes else []
            outwards.append(MappingStep(level, False))
        return tuple(outwards)

    @cached_property
    def inner(self) -> int:
        """How many steps rows are decided by: up to the lanes of the outermost mesh."""
        lanes = [number for number, step in enumerate(self.steps) if step.lanes]
        return lanes[-1] + 1 if lanes else max(len(self.steps) - 2, 1)

    def _values(self, extent: int) -> Vector:
        if self.divisors:
            return np.array([n for n in range(1, extent + 1) if extent % n == 0], float)
        return np.array(sorted({-(-extent // trips) for trips in range(1, extent + 1)}), float)

    def _choices(self, left: int, loop: int, step: MappingStep) -> Vector:
        """The factors that a step may give a loop of which so many trips are left."""
        level = self.hierarchy.levels[step.level].name
        span = self.design.constraints.factor(
            level, "spatial" if step.lanes else "temporal", self.hierarchy.loops[loop]
        )
        if step.level == 0 and not step.lanes:
            factors = [left]
        elif self.divisors:
            factors = [n for n in range(1, left + 1) if left % n == 0]
        else:
            factors = sorted({-(-left // q) for q in range(1, left + 1)})
        high = left if span.high is None else span.high
        if step.lanes:
            mesh = next(mesh for mesh in self.hierarchy.meshes if mesh.level == step.level)
            high = min(high, max(mesh.x, mesh.y))
        return np.array([n for n in factors if span.low <= n <= high], float)

    # -- bounds --------------------------------------------------------------------------

    def bound(
        self, labels: PartialMappings, at: Position, cutoff: Fraction | None = None
    ) -> Vector:
        """The least objective of all mappings that extend labels; infinite where it is not below a
        cutoff."""
        if not labels.count:
            return np.zeros(0)
        steps, runs, by_group = self.bounds.least(labels, at)
        vector = np.empty((self.goal.size, labels.count))
        vector[:3] = steps, runs * labels.rows("extent").prod(axis=0), labels.row("lanes")
        self.goal.add_leaks(vector, labels, runs, at.level + 1)
        least = np.full(labels.count, inf)
        for counts in by_group:
            for place, count in enumerate(counts):
                vector[3 + place] = np.ceil(all_below(count))  # counts are whole
            least = np.minimum(
                least, self.goal.without_ties(vector, self.goal.bounds(vector), cutoff)
            )
        return least

    def _final(self, labels: PartialMappings) -> Floats:
        """Whole numbers of complete mappings."""
        layout = labels.layout
        vector = np.zeros((self.goal.size, labels.count), labels.data.dtype)
        self.goal.add_leaks(vector, labels, 1, 0)
        vector[0] = labels.row("steps")
        vector[1] = labels.rows("extent").prod(axis=0)
        vector[2] = labels.row("lanes")
        for place, number in enumerate(layout.counts):
            pending = sum(labels.rows(item)[place] for item in layout.items)
            vector[3 + number] = (
                labels.rows("settled")[place] + pending - labels.rows("first")[place]
            )
        return vector

    # -- extensions ----------------------------------------------------------------------

    def _widened(
        self, labels: PartialMappings, loop: int, step: MappingStep
    ) -> tuple[NDArray[np.intp], Vector]:
        """Every label with every factor of a loop."""
        extent = self.hierarchy.extents[loop]
        left = -(-extent // labels.row("extent", loop)).astype(np.int64)
        if not left.size:
            return np.zeros(0, np.intp), np.zeros(0)
        kinds, which = np.unique(left, return_inverse=True)
        choices = [self._choices(int(kind), loop, step) for kind in kinds]
        counts = np.array([c.size for c in choices])[which]
        begins = np.cumsum([0, *(c.size for c in choices)])[:-1][which]
        origin = np.repeat(np.arange(labels.count), counts)
        offset = np.arange(origin.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return origin, np.concatenate(choices)[np.repeat(begins, counts) + offset]

    def _along(self, step: MappingStep, loop: int) -> str:
        """The directions along which lanes of a loop may lie."""
        level, name = self.hierarchy.levels[step.level].name, self.hierarchy.loops[loop]
        return "".join(way for way in "xy" if self.design.constraints.lies_along(level, name, way))

    def _lean(self, extents: Vector, widest: Vector, loop: int) -> Mask:
        """Which labels pad a loop no more than they must: no factor could be less with as many
        trips left."""
        extent = self.hierarchy.extents[loop]
        less = np.maximum(extents - extents / widest, 1)
        lean: Mask = -(-extent // less) > -(-extent // extents)
        lean |= widest == 1
        return lean

    def _extended(
        self,
        labels: PartialMappings,
        step: MappingStep,
        order: Sequence[int],
        cutoff: Fraction | None,
        most: int | None,
    ) -> Generator[None, None, PartialMappings]:
        """Labels with the loops of a step, one after the other, as far as they may be of interest;
        pauses now and then."""
        inner = labels.rows("extent").copy()
        for number, loop in enumerate(order):
            which, factor = self._widened(labels, loop, step)
            undecided = None if step.lanes else frozenset(order[number + 1 :])
            at, last = Position(step.level, step.lanes, undecided), number + 1 == len(order)
            parts, inners = [], []
            for begin in range(0, max(which.size, 1), SLICE):
                here = slice(begin, begin + SLICE)
                part, part_inner = self._with_loop(
                    labels, loop, step, which[here], factor[here], inner
                )
                if cutoff is not None and part.count > FEW:
                    # lanes are bounded better once none can be added
                    whole = step.lanes and last
                    through = replace(part, meshes=part.meshes + 1) if whole else part
                    open_ = self.bound(
                        through, Position(step.level) if whole else at, cutoff
                    ) < least_double(cutoff)
                    part, part_inner = part.take(open_), part_inner[:, open_]
                parts.append(part)
                inners.append(part_inner)
                if which.size > FEW:
                    yield
            labels, inner = joined(parts), np.concatenate(inners, axis=1)
            left: NDArray[np.intp] | None = None
            if most is not None and labels.count > most:
                left = np.argsort(self.bound(labels, at, cutoff), kind="stable")[:most]
            elif most is None and labels.data.nbytes > MEMORY:
                left = self._held(labels, at, cutoff)
            elif labels.count > MANY and not last and not (step.lanes and self._overlaps):
                left = self._better(labels, decided=False)
            if left is not None:
                labels, inner = labels.take(left), inner[:, left]
        return labels

    def _with_loop(
        self,
        labels: PartialMappings,
        loop: int,
        step: MappingStep,
        which: NDArray[np.intp],
        factor: Vector,
        inner: Matrix,
    ) -> tuple[PartialMappings, Matrix]:
        """Labels with one more loop, those of them that fit; and what their lanes in the present
        mesh cover each."""
        extents = labels.rows("extent")[:, which]
        extents[loop] *= factor
        legal = fits(self.hierarchy, extents, step.level)
        if not self.divisors:
            legal &= self._lean(
                extents[loop], np.maximum(labels.row("widest", loop)[which], factor), loop
            )
        if not step.lanes:
            return repeat(labels, loop, which[legal], factor[legal]), inner[:, which[legal]]
        state = self.layouts.add(labels.row("mesh")[which], factor, self._along(step, loop))
        legal &= state >= 0
        which = which[legal]
        made = spread(labels, loop, which, factor[legal], inner)
        made.row("mesh")[:] = state[legal]
        return made, inner[:, which]

    @cached_property
    def _overlaps(self) -> bool:
        """Whether tiles of a tensor may overlap: then lanes decided in one mesh tell what others
        want."""
        return any(tensor.windows for tensor in self.hierarchy.tensors)

    def _held(
        self, labels: PartialMappings, at: Position, cutoff: Fraction | None
    ) -> NDArray[np.intp]:
        """As many labels as memory holds, those of least bounds; what the others may hold is
        remembered."""
        bounds = self.bound(labels, at, cutoff)
        order = np.argsort(bounds, kind="stable")
        count = labels.count * MEMORY // (2 * labels.data.nbytes)
        self.dropped = min(self.dropped, float(bounds[order[count]]))
        return order[:count]

    def _better(self, labels: PartialMappings, *, decided: bool) -> NDArray[np.intp]:
        """Which labels none of the others is better than, in the midst of a step or after it."""
        meshes_left = not decided or labels.meshes < len(self.hierarchy.meshes)
        timed = self.goal.timed or self.least_lanes > 0
        return undominated_labels(
            labels, meshes_left=meshes_left, timed=timed, lanes=self.goal.uses_lanes
        )

    def _orders(self, step: MappingStep) -> tuple[tuple[int, ...], ...]:
        everything = tuple(range(len(self.hierarchy.loops)))
        return (everything,) if step.lanes else self.hierarchy.orders[step.level]

    def _step(
        self, labels: PartialMappings, number: int, cutoff: Fraction | None, most: int | None = None
    ) -> Generator[None, None, PartialMappings]:
        """Labels extended by a step, those of them that may be of interest; ``origin`` is the place
        of what they are from."""
        step = self.steps[number]
        labels = replace(labels, data=labels.data.copy())
        labels.row("origin")[:] = np.arange(labels.count)
        if step.lanes:
            labels.row("mesh")[:] = self.layouts.open(labels.row("mesh"))
        parts = []
        for place, order in enumerate(self._orders(step)):
            labels.row("order")[:] = place
            part = yield from self._extended(labels, step, order, cutoff, most)
            parts.append(
                part.take(self._better(part, decided=False)) if part.count > MANY else part
            )
            if sum(part.data.nbytes for part in parts) > MEMORY:
                together = joined(parts)
                parts = [together.take(self._better(together, decided=False))]
        together = joined(parts)
        together = (
            replace(together, meshes=together.meshes + 1)
            if step.lanes
            else enter(together, step.level)
        )
        return self._sifted(together, number, cutoff)

    def _sifted(
        self, labels: PartialMappings, number: int, cutoff: Fraction | None
    ) -> PartialMappings:
        """Labels after a step without those that others are better than, or that are of no
        interest."""
        meshes_left = labels.meshes < len(self.hierarchy.meshes)
        if self.least_lanes and not meshes_left:
            labels = labels.take(labels.row("lanes") >= self.least_lanes)
        if cutoff is not None and number + 1 < len(self.steps):
            labels = labels.take(
                self.bound(labels, self._after(number), cutoff) < least_double(cutoff)
            )
        return labels.take(self._better(labels, decided=True))

    def _after(self, number: int) -> Position:
        return Position(self.steps[number + 1].level if number + 1 < len(self.steps) else -1)

    def _through(
        self, labels: PartialMappings, number: int, cutoff: Cutoff
    ) -> Generator[None, None, PartialMappings]:
        """`_step` in parts, so that memory suffices."""
        parts = []
        for begin in range(0, labels.count, CHUNK):
            part = yield from self._step(
                labels.take(np.arange(begin, min(begin + CHUNK, labels.count))), number, cutoff()
            )
            part.row("origin")[:] += begin
            parts.append(part)
            yield
        return parts[0] if len(parts) == 1 else self._sifted(joined(parts), number, cutoff())

    # -- the search ----------------------------------------------------------------------

    def _beam(
        self, width: int, known: Fraction | None
    ) -> Generator[None, None, tuple[Configuration, Fraction] | None]:
        """The best mapping that is found if few labels are kept at every boundary, if it is below
        what is known."""
        labels, traces = beginning(self.hierarchy), []
        for number in range(len(self.steps)):
            labels = yield from self._step(labels, number, known, min(MIDWAY * width, MOST_MIDWAY))
            if labels.count > width and number + 1 < len(self.steps):
                labels = labels.take(
                    np.argsort(self.bound(labels, self._after(number)), kind="stable")[:width]
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

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Labels up to the outermost mesh."""
        if self._proving.outer.shape != self.bounds.outer.shape:
            for _ in self._proving.outer.made():
                yield Block.empty(self.least)
            self.bounds = self._proving
        labels, traces = beginning(self.hierarchy), list[LabelTrace]()
        bounds = self.bound(labels, Position(self.steps[0].level), cutoff())
        least = float(bounds.min())
        yield Block.empty(least)
        for number in range(self.inner - 1):
            for _ in (pause := Pauses(self._through(labels, number, cutoff))):
                yield Block.empty(least)
            labels = pause.result
            bounds = self.bound(labels, self._after(number), cutoff())
            open_ = bounds < least_double(cutoff())
            labels, bounds = labels.take(open_), bounds[open_]
            traces.append(_trace(labels))
            if not labels.count:
                break
            least = max(least, float(bounds.min()))
        number = self.inner - 1
        order = np.argsort(bounds, kind="stable")
        for begin in range(0, order.size, CHUNK):
            part = order[begin : begin + CHUNK]
            if not bounds[part[0]] < least_double(cutoff()):
                break
            for _ in (pause := Pauses(self._step(labels.take(part), number, cutoff()))):
                yield Block.empty(max(least, float(bounds[part[0]])))
            made = pause.result
            made.row("origin")[:] = part[made.row("origin").astype(np.int64)]
            self._rows.append((made, [*traces, _trace(made)]))
            rows = np.stack(
                [np.full(made.count, len(self._rows) - 1), np.arange(made.count)], axis=1
            )
            rest = float(bounds[order[begin + CHUNK]]) if begin + CHUNK < order.size else inf
            yield Block(rows, self.bound(made, self._after(number), cutoff()), max(least, rest))
        if not self.hierarchy.exact and (known := cutoff()) is not None:
            self.dropped = min(self.dropped, Fraction(below(known)))
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The best mappings that extend rows."""
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
            made = yield from self._step(part, number, cutoff())
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
            [self._along(step, loop) for loop in range(len(hierarchy.loops))] for step, _ in lanes
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
