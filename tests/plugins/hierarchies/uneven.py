"""A product on the memory hierarchy of `tests.plugins.hierarchies.mapped`, every tensor with tiles of its own,
and all places of all prime factors between all storage nodes."""

from fractions import Fraction
from functools import cache

import numpy as np

from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from tests.plugins.hierarchies.formulations.placed import placed_models
from tests.plugins.hierarchies.mapped import ARCHITECTURE, NEST

DESIGN = UnevenDesign(NEST, ARCHITECTURE, MappingOptions(divisors_only=True))


def uneven_problem(objective="latency", **limits):
    """Divisor mappings with limits on metrics."""
    bounds = tuple(Limit(name, Fraction(bound)) for name, bound in limits.items())
    return Problem(DESIGN, bounds, read_objective(objective, "objective", DESIGN.vocabulary))


@cache
def every_mapping():
    """Latency, energy and multipliers of all mappings that fit."""
    vectors = set()
    for model, fits in placed_models(DESIGN):
        columns = [model.metric(name) for name in ("latency", "energy", "pes")]
        rows = np.stack([np.broadcast_to(column, fits.shape) for column in columns], axis=1)
        vectors |= {tuple(map(int, row)) for row in np.unique(rows[fits], axis=0)}
    return frozenset(vectors)


def _feasible(problem):
    named = [dict(zip(("latency", "energy", "pes"), row, strict=True)) for row in every_mapping()]
    return [m for m in named if all(m[limit.metric] <= limit.bound for limit in problem.limits)]


def optimum(problem):
    """The least objective of any mapping within the limits."""
    values = [Fraction(metrics[problem.objective.text]) for metrics in _feasible(problem)]
    return min(values, default=None)


def front(problems, objectives):
    """The values that no other mapping within the limits dominates."""
    (problem,) = problems
    vectors = {tuple(float(metrics[name]) for name in objectives) for metrics in _feasible(problem)}
    return {
        v
        for v in vectors
        if not any(w != v and all(a <= b for a, b in zip(w, v, strict=True)) for w in vectors)
    }
