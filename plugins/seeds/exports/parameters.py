"""A design's space as integer parameters for every search tool, and the exact score of a point.

A family names the quantities that tools choose (`Design.parameters`); a power of two is given by
its exponent. Any integers decode to a legal configuration, by the rule of
`ithaca.formulations.repair`, in the order of the parameters: take the largest legal value that does
not exceed the parameter, or the smallest legal one if all exceed it. Of a systolic array:

=============  ======================  ==========================================================
parameter      range                   meaning
=============  ======================  ==========================================================
``t1_<loop>``  1 … max(2·extent, 16)   array partitioning factor of a band loop
``t2_<loop>``  1 … max(2·extent, 16)   latency hiding factor of a band loop that has one
``simd``       0 … log2(widest)        exponent of the SIMD factor, a power of two
``inner_<l>``  1 … tiles               tiles of an outer tile, where tiles are tiled again
``pack_<g>``   0 … log2(widest)        exponent of the packing factor of I/O group g, a power of 2
``ports_<g>``  1 … most                memory ports of I/O group g, where it may have several
=============  ======================  ==========================================================

So t2 becomes the largest divisor of t1 not above it. In the odyssey model edition packs follow from
the other factors, and so are no parameters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.reading import read_document
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.repair import Repair
from ithaca.formulations.space import QuantityKind
from ithaca.results.files import read_result
from ithaca.solver.result import Result

#: What an infeasible point costs at least: more than any feasible one.
INFEASIBLE = 1e100


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer that a search tool may choose."""

    name: str
    """Its name."""
    low: int
    """Smallest and largest value."""
    high: int
    quantity: str
    """The quantity it stands for."""
    exponent: bool
    """Whether the quantity is 2 to the power of it."""


@dataclass(frozen=True)
class ParameterSpace:
    """The parameters of a design, and how they become configurations."""

    problem: Problem
    """The design with its limits and objective."""
    parameters: tuple[Parameter, ...]
    """In a fixed order, that of `Design.parameters`."""
    fixes: Repair
    """The rule of repair."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(p.name for p in self.parameters)

    def encode(self, configuration: Mapping[str, int]) -> dict[str, int]:
        """The parameters of a configuration, of which `decode` makes it again."""
        values = ((p, configuration[p.quantity]) for p in self.parameters)
        return {p.name: value.bit_length() - 1 if p.exponent else value for p, value in values}

    def decode(self, parameters: Mapping[str, int]) -> Configuration:
        """The legal configuration for parameters, repaired also where they are out of range.

        Every parameter is a whole number, of any type. Raises `InputError` if one is missing,
        unknown or no whole number.
        """
        values, _ = self.fixes.nearest(
            np.array([[value] for value in self._wanted(parameters)], dtype=np.int64)
        )
        return Configuration({name: int(value[0]) for name, value in values.items()})

    def vector(self, configuration: Mapping[str, int]) -> list[int]:
        """The parameters of a configuration as a list, in their order."""
        return list(self.encode(configuration).values())

    def named(self, vector: Sequence[int]) -> dict[str, int]:
        """Parameters by name, from a list in their order."""
        return dict(zip(self.names, vector, strict=True))

    def _wanted(self, parameters: Mapping[str, int]) -> Iterator[int]:
        wrong = sorted(set(parameters) ^ set(self.names))
        if wrong:
            what = "missing" if wrong[0] in self.names else "unknown"
            raise InputError(
                f"parameter '{wrong[0]}' is {what}; allowed: exactly {', '.join(self.names)}"
            )
        for p in self.parameters:
            value = parameters[p.name]
            if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
                raise InputError(
                    f"parameter '{p.name}' is {value}; allowed: an integer from {p.low} to {p.high}"
                )
            clipped = min(max(int(value), p.low), p.high)
            yield 1 << clipped if p.exponent else clipped


def parameter_space(problem: Problem) -> ParameterSpace:
    """Build the parameters of a design.

    Raises `InputError` if the design space is empty (min_lanes and divisors_only can leave
    nothing).
    """
    named, space = profile_of(problem.design).parameters, problem.space
    fixes = Repair(space, tuple(named.values()))
    if fixes.empty is not None:
        raise InputError(f"the design space of {problem.design.name} is empty at '{fixes.empty}'")
    parameters = []
    for name, quantity in named.items():
        if space.quantities[quantity].kind is QuantityKind.POWER_OF_TWO:
            parameters.append(
                Parameter(name, 0, fixes.bounds(quantity)[1].bit_length() - 1, quantity, True)
            )
        else:
            parameters.append(Parameter(name, *space.ranges[quantity], quantity, False))
    return ParameterSpace(problem, tuple(parameters), fixes)


def result_space(source: Result | Path | str, design: str | None = None) -> ParameterSpace:
    """The parameters of a result's design, with the limits and objective it was solved for.

    By default of the best one; ``design`` is the name of another, such as ``[i,j] C``. Raises
    `InputError` if a file is no result, or one holds no configuration of the design.
    """
    result = source
    if not isinstance(result, Result):
        result = read_result(read_document(result), Path(result))
    solutions = {s.design: s for s in result.solutions if s.configuration is not None}
    if design is None and result.best is not None:
        return parameter_space(result.best.problem)
    if design not in solutions:
        held = ", ".join(solutions) or "none"
        raise InputError(
            f"{result.source} holds no configuration of {design or 'any design'}; it has: {held}"
        )
    return parameter_space(solutions[design].problem)


# -- the exact model as an objective ---------------------------------------------------


def score(space: ParameterSpace, parameters: Mapping[str, int]) -> tuple[Fraction, Fraction]:
    """The objective at a point, and by how much the point breaks the limits.

    The value is that of the configuration that the parameters decode to; the violation is 0 exactly
    where that is feasible, otherwise the excess over all limits, relative to them. Both come from
    the Fraction reference, so a tool that minimises the value where the violation is 0 solves
    exactly the problem that the solver proves.
    """
    return score_configuration(space.problem, space.decode(parameters))


def score_configuration(
    problem: Problem, configuration: Configuration
) -> tuple[Fraction, Fraction]:
    """The objective at a configuration, and by how much it breaks the limits."""
    values = exactly(configuration)
    metrics = problem.design.lookup(values, FRACTION, problem.used_metrics)
    used = [(limit.used(metrics), limit.bound) for limit in problem.limits]
    used += problem.design.conditions(values, FRACTION)
    violation = sum(
        (max(use - bound, Fraction(0)) / max(abs(bound), Fraction(1)) for use, bound in used),
        Fraction(0),
    )
    return problem.objective.value(metrics), violation + (not problem.space.contains(configuration))


def penalised(space: ParameterSpace, parameters: Mapping[str, int]) -> float:
    """The objective at a feasible point, else `INFEASIBLE` times 1 + violation; to be minimised."""
    value, violation = score(space, parameters)
    return float(value) if not violation else INFEASIBLE * (1 + float(violation))


# -- seeds ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Seeds:
    """Start configurations of one design."""

    space: ParameterSpace
    """The design's parameters."""
    configurations: tuple[Configuration, ...]
    """The configurations, the one to try first first."""

    @property
    def parameters(self) -> tuple[dict[str, int], ...]:
        """The configurations as parameters by name."""
        return tuple(self.space.encode(configuration) for configuration in self.configurations)


def json_list(items: Iterable[Any]) -> str:
    """A JSON list as text, one item a line: easy to read, to compare and to cut."""
    return "[\n" + ",\n".join("  " + json.dumps(item) for item in items) + "\n]\n"
