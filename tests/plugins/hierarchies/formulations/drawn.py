"""Small problems of mappings drawn at random, all of whose configurations are enumerated."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.problem_files import read_problem
from tests.plugins.hierarchies.formulations.cases import golden, nest_of
from tests.whole_spaces import crossed, lengths, linked, size_of, tables_of

STATEMENTS = (
    "O[m][n] += A[m][k] * B[n][k]",
    "O[m][p] += W[m][c][r] * I[c][p+r]",
    "O[p][q] += W[r][s] * I[p+r][q+s]",
    "O[c][p] += W[c][r] * I[c][p+r]",
    "O[m][p] += W[m][r] * I[2*p+r]",
    "O[p] += W[r] * I[p+r]",
    "O[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
)

OBJECTIVES = ("energy", "latency", "edp", "energy*latency", "latency*latency + energy")


MOST = 400_000


def posed(design, objective, limits=()):
    expression = parse_expression(objective, where="objective", allowed=design.vocabulary)
    return Problem(design, tuple(limits), Objective(objective, expression))


def drawn_nest(rng, sizes=None):
    statement = rng.choice(STATEMENTS)
    loops = sorted({c for c in statement if c.islower()})
    sizes = sizes or ((1, 2, 3, 4, 6, 8) if len(loops) < 4 else (1, 2, 2, 3, 4))
    return nest_of(statement, {loop: rng.choice(sizes) for loop in loops})


def drawn_architecture(rng, nest, depths=(2, 2, 3)):
    """Two or three levels with bypasses, tight capacities, bandwidths and nested meshes."""
    tensors = [access.tensor for access in nest.accesses]
    x = y = 1
    levels = []
    for place in range(rng.choice(depths)):
        kept = frozenset(t for t in tensors if not place or rng.random() < 0.7) or frozenset(
            tensors[:1]
        )
        costs = [Fraction(rng.randrange(800 if not place else 40), 4) for _ in range(3)]
        rates = [
            rng.choice((None, None, Fraction(1, 2), Fraction(1), Fraction(4))) for _ in range(2)
        ]
        words = rng.choice((None, 4, 6, 10, 20, 40)) if place else None
        level = Level(f"L{place}", words=words, keeps=kept, instances=x * y, mesh_x=x, mesh_y=y)
        level = replace(
            level,
            read_bandwidth=rates[0],
            write_bandwidth=rates[1],
            leak=Fraction(rng.choice((0, 0, 1)), 2),
        )
        levels.append(
            replace(level, read_energy=costs[0], write_energy=costs[1], update_energy=costs[2])
        )
        if rng.random() < 0.55:
            x, y = x * rng.choice((1, 2, 3, 4)), y * rng.choice((1, 2, 2, 4))
    return Architecture("drawn", tuple(levels), Compute("mac", x * y, x, y, Fraction(1)))


def with_blocks(architecture, rng):
    """The architecture with accesses of several words, which some instances share."""
    levels = (
        replace(level, block=rng.choice((1, 2, 4)), cluster=rng.choice((1, 1, 2)))
        for level in architecture.levels
    )
    return replace(architecture, levels=tuple(levels))


def enumerated(problem):
    """The least objective of all configurations, and one that has it; None where none is
    feasible."""
    design = problem.design
    columns = linked(design.space, crossed(tables_of(design.space)))
    values = {name: column.astype(float) for name, column in columns.items()}
    (count,) = lengths([values])
    if not count:
        return None
    metrics = design.metrics(values, NUMPY, problem.used_metrics)
    objectives = np.broadcast_to(
        problem.objective.expression.evaluate(metrics, NUMPY), (count,)
    ).astype(float)
    for limit in problem.limits:
        objectives = np.where(
            limit.expression.evaluate(metrics, NUMPY) > float(limit.bound) * (1 + 1e-12),
            np.inf,
            objectives,
        )
    best = int(objectives.argmin())
    return (
        None
        if objectives[best] == np.inf
        else (float(objectives[best]), {name: int(column[best]) for name, column in values.items()})
    )


def drawn_problem(seed, *, constrained=False, depths=(2, 2, 3), padded=()):
    """A small problem of which everything can be enumerated; ``padded`` are the extents of one that
    may be padded."""
    rng = random.Random(seed)
    while True:
        nest = drawn_nest(rng, padded)
        architecture = drawn_architecture(rng, nest, depths)
        divisors = rng.random() < 0.5 and not padded
        options = MappingOptions(divisors_only=divisors, within_parent=rng.random() < 0.3)
        design = SpatialDesign(nest, architecture, options)
        if constrained:
            loop, level = rng.choice(nest.loops), architecture.levels[-1].name
            most = min(nest.sizes[loop], 2)
            asked = Constraints(
                factors=(
                    FactorRange(
                        level, "temporal", loop, *rng.choice(((1, 1), (1, 2), (most, None)))
                    ),
                ),
                orders=(
                    (
                        architecture.levels[0].name,
                        tuple(rng.sample(nest.loops, min(2, len(nest.loops)))),
                    ),
                ),
                directions=tuple(
                    (level.name, loop, rng.choice("xy")) for level in architecture.levels
                ),
                least_used=Fraction(rng.choice((0, 1)), 4),
            )
            design = replace(design, constraints=asked)
        if len(design.slots) > 1 and design.space.axes and size_of(design.space) <= MOST:
            return posed(design, rng.choice(OBJECTIVES))


def check(problem, seed):
    """The search proves what enumeration finds."""
    expected, solution = enumerated(problem), solve_staged(problem)
    assert solution.certificate.method == "staged"
    if expected is None:
        assert solution.certificate.empty, seed
        assert (solution.certificate.status is Status.INFEASIBLE) is not bool(
            problem.feasible_among
        ), seed
    else:
        assert solution.certificate.status is Status.OPTIMAL, seed
        assert float(solution.value) == pytest.approx(expected[0], rel=1e-9), seed


def check_with_limit(problem, seed):
    """Check a problem without a limit, and with one around what the best mapping has of a
    metric."""
    check(problem, seed)
    expected = enumerated(problem)
    if expected is not None:
        output = problem.design.nest.output.tensor
        metric = random.Random(seed).choice(
            ("energy", "latency", "pes", f"L0.{output}.reads", "L0.energy")
        )
        used = problem.metrics(expected[1])[metric]
        for share in (Fraction(9, 10), Fraction(1)):
            check(Problem(problem.design, (Limit(metric, used * share),), problem.objective), seed)


def published(architecture, layer, objective, *, divisors=True):
    """A problem of the tool's files on an architecture of them, or of the library."""
    nest = read_problem(golden() / "simple" / f"problem_{layer}.yaml")
    library = architecture != "simple"
    hardware = (
        fitted(find_architecture(architecture), nest)
        if library
        else read_architecture(golden() / "simple")
    )
    return posed(SpatialDesign(nest, hardware, MappingOptions(divisors_only=divisors)), objective)


def solved(architecture, layer, objective, *, divisors=True):
    solution = solve_staged(published(architecture, layer, objective, divisors=divisors))
    assert solution.certificate.status is Status.OPTIMAL
    return solution
