"""Geometric programs as Ipopt is given them: derivatives, Hessians, and the form of Pyomo."""

import numpy as np
import pytest

from ithaca.formulations.pyomo_model import design_model
from ithaca.plugins.geometric.solver.ipopt import Callbacks, solve_program
from ithaca.plugins.geometric.solver.model import build_geometric_model
from ithaca.plugins.geometric.solver.nonlinear import solve_pyomo
from ithaca.plugins.geometric.solver.ranges import Propagator, region_program
from tests.lazy import pyo
from tests.problems import MM_DATAFLOWS, mm_problem

SIMD = "t2.k"


def root(model, simd):
    ranges = Propagator(model).sharpen(
        Propagator(model).root().restricted(model.names.index(SIMD), low=simd, high=simd)
    )
    assert ranges is not None
    return ranges


def program(problem, simd=8):
    model = build_geometric_model(problem)
    return region_program(model, root(model, simd)).program


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_derivatives_agree_with_differences(dataflow):
    compiled = program(mm_problem((96, 80, 40), dataflow, "A"))
    generator = np.random.default_rng(0)
    y = generator.uniform(compiled.low, compiled.high)
    multipliers = generator.uniform(0, 1, compiled.blocks.sizes.size)
    here = compiled.evaluate(y)
    hessian = compiled.hessian(here, multipliers)
    step = 1e-6
    for variable in range(y.size):
        move = np.zeros_like(y)
        move[variable] = step
        above, below = compiled.evaluate(y + move), compiled.evaluate(y - move)
        assert here.jacobian[:, variable] == pytest.approx(
            (above.constraints - below.constraints) / (2 * step), abs=1e-6
        )
        slope = multipliers @ (above.jacobian - below.jacobian) / (2 * step)
        assert hessian[variable] == pytest.approx(slope, abs=1e-6)


def test_ipopt_finds_no_fault_in_the_derivatives(capfd):
    # the checker compares sparse structures and values, first and second derivatives, with
    # differences
    options = {
        "derivative_test": "second-order",
        "derivative_test_perturbation": 1e-6,
        "print_level": 5,
        "max_iter": 1,
    }
    solve_program(program(mm_problem((96, 80, 40))), options=options)
    assert "No errors detected by derivative checker" in capfd.readouterr().out


def test_the_hessian_has_the_structure_it_declares():
    compiled = program(mm_problem((96, 80, 40), ("i", "k")))
    callbacks = Callbacks(compiled)
    y = 0.5 * (compiled.low + compiled.high)
    dense = compiled.hessian(compiled.evaluate(y), np.ones(compiled.blocks.sizes.size))
    rows, columns = callbacks.hessianstructure()
    dense[rows, columns] = dense[columns, rows] = 0
    assert not dense.any()


def program_model(compiled):
    """A compiled geometric program as a Pyomo model: to check one form against the other."""
    model = pyo.ConcreteModel()
    model.y = pyo.Var(
        range(compiled.low.size),
        bounds=lambda _, i: (float(compiled.low[i]), float(compiled.high[i])),
        initialize=lambda _, i: float(0.5 * (compiled.low[i] + compiled.high[i])),
    )
    model.limits = pyo.ConstraintList()
    blocks = compiled.blocks
    for start, size in zip(blocks.starts, blocks.sizes, strict=True):
        terms = [
            sum(float(blocks.matrix[t, i]) * model.y[i] for i in np.flatnonzero(blocks.matrix[t]))
            + float(blocks.offset[t])
            for t in range(start, start + size)
        ]
        model.limits.add((terms[0] if size == 1 else pyo.log(sum(pyo.exp(t) for t in terms))) <= 0)
    model.goal = pyo.Objective(expr=model.y[compiled.cost])
    return model


@pytest.mark.parametrize("dataflow", [("i", "j"), ("k",)])
def test_the_compiled_form_agrees_with_pyomo(dataflow):
    problem = mm_problem((1024, 1024, 1024), dataflow)
    model = build_geometric_model(problem)
    ranges = root(model, 8)
    compiled = region_program(model, ranges).program
    fast = solve_program(compiled)
    generic = solve_pyomo(program_model(compiled))
    assert fast.converged
    assert generic.converged
    assert generic.objective == pytest.approx(fast.point[compiled.cost], abs=1e-6)
    # the same straight from the cost model, where only the ceiling of packs is looser
    columns = [c for c in range(model.base) if model.names[c] in model.spans]
    limits = {
        model.names[c]: (float(np.exp(ranges.low[c])), float(np.exp(ranges.high[c])))
        for c in columns
    }
    direct = solve_pyomo(design_model(problem, limits))
    assert direct.converged
    assert generic.objective - 0.12 <= direct.objective <= generic.objective + 1e-6
