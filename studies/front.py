"""Pareto fronts by the ε-constraint method, every point with its proof.

A configuration is on the front if no configuration of any design is at least as good in every
objective and better in one. The method: take a box of objective space that may hold points of
the front (at first all of it; see `ithaca.studies.region`); minimise the objectives one after
the other within it, each under the proven minima of those before (lexicographic order). The
outcome z is on the front: whatever dominates z would lie in the same box, and at the first
objective in which it is better contradict that objective's minimum. Then z splits the boxes
that contain it, and the next box is taken, until every box is proven empty. For two objectives
that is the usual sweep, "minimise f1, then f2 among the best, then ask for a smaller f2", with
one proof of emptiness at its end.

"Smaller" is exact: bounds lie one grid step of the objective below a value
(`ithaca.studies.strict`), never an arbitrary ε. The first points minimise one objective each over
all of objective space, so that a partial front at least shows the extremes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.formulations.metrics import metric_values
from ithaca.formulations.objectives import parse_objective
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Shortfall
from ithaca.studies.prover import Found, ProofStep, Prover, UnfinishedError
from ithaca.studies.region import Bound, Region, UpperBounds, below, split
from ithaca.workloads.errors import InputError

#: Most objectives of a front: its points, and the boxes between them, grow with their number's power.
MAX_OBJECTIVES = 5

#: Receives the number of points found, the name of a design and the progress of its search.
FrontReport = Callable[[int, str, Progress], None]


@dataclass(frozen=True)
class FrontPoint:
    """A point of a front.

    Attributes
    ----------
    problem : Problem
        Its design.
    tiling : Tiling
        Its configuration; others may have the same objectives.
    values : tuple of Fraction
        Its objectives, by the Fraction reference.
    metrics : mapping of str to Fraction
        All its metrics.
    proof : tuple of ProofStep
        The proven minima that no dominating configuration is compatible with.
    """

    problem: Problem
    tiling: Tiling
    values: tuple[Fraction, ...]
    metrics: dict[str, Fraction]
    proof: tuple[ProofStep, ...]


@dataclass(frozen=True)
class Front:
    """A Pareto front over several designs, or a part of one.

    Attributes
    ----------
    objectives : tuple of Objective
        What is minimised.
    problems : tuple of Problem
        The designs, one problem each.
    points : tuple of FrontPoint
        Points proven to be on the front, by ascending first objective.
    unfinished : str or None
        Why further points may exist; None if the front is proven complete.
    completeness : tuple of ProofStep
        The proofs that nothing else is on the front (of the boxes examined so far).
    nodes : int
        Boxes examined by all searches.
    seconds : float
        Wall time.
    shortfalls : tuple of (str, Shortfall)
        Design and limit that cannot be met, if no configuration of any design is feasible.
    """

    objectives: tuple[Objective, ...]
    problems: tuple[Problem, ...]
    points: tuple[FrontPoint, ...]
    unfinished: str | None
    completeness: tuple[ProofStep, ...]
    nodes: int
    seconds: float
    shortfalls: tuple[tuple[str, Shortfall], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether it is proven that no other vector of objectives is on the front."""
        return self.unfinished is None


def pareto_front(
    problems: Sequence[Problem],
    objectives: Sequence[str | Objective],
    options: SolveOptions | None = None,
    *,
    max_points: int | None = None,
    report: FrontReport | None = None,
) -> Front:
    """Compute the front of two or more objectives over all designs.

    Parameters
    ----------
    problems : sequence of Problem
        One per design, alike in everything else; their own objectives do not matter.
    objectives : sequence of str or Objective
        Expressions over metrics, each to be minimised.
    options : SolveOptions, optional
        Time limit for the whole front, and interruption. A gap has no meaning here.
    max_points : int, optional
        Points after which to end.
    report : callable, optional
        Receives the number of points found, the name of a design and the progress of its search.

    Returns
    -------
    Front
        Every vector of objectives on the front, with one configuration each. Partial, and labelled
        so, if time, points or patience ran out; its points are proven all the same.

    Raises
    ------
    InputError
        If there are fewer than two objectives, one is repeated, or one cannot be bounded strictly.

    Examples
    --------
    >>> front = pareto_front(problems, ["latency", "dsp"])  # doctest: +SKIP
    >>> [(int(p.values[0]), int(p.values[1])) for p in front.points]
    [(164, 1280), (170, 640), ...]
    """
    asked = check_objectives(objectives)
    options = options or SolveOptions()
    search = _Search(tuple(problems), asked, options, max_points, report)
    return search.run()


