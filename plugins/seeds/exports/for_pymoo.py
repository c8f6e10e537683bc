"""Seeds for pymoo (https://pymoo.org): an initial population.

In Python they are a population; the file is a JSON document with the parameters' ``names``, their
bounds ``xl`` and ``xu``, and the population ``X``, one row per seed::

    population = ithaca.seed(result, "pymoo", count=20)
    population = np.array(json.load(open("seeds.json"))["X"])

    algorithm = GA(pop_size=20, sampling=population, repair=RoundingRepair())
    minimize(pymoo_problem(result_space(result)), algorithm, ("n_eval", 200))

The first generation is then exactly the seeds, in order. Limits are constraints of the problem.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ithaca.files.extras import peer
from ithaca.formulations.algebra.array_types import Integers
from ithaca.plugins.seeds.exports.parameters import ParameterSpace, Seeds, json_list, score


def pymoo_text(seeds: Seeds) -> str:
    """The file: names, bounds and population."""
    parameters = seeds.space.parameters
    head = {
        "names": [p.name for p in parameters],
        "xl": [p.low for p in parameters],
        "xu": [p.high for p in parameters],
    }
    lines = [f'"{name}": {json.dumps(values)}' for name, values in head.items()]
    rows = json_list(list(seed.values()) for seed in seeds.parameters)
    return "{\n" + ",\n".join([*lines, f'"X": {rows}']) + "}\n"


def pymoo_sampling(space: ParameterSpace, parameters: Iterable[Mapping[str, int]]) -> Integers:
    """The initial population, for ``sampling=`` of an algorithm: one row per seed."""
    return np.array([[seed[name] for name in space.names] for seed in parameters], dtype=np.int64)


def pymoo_population(seeds: Seeds) -> Any:
    """The initial population as pymoo's, for ``sampling=`` of an algorithm.

    Raises `InputError` if pymoo is not installed.
    """
    rows = pymoo_sampling(seeds.space, seeds.parameters)
    return peer("pymoo.core.population").Population.new("X", rows)


def pymoo_problem(space: ParameterSpace) -> Any:
    """The problem to minimise, with the violation of the limits as its constraint.

    Raises `InputError` if pymoo is not installed.
    """

    @lru_cache(maxsize=1)
    def scored(point: tuple[int, ...]) -> tuple[float, float]:
        value, violation = score(space, space.named(point))
        return float(value), float(violation)

    def point(x: Any) -> tuple[int, ...]:
        return tuple(round(float(v)) for v in x)

    return peer("pymoo.problems.functional").FunctionalProblem(
        len(space.parameters),
        lambda x: scored(point(x))[0],
        constr_ieq=[lambda x: scored(point(x))[1]],
        xl=np.array([p.low for p in space.parameters]),
        xu=np.array([p.high for p in space.parameters]),
        vtype=int,
    )
