"""A small problem of a family, and its optimum and front by enumeration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Limit, Problem
from tests.families.enumerated import every_point

SEARCHES = ("nlp", "evolve")


@dataclass(frozen=True)
class Sample:
    """A small problem per design of a family, and what enumeration says of them."""

    name: str
    problems: Sequence[Problem]
    optimum: Callable[[Problem], Fraction | None]
    front: Callable[[Sequence[Problem], Sequence[str]], set[tuple[float, ...]]]
    tight: Limit
    """A limit that changes the optimum."""
    impossible: Limit
    objectives: tuple[str, str] = ("latency", "dsp")
    """The objectives of fronts."""
    searches: tuple[str, ...] = SEARCHES
    seeds: int = 6
    """Configurations to begin with, if there are as many."""

    def least(self):
        """The least objective over all designs."""
        return min(
            value for problem in self.problems if (value := self.optimum(problem)) is not None
        )


def counted_optimum(problem, points=every_point):
    return min((metrics["latency"] for _, metrics in feasible(problem, points)), default=None)


def feasible(problem, points):
    return [
        (v, m)
        for v, m in points(problem)
        if all(m[limit.metric] <= limit.bound for limit in problem.limits)
    ]


def counted_front(problems, objectives, points=every_point):
    found = {
        tuple(float(m[name]) for name in objectives)
        for problem in problems
        for _, m in feasible(problem, points)
    }
    return {
        v
        for v in found
        if not any(w != v and all(a <= b for a, b in zip(w, v, strict=True)) for w in found)
    }
