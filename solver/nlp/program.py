"""The nonlinear program of a problem, to be solved from several points.

Its quantities are continuous and its ceilings relaxed (`ithaca.formulations.systolic.pyomo_model`); Ipopt returns a local
optimum, which is a global one where the program is convex.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any

import numpy as np

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.objectives import parse_objective
from ithaca.formulations.systolic.physical_array import ANY_ARRAY
from ithaca.formulations.systolic.pyomo_model import Model, design_model, set_auxiliaries
from ithaca.solver.gp.model import build_geometric_model
from ithaca.solver.gp.pyomo_bridge import PyomoCallbacks, solve_callbacks
from ithaca.solver.gp.ranges import Propagator

#: Ipopt options: a convex program takes about 30 iterations, others a few times that. Values are logarithms, so what is
#: acceptable is five digits.
OPTIONS: Mapping[str, Any] = {
    "max_iter": 200,
    "acceptable_tol": 1e-5,
    "acceptable_iter": 5,
    "mu_strategy": "adaptive",
    "mu_oracle": "probing",
}


@dataclass(frozen=True)
class LocalOptimum:
    """Where Ipopt ended.

    Attributes
    ----------
    value : float
        The objective there, quantities continuous and ceilings relaxed.
    goal : float
        What Ipopt minimised, which is of the size of a logarithm and falls exactly where the objective does.
    point : mapping of str to float
        The quantities there.
    converged : bool
        Whether Ipopt says that it is a local optimum.
    """

    value: float
    goal: float
    point: Mapping[str, float]
    converged: bool


class NonlinearProgram:
    """The nonlinear program of a problem.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    ranges : mapping of str to (float, float)
        Smallest and largest value of each quantity, from `quantity_ranges`.

    Raises
    ------
    InputError
        If the objective has no smooth program.
    """

    def __init__(self, problem: Problem, ranges: Mapping[str, tuple[float, float]]) -> None:
        self.ranges = ranges
        self.model: Model = design_model(problem, ranges)
        self._callbacks = PyomoCallbacks(self.model)

    @property
    def convex(self) -> bool:
        """Whether every local optimum is a global one."""
        return bool(self.model.convex)

    def solve(self, start: Mapping[str, float], fixed: Mapping[str, float] | None = None, **options: Any) -> LocalOptimum:
        """The local optimum that Ipopt reaches from a point.

        Parameters
        ----------
        start : mapping of str to float
            A value per quantity; values out of range are moved into it.
        fixed : mapping of str to float, optional
            Values of quantities that must not vary.
        **options
            Ipopt options beside the defaults.
        """
        import pyomo.environ as pyo

        for name, span in self.ranges.items():
            low, high = span if fixed is None or name not in fixed else (fixed[name], fixed[name])
            self.model.y[name].setlb(log(low))
            self.model.y[name].setub(log(high))
            self.model.y[name].set_value(log(min(max(start[name], low), high)))
        set_auxiliaries(self.model)
        optimum = solve_callbacks(self._callbacks, **{**OPTIONS, **options})
        point = {name: exp(self.model.y[name].value) for name in self.ranges}
        return LocalOptimum(float(pyo.value(self.model.value)), optimum.objective, point, optimum.converged)


def quantity_ranges(problem: Problem) -> dict[str, tuple[float, float]] | None:
    """The range of each quantity over all configurations within the limits; None if it is proven that there are none."""
    array, given = problem.array, problem.physical
    # the objective plays no part, but must be posynomial
    model = build_geometric_model(replace(problem, objective=parse_objective("comp")))
    propagator = Propagator(model)
    ranges = propagator.root()
    if given == ANY_ARRAY:  # limits narrow them, unless lanes may be idle
        sharpened = propagator.sharpen(ranges)
        if sharpened is None:
            return None
        ranges = sharpened
    columns = [c for loop in model.loops for c in (loop.tiles, loop.lanes, loop.t2)] + [p.column for p in model.packs]
    low, high = np.exp(ranges.low), np.exp(ranges.high)
    found = {model.names[c]: (float(min(low[c], high[c])), float(max(low[c], high[c]))) for c in columns}
    fixed = {quantities.t2(loop).name: 1 for loop in array.sequential} | given.given(array)
    return found | {name: (float(value), float(value)) for name, value in fixed.items()}
