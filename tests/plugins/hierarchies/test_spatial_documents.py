"""Documents of mappings onto memory hierarchies: they stand alone, load back, and are refused where
they were edited."""

import random
from fractions import Fraction

import pytest

import ithaca
from ithaca.files.writing import document_text
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.results.files import result_document
from ithaca.solver.conclusion import conclude
from ithaca.solver.result import Result
from ithaca.solver.solution import make_solution
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload
from tests.whole_spaces import some_row, tables_of

CONV = workload("conv2d", {"o": 6, "r": 4, "c": 4, "i": 3, "p": 3, "q": 3, "s": 2})
OWN = statement_nest("out[x][y] += in1[x][k] * in2[k][y]", {"x": 4, "y": 6, "k": 10})
CONSTRAINED = Constraints(
    factors=(FactorRange("Buffer", "temporal", "o", 1, 3),),
    directions=(("Buffer", "o", "x"),),
    orders=(("DRAM", ("o", "r")),),
    bypass=(("Buffer", frozenset({"w"})),),
)


def design(nest, architecture, **more):
    return SpatialDesign(nest, fitted(find_architecture(architecture), nest), **more)


DESIGNS = {
    "conv": lambda: design(CONV, "simba-like"),
    "own kernel": lambda: design(OWN, "eyeriss", options=MappingOptions(divisors_only=True)),
    "free bypass": lambda: design(
        CONV, "simple", options=MappingOptions(free_bypass=True, within_parent=True)
    ),
    "constrained": lambda: design(CONV, "simple", constraints=CONSTRAINED),
}


def some_configuration(found, seed):
    """One of the space's, drawn axis by axis."""
    draw, tables = random.Random(seed), tables_of(found.space)
    for _ in range(10_000):
        values = some_row(tables, draw.randrange)
        if found.space.contains(values):
            return Configuration(values)
    raise AssertionError("no mapping fits")


def result(found, seed=0):
    problem = Problem(
        found,
        (Limit("DRAM.energy", Fraction(10**12)),),
        Objective("2*edp", parse_expression("2*edp", where="objective", allowed=found.vocabulary)),
    )
    configuration = some_configuration(found, seed)
    solution = make_solution(
        problem, configuration, conclude(problem.feasible_value(configuration), None, method="none")
    )
    return Result(found.architecture.name, solution, (solution,))


@pytest.mark.parametrize("name", DESIGNS)
def test_files_stand_alone(name, tmp_path):
    found, path = DESIGNS[name](), tmp_path / "result.json"
    for seed in range(8):
        written = result(found, seed)
        path.write_text(document_text(result_document(written)))
        read = ithaca.load(path)
        assert read.problem == written.problem
        assert read.best.configuration == written.best.configuration
        assert read.best.metrics == written.best.metrics
        assert result_document(read) == result_document(written)


def test_a_mapping_reads_as_loops():
    found = design(OWN, "eyeriss")
    document = result_document(result(found))
    levels = document["best"]["tiling"]
    assert [level["level"] for level in levels] == [
        "DRAM",
        "GLB",
        "ifmap_spad",
        "weights_spad",
        "psum_spad",
    ]
    assert levels[0]["keeps"] == ["in1", "in2", "out"]
    trips = {}
    for level in levels:
        for part in ("loops", "x", "y"):
            for text in level.get(part, []):
                loop, _, n = text.partition("=")
                trips[loop] = trips.get(loop, 1) * int(n)
    assert all(trips[loop] >= extent for loop, extent in OWN.extents)


def edited(path, value):
    def edit(document):
        *steps, last = path.split(".")
        part = document
        for step in steps:
            part = part[int(step) if step.isdigit() else step]
        part[int(last) if last.isdigit() else last] = value

    return edit
