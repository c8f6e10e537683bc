"""The neighbourhood that a refined result keeps: the objective around its best configuration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ithaca.files.errors import EDITED, InputError
from ithaca.files.numbers import counted, number
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.space import Role
from ithaca.refine.grid import best_at, evaluate, placed
from ithaca.refine.window import Window, window_around
from ithaca.solver.result import NEAR, Result
from ithaca.solver.solution import Solution
from ithaca.solver.verification import check_agreement

#: Most points of a neighbourhood that is kept.
MOST = 4096


@dataclass(frozen=True)
class Neighbourhood:
    """The points whose factors are near those of a solution, which has a configuration."""

    solution: Solution
    """The solution."""
    near: int
    """The largest distance of a factor."""

    @cached_property
    def window(self) -> Window:
        """The values of each factor. Raises `InputError` if it is larger than one that is kept."""
        window = _window(self.solution, self.near)
        if window.points > MOST:
            points = counted(window.points, "point")
            raise InputError(
                f"neighbourhood.around is {self.near}, of {points}; allowed: at most {MOST:,} "
                "points"
            )
        return window

    @cached_property
    def points(self) -> tuple[Mask, Mask, Floats]:
        """The legal points, the feasible ones, and the objective of these, infinite elsewhere."""
        points, shape = evaluate(self.window, placed(self.window)), [*self.window.shape.values()]
        objective = np.where(points.feasible, points.objective, np.inf)
        legal, feasible, full = (
            np.broadcast_to(each, shape) for each in (points.legal, points.feasible, objective)
        )
        return legal, feasible, full

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a document: the values of each factor, how many points are legal and
        feasible, and their objective in order, the last factor's values running fastest; none where
        a point is not feasible."""
        legal, feasible, objective = self.points
        return {
            "around": self.near,
            "factors": {name: values.tolist() for name, values in self.window.free.items()},
            "legal": int(legal.sum()),
            "feasible": int(feasible.sum()),
            "objective": [_json_number(value) for value in objective.ravel().tolist()],
        }

    @cached_property
    def best(self) -> Solution:
        """The first feasible point of least objective, by exact arithmetic, with the solution's
        certificate; the solution itself where none is better."""
        objective, own = self.points[2], self.solution
        place = np.unravel_index(objective.argmin(), objective.shape)
        point = best_at(self.window, [int(n) for n in place], float(objective[place]))
        value = own.problem.feasible_value(point.configuration)
        if value is None or own.value is None or value >= own.value:
            return own
        return replace(own, configuration=point.configuration, value=value)

    @property
    def words(self) -> str:
        """The number of points and the best of them, in one line."""
        legal, feasible, _ = self.points
        own, best = self.solution, self.best
        size = f"{counted(self.window.points, 'point')} at most {self.near} from the best's factors"
        better = "none better" if best is own else f"one with {number(best.value)}"
        return f"{size}: {int(legal.sum()):,} legal, {int(feasible.sum()):,} feasible, {better}"


def with_neighbourhood(result: Result) -> Result:
    """A result that keeps the largest neighbourhood of its best configuration that may be kept,
    if there is one.

    Raises `DisagreementError` if a point is better than the result claims to be possible.
    """
    best = result.best
    near = None if best is None else distance(best, MOST)
    if best is None or near is None:
        return result
    check_agreement(best, Neighbourhood(best, near).best)
    return replace(result, near=near)


def distance(solution: Solution, most: int) -> int | None:
    """The largest distance of factors, up to `NEAR`, with so many points at most; None where
    nothing varies, or the nearest are more."""
    if solution.configuration is None or not _varied(solution):
        return None
    return next((n for n in range(NEAR, 0, -1) if _window(solution, n).points <= most), None)


def neighbourhood(result: Result) -> Neighbourhood:
    """The neighbourhood that a result keeps.

    Raises `InputError` if a result that was read cannot keep it, or claims better than it holds to
    be impossible.
    """
    best = result.best
    if best is None or best.configuration is None or result.near is None or not _varied(best):
        raise InputError("neighbourhood is of no configuration; allowed: of a best one")
    kept = Neighbourhood(best, result.near)
    bound, value = best.certificate.lower_bound, kept.best.value
    if bound is not None and value is not None and value < bound:
        raise InputError(
            f"best.certificate.lower_bound is {number(bound)}, yet a point of the neighbourhood "
            f"has {number(value)}: {EDITED}"
        )
    return kept


def check_order(factors: Iterable[str], result: Result) -> None:
    """Refuse names of factors in another order than that of the points of a kept neighbourhood,
    which would give the objectives to other points."""
    stated, order = (", ".join(names) for names in (factors, neighbourhood(result).window.free))
    if stated != order:
        raise InputError(f"neighbourhood.factors is in the order {stated}; allowed: {order}")


def _varied(solution: Solution) -> bool:
    """Whether the solution's space has a factor that may vary."""
    return any(quantity.role is not Role.PORT for quantity in solution.problem.space.free)


def _window(solution: Solution, near: int) -> Window:
    assert solution.configuration is not None
    return window_around(solution.problem, solution.configuration, near)


def _json_number(value: float) -> float | int | None:
    """A number as documents have it; none where it is infinite."""
    return None if value == np.inf else int(value) if value.is_integer() else value
