"""Objective and limits as functions of what labels count: bounds in floats, and exact values of
what is tied."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, lcm, prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY, ceilings
from ithaca.formulations.algebra.rounding import ROUNDING, all_below, least_double, loosened
from ithaca.formulations.problem import Problem
from ithaca.plugins.hierarchies.formulations.search.accesses import WholeAccesses
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Count, Hierarchy
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    Matrix,
    PartialMappings,
    Vector,
)

#: Bounds that floats cannot tell from the cutoff are computed exactly, of so many at most.
MOST_TIED = 4096


def nearly(bounds: Floats, target: Fraction) -> Mask:
    """Bounds below a target that is positive, by no more than floats may have lost: the reach of
    bounds of several metrics, each rounded, is four times that of one."""
    near: Mask = (bounds < least_double(target)) & (bounds > float(target) * (1 - 8 * ROUNDING))
    return near


class BoundedObjective:
    """The objective and the limits, over vectors of counts.

    Rows of its vectors: cycles of the multipliers, computes, lanes, and the counts. Where leaks
    count, further ones: steps if no lanes are added, and of each metric with leaks, what instances
    leak a cycle: those that added lanes multiply, and others.
    """

    def __init__(self, problem: Problem, hierarchy: Hierarchy) -> None:
        self.problem, self.hierarchy = problem, hierarchy
        used = set(problem.used_metrics)
        if "edp" in used:
            used |= {"energy", "latency"}
        levels = hierarchy.levels
        names = {level.name: number for number, level in enumerate(levels)}
        tensors = {tensor.name: number for number, tensor in enumerate(hierarchy.tensors)}
        leaking = [level for level in levels if level.leak]
        self.leaks = [
            name
            for name in ("energy", *(f"{level.name}.energy" for level in leaking))
            if leaking and name in used
        ]
        self.leak_scale = lcm(*(level.leak.denominator for level in levels))
        hierarchy.leaks = tuple(
            tuple(
                int(x.leak * self.leak_scale) if name in ("energy", f"{x.name}.energy") else 0
                for x in levels
            )
            for name in self.leaks
        )
        self.timed = (
            "latency" in used or bool(self.leaks) or any(n.endswith(".cycles") for n in used)
        )
        by_name: dict[str, Count] = {}
        for name in used:
            level, *rest = name.split(".")
            if name == "energy":
                by_name[name] = hierarchy.energy()
            elif rest == ["energy"]:
                by_name[name] = hierarchy.energy(names[level])
            elif len(rest) == 2:
                by_name[name] = hierarchy.words(names[level], tensors[rest[0]], rest[1])
        if self.timed:
            by_name |= {count.name: count for count in hierarchy.waits()}
        self.counts = tuple(sorted(by_name.values(), key=lambda count: not count.adds))
        self.names = {count.name: place for place, count in enumerate(self.counts)}
        self.uses_lanes = "pes" in used
        self.accesses = WholeAccesses(
            hierarchy,
            {name: self.names[name] for name in by_name if name.rpartition(".")[2] == "energy"},
        )
        hierarchy.counts = (*self.counts, *self.accesses.counts)
        hierarchy.bounded = range(len(self.counts))
        hierarchy.relaxed = frozenset(self.accesses.levels)
        hierarchy.leaks += self.accesses.instances
        self._leaking = 3 + len(self.counts)
        self.size = self._leaking + (
            1 + 2 * len(self.leaks) if self.leaks else 0
        )  #: How many rows vectors have

    def within(self, cutoff: Fraction | None) -> float:
        """Four times what energies of mappings below a cutoff add up to at most: where that is a
        whole double, so is every number of theirs, and what is rounded is of another mapping.

        What labels hold only grows: where it is below this in floats, it was never rounded.
        """
        energy = next((count for count in self.counts if count.name == "energy"), None)
        objective = self.problem.objective.expression
        if cutoff is None or energy is None or objective not in (Symbol("energy"), Symbol("edp")):
            return inf
        if objective == Symbol("edp"):
            steps, lanes = (
                prod(self.hierarchy.extents),
                self.hierarchy.architecture.compute.instances,
            )
            cutoff /= -(-steps // lanes)
        return 4 * self.hierarchy.gross(energy, cutoff)

    def add_leaks(
        self, vector: Matrix, labels: PartialMappings, runs: Vector | int, entered: int
    ) -> None:
        """Fill the rows of vectors about leaks; ``entered`` is the outermost level that labels have
        entered.

        Parameters
        ----------
        vector : Matrix
            Counts, a column for each label; changed in place.
        labels : PartialMappings
            The labels.
        runs : Vector or int
            How often what labels cover runs, shape (labels).
        entered : int
            The number of the outermost level that labels have entered.
        """
        if self.leaks:
            vector[self._leaking] = labels.row("steps") * runs
            for place, weights in enumerate(self.hierarchy.leaks[: len(self.leaks)]):
                row = self._leaking + 1 + 2 * place
                vector[row], vector[row + 1] = labels.row("leak", place), sum(weights[:entered])

    def metrics(self, vector: Sequence[Any] | Matrix, exact: bool) -> dict[str, Any]:
        """All metrics that are used."""
        number = (lambda f: f) if exact else float
        most = max if exact else np.maximum
        up = FRACTION.ceil_div if exact else ceilings

        def cycles(only: int | None = None) -> Any:
            values = vector[0]
            for place, count in enumerate(self.counts):
                if count.rate is not None and (only is None or count.name.split()[0] == str(only)):
                    words, rate = vector[3 + place], count.rate
                    values = most(values, up(words * rate.denominator, rate.numerator))
            return values

        values: dict[str, Any] = {"computes": vector[1], "pes": vector[2]}
        used = self.problem.used_metrics
        latency: Any = cycles() if self.timed else None
        if latency is not None:
            values["latency"] = latency
        for name, place in self.names.items():
            count = self.counts[place]
            if count.rate is None:
                values[name] = vector[3 + place] / number(count.scale)
                if name in self.leaks:
                    row = self._leaking + 1 + 2 * self.leaks.index(name)
                    leaked = (
                        vector[row] * most(latency, vector[self._leaking])
                        + vector[row + 1] * latency
                    )
                    values[name] = values[name] + leaked / number(Fraction(self.leak_scale))
        if "edp" in used:
            values["edp"] = values["energy"] * latency
        for name in used:
            if name.endswith(".cycles"):
                level = next(
                    n
                    for n, part in enumerate(self.hierarchy.levels)
                    if f"{part.name}.cycles" == name
                )
                values[name] = cycles(level)
        return values

    def bounds(self, vector: Sequence[Vector] | Matrix) -> Vector:
        """Lower bounds of the objective; infinite where a limit is exceeded."""
        with np.errstate(invalid="ignore"):  # words without end, where no tile fits
            known = self.metrics(vector, False)
        objective, *limits = self.problem.guarded
        least: Vector = np.asarray(objective.evaluate(known, NUMPY), float)
        least = all_below(np.broadcast_to(least, np.shape(vector[0])).astype(float))
        for expression, limit in zip(limits, self.problem.limits, strict=True):
            used = np.asarray(expression.evaluate(known, NUMPY), float)
            least = np.where(all_below(used) > loosened(limit.bound), inf, least)
        return np.where(np.isnan(least), inf, least)

    def exact(self, vector: Vector) -> Fraction | None:
        """The objective of whole numbers; None where a limit is exceeded."""
        known = self.metrics([Fraction(int(x)) for x in vector], True)
        if any(limit.used(known) > limit.bound for limit in self.problem.limits):
            return None
        return self.problem.objective.value(known)

    def without_ties(self, vector: Matrix, bounds: Vector, cutoff: Fraction | None) -> Vector:
        """Bounds, infinite where floats cannot tell them from the cutoff but exact numbers can; the
        vectors are whole.

        Parameters
        ----------
        vector : Matrix
            Whole counts, a column for each bound.
        bounds : Vector
            Bounds of the objective, shape (labels).
        cutoff : Fraction, optional
            The value to be below; None: there is none.
        """
        if cutoff is None:
            return bounds
        near = np.flatnonzero(nearly(bounds, cutoff))
        if not near.size:
            return bounds
        kinds, which = np.unique(self.told_apart(vector[:, near]), axis=1, return_inverse=True)
        if kinds.shape[1] > MOST_TIED:
            return bounds
        values = [self.exact(kind) for kind in kinds.T]
        worse = np.array([value is None or value >= cutoff for value in values])
        bounds = bounds.copy()
        bounds[near[worse[np.ravel(which)]]] = inf
        return bounds

    def told_apart(self, vector: Matrix) -> Matrix:
        """Vectors with the same metrics in use, and the same in all else."""
        used, alike = self.problem.used_metrics, vector.copy()
        if self.timed and not any(name.endswith(".cycles") for name in used):
            alike[0] = self.metrics(vector, False)["latency"]
            for place, count in enumerate(self.counts):
                if count.rate is not None:
                    alike[3 + place] = 0
            if self.leaks:
                alike[self._leaking] = np.maximum(alike[self._leaking], alike[0])
        for place, name in ((1, "computes"), (2, "pes")):
            if name not in used:
                alike[place] = 1
        return alike if self.timed else np.concatenate([np.ones((1, alike.shape[1])), alike[1:]])
