"""Proven mappings of sparse tensors against enumeration, and what bounds them."""

from fractions import Fraction

import numpy as np
import pytest
import yaml

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Problem, read_objective
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest, directives
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.points import evaluate_points, load_points
from ithaca.plugins.hierarchies.formulations.sparse.formats import UnsuitedError
from ithaca.plugins.hierarchies.formulations.sparse.stage import SparseStage
from ithaca.solver.auto import solve_auto
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.workloads.problem_files import read_problem
from tests.command_line import succeed
from tests.plugins.hierarchies.formulations.sparse_spaces import drawn, mappings

OBJECTIVES = ("energy", "edp", "latency", "energy + 3*DRAM.A.reads", "edp")


def bounds(stage, design, rows):
    """Bounds of mappings in any order, with more and more loops decided: a row for each number of
    loops."""
    keeps = [name for name in design.space.quantities if name.startswith("keep.")]
    variants = [{name: row[name] for name in keeps} for row in rows]
    found = np.zeros((len(stage._tables) + 1, len(rows)))
    for number, variant in enumerate(stage._variants):
        places = [n for n, own in enumerate(variants) if own == variant]
        for decided in range(len(stage._tables) + 1):
            names = [name for table in stage._tables[:decided] for name in table]
            columns = {name: np.array([float(rows[n][name]) for n in places]) for name in names}
            if places:
                found[decided, places] = stage._bounds(number, columns)
    return found


@pytest.mark.parametrize(
    ("number", "banded"), [*((n, False) for n in range(240)), *((n, True) for n in range(120))]
)
def test_proven_mappings_are_the_best_of_all(number, banded):
    """No bound of a mapping, whole or in part, is above its value, either."""
    design = drawn(number, banded=banded)
    objective = read_objective(OBJECTIVES[number % len(OBJECTIVES)], "objective", None)
    problem = Problem(design, (), objective)
    values = {}
    for configuration in mappings(design):
        value = problem.feasible_value(configuration)
        row = {n: x for n, x in configuration.items() if not n.startswith("order.")}
        if value is not None:
            values[tuple(row.values())] = min(
                values.get(tuple(row.values()), (value, row)), (value, row), key=lambda own: own[0]
            )
    solution = solve_auto(problem, SolveOptions())
    if not values:
        among = Status.UNKNOWN if problem.feasible_among else Status.INFEASIBLE
        assert (solution.value, solution.certificate.status) == (None, among)
        return
    best, rows = min(value for value, _ in values.values()), [row for _, row in values.values()]
    assert solution.value == best
    assert solution.certificate.status is Status.OPTIMAL
    stage = design.stage(problem)
    assert isinstance(stage, SparseStage)
    exact = np.array([float(value) for value, _ in values.values()])
    assert (bounds(stage, design, rows) <= exact * (1 + 1e-12)).all()


def test_orders_that_differ_in_loops_of_one_trip_differ_in_cost():
    """No mapping is as cheap as the best with all of these outermost."""
    design = drawn(85)
    problem = Problem(design, (), read_objective("energy", "objective", None))
    outermost, every = list[Fraction](), list[Fraction]()
    for configuration in mappings(design):
        mapping = design.mapping(configuration)
        if (value := problem.feasible_value(configuration)) is not None:
            every.append(value)
            if all(
                (trips := [mapping.factor(Slot(level), loop) > 1 for loop in order])
                == sorted(trips)
                for level, order in mapping.orders.items()
            ):
                outermost.append(value)
    assert min(every) == solve_auto(problem, SolveOptions()).value
    assert min(every) < min(outermost)


def test_mappings_cost_what_their_files_cost(tmp_path):
    """Lanes, too, of which files lay each along one direction."""
    design, path = drawn(85), tmp_path / "map.yaml"
    names = ("energy", "latency", "Buffer.energy")
    for configuration in mappings(design)[::29]:
        mapped = MappedNest(design.nest, design.architecture, design.mapping(configuration), {})
        path.write_text(yaml.safe_dump({"mapping": [*directives(mapped)]}))
        try:
            ours = design.metrics(configuration, FRACTION, names)
        except UnsuitedError:
            continue
        (row,) = evaluate_points(load_points(path, design.architecture, design.nest))
        assert {name: row["metrics"][name] for name in names} == pytest.approx(
            {name: float(ours[name]) for name in names}
        )


#: A tensor with few words in rows of four, compressed at both levels.
ROWS = """\
architecture:
  version: 0.4
  nodes:
  - !Component
    name: DRAM
    class: DRAM
    attributes: {datawidth: 8, width: 8, metadata_storage_width: 8, metadata_datawidth: 8}
    sparse_optimizations: {representation_format: {data_spaces: [{name: A, ranks: [{format: UOP}, {format: UOP}, {format: CP}]}]}}
  - !Component
    name: Buffer
    class: SRAM
    attributes: {datawidth: 8, depth: 64, width: 32, metadata_storage_width: 8, metadata_storage_depth: 4096, metadata_datawidth: 8}
    sparse_optimizations: {representation_format: {data_spaces: [{name: A, ranks: [{format: CP}]}]}}
  - !Component {name: mac, class: intmac}
ERT:
  version: 0.4
  tables:
  - {name: DRAM, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: Buffer, actions: [{name: read, energy: 100}, {name: write, energy: 100}]}
  - {name: mac, actions: [{name: compute, energy: 1}]}
"""
PRODUCT = """\
problem:
  shape:
    name: product
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 4, N: 1, K: 8, densities: {A: {distribution: hypergeometric, density: .03}}}
"""
CONSTRAINTS = "architecture_constraints: {targets: [{target: Buffer, type: bypass, keep: [A], bypass: [B, Z]}]}\n"


def test_rows_that_hold_next_to_nothing_are_bounded(tmp_path):
    """A mapping takes 12.5 pJ in the buffer: fewer rows are accessed than tiles, most of which are
    empty."""
    for name, text in (("arch", ROWS), ("problem", PRODUCT), ("constraints", CONSTRAINTS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    output = succeed(
        *["map", "problem.yaml", "--arch", "arch.yaml", "--constraints", "constraints.yaml"],
        *["--divisors-only", "--objective", "latency", "--limit", "Buffer.energy=40"],
        cwd=tmp_path,
    )
    assert "objective  32  (optimal: no configuration of this design is better" in output.stdout


@pytest.mark.parametrize("objective", ["energy", "latency"])
def test_tensors_without_a_word_take_no_rows(tmp_path, objective):
    """A level with rows of several words, and mappings where nothing is done at all."""
    skipping = "class: intmac, sparse_optimizations: {compute_optimization: [{type: skipping}]}"
    arch = ROWS.replace("class: intmac", skipping)
    problem = PRODUCT.replace("density: .03}", "density: 0}, B: 0, Z: 0")
    for name, text in (("arch", arch), ("problem", problem), ("constraints", CONSTRAINTS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    output = succeed(
        *["map", "problem.yaml", "--arch", "arch.yaml", "--constraints", "constraints.yaml"],
        *["--divisors-only", "--objective", objective],
        cwd=tmp_path,
    )
    assert "(optimal: " in output.stdout
    nest, machine = (
        read_problem(tmp_path / "problem.yaml"),
        read_architecture(tmp_path / "arch.yaml"),
    )
    every = {"T:DRAM.factors": "M=4 K=8", "T:Buffer.factors": ""}
    (row,) = evaluate_points(load_points([every], machine, nest))
    assert (row["metrics"]["latency"], row["metrics"]["utilization_pct"]) == (0, 0)
