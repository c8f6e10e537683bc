"""Labels of the edition ``timeloop`` extended by the steps of a mapping, from the multipliers
outwards: those of them that may be of interest."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import ceilings
from ithaca.formulations.algebra.rounding import all_below, least_double
from ithaca.formulations.problem import Problem
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.search.bounded_objective import BoundedObjective
from ithaca.plugins.hierarchies.formulations.search.bounds import Bounds
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy
from ithaca.plugins.hierarchies.formulations.search.meshes import Layouts
from ithaca.plugins.hierarchies.formulations.search.outer_levels import (
    ROUGH,
    TILES,
    Position,
    trips_left,
)
from ithaca.plugins.hierarchies.formulations.search.pareto import undominated_labels
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    Matrix,
    PartialMappings,
    Vector,
    counting_all,
    covered,
    enter,
    fits,
    joined,
    repeat,
    spread,
)

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace

#: Labels that are made at once, and so many that it is worth dropping dominated ones while a step
#: is being decided.
SLICE, MANY = 1 << 16, 1 << 13

#: Bytes of labels beyond which only those of least bounds are kept: several copies of them are held
#: at times.
MEMORY = 192 << 20

#: Labels that are gone on with at most where the search may go on by boxes.
WIDE = 1 << 15

#: Labels that are bounded at once: each takes many numbers while it is.
TOGETHER = 1 << 17

#: Labels so few that bounding them is not worth its time.
FEW = 256


class WideError(Exception):
    """There are many labels, and the search may go on without them."""


@dataclass(frozen=True)
class MappingStep:
    """A part of a mapping: the lanes inside a level, or its temporal loops in some order."""

    level: int
    lanes: bool


class Extension:
    """The labels of a problem on a hierarchy, extended step by step and bounded."""

    def __init__(
        self, design: MappingSpace, problem: Problem, architecture: Callable[[], Architecture]
    ) -> None:
        self.design, self.problem, self._architecture = design, problem, architecture
        self.divisors = design.options.divisors_only
        self.dropped: Fraction | float = inf  #: No mapping that was left out is below this

    @property
    def hands_over(self) -> bool:
        """Whether whoever searches goes on otherwise where labels are many."""
        return False

    # where time is over before a search begins, thousands of problems are never looked into

    @cached_property
    def goal(self) -> BoundedObjective:
        """Objective and limits, of whole numbers of mappings; it sets what its hierarchy counts."""
        hierarchy = Hierarchy(
            self.design.nest,
            self._architecture(),
            self.design.orders,
            divides=self.divisors,
            ending=self.design.ending,
        )
        return BoundedObjective(self.problem, hierarchy)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The levels and lanes, with what each may keep of tensors."""
        return self.goal.hierarchy

    @cached_property
    def least_lanes(self) -> float:
        """The lanes that constraints ask for at least."""
        architecture = self.hierarchy.architecture
        return float(self.design.constraints.least_used * architecture.compute.instances)

    @cached_property
    def layouts(self) -> Layouts:
        """The meshes, and the lanes that fit them."""
        return Layouts(self.hierarchy.meshes, within_parent=self.design.options.within_parent)

    @cached_property
    def bounds(self) -> Bounds:
        """Rough ones until those that the proof asks for are made."""
        return self._made(ROUGH)

    @cached_property
    def _proving(self) -> Bounds:
        return self._made(TILES)

    def _made(self, tiles: int) -> Bounds:
        values = [self._values(n) for n in self.hierarchy.extents]
        return Bounds(self.hierarchy, self.layouts, values, divisors=self.divisors, tiles=tiles)

    @cached_property
    def steps(self) -> tuple[MappingStep, ...]:
        """All steps, innermost first."""
        meshes = {mesh.level for mesh in self.hierarchy.meshes}
        outwards = []
        for level in reversed(range(len(self.hierarchy.levels))):
            outwards += [MappingStep(level, True)] if level in meshes else []
            outwards.append(MappingStep(level, False))
        return tuple(outwards)

    def _values(self, extent: int) -> Vector:
        """Factors of interest of so many trips, ascending."""
        if self.divisors:
            return np.array([n for n in range(1, extent + 1) if extent % n == 0], float)
        return np.array(sorted({-(-extent // trips) for trips in range(1, extent + 1)}), float)

    def factors(self, left: int, loop: int, step: MappingStep) -> Vector:
        """The factors that a step may give a loop.

        Parameters
        ----------
        left : int
            The trips of the loop that are left.
        loop : int
            The loop.
        step : MappingStep
            The step.
        """
        level = self.hierarchy.levels[step.level].name
        span = self.design.constraints.factor(
            level, "spatial" if step.lanes else "temporal", self.hierarchy.loops[loop]
        )
        factors = self._values(left) if step.level or step.lanes else np.array([left], float)
        high = left if span.high is None else span.high
        if step.lanes:
            mesh = next(mesh for mesh in self.hierarchy.meshes if mesh.level == step.level)
            high = min(high, max(mesh.x, mesh.y))
        return factors[(factors >= span.low) & (factors <= high)]

    # -- bounds --------------------------------------------------------------------------

    def bound(
        self, labels: PartialMappings, at: Position, cutoff: Fraction | None = None
    ) -> Vector:
        """The least objective of all mappings that extend labels; infinite where it is not below a
        cutoff.

        Parameters
        ----------
        labels : PartialMappings
            Partial mappings, of which nothing is decided outside.
        at : Position
            How far they are decided.
        cutoff : Fraction, optional
            Bounds that are not below this need not be sharp.

        Returns
        -------
        Vector
            Shape (labels).
        """
        if labels.count > TOGETHER:
            places = range(0, labels.count, TOGETHER)
            parts = [np.arange(n, min(n + TOGETHER, labels.count)) for n in places]
            return np.concatenate([self.bound(labels.take(part), at, cutoff) for part in parts])
        every = self.hierarchy.bounded
        # waits of levels are many, and seldom decide: last of all while lanes may be added
        others = [n for n in every if self.hierarchy.counts[n].rate is None]
        if cutoff is None or labels.count <= FEW or len(others) == len(every):
            return self._bound(labels, at, cutoff, every)
        least = self._bound(labels, at, cutoff, others)
        if at.undecided is not None and labels.meshes < len(self.hierarchy.meshes):
            return least
        open_ = least < least_double(cutoff)
        least[open_] = self._bound(labels.take(open_), at, cutoff, every)
        return least

    def _bound(
        self,
        labels: PartialMappings,
        at: Position,
        cutoff: Fraction | None,
        numbers: Sequence[int],
    ) -> Vector:
        """The least objective of all mappings that extend labels, by these counts alone."""
        if not labels.count:
            return np.zeros(0)
        steps, runs, by_group = self.bounds.least(labels, at, numbers)
        vector = np.zeros((self.goal.size, labels.count))
        times = trips_left(self.hierarchy, labels.rows("extent"))
        vector[:3] = steps, covered(labels, times), labels.row("lanes")
        self.goal.add_leaks(vector, labels, runs, at.level + 1)
        least = np.full(labels.count, inf)
        for possible, counts in by_group:
            for number, count in zip(numbers, counts, strict=True):
                vector[3 + number] = np.ceil(all_below(count))  # counts are whole
            bounds = self.goal.without_ties(vector, self.goal.bounds(vector), cutoff)
            least = np.minimum(least, np.where(possible, bounds, inf))
        return least

    # -- extensions ----------------------------------------------------------------------

    def _widened(
        self, labels: PartialMappings, loop: int, step: MappingStep
    ) -> Iterator[tuple[NDArray[np.intp], Vector]]:
        """Every label with every factor of a loop, so many at a time."""
        extent = self.hierarchy.extents[loop]
        left = ceilings(extent, labels.row("extent", loop)).astype(np.int64)
        if not left.size:
            yield np.zeros(0, np.intp), np.zeros(0)
            return
        kinds, which = np.unique(left, return_inverse=True)
        choices = [self.factors(int(kind), loop, step) for kind in kinds]
        counts = np.array([c.size for c in choices])[which]
        begins = np.cumsum([0, *(c.size for c in choices)])[:-1][which]
        factors, ends = np.concatenate(choices), np.cumsum(counts)
        for begin in range(0, max(int(ends[-1]), 1), SLICE):
            number = np.arange(begin, min(begin + SLICE, int(ends[-1])))
            origin = np.searchsorted(ends, number, side="right")
            yield origin, factors[begins[origin] + number - (ends - counts)[origin]]

    def along(self, step: MappingStep, loop: int) -> str:
        """The directions along which lanes of a loop may lie."""
        level, name = self.hierarchy.levels[step.level].name, self.hierarchy.loops[loop]
        return "".join(way for way in "xy" if self.design.constraints.lies_along(level, name, way))

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
            at = Position(step.level, step.lanes, frozenset(order[number + 1 :]))
            last = number + 1 == len(order)
            # lanes decided in one mesh tell what others want where tiles overlap
            comparable = not last and not (step.lanes and self.hierarchy.overlapping)
            parts, inners, held = [], [], 0
            for which, factor in self._widened(labels, loop, step):
                part, part_inner = self._with_loop(labels, loop, step, which, factor, inner)
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
                held += part.data.nbytes
                if held > MEMORY:
                    part, part_inner = joined(parts), np.concatenate(inners, axis=1)
                    left = self._fewer(part, at, cutoff, most, comparable=comparable)
                    part, part_inner = part.take(left), part_inner[:, left]
                    parts, inners, held = [part], [part_inner], part.data.nbytes
                if which.size > FEW:
                    yield
            labels, inner = joined(parts), np.concatenate(inners, axis=1)
            if labels.count > (MANY if most is None else most):
                left = self._fewer(labels, at, cutoff, most, comparable=comparable)
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
        if not self.divisors and loop not in self.hierarchy.ending:
            legal &= self.hierarchy.lean(
                extents[loop], np.maximum(labels.row("widest", loop)[which], factor), loop
            )
        if not step.lanes:
            return repeat(labels, loop, which[legal], factor[legal]), inner[:, which[legal]]
        state = self.layouts.add(labels.row("mesh")[which], factor, self.along(step, loop))
        legal &= state >= 0
        which = which[legal]
        made = spread(labels, loop, which, factor[legal], inner)
        made.row("mesh")[:] = state[legal]
        return made, inner[:, which]

    def _fewer(
        self,
        labels: PartialMappings,
        at: Position,
        cutoff: Fraction | None,
        most: int | None,
        *,
        comparable: bool,
    ) -> NDArray[np.intp]:
        """The places of those labels that are gone on with: of least bounds as many as are wanted;
        or those that none dominates, and of these as many as memory holds, where what the others
        may hold is remembered."""
        if most is not None:
            return np.argsort(self.bound(labels, at, cutoff), kind="stable")[:most]
        left = np.arange(labels.count)
        if comparable:
            left = self._better(labels, decided=False)
        if left.size > WIDE and self.hands_over:
            raise WideError
        each = labels.data.nbytes // max(labels.count, 1)
        if left.size * each <= MEMORY:
            return left
        bounds = self.bound(labels.take(left), at, cutoff)
        order, count = np.argsort(bounds, kind="stable"), MEMORY // (2 * each)
        self.dropped = min(self.dropped, float(bounds[order[count]]))
        return left[order[:count]]

    def _better(self, labels: PartialMappings, *, decided: bool) -> NDArray[np.intp]:
        """The indices of the undominated labels, in the midst of a step or after it."""
        meshes_left = not decided or labels.meshes < len(self.hierarchy.meshes)
        timed = self.goal.timed or self.least_lanes > 0
        return undominated_labels(
            labels,
            meshes_left=meshes_left,
            timed=timed,
            lanes=self.goal.uses_lanes,
            padded=not self.divisors and not self.least_lanes,
        )

    def _orders(self, step: MappingStep) -> tuple[tuple[int, ...], ...]:
        everything = tuple(range(len(self.hierarchy.loops)))
        return (everything,) if step.lanes else self.hierarchy.orders[step.level]

    def with_step(
        self, labels: PartialMappings, number: int, cutoff: Fraction | None, most: int | None = None
    ) -> Generator[None, None, PartialMappings]:
        """Labels extended by a step, those of them that may be of interest; ``origin`` is the place
        of what they are from.

        Parameters
        ----------
        labels : PartialMappings
            Labels that are decided up to the step.
        number : int
            The number of the step, innermost first.
        cutoff : Fraction, optional
            Labels whose bounds are not below this are dropped.
        most : int, optional
            How many labels are kept at a time; by default as many as memory holds.
        """
        step = self.steps[number]
        ending = self.hierarchy.ending and not step.lanes and step.level <= self.hierarchy.ends
        labels = (
            counting_all(labels)
            if ending and not labels.ended
            else replace(labels, data=labels.data.copy())
        )
        labels.row("origin")[:] = np.arange(labels.count)
        if step.lanes:
            labels.row("mesh")[:] = self.layouts.open(labels.row("mesh"))
            labels.rows("reach")[:] = 0
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
        return self.sifted(together, number, cutoff)

    def sifted(
        self, labels: PartialMappings, number: int, cutoff: Fraction | None
    ) -> PartialMappings:
        """Labels after a step without those that others are better than, or that are of no
        interest.

        Parameters
        ----------
        labels : PartialMappings
            Labels that are decided through the step.
        number : int
            The number of the step, innermost first.
        cutoff : Fraction, optional
            Labels whose bounds are not below this are dropped.
        """
        meshes_left = labels.meshes < len(self.hierarchy.meshes)
        if self.least_lanes and not meshes_left:
            labels = labels.take(labels.row("lanes") >= self.least_lanes)
        if cutoff is not None and number + 1 < len(self.steps):
            labels = labels.take(
                self.bound(labels, self.after(number), cutoff) < least_double(cutoff)
            )
        return labels.take(self._better(labels, decided=True))

    def after(self, number: int) -> Position:
        return Position(self.steps[number + 1].level if number + 1 < len(self.steps) else -1)
