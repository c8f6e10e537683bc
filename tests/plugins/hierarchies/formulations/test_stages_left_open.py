"""Problems that stages leave open, or whose numbers round: what is known of them, and by which engine."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import ithaca.plugins.hierarchies.formulations.search.extension as extension
from ithaca.formulations.problem import Limit
from ithaca.plugins.cpsat.solver.engine import CpSatSearch
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy
from ithaca.solver.auto import solve_auto
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import not_solved, solve_designs
from ithaca.solver.staged.engine import solve_staged
from ithaca.solver.verification import verify
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.drawn import (
    drawn_problem,
    enumerated,
    posed,
)


def shared_accesses(block):
    """A small design whose words and instances share accesses."""
    nest = nest_of("O[p] += I[p+r] * W[r]", {"p": 4, "r": 3})
    costs = {"read_energy": Fraction(3), "write_energy": Fraction(5), "update_energy": Fraction(7)}
    levels = (
        Level("DRAM", cluster=2, block=block),
        Level("RF", cluster=2, block=block, instances=3, mesh_x=3, **costs),
    )
    return SpatialDesign(
        nest,
        Architecture("shared", levels, Compute("mac", 3, 3)),
        MappingOptions(divisors_only=True),
    )


@pytest.mark.parametrize("block", [1, 3])
def test_what_stages_leave_open_is_proven_by_cpsat(monkeypatch, block):
    """Without memory for labels the search in stages ends with a gap: it used to be the answer,
    after a fraction of the time."""
    monkeypatch.setattr(extension, "MEMORY", 0)
    design = shared_accesses(block)
    problem = posed(design, "RF.energy")
    assert solve_staged(problem).certificate.status is Status.FEASIBLE
    best, expected = solve_auto(problem), enumerated(problem)
    assert (best.certificate.status, best.certificate.method) == (Status.OPTIMAL, "staged+cpsat")
    assert float(best.value) == pytest.approx(expected[0])
    for limit in (None, 60.0):
        rivals = solve_designs(
            [problem, problem], SolveOptions(time_limit=limit), method=Method.AUTO
        )
        assert [(r.value, r.certificate.status) for r in rivals] == [
            (best.value, Status.OPTIMAL)
        ] * 2
    line, sure = verify(best, SolveOptions(), "designs[0]")
    assert sure
    assert "confirmed by staged+cpsat, the same search, in" in line
    less = Limit("RF.energy", best.value - Fraction(1, 1000))
    assert solve_staged(posed(design, "latency", [less])).certificate.status is Status.UNKNOWN
    assert solve_auto(posed(design, "latency", [less])).certificate.status is Status.INFEASIBLE


@pytest.mark.parametrize(("limit", "granted"), [(None, [60.0]), (1000.0, [60.0]), (40.0, [40.0])])
def test_cpsat_has_a_minute_for_what_stages_leave_open(limit, granted, monkeypatch):
    """A gap may never close: then the search ends with what it has."""
    monkeypatch.setattr(extension, "MEMORY", 0)
    seconds = []

    def proves_nothing(problem, options, *_):
        assert options.time_limit is not None
        seconds.append(options.time_limit)
        return not_solved(problem)

    monkeypatch.setattr(time, "perf_counter", lambda: sum(seconds))  # which only CP-SAT takes
    monkeypatch.setattr("ithaca.solver.proof_state.PROVERS", {"cpsat": proves_nothing})
    problem = posed(shared_accesses(1), "RF.energy")
    solution = solve_auto(problem, SolveOptions(time_limit=limit))
    assert seconds == granted
    assert solution.value == solve_staged(problem).value
    assert solution.certificate.status is Status.FEASIBLE


@pytest.mark.parametrize(
    ("module", "name"),
    [("ithaca.plugins.cpsat.solver.engine", "build_integer_model"), ("", "_solve")],
)
def test_what_stages_know_stays_known_where_cpsat_lacks_memory(module, name, monkeypatch):
    """Stating the problem takes memory, and so does solving it; several designs without a time
    limit end, too."""

    def lacking(*_, **__):
        raise MemoryError

    monkeypatch.setattr(extension, "MEMORY", 0)
    problem = posed(shared_accesses(1), "RF.energy")
    known = solve_staged(problem)
    if module:
        monkeypatch.setattr(f"{module}.{name}", lacking)
    else:
        monkeypatch.setattr(CpSatSearch, name, lacking)
    for answer in (
        solve_auto(problem),
        *solve_designs([problem, problem], SolveOptions(), method=Method.AUTO),
    ):
        bounds = known.certificate.lower_bound, answer.certificate.lower_bound
        assert answer.value == known.value
        assert None not in bounds
        assert bounds[0] <= bounds[1] < answer.value
        assert answer.certificate.termination is Termination.EXHAUSTED


@pytest.mark.parametrize(
    ("energy", "status"),
    [("1.234567891234567", Status.OPTIMAL), ("1.23456789123456789123", Status.FEASIBLE)],
)
def test_energies_of_many_digits(energy, status):
    """Proven as long as floats hold all numbers; beyond, the bound is as near as floats are."""
    nest = nest_of("O[m][n] += A[m][k] * B[n][k]", {"m": 16, "n": 12, "k": 8})
    levels = (
        Level("DRAM", read_energy=Fraction(energy), write_energy=Fraction(2)),
        Level("RF", words=12, read_energy=Fraction("0.3")),
    )
    problem = posed(
        SpatialDesign(
            nest, Architecture("digits", levels, Compute("mac")), MappingOptions(divisors_only=True)
        ),
        "energy",
    )
    expected, solution = enumerated(problem), solve_staged(problem)
    assert float(solution.value) == pytest.approx(expected[0], rel=1e-12)
    assert solution.certificate.status is status
    assert solution.certificate.gap < 1e-11


@pytest.mark.parametrize("seed", range(16))
def test_numbers_of_mappings_that_are_too_bad_may_round(monkeypatch, seed):
    """Energies so large that doubles hold those of good mappings alone."""
    monkeypatch.setattr(Hierarchy, "dtype", np.float64)
    monkeypatch.setattr(extension, "FEW", 0)
    design = drawn_problem(seed).design
    objective = ("energy", "edp")[seed % 2]
    stage = design.stage(posed(design, objective))
    times = 1 + int(2**54 / stage.hierarchy.largest)
    levels = tuple(
        replace(
            level,
            read_energy=times * level.read_energy,
            write_energy=times * level.write_energy,
            update_energy=times * level.update_energy,
            leak=times * level.leak,
        )
        for level in design.architecture.levels
    )
    compute = design.architecture.compute
    compute = replace(compute, energy=times * compute.energy)
    machine = replace(design.architecture, levels=levels, compute=compute)
    problem = posed(replace(design, architecture=machine), objective)
    expected, solution = enumerated(problem), solve_staged(problem)
    assert (expected is None) == (solution.value is None)
    if expected is not None and solution.value is not None:
        assert solution.value <= problem.metrics(expected[1])[objective]
        assert float(solution.value) == pytest.approx(expected[0], rel=1e-12)
        stage = problem.design.stage(problem)
        near = stage.goal.within(2 * solution.value) < 2**53  # of incumbents less than twice as bad
        assert not near or solution.certificate.status is Status.OPTIMAL
