"""The exact model as an objective for search tools."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.exports.seeds.parameters import ParameterSpace
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.membership import in_design_space
from ithaca.formulations.systolic.tiling import Tiling

#: What an infeasible point costs at least: more than any feasible one.
INFEASIBLE = 1e100


def score(space: ParameterSpace, parameters: Mapping[str, int]) -> tuple[Fraction, Fraction]:
    """The objective at a point, and by how much the point breaks the limits.

    Both come from the Fraction reference, so a tool that minimises the value where the violation
    is 0 solves exactly the problem that the solver proves.

    Returns
    -------
    value : Fraction
        The objective of the tiling that the parameters decode to.
    violation : Fraction
        0 exactly where that tiling is feasible; otherwise the excess over all limits, relative to them.
    """
    return score_tiling(space.problem, space.decode(parameters))


def score_tiling(problem: Problem, tiling: Tiling) -> tuple[Fraction, Fraction]:
    """The same for a tiling (of the design space: t1, t2 and packs of single loops are not checked)."""
    costs = problem.costs(tiling)
    violation = Fraction(0)
    for limit in problem.exceeded(costs):
        violation += (limit.used(costs) - limit.bound) / max(abs(limit.bound), Fraction(1))
    if problem.array.pe.accumulators is not None and costs.accumulation < 0:
        violation -= costs.accumulation / (problem.data.accumulator_factor * tiling.simd)
    if not in_design_space(problem, tiling):
        violation += 1
    return problem.value(costs), violation


def penalised(space: ParameterSpace, parameters: Mapping[str, int]) -> float:
    """One number to minimise: the objective where feasible, else `INFEASIBLE` times 1 + violation."""
    value, violation = score(space, parameters)
    return float(value) if not violation else INFEASIBLE * (1 + float(violation))
