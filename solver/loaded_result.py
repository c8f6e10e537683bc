"""A result file as it was read: what was asked, what was found, what is proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.data_types import DataType
from ithaca.formulations.problem import Limit, Objective, Problem, SpaceOptions
from ithaca.formulations.systolic.points import Point
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.solver.certificate import Certificate
from ithaca.solver.solution import Shortfall
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class LoadedSolution:
    """The best configuration of one design, as a file recorded it.

    Attributes
    ----------
    array : SystolicArray
        The design, derived afresh.
    tiling : Tiling or None
        The configuration; None where none was found.
    value : Fraction or None
        Its objective.
    metrics, words : mapping of str to Fraction
        All metrics, and off-chip words by array, by the Fraction reference.
    certificate : Certificate
        What the file says is proven.
    shortfalls : tuple of Shortfall
        Limits that cannot be met, of an infeasible problem.
    """

    array: SystolicArray
    tiling: Tiling | None
    value: Fraction | None
    metrics: Mapping[str, Fraction]
    words: Mapping[str, Fraction]
    certificate: Certificate
    shortfalls: tuple[Shortfall, ...]


@dataclass(frozen=True)
class LoadedResult:
    """A result file.

    Attributes
    ----------
    nest : LoopNest
        The loop nest, with extents.
    data : DataType
        The type of all arrays.
    platform_name : str
        The platform the limits come from.
    limits : tuple of Limit
        Upper limits on metrics.
    edition : Edition
        The statement of the cost model.
    objective : Objective
        What was minimised.
    space : SpaceOptions
        Restrictions of the design space.
    technology : Technology
        Clock and energies of the platform.
    best : LoadedSolution or None
        The best configuration of all designs; None where none was found.
    designs : tuple of LoadedSolution
        One solution per design solved.
    """

    nest: LoopNest
    data: DataType
    platform_name: str
    limits: tuple[Limit, ...]
    edition: Edition
    objective: Objective
    space: SpaceOptions
    technology: Technology
    best: LoadedSolution | None
    designs: tuple[LoadedSolution, ...]

    @property
    def solutions(self) -> tuple[LoadedSolution, ...]:
        """The best solution first, then those of the other designs."""
        others = tuple(solution for solution in self.designs if solution != self.best)
        return others if self.best is None else (self.best, *others)

    @property
    def points(self) -> tuple[Point, ...]:
        """The configurations of all solutions that have one, the best first."""
        return tuple(Point(s.array, self.nest, s.tiling) for s in self.solutions if s.tiling is not None)

    def problem(self, array: SystolicArray) -> Problem:
        """What was asked of one design."""
        return Problem(self.nest, array, self.data, self.limits, self.objective, self.space, self.technology)
