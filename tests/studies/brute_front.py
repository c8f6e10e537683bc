"""The front of small problems by enumerating every point, with none of the solver's parts."""

import numpy as np

from ithaca.formulations.systolic.metrics import parse_objective
from tests.solver.enumeration import objectives_of_all


def brute_front(problems, objectives):
    """All vectors of objectives that no configuration of any design dominates."""
    expressions = [parse_objective(text).expression for text in objectives]
    fronts = [
        _undominated(values.T)
        for problem in problems
        for values in objectives_of_all(problem, expressions)
    ]
    if not fronts:
        return set()
    return {tuple(v) for v in _undominated(np.concatenate(fronts)).tolist()}


def _undominated(vectors):
    # in lexicographic order only an earlier vector can dominate a later one
    vectors = np.unique(vectors, axis=0)
    kept = []
    for vector in vectors:
        if not any((k <= vector).all() for k in kept):
            kept.append(vector)
    return np.array(kept)
