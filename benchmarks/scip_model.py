"""A problem as a mixed-integer nonlinear program, solved by SCIP.

Built from what the other engines take: the expressions of `Problem.symbolic`, the quantities' ranges, and the
legality of packs. Products of variables are left to SCIP, which relaxes them spatially. SCIP computes
in floating point, with tolerances; configurations it finds are evaluated by the Fraction reference.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from benchmarks.scip_numbers import Quantity, integer, power_of_two, scip_numbers
from ithaca.formulations.algebra.expression import CeilingDivision, Expression, walk
from ithaca.formulations.problem import Problem, SpaceOptions
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import largest_t1, simd_options, tiling_of
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.packing import pack_options
from ithaca.solver.cpsat.packs import require_legal_pack
from ithaca.solver.tables.granularity import granularity


@dataclass
class ScipRun:
    """What SCIP found.

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
        Design, limits, objective; without restrictions of the design space.
    """

    def __init__(self, problem: Problem) -> None:
        from pyscipopt import Model

        if problem.space != SpaceOptions(min_lanes=problem.space.min_lanes):
            raise ValueError("the SCIP model knows no restriction of the design space but min_lanes")
        self.problem = problem
        self.model = Model()
        self.model.hideOutput()
        self.values: dict[str, Quantity] = {}
        for loop in problem.array.band:
            self._add_loop(loop)
        for group in problem.array.packed_groups:
            options = pack_options(group.packing, problem.data)
            self.values[quantities.pack(group.name).name] = power_of_two(self.model, int(options[-1]))
        self._exact = scip_numbers(self.model, exact_extremes=True)
        for group in problem.array.packed_groups:
            require_legal_pack(problem, group, self)
        symbolic = problem.symbolic()
        numbers = scip_numbers(self.model)
        for node in (symbolic.objective, *(e for e, _ in symbolic.constraints)):
            _check_ceilings(problem, node)
        for expression, bound in symbolic.constraints:
            self.model.addCons(expression.evaluate(self.values, numbers).expression <= float(bound))
        objective = symbolic.objective.evaluate(self.values, numbers)
        goal = self.model.addVar(vtype="C", lb=float(objective.range.low), ub=float(objective.range.high))
        self.model.addCons(goal >= objective.expression)
        self.model.setObjective(goal, "minimize")

    def _add_loop(self, loop: str) -> None:
        problem, model = self.problem, self.model
        extent, most = problem.nest.sizes[loop], largest_t1(problem.nest.sizes[loop])
        fewest = problem.space.min_lanes if loop in problem.array.dataflow else 1
        tiles, t1, lanes = integer(model, 1, extent), integer(model, 1, most), integer(model, fewest, most)
        simd = loop == problem.array.simd_loop
        t2 = power_of_two(model, int(simd_options(problem.data)[-1])) if simd else integer(model, 1, most)
        model.addCons(t1.expression == t2.expression * lanes.expression)
        # tiles = ceil(extent / t1)
        model.addCons(tiles.expression * t1.expression >= extent)
        model.addCons((tiles.expression - 1) * t1.expression <= extent - 1)
        names = (quantities.tiles, quantities.t1, quantities.t2, quantities.lanes)
        self.values |= {q(loop).name: value for q, value in zip(names, (tiles, t1, t2, lanes), strict=True)}

    def require_at_most(self, node: Expression, bound: Fraction) -> None:
        """Add ``node ≤ bound``, maxima and minima stated exactly."""
        self.model.addCons(node.evaluate(self.values, self._exact).expression <= float(bound))

    def require_multiple(self, multiple: Expression, of: Expression) -> None:
        """Add that ``multiple`` is an integer multiple of ``of``; both are positive integers."""
        dividend, divisor = (node.evaluate(self.values, self._exact) for node in (multiple, of))
        quotient = integer(self.model, 1, int((dividend.range / divisor.range).high))
        self.model.addCons(dividend.expression == quotient.expression * divisor.expression)

    def read(self, solution: Any) -> Fraction | None:
        """The objective of a solution by the Fraction reference; None if it refuses the solution."""
        values: Mapping[str, int] = {
            name: round(self.model.getSolVal(solution, value.expression)) for name, value in self.values.items()
        }
        return feasible_value(self.problem, tiling_of(self.problem.array, values))


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
                step = granularity(operand, problem.data)
                if not step or step.denominator != 1:
                    raise ValueError(f"the SCIP model takes ceilings of integers only, not {part}")
