"""Solve a compiled geometric program with Ipopt (Wächter and Biegler, 2006; `cyipopt`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ithaca.files.clock import up
from ithaca.plugins.geometric.solver.program import (
    Evaluation,
    GeometricProgram,
    Indices,
    Matrix,
    Vector,
)

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
class IpoptEnd:
    """The end of a run of Ipopt: point, objective, multipliers of the constraints, and whether it
    says it solved the program.

    Nothing in it is trusted: bounds are certified from it.
    """

    point: Vector
    objective: float
    multipliers: Vector
    converged: bool


class Callbacks:
    """The functions of a program that Ipopt calls: values and exact sparse derivatives."""

    def __init__(self, program: GeometricProgram, patience: int | None = None) -> None:
        self.program = program
        self.patience = patience
        size = program.low.size
        self._gradient = np.zeros(size)
        self._gradient[program.cost] = 1.0
        touched = np.logical_or.reduceat(program.blocks.matrix != 0, program.blocks.starts, axis=0)
        self._rows, self._columns = np.nonzero(touched)
        # pairs of variables that share a curved constraint
        together = touched[program.curved].astype(np.int64)
        self._below, self._above = np.nonzero(np.tril(together.T @ together))
        self._point = np.full(size, np.nan)
        self._evaluation: Evaluation | None = None

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
        """The second derivatives of the Lagrangian below the diagonal, as `hessianstructure` orders
        them; the objective is linear.

        Parameters
        ----------
        y : ndarray
            Values of the variables.
        multipliers : ndarray
            Multipliers of the constraints.
        _ : float
            The factor of the objective.
        """
        dense: Matrix = self.program.hessian(self._at(y), multipliers)
        values: Vector = dense[self._below, self._above]
        return values

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return self._below, self._above

    def intermediate(self, mode: int, iteration: int, *_: float) -> bool:
        """Called once per iteration; ends the run in the restoration phase (mode 1), out of
        patience, or when time is up.

        Parameters
        ----------
        mode : int
            0, or 1 in the restoration phase.
        iteration : int
            Number of the iteration.
        *_ : float
            What else Ipopt says of it.
        """
        patient = self.patience is None or (mode == 0 and iteration < self.patience)
        return patient and not up()


def minimize(
    callbacks: object, start: Vector, bounds: Sequence[Vector], options: Mapping[str, Any]
) -> IpoptEnd:
    """Let Ipopt minimise what `cyipopt` callbacks state.

    Parameters
    ----------
    callbacks : object
        Values and derivatives.
    start : ndarray
        The first point.
    bounds : Sequence of ndarray
        Lower and upper bounds of variables, then of constraints.
    options : Mapping of str to object
        Options of Ipopt.

    Returns
    -------
    Optimum
        The last point and its multipliers.
    """
    import cyipopt  # costs half a second: only who solves pays

    low, high, least, most = bounds
    problem = cyipopt.Problem(
        n=low.size, m=least.size, problem_obj=callbacks, lb=low, ub=high, cl=least, cu=most
    )
    for name, value in {**OPTIONS, **options}.items():
        problem.add_option(name, value)
    point, info = problem.solve(start)
    multipliers = np.asarray(info["mult_g"], dtype=np.float64)
    return IpoptEnd(
        np.asarray(point, dtype=np.float64),
        float(info["obj_val"]),
        multipliers,
        info["status"] in (0, 1),
    )


def solve_program(
    program: GeometricProgram,
    start: Vector | None = None,
    patience: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> IpoptEnd:
    """Minimise a geometric program.

    Parameters
    ----------
    program : GeometricProgram
        The program.
    start : ndarray, optional
        The first point; by default the middle of its box.
    patience : int, optional
        Iterations after which Ipopt gives up; then, giving up includes wherever it must restore
        feasibility, which takes long and mostly means that there is none.
    options : Mapping of str to object, optional
        Further options of Ipopt.

    Returns
    -------
    Optimum
        The last point and its multipliers.
    """
    low, high, count = program.low, program.high, program.blocks.sizes.size
    first = 0.5 * (low + high) if start is None else np.clip(start, low, high)
    return minimize(
        Callbacks(program, patience),
        first,
        (low, high, np.full(count, -np.inf), np.zeros(count)),
        options or {},
    )
