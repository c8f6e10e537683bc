"""A small matrix product on a small memory hierarchy, and all its mappings, counted by the rules of
the real tool."""

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import prod

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.exports.timeloop_rules import Lanes, Mapped, Storage, Tensor, count

EXTENTS = {"i": 2, "j": 2, "k": 4}
NEST = workload("mm", EXTENTS)
DRAM, BUFFER, MAC = Fraction(60), Fraction(7), Fraction(2)
ARCHITECTURE = Architecture(
    "small",
    (
        Level(
            "DRAM",
            read_energy=DRAM,
            write_energy=DRAM,
            update_energy=DRAM,
            read_bandwidth=Fraction(3),
        ),
        Level("Buffer", 9, read_energy=BUFFER, write_energy=BUFFER, update_energy=BUFFER),
    ),
    Compute("mac", 4, 2, 2, MAC),
)
TENSORS = (
    Tensor("A", ((("i", 1),), (("k", 1),)), False),
    Tensor("B", ((("j", 1),), (("k", 1),)), False),
    Tensor("C", ((("i", 1),), (("j", 1),)), True),
)


def mapped_problem(objective="latency", **limits):
    """Divisor mappings with limits on metrics."""
    design = SpatialDesign(NEST, ARCHITECTURE, MappingOptions(divisors_only=True))
    bounds = tuple(Limit(name, Fraction(bound)) for name, bound in limits.items())
    return Problem(
        design,
        bounds,
        Objective(objective, parse_expression(objective, where="o", allowed=design.vocabulary)),
    )


def optimum(problem):
    """The least objective of any mapping within the limits."""
    return min((metrics[problem.objective.text] for metrics in _feasible(problem)), default=None)


def front(problems, objectives):
    """The values that no other mapping within the limits dominates."""
    (problem,) = problems
    found = {tuple(float(metrics[name]) for name in objectives) for metrics in _feasible(problem)}
    return {
        v
        for v in found
        if not any(w != v and all(a <= b for a, b in zip(w, v, strict=True)) for w in found)
    }


def _feasible(problem):
    return [
        m
        for m in every_mapping()
        if all(m[limit.metric] <= limit.bound for limit in problem.limits)
    ]


@cache
def every_mapping():
    """The metrics of all mappings that fit: every factorisation, every order."""
    return tuple(_mappings())


def _mappings():
    loops = list(EXTENTS)
    splits = [
        [
            f for f in product(range(1, n + 1), repeat=4) if prod(f) == n and 1 in f[2:]
        ]  # along one direction of a mesh
        for n in EXTENTS.values()
    ]
    for chosen in product(*splits):
        outer, inner, x, y = (
            dict(zip(loops, column, strict=True)) for column in zip(*chosen, strict=True)
        )
        if prod(x.values()) > 2 or prod(y.values()) > 2:
            continue
        for first, second in product(permutations(loops), repeat=2):
            everything = frozenset("ABC")
            nodes = (
                Storage(
                    "DRAM",
                    everything,
                    tuple((d, outer[d]) for d in first),
                    read_bandwidth=Fraction(3),
                ),
                Storage("Buffer", everything, tuple((d, inner[d]) for d in second), 9),
                Lanes(tuple((d, x[d] * y[d]) for d in loops)),
            )
            found = count(Mapped(TENSORS, nodes, EXTENTS))
            if not found.overfull:
                words = [
                    cost * sum(sum(part.values()) for part in (c.reads, c.fills, c.updates))
                    for cost, c in ((DRAM, found.levels["DRAM"]), (BUFFER, found.levels["Buffer"]))
                ]
                energy = sum(words, MAC * found.macs)
                yield {
                    "latency": Fraction(found.cycles),
                    "energy": energy,
                    "pes": Fraction(found.multipliers),
                }
