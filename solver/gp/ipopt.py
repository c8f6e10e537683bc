"""Solve a compiled geometric program with Ipopt (Wächter and Biegler, 2006; `cyipopt`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ithaca.solver.gp.blocks import Indices, Matrix, Vector
from ithaca.solver.gp.program import Evaluation, GeometricProgram

OPTIONS: Mapping[str, Any] = {
    "print_level": 0,
    "sb": "yes",
    "tol": 1e-8,
    "max_iter": 100,
    "mu_strategy": "monotone",
    "min_refinement_steps": 0,
    "nlp_scaling_method": "none",
    "linear_solver": "mumps",
}


@dataclass(frozen=True)
class Optimum:
    """What Ipopt returned. Nothing in it is trusted: bounds are certified from it.

    Attributes
    ----------
    point : array, shape (variables,)
        Logarithms of the variables.
    multipliers : array, shape (constraints,)
        Of the constraints.
    converged : bool
        Whether Ipopt says it solved the program.
    iterations : int
        Interior point iterations.
    """

    point: Vector
    multipliers: Vector
    converged: bool
    iterations: int


class Callbacks:
    """What Ipopt asks of a program: values and exact sparse derivatives."""

    def __init__(self, program: GeometricProgram, patience: int | None = None) -> None:
        self.program = program
        self.patience = patience
        size = program.low.size
        self._gradient = np.zeros(size)
        self._gradient[program.cost] = 1.0
        touched = np.logical_or.reduceat(program.blocks.matrix != 0, program.starts, axis=0)
        self._rows, self._columns = np.nonzero(touched)
        # pairs of variables that share a curved constraint
        together = touched[program.curved].astype(np.int64)
        self._below, self._above = np.nonzero(np.tril(together.T @ together))
        self._point = np.full(size, np.nan)
        self._evaluation: Evaluation | None = None
        self.iterations = 0

    def _at(self, y: Vector) -> Evaluation:
        if self._evaluation is None or not np.array_equal(y, self._point):
            self._point = y.copy()
            self._evaluation = self.program.evaluate(y)
        return self._evaluation

    def objective(self, y: Vector) -> float:
        return float(y[self.program.cost])

    def gradient(self, y: Vector) -> Vector:
        return self._gradient

    def constraints(self, y: Vector) -> Vector:
        return self._at(y).constraints

    def jacobian(self, y: Vector) -> Vector:
        values: Vector = self._at(y).jacobian[self._rows, self._columns]
        return values

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        return self._rows, self._columns

    def hessian(self, y: Vector, multipliers: Vector, _: float) -> Vector:
        dense: Matrix = self.program.hessian(self._at(y), multipliers)
        values: Vector = dense[self._below, self._above]
        return values

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return self._below, self._above

    def intermediate(self, mode: int, iteration: int, *_: float) -> bool:
        """Called once per iteration; ends the run in the restoration phase (mode 1) or out of patience."""
        self.iterations = iteration
        return self.patience is None or (mode == 0 and iteration < self.patience)


def solve_program(
    program: GeometricProgram,
    start: Vector | None = None,
    patience: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Optimum:
    """Minimise a program.

    Parameters
    ----------
    program : GeometricProgram
        What to minimise.
    start : array, optional
        Where to start; the middle of the box by default.
    patience : int, optional
        Iterations after which to give up; then, giving up includes wherever Ipopt must restore
        feasibility, which takes long and mostly means that there is none.
    options : mapping, optional
        Ipopt options beside the defaults.

    Returns
    -------
    Optimum
        The point and the multipliers Ipopt ended with.
    """
    import cyipopt  # costs half a second: only who solves pays

    callbacks = Callbacks(program, patience)
    count = program.blocks.sizes.size
    problem = cyipopt.Problem(
        n=program.low.size,
        m=count,
        problem_obj=callbacks,
        lb=program.low,
        ub=program.high,
        cl=np.full(count, -np.inf),
        cu=np.zeros(count),
    )
    for name, value in {**OPTIONS, **(options or {})}.items():
        problem.add_option(name, value)
    middle = 0.5 * (program.low + program.high)
    point, info = problem.solve(middle if start is None else np.clip(start, program.low, program.high))
    multipliers = np.maximum(np.asarray(info["mult_g"], dtype=np.float64), 0)
    return Optimum(np.asarray(point, dtype=np.float64), multipliers, info["status"] in (0, 1), callbacks.iterations)