def check_objectives(given: Sequence[str | Objective]) -> tuple[Objective, ...]:
    """Read objectives; refuse too few or many of them, and repeated ones."""
    found = tuple(parse_objective(o) if isinstance(o, str) else o for o in given)
    if not 2 <= len(found) <= MAX_OBJECTIVES:
        raise InputError(f"a front needs 2 to {MAX_OBJECTIVES} objectives, not {len(found)}; allowed: e.g. latency,dsp")
    for position, objective in enumerate(found):
        if objective.expression in [o.expression for o in found[:position]]:
            raise InputError(f"objective '{objective.text}' is given twice; allowed: every objective once")
    return found


class _Search:
    def __init__(
        self,
        problems: tuple[Problem, ...],
        objectives: tuple[Objective, ...],
        options: SolveOptions,
        max_points: int | None,
        report: FrontReport | None,
    ) -> None:
        self.began = time.perf_counter()
        self.problems = problems
        self.objectives = objectives
        self.options = options
        self.max_points = max_points
        self.points: list[FrontPoint] = []
        self.proofs: list[ProofStep] = []
        tell = None if report is None else lambda design, progress: report(len(self.points), design, progress)
        self.prover = Prover(problems, objectives, options, tell)

    def run(self) -> Front:
        unfinished = None
        try:
            left = self._search()
            if left:
                unfinished = f"ended after {self.max_points} points, as asked"
        except UnfinishedError:
            stopped = self.options.stop is not None and self.options.stop()
            unfinished = "interrupted" if stopped else "time was up"
        points = tuple(sorted(self.points, key=lambda p: p.values))
        seconds = time.perf_counter() - self.began
        found = self._shortfalls() if not points and unfinished is None else ()
        return Front(self.objectives, self.problems, points, unfinished, tuple(self.proofs), self.prover.nodes, seconds, found)

    def _search(self) -> list[UpperBounds]:
        """Find points until every box is empty, or there are enough; return the boxes left."""
        everything: UpperBounds = (None,) * len(self.objectives)
        uppers = [everything]
        for first in range(len(self.objectives)):
            if not uppers or len(self.points) == self.max_points:
                break
            point = self._lexicographic(below(everything), first)
            if point is None:
                return []
            if point.values not in [p.values for p in self.points]:
                self.points.append(point)
                uppers = split(uppers, point.values)
        while uppers and len(self.points) != self.max_points:
            point = self._lexicographic(below(uppers[0]))
            if point is None:
                del uppers[0]
            else:
                self.points.append(point)
                uppers = split(uppers, point.values)
        return [u for u in uppers if not self.prover.empty(below(u))]

    def _lexicographic(self, region: Region, first: int = 0) -> FrontPoint | None:
        """The point of a region that minimises one objective after the other; None if it is empty."""
        count = len(self.objectives)
        proof: list[ProofStep] = []
        found: Found | None = None
        for offset in range(count):
            objective = (first + offset) % count
            step, found = self.prover.minimise(objective, region)
            if found is None or step.value is None:
                self.proofs.append(step)
                return None
            proof.append(step)
            region = (*region[:objective], Bound(step.value, strict=False), *region[objective + 1 :])
        assert found is not None
        problem = replace(self.problems[found.design], objective=self.objectives[0])
        metrics = metric_values(problem.costs(found.tiling))
        return FrontPoint(problem, found.tiling, found.vector, metrics, tuple(proof))

    def _shortfalls(self) -> tuple[tuple[str, Shortfall], ...]:
        plain = replace(self.options, gap=0.0)
        return tuple((p.array.name, s) for p in self.problems for s in shortfalls(p, plain))
