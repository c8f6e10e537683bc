"""The nonlinear program of a problem, to be solved from several points.

Its quantities are continuous and its ceilings relaxed (`ithaca.formulations.pyomo_model`); Ipopt
returns a local optimum, which is a global one where the program is convex.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any

import numpy as np

from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.continuous_rules import products
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.pyomo_model import Model, design_model, set_auxiliaries
from ithaca.solver.gp.model import build_geometric_model
from ithaca.solver.gp.ranges import Propagator
from ithaca.solver.nlp.pyomo_bridge import PyomoCallbacks, solve_pyomo

#: Ipopt options: a convex program takes about 30 iterations, others a few times that. Values are
#: logarithms, so what is acceptable is five digits.
OPTIONS: Mapping[str, Any] = {
    "max_iter": 200,
    "acceptable_tol": 1e-5,
    "acceptable_iter": 5,
    "mu_strategy": "adaptive",
    "mu_oracle": "probing",
}


@dataclass(frozen=True)
class LocalOptimum:
    """The end of a run of Ipopt: the objective and the quantities there, continuous and with
    ceilings relaxed.

    ``goal`` is what Ipopt minimised, which is of the size of a logarithm and falls exactly where
    the objective does; ``converged`` whether it says that this is a local optimum.
    """

    value: float
    goal: float
    point: Mapping[str, float]
    converged: bool


class NonlinearProgram:
    """The nonlinear program of a problem over `quantity_ranges`; raises `InputError` if its
    objective has no smooth one."""

    def __init__(self, problem: Problem, ranges: Mapping[str, tuple[float, float]]) -> None:
        self.ranges = ranges
        self._products = products(problem.space)
        self.model: Model = design_model(replace(problem, design=problem.design.smoother), ranges)
        self._callbacks = PyomoCallbacks(self.model)

    @property
    def convex(self) -> bool:
        """Whether every local optimum is a global one."""
        return bool(self.model.convex)

    def solve(
        self, start: Mapping[str, float], fixed: Mapping[str, float] | None = None, **options: Any
    ) -> LocalOptimum:
        """The local optimum that Ipopt reaches from a point, with further options of Ipopt's.

        Parameters
        ----------
        start : mapping of str to float
            A value of each quantity that is no product of others; it is moved into the quantity's
            range.
        fixed : mapping of str to float, optional
            Values of those that must not vary.
        **options : object
            Further options of Ipopt's.
        """
        import pyomo.environ as pyo

        for name, span in self.ranges.items():
            low, high = span if fixed is None or name not in fixed else (fixed[name], fixed[name])
            self.model.y[name].setlb(log(low))
            self.model.y[name].setub(log(high))
            self.model.y[name].set_value(log(min(max(start[name], low), high)))
        set_auxiliaries(self.model)
        optimum = solve_pyomo(self.model, self._callbacks, **{**OPTIONS, **options})
        point = {name: exp(self.model.y[name].value) for name in self.ranges}
        point |= {
            name: float(product.evaluate(point, NUMPY)) for name, product in self._products.items()
        }
        return LocalOptimum(
            float(pyo.value(self.model.value)), optimum.objective, point, optimum.converged
        )


def quantity_ranges(problem: Problem) -> dict[str, tuple[float, float]] | None:
    """The range of each quantity that is no product of others, over all configurations within the
    limits.

    None if it is proven that there are no such configurations.
    """
    # the objective plays no part, but must be posynomial
    model = build_geometric_model(replace(problem, objective=Objective("1", ONE)))
    propagator = Propagator(model)
    ranges = propagator.sharpen(propagator.root())
    if ranges is None:
        return None
    ends = zip(model.names[: model.base], np.exp(ranges.low), np.exp(ranges.high), strict=False)
    return {
        name: (float(min(low, high)), float(max(low, high)))
        for name, low, high in ends
        if name in model.spans
    }
