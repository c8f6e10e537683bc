"""Whether a configuration is one of a problem's: in its design space, and within its limits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design_space import largest_t1, pack_legality, simd_options
from ithaca.formulations.systolic.systolic_array import IOGroup
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.errors import InputError


def feasible_value(problem: Problem, tiling: Tiling) -> Fraction | None:
    """The exact objective of a configuration; None if it is outside the design space or breaks a limit."""
    if not in_design_space(problem, tiling):
        return None
    costs = problem.costs(tiling)
    return problem.value(costs) if costs.meets_bounds and not problem.exceeded(costs) else None


def in_design_space(problem: Problem, tiling: Tiling) -> bool:
    """Whether a tiling is a point of a problem's design space (DESIGN.md §4 and §5.5), limits aside."""
    array, space, sizes = problem.array, problem.space, problem.nest.sizes
    try:
        values = tiling.quantities(array, sizes)
    except InputError:  # it belongs to another design
        return False
    for loop in array.band:
        outer, inner = tiling.array_part[loop], tiling.t2(array, loop)
        idle = loop in array.dataflow and (inner == 1 or loop == array.simd_loop)
        idle = idle and outer // inner <= problem.physical.idle_lanes
        if (outer > largest_t1(sizes[loop]) and not idle) or (space.divisors_only and sizes[loop] % outer):
            return False
        if loop in array.dataflow and outer // inner < space.min_lanes:
            return False
    if tiling.simd not in simd_options(problem.data):
        return False
    if any(values[name] != value for name, value in problem.physical.given(array).items()):
        return False
    return all(_pack_is_legal(problem, group, tiling, values) for group in array.packed_groups)


def _pack_is_legal(problem: Problem, group: IOGroup, tiling: Tiling, values: dict[str, Fraction]) -> bool:
    pack = tiling.pack[group.name]
    if pack & (pack - 1):
        return False
    last, multiple = (int(e.evaluate(values, FRACTION)) for e in (group.packing.last, group.packing.multiple_of))
    legal = pack_legality(problem, group, *(np.array([n]) for n in (pack, last, multiple)))
    return bool(legal[0])
