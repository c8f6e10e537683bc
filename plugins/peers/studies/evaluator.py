"""The one objective that all methods call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Values
from ithaca.plugins.peers.studies.coordinates import Coordinates, Units
from ithaca.plugins.peers.studies.recorder import Recorder
from ithaca.refine.evolution.genome import Genes
from ithaca.refine.evolution.population import Scorer

#: Configurations in a row that were scored before, after which a method is taken to have settled.
PATIENCE = 500

#: Configurations scored at once. Between them there is a look at the clock.
CHUNK = 4096

#: The graded cost is about the logarithm of objectives above this part of the slowest
#: configuration's.
RESOLUTION = 1e-9

#: Graded cost of infeasible configurations, at least, and of feasible ones, at most. The slowest's
#: own is about 21.
INFEASIBLE = 25.0

#: Excess of a configuration that is not legal, or whose excess is no number.
ILLEGAL = 1e6


class SettledError(Exception):
    """A method has asked for nothing new for long: it is to be started afresh."""


@dataclass(frozen=True)
class Scores:
    """Scores of configurations, in floats.

    ``objective`` is that of the problem, whether or not limits are met; ``excess`` by how much they
    exceed limits, relative to them, in all, 0 where they are feasible. ``cost`` is one number to
    minimise: it rises with the objective where that is feasible (logarithmically, so that a method
    that fits models sees ratios), else with the excess, and is then larger than all feasible ones.
    """

    objective: Floats
    excess: Floats
    cost: Floats


class Evaluator:
    """Scores configurations, counts them, and stops the search when the recorder's budget is used
    up."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._memory: dict[bytes, tuple[float, float]] = {}
        self._repeats = 0

    @property
    def problem(self) -> Problem:
        """The problem: design, limits and objective."""
        return self.recorder.problem

    @cached_property
    def coordinates(self) -> Coordinates:
        """The coordinates that methods search in."""
        return Coordinates(self.problem)

    def points(self, points: Values, *, remember: bool = True) -> Scores:
        """Score points of the coordinates, shape (points, coordinates); see `genes`."""
        return self.genes(*self.coordinates.decode(points), remember=remember)

    def units(self, units: Units) -> Scores:
        """Score points of the unit cube, shape (points, coordinates); see `genes`."""
        return self.points(self.coordinates.of_units(units))

    def starts(self, starts: Sequence[Configuration]) -> Values:
        """Score known configurations first; their coordinates, one row each. Raises `InputError` if
        one is not feasible."""
        check_starts(self.problem, starts)
        if starts:
            self.genes(self.coordinates.genome.encode(starts))
        rows = [self.coordinates.encode(start) for start in starts]
        return np.array(rows, dtype=np.int64).reshape(len(starts), self.coordinates.count)

    def genes(self, genes: Genes, legal: Mask | None = None, *, remember: bool = True) -> Scores:
        """Score legal genes of the coordinates' genome, shape (genes, configurations); ``legal``
        says which are so after all.

        Unless told not to ``remember`` (a method that never repeats itself needs no memory), what
        was asked for before is answered from memory, at no charge. Raises `BudgetUsedError` after
        scoring those that the budget still allowed, and `SettledError` if a long row of
        configurations held nothing new.

        Parameters
        ----------
        genes : Genes
            Shape (genes, configurations).
        legal : Mask, optional
            Which configurations are legal, shape (configurations); by default all.
        remember : bool, optional
            Whether scores are kept, and configurations met before answered from memory.

        Returns
        -------
        Scores
            Objectives, excess over limits and costs, shape (configurations) each.
        """
        legal = np.ones(genes.shape[1], bool) if legal is None else legal
        parts = [self._chunk(genes[:, c], legal[c], remember) for c in _chunks(genes.shape[1])]
        objective, excess = (
            np.concatenate([part[row] for part in parts]) if parts else np.empty(0)
            for row in (0, 1)
        )
        return Scores(objective, excess, self._cost(objective, excess))

    def score(self, genes: Genes, legal: Mask) -> tuple[Floats, Floats]:
        """Objective and excess of configurations, at no charge: for what is looked at before
        anything is sampled."""
        return self._scorer.score(self.coordinates.genome.quantities(genes), legal)

    def scaled(self, objective: Floats) -> Floats:
        """The approximate logarithm of objectives, for negative ones too; at most `INFEASIBLE`."""
        return np.minimum(np.arcsinh(objective / self._scale), INFEASIBLE)

    def _chunk(self, genes: Genes, legal: Mask, remember: bool) -> tuple[Floats, Floats]:
        if not remember:
            return self._score(genes, legal)
        keys = [column.tobytes() for column in np.ascontiguousarray(genes.T)]
        fresh = list(dict.fromkeys(key for key in keys if key not in self._memory))
        if fresh:
            place = {key: index for index, key in reversed(list(enumerate(keys)))}
            columns = [place[key] for key in fresh]
            objective, excess = self._score(genes[:, columns], legal[columns])
            self._memory.update(
                zip(fresh, zip(objective.tolist(), excess.tolist(), strict=True), strict=True)
            )
            self._repeats = 0
        else:
            self.recorder.check()
            self._repeats += len(keys)
            if self._repeats >= PATIENCE:
                self._repeats = 0
                raise SettledError
        values = np.array([self._memory[key] for key in keys], np.float64).reshape(len(keys), 2)
        return values[:, 0], values[:, 1]

    def _score(self, genes: Genes, legal: Mask) -> tuple[Floats, Floats]:
        recorder = self.recorder
        recorder.check()
        if recorder.budget.samples is not None:
            room = recorder.budget.samples - recorder.samples
            if genes.shape[1] > room:
                self._score(genes[:, :room], legal[:room])
                recorder.check()
        objective, excess = self.score(genes, legal)
        excess = np.where(np.isfinite(excess), excess, ILLEGAL)
        before = recorder.samples
        recorder.samples += genes.shape[1]
        best = np.inf if recorder.value is None else float(recorder.value)
        # floats only say what to look at: the reference decides
        for index in np.flatnonzero((excess == 0) & (objective < best)):
            if objective[index] < best:
                recorder.check_seconds()
                if recorder.offer(
                    self.coordinates.genome.decode(genes[:, index]), before + int(index) + 1
                ):
                    best = float(objective[index])
                else:
                    excess[index] = np.finfo(np.float64).tiny  # at a limit, and just beyond it
        return objective, excess

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.problem)

    @cached_property
    def _scale(self) -> float:
        """A small objective to measure others by: that of the configuration of all lowest
        coordinates tells the unit."""
        lowest = np.zeros((1, self.coordinates.count), dtype=np.int64)
        objective = abs(float(self.score(*self.coordinates.decode(lowest))[0][0]))
        return RESOLUTION * objective if 0 < objective < np.inf else 1.0

    def _cost(self, objective: Floats, excess: Floats) -> Floats:
        return np.where(excess > 0, INFEASIBLE + np.log1p(excess), self.scaled(objective))


def check_starts(problem: Problem, starts: Sequence[Configuration]) -> None:
    """Raise `InputError` unless all known configurations are feasible."""
    for number, start in enumerate(starts, start=1):
        if problem.feasible_value(start) is None:
            raise InputError(
                f"starts[{number}] is outside the design space of "
                f"{problem.design.name} or breaks a limit"
            )


def _chunks(count: int) -> list[slice]:
    return [slice(begin, begin + CHUNK) for begin in range(0, count, CHUNK)]
