"""A problem as a mixed-integer nonlinear program, solved by SCIP.

Built from what the other engines take: the expressions of `Problem.symbolic`, and the quantities
and rules of the space. Products of variables are left to SCIP, which relaxes them spatially. SCIP
computes in floating point, with tolerances; configurations it finds are evaluated by the Fraction
reference.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from benchmarks.scip_numbers import Quantity, integer, power_of_two, scip_numbers
from ithaca.formulations.algebra.expression import CeilingDivision, Expression, walk
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Link, QuantityKind, Relation
from ithaca.solver.tables.granularity import granularity


@dataclass
class ScipRun:
    """A run of SCIP.

    Attributes
    ----------
    incumbents : list of (float, Fraction)
        Seconds, and value by the Fraction reference, of each improvement.
    bound : float or None
        SCIP's dual bound, in floating point.
    claimed : float or None
        SCIP's own value of its best solution.
    proven : bool
        Whether SCIP says, within its tolerances, that it is done.
    infeasible : int
        Solutions of SCIP that the reference refuses.
    seconds : float
        In all, the statement of the problem included.
    """

    incumbents: list[tuple[float, Fraction]] = field(default_factory=list)
    bound: float | None = None
    claimed: float | None = None
    proven: bool = False
    infeasible: int = 0
    seconds: float = 0.0

    @property
    def value(self) -> Fraction | None:
        """The best value found."""
        return min((value for _, value in self.incumbents), default=None)


class ScipProblem:
    """A design stated to SCIP.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    """

    def __init__(self, problem: Problem) -> None:
        from pyscipopt import Model

        self.problem = problem
        self.model = Model()
        self.model.hideOutput()
        self.values: dict[str, Quantity] = {}
        # what a range says of other quantities follows from the range of their product
        for name, (low, high) in problem.space.ranges.items():
            binary = problem.space.quantities[name].kind is QuantityKind.POWER_OF_TWO
            self.values[name] = (
                power_of_two(self.model, high) if binary else integer(self.model, low, high)
            )
        self._exact = scip_numbers(self.model, exact_extremes=True)
        for link in (
            *(link for axis in problem.space.axes for link in axis.links),
            *problem.space.links,
        ):
            self._require(link)
        symbolic = problem.symbolic()
        numbers = scip_numbers(self.model)
        for node in (symbolic.objective, *(e for e, _ in symbolic.constraints)):
            _check_ceilings(problem, node)
        for expression, bound in symbolic.constraints:
            self.model.addCons(expression.evaluate(self.values, numbers).expression <= float(bound))
        objective = symbolic.objective.evaluate(self.values, numbers)
        goal = self.model.addVar(
            vtype="C", lb=float(objective.range.low), ub=float(objective.range.high)
        )
        self.model.addCons(goal >= objective.expression)
        self.model.setObjective(goal, "minimize")

    def _require(self, link: Link) -> None:
        """Add a rule of the space, maxima and minima stated exactly."""
        left, right = (side.evaluate(self.values, self._exact) for side in (link.left, link.right))
        if link.relation is Relation.DIVIDES:
            quotient = integer(self.model, 1, int((right.range / left.range).high))
            self.model.addCons(right.expression == quotient.expression * left.expression)
        elif link.relation is Relation.EQUAL:
            self.model.addCons(left.expression == right.expression)
        else:
            self.model.addCons(left.expression <= right.expression)

    def read(self, solution: Any) -> Fraction | None:
        """The objective of a solution by the Fraction reference; None if it refuses the
        solution."""
        values: Mapping[str, int] = {
            name: round(self.model.getSolVal(solution, value.expression))
            for name, value in self.values.items()
        }
        return self.problem.feasible_value(values)


def solve_by_scip(problem: Problem, seconds: float) -> ScipRun:
    """Run SCIP, one thread, for some seconds at most."""
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    began = time.perf_counter()
    run, stated = ScipRun(), ScipProblem(problem)
    model = stated.model

    class Watcher(Eventhdlr):  # type: ignore[misc]
        """Notes improvements as they are found."""

        def eventinit(self) -> None:
            model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, event: Any) -> None:
            note(model.getBestSol())

    def note(solution: Any) -> None:
        value = stated.read(solution)
        if value is None:
            run.infeasible += 1
        elif run.value is None or value < run.value:
            run.incumbents.append((time.perf_counter() - began, value))

    model.includeEventhdlr(Watcher(), "incumbents", "notes improvements")
    model.setParam("limits/time", max(seconds - (time.perf_counter() - began), 0.01))
    model.setParam("limits/gap", 0.0)
    model.optimize()
    run.proven = model.getStatus() == "optimal"
    run.bound = model.getDualbound()
    if model.getNSols():
        run.claimed = model.getSolObjVal(model.getBestSol())
        note(model.getBestSol())
    run.seconds = time.perf_counter() - began
    return run


def _check_ceilings(problem: Problem, node: Expression) -> None:
    """Ceilings are stated for integers only."""
    for part in walk(node):
        if isinstance(part, CeilingDivision):
            for operand in part.children:
                step = granularity(operand, problem.space.powers)
                if not step or step.denominator != 1:
                    raise ValueError(f"the SCIP model takes ceilings of integers only, not {part}")
