"""The nonlinear program of a problem, to be solved from several points.

Its quantities are continuous and its ceilings relaxed (`ithaca.formulations.pyomo_model`); Ipopt
returns a local optimum, which is a global one where the program is convex.

Any smooth Pyomo model is solved without the compiled AMPL library that Pyomo's own interface needs.
Pyomo differentiates the expressions symbolically, twice for the Hessian, and `cyipopt` evaluates
what it returns: general and slow. Derivatives share most of their parts: written down as one list
of steps, each an operation on values computed before, they take a small part of the time that
evaluating them one by one takes. Geometric programs have a compiled form of their own
(`ithaca.plugins.geometric.solver.program`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any

import numpy as np

from ithaca.formulations.algebra.expression import ONE
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.continuous_rules import products
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.pyomo_model import Model, design_model, set_auxiliaries
from ithaca.plugins.geometric.solver.ipopt import IpoptEnd, minimize
from ithaca.plugins.geometric.solver.model import build_geometric_model
from ithaca.plugins.geometric.solver.program import Indices, Vector
from ithaca.plugins.geometric.solver.ranges import Propagator


class PyomoCallbacks:
    """Values and exact sparse derivatives of a Pyomo model, as `cyipopt` asks for them."""

    def __init__(self, model: Any) -> None:
        import pyomo.environ as pyo
        from pyomo.core.expr.visitor import identify_variables

        (self._goal,) = model.component_data_objects(pyo.Objective, active=True)
        self._bodies = list(model.component_data_objects(pyo.Constraint, active=True))
        self._value = pyo.value
        expressions = [self._goal.expr, *(c.body for c in self._bodies)]
        by_identity = {
            id(v): v for e in expressions for v in identify_variables(e, include_fixed=False)
        }
        self.variables = list(by_identity.values())
        self._position = {key: i for i, key in enumerate(by_identity)}
        gradients = [self._gradient(e) for e in expressions]
        self._goal_gradient, self._rows = gradients[0], gradients[1:]
        self._jacobian = [(r, c, d) for r, row in enumerate(self._rows) for c, d in row.items()]
        # second derivatives below the diagonal: position → (which function, derivative) pairs
        self._hessian: dict[tuple[int, int], list[tuple[int, Any]]] = {}
        for number, gradient in enumerate(gradients):
            for row, derivative in gradient.items():
                for column, second in self._gradient(derivative).items():
                    if column <= row:
                        self._hessian.setdefault((row, column), []).append((number, second))
        self.sign = -1.0 if self._goal.sense == pyo.maximize else 1.0
        # every second derivative with the entry it adds to and the function it is of
        seconds = [
            (entry, *term) for entry, terms in enumerate(self._hessian.values()) for term in terms
        ]
        self._entries = np.array([entry for entry, _, _ in seconds], dtype=np.int64)
        self._functions = np.array([number for _, number, _ in seconds], dtype=np.int64)
        self._goal_tape = self._tape([self._goal.expr])
        self._goal_gradient_tape = self._tape(list(self._goal_gradient.values()))
        self._body_tape = self._tape([c.body for c in self._bodies])
        self._jacobian_tape = self._tape([derivative for _, _, derivative in self._jacobian])
        self._hessian_tape = self._tape([derivative for _, _, derivative in seconds])

    def _tape(self, expressions: Sequence[Any]) -> Callable[[Vector], Vector]:
        """A function that evaluates expressions, and tells Ipopt where that is impossible."""
        import cyipopt

        tape = Tape(expressions, self.variables)

        def evaluate(y: Vector) -> Vector:
            try:
                return np.array(tape.evaluate(y), dtype=np.float64)
            except (ArithmeticError, ValueError) as error:  # Ipopt takes a shorter step
                raise cyipopt.CyIpoptEvaluationError(str(error)) from None

        return evaluate

    def _gradient(self, expression: Any) -> dict[int, Any]:
        from pyomo.core.expr.calculus.derivatives import Modes, differentiate
        from pyomo.core.expr.visitor import identify_variables

        if not hasattr(expression, "is_expression_type") or expression.is_constant():
            return {}
        variables = list(identify_variables(expression, include_fixed=False))
        derivatives = (
            differentiate(expression, wrt_list=variables, mode=Modes.reverse_symbolic)
            if variables
            else []
        )
        return {self._position[id(v)]: d for v, d in zip(variables, derivatives, strict=True)}

    def bounds(self) -> list[Vector]:
        """Lower and upper bounds of variables, then of constraint bodies."""
        ends = [(v.lb, v.ub) for v in self.variables], [(c.lower, c.upper) for c in self._bodies]
        return [
            np.array(
                [missing if end[side] is None else float(self._value(end[side])) for end in some]
            )
            for some in ends
            for side, missing in enumerate((-np.inf, np.inf))
        ]

    def objective(self, y: Vector) -> float:
        return self.sign * float(self._goal_tape(y)[0])

    def gradient(self, y: Vector) -> Vector:
        gradient = np.zeros(len(self.variables))
        gradient[list(self._goal_gradient)] = self.sign * self._goal_gradient_tape(y)
        return gradient

    def constraints(self, y: Vector) -> Vector:
        return self._body_tape(y)

    def jacobian(self, y: Vector) -> Vector:
        return self._jacobian_tape(y)

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        return _pairs([(r, c) for r, c, _ in self._jacobian])

    def hessian(self, y: Vector, multipliers: Vector, factor: float) -> Vector:
        """The second derivatives of the Lagrangian, in the order of `hessianstructure`.

        Parameters
        ----------
        y : array of float, shape (variables,)
            The point.
        multipliers : array of float, shape (constraints,)
            The multiplier of each constraint's body.
        factor : float
            That of the objective.

        Raises
        ------
        cyipopt.CyIpoptEvaluationError
            Where an expression has no value at the point.
        """
        weights = np.array([self.sign * factor, *multipliers])
        values: Vector = np.zeros(len(self._hessian))
        np.add.at(values, self._entries, weights[self._functions] * self._hessian_tape(y))
        return values

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return _pairs(list(self._hessian))


def _pairs(entries: list[tuple[int, int]]) -> tuple[Indices, Indices]:
    rows, columns = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    return rows, columns


def solve_pyomo(model: Any, callbacks: PyomoCallbacks | None = None, **options: Any) -> IpoptEnd:
    """Minimise (or maximise) a smooth Pyomo model from its variables' values, which then hold the
    optimum.

    Parameters
    ----------
    model : ConcreteModel
        One active objective, any constraints, and continuous variables that all have values.
    callbacks : PyomoCallbacks, optional
        Those of the model, to solve it from several points; by default they are made anew.
    **options : object
        Options of Ipopt's.
    """
    callbacks = callbacks or PyomoCallbacks(model)
    start = np.array([variable.value for variable in callbacks.variables], dtype=np.float64)
    optimum = minimize(callbacks, start, callbacks.bounds(), options)
    for variable, value in zip(callbacks.variables, optimum.point, strict=True):
        variable.set_value(float(value), skip_validation=True)
    return replace(optimum, objective=callbacks.sign * optimum.objective)


#: What the commonest Pyomo nodes compute; the others are asked.
OPERATIONS: Mapping[str, Callable[..., float]] = {
    "ProductExpression": operator.mul,
    "MonomialTermExpression": operator.mul,
    "DivisionExpression": operator.truediv,
    "NegationExpression": operator.neg,
}


class Tape:
    """Pyomo expressions over variables, compiled for repeated evaluation at values of these in
    their order."""

    def __init__(self, expressions: Sequence[Any], variables: Sequence[Any]) -> None:
        self._slot = {id(variable): place for place, variable in enumerate(variables)}
        self._values = [0.0] * len(variables)
        self._count = len(variables)
        self._steps: list[tuple[int, Callable[..., float], Callable[[list[float]], Any]]] = []
        # steps of the same operation on the same values are taken once
        self._known: dict[tuple[Any, tuple[int, ...]], int] = {}
        # an id stays that of one node as long as the node lives
        self._nodes: list[Any] = [*variables, *expressions]
        self._results = [self._place(expression) for expression in expressions]

    def evaluate(self, y: Vector) -> list[float]:
        """Values of the expressions, in their order; `ArithmeticError` or `ValueError` if one of
        them has none here."""
        values = self._values
        values[: self._count] = y.tolist()
        for slot, operation, arguments in self._steps:
            values[slot] = operation(*arguments(values))
        return [values[slot] for slot in self._results]

    def _place(self, root: Any) -> int:
        """Write down the steps to an expression, unless they have been; where its value will
        stand."""
        from pyomo.environ import value

        waiting: list[tuple[Any, tuple[Any, ...] | None]] = [(root, None)]
        while waiting:
            node, arguments = waiting.pop()
            if id(node) in self._slot:
                continue
            if arguments is not None:
                self._slot[id(node)] = self._step(node, tuple(self._slot[id(a)] for a in arguments))
            elif hasattr(node, "is_expression_type") and node.is_expression_type():
                # its arguments first; asked for once, because a node may make new ones each time
                arguments = tuple(node.args)
                self._nodes.extend(arguments)
                waiting += [(node, arguments), *((a, None) for a in arguments)]
            else:
                self._slot[id(node)] = self._new_value(float(value(node)))
        return self._slot[id(root)]

    def _step(self, node: Any, slots: tuple[int, ...]) -> int:
        kind = type(node).__name__
        operation = OPERATIONS.get(kind)
        key: tuple[Any, tuple[int, ...]] = (kind, slots)
        if operation is None:
            operation, key = (
                _operation_of(node),
                (node.getname() if kind == "UnaryFunctionExpression" else id(node), slots),
            )
        if key not in self._known:
            self._known[key] = self._new_value(0.0)
            self._steps.append((self._known[key], operation, _pick(slots)))
        return self._known[key]

    def _new_value(self, value: float) -> int:
        self._values.append(value)
        return len(self._values) - 1


def _operation_of(node: Any) -> Callable[..., float]:
    compute: Callable[[tuple[float, ...]], float] = node._apply_operation
    return lambda *values: compute(values)


def _pick(slots: tuple[int, ...]) -> Callable[[list[float]], Any]:
    """The values that stand in some slots, as a tuple."""
    if len(slots) == 1:
        (only,) = slots
        return lambda values: (values[only],)
    return operator.itemgetter(*slots)


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
